//! Kernel sources to code objects: which sources belong to which architecture,
//! which compiler builds them, what was built, and whether it keeps its limits.

pub mod archs;
pub mod build;
mod cache;
pub mod check;
pub mod compiler;
pub mod declaration;
pub mod error;
pub mod listing;
pub mod manifest;
pub mod source;

pub use build::{Report, Request, build};
pub use cairn_codeobj::{Arch, Product, product};
pub use compiler::{Compiler, Refused, Search};
pub use error::KernelsError;
pub use manifest::Manifest;
pub use source::Source;
