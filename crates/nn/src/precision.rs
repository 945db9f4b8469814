//! Which dtype is used where. The policy is data, applied when a graph is built.

use cairn_graph::DType;
use serde::{Deserialize, Serialize};

/// Compute dtype and what follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Everything in f64: for checks.
    F64,
    /// Everything in f32.
    F32,
    /// Matrices and activations in bf16; norms, softmax, loss, gradients of
    /// parameters, master weights and moments in f32.
    Bf16,
    /// As bf16, in f16, with a loss scale.
    F16,
}

impl Precision {
    /// dtype of matrices and activations.
    #[must_use]
    pub fn compute(self) -> DType {
        match self {
            Self::F64 => DType::F64,
            Self::F32 => DType::F32,
            Self::Bf16 => DType::BF16,
            Self::F16 => DType::F16,
        }
    }

    /// dtype of master weights, gradients, moments, norms and losses.
    #[must_use]
    pub fn master(self) -> DType {
        if self == Self::F64 {
            DType::F64
        } else {
            DType::F32
        }
    }

    /// Whether matrices have a compute copy beside the master weights.
    #[must_use]
    pub fn has_copies(self) -> bool {
        self.compute() != self.master()
    }
}
