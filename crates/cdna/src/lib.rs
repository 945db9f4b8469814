//! Executes gfx942 and gfx950 machine code on the CPU, exactly, and finds
//! faults that hardware hides.
//!
//! [`Loaded`] puts a code object into a [`Memory`], [`Program`] decodes a
//! kernel of it, [`Launch`] runs it over a grid and gives a [`Report`].

#![allow(
    clippy::needless_range_loop,
    reason = "a lane or register number indexes several registers at once"
)]
#![allow(
    clippy::precedence,
    reason = "shifts and masks read as in the ISA documents"
)]

pub mod check;
pub mod command;
pub mod counters;
mod exec;
mod float;
pub mod launch;
mod lds;
pub mod matrix;
pub mod memory;
pub mod model;
pub mod profile;
pub mod program;
mod race;
mod source;
mod support;
mod valu;
mod wave;

pub use check::{Checks, Finding, FindingKind};
pub use counters::{Class, Counters};
pub use launch::{Launch, LaunchError, LoadError, Loaded, Options, Report};
pub use matrix::Mode;
pub use memory::{Memory, MemoryError};
pub use program::{Program, ProgramError};
