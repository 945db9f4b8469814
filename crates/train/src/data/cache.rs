//! Prepared data under a content address: a folder named by the hash of all
//! that decides its content. It is filled under another name and renamed when
//! complete, so that a folder with its name is a whole one; a damaged one is
//! noticed by the hashes in its manifest and made again.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use cairn_base::files::{self, Lock};
use cairn_base::{FileError, hash};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::DataError;

const MANIFEST: &str = "manifest.json";

/// Changes when what is stored, or how it is made, changes.
pub const FORMAT: u32 = 2;

/// What a folder holds, with what its maker wants to remember.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest<T> {
    format: u32,
    key: String,
    files: BTreeMap<String, FileFacts>,
    facts: T,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FileFacts {
    bytes: u64,
    blake3: String,
}

/// A folder of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<T> {
    /// Where its files are.
    pub dir: PathBuf,
    /// What its maker remembered.
    pub facts: T,
    /// True when it was there before.
    pub hit: bool,
}

/// The entry of this key, made by `fill` when absent or damaged. One process
/// makes it; others that want it wait.
///
/// # Errors
/// What `fill` returns; a cache folder that cannot be written.
pub fn get_or_make<T: Serialize + DeserializeOwned>(
    cache_dir: &Path,
    key: &str,
    fill: impl FnOnce(&Path) -> Result<T, DataError>,
) -> Result<Entry<T>, DataError> {
    let dir = cache_dir.join(key);
    if let Some(facts) = read(&dir, key) {
        return Ok(Entry {
            dir,
            facts,
            hit: true,
        });
    }
    files::create_dir_all(cache_dir)?;
    let _lock = Lock::acquire(&cache_dir.join(format!("{key}.lock")))?;
    if let Some(facts) = read(&dir, key) {
        return Ok(Entry {
            dir,
            facts,
            hit: true,
        });
    }
    let partial = tempfile::Builder::new()
        .prefix(&format!(".{key}."))
        .suffix(".partial")
        .tempdir_in(cache_dir)
        .map_err(|error| FileError::new("create a folder in", cache_dir, error))?;
    let facts = fill(partial.path())?;
    write_manifest(partial.path(), key, &facts)?;
    if dir.exists() {
        std::fs::remove_dir_all(&dir).map_err(|error| FileError::new("remove", &dir, error))?;
    }
    let partial = partial.keep();
    std::fs::rename(&partial, &dir).map_err(|error| FileError::new("create", &dir, error))?;
    files::sync_dir(cache_dir)?;
    Ok(Entry {
        dir,
        facts,
        hit: false,
    })
}

/// The facts of a whole entry.
fn read<T: DeserializeOwned>(dir: &Path, key: &str) -> Option<T> {
    if !dir.exists() {
        return None;
    }
    match checked(dir, key) {
        Ok(facts) => Some(facts),
        Err(reason) => {
            crate::console::line(&format!(
                "the cache entry {} is damaged and made again: {reason}",
                dir.display()
            ));
            None
        }
    }
}

fn checked<T: DeserializeOwned>(dir: &Path, key: &str) -> Result<T, String> {
    let bytes = files::read(&dir.join(MANIFEST)).map_err(|error| error.to_string())?;
    let manifest: Manifest<T> =
        serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    if manifest.format != FORMAT || manifest.key != key {
        return Err("its manifest is of another format or entry".to_owned());
    }
    for (name, expected) in &manifest.files {
        let found = facts_of(&dir.join(name)).map_err(|error| error.to_string())?;
        if found != *expected {
            return Err(format!("{name} is not as it was written"));
        }
    }
    Ok(manifest.facts)
}

fn write_manifest<T: Serialize>(dir: &Path, key: &str, facts: &T) -> Result<(), DataError> {
    let failed = |error| FileError::new("list the folder", dir, error);
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let synced = File::open(&path).and_then(|file| file.sync_all());
        synced.map_err(|error| FileError::new("sync", &path, error))?;
        found.insert(super::source::short_name(&path), facts_of(&path)?);
    }
    let manifest = Manifest {
        format: FORMAT,
        key: key.to_owned(),
        files: found,
        facts,
    };
    let json = serde_json::to_vec_pretty(&manifest)
        .map_err(|error| FileError::new("write", dir.join(MANIFEST), error.into()))?;
    files::write_atomic(&dir.join(MANIFEST), &json)?;
    Ok(())
}

fn facts_of(path: &Path) -> Result<FileFacts, FileError> {
    let size = std::fs::metadata(path).map_err(|error| FileError::new("read", path, error))?;
    Ok(FileFacts {
        bytes: size.len(),
        blake3: hash::blake3_file(path)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(cache: &Path, text: &str) -> Entry<u32> {
        get_or_make(cache, "key", |dir| {
            std::fs::write(dir.join("a"), text).unwrap();
            Ok(7)
        })
        .unwrap()
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_second_time_nothing_is_made() {
        let cache = tempfile::tempdir().unwrap();
        let dir = cache.path().join("not/there/yet");
        let made = make(&dir, "one");
        assert!(!made.hit);
        let found = make(&dir, "two");
        assert_eq!((found.hit, found.facts, &found.dir), (true, 7, &made.dir));
        assert_eq!(std::fs::read_to_string(found.dir.join("a")).unwrap(), "one");
        assert_eq!(names(&dir), ["key", "key.lock"]);
    }

    #[test]
    fn a_failure_leaves_nothing_behind() {
        let cache = tempfile::tempdir().unwrap();
        let failed = get_or_make::<u32>(cache.path(), "key", |dir| {
            std::fs::write(dir.join("a"), "half").unwrap();
            Err(DataError::EmptyCorpus { files: 1 })
        });
        assert_eq!(failed.unwrap_err().code(), "data::empty-corpus");
        assert_eq!(names(cache.path()), ["key.lock"]);
    }

    #[test]
    fn damage_is_noticed_and_repaired() {
        type Damage = fn(&Path);
        let cases: [Damage; 5] = [
            |dir| std::fs::write(dir.join("a"), "onf").unwrap(),
            |dir| std::fs::write(dir.join("a"), "on").unwrap(),
            |dir| std::fs::remove_file(dir.join("a")).unwrap(),
            |dir| std::fs::write(dir.join(MANIFEST), "{").unwrap(),
            |dir| std::fs::remove_file(dir.join(MANIFEST)).unwrap(),
        ];
        for damage in cases {
            let cache = tempfile::tempdir().unwrap();
            damage(&make(cache.path(), "one").dir);
            let repaired = make(cache.path(), "two");
            assert!(!repaired.hit);
            assert_eq!(
                std::fs::read_to_string(repaired.dir.join("a")).unwrap(),
                "two"
            );
            assert!(make(cache.path(), "three").hit);
        }
    }

    #[test]
    fn a_cache_that_cannot_be_written_is_told() {
        let cache = tempfile::tempdir().unwrap();
        let file = cache.path().join("file");
        std::fs::write(&file, "").unwrap();
        let failed = get_or_make::<u32>(&file, "key", |_| Ok(1)).unwrap_err();
        assert_eq!(failed.code(), "data::file");
        assert_eq!(names(cache.path()), ["file"]);
    }
}
