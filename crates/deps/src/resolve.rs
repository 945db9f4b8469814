//! Which tree a run uses, why, and the proof of it: a digest over names,
//! revisions and the hashes of what was really found.

use std::fs;
use std::path::{Path, PathBuf};

use cairn_base::hash;
use serde::Serialize;

use crate::cache::{Cache, Standing};
use crate::error::DepsError;
use crate::lock::Locked;
use crate::manifest::Entry;
use crate::nar;
use crate::project::Project;
use crate::sync::in_parallel;

/// What a user says about the backend's tree; both count for the backend
/// alone, not for what comes with it.
#[derive(Clone, Debug, Default)]
pub struct Named {
    /// `--backend_path`.
    pub flag: Option<PathBuf>,
    /// `BACKEND_PATH`.
    pub variable: Option<PathBuf>,
}

/// Where a tree may be, in the order in which it is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// `--backend_path`.
    Flag,
    /// `BACKEND_PATH`.
    Variable,
    /// `third_party/<name>` in the checkout.
    Checkout,
    /// The cache.
    Cache,
}

impl Origin {
    /// Its name for people.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Flag => "--backend_path",
            Self::Variable => "BACKEND_PATH",
            Self::Checkout => "checkout",
            Self::Cache => "cache",
        }
    }
}

/// A place that was looked at.
#[derive(Clone, Debug, Serialize)]
pub struct Candidate {
    /// Which.
    pub origin: Origin,
    /// Where; nothing when there is no such place.
    pub path: Option<PathBuf>,
    /// Whether this is the one.
    pub taken: bool,
    /// Why it is or is not.
    pub reason: String,
}

/// Every place for a project's tree; the first hit is taken.
#[must_use]
pub fn candidates(
    project: &Project,
    cache: &Cache,
    entry: &Entry,
    named: &Named,
) -> Vec<Candidate> {
    let of_backend = |path: &Option<PathBuf>| path.clone().filter(|_| entry.backend.is_some());
    let locked = project.lock.get(&entry.name);
    let looked = [
        (Origin::Flag, look(of_backend(&named.flag), "not given")),
        (
            Origin::Variable,
            look(of_backend(&named.variable), "not set"),
        ),
        (
            Origin::Checkout,
            look(Some(project.root.join("third_party").join(&entry.name)), ""),
        ),
        (Origin::Cache, look_in_cache(cache, locked)),
    ];
    let mut found = false;
    let mut candidates = Vec::new();
    for (origin, (path, hit, reason)) in looked {
        let taken = hit && !found;
        let reason = if hit && found {
            format!("not needed: {reason}")
        } else {
            reason
        };
        found |= hit;
        candidates.push(Candidate {
            origin,
            path,
            taken,
            reason,
        });
    }
    candidates
}

type Look = (Option<PathBuf>, bool, String);

fn look(path: Option<PathBuf>, absent: &str) -> Look {
    let Some(path) = path else {
        return (None, false, absent.to_owned());
    };
    let (hit, reason) = match fs::read_dir(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => (false, "is not there"),
        Err(_) => (false, "is no folder that can be read"),
        Ok(mut entries) => match entries.next() {
            None => (false, "is empty"),
            Some(_) => (true, "holds files"),
        },
    };
    (Some(path), hit, reason.to_owned())
}

fn look_in_cache(cache: &Cache, locked: Option<&Locked>) -> Look {
    let Some(locked) = locked else {
        return (None, false, "is not locked".to_owned());
    };
    let (hit, reason) = match cache.standing(locked) {
        Standing::Fresh => (true, "is the locked tree"),
        Standing::Unsure => (true, "is the locked tree by its name"),
        Standing::Absent => (false, "was not synced"),
    };
    (Some(cache.tree(locked)), hit, reason.to_owned())
}

/// The tree that counts, if there is one.
#[must_use]
pub fn taken(candidates: &[Candidate]) -> Option<(Origin, &Path)> {
    let taken = candidates.iter().find(|candidate| candidate.taken)?;
    Some((taken.origin, taken.path.as_deref()?))
}

