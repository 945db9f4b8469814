//! Fusions that save passes over memory or a second computation.

use std::collections::{BTreeMap, BTreeSet};

use cairn_formats::DType;

use crate::error::GraphError;
use crate::graph::{Graph, Node, ValueId};
use crate::ops::{
    Binary, BinaryKind, CrossEntropy, CrossEntropyGrad, CrossEntropyWithGrad, MatMul, RmsNormGrad,
    is_leaf,
};
use crate::passes::{copy, replay};

/// Applies, in this order:
/// 1. loss and its gradient in one pass over the logits, where the gradient of
///    the loss does not depend on the loss;
/// 2. `add(matmul(a, b), c)` of f32 or f64 into a product that accumulates into `c`;
/// 3. `add(rmsnorm_grad(..).dx, residual)` into the gradient itself.
///
/// # Errors
/// None in practice.
pub fn fuse(graph: &Graph) -> Result<Graph, GraphError> {
    let graph = fuse_cross_entropy(graph)?;
    fuse_additions(&graph)
}

fn fuse_cross_entropy(graph: &Graph) -> Result<Graph, GraphError> {
    // Forward node -> its gradient node, matched by operands and attributes.
    let mut forward: BTreeMap<Vec<ValueId>, usize> = BTreeMap::new();
    let mut pairs: BTreeMap<usize, usize> = BTreeMap::new();
    for (index, node) in graph.nodes().iter().enumerate() {
        let any = node.op.as_any();
        if any.is::<CrossEntropy>() {
            forward.insert(node.inputs.clone(), index);
        } else if let Some(grad) = any.downcast_ref::<CrossEntropyGrad>()
            && let Some(first) = forward.get(&node.inputs[..3])
            && graph.nodes()[*first]
                .op
                .as_any()
                .downcast_ref::<CrossEntropy>()
                .map(|op| op.config)
                == Some(grad.config)
            && hoistable(graph, node.inputs[3], *first).is_some()
        {
            pairs.insert(*first, index);
        }
    }
    if pairs.is_empty() {
        return replay(graph, |_, _, _, _| Ok(false));
    }
    let fused_grads: BTreeSet<usize> = pairs.values().copied().collect();
    let mut hoisted: BTreeSet<usize> = BTreeSet::new();
    replay(graph, |new, map, index, node| {
        if hoisted.contains(&index) || fused_grads.contains(&index) {
            return Ok(true);
        }
        let Some(grad_index) = pairs.get(&index) else {
            return Ok(false);
        };
        let grad = &graph.nodes()[*grad_index];
        for seed in hoistable(graph, grad.inputs[3], index).unwrap_or_default() {
            copy(new, map, &graph.nodes()[seed])?;
            hoisted.insert(seed);
        }
        let Some(op) = grad.op.as_any().downcast_ref::<CrossEntropyGrad>() else {
            return Ok(false);
        };
        let fused = CrossEntropyWithGrad {
            config: op.config,
            weight_dtype: op.weight_dtype,
        };
        let inputs: Vec<_> = grad.inputs.iter().map(|input| map.get(*input)).collect();
        let outputs = new.add(fused, &inputs)?;
        for (old, made) in node.outputs.iter().chain(&grad.outputs).zip(outputs) {
            map.set(*old, made);
        }
        Ok(true)
    })
}

/// Nodes after `before` that `value` needs, in order, when none of them depends
/// on the outputs of node `before`; `None` when one does.
fn hoistable(graph: &Graph, value: ValueId, before: usize) -> Option<Vec<usize>> {
    let mut wanted = BTreeSet::new();
    let mut stack = vec![value];
    while let Some(value) = stack.pop() {
        let node = graph.value(value).node.0 as usize;
        if node == before
            || (node > before
                && graph.nodes()[node]
                    .op
                    .aliases()
                    .iter()
                    .any(|a| a.kind == crate::AliasKind::Must))
        {
            return None;
        }
        if node > before && wanted.insert(node) {
            stack.extend(&graph.nodes()[node].inputs);
        }
    }
    Some(wanted.into_iter().collect())
}

/// A node that absorbs an addition, and the addition's other operand.
struct Absorbing {
    node: usize,
    addition: usize,
    other: ValueId,
}

/// Which additions go into which nodes.
#[derive(Default)]
struct Absorptions {
    /// By node: it stays where it is, the addition comes to it.
    up: BTreeMap<usize, Absorbing>,
    /// By addition: the node comes to it, because the other operand is made
    /// after the node.
    down: BTreeMap<usize, Absorbing>,
    /// Nodes that are not made where they stand, and the earlier node that makes
    /// their result, if it is an earlier one.
    gone: BTreeMap<usize, Option<usize>>,
}

