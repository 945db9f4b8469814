//! `cairn-sim`: does one request that `cargo xtask` has checked.

fn main() {}
