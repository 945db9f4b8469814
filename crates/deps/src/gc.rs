//! `deps gc`: removes from the cache what the lock no longer names.

use std::collections::BTreeSet;
use std::path::PathBuf;

use cairn_base::FileErrorKind;
use cairn_base::files::Lock as FileLock;

use crate::cache::Cache;
use crate::error::DepsError;
use crate::git::store_name;
use crate::index::remove_tree;
use crate::nar;
use crate::project::Project;

/// What was removed, or would be.
///
/// # Errors
/// When something cannot be removed. What another process is at work on stays.
pub fn gc(project: &Project, cache: &Cache, dry_run: bool) -> Result<Vec<PathBuf>, DepsError> {
    let locked = &project.lock.entries;
    let trees: BTreeSet<String> = locked.iter().map(|locked| locked.tree_name()).collect();
    let names: BTreeSet<&str> = locked.iter().map(|locked| locked.name.as_str()).collect();
    let urls = locked.iter().flat_map(|locked| {
        std::iter::once(&locked.url).chain(locked.submodules.iter().map(|sub| &sub.url))
    });
    let stores: BTreeSet<String> = urls.map(store_name).collect();
    let mut garbage = Vec::new();
    for (name, path) in cache.names()? {
        let partial = name
            .strip_prefix(".partial-")
            .and_then(|rest| Some(rest.rsplit_once('-')?.0));
        let owner = if let Some(owner) = partial {
            owner
        } else if name.starts_with('.') || trees.contains(&name) || names.contains(name.as_str()) {
            continue;
        } else if path.is_symlink() {
            &name
        } else if let Some(owner) = owner_of(&name) {
            owner
        } else {
            // Not ours.
            continue;
        };
        garbage.push((Some(owner.to_owned()), path));
    }
    for (folder, keep) in [
        (cache.dir().join(".index"), &trees),
        (cache.stores(), &stores),
    ] {
        let entries = if folder.is_dir() {
            nar::sorted_entries(&folder)?
        } else {
            Vec::new()
        };
        for (name, _) in entries {
            let text = name.to_string_lossy();
            if !keep.contains(text.as_ref()) && !text.ends_with(".lock") {
                garbage.push((None, folder.join(&name)));
            }
        }
    }
    let mut removed = Vec::new();
    for (owner, path) in garbage {
        if !dry_run {
            let held = match &owner {
                Some(owner) => match cache.try_lock(owner)? {
                    Some(lock) => Some(lock),
                    None => continue,
                },
                // A store's own lock is beside it.
                None if path.starts_with(cache.stores()) => {
                    match FileLock::try_acquire(&path.with_extension("lock")) {
                        Ok(lock) => Some(lock),
                        Err(error) if error.kind == FileErrorKind::Locked => continue,
                        Err(error) => return Err(error.into()),
                    }
                }
                None => None,
            };
            remove_tree(&path)?;
            drop(held);
        }
        removed.push(path);
    }
    Ok(removed)
}

/// The project in `<name>-<rev12>-<hash8>`.
fn owner_of(tree: &str) -> Option<&str> {
    let (rest, hash) = tree.rsplit_once('-')?;
    let (name, rev) = rest.rsplit_once('-')?;
    let hex = |text: &str, length| {
        text.len() == length && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    (hex(hash, 8) && hex(rev, 12) && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_told_from_other_folders() {
        assert_eq!(owner_of("a-b-0123456789ab-01234567"), Some("a-b"));
        for other in [
            "a",
            "a-b-c",
            "a-0123456789ab-0123456",
            "-0123456789ab-01234567",
        ] {
            assert_eq!(owner_of(other), None, "{other}");
        }
    }
}
