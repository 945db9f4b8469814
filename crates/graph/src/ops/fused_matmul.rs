//! Matrix multiplication with what follows it.

use cairn_formats::DType;
use serde::{Deserialize, Serialize};

use crate::error::{GraphError, OpError, invalid};
use crate::graph::ValueId;
use crate::op::{Alias, Cost, GradCx, InputGrads, Op, ShardRule};
use crate::ops::{MatMul, Unary, UnaryKind, arity};
use crate::types::{Shape, TensorType};

/// `c = activation(op(a) op(b) + bias) + residual`, each of the three optional.
///
/// Shapes and dtypes: `a` and `b` as [`MatMul`] has them, `bias: [n]` and `residual` like
/// `c` in `out_dtype`, in this order after `a` and `b`. Everything is computed in f32 (f64
/// for f64) and rounded once, where separate operators round after each step; so it is made
/// by a pass for backends that want it, see [`crate::passes::fuse_products()`]. Determinism
/// and the order of sums are those of [`MatMul`]. Gradient: that of the separate operators,
/// with the sum before the activation computed again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FusedMatMul {
    /// The product.
    pub product: MatMul,
    /// There is a bias.
    pub bias: bool,
    /// `relu`, `silu` or `gelu`.
    pub activation: Option<UnaryKind>,
    /// There is a residual.
    pub residual: bool,
}

impl FusedMatMul {
    /// The functions that may follow a product.
    pub const ACTIVATIONS: [UnaryKind; 3] = [UnaryKind::Relu, UnaryKind::Silu, UnaryKind::Gelu];

    /// Which input the bias is.
    #[must_use]
    pub fn bias_input(&self) -> Option<usize> {
        self.bias.then_some(2)
    }

    /// Which input the residual is.
    #[must_use]
    pub fn residual_input(&self) -> Option<usize> {
        self.residual.then_some(2 + usize::from(self.bias))
    }

    fn num_inputs(&self) -> usize {
        2 + usize::from(self.bias) + usize::from(self.residual)
    }

    /// The gradient of the sum before the activation from that behind it.
    fn before_activation(
        &self,
        cx: &mut GradCx<'_>,
        dc: ValueId,
    ) -> Result<Option<ValueId>, GraphError> {
        let Some(kind) = self.activation else {
            return Ok(Some(dc));
        };
        let operands = [cx.inputs[0], cx.inputs[1]];
        let mut x = cx.graph.add1(self.product.clone(), &operands)?;
        if let Some(bias) = self.bias_input() {
            x = cx.graph.add_(x, cx.inputs[bias])?;
        }
        let y = cx.graph.unary(kind, x)?;
        let grads = Unary { kind }.grad(&mut GradCx {
            graph: &mut *cx.graph,
            inputs: vec![x],
            outputs: vec![y],
            grads: vec![Some(dc)],
            grad_dtypes: vec![self.product.out_dtype],
            needs: vec![true],
        })?;
        Ok(grads[0])
    }
}

impl Op for FusedMatMul {
    fn name(&self) -> &'static str {
        "fused_matmul"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, self.num_inputs())?;
        if let Some(kind) = self
            .activation
            .filter(|kind| !Self::ACTIVATIONS.contains(kind))
        {
            return invalid(format!("cannot apply {kind:?}: only relu, silu and gelu"));
        }
        let outputs = self.product.infer(&inputs[..2])?;
        let out = &outputs[0];
        if let Some(bias) = self.bias_input() {
            let wanted = TensorType::new(out.dtype, [out.shape.last()]);
            if *inputs[bias] != wanted {
                return invalid(format!(
                    "has a bias of type {}, needs {wanted}",
                    inputs[bias]
                ));
            }
        }
        if let Some(residual) = self.residual_input()
            && inputs[residual] != out
        {
            let found = inputs[residual];
            return invalid(format!("adds to a tensor of type {found}, needs {out}"));
        }
        Ok(outputs)
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let none = vec![None; cx.inputs.len()];
        let Some(dc) = cx.grads[0] else {
            return Ok(none);
        };
        let Some(dx) = self.before_activation(cx, dc)? else {
            return Ok(none);
        };
        let mut grads = self.product.grad(&mut GradCx {
            graph: &mut *cx.graph,
            inputs: cx.inputs[..2].to_vec(),
            outputs: cx.outputs.clone(),
            grads: vec![Some(dx)],
            grad_dtypes: cx.grad_dtypes[..2].to_vec(),
            needs: cx.needs[..2].to_vec(),
        })?;
        if let Some(bias) = self.bias_input() {
            let shape = cx.input_type(bias).shape;
            grads.push(match cx.needs[bias] {
                true => Some(cx.graph.sum_to(dx, &shape)?),
                false => None,
            });
        }
        if self.residual {
            grads.push(Some(dc));
        }
        Ok(grads)
    }

    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        let product = self.product.cost(&inputs[..2], outputs);
        let steps = inputs.len() - 2 + usize::from(self.activation.is_some());
        let elements = outputs[0].shape.num_elements();
        Cost::new(product.flops + (steps * elements) as u64, inputs, outputs)
    }

    fn shard(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> ShardRule {
        let mut rule = self.product.shard(&inputs[..2], outputs);
        let out = rule.outputs[0].clone();
        if self.bias {
            rule.inputs.push(out.chars().rev().take(1).collect());
        }
        if self.residual {
            rule.inputs.push(out);
        }
        // A part of the sum is not the sum when something is done to it.
        let split = std::mem::take(&mut rule.summed);
        for input in &mut rule.inputs {
            *input = input.replace(|letter| split.contains(letter), ".");
        }
        rule
    }

    fn aliases(&self) -> Vec<Alias> {
        let residual = self.residual_input();
        residual
            .map(|input| Alias::may(0, input))
            .into_iter()
            .collect()
    }
}

/// Whether `shape` is that of a bias of `out`.
pub(crate) fn is_bias(shape: &Shape, out: &Shape) -> bool {
    shape.ndim() == 1 && out.ndim() > 1 && shape.last() == out.last()
}

/// The dtypes for which products are fused with what follows: those of which sums are kept
/// in f32.
pub(crate) fn is_fusable(dtype: DType) -> bool {
    matches!(dtype, DType::BF16 | DType::F16 | DType::F32)
}
