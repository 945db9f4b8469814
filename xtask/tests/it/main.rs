//! Commands from outside: the manual's examples, exit codes, and the engine's
//! commands from training to report. The flake, in the hands of Nix.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests end a test as tests do"
)]

mod cli;
mod nix;
