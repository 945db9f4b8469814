//! Dropout with counter-based random numbers.

use cairn_formats::DType;
use serde::{Deserialize, Serialize};

use crate::error::{GraphError, OpError, invalid};
use crate::op::{Alias, GradCx, InputGrads, Op, ShardRule};
use crate::ops::elementwise::letters;
use crate::ops::{arity, float};
use crate::types::TensorType;

/// `x: [..], rng: i64 [2] -> [..]`: keeps each element with probability `1 - p`
/// and divides it by that, else gives 0.
///
/// `rng` holds seed and step. Element `e` (row-major) is kept where the uniform
/// number of Philox4x32-10 keyed by (seed, step, `key`, `e`) is at least `p`;
/// so the mask depends on no thread, rank or order, and the gradient draws the
/// same mask again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dropout {
    /// Probability of dropping, in `0..1`.
    pub p: f64,
    /// Which stream: a hash of the scope.
    pub key: u64,
}

impl Op for Dropout {
    fn name(&self) -> &'static str {
        "dropout"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 2)?;
        float(inputs[0], "input")?;
        if *inputs[1] != TensorType::new(DType::I64, [2]) || !(0.0..1.0).contains(&self.p) {
            return invalid("needs seed and step as i64 [2] and a probability in 0..1");
        }
        Ok(vec![inputs[0].clone()])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let Some(dy) = cx.grads[0] else {
            return Ok(vec![None, None]);
        };
        let rng = cx.inputs[1];
        Ok(vec![Some(cx.graph.add1(self.clone(), &[dy, rng])?), None])
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let dims = letters(inputs[0].shape.ndim());
        ShardRule::einsum(&format!("{dims},.->{dims}"), "")
    }

    fn aliases(&self) -> Vec<Alias> {
        vec![Alias::may(0, 0)]
    }
}
