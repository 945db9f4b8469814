//! Resolved run to processes: what is asked of the engine, and how it is started.

pub mod plan;
pub mod request;

pub use plan::{LaunchPlan, RunError};
pub use request::{Command, Experiment, Format, Request, RequestError};
