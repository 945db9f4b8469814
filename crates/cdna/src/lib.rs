//! The gfx942 and gfx950 simulator: executes code objects on the CPU.

pub mod matrix;
