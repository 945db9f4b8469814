//! Storage, backends, dispatcher, executor and the lazy tensor API.
//!
//! A [`Backend`] answers one question: which [`Kernel`] runs this operator on
//! these operands. A [`Program`] is a graph compiled once for a
//! [`Dispatcher`]: kernels chosen, memory planned, working space reserved; it
//! then runs any number of times on the tensors of a [`Store`] without
//! allocating, hashing or locking.

#[macro_use]
mod macros;

pub mod backend;
pub mod cpu;
pub mod device;
pub mod element;
pub mod error;
pub mod host;
pub mod program;
pub mod random;
pub mod reference;
pub mod store;
pub mod suite;
pub mod tensor;
pub mod threads;

#[expect(unsafe_code, reason = "owns the memory that tensors live in")]
mod buffer;

pub use backend::{Args, Backend, Dispatcher, Kernel, Operand, Signature, View, ViewMut};
pub use device::{Address, Captured, DeviceArgs, DeviceMemory, DeviceView, Mark};
pub use element::Element;
pub use error::{KernelError, TensorError};
pub use host::HostTensor;
pub use program::{Program, ProgramOptions};
pub use reference::Reference;
pub use store::Store;
pub use tensor::{Context, Tensor};
pub use threads::Pool;

pub use cairn_formats::DType;
pub use cairn_graph::{Shape, TensorType};
