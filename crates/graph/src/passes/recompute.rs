//! Activation recomputation: forward values that the backward reads are
//! computed again just before it needs them, instead of being kept.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::error::GraphError;
use crate::graph::{Graph, Node, Stage, ValueId};
use crate::op::AliasKind;
use crate::ops::{Attention, MatMul, is_leaf};
use crate::passes::{ValueMap, replay};

/// How much to recompute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recompute {
    /// Keep everything a gradient reads.
    #[default]
    None,
    /// Keep the results of products and attention; recompute what is cheap:
    /// norms, activations, rotations, casts.
    Selective,
    /// Keep only what enters each layer.
    Full,
}

/// Rewrites the graph by this policy. A layer is a scope `layers.<n>`; forward
/// nodes outside layers are kept.
///
/// # Errors
/// None in practice.
pub fn recompute(graph: &Graph, policy: Recompute) -> Result<Graph, GraphError> {
    if policy == Recompute::None {
        return replay(graph, |_, _, _, _| Ok(false));
    }
    let redo = |node: &Node| node.stage == Stage::Forward && repeatable(graph, node, policy);
    // Layer and clone of each recomputed value, made when its layer's backward begins.
    let mut clones: BTreeMap<(String, ValueId), ValueId> = BTreeMap::new();
    replay(graph, |new, map, _, node| {
        if node.stage != Stage::Backward {
            return Ok(false);
        }
        let Some(layer) = layer_of(graph.scope_path(node.scope)) else {
            return Ok(false);
        };
        let mut inputs = Vec::new();
        for input in &node.inputs {
            inputs.push(again(graph, new, map, &mut clones, layer, *input, &redo)?);
        }
        let outputs = new.add_shared(node.op.clone(), &inputs)?;
        for (old, made) in node.outputs.iter().zip(outputs) {
            map.set(*old, made);
        }
        Ok(true)
    })
}

/// The value to read in the backward of `layer`: a clone made on demand when
/// the value was made in that layer's forward by a node worth repeating.
fn again(
    graph: &Graph,
    new: &mut Graph,
    map: &ValueMap,
    clones: &mut BTreeMap<(String, ValueId), ValueId>,
    layer: &str,
    value: ValueId,
    redo: &impl Fn(&Node) -> bool,
) -> Result<ValueId, GraphError> {
    // Nodes to clone, deepest first, without recursion: models are deep.
    let mut order: Vec<usize> = Vec::new();
    let mut seen: BTreeSet<usize> = BTreeSet::new();
    let mut stack = vec![value];
    while let Some(value) = stack.pop() {
        let index = graph.value(value).node.0 as usize;
        let node = &graph.nodes()[index];
        let own = layer_of(graph.scope_path(node.scope)) == Some(layer);
        if own
            && redo(node)
            && !clones.contains_key(&(layer.to_owned(), value))
            && seen.insert(index)
        {
            order.push(index);
            stack.extend(&node.inputs);
        }
    }
    order.sort_unstable();
    let find = |clones: &BTreeMap<(String, ValueId), ValueId>, value: ValueId| {
        clones
            .get(&(layer.to_owned(), value))
            .copied()
            .unwrap_or_else(|| map.get(value))
    };
    for index in order {
        let node = &graph.nodes()[index];
        let inputs: Vec<_> = node
            .inputs
            .iter()
            .map(|input| find(clones, *input))
            .collect();
        let scope = new.intern_scope(graph.scope_path(node.scope));
        let outputs = new.located(scope, Stage::Recompute, |new| {
            new.add_shared(node.op.clone(), &inputs)
        })?;
        for (old, made) in node.outputs.iter().zip(outputs) {
            clones.insert((layer.to_owned(), *old), made);
        }
    }
    Ok(find(clones, value))
}

fn repeatable(graph: &Graph, node: &Node, policy: Recompute) -> bool {
    let updates = node
        .op
        .aliases()
        .iter()
        .any(|alias| alias.kind == AliasKind::Must);
    if updates || is_leaf(node.op.as_ref()) {
        return false;
    }
    let any = node.op.as_any();
    match policy {
        Recompute::None => false,
        Recompute::Full => true,
        Recompute::Selective => {
            !any.is::<MatMul>() && !any.is::<Attention>() && !feeds_residual(graph, node)
        }
    }
}

/// A residual sum enters the next block: recomputing it would chain to the
/// layer's input through every product in between, which are kept anyway.
fn feeds_residual(graph: &Graph, node: &Node) -> bool {
    node.op
        .as_any()
        .downcast_ref::<crate::ops::Binary>()
        .is_some_and(|op| op.kind == crate::ops::BinaryKind::Add)
        && node
            .inputs
            .iter()
            .all(|input| graph.ty(*input) == graph.ty(node.outputs[0]))
}

/// `layers.<n>` when the scope lies in a layer.
fn layer_of(scope: &str) -> Option<&str> {
    let start = if scope.starts_with("layers.") {
        0
    } else {
        scope.find(".layers.")? + 1
    };
    let digits = start + "layers.".len();
    let len = scope[digits..].find('.').unwrap_or(scope.len() - digits);
    scope[digits..digits + len].parse::<usize>().ok()?;
    Some(&scope[..digits + len])
}
