//! The folder that trees live in. A tree's name says its content; a link for each
//! project points to the tree that is locked; everything else is hidden:
//!
//! ```text
//! <name>-<rev12>-<hash8>/    a tree, read-only
//! <name>                     a link to it
//! .index/  .objects/  .locks/
//! .partial-<name>-*          a tree that is being made
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use cairn_base::files::Lock as FileLock;
use cairn_base::{Diagnostic, FileError, FileErrorKind, env, files};
use rustix::fs::{Access, access};

use crate::error::DepsError;
use crate::index::{Index, remove_tree};
use crate::lock::Locked;
use crate::nar;
use crate::url::Url;

/// A cache.
#[derive(Clone, Debug)]
pub struct Cache {
    dir: PathBuf,
}

/// How a locked tree stands in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its files are as they were when it was verified, as far as the system knows.
    Fresh,
    /// It is there, but was touched or never looked at: only hashing can tell.
    Unsure,
    /// It is not there.
    Absent,
}

impl Cache {
    /// The cache that counts: the folder asked for, else `CAIRN_THIRDPARTY_DIR`,
    /// else `PRIMUS_THIRDPARTY_DIR`, else a folder in the user's home.
    ///
    /// # Errors
    /// When none is named and there is no home.
    pub fn locate(asked: Option<&Path>, cwd: &Path) -> Result<Self, DepsError> {
        let named = asked
            .map(Path::to_path_buf)
            .or_else(|| env::get(&env::CAIRN_THIRDPARTY_DIR).map(PathBuf::from))
            .or_else(|| env::get(&env::PRIMUS_THIRDPARTY_DIR).map(PathBuf::from))
            .or_else(|| {
                let home = env::get(&env::HOME)?;
                Some(Path::new(&home).join(".cache/cairn/third_party"))
            });
        match named {
            Some(dir) => Ok(Self::at(&cwd.join(dir))),
            None => Err(DepsError::Wrong(Box::new(
                Diagnostic::error(
                    "deps::no-cache",
                    "there is no place for a cache: HOME is not set",
                )
                .hint("name one with `--dir DIR` or in CAIRN_THIRDPARTY_DIR"),
            ))),
        }
    }

    /// The cache in this folder, which need not exist yet.
    #[must_use]
    pub fn at(dir: &Path) -> Self {
        Self {
            dir: dir.to_path_buf(),
        }
    }

    /// Its folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where a locked tree is or would be.
    #[must_use]
    pub fn tree(&self, locked: &Locked) -> PathBuf {
        self.dir.join(locked.tree_name())
    }

