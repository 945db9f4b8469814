//! AdamW (Loshchilov and Hutter, 2019) in one pass over each parameter.

use cairn_formats::DType;
use serde::{Deserialize, Serialize};

use crate::error::{OpError, invalid};
use crate::op::{Alias, Cost, Op, ShardRule};
use crate::ops::elementwise::letters;
use crate::ops::float;
use crate::types::TensorType;

/// `param, grad, m, v: [..], schedule: f32 [3], scale: f32 [], apply: f32 [] (, copy: [..])
/// -> param', m', v' (, copy')`, all updated in place.
///
/// `schedule` is learning rate, `1 - beta1^t`, `1 - beta2^t`. With
/// `g = grad * scale` (loss scale, token count and clipping in one factor):
/// `m' = beta1 m + (1 - beta1) g`, `v' = beta2 v + (1 - beta2) g^2`,
/// `param' = param - lr (m'/bias1 / (sqrt(v'/bias2) + eps) + weight_decay param)`.
/// Where `apply` is 0 nothing changes. `copy'` is `param'` rounded to the dtype
/// of `copy`: the weights of the next forward pass. Arithmetic in f32 (f64 for
/// f64 parameters). Scalars take the parameter's statistics dtype.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdamW {
    /// Decay of the first moment.
    pub beta1: f64,
    /// Decay of the second moment.
    pub beta2: f64,
    /// Added to the root of the second moment.
    pub eps: f64,
    /// Decoupled weight decay.
    pub weight_decay: f64,
    /// Whether a compute copy is updated too.
    pub copy: bool,
}

impl Op for AdamW {
    fn name(&self) -> &'static str {
        "adamw"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        crate::ops::arity(inputs, if self.copy { 8 } else { 7 })?;
        let param = inputs[0];
        float(param, "parameter")?;
        if inputs[1].shape != param.shape || inputs[2] != param || inputs[3] != param {
            return invalid("needs a gradient of the parameter's shape and moments of its type");
        }
        let scalar = crate::ops::rmsnorm::statistics(param.dtype);
        let wanted = [
            TensorType::new(scalar, [3]),
            TensorType::new(scalar, []),
            TensorType::new(scalar, []),
        ];
        if inputs[4..7]
            .iter()
            .zip(&wanted)
            .any(|(got, want)| *got != want)
        {
            return invalid("needs a schedule [3], a scale [] and a flag []");
        }
        let mut outputs = vec![param.clone(); 3];
        if self.copy {
            if inputs[7].shape != param.shape || matches!(inputs[7].dtype, DType::I32 | DType::I64)
            {
                return invalid("needs a copy of the parameter's shape");
            }
            outputs.push(inputs[7].clone());
        }
        Ok(outputs)
    }

    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        Cost::new(16 * inputs[0].shape.num_elements() as u64, inputs, outputs)
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let p = letters(inputs[0].shape.ndim());
        let (copy_in, copy_out) = if self.copy {
            (format!(",{p}"), format!(",{p}"))
        } else {
            Default::default()
        };
        ShardRule::einsum(
            &format!("{p},{p},{p},{p},.,,{copy_in}->{p},{p},{p}{copy_out}"),
            "",
        )
    }

    fn aliases(&self) -> Vec<Alias> {
        let mut aliases = vec![Alias::must(0, 0), Alias::must(1, 2), Alias::must(2, 3)];
        if self.copy {
            aliases.push(Alias::must(3, 7));
        }
        aliases
    }
}
