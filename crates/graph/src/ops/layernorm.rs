//! Layer normalisation (Ba, Kiros and Hinton, 2016).

use cairn_formats::DType;
use serde::{Deserialize, Serialize};

use crate::error::{GraphError, OpError};
use crate::op::{Cost, GradCx, InputGrads, Op, ShardRule};
use crate::ops::arity;
use crate::ops::elementwise::letters;
use crate::ops::rmsnorm::{rows_and_vectors, statistics};
use crate::types::TensorType;

/// `x: [.., d], weight: [d], bias: [d] -> y: [.., d], mean: f32 [..], rstd: f32 [..]`.
///
/// `rstd = 1 / sqrt(var(x) + eps)` with the biased variance about the mean,
/// `y = (x - mean) * rstd * weight + bias`, in f32 (f64 for f64).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerNorm {
    /// Added to the variance.
    pub eps: f64,
}

impl Op for LayerNorm {
    fn name(&self) -> &'static str {
        "layernorm"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 3)?;
        rows_and_vectors(inputs[0], &inputs[1..])?;
        let x = inputs[0];
        let rows = TensorType::new(statistics(x.dtype), &x.shape[..x.shape.ndim() - 1]);
        Ok(vec![x.clone(), rows.clone(), rows])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let Some(dy) = cx.grads[0] else {
            return Ok(vec![None, None, None]);
        };
        let op = LayerNormGrad {
            weight_dtype: cx.grad_dtypes[1],
        };
        let inputs = [cx.inputs[0], cx.inputs[1], cx.outputs[1], cx.outputs[2], dy];
        let grads = cx.graph.add(op, &inputs)?;
        Ok(grads.into_iter().map(Some).collect())
    }

    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        Cost::new(7 * inputs[0].shape.num_elements() as u64, inputs, outputs)
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let rows = letters(inputs[0].shape.ndim() - 1);
        ShardRule::einsum(&format!("{rows}.,.,.->{rows}.,{rows},{rows}"), "")
    }
}

/// `x, weight, mean, rstd, dy -> dx: [.., d], dweight: [d], dbias: [d]`.
///
/// With `g = dy * weight` and `x^ = (x - mean) rstd`:
/// `dx = rstd (g - mean(g) - x^ mean(g x^))`; sums over rows are taken in row
/// blocks fixed by the shape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerNormGrad {
    /// dtype of the gradients of weight and bias.
    pub weight_dtype: DType,
}

impl Op for LayerNormGrad {
    fn name(&self) -> &'static str {
        "layernorm_grad"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 5)?;
        rows_and_vectors(inputs[0], &inputs[1..2])?;
        crate::ops::same(inputs[0], inputs[4], "an input and a gradient")?;
        let weight = inputs[1].with_dtype(self.weight_dtype);
        Ok(vec![inputs[0].clone(), weight.clone(), weight])
    }

    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        Cost::new(11 * inputs[0].shape.num_elements() as u64, inputs, outputs)
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let rows = letters(inputs[0].shape.ndim() - 1);
        ShardRule::einsum(
            &format!("{rows}.,.,{rows},{rows},{rows}.->{rows}.,.,."),
            &rows,
        )
    }
}
