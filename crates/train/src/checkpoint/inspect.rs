//! What `ckpt list` and `ckpt inspect` report.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::load::checkpoints_dir;
use super::{CheckpointError, FileEntry, Manifest, TensorEntry, locate, retention, verify};

/// One checkpoint of a folder.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Listing {
    /// Completed optimizer steps, from the folder's name.
    pub step: u64,
    /// The checkpoint.
    pub path: PathBuf,
    /// Number of tensors.
    pub tensors: usize,
    /// Bytes of all shards.
    pub bytes: u64,
    /// What is wrong with it, if anything.
    pub problem: Option<String>,
}

/// Everything about one checkpoint but the numbers in its tensors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// The checkpoint.
    pub path: PathBuf,
    /// Completed optimizer steps.
    pub step: u64,
    /// Elements of all tensors, optimizer moments included.
    pub elements: u64,
    /// Bytes of all shards.
    pub bytes: u64,
    /// The shards.
    pub files: Vec<FileEntry>,
    /// The tensors.
    pub tensors: Vec<TensorEntry>,
    /// What else decides the next step.
    pub state: Value,
    /// The resolved experiment.
    pub experiment: Value,
}

/// The checkpoints of a run directory or a `checkpoints` folder, oldest first.
/// With `full` every byte is read and compared; without, only the manifest and
/// the sizes of the files are.
///
/// # Errors
/// When the folder does not exist or cannot be read.
pub fn list(path: &Path, full: bool) -> Result<Vec<Listing>, CheckpointError> {
    let dir = checkpoints_dir(path);
    if path.is_file() {
        return Err(CheckpointError::NotAFolder {
            path: path.to_path_buf(),
        });
    }
    if !dir.is_dir() {
        return Err(CheckpointError::None { path: dir });
    }
    let mut listings = Vec::new();
    for (step, path) in retention::step_dirs(&dir)? {
        let manifest = if full {
            verify(&path)
        } else {
            Manifest::read(&path).and_then(|m| check_sizes(&path, m))
        };
        let (tensors, bytes, problem) = match manifest {
            Ok(manifest) => (manifest.tensors.len(), manifest.bytes(), None),
            Err(error) => (0, 0, Some(error.to_string())),
        };
        listings.push(Listing {
            step,
            path,
            tensors,
            bytes,
            problem,
        });
    }
    Ok(listings)
}

/// Checks and describes the checkpoint that `path` means (see [`locate`]).
///
/// # Errors
/// When there is none, or it is damaged.
pub fn inspect(path: &Path) -> Result<Inspection, CheckpointError> {
    let Some(path) = locate(path)?.path else {
        return Err(CheckpointError::None {
            path: path.to_path_buf(),
        });
    };
    let manifest = verify(&path)?;
    Ok(Inspection {
        path,
        step: manifest.step,
        elements: manifest.elements(),
        bytes: manifest.bytes(),
        files: manifest.files,
        tensors: manifest.tensors,
        state: manifest.state,
        experiment: manifest.experiment,
    })
}

fn check_sizes(path: &Path, manifest: Manifest) -> Result<Manifest, CheckpointError> {
    for file in &manifest.files {
        let length = std::fs::metadata(path.join(&file.name)).map(|meta| meta.len());
        match length {
            Ok(length) if length == file.bytes => {}
            Ok(length) => {
                let reason = format!("{}: {length} bytes instead of {}", file.name, file.bytes);
                return Err(CheckpointError::damaged(path, reason));
            }
            Err(_) => {
                return Err(CheckpointError::damaged(
                    path,
                    format!("{} is missing", file.name),
                ));
            }
        }
    }
    Ok(manifest)
}
