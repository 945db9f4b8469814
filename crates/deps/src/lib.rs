//! Third-party source trees, the same bytes on every machine: manifest, lock,
//! verified sync into a cache, and path resolution.

pub mod nar;

pub use nar::NarHash;
