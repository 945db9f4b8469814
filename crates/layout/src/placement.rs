//! What one mesh axis does to one tensor.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The reduction that a partial value still awaits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReduceOp {
    /// The value is the sum over the ranks of the axis.
    Sum,
    /// The value is the elementwise maximum over the ranks of the axis.
    Max,
    /// The value is the elementwise minimum over the ranks of the axis.
    Min,
}

/// What one mesh axis does to one tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// Every rank of the axis holds the same full copy.
    Replicate,
    /// The axis splits this tensor dim, counted from zero.
    Shard(usize),
    /// Every rank of the axis holds one operand of a reduction that is still to be done.
    Partial(ReduceOp),
}

impl fmt::Display for ReduceOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Sum => "sum",
            Self::Max => "max",
            Self::Min => "min",
        })
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replicate => write!(f, "replicate"),
            Self::Shard(dim) => write!(f, "shard({dim})"),
            Self::Partial(op) => write!(f, "partial({op})"),
        }
    }
}
