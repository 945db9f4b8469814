//! `train`: one experiment through the life of a run.

use cairn_launch::request;

use super::Context;
use crate::error::TrainError;
use crate::native::convert;
use crate::native::trainer::{NativeAdapter, NativeArgs};
use crate::runtime::{End, Runtime};
use crate::signals::Signals;

/// Trains; 0 when complete, 3 when stopped by a signal with a checkpoint.
///
/// # Errors
/// When the experiment cannot be run or a step fails.
pub fn run(context: &Context, train: request::Train) -> Result<u8, TrainError> {
    let experiment = train.experiment.native;
    let training = &experiment.training;
    let args = NativeArgs {
        model: convert::model(&experiment.model, training)?,
        step: convert::step(training, experiment.model.vocab_size),
        optimizer: convert::optimizer(training),
        record: serde_json::json!({ "experiment": train.experiment.record, "origins": train.experiment.origins }),
        record_text: serde_json::to_string_pretty(&train.experiment.record).unwrap_or_default(),
        project: context.project.clone(),
        resume: train.resume,
        profile: train.profile.map_or(training.profile, u64::from),
        detect_anomaly: train.detect_anomaly || training.detect_anomaly,
        threads: context.threads,
        isa: context.isa,
        device: train.device,
        signals: Signals::install()?,
        experiment,
    };
    match Runtime::new(NativeAdapter { args }).run()? {
        End::Complete => Ok(0),
        End::Stopped => Ok(3),
    }
}
