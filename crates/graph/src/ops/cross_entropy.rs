//! Cross entropy fused with the output projection, in chunks of tokens: the
//! tokens x vocabulary matrix of logits never exists.

use cairn_formats::DType;
use serde::{Deserialize, Serialize};

use crate::error::{GraphError, OpError, invalid};
use crate::op::{Cost, GradCx, InputGrads, Op, ShardRule};
use crate::ops::elementwise::letters;
use crate::ops::rmsnorm::statistics;
use crate::ops::{arity, float};
use crate::types::TensorType;

/// Attributes that the three forms share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrossEntropyConfig {
    /// Coefficient of `lse^2` added to each token's loss (PaLM's z-loss); 0 is off.
    pub z_loss: f64,
    /// Tokens whose logits exist at once.
    pub chunk: usize,
}

impl CrossEntropyConfig {
    /// Tokens at once, never 0.
    #[must_use]
    pub fn chunk_tokens(&self) -> usize {
        self.chunk.max(1)
    }
}

fn check(inputs: &[&TensorType]) -> Result<DType, OpError> {
    float(inputs[0], "hidden state")?;
    let (h, w, targets) = (inputs[0], inputs[1], inputs[2]);
    let fits = h.shape.ndim() >= 1
        && w.shape.ndim() == 2
        && h.dtype == w.dtype
        && h.shape.last() == w.shape[1]
        && targets.dtype == DType::I32
        && targets.shape[..] == h.shape[..h.shape.ndim() - 1];
    if !fits {
        return invalid("needs h [..,d], w [v,d] in one dtype and targets i32 [..]");
    }
    Ok(statistics(h.dtype))
}

fn projection_flops(inputs: &[&TensorType], products: u64) -> u64 {
    2 * products * (inputs[0].shape.num_elements() * inputs[1].shape[0]) as u64
}

/// `h: [.., d], w: [v, d], targets: i32 [..] -> loss_sum: f32 [], count: f32 []`.
///
/// `logits = h w^T` in f32; each token with a target in `0..v` adds
/// `lse - logit[target] + z_loss lse^2`; a negative target is ignored, any other
/// is an error at run time. The sum runs over tokens in order; the mean is the
/// caller's, once, over the global batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrossEntropy {
    /// Chunk and z-loss.
    #[serde(flatten)]
    pub config: CrossEntropyConfig,
}

impl Op for CrossEntropy {
    fn name(&self) -> &'static str {
        "cross_entropy"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 3)?;
        let scalar = TensorType::new(check(inputs)?, []);
        Ok(vec![scalar.clone(), scalar])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let Some(dloss) = cx.grads[0] else {
            return Ok(vec![None, None, None]);
        };
        let op = CrossEntropyGrad {
            config: self.config,
            weight_dtype: cx.grad_dtypes[1],
        };
        let inputs = [cx.inputs[0], cx.inputs[1], cx.inputs[2], dloss];
        let grads = cx.graph.add(op, &inputs)?;
        Ok(vec![Some(grads[0]), Some(grads[1]), None])
    }

    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        Cost::new(projection_flops(inputs, 1), inputs, outputs)
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let rows = letters(inputs[2].shape.ndim());
        ShardRule::einsum(&format!("{rows}.,..,{rows}->,"), &rows)
    }
}

/// `h, w, targets, dloss: f32 [] -> dh: [.., d], dw: [v, d]` in `weight_dtype`.
///
/// `dlogits = dloss ((1 + 2 z_loss lse) softmax(logits) - onehot(target))`,
/// rounded to the dtype of `h` before `dh = dlogits w`, `dw = dlogits^T h`;
/// `dw` sums chunks in order in f32.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrossEntropyGrad {
    /// Chunk and z-loss.
    #[serde(flatten)]
    pub config: CrossEntropyConfig,
    /// dtype of the projection's gradient.
    pub weight_dtype: DType,
}

fn grad_types(inputs: &[&TensorType], weight_dtype: DType) -> Result<[TensorType; 2], OpError> {
    let statistics = check(inputs)?;
    if *inputs[3] != TensorType::new(statistics, []) {
        return invalid(format!(
            "needs the loss's gradient as a scalar {statistics}"
        ));
    }
    Ok([inputs[0].clone(), inputs[1].with_dtype(weight_dtype)])
}

impl Op for CrossEntropyGrad {
    fn name(&self) -> &'static str {
        "cross_entropy_grad"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 4)?;
        Ok(grad_types(inputs, self.weight_dtype)?.to_vec())
    }

    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        Cost::new(projection_flops(inputs, 3), inputs, outputs)
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let rows = letters(inputs[2].shape.ndim());
        ShardRule::einsum(&format!("{rows}.,..,{rows},->{rows}.,.."), &rows)
    }
}

/// Loss and gradients in one pass over the logits:
/// `h, w, targets, dloss -> loss_sum, count, dh, dw`.
///
/// Made by the fusion pass where `dloss` does not depend on the loss; saves the
/// second computation of the logits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrossEntropyWithGrad {
    /// Chunk and z-loss.
    #[serde(flatten)]
    pub config: CrossEntropyConfig,
    /// dtype of the projection's gradient.
    pub weight_dtype: DType,
}

impl Op for CrossEntropyWithGrad {
    fn name(&self) -> &'static str {
        "cross_entropy_with_grad"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 4)?;
        let scalar = TensorType::new(check(inputs)?, []);
        let [dh, dw] = grad_types(inputs, self.weight_dtype)?;
        Ok(vec![scalar.clone(), scalar, dh, dw])
    }

    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        Cost::new(projection_flops(inputs, 3), inputs, outputs)
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let rows = letters(inputs[2].shape.ndim());
        ShardRule::einsum(&format!("{rows}.,..,{rows},->,,{rows}.,.."), &rows)
    }
}
