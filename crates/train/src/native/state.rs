//! Everything that decides the next step, to a checkpoint and back.

use cairn_nn::weights::moment_names;
use cairn_nn::{ModelConfig, Precision, models};
use cairn_tensor::{HostTensor, Store, TensorType};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::init::refresh_copy;
use super::scaler::LossScaler;
use crate::checkpoint::{Checkpoint, CheckpointError, Snapshot, TensorRecord};
use crate::data::Position;
use crate::error::TrainError;

/// What a checkpoint holds beside tensors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Completed optimizer steps.
    pub step: u64,
    /// Tokens trained on.
    pub tokens: u64,
    /// Where the next batch starts.
    pub data: Position,
    /// Which data that is a position in.
    pub data_fingerprint: String,
    /// Tokens of the sequences that the position counts.
    pub seq_length: usize,
    /// The loss scale.
    pub scaler: LossScaler,
    /// Key of all random numbers; their counter is the step.
    pub seed: u64,
    /// Instruction set of the steps so far: other ones round differently.
    pub isa: String,
    /// Model, dtypes and everything else the tensors depend on.
    pub model: ModelConfig,
}

/// Names and types of the tensors of a checkpoint, in order.
fn tensors(model: &ModelConfig, precision: Precision) -> Vec<(String, TensorType)> {
    let mut all = Vec::new();
    for spec in models::parameters(model) {
        let ty = spec.master_type(precision);
        let moments = moment_names(&spec.name);
        all.push((spec.name, ty.clone()));
        all.extend(moments.into_iter().map(|name| (name, ty.clone())));
    }
    all
}

/// A copy of everything that decides the next step.
///
/// # Errors
/// When the store lacks a tensor: a fault of the engine.
pub fn snapshot(
    store: &Store,
    progress: &Progress,
    precision: Precision,
    experiment: &Value,
) -> Result<Snapshot, TrainError> {
    let seen = view(store, progress, precision, experiment)?;
    let records = seen.records.into_iter().map(|record| TensorRecord {
        name: record.name,
        dtype: record.dtype,
        shape: record.shape,
        bytes: record.bytes.to_vec(),
    });
    Ok(Snapshot {
        step: seen.step,
        records: records.collect(),
        state: seen.state,
        experiment: seen.experiment,
    })
}

/// The same without a copy of the tensors.
///
/// # Errors
/// As [`snapshot`].
pub fn view<'a>(
    store: &'a Store,
    progress: &Progress,
    precision: Precision,
    experiment: &Value,
) -> Result<Snapshot<&'a [u8]>, TrainError> {
    let mut records = Vec::new();
    for (name, ty) in tensors(&progress.model, precision) {
        let tensor = store
            .get(&name)?
            .ok_or_else(|| TrainError::Internal(format!("no tensor `{name}` to save")))?;
        records.push(TensorRecord {
            name,
            dtype: ty.dtype,
            shape: ty.shape.to_vec(),
            bytes: tensor.bytes(),
        });
    }
    let state =
        serde_json::to_value(progress).map_err(|error| TrainError::Internal(error.to_string()))?;
    Ok(Snapshot {
        step: progress.step,
        records,
        state,
        experiment: experiment.clone(),
    })
}

/// Puts a checkpoint's tensors into `store` and gives its progress.
///
/// # Errors
/// When the checkpoint is of another model or another version.
pub fn restore(
    checkpoint: Checkpoint,
    store: &mut Store,
    model: &ModelConfig,
    precision: Precision,
) -> Result<Progress, TrainError> {
    let wanted = tensors(model, precision);
    checkpoint.expect(
        wanted
            .iter()
            .map(|(name, ty)| (name.as_str(), ty.dtype, ty.shape.dims())),
    )?;
    let unreadable = |source: serde_json::Error| TrainError::State {
        path: checkpoint.path.clone(),
        reason: source.to_string(),
    };
    let progress: Progress =
        serde_json::from_value(checkpoint.state.clone()).map_err(unreadable)?;
    for record in checkpoint.records {
        let ty = TensorType::new(record.dtype, record.shape);
        store.insert(record.name, HostTensor::from_bytes(ty, &record.bytes)?);
    }
    for spec in models::parameters(model)
        .iter()
        .filter(|spec| spec.has_copy(precision))
    {
        refresh_copy(store, spec, precision)?;
    }
    Ok(progress)
}

impl From<CheckpointError> for TrainError {
    fn from(error: CheckpointError) -> Self {
        Self::Checkpoint {
            error: Box::new(error),
            last_good: None,
        }
    }
}
