//! Experiment YAML to one immutable resolved experiment in which every value
//! knows where it came from. Bytes in, `(Option<Resolved>, Vec<Diagnostic>)`
//! out: files and environment are behind [`Files`] and [`Env`], and nothing is
//! written or created.

mod environment;
mod load;
pub mod merge;
mod module;
pub mod native;
pub mod overrides;
mod platform;
mod preset;
pub mod resolve;
pub mod resolved;
pub mod show;
pub mod substitute;
pub mod system;
mod traps;
pub mod value;
pub mod yaml;

pub use resolve::{Env, Files, Options, preset_roots, resolve};
pub use resolved::{Module, Resolved};
pub use system::{SystemEnv, SystemFiles};
pub use value::{Kind, Map, Origin, Value, Via};
