//! Dynamic loss scaling for f16 (Micikevicius et al., 2018), with Megatron's
//! names and rules.

use cairn_config::native::{Precision, TrainingParams};
use serde::{Deserialize, Serialize};

/// The loss scale and what decides its next value. Part of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LossScaler {
    /// Factor on the loss before the backward pass.
    pub scale: f64,
    /// Good steps in a row.
    pub good_steps: u64,
    /// Overflows still tolerated before the scale halves.
    pub hysteresis: u64,
}

impl LossScaler {
    /// The scaler a run begins with: 1 except in f16.
    #[must_use]
    pub fn new(training: &TrainingParams) -> Self {
        let scale = match training.precision {
            Precision::F16 => training.loss_scale.unwrap_or(training.initial_loss_scale),
            Precision::Bf16 | Precision::F32 | Precision::F64 => 1.0,
        };
        Self {
            scale,
            good_steps: 0,
            hysteresis: training.hysteresis,
        }
    }

    /// Whether an overflow is something the scaler deals with.
    #[must_use]
    pub fn is_dynamic(training: &TrainingParams) -> bool {
        training.precision == Precision::F16 && training.loss_scale.is_none()
    }

    /// Takes note of a step whose gradients were finite or not.
    pub fn update(&mut self, training: &TrainingParams, finite: bool) {
        if !Self::is_dynamic(training) {
            return;
        }
        if !finite {
            self.good_steps = 0;
            self.hysteresis = self.hysteresis.saturating_sub(1);
            if self.hysteresis == 0 {
                self.scale = (self.scale / 2.0).max(training.min_loss_scale);
            }
            return;
        }
        self.good_steps += 1;
        if self.good_steps == training.loss_scale_window {
            self.good_steps = 0;
            self.hysteresis = training.hysteresis;
            self.scale *= 2.0;
        }
    }
}
