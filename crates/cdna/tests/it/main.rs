//! Tests of the simulator's parts against data and against second forms of them.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod decode;
mod faults;
mod foreign;
mod fuzz;
mod kernels;
mod library;
mod matrix;
mod oracle;
mod support;
