//! A checkout of Cairn with its manifest and lock.

use std::path::{Path, PathBuf};

use cairn_base::files;

use crate::error::DepsError;
use crate::lock::{self, Lock, Locked};
use crate::manifest::{self, Entry, Manifest};

/// A checkout.
#[derive(Clone, Debug)]
pub struct Project {
    /// Its folder.
    pub root: PathBuf,
    /// What is wanted.
    pub manifest: Manifest,
    /// What that resolved to.
    pub lock: Lock,
}

impl Project {
    /// Reads manifest and lock.
    ///
    /// # Errors
    /// When one cannot be read or is wrong.
    pub fn read(root: &Path) -> Result<Self, DepsError> {
        Ok(Self {
            root: root.to_path_buf(),
            manifest: Manifest::read(root)?,
            lock: Lock::read(root)?,
        })
    }

    /// A project of the manifest and its lock.
    ///
    /// # Errors
    /// When the name is unknown, or not locked.
    pub fn locked(&self, name: &str) -> Result<(&Entry, &Locked), DepsError> {
        let entry = self.manifest.get_or_backend(name)?;
        let locked = self.lock.get(&entry.name);
        let locked = locked.ok_or_else(|| DepsError::NotLocked {
            name: entry.name.clone(),
        })?;
        Ok((entry, locked))
    }

    /// The projects with these names, or all.
    ///
    /// # Errors
    /// When a name is unknown.
    pub fn select(&self, names: &[String]) -> Result<Vec<&Entry>, DepsError> {
        if names.is_empty() {
            return Ok(self.manifest.entries.iter().collect());
        }
        let mut selected: Vec<&Entry> = Vec::new();
        for name in names {
            let entry = self.manifest.get_or_backend(name)?;
            if !selected.contains(&entry) {
                selected.push(entry);
            }
        }
        Ok(selected)
    }

    /// Writes another manifest.
    pub(crate) fn write_manifest(&self, text: &str) -> Result<(), DepsError> {
        Ok(files::write_atomic(
            &self.root.join(manifest::PATH),
            text.as_bytes(),
        )?)
    }

    /// Writes another lock.
    pub(crate) fn write_lock(&self, text: &str) -> Result<(), DepsError> {
        Ok(files::write_atomic(
            &self.root.join(lock::PATH),
            text.as_bytes(),
        )?)
    }
}
