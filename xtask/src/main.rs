//! The one entry point of Cairn.
fn main() {}
