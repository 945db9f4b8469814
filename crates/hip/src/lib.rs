//! The backend of AMD GPUs.
//!
//! A [`Device`] is one GPU, or a simulated one: its memory, and the [`Stream`] of its work. A
//! [`Kernels`] is what was built for its architecture, loaded when it is first
//! launched. [`Gpu`] is the [`cairn_tensor::Backend`]: `ops` says which kernels
//! compute an operator, and refuses what no kernel does.

mod api;
mod args;
mod backend;
mod device;
mod error;
mod host;
mod module;
mod ops;
mod pool;
mod stream;
mod tiles;

pub use args::{Arg, pack};
pub use backend::Gpu;
pub use device::Device;
pub use error::GpuError;
pub use host::HostStats;
pub use module::Kernels;
pub use pool::PoolStats;
pub use stream::{Event, Stream};
pub use tiles::{Choice, Layout, Product, Tiles, TilesError};
