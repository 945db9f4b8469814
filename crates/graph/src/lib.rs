//! The typed graph: operators, shapes, gradients, sharding rules, costs and
//! passes. Pure: same input, same bytes out; touches no file, clock or device.
//!
//! A [`Graph`] is an arena of nodes in topological order. An operator is a
//! plain struct of attributes behind the [`Op`] trait; [`ops`] holds one file
//! per family and one table of all of them. [`autodiff`] adds the backward
//! nodes, [`passes`] rewrite, [`memory`] assigns every value a place in one
//! arena, [`dump`] prints and stores.

pub mod autodiff;
pub mod build;
pub mod dump;
pub mod error;
pub mod graph;
pub mod memory;
pub mod op;
pub mod ops;
pub mod passes;
pub mod types;

pub use autodiff::{Gradients, gradients};
pub use error::{GraphError, OpError};
pub use graph::{Graph, Node, NodeId, ScopeId, Stage, Value, ValueId};
pub use op::{Alias, AliasKind, Cost, GradCx, Op, OpRegistry, ShardRule};
pub use types::{Shape, TensorType};

pub use cairn_formats::DType;
