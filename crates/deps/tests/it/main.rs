//! Syncing, verifying and moving third-party trees, with repositories made here.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests end a test as tests do"
)]

mod bundle;
mod fixture;
mod hostile;
mod relock;
mod resolve;
mod sources;
mod sync;
mod wrong;
