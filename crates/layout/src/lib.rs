//! The algebra of placement: meshes, layouts, duals and local boxes.
//!
//! A [`Mesh`] arranges ranks along named axes. A [`Layout`] says, for one tensor, what
//! each axis does to it: keep full copies, shard a dim, or hold parts of a pending
//! reduction. [`Layout::dual`] gives the layout of the gradient, and
//! [`Layout::local_box`] the part of the tensor that a rank holds.
//!
//! Words: an *axis* belongs to a mesh, a *dim* to a tensor; a *rank* is a process.

mod layout;
mod local_box;
mod mesh;
mod placement;

pub use layout::{Layout, LayoutError};
pub use local_box::LocalBox;
pub use mesh::{Axis, Mesh, MeshError};
pub use placement::{Placement, ReduceOp};
