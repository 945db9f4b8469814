//! Rewrites of a whole graph. Each takes a graph and gives another one that
//! computes the same results.

pub mod cse;
pub mod dce;
pub mod fuse;
pub mod fuse_products;
pub mod recompute;

use crate::error::GraphError;
use crate::graph::{Graph, Node, ValueId};

pub use cse::eliminate_common_subexpressions;
pub use dce::eliminate_dead_code;
pub use fuse::fuse;
pub use fuse_products::fuse_products;
pub use recompute::{Recompute, recompute};

/// A rewrite from outside: the form in which others add their own.
pub trait Pass {
    /// Shown in dumps and errors.
    fn name(&self) -> &'static str;

    /// The rewritten graph.
    ///
    /// # Errors
    /// When a node cannot be rebuilt.
    fn run(&self, graph: &Graph) -> Result<Graph, GraphError>;
}

/// The passes every training program goes through, in order.
///
/// # Errors
/// When a rewritten node cannot be rebuilt, which is a fault of the pass.
pub fn standard(graph: &Graph, policy: Recompute) -> Result<Graph, GraphError> {
    let graph = eliminate_common_subexpressions(graph)?;
    let graph = fuse(&graph)?;
    let graph = recompute(&graph, policy)?;
    eliminate_dead_code(&graph)
}

/// Old values to new ones while a graph is rebuilt.
#[derive(Clone, Debug)]
pub struct ValueMap {
    map: Vec<Option<ValueId>>,
}

impl ValueMap {
    /// The new form of `old`.
    ///
    /// # Panics
    /// When a pass dropped a value that is still read: a fault of the pass.
    #[must_use]
    pub fn get(&self, old: ValueId) -> ValueId {
        self.map[old.0 as usize].expect("a pass dropped a value that is still read")
    }

    /// Sets the new form of `old`.
    pub fn set(&mut self, old: ValueId, new: ValueId) {
        self.map[old.0 as usize] = Some(new);
    }
}

/// Rebuilds `graph` node by node. `rewrite` gets the new graph, the map so far,
/// the node's index and the node; it returns false to have the node copied, or
/// true when it set (or deliberately dropped) the node's outputs itself.
///
/// # Errors
/// Those of `rewrite`.
pub fn replay(
    graph: &Graph,
    mut rewrite: impl FnMut(&mut Graph, &mut ValueMap, usize, &Node) -> Result<bool, GraphError>,
) -> Result<Graph, GraphError> {
    let mut new = Graph::new();
    let mut map = ValueMap {
        map: vec![None; graph.values().len()],
    };
    for (index, node) in graph.nodes().iter().enumerate() {
        let scope = new.intern_scope(graph.scope_path(node.scope));
        new.located(scope, node.stage, |new| -> Result<(), GraphError> {
            if !rewrite(new, &mut map, index, node)? {
                copy(new, &mut map, node)?;
            }
            Ok(())
        })?;
    }
    for (name, value) in graph.outputs() {
        new.set_output(name.clone(), map.get(*value));
    }
    Ok(new)
}

/// Copies one node under the map and records its outputs.
pub(crate) fn copy(new: &mut Graph, map: &mut ValueMap, node: &Node) -> Result<(), GraphError> {
    let inputs: Vec<_> = node.inputs.iter().map(|input| map.get(*input)).collect();
    let outputs = new.add_shared(node.op.clone(), &inputs)?;
    for (old, made) in node.outputs.iter().zip(outputs) {
        map.set(*old, made);
    }
    Ok(())
}
