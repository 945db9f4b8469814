//! From recorded tensors to a graph.

use std::collections::BTreeMap;
use std::sync::Arc;

use cairn_graph::{Graph, TensorType, ValueId};

use super::Tensor;
use super::node::{Call, State};
use crate::error::TensorError;

/// A graph of recorded calls, and which tensor each value is.
pub(super) struct Recording {
    pub(super) graph: Graph,
    /// Inputs of the graph in the order they were met: name and tensor.
    pub(super) leaves: Vec<(String, Tensor)>,
    /// Calls of the graph in order, with their outputs.
    pub(super) calls: Vec<(Arc<Call>, Vec<ValueId>)>,
    /// Values of tensors, by the tensor's id.
    values: BTreeMap<u64, (Tensor, ValueId)>,
    /// Positions in `calls`, by the call's id.
    positions: BTreeMap<u64, usize>,
    /// How many leaves of each type there are.
    counts: BTreeMap<TensorType, usize>,
}

/// The graph that computes `wanted` from known values; its result `name(i)` is
/// the `i`-th of them.
pub(super) fn all(wanted: &[&Tensor]) -> Result<Recording, TensorError> {
    let mut recording = Recording::new();
    for (index, tensor) in wanted.iter().enumerate() {
        let value = recording.add(tensor, &|_| false)?;
        recording.graph.set_output(name(index), value);
    }
    Ok(recording)
}

/// Name of the `index`-th result.
pub(super) fn name(index: usize) -> String {
    format!("y{index}")
}

impl Recording {
    pub(super) fn new() -> Self {
        Self {
            graph: Graph::new(),
            leaves: Vec::new(),
            calls: Vec::new(),
            values: BTreeMap::new(),
            positions: BTreeMap::new(),
            counts: BTreeMap::new(),
        }
    }

    /// The value of `tensor`, with all that it is computed from; tensors with a
    /// value, and those for which `leaf` says so, become inputs.
    pub(super) fn add(
        &mut self,
        tensor: &Tensor,
        leaf: &dyn Fn(&Tensor) -> bool,
    ) -> Result<ValueId, TensorError> {
        // Depth first with a stack of its own: chains can be long.
        let mut pending = vec![tensor.clone()];
        while let Some(next) = pending.last().cloned() {
            if self.values.contains_key(&next.id()) {
                pending.pop();
                continue;
            }
            match next.node.state() {
                State::Recorded(call, output) if !leaf(&next) => {
                    if let Some(position) = self.positions.get(&call.id) {
                        let value = self.calls[*position].1[output];
                        self.values.insert(next.id(), (next, value));
                        continue;
                    }
                    let missing = call.inputs.iter().rev();
                    let missing = missing.filter(|input| !self.values.contains_key(&input.id()));
                    let before = pending.len();
                    pending.extend(missing.cloned());
                    if pending.len() == before {
                        self.add_call(call)?;
                    }
                }
                State::Recorded(..) | State::Value(_) => self.add_leaf(next)?,
            }
        }
        self.value(tensor).ok_or_else(|| TensorError::NoOutput {
            name: tensor.ty().to_string(),
        })
    }

    /// The value of a tensor that was added.
    pub(super) fn value(&self, tensor: &Tensor) -> Option<ValueId> {
        self.values.get(&tensor.id()).map(|(_, value)| *value)
    }

    /// Tensors and their values.
    pub(super) fn values(&self) -> impl Iterator<Item = &(Tensor, ValueId)> + '_ {
        self.values.values()
    }

    fn add_call(&mut self, call: Arc<Call>) -> Result<(), TensorError> {
        let inputs: Vec<ValueId> = call
            .inputs
            .iter()
            .filter_map(|input| self.value(input))
            .collect();
        let outputs = self.graph.add_shared(call.op.clone(), &inputs)?;
        self.positions.insert(call.id, self.calls.len());
        self.calls.push((call, outputs));
        Ok(())
    }

    /// Leaves are named by type and number, so that graphs of one form have one
    /// text, and programs share the storage behind the names.
    fn add_leaf(&mut self, tensor: Tensor) -> Result<(), TensorError> {
        let count = self.counts.entry(tensor.ty().clone()).or_default();
        let name = format!("{}#{count}", tensor.ty());
        *count += 1;
        let value = self.graph.add_input(&name, tensor.ty().clone())?;
        self.values.insert(tensor.id(), (tensor.clone(), value));
        self.leaves.push((name, tensor));
        Ok(())
    }
}
