//! The backend on simulated GPUs: HIP is the simulator's library, opened as on a
//! machine with a GPU.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod conformance;
mod devices;
mod errors;
mod programs;
mod runtime;
mod support;
mod wide;
