//! The suites of the engine: kernels against the reference, the reference
//! against PyTorch and against finite differences, programs against the rules.

mod accuracy;
mod decomposition;
mod determinism;
mod errors;
mod golden;
mod gradients;
mod program;
mod support;
