//! The suites of the engine: kernels against the reference, the reference
//! against PyTorch and against finite differences, programs against the rules.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod accuracy;
mod decomposition;
mod determinism;
mod device;
mod errors;
mod golden;
mod gradients;
mod interpret;
mod memory;
mod passes;
mod program;
mod support;
mod tensor_api;
