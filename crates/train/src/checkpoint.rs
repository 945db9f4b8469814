//! Checkpoints: everything that decides the next step, on disk, whole or absent.
//!
//! A checkpoint is a directory `step-00000400` holding safetensors shards,
//! `manifest.json` (step, files with sizes and BLAKE3 hashes, tensors, trainer
//! state, resolved experiment) and `manifest.b3` (the hash of the manifest, in
//! the form `b3sum --check` reads). It is written to the sibling
//! `.step-00000400.partial-<pid>`, synced file by file, and renamed when
//! complete, so a name `step-*` never stands for half a checkpoint.
//!
//! A process killed inside a write leaves that sibling behind: its presence is
//! the evidence that the kill fell inside a write. [`partials`] lists what is
//! there, and [`CheckpointWriter::open`] removes it and says so; a test that
//! counts kills inside writes calls [`partials`] between the kill and the resume.
//!
//! Times and host names are left out on purpose: the same state gives the same
//! bytes.

mod error;
mod inspect;
mod load;
mod manifest;
mod retention;
mod save;
mod shard;
#[cfg(test)]
mod tests;
mod writer;

use cairn_formats::DType;
use serde_json::Value;

pub use error::CheckpointError;
pub use inspect::{Inspection, Listing, inspect, list};
pub use load::{Checkpoint, Latest, find_latest, load, load_latest, locate, verify};
pub use manifest::{FileEntry, MANIFEST_NAME, MANIFEST_VERSION, Manifest, TensorEntry};
pub use retention::{Retention, partials, recover, step_dirs};
pub use save::{Options, save_now, step_dir_name};
pub use writer::CheckpointWriter;

/// One named tensor as bytes: row major, little endian, no padding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorRecord<B = Vec<u8>> {
    /// Unique in its checkpoint, such as `layers.3.attention.q_proj.weight`.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Size of each dimension; empty for a scalar.
    pub shape: Vec<usize>,
    /// `dtype.bytes(product of shape)` bytes.
    pub bytes: B,
}

/// Everything one checkpoint holds: with `B` a `Vec` by value, so that training
/// can go on changing its own copy while this one is written; with `B` a slice
/// where training waits, so that nothing is copied.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot<B = Vec<u8>> {
    /// Completed optimizer steps.
    pub step: u64,
    /// Parameters, optimizer moments and other tensors, in the order that
    /// [`Checkpoint::records`] gives back.
    pub records: Vec<TensorRecord<B>>,
    /// What else decides the next step: scheduler, scaler, data cursor, counters.
    /// Finite numbers come back with the same bits.
    pub state: Value,
    /// The resolved experiment that produced this.
    pub experiment: Value,
}
