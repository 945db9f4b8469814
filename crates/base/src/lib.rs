//! Diagnostics, processes, files, hashes, progress and environment: what every
//! other crate stands on. Knows nothing of experiments, tensors or devices.

pub mod diagnostic;

pub use diagnostic::{Diagnostic, Label, Severity, SourceFile};
