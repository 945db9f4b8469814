//! Diagnostics, processes, files, hashes, progress and environment: what every
//! other crate stands on. Knows nothing of experiments, tensors or devices.

pub mod diagnostic;
pub mod env;
pub mod exec;
pub mod files;
pub mod hash;
pub mod progress;
pub mod skip;
pub mod suggest;

pub use diagnostic::{Diagnostic, Label, Severity, SourceFile};
pub use exec::{Exec, ExecError};
pub use files::{FileError, FileErrorKind};
pub use progress::Progress;
pub use skip::skip;
pub use suggest::nearest;
