//! Writing one checkpoint: a sibling directory, synced, renamed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cairn_base::{FileError, files};

use super::manifest::{self, MANIFEST_HASH_NAME, MANIFEST_NAME, MANIFEST_VERSION};
use super::{
    CheckpointError, FileEntry, Manifest, Retention, Snapshot, TensorEntry, TensorRecord, load,
    retention, shard,
};

/// How checkpoints are written and which ones stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Tensors are spread over files of at most this many bytes; one larger
    /// tensor gets a file of its own.
    pub shard_bytes: usize,
    /// Which older checkpoints stay.
    pub retention: Retention,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            shard_bytes: 2 << 30,
            retention: Retention::default(),
        }
    }
}

/// `step-00000400`.
#[must_use]
pub fn step_dir_name(step: u64) -> String {
    format!("step-{step:08}")
}

/// Writes `snapshot` below `dir` and deletes what `options.retention` lets go,
/// on the calling thread. Gives the path of the new checkpoint.
///
/// # Errors
/// When a record is inconsistent or the medium refuses. The partial directory
/// is removed then, and every earlier checkpoint is as it was.
pub fn save_now<B: AsRef<[u8]>>(
    dir: &Path,
    snapshot: &Snapshot<B>,
    options: &Options,
) -> Result<PathBuf, CheckpointError> {
    check_records(&snapshot.records)?;
    let path = dir.join(step_dir_name(snapshot.step));
    let partial = retention::partial_path(dir, snapshot.step);
    let written = write_partial(dir, &partial, snapshot, options)
        .and_then(|()| publish(dir, &partial, snapshot.step));
    if let Err(source) = written {
        // The cause is what the user needs; a left-over is removed at the next start.
        let _ = retention::remove(&partial);
        return Err(CheckpointError::Write { path, source });
    }
    purge(dir, snapshot.step, &options.retention).map_err(|source| CheckpointError::Purge {
        path: path.clone(),
        source,
    })?;
    Ok(path)
}

/// Names are unique and bytes fit shape and type.
fn check_records<B: AsRef<[u8]>>(records: &[TensorRecord<B>]) -> Result<(), CheckpointError> {
    let mut names = BTreeSet::new();
    for record in records {
        let fail = |reason: String| {
            Err(CheckpointError::Record {
                name: record.name.clone(),
                reason,
            })
        };
        // The safetensors header keeps this name for itself.
        if record.name.is_empty() || record.name == "__metadata__" {
            return fail("the name is reserved".into());
        }
        if !names.insert(record.name.as_str()) {
            return fail("the name is used twice".into());
        }
        let expected =
            manifest::elements(&record.shape, record.dtype).map(|n| record.dtype.bytes(n));
        if expected != Some(record.bytes.as_ref().len()) {
            return fail(format!(
                "{} bytes for {} of shape {:?}",
                record.bytes.as_ref().len(),
                record.dtype,
                record.shape
            ));
        }
    }
    Ok(())
}

fn write_partial<B: AsRef<[u8]>>(
    dir: &Path,
    partial: &Path,
    snapshot: &Snapshot<B>,
    options: &Options,
) -> Result<(), FileError> {
    files::create_dir_all(dir)?;
    if partial.exists() {
        retention::remove(partial)?;
    }
    std::fs::create_dir(partial)
        .map_err(|error| FileError::new("create the folder", partial, error))?;
    let groups = group(&snapshot.records, options.shard_bytes);
    let mut entries: Vec<FileEntry> = Vec::new();
    let mut tensors = Vec::new();
    for (index, records) in groups.iter().enumerate() {
        let name = format!("shard-{:05}-of-{:05}.safetensors", index + 1, groups.len());
        let path = partial.join(&name);
        let entry = shard::write(&path, &name, records)
            .map_err(|error| FileError::new("write", &path, error))?;
        entries.push(entry);
        tensors.extend(records.iter().map(|record| TensorEntry {
            name: record.name.clone(),
            dtype: record.dtype,
            shape: record.shape.clone(),
            file: name.clone(),
        }));
    }
    let manifest = Manifest {
        version: MANIFEST_VERSION,
        step: snapshot.step,
        files: entries,
        tensors,
        state: snapshot.state.clone(),
        experiment: snapshot.experiment.clone(),
    };
    let path = partial.join(MANIFEST_NAME);
    let mut text = serde_json::to_vec_pretty(&manifest)
        .map_err(|error| FileError::new("write", &path, error.into()))?;
    text.push(b'\n');
    files::write_atomic(&path, &text)?;
    let line = format!("{}  {MANIFEST_NAME}\n", blake3::hash(&text).to_hex());
    // Syncs the partial directory too.
    files::write_atomic(&partial.join(MANIFEST_HASH_NAME), line.as_bytes())
}

/// Consecutive records, cut where the next one would pass `cap` bytes.
fn group<B: AsRef<[u8]>>(records: &[TensorRecord<B>], cap: usize) -> Vec<Vec<&TensorRecord<B>>> {
    let mut groups: Vec<Vec<&TensorRecord<B>>> = vec![Vec::new()];
    let mut size = 0usize;
    for record in records {
        let bytes = record.bytes.as_ref().len();
        if size > 0 && size.saturating_add(bytes) > cap {
            groups.push(Vec::new());
            size = 0;
        }
        size = size.saturating_add(bytes);
        if let Some(last) = groups.last_mut() {
            last.push(record);
        }
    }
    groups
}

/// Gives the partial directory its name. A checkpoint of the same step is moved
/// aside first; if this process dies in between, [`super::recover`] moves it back.
fn publish(dir: &Path, partial: &Path, step: u64) -> Result<(), FileError> {
    let path = dir.join(step_dir_name(step));
    let aside = retention::replaced_path(dir, step);
    let replaces = path.symlink_metadata().is_ok();
    if replaces {
        std::fs::rename(&path, &aside).map_err(|error| FileError::new("replace", &path, error))?;
    }
    if let Err(error) = std::fs::rename(partial, &path) {
        if replaces {
            // Best effort: the same is done at the next start.
            let _ = std::fs::rename(&aside, &path);
        }
        return Err(FileError::new("rename", partial, error));
    }
    files::sync_dir(dir)?;
    if replaces {
        retention::remove(&aside)?;
    }
    Ok(())
}

fn purge(dir: &Path, completed: u64, keep: &Retention) -> Result<(), FileError> {
    let present = retention::step_dirs(dir)?;
    let steps: Vec<u64> = present.keys().copied().collect();
    // Read in full: one that cannot be resumed from vouches for nothing.
    let good = |step: u64| {
        present
            .get(&step)
            .is_some_and(|path| load::verify(path).is_ok())
    };
    for step in keep.expired(&steps, completed, good) {
        retention::discard(dir, step)?;
    }
    Ok(())
}
