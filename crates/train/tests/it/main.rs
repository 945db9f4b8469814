//! Integration tests of the engine and its trainer.

mod common;
mod parity;
