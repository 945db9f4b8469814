//! Common subexpressions: the same operator with the same attributes on the
//! same values is computed once.

use std::collections::BTreeMap;

use crate::error::GraphError;
use crate::graph::{Graph, Stage, ValueId};
use crate::op::AliasKind;
use crate::ops::is_leaf;
use crate::passes::{copy, replay};

/// Merges equal nodes. Leaves, updates of states and recomputed nodes are left
/// alone, and so are nodes of different stages: keeping a forward value for the
/// backward costs memory and is the gradient rule's choice.
///
/// # Errors
/// None in practice.
pub fn eliminate_common_subexpressions(graph: &Graph) -> Result<Graph, GraphError> {
    let mut seen: BTreeMap<(&'static str, String, Vec<ValueId>, Stage), Vec<ValueId>> =
        BTreeMap::new();
    replay(graph, |new, map, _, node| {
        let updates = node
            .op
            .aliases()
            .iter()
            .any(|alias| alias.kind == AliasKind::Must);
        if updates || is_leaf(node.op.as_ref()) || node.stage == Stage::Recompute {
            return Ok(false);
        }
        let inputs: Vec<_> = node.inputs.iter().map(|input| map.get(*input)).collect();
        let key = (
            node.op.name(),
            node.op.attributes().to_string(),
            inputs,
            node.stage,
        );
        if let Some(outputs) = seen.get(&key) {
            for (old, made) in node.outputs.iter().zip(outputs) {
                map.set(*old, *made);
            }
            return Ok(true);
        }
        copy(new, map, node)?;
        seen.insert(key, node.outputs.iter().map(|old| map.get(*old)).collect());
        Ok(true)
    })
}
