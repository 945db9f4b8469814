//! Root-mean-square normalisation (Zhang and Sennrich, 2019).

use cairn_formats::DType;
use serde::{Deserialize, Serialize};

use crate::error::{GraphError, OpError, invalid};
use crate::op::{Cost, GradCx, InputGrads, Op, ShardRule};
use crate::ops::elementwise::letters;
use crate::ops::float;
use crate::types::TensorType;

/// `x: [.., d], weight: [d] -> y: [.., d] (dtype of x), rstd: f32 [..]`.
///
/// `rstd = 1 / sqrt(mean(x^2) + eps)`, `y = x * rstd * weight`, all in f32 (f64
/// for f64) and rounded once. `rstd` is kept for the gradient.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RmsNorm {
    /// Added to the mean square.
    pub eps: f64,
}

/// dtype of statistics beside data of dtype `dtype`.
pub(crate) fn statistics(dtype: DType) -> DType {
    if dtype == DType::F64 {
        DType::F64
    } else {
        DType::F32
    }
}

/// Checks `x: [.., d]` and vectors `[d]` beside it.
pub(crate) fn rows_and_vectors(x: &TensorType, vectors: &[&TensorType]) -> Result<(), OpError> {
    float(x, "input")?;
    if x.shape.ndim() == 0 {
        return invalid("needs at least one dim");
    }
    for vector in vectors {
        float(vector, "weight")?;
        if vector.shape[..] != x.shape[x.shape.ndim() - 1..] {
            return invalid(format!(
                "needs a weight of shape [{}], got {vector}",
                x.shape.last()
            ));
        }
    }
    Ok(())
}

impl Op for RmsNorm {
    fn name(&self) -> &'static str {
        "rmsnorm"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        crate::ops::arity(inputs, 2)?;
        rows_and_vectors(inputs[0], &inputs[1..])?;
        let x = inputs[0];
        let rows = TensorType::new(statistics(x.dtype), &x.shape[..x.shape.ndim() - 1]);
        Ok(vec![x.clone(), rows])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let Some(dy) = cx.grads[0] else {
            return Ok(vec![None, None]);
        };
        let op = RmsNormGrad {
            weight_dtype: cx.grad_dtypes[1],
        };
        let inputs = [cx.inputs[0], cx.inputs[1], cx.outputs[1], dy];
        let grads = cx.graph.add(op, &inputs)?;
        Ok(vec![Some(grads[0]), Some(grads[1])])
    }

    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        Cost::new(4 * inputs[0].shape.num_elements() as u64, inputs, outputs)
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let rows = letters(inputs[0].shape.ndim() - 1);
        ShardRule::einsum(&format!("{rows}.,.->{rows}.,{rows}"), "")
    }
}

/// `x, weight, rstd, dy (, residual) -> dx: [.., d], dweight: [d]`.
///
/// With `g = dy * weight` and `x^ = x * rstd`: `dx = rstd (g - x^ mean(g x^))`
/// plus `residual` where given; `dweight = sum over rows of dy x^`, summed in
/// row blocks fixed by the shape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RmsNormGrad {
    /// dtype of the weight's gradient.
    pub weight_dtype: DType,
}

impl Op for RmsNormGrad {
    fn name(&self) -> &'static str {
        "rmsnorm_grad"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        if inputs.len() != 4 && inputs.len() != 5 {
            return Err(OpError::Arity {
                expected: "4 or 5".to_owned(),
                got: inputs.len(),
            });
        }
        rows_and_vectors(inputs[0], &inputs[1..2])?;
        if inputs[3..].iter().any(|ty| *ty != inputs[0]) {
            return invalid("needs gradients of the input's type");
        }
        Ok(vec![
            inputs[0].clone(),
            inputs[1].with_dtype(self.weight_dtype),
        ])
    }

    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        Cost::new(8 * inputs[0].shape.num_elements() as u64, inputs, outputs)
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let rows = letters(inputs[0].shape.ndim() - 1);
        let residual = if inputs.len() == 5 {
            format!(",{rows}.")
        } else {
            String::new()
        };
        ShardRule::einsum(
            &format!("{rows}.,.,{rows},{rows}.{residual}->{rows}.,."),
            &rows,
        )
    }
}
