//! What can end a command early, and how it is told.

use std::path::PathBuf;

use cairn_base::{Diagnostic, FileError};
use cairn_graph::GraphError;
use cairn_tensor::TensorError;
use thiserror::Error;

use crate::checkpoint::CheckpointError;
use crate::data::DataError;

/// Why a command did not do what it should.
#[derive(Debug, Error)]
pub enum TrainError {
    /// A message that is complete already.
    #[error("{}", .0.message)]
    Diagnostic(Box<Diagnostic>),
    /// The data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// A checkpoint.
    #[error("{error}")]
    Checkpoint {
        /// What happened.
        error: Box<CheckpointError>,
        /// The newest complete one.
        last_good: Option<PathBuf>,
    },
    /// A checkpoint's state cannot be read.
    #[error("the state in {} cannot be read: {reason}", path.display())]
    State {
        /// The checkpoint.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The engine.
    #[error(transparent)]
    Tensor(#[from] TensorError),
    /// Loss or gradients are not finite.
    #[error("{what} is {value} at step {step}")]
    NonFinite {
        /// `loss` or `gradient norm`.
        what: &'static str,
        /// The value.
        value: f64,
        /// The step.
        step: u64,
        /// The newest complete checkpoint.
        last_good: Option<PathBuf>,
    },
    /// `--detect-anomaly` found the operator.
    #[error("{error}, at step {step}")]
    Anomaly {
        /// What was found.
        error: Box<TensorError>,
        /// The step.
        step: u64,
        /// The newest complete checkpoint.
        last_good: Option<PathBuf>,
    },
    /// A signal came before the first step.
    #[error("stopped by a signal before the first step: nothing was trained and nothing is lost")]
    Stopped {
        /// The run had a checkpoint to go on from, and still has.
        resumable: bool,
    },
    /// Something that cannot happen did.
    #[error("internal error: {0}")]
    Internal(String),
}

impl From<GraphError> for TrainError {
    fn from(error: GraphError) -> Self {
        Self::Tensor(error.into())
    }
}

impl From<Box<Diagnostic>> for TrainError {
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Self::Diagnostic(diagnostic)
    }
}

impl TrainError {
    /// Exit code: 2 when the input was wrong, 1 when the run failed.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Data(error) => error.exit_code(),
            Self::State { .. } | Self::Diagnostic(_) => 2,
            Self::Checkpoint { error, .. } => match **error {
                CheckpointError::Mismatch { .. }
                | CheckpointError::Damaged { .. }
                | CheckpointError::Version { .. }
                | CheckpointError::None { .. }
                | CheckpointError::NotAFolder { .. }
                | CheckpointError::Read(_) => 2,
                _ => 1,
            },
            // A file that is read was named by the user, or should be there.
            Self::File(error) if error.action == "read" => 2,
            Self::Stopped { resumable: true } => 3,
            Self::File(_)
            | Self::Tensor(_)
            | Self::NonFinite { .. }
            | Self::Anomaly { .. }
            | Self::Stopped { resumable: false }
            | Self::Internal(_) => 1,
        }
    }

    /// What the user is told.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        let go_back = |last: &Option<PathBuf>| match last {
            Some(path) => format!(
                "the last good checkpoint is {}: `--resume` goes on from there",
                path.display()
            ),
            None => "no checkpoint was written before that".to_owned(),
        };
        match self {
            Self::Diagnostic(diagnostic) => (**diagnostic).clone(),
            Self::Data(error) => error.diagnostic(),
            Self::File(error) => error.diagnostic(),
            Self::Checkpoint { error, last_good } => error.diagnostic(last_good.as_deref()),
            Self::State { .. } => Diagnostic::error("checkpoint::state", self.to_string()).hint(
                "it was written by another version: train from the beginning in another `exp_name`",
            ),
            Self::Anomaly { last_good, .. } => {
                Diagnostic::error("train::anomaly", self.to_string())
                    .hint("values before this operator were finite")
                    .hint(go_back(last_good))
            }
            Self::Stopped { resumable } => Diagnostic::error("train::stopped", self.to_string())
                .hint(match resumable {
                    true => "`--resume` goes on from the newest checkpoint, as before",
                    false => "the same command starts again; data that was prepared is kept",
                }),
            Self::Tensor(error @ TensorError::OutOfMemory { .. }) => Diagnostic::error(
                "train::memory",
                error.to_string(),
            )
            .hint("lower `micro_batch_size` or `seq_length`, or set `recompute_granularity: full`")
            .hint("`cargo xtask plan estimate --exp E` shows what a run needs"),
            Self::Tensor(error @ TensorError::NoKernel { .. }) => {
                Diagnostic::error("train::engine", error.to_string())
                    .hint("`precision: bf16` and `f32` have kernels everywhere")
                    .hint("with `--device hip`, `--cpu-fallback` runs what has none on the CPU")
            }
            Self::Tensor(error @ TensorError::Device { .. }) => {
                Diagnostic::error("train::engine", error.to_string()).hint(
                    "`--detect-anomaly` waits for each operator and names the one that failed",
                )
            }
            Self::Tensor(error) => Diagnostic::error("train::engine", error.to_string()),
            Self::NonFinite { last_good, .. } => {
                Diagnostic::error("train::non-finite", self.to_string())
                    .hint(go_back(last_good))
                    .hint(
                        "`--detect-anomaly` names the first operator that made a non-finite value",
                    )
                    .hint("a lower `lr`, a longer warm-up or a smaller `clip_grad` often cures it")
            }
            Self::Internal(_) => Diagnostic::error("train::internal", self.to_string())
                .hint("this is a fault of Cairn: please report it with the experiment"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_that_shows_late_says_how_to_find_its_operator() {
        let message = "a kernel failed".to_owned();
        let error = TrainError::from(TensorError::Device { message });
        assert_eq!(error.exit_code(), 1);
        let told = error.diagnostic().render(false);
        assert!(told.contains("train::engine"), "{told}");
        assert!(told.contains("a kernel failed"), "{told}");
        assert!(told.contains("`--detect-anomaly` waits"), "{told}");
    }
}
