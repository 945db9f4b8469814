//! Third-party source trees, the same bytes on every machine.
//!
//! [`manifest`] says what is wanted, [`lock`] what that resolved to; [`mod@sync`]
//! fills a [`cache`] and [`resolve`] finds trees for a run. Both sides of every
//! comparison are NAR hashes ([`nar`]), which Nix computes too.

pub mod bundle;
pub mod cache;
pub mod error;
pub mod gc;
pub mod lock;
pub mod manifest;
pub mod nar;
pub mod patch;
pub mod project;
pub mod relock;
pub mod resolve;
pub mod sbom;
pub mod sync;
pub mod url;

mod checkout;
mod git;
mod index;
mod make;
mod toml;
mod tree;

pub use cache::Cache;
pub use error::DepsError;
pub use git::Git;
pub use lock::{Lock, Locked};
pub use manifest::{Entry, Manifest};
pub use nar::NarHash;
pub use project::Project;
