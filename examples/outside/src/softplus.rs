//! The operator.

use cairn_graph::{
    Alias, Cost, GradCx, GraphError, Op, OpError, OpRegistry, ShardRule, TensorType,
    op::InputGrads, ops::UnaryKind,
};
use serde::{Deserialize, Serialize};

/// `ln(1 + e^(beta x)) / beta` of each element: a smooth `max(x, 0)`.
/// `x: [..] -> [..]`, same float dtype. Gradient: `dy sigmoid(beta x)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Softplus {
    /// Sharpness; positive.
    pub beta: f64,
}

impl Op for Softplus {
    fn name(&self) -> &'static str {
        "softplus"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        let [input] = inputs else {
            return Err(OpError::Arity {
                expected: "1".to_owned(),
                got: inputs.len(),
            });
        };
        if !input.dtype.is_float() || self.beta.is_nan() || self.beta <= 0.0 {
            return Err(OpError::Invalid(format!(
                "needs a float and a positive beta, got {input} and {}",
                self.beta
            )));
        }
        Ok(vec![(*input).clone()])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let Some(dy) = cx.grads[0] else {
            return Ok(vec![None]);
        };
        let scaled = cx.graph.scale(cx.inputs[0], self.beta)?;
        let slope = cx.graph.unary(UnaryKind::Sigmoid, scaled)?;
        Ok(vec![Some(cx.graph.mul(dy, slope)?)])
    }

    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        let elements: usize = outputs.iter().map(|ty| ty.shape.num_elements()).sum();
        Cost::new(4 * elements as u64, inputs, outputs)
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let ndim = inputs.first().map_or(0, |ty| ty.shape.ndim());
        let letters: String = ('a'..='z').take(ndim).collect();
        ShardRule::einsum(&format!("{letters}->{letters}"), "")
    }

    fn aliases(&self) -> Vec<Alias> {
        vec![Alias::may(0, 0)]
    }
}

/// Cairn's operators and this one: what stored graphs may contain.
#[must_use]
pub fn registry() -> OpRegistry {
    let mut registry = cairn_graph::ops::registry();
    registry.insert::<Softplus>("softplus");
    registry
}
