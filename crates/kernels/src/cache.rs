//! What was learned and built before, below `target/kernels/cache`: objects by
//! what they were made from, and what each compiler can do.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cairn_base::files::{self, FileError, Lock};
use cairn_base::{exec, hash};
use serde::{Deserialize, Serialize};

/// The cache of an output folder. One builder at a time has it.
#[derive(Debug)]
pub(crate) struct Cache {
    dir: PathBuf,
    _lock: Lock,
}

/// What is known of a compiler.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Known {
    /// Its version in a line.
    pub(crate) version: String,
    /// A hash of what it tells about itself.
    pub(crate) identity: String,
    /// The architectures it was seen to build for.
    pub(crate) archs: BTreeSet<String>,
}

/// What tells one state of a program from another: path, size, time of change.
pub(crate) fn stamp(program: &Path) -> Result<String, String> {
    let data = std::fs::metadata(program).map_err(|_| "there is no such file".to_owned())?;
    let changed = data
        .modified()
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let nanos = changed.map_or(0, |time| time.as_nanos());
    Ok(format!("{} {} {nanos}", program.display(), data.len()))
}

impl Cache {
    /// The cache in `out`, which is created; waits for another builder.
    pub(crate) fn open(out: &Path) -> Result<Self, FileError> {
        let dir = out.join("cache");
        files::create_dir_all(&dir.join("objects"))?;
        files::create_dir_all(&dir.join("keys"))?;
        let lock = Lock::acquire(&dir.join("lock"))?;
        Ok(Self { dir, _lock: lock })
    }

    fn compilers(&self) -> BTreeMap<String, Known> {
        // A file that cannot be read is as good as none: it is learned again.
        let text = files::read(&self.dir.join("compilers.json")).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// What is known of the compiler with this stamp.
    pub(crate) fn compiler(&self, stamp: &str) -> Option<Known> {
        self.compilers().remove(stamp)
    }

    /// Remembers what a compiler can do.
    pub(crate) fn remember_compiler(&self, stamp: &str, known: &Known) {
        let mut compilers = self.compilers();
        compilers.insert(stamp.to_owned(), known.clone());
        if let Ok(text) = serde_json::to_vec_pretty(&compilers) {
            // Without the file the compiler is tried again, no more.
            drop(files::write_atomic(&self.dir.join("compilers.json"), &text));
        }
    }

    /// The key of the preprocessed source that was found for a source, its
    /// headers, flags and compiler.
    pub(crate) fn key(&self, direct: &str) -> Option<String> {
        files::read_text(&self.dir.join("keys").join(direct)).ok()
    }

    /// Remembers a key.
    pub(crate) fn remember_key(&self, direct: &str, key: &str) {
        drop(files::write_atomic(
            &self.dir.join("keys").join(direct),
            key.as_bytes(),
        ));
    }

    /// Where the object of a key is kept.
    pub(crate) fn object_path(&self, key: &str) -> PathBuf {
        self.dir.join("objects").join(format!("{key}.hsaco"))
    }

    /// The object of a key, if it was built and is as it was written.
    pub(crate) fn object(&self, key: &str) -> Option<Vec<u8>> {
        let path = self.object_path(key);
        let bytes = files::read(&path).ok()?;
        let expected = files::read_text(&path.with_extension("blake3")).ok()?;
        (hash::blake3(&bytes) == expected).then_some(bytes)
    }

    /// Keeps the object of a key.
    pub(crate) fn keep_object(&self, key: &str, bytes: &[u8]) -> Result<(), FileError> {
        let path = self.object_path(key);
        files::write_atomic(&path, bytes)?;
        files::write_atomic(
            &path.with_extension("blake3"),
            hash::blake3(bytes).as_bytes(),
        )
    }

    /// A folder with the `lld` that `zig clang` looks for: zig has the linker,
    /// but under another name and without the flavour argument.
    pub(crate) fn zig_tools(&self, zig: &Path) -> Result<PathBuf, FileError> {
        use std::os::unix::fs::PermissionsExt;
        let name = hash::blake3(zig.to_string_lossy().as_bytes());
        let dir = self.dir.join("zig").join(&name[..16]);
        let lld = dir.join("lld");
        if lld.is_file() {
            return Ok(dir);
        }
        files::create_dir_all(&dir)?;
        let zig = exec::shell_quote(&zig.to_string_lossy());
        let script =
            format!("#!/bin/sh\n[ \"$1\" = -flavor ] && shift 2\nexec {zig} ld.lld \"$@\"\n");
        files::write_atomic(&lld, script.as_bytes())?;
        std::fs::set_permissions(&lld, std::fs::Permissions::from_mode(0o755))
            .map_err(|error| FileError::new("make executable", &lld, error))?;
        Ok(dir)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back_and_damage_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(dir.path()).unwrap();
        assert_eq!(cache.object("k"), None);
        cache.keep_object("k", b"bytes").unwrap();
        assert_eq!(cache.object("k").as_deref(), Some(&b"bytes"[..]));
        std::fs::write(cache.object_path("k"), b"other").unwrap();
        assert_eq!(cache.object("k"), None);
        assert_eq!(cache.key("d"), None);
        cache.remember_key("d", "k");
        assert_eq!(cache.key("d").as_deref(), Some("k"));
    }

    #[test]
    fn a_compiler_is_forgotten_when_its_file_changes() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("cc");
        assert!(stamp(&program).is_err());
        std::fs::write(&program, "1").unwrap();
        let before = stamp(&program).unwrap();
        let cache = Cache::open(&dir.path().join("out")).unwrap();
        let known = Known {
            version: "v".to_owned(),
            ..Known::default()
        };
        cache.remember_compiler(&before, &known);
        assert_eq!(cache.compiler(&before), Some(known));
        std::fs::write(&program, "22").unwrap();
        assert_eq!(cache.compiler(&stamp(&program).unwrap()), None);
        std::fs::write(dir.path().join("out/cache/compilers.json"), "{").unwrap();
        assert_eq!(cache.compiler(&before), None);
    }
}