/// A tree that a run uses, as it really is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Used {
    /// The project.
    pub name: String,
    /// Its locked revision; `unlocked` without one.
    pub rev: String,
    /// The hash of what was found.
    pub tree_hash: String,
    /// Where it is.
    pub path: PathBuf,
    /// Why it is used.
    pub origin: Origin,
    /// It is not as locked, and the user wanted it so.
    pub dirty: bool,
}

/// Resolves projects and hashes what was found, whatever the times on files say.
///
/// # Errors
/// For each project what is wrong: it is nowhere, or it is not as locked and
/// `allow_dirty` was not given.
pub fn used(
    project: &Project,
    cache: &Cache,
    entries: &[&Entry],
    named: &Named,
    allow_dirty: bool,
) -> Result<Vec<Used>, Vec<DepsError>> {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let results = in_parallel(entries, jobs, |entry| {
        let candidates = candidates(project, cache, entry, named);
        let locked = project.lock.get(&entry.name);
        match taken(&candidates) {
            Some((origin, path)) => one(cache, entry, locked, origin, path, allow_dirty),
            None if locked.is_none() => Err(DepsError::NotLocked {
                name: entry.name.clone(),
            }),
            None => Err(DepsError::Missing {
                name: entry.name.clone(),
            }),
        }
    });
    let mut used = Vec::new();
    let mut errors = Vec::new();
    for result in results {
        match result {
            Ok(one) => used.push(one),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() {
        Ok(used)
    } else {
        Err(errors)
    }
}

fn one(
    cache: &Cache,
    entry: &Entry,
    locked: Option<&Locked>,
    origin: Origin,
    path: &Path,
    allow_dirty: bool,
) -> Result<Used, DepsError> {
    let used = |rev: &str, tree_hash: String, dirty| Used {
        name: entry.name.clone(),
        rev: rev.to_owned(),
        tree_hash,
        path: path.to_path_buf(),
        origin,
        dirty,
    };
    let Some(locked) = locked else {
        if allow_dirty {
            let hash = nar::hash_checkout(path)?;
            return Ok(used("unlocked", hash.to_string(), true));
        }
        return Err(DepsError::NotLocked {
            name: entry.name.clone(),
        });
    };
    match cache.verify(locked, path) {
        Ok(()) => Ok(used(&locked.rev, locked.tree_hash.to_string(), false)),
        Err(DepsError::Changed { .. }) if allow_dirty => {
            let hash = nar::hash_checkout(path)?;
            Ok(used(&locked.rev, hash.to_string(), true))
        }
        Err(error) => Err(error),
    }
}

/// One digest over a set of trees: SHA-256, in hex, of a line `<name> <revision>
/// <tree hash>` for each, sorted by name. The same wherever the trees came from.
#[must_use]
pub fn fingerprint(used: &[Used]) -> String {
    let mut lines: Vec<String> = used
        .iter()
        .map(|used| format!("{} {} {}\n", used.name, used.rev, used.tree_hash))
        .collect();
    lines.sort();
    hash::sha256(lines.concat().as_bytes())
}

/// The folders that go onto Python's path, in the order given.
#[must_use]
pub fn python_roots(entry: &Entry, tree: &Path) -> Vec<PathBuf> {
    let roots = entry.python.iter();
    roots
        .map(|root| {
            if root == "." {
                tree.to_path_buf()
            } else {
                tree.join(root)
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(name: &str, hash: &str) -> Used {
        Used {
            name: name.to_owned(),
            rev: "r".to_owned(),
            tree_hash: hash.to_owned(),
            path: PathBuf::new(),
            origin: Origin::Cache,
            dirty: false,
        }
    }

    #[test]
    fn the_fingerprint_depends_on_content_and_not_on_place_or_order() {
        let mut elsewhere = used("a", "1");
        elsewhere.path = "/elsewhere".into();
        elsewhere.origin = Origin::Checkout;
        let one = fingerprint(&[used("a", "1"), used("b", "2")]);
        assert_eq!(one, fingerprint(&[used("b", "2"), elsewhere]));
        assert_ne!(one, fingerprint(&[used("a", "1"), used("b", "3")]));
        assert_ne!(one, fingerprint(&[used("a", "1")]));
        // printf 'a r 1\nb r 2\n' | sha256sum
        let known = "78d6e3ecc5ddf1f8169a97125bf518e2581f258c986cde3507b56b50be813b8e";
        assert_eq!(one, known);
    }
}
