//! Gated linear units: SwiGLU and GeGLU (Shazeer, 2020).

use serde::{Deserialize, Serialize};

use crate::error::{GraphError, OpError};
use crate::op::{Alias, Cost, GradCx, InputGrads, Op, ShardRule};
use crate::ops::elementwise::letters;
use crate::ops::{arity, float, same};
use crate::types::TensorType;

/// The gate's activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GluKind {
    /// SiLU: SwiGLU.
    Swiglu,
    /// GELU (tanh form): GeGLU.
    Geglu,
}

/// `gate, up: [..] -> act(gate) * up: [..]`, in f32 (f64 for f64), rounded once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Glu {
    /// The gate's activation.
    pub kind: GluKind,
}

impl Op for Glu {
    fn name(&self) -> &'static str {
        "glu"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 2)?;
        float(inputs[0], "gate")?;
        same(inputs[0], inputs[1], "a gate and a value")?;
        Ok(vec![inputs[0].clone()])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let Some(dy) = cx.grads[0] else {
            return Ok(vec![None, None]);
        };
        let inputs = [cx.inputs[0], cx.inputs[1], dy];
        let grads = cx.graph.add(GluGrad { kind: self.kind }, &inputs)?;
        Ok(vec![Some(grads[0]), Some(grads[1])])
    }

    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        Cost::new(5 * outputs[0].shape.num_elements() as u64, inputs, outputs)
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let dims = letters(inputs[0].shape.ndim());
        ShardRule::einsum(&format!("{dims},{dims}->{dims}"), "")
    }

    fn aliases(&self) -> Vec<Alias> {
        vec![Alias::may(0, 0), Alias::may(0, 1)]
    }
}

/// `gate, up, dy: [..] -> dgate, dup: [..]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GluGrad {
    /// The gate's activation.
    pub kind: GluKind,
}

impl Op for GluGrad {
    fn name(&self) -> &'static str {
        "glu_grad"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 3)?;
        float(inputs[0], "gate")?;
        same(inputs[0], inputs[1], "a gate and a value")?;
        same(inputs[0], inputs[2], "a gate and a gradient")?;
        Ok(vec![inputs[0].clone(), inputs[1].clone()])
    }

    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        Cost::new(12 * inputs[0].shape.num_elements() as u64, inputs, outputs)
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let dims = letters(inputs[0].shape.ndim());
        ShardRule::einsum(&format!("{dims},{dims},{dims}->{dims},{dims}"), "")
    }

    fn aliases(&self) -> Vec<Alias> {
        vec![Alias::may(0, 0), Alias::may(1, 1)]
    }
}
