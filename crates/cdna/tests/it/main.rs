//! Tests of the simulator's parts against data and against second forms of them.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![allow(
    clippy::needless_range_loop,
    clippy::precedence,
    reason = "lanes index several registers; shifts read as in the ISA documents"
)]

mod accuracy;
mod corpus;
mod damaged;
mod decode;
mod faults;
mod foreign;
mod fuzz;
mod idioms;
mod kernels;
mod matrix;
mod oracle;
mod support;
mod traffic;
mod wrong_input;
