//! Gradients of recorded tensors, by the rules of the graph.

use std::sync::Arc;

use cairn_graph::ValueId;

use super::Tensor;
use super::build::Recording;
use super::node::State;
use crate::error::TensorError;

impl Tensor {
    /// Gradients of this scalar with respect to each of `wrt`, in their dtypes
    /// and shapes; zeros with respect to what it does not depend on. Nothing
    /// runs: they are recorded like any tensor, and can be differentiated again
    /// where the rules of the operators in them allow it.
    ///
    /// # Errors
    /// When `self` is no float scalar, a tensor in `wrt` is neither a parameter
    /// nor computed from one, a gradient would have to pass through a tensor
    /// that was evaluated or through an operator without gradient, or a tensor
    /// belongs to another context.
    pub fn grad(&self, wrt: &[&Self]) -> Result<Vec<Self>, TensorError> {
        let context = self.context();
        for tensor in wrt {
            context.same_as(tensor, "grad")?;
            if !tensor.is_tracked() {
                return Err(self.no_gradient(format!(
                    "{} is neither a parameter nor computed from one; make it with `parameter`",
                    tensor.ty()
                )));
            }
        }
        if self.shape().ndim() != 0 || !self.dtype().is_float() {
            return Err(self.no_gradient("only a float scalar has one; reduce it first".to_owned()));
        }
        let mut recording = Recording::new();
        let scalar = recording.add(self, &|tensor| !tensor.is_tracked())?;
        self.check_leaves(&recording, wrt)?;
        let values: Vec<Option<ValueId>> = wrt.iter().map(|t| recording.value(t)).collect();
        let known: Vec<ValueId> = values.iter().copied().flatten().collect();
        let first = recording.graph.nodes().len();
        let gradients = cairn_graph::gradients(&mut recording.graph, scalar, None, &known, None)?;
        let tensors = self.record_from(&recording, first)?;
        let mut position = 0;
        let mut grads = Vec::with_capacity(wrt.len());
        for (tensor, value) in wrt.iter().zip(&values) {
            let gradient = value.and_then(|_| {
                position += 1;
                gradients.get(position - 1)
            });
            let found = gradient.and_then(|value| tensors.get(value.0 as usize)?.clone());
            grads.push(match found {
                Some(gradient) => gradient,
                None => context.full(tensor.dtype(), tensor.shape().clone(), 0.0)?,
            });
        }
        Ok(grads)
    }

    /// Refuses leaves that had a history once.
    fn check_leaves(&self, recording: &Recording, wrt: &[&Self]) -> Result<(), TensorError> {
        let ended = recording.leaves.iter().find(|(_, leaf)| {
            let wanted = wrt.iter().any(|tensor| tensor.id() == leaf.id());
            leaf.is_tracked() && !leaf.node.parameter && !wanted
        });
        let Some((_, leaf)) = ended else {
            return Ok(());
        };
        let which = if leaf.id() == self.id() {
            "it".to_owned()
        } else {
            format!("a tensor {} on the way", leaf.ty())
        };
        Err(self.no_gradient(format!(
            "{which} was evaluated and no longer knows how it was computed; take the gradient \
             before asking for its value, or `detach` it to treat it as a constant"
        )))
    }

    /// Turns the nodes from `first` on into recorded tensors; gives all tensors
    /// by value.
    fn record_from(
        &self,
        recording: &Recording,
        first: usize,
    ) -> Result<Vec<Option<Self>>, TensorError> {
        let graph = &recording.graph;
        let mut tensors: Vec<Option<Self>> = vec![None; graph.values().len()];
        for (call, outputs) in &recording.calls {
            let tracked = call.inputs.iter().any(Self::is_tracked);
            for (index, value) in outputs.iter().enumerate() {
                let ty = graph.ty(*value).clone();
                let tracked = tracked && ty.dtype.is_float();
                let state = State::Recorded(Arc::clone(call), index);
                tensors[value.0 as usize] =
                    Some(Self::new(self.context(), ty, state, tracked, false));
            }
        }
        for (tensor, value) in recording.values() {
            tensors[value.0 as usize] = Some(tensor.clone());
        }
        for node in &graph.nodes()[first..] {
            let inputs = node.inputs.iter();
            let inputs: Option<Vec<Self>> = inputs
                .map(|input| tensors[input.0 as usize].clone())
                .collect();
            let inputs = inputs.unwrap_or_default();
            let outputs = self.context().record(node.op.clone(), inputs)?;
            for (value, tensor) in node.outputs.iter().zip(outputs) {
                tensors[value.0 as usize] = Some(tensor);
            }
        }
        Ok(tensors)
    }

    fn no_gradient(&self, reason: String) -> TensorError {
        TensorError::Gradient {
            of: self.ty().clone(),
            reason,
        }
    }
}
