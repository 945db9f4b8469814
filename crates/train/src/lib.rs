//! The training runtime: lifecycle, data, checkpoints, metrics.

pub mod checkpoint;
pub mod metrics;
