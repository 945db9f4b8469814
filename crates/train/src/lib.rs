//! The training runtime: lifecycle, data, checkpoints, metrics.
//!
//! [`commands`] has one function for each request of `cargo xtask`;
//! [`runtime`] is the life of a run, the same for every backend; [`native`] is
//! Cairn's own engine as one of them.

pub mod checkpoint;
pub mod commands;
pub mod console;
pub mod data;
pub mod error;
pub mod estimate;
pub mod hugging_face;
pub mod memory;
pub mod metrics;
pub mod native;
pub mod report;
pub mod runtime;
pub mod signals;
pub mod trace;