fn fuse_additions(graph: &Graph) -> Result<Graph, GraphError> {
    let absorptions = find_absorptions(graph);
    let mut hoisted: BTreeSet<usize> = BTreeSet::new();
    replay(graph, |new, map, index, node| {
        if absorptions.gone.contains_key(&index) || hoisted.contains(&index) {
            return Ok(true);
        }
        let up = absorptions.up.get(&index);
        let Some(found) = up.or_else(|| absorptions.down.get(&index)) else {
            return Ok(false);
        };
        let other = graph.value(found.other).node.0 as usize;
        if other > found.node && up.is_some() {
            // A leaf declared later: the gradient's state, usually.
            let leaf = &graph.nodes()[other];
            let scope = new.intern_scope(graph.scope_path(leaf.scope));
            new.located(scope, leaf.stage, |new| copy(new, map, leaf))?;
            hoisted.insert(other);
        }
        let absorbing = if up.is_some() {
            node
        } else {
            &graph.nodes()[found.node]
        };
        let mut inputs: Vec<_> = absorbing
            .inputs
            .iter()
            .map(|input| map.get(*input))
            .collect();
        inputs.push(map.get(found.other));
        let outputs = new.add_shared(absorbing.op.clone(), &inputs)?;
        for (old, made) in absorbing.outputs.iter().zip(outputs) {
            map.set(*old, made);
        }
        let sum = map.get(absorbing.outputs[0]);
        map.set(graph.nodes()[found.addition].outputs[0], sum);
        Ok(true)
    })
}

fn find_absorptions(graph: &Graph) -> Absorptions {
    let uses = graph.use_counts();
    let mut found = Absorptions::default();
    for (index, node) in graph.nodes().iter().enumerate() {
        if node.op.as_any().downcast_ref::<Binary>().map(|op| op.kind) != Some(BinaryKind::Add) {
            continue;
        }
        for (own, other) in [
            (node.inputs[1], node.inputs[0]),
            (node.inputs[0], node.inputs[1]),
        ] {
            let producer = graph.value(own).node.0 as usize;
            let free = !found.gone.contains_key(&producer) && !found.up.contains_key(&producer);
            if own == other
                || graph.ty(own) != graph.ty(other)
                || uses[own.0 as usize] != 1
                || !free
                || !absorbable(graph, &graph.nodes()[producer], own)
            {
                continue;
            }
            let absorbing = Absorbing {
                node: producer,
                addition: index,
                other,
            };
            // Staying is better: a node that moves keeps its inputs alive.
            if available(graph, &found, producer, other) {
                found.gone.insert(index, Some(producer));
                found.up.insert(producer, absorbing);
                break;
            }
            if !reads(graph, producer, index, other) {
                found.gone.insert(producer, None);
                found.down.insert(index, absorbing);
                break;
            }
        }
    }
    found
}

/// Whether `value` exists where `node` stands, or is a leaf that can.
fn available(graph: &Graph, found: &Absorptions, node: usize, value: ValueId) -> bool {
    let maker = graph.value(value).node.0 as usize;
    if is_leaf(graph.nodes()[maker].op.as_ref()) {
        return true;
    }
    match found.gone.get(&maker) {
        None => maker < node,
        Some(earlier) => earlier.is_some_and(|earlier| earlier < node),
    }
}

fn absorbable(graph: &Graph, producer: &Node, value: ValueId) -> bool {
    let any = producer.op.as_any();
    if let Some(op) = any.downcast_ref::<MatMul>() {
        return producer.inputs.len() == 2 && matches!(op.out_dtype, DType::F32 | DType::F64);
    }
    any.is::<RmsNormGrad>() && producer.inputs.len() == 4 && graph.value(value).output == 0
}

/// True when a node strictly between `producer` and `until` reads an output of
/// `producer` or updates one of its inputs, or when `other` depends on it.
fn reads(graph: &Graph, producer: usize, until: usize, other: ValueId) -> bool {
    let outputs = &graph.nodes()[producer].outputs;
    let inputs = &graph.nodes()[producer].inputs;
    let between = &graph.nodes()[producer + 1..until];
    let touched = between.iter().any(|node| {
        let updates = node.op.aliases().into_iter().any(|alias| {
            alias.kind == crate::AliasKind::Must
                && node
                    .inputs
                    .get(alias.input)
                    .is_some_and(|input| inputs.contains(input))
        });
        updates || node.inputs.iter().any(|input| outputs.contains(input))
    });
    touched || outputs.contains(&other)
}
