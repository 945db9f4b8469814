//! Reverse-mode differentiation, graph to graph.

use cairn_formats::DType;

use crate::error::GraphError;
use crate::graph::{Graph, Stage, ValueId};
use crate::op::GradCx;
use crate::ops::BinaryKind;

/// Gradients of a scalar: one value per value asked for.
#[derive(Clone, Debug)]
pub struct Gradients {
    grads: Vec<Option<ValueId>>,
}

impl Gradients {
    /// Gradient with respect to the `index`-th value asked for; `None` when the
    /// scalar does not depend on it.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<ValueId> {
        self.grads.get(index).copied().flatten()
    }
}

/// Adds the nodes that compute the gradients of `scalar` with respect to `wrt`.
///
/// `seed` is the gradient of the scalar itself (a scalar of its type), 1 when
/// `None`. Gradients of `wrt` have dtype `grad_dtype` when given; gradients in
/// between have the dtype of their value. The first contribution to a gradient
/// is used as it is, later ones are added to it in reverse order of the nodes.
///
/// # Errors
/// When `scalar` is no float scalar, or an operator on the way has no gradient.
pub fn gradients(
    graph: &mut Graph,
    scalar: ValueId,
    seed: Option<ValueId>,
    wrt: &[ValueId],
    grad_dtype: Option<DType>,
) -> Result<Gradients, GraphError> {
    let ty = graph.ty(scalar).clone();
    if ty.shape.ndim() != 0 || !ty.dtype.is_float() {
        let scope = graph.scope_path(graph.value(scalar).scope).to_owned();
        return Err(GraphError::NotScalar {
            scope,
            ty: ty.to_string(),
        });
    }
    let num_values = graph.values().len();
    let num_nodes = graph.value(scalar).node.0 as usize + 1;
    let needed = needed(graph, wrt, num_nodes);
    let mut grads: Vec<Option<ValueId>> = vec![None; num_values];
    let mut is_wrt = vec![false; num_values];
    for value in wrt {
        is_wrt[value.0 as usize] = true;
    }
    let scope = graph.value(scalar).scope;
    grads[scalar.0 as usize] = Some(match seed {
        Some(seed) => seed,
        None => graph.located(scope, Stage::Backward, |graph| graph.scalar(ty.dtype, 1.0))?,
    });
    for index in (0..num_nodes).rev() {
        let node = graph.nodes()[index].clone();
        let wanted = node.inputs.iter().any(|input| needed[input.0 as usize]);
        let reached = node
            .outputs
            .iter()
            .any(|output| grads[output.0 as usize].is_some());
        if !wanted || !reached {
            continue;
        }
        graph.located(
            node.scope,
            Stage::Backward,
            |graph| -> Result<(), GraphError> {
                let dtype_of = |graph: &Graph, input: &ValueId| match grad_dtype {
                    Some(dtype) if is_wrt[input.0 as usize] => dtype,
                    _ => graph.ty(*input).dtype,
                };
                let grad_dtypes = node
                    .inputs
                    .iter()
                    .map(|input| dtype_of(graph, input))
                    .collect();
                let mut cx = GradCx {
                    inputs: node.inputs.clone(),
                    outputs: node.outputs.clone(),
                    grads: node
                        .outputs
                        .iter()
                        .map(|output| grads[output.0 as usize])
                        .collect(),
                    needs: node
                        .inputs
                        .iter()
                        .map(|input| needed[input.0 as usize])
                        .collect(),
                    grad_dtypes,
                    graph,
                };
                let made = node.op.grad(&mut cx)?;
                for (input, grad) in node.inputs.iter().zip(made) {
                    let Some(grad) = grad.filter(|_| needed[input.0 as usize]) else {
                        continue;
                    };
                    let dtype = dtype_of(graph, input);
                    let grad = graph.cast(grad, dtype)?;
                    let slot = &mut grads[input.0 as usize];
                    *slot = Some(match *slot {
                        None => grad,
                        Some(sum) => graph.binary(BinaryKind::Add, sum, grad)?,
                    });
                }
                Ok(())
            },
        )?;
    }
    Ok(Gradients {
        grads: wrt.iter().map(|value| grads[value.0 as usize]).collect(),
    })
}

/// Which values the wanted ones flow into, themselves included.
fn needed(graph: &Graph, wrt: &[ValueId], num_nodes: usize) -> Vec<bool> {
    let mut needed = vec![false; graph.values().len()];
    for value in wrt {
        needed[value.0 as usize] = true;
    }
    for node in &graph.nodes()[..num_nodes] {
        if node.inputs.iter().any(|input| needed[input.0 as usize]) {
            for output in &node.outputs {
                needed[output.0 as usize] |= graph.ty(*output).dtype.is_float();
            }
        }
    }
    needed
}
