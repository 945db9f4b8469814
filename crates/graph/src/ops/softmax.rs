//! Softmax over the innermost dim.

use serde::{Deserialize, Serialize};

use crate::error::{GraphError, OpError, invalid};
use crate::op::{Alias, Cost, GradCx, InputGrads, Op, ShardRule};
use crate::ops::elementwise::letters;
use crate::ops::{arity, float, same};
use crate::types::TensorType;

/// `x: [.., n] -> [.., n]`, softmax (or its logarithm) of each row; the row
/// maximum is subtracted first, sums are f32 in element order by lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Softmax {
    /// Give the logarithm.
    pub log: bool,
}

impl Op for Softmax {
    fn name(&self) -> &'static str {
        "softmax"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 1)?;
        float(inputs[0], "input")?;
        if inputs[0].shape.ndim() == 0 {
            return invalid("needs at least one dim");
        }
        Ok(vec![inputs[0].clone()])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let Some(dy) = cx.grads[0] else {
            return Ok(vec![None]);
        };
        let y = cx.outputs[0];
        Ok(vec![Some(
            cx.graph.add1(SoftmaxGrad { log: self.log }, &[y, dy])?,
        )])
    }

    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        Cost::new(5 * outputs[0].shape.num_elements() as u64, inputs, outputs)
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let rows = letters(inputs[0].shape.ndim() - 1);
        ShardRule::einsum(&format!("{rows}.->{rows}."), "")
    }

    fn aliases(&self) -> Vec<Alias> {
        vec![Alias::may(0, 0)]
    }
}

/// Gradient of [`Softmax`] from its output: `y, dy: [.., n] -> dx: [.., n]`.
/// `dx = y (dy - sum(y dy))`, or for the logarithm `dy - e^y sum(dy)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SoftmaxGrad {
    /// `y` is the logarithm.
    pub log: bool,
}

impl Op for SoftmaxGrad {
    fn name(&self) -> &'static str {
        "softmax_grad"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 2)?;
        float(inputs[0], "output")?;
        same(inputs[0], inputs[1], "an output and a gradient")?;
        Ok(vec![inputs[0].clone()])
    }

    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        Cost::new(4 * outputs[0].shape.num_elements() as u64, inputs, outputs)
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let rows = letters(inputs[0].shape.ndim() - 1);
        ShardRule::einsum(&format!("{rows}.,{rows}.->{rows}."), "")
    }
}
