//! Programs in C and `hip-sys` on the simulated HIP.

#![expect(unsafe_code, reason = "calls of a C library")]
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod bindings;
mod programs;
mod support;
