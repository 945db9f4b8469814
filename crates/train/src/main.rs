//! `cairn-train`: executes one request that `cargo xtask` has checked.
fn main() {}
