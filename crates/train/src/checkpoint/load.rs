//! Reading checkpoints, and finding the newest one that is what was written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cairn_base::{Diagnostic, FileError};
use cairn_formats::DType;
use serde_json::Value;

use super::shard::{self, ShardFault};
use super::{CheckpointError, MANIFEST_NAME, Manifest, TensorEntry, TensorRecord, retention};

/// How many differences a mismatch names before it counts the rest.
const SHOWN_DIFFERENCES: usize = 6;

/// A checkpoint in memory, every byte of it checked against its hash.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Where it was read from.
    pub path: PathBuf,
    /// Completed optimizer steps.
    pub step: u64,
    /// The tensors in the order they were saved.
    pub records: Vec<TensorRecord>,
    /// What else decides the next step.
    pub state: Value,
    /// The resolved experiment.
    pub experiment: Value,
}

/// What a search for the newest checkpoint found.
#[derive(Debug, Default)]
pub struct Latest {
    /// The newest complete checkpoint.
    pub path: Option<PathBuf>,
    /// One warning for each newer one that was passed over.
    pub warnings: Vec<Diagnostic>,
}

impl Checkpoint {
    /// The tensor of this name.
    #[must_use]
    pub fn record(&self, name: &str) -> Option<&TensorRecord> {
        self.records.iter().find(|record| record.name == name)
    }

    /// Checks that the tensors are exactly those of `wanted` (name, type,
    /// shape), in any order.
    ///
    /// # Errors
    /// [`CheckpointError::Mismatch`] with the differences.
    pub fn expect<'a>(
        &self,
        wanted: impl IntoIterator<Item = (&'a str, DType, &'a [usize])>,
    ) -> Result<(), CheckpointError> {
        let mut present: BTreeMap<&str, &TensorRecord> = self
            .records
            .iter()
            .map(|record| (record.name.as_str(), record))
            .collect();
        let mut differences = Vec::new();
        for (name, dtype, shape) in wanted {
            match present.remove(name) {
                None => differences.push(format!("`{name}` is missing")),
                Some(record) if record.dtype != dtype || record.shape != shape => {
                    let found = format!("{} {:?}", record.dtype, record.shape);
                    let text = format!("`{name}` is {found}, the model wants {dtype} {shape:?}");
                    differences.push(text);
                }
                Some(_) => {}
            }
        }
        differences.extend(
            present
                .keys()
                .map(|name| format!("the model has no `{name}`")),
        );
        if differences.is_empty() {
            return Ok(());
        }
        let rest = differences.len().saturating_sub(SHOWN_DIFFERENCES);
        differences.truncate(SHOWN_DIFFERENCES);
        if rest > 0 {
            differences.push(format!("and {rest} more"));
        }
        Err(CheckpointError::Mismatch {
            path: self.path.clone(),
            differences,
        })
    }
}

/// Reads and checks the checkpoint directory `path`.
///
/// # Errors
/// When it is damaged, of another version, or cannot be read.
pub fn load(path: &Path) -> Result<Checkpoint, CheckpointError> {
    let manifest = Manifest::read(path)?;
    let records = read_records(path, &manifest, &|_| true)?;
    Ok(Checkpoint {
        path: path.to_path_buf(),
        step: manifest.step,
        records,
        state: manifest.state,
        experiment: manifest.experiment,
    })
}

/// Reads every byte of a checkpoint and compares the hashes, keeping nothing.
///
/// # Errors
/// As [`load`].
pub fn verify(path: &Path) -> Result<Manifest, CheckpointError> {
    let manifest = Manifest::read(path)?;
    read_records(path, &manifest, &|_| false)?;
    Ok(manifest)
}

/// The newest complete checkpoint in the folder `dir`; every byte of those
/// looked at is read. A folder that does not exist has none.
///
/// # Errors
/// When the folder itself cannot be read.
pub fn find_latest(dir: &Path) -> Result<Latest, CheckpointError> {
    let (found, warnings) = newest(dir, verify)?;
    Ok(Latest {
        path: found.map(|(path, _)| path),
        warnings,
    })
}

/// As [`find_latest`] and [`load`] in one pass over the files.
///
/// # Errors
/// When the folder itself cannot be read.
pub fn load_latest(dir: &Path) -> Result<(Option<Checkpoint>, Vec<Diagnostic>), CheckpointError> {
    let (found, warnings) = newest(dir, load)?;
    Ok((found.map(|(_, checkpoint)| checkpoint), warnings))
}

/// The checkpoint that a user's path means: a checkpoint itself, or the newest
/// complete one of a `checkpoints` folder or of a run directory.
///
/// # Errors
/// [`CheckpointError::None`] when there is none.
pub fn locate(path: &Path) -> Result<Latest, CheckpointError> {
    if path.join(MANIFEST_NAME).exists() {
        return Ok(Latest {
            path: Some(path.to_path_buf()),
            warnings: Vec::new(),
        });
    }
    if !path.exists() {
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        return Err(FileError::new("read", path, missing).into());
    }
    if !path.is_dir() {
        return Err(CheckpointError::NotAFolder {
            path: path.to_path_buf(),
        });
    }
    let dir = checkpoints_dir(path);
    let latest = find_latest(&dir)?;
    if latest.path.is_none() {
        return Err(CheckpointError::None { path: dir });
    }
    Ok(latest)
}

/// `path/checkpoints` when that is a folder, else `path`.
pub(super) fn checkpoints_dir(path: &Path) -> PathBuf {
    let below = path.join("checkpoints");
    if below.is_dir() {
        below
    } else {
        path.to_path_buf()
    }
}

type Found<T> = (Option<(PathBuf, T)>, Vec<Diagnostic>);

fn newest<T>(
    dir: &Path,
    open: impl Fn(&Path) -> Result<T, CheckpointError>,
) -> Result<Found<T>, CheckpointError> {
    let mut warnings = Vec::new();
    for (_, path) in retention::step_dirs(dir)?.into_iter().rev() {
        match open(&path) {
            Ok(value) => return Ok((Some((path, value)), warnings)),
            Err(error) => warnings.push(error.skipped()),
        }
    }
    Ok((None, warnings))
}

/// The records `want` holds for, in manifest order, after checking every file.
fn read_records(
    path: &Path,
    manifest: &Manifest,
    want: &dyn Fn(&str) -> bool,
) -> Result<Vec<TensorRecord>, CheckpointError> {
    let mut by_file: BTreeMap<&str, Vec<&TensorEntry>> = BTreeMap::new();
    for tensor in &manifest.tensors {
        by_file
            .entry(tensor.file.as_str())
            .or_default()
            .push(tensor);
    }
    let mut records = BTreeMap::new();
    for file in &manifest.files {
        let entries = by_file.remove(file.name.as_str()).unwrap_or_default();
        let read = shard::read(path, file, &entries, want).map_err(|fault| match fault {
            ShardFault::Damaged(reason) => CheckpointError::damaged(path, reason),
            ShardFault::Io(error) => FileError::new("read", path.join(&file.name), error).into(),
        })?;
        records.extend(read);
    }
    Ok(manifest
        .tensors
        .iter()
        .filter_map(|tensor| records.remove(&tensor.name))
        .collect())
}
