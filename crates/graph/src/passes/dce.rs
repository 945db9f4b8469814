//! Dead code: nodes that no result and no state update needs.

use crate::error::GraphError;
use crate::graph::Graph;
use crate::op::AliasKind;
use crate::ops::is_leaf;
use crate::passes::replay;

/// Keeps what results and updates of states need, and every leaf (so that
/// callers may bind all of them).
///
/// # Errors
/// None in practice.
pub fn eliminate_dead_code(graph: &Graph) -> Result<Graph, GraphError> {
    let mut live = vec![false; graph.values().len()];
    for (_, value) in graph.outputs() {
        live[value.0 as usize] = true;
    }
    let mut keep = vec![false; graph.nodes().len()];
    for (index, node) in graph.nodes().iter().enumerate().rev() {
        let updates = node
            .op
            .aliases()
            .iter()
            .any(|alias| alias.kind == AliasKind::Must);
        keep[index] = updates
            || is_leaf(node.op.as_ref())
            || node.outputs.iter().any(|out| live[out.0 as usize]);
        if keep[index] {
            for input in &node.inputs {
                live[input.0 as usize] = true;
            }
        }
    }
    replay(graph, |_, _, index, _| Ok(!keep[index]))
}
