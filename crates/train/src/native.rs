//! Cairn's own engine as a backend: programs, state, loop.

pub mod convert;
pub mod engine;
pub mod init;
pub mod place;
pub mod resume;
pub mod sample;
pub mod scaler;
pub mod schedule;
pub mod state;
pub mod trainer;

pub use engine::Engine;
pub use trainer::NativeTrainer;
