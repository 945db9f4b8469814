//! Products with what follows them.

use std::collections::{BTreeMap, BTreeSet};

use crate::AliasKind;
use crate::error::GraphError;
use crate::graph::{Graph, Node, ValueId};
use crate::ops::fused_matmul::{is_bias, is_fusable};
use crate::ops::{Binary, BinaryKind, FusedMatMul, MatMul, Unary};
use crate::passes::replay;

/// Makes one operator of a product and of the bias, activation and addition after it, where
/// nothing else reads what is between them.
///
/// A result is then rounded once instead of after each step, so bits differ from those of
/// the separate operators. That saves passes over memory only where a kernel of the backend
/// does all of it before it stores, so it is no part of [`crate::passes::standard`]: whoever
/// compiles for such a backend asks for it.
///
/// # Errors
/// None in practice.
pub fn fuse_products(graph: &Graph) -> Result<Graph, GraphError> {
    let chains = find_chains(graph);
    let nodes = chains.values().flat_map(|chain| &chain.nodes);
    let gone: BTreeSet<usize> = nodes.copied().collect();
    replay(graph, |new, map, index, _| {
        let Some(chain) = chains.get(&index) else {
            return Ok(gone.contains(&index));
        };
        let product = &graph.nodes()[chain.nodes[0]];
        let operands = product.inputs.iter().copied();
        let inputs: Vec<_> = operands
            .chain(chain.bias)
            .chain(chain.residual)
            .map(|input| map.get(input))
            .collect();
        let scope = new.intern_scope(graph.scope_path(product.scope));
        let made = new.located(scope, product.stage, |new| {
            new.add1(chain.op.clone(), &inputs)
        })?;
        map.set(graph.nodes()[index].outputs[0], made);
        Ok(true)
    })
}

/// A product and what follows it. The last node is where the result is made.
struct Chain {
    op: FusedMatMul,
    bias: Option<ValueId>,
    residual: Option<ValueId>,
    /// All nodes, the product first.
    nodes: Vec<usize>,
}

impl Chain {
    /// Takes in `node`, which reads `value`; false when it cannot.
    fn take(&mut self, graph: &Graph, index: usize, value: ValueId) -> bool {
        let node = &graph.nodes()[index];
        let any = node.op.as_any();
        if self.op.residual || graph.ty(node.outputs[0]) != graph.ty(value) {
            return false;
        }
        if let Some(op) = any.downcast_ref::<Unary>() {
            if self.op.activation.is_some() || !FusedMatMul::ACTIVATIONS.contains(&op.kind) {
                return false;
            }
            self.op.activation = Some(op.kind);
        } else if let Some(other) = addend(node, value) {
            let (ty, out) = (graph.ty(other), graph.ty(value));
            if ty == out {
                self.op.residual = true;
                self.residual = Some(other);
            } else if ty.dtype == out.dtype
                && is_bias(&ty.shape, &out.shape)
                && !self.op.bias
                && self.op.activation.is_none()
            {
                self.op.bias = true;
                self.bias = Some(other);
            } else {
                return false;
            }
        } else {
            return false;
        }
        self.nodes.push(index);
        true
    }
}

/// What a node adds to `value`.
fn addend(node: &Node, value: ValueId) -> Option<ValueId> {
    let op = node.op.as_any().downcast_ref::<Binary>()?;
    let (left, right) = (*node.inputs.first()?, *node.inputs.get(1)?);
    match op.kind {
        BinaryKind::Add if left == value && right != value => Some(right),
        BinaryKind::Add if right == value && left != value => Some(left),
        _ => None,
    }
}

/// By the last node of each.
fn find_chains(graph: &Graph) -> BTreeMap<usize, Chain> {
    let uses = graph.use_counts();
    let mut readers: BTreeMap<ValueId, usize> = BTreeMap::new();
    for (index, node) in graph.nodes().iter().enumerate() {
        readers.extend(node.inputs.iter().map(|input| (*input, index)));
    }
    let mut chains: BTreeMap<usize, Chain> = BTreeMap::new();
    for (index, node) in graph.nodes().iter().enumerate() {
        let Some(product) = node.op.as_any().downcast_ref::<MatMul>() else {
            continue;
        };
        if node.inputs.len() != 2 || !is_fusable(product.out_dtype) {
            continue;
        }
        let mut chain = Chain {
            op: FusedMatMul {
                product: product.clone(),
                bias: false,
                activation: None,
                residual: false,
            },
            bias: None,
            residual: None,
            nodes: vec![index],
        };
        let mut last = index;
        loop {
            let value = graph.nodes()[last].outputs[0];
            let Some(next) = readers.get(&value).filter(|_| uses[value.0 as usize] == 1) else {
                break;
            };
            // Another product may have been fused with this addition before.
            let free = !chains.contains_key(next) && !updates(graph, node, index, *next);
            if !free || !chain.take(graph, *next, value) {
                break;
            }
            last = *next;
        }
        if last != index {
            chains.insert(last, chain);
        }
    }
    chains
}

/// Whether a node between the product and `until` changes an operand of the product.
fn updates(graph: &Graph, product: &Node, index: usize, until: usize) -> bool {
    let between = &graph.nodes()[index + 1..until];
    between.iter().any(|node| {
        node.op.aliases().into_iter().any(|alias| {
            let changed = node.inputs.get(alias.input);
            alias.kind == AliasKind::Must
                && changed.is_some_and(|input| product.inputs.contains(input))
        })
    })
}
