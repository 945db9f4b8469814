//! Integration tests of the engine and its trainer.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![allow(
    clippy::type_complexity,
    reason = "a table of cases spells its columns"
)]

mod accuracy;
mod common;
mod determinism;
mod engine;
mod generation;
mod gpu;
mod kills;
mod parity;
mod plan;
mod profile;
mod resume;
mod roofline;
mod signals;
mod wrong;
