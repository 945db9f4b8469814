//! Advisory locks between processes: one writer a run directory, one builder a
//! cache entry. The system drops a lock when its holder ends, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::FileError;

/// An exclusive lock, held until dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock, waiting for other holders. The lock file is created when
    /// absent and stays: removing it would let two holders lock two files.
    ///
    /// # Errors
    /// When the lock file cannot be created or locked.
    pub fn acquire(path: &Path) -> Result<Self, FileError> {
        let lock = Self::open(path)?;
        lock.file
            .lock()
            .map_err(|error| FileError::new("lock", path, error))?;
        Ok(lock)
    }

    /// Takes the lock if nobody holds it.
    ///
    /// # Errors
    /// [`super::FileErrorKind::Locked`] when another process (or another open of the
    /// same file) holds it; others when the lock file cannot be created.
    pub fn try_acquire(path: &Path) -> Result<Self, FileError> {
        let lock = Self::open(path)?;
        match lock.file.try_lock() {
            Ok(()) => Ok(lock),
            Err(TryLockError::WouldBlock) => Err(FileError::new(
                "lock",
                path,
                io::Error::from(io::ErrorKind::WouldBlock),
            )),
            Err(TryLockError::Error(error)) => Err(FileError::new("lock", path, error)),
        }
    }

    fn open(path: &Path) -> Result<Self, FileError> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path)
            .map_err(|error| FileError::new("lock", path, error))?;
        Ok(Self {
            file,
            path: path.to_path_buf(),
        })
    }

    /// The lock file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileErrorKind;

    #[test]
    fn one_holder_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let held = Lock::acquire(&path).unwrap();
        assert_eq!(held.path(), path);
        assert_eq!(
            Lock::try_acquire(&path).unwrap_err().kind,
            FileErrorKind::Locked
        );
        drop(held);
        Lock::try_acquire(&path).unwrap();
    }
}
