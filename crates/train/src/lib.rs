//! The training runtime: lifecycle, data, checkpoints, metrics.
