//! AMD GPU code objects: one reader for the kernel builder, the simulator and
//! the GPU backend. Any bytes may be given; what is wrong with them is an error.

pub mod arch;
mod bytes;
pub mod code_object;
pub mod descriptor;
mod elf;
pub mod error;
pub mod isa;
pub mod metadata;
mod msgpack;
pub mod product;

pub use arch::{Arch, Feature, Target};
pub use code_object::{CodeObject, Kernel, Version};
pub use descriptor::KernelDescriptor;
pub use elf::{Relocation, RelocationKind, Section, Segment, Symbol, SymbolKind};
pub use error::CodeObjectError;
pub use metadata::{AddressSpace, Argument, ArgumentKind, KernelMetadata};
pub use product::Product;
