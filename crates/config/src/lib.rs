//! Experiment YAML to one immutable resolved experiment in which every value
//! knows where it came from. Bytes in, `(Option<Resolved>, Vec<Diagnostic>)`
//! out: files and environment are behind [`Files`] and [`Env`], and nothing is
//! written or created.

pub mod native;
pub mod resolve;
pub mod resolved;
pub mod system;
pub mod value;

pub use resolve::{Env, Files, Options, preset_roots, resolve};
pub use resolved::{Module, Resolved};
pub use system::{SystemEnv, SystemFiles};
pub use value::{Kind, Map, Origin, Value, Via};
