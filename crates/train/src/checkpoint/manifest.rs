//! The manifest: what a checkpoint says it contains, and the checks that the
//! statement is self-consistent before any of it is believed.

use std::collections::BTreeSet;
use std::path::Path;

use cairn_base::{FileErrorKind, files};
use cairn_formats::DType;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::CheckpointError;

/// File name of the manifest in a checkpoint.
pub const MANIFEST_NAME: &str = "manifest.json";
/// File name of the manifest's own hash.
pub(super) const MANIFEST_HASH_NAME: &str = "manifest.b3";
/// Version of the format written and read here.
pub const MANIFEST_VERSION: u64 = 1;

/// One shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// File name inside the checkpoint, no folders.
    pub name: String,
    /// Size of the file.
    pub bytes: u64,
    /// BLAKE3 hash of the file, 64 hexadecimal digits.
    pub blake3: String,
}

/// One tensor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorEntry {
    /// Name, unique in the checkpoint.
    pub name: String,
    /// Element type; the shard may have to name a plainer one for packed types.
    pub dtype: DType,
    /// Size of each dimension.
    pub shape: Vec<usize>,
    /// The shard it is in.
    pub file: String,
}

/// The content of `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`MANIFEST_VERSION`].
    pub version: u64,
    /// Completed optimizer steps.
    pub step: u64,
    /// The shards.
    pub files: Vec<FileEntry>,
    /// The tensors, in the order they were given to be saved.
    pub tensors: Vec<TensorEntry>,
    /// What else decides the next step.
    pub state: Value,
    /// The resolved experiment.
    pub experiment: Value,
}

impl Manifest {
    /// Elements of all tensors together.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.tensors
            .iter()
            .filter_map(TensorEntry::elements)
            .map(|n| n as u64)
            .sum()
    }

    /// Bytes of all shards together.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Reads the manifest of the checkpoint in `dir` and checks its hash,
    /// version and consistency. The shards are not looked at.
    pub fn read(dir: &Path) -> Result<Self, CheckpointError> {
        let damaged = |reason: String| CheckpointError::damaged(dir, reason);
        let text = read_file(dir, MANIFEST_NAME)?;
        let stated = read_file(dir, MANIFEST_HASH_NAME)?;
        let stated = String::from_utf8_lossy(&stated);
        let stated = stated.split_whitespace().next().unwrap_or_default();
        if stated != blake3::hash(&text).to_hex().as_str() {
            return Err(damaged(format!(
                "{MANIFEST_NAME} does not match {MANIFEST_HASH_NAME}"
            )));
        }
        let value: Value = serde_json::from_slice(&text)
            .map_err(|error| damaged(format!("{MANIFEST_NAME} is not JSON: {error}")))?;
        let version = value.get("version").and_then(Value::as_u64).unwrap_or(0);
        if version != MANIFEST_VERSION {
            return Err(CheckpointError::Version {
                path: dir.to_path_buf(),
                found: version,
                supported: MANIFEST_VERSION,
            });
        }
        let manifest: Self = serde_json::from_value(value)
            .map_err(|error| damaged(format!("{MANIFEST_NAME} is not a manifest: {error}")))?;
        manifest.check().map_err(damaged)?;
        Ok(manifest)
    }

    /// File names stay inside the checkpoint, names are unique, every tensor is
    /// in a listed file, and sizes are representable.
    fn check(&self) -> Result<(), String> {
        let mut files = BTreeSet::new();
        for file in &self.files {
            let plain = !file.name.is_empty()
                && !file.name.starts_with('.')
                && !file.name.contains(['/', '\\', '\0']);
            if !plain || !files.insert(file.name.as_str()) {
                return Err(format!(
                    "{MANIFEST_NAME} lists an unusable file name `{}`",
                    file.name
                ));
            }
        }
        let mut tensors = BTreeSet::new();
        for tensor in &self.tensors {
            if !tensors.insert(tensor.name.as_str()) {
                return Err(format!(
                    "{MANIFEST_NAME} lists tensor `{}` twice",
                    tensor.name
                ));
            }
            if !files.contains(tensor.file.as_str()) {
                return Err(format!(
                    "tensor `{}` is in `{}`, which is not listed",
                    tensor.name, tensor.file
                ));
            }
            if tensor.elements().is_none() {
                return Err(format!("tensor `{}` has an impossible shape", tensor.name));
            }
        }
        Ok(())
    }
}

impl TensorEntry {
    /// Product of the shape; `None` when it or its size in bits overflows.
    pub(super) fn elements(&self) -> Option<usize> {
        elements(&self.shape, self.dtype)
    }
}

/// Number of elements of `shape`, `None` when their bits cannot be counted.
pub(super) fn elements(shape: &[usize], dtype: DType) -> Option<usize> {
    let count = shape
        .iter()
        .try_fold(1usize, |product, dim| product.checked_mul(*dim))?;
    count.checked_mul(dtype.bits()).map(|_| count)
}

fn read_file(dir: &Path, name: &str) -> Result<Vec<u8>, CheckpointError> {
    match files::read(&dir.join(name)) {
        Ok(bytes) => Ok(bytes),
        Err(error) if error.kind == FileErrorKind::NotFound && dir.is_dir() => {
            Err(CheckpointError::damaged(dir, format!("{name} is missing")))
        }
        Err(error) => Err(error.into()),
    }
}
