//! The backend on simulated GPUs: HIP is the simulator's library, opened as on a
//! machine with a GPU.

mod conformance;
mod support;
