//! Object stores: a bare repository for each address, kept between syncs, so that an
//! update transfers only what is new.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use cairn_base::{Exec, FileError, files, hash};

use super::Git;
use crate::error::DepsError;
use crate::url::Url;

/// A bare repository that this process may write.
#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    /// The hash its objects are named by, as git calls it.
    format: &'static str,
    lock: File,
}

/// The folder name of the store for an address.
pub(crate) fn store_name(url: &Url) -> String {
    let hash = hash::blake3(url.identity().as_bytes());
    let readable: String = url
        .repository()
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || "._-".contains(*c))
        .collect();
    format!("{readable}-{}.git", hash.get(..8).unwrap_or_default())
}

impl Store {
    /// Opens or makes the store at `path` for revisions such as `rev`, waiting for
    /// whoever uses it now.
    pub(crate) fn open(git: &Git, path: &Path, rev: &str) -> Result<Self, DepsError> {
        if let Some(parent) = path.parent() {
            files::create_dir_all(parent)?;
        }
        let lock_path = path.with_extension("lock");
        let locked = |error| FileError::new("lock", &lock_path, error);
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&lock_path)
            .map_err(locked)?;
        lock.lock().map_err(locked)?;
        let store = Self {
            path: path.to_path_buf(),
            format: if rev.len() == 64 { "sha256" } else { "sha1" },
            lock,
        };
        store.prepare(git)?;
        Ok(store)
    }

    /// Makes the repository, or sweeps what a killed git left: nobody else is
    /// in it, because git itself holds the lock as long as it runs.
    fn prepare(&self, git: &Git) -> Result<(), DepsError> {
        if self.path.join("config").is_file() && self.path.join("objects").is_dir() {
            for name in [
                "shallow.lock",
                "config.lock",
                "HEAD.lock",
                "packed-refs.lock",
            ] {
                // Usually there is none.
                drop(fs::remove_file(self.path.join(name)));
            }
            return sweep(&self.path.join("objects/pack"));
        }
        self.remove()?;
        git.output(
            &git.local()
                .args(["init", "--quiet", "--bare", "--template="])
                .arg(format!("--object-format={}", self.format))
                .arg(&self.path),
        )?;
        Ok(())
    }

    /// A call of git in this store without network.
    pub(crate) fn local(&self, git: &Git) -> Exec {
        git.local().arg("--git-dir").arg(&self.path)
    }

    /// A call of git in this store that may reach `url`.
    pub(crate) fn remote(&self, git: &Git, url: &Url) -> Exec {
        git.remote(url).arg("--git-dir").arg(&self.path)
    }

    /// The file whose lock says that the store is in use.
    pub(crate) fn held(&self) -> &File {
        &self.lock
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// True when the whole tree of a revision was fetched.
    pub(crate) fn has(&self, rev: &str) -> bool {
        self.reference(rev).is_file()
    }

    /// True when it holds any revision.
    pub(crate) fn has_any(&self) -> bool {
        fs::read_dir(self.path.join("refs/cairn")).is_ok_and(|mut refs| refs.next().is_some())
    }

    /// Notes that the whole tree of a revision is here. The note is a reference,
    /// so git keeps the objects and offers them when it fetches.
    pub(crate) fn mark(&self, rev: &str) -> Result<(), DepsError> {
        let path = self.reference(rev);
        if let Some(parent) = path.parent() {
            files::create_dir_all(parent)?;
        }
        Ok(files::write_atomic(&path, format!("{rev}\n").as_bytes())?)
    }

    /// Forgets everything, for a store that lost an object.
    pub(crate) fn reset(&self, git: &Git) -> Result<(), DepsError> {
        self.remove()?;
        self.prepare(git)
    }

    fn remove(&self) -> Result<(), DepsError> {
        match fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(FileError::new("remove", &self.path, error).into())
            }
            _ => Ok(()),
        }
    }

    fn reference(&self, rev: &str) -> PathBuf {
        self.path.join("refs/cairn").join(rev)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // For every copy of the handle: a helper of git that lives on a moment
        // longer keeps nobody waiting. Closing the file would free it too.
        drop(self.lock.unlock());
    }
}

/// Removes the unfinished packs of a git that was killed.
fn sweep(packs: &Path) -> Result<(), DepsError> {
    let Ok(entries) = fs::read_dir(packs) else {
        return Ok(());
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("tmp_") || name.ends_with(".lock") {
            let path = entry.path();
            fs::remove_file(&path).map_err(|error| FileError::new("remove", &path, error))?;
        }
    }
    Ok(())
}
