//! Resolved run to processes: what is asked of the engine, and how it is started.

pub mod request;

pub use request::{Command, Experiment, Format, Request, RequestError};