    /// The stable link of a project.
    #[must_use]
    pub fn link(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// True when the folder is there and cannot be written, as in a Nix store.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        let Ok(metadata) = fs::metadata(&self.dir) else {
            return false;
        };
        // The superuser may write where the mode forbids it, and must not.
        metadata.permissions().mode() & 0o222 == 0 || access(&self.dir, Access::WRITE_OK).is_err()
    }

    /// How a locked tree stands, without reading contents.
    #[must_use]
    pub fn standing(&self, locked: &Locked) -> Standing {
        let tree = self.tree(locked);
        if !is_real_dir(&tree) {
            return Standing::Absent;
        }
        match Index::read(&self.index_path(locked)) {
            Some(index)
                if index.tree_hash == Some(locked.tree_hash) && index.is_untouched(&tree) =>
            {
                Standing::Fresh
            }
            _ => Standing::Unsure,
        }
    }

    /// True when the project's link points to its locked tree.
    #[must_use]
    pub fn is_linked(&self, locked: &Locked) -> bool {
        fs::read_link(self.link(&locked.name)).is_ok_and(|to| to == Path::new(&locked.tree_name()))
    }

    /// Points the project's link to its locked tree, in one step.
    pub(crate) fn set_link(&self, locked: &Locked) -> Result<(), DepsError> {
        if self.is_linked(locked) {
            return Ok(());
        }
        let link = self.link(&locked.name);
        if fs::symlink_metadata(&link).is_ok_and(|metadata| !metadata.is_symlink()) {
            return Err(DepsError::InTheWay { path: link });
        }
        let failed = |error| FileError::new("create the link", &link, error);
        // Under the project's lock, so the name is ours.
        let new = self.dir.join(format!(".partial-{}-link", locked.name));
        remove_tree(&new)?;
        symlink(locked.tree_name(), &new).map_err(failed)?;
        fs::rename(&new, &link).map_err(failed)?;
        Ok(files::sync_dir(&self.dir)?)
    }

    /// Hashes a tree's content whatever the times on files say.
    ///
    /// # Errors
    /// [`DepsError::Changed`] when it is not as locked, naming what differs where
    /// that is known; others when it cannot be read.
    pub fn verify(&self, locked: &Locked, tree: &Path) -> Result<(), DepsError> {
        if nar::hash_checkout(tree)? == locked.tree_hash {
            return Ok(());
        }
        // The states of the locked tree are those of the cache, wherever this one is.
        let index = Index::read(&self.index_path(locked))
            .filter(|index| index.tree_hash == Some(locked.tree_hash));
        let changes = match index {
            Some(index) => index.changes(tree)?,
            None => Vec::new(),
        };
        let in_git = |change: &String| change.starts_with(".git ") || change.starts_with(".git/");
        Err(DepsError::Changed {
            name: locked.name.clone(),
            path: tree.to_path_buf(),
            changes: changes
                .into_iter()
                .filter(|change| !in_git(change))
                .collect(),
        })
    }

    /// Where the states of a tree's files are.
    pub(crate) fn index_path(&self, locked: &Locked) -> PathBuf {
        self.dir.join(".index").join(locked.tree_name())
    }

    /// The folder of object stores.
    pub(crate) fn stores(&self) -> PathBuf {
        self.dir.join(".objects")
    }

    /// The object store for an address.
    pub(crate) fn store(&self, url: &Url) -> PathBuf {
        self.stores().join(crate::git::store_name(url))
    }

    /// Where a tree of this project is made before it is put in place.
    pub(crate) fn partial(&self, name: &str) -> PathBuf {
        let process = std::process::id();
        self.dir.join(format!(".partial-{name}-{process}"))
    }

    /// The lock that one process at a time holds for a project. `waiting` is
    /// called once if another one has it.
    pub(crate) fn lock(&self, name: &str, waiting: impl FnOnce()) -> Result<FileLock, DepsError> {
        let dir = self.dir.join(".locks");
        files::create_dir_all(&dir)?;
        let path = dir.join(name);
        match FileLock::try_acquire(&path) {
            Err(error) if error.kind == FileErrorKind::Locked => {
                waiting();
                Ok(FileLock::acquire(&path)?)
            }
            other => Ok(other?),
        }
    }

    /// The project's lock if nobody has it.
    pub(crate) fn try_lock(&self, name: &str) -> Result<Option<FileLock>, DepsError> {
        let dir = self.dir.join(".locks");
        files::create_dir_all(&dir)?;
        match FileLock::try_acquire(&dir.join(name)) {
            Err(error) if error.kind == FileErrorKind::Locked => Ok(None),
            other => Ok(Some(other?)),
        }
    }

    /// Removes what killed processes left of a project. Under its lock only.
    pub(crate) fn sweep(&self, name: &str) -> Result<(), DepsError> {
        let prefix = format!(".partial-{name}-");
        for (entry, path) in self.names()? {
            let ours = entry
                .strip_prefix(&prefix)
                .is_some_and(|rest| !rest.contains('-'));
            if ours {
                remove_tree(&path)?;
            }
        }
        Ok(())
    }

    /// What the cache's folder holds, by name.
    pub(crate) fn names(&self) -> Result<BTreeMap<String, PathBuf>, DepsError> {
        let mut names = BTreeMap::new();
        match nar::sorted_entries(&self.dir) {
            Err(error) if error.kind == FileErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
            Ok(entries) => {
                for (name, _) in entries {
                    let path = self.dir.join(&name);
                    names.insert(name.to_string_lossy().into_owned(), path);
                }
            }
        }
        Ok(names)
    }
}

/// A folder itself, not a link to one.
pub(crate) fn is_real_dir(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_nobody_may_write_is_read_only_even_for_the_superuser() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        assert!(!cache.is_read_only());
        assert!(!Cache::at(&dir.path().join("none")).is_read_only());
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o555)).unwrap();
        assert!(cache.is_read_only());
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn what_is_left_of_one_project_is_swept_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        for name in [
            ".partial-a-12",
            ".partial-a-link",
            ".partial-a-b-12",
            "a-1-2",
        ] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        cache.sweep("a").unwrap();
        let names: Vec<_> = cache.names().unwrap().into_keys().collect();
        assert_eq!(names, [".partial-a-b-12", "a-1-2"]);
    }
}
