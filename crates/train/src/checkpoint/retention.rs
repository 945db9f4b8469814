//! Which checkpoints stay, and what a run that was killed leaves behind.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cairn_base::{Diagnostic, FileError};
use serde::{Deserialize, Serialize};

use super::save::step_dir_name;

const PARTIAL: &str = ".partial-";
const REPLACED: &str = ".replaced-";

/// Which checkpoints to keep when a newer one is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retention {
    /// Keep this many of the newest that are whole; 0 keeps all.
    pub keep_last: usize,
    /// Keep every checkpoint whose step is a multiple of this for ever; 0 keeps none that way.
    pub keep_every: u64,
}

impl Retention {
    /// The steps to delete, given those present and the one just completed.
    ///
    /// The completed one always stays. Steps above it stay too: they are of
    /// another course of the run, and nothing newer vouches for them. `good`
    /// tells whether a checkpoint is whole: a damaged one stays as long as its
    /// place in the order says, and does not count. It is asked only where
    /// something older is there to delete.
    #[must_use]
    pub fn expired(&self, present: &[u64], completed: u64, good: impl Fn(u64) -> bool) -> Vec<u64> {
        if self.keep_last == 0 {
            return Vec::new();
        }
        let mut older: Vec<u64> = present.iter().copied().filter(|s| *s < completed).collect();
        older.sort_unstable_by(|a, b| b.cmp(a));
        let every = |step: u64| self.keep_every > 0 && step.is_multiple_of(self.keep_every);
        let mut rest = older.as_slice();
        let mut kept = 1;
        while kept < self.keep_last && rest.iter().any(|step| !every(*step)) {
            let Some((newest, behind)) = rest.split_first() else {
                break;
            };
            if behind.is_empty() || good(*newest) {
                kept += 1;
            }
            rest = behind;
        }
        rest.iter().copied().filter(|step| !every(*step)).collect()
    }
}

/// Path of the sibling a checkpoint is written to.
pub(super) fn partial_path(dir: &Path, step: u64) -> PathBuf {
    dir.join(format!(
        ".{}{PARTIAL}{}",
        step_dir_name(step),
        std::process::id()
    ))
}

/// Path a checkpoint of the same step is moved to while it is replaced.
pub(super) fn replaced_path(dir: &Path, step: u64) -> PathBuf {
    dir.join(format!(
        ".{}{REPLACED}{}",
        step_dir_name(step),
        std::process::id()
    ))
}

/// The checkpoints of a folder by step, complete by name; their content is not
/// looked at. A folder that does not exist has none.
pub fn step_dirs(dir: &Path) -> Result<BTreeMap<u64, PathBuf>, FileError> {
    let mut found = BTreeMap::new();
    for (name, path) in entries(dir)? {
        let step = name
            .strip_prefix("step-")
            .and_then(|digits| digits.parse().ok());
        if let Some(step) = step
            && step_dir_name(step) == name
            && path.is_dir()
        {
            found.insert(step, path);
        }
    }
    Ok(found)
}

/// Partial checkpoints in a folder, sorted: each stands for one process that
/// was killed inside a write, or one that is writing now.
pub fn partials(dir: &Path) -> Result<Vec<PathBuf>, FileError> {
    Ok(marked(dir, PARTIAL)?
        .into_iter()
        .map(|(_, path)| path)
        .collect())
}

/// Puts a folder right after a kill: partial checkpoints go, and one that was
/// being replaced when the process died comes back. Says what it did. Only the
/// one process that trains in this folder may call it.
pub fn recover(dir: &Path) -> Result<Vec<Diagnostic>, FileError> {
    let mut notes = Vec::new();
    for (name, path) in marked(dir, REPLACED)? {
        let original = dir.join(name);
        if original.exists() {
            remove(&path)?;
        } else {
            std::fs::rename(&path, &original)
                .map_err(|error| FileError::new("rename", &path, error))?;
            let text = format!("restored checkpoint {}", original.display());
            notes.push(Diagnostic::note("checkpoint::restored", text));
        }
    }
    for (_, path) in marked(dir, PARTIAL)? {
        remove(&path)?;
        let text = format!("removed an unfinished checkpoint, {}", path.display());
        notes.push(Diagnostic::note("checkpoint::partial", text));
    }
    Ok(notes)
}

/// Removes a checkpoint: renamed first, so that a kill in between leaves no
/// `step-*` directory with half its files.
pub(super) fn discard(dir: &Path, step: u64) -> Result<(), FileError> {
    let path = dir.join(step_dir_name(step));
    let doomed = partial_path(dir, step);
    std::fs::rename(&path, &doomed).map_err(|error| FileError::new("remove", &path, error))?;
    remove(&doomed)
}

pub(super) fn remove(path: &Path) -> Result<(), FileError> {
    let result = if path.is_dir() && !path.is_symlink() {
        std::fs::remove_dir_all(path)
    } else {
        std::fs::remove_file(path)
    };
    result.map_err(|error| FileError::new("remove", path, error))
}

/// Hidden entries `.<name><mark><pid>`: the name and the path.
fn marked(dir: &Path, mark: &str) -> Result<Vec<(String, PathBuf)>, FileError> {
    let mut found = Vec::new();
    for (name, path) in entries(dir)? {
        let parts = name
            .strip_prefix('.')
            .and_then(|rest| rest.split_once(mark));
        if let Some((original, pid)) = parts
            && original.starts_with("step-")
            && pid.bytes().all(|b| b.is_ascii_digit())
        {
            found.push((original.to_owned(), path));
        }
    }
    Ok(found)
}

/// Sorted entries with UTF-8 names; none when the folder does not exist.
fn entries(dir: &Path) -> Result<Vec<(String, PathBuf)>, FileError> {
    let failed = |error| FileError::new("read the folder", dir, error);
    let listing = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(failed)?,
    };
    let mut found = Vec::new();
    for entry in listing {
        let entry = entry.map_err(failed)?;
        if let Ok(name) = entry.file_name().into_string() {
            found.push((name, entry.path()));
        }
    }
    found.sort();
    Ok(found)
}
