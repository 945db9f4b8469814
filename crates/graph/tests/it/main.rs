//! The graph's own suite: dumps, the stored form, rules between nodes,
//! gradients as graphs, passes as graphs, memory plans.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![allow(
    clippy::needless_range_loop,
    reason = "indices name values of several tables"
)]

mod autodiff;
mod dumps;
mod memory;
mod models;
mod passes;
mod rules;
