//! Rotary position embedding (Su et al., 2021), plain and with Llama 3's
//! frequency scaling.

use cairn_formats::DType;
use serde::{Deserialize, Serialize};

use crate::error::{GraphError, OpError, invalid};
use crate::op::{Alias, Cost, GradCx, InputGrads, Op, ShardRule};
use crate::ops::{arity, float};
use crate::types::TensorType;

/// Llama 3's scaling of the frequencies, by their Hugging Face names.
///
/// With wavelength `w = 2 pi / f` and original context `L`: unchanged where
/// `w < L / high`, divided by `factor` where `w > L / low`, and blended in
/// between by `s = (L / w - low) / (high - low)`: `f ((1 - s) / factor + s)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RopeScaling {
    /// By how much long wavelengths are stretched.
    pub factor: f64,
    /// Divides the original context into the longest unscaled wavelength's bound.
    pub low_freq_factor: f64,
    /// Divides the original context into the shortest scaled wavelength's bound.
    pub high_freq_factor: f64,
    /// Context length before scaling, in tokens.
    pub original_max_position_embeddings: usize,
}

/// `positions: i32 [s] -> f32 [s, head_dim]`: cosines of the `head_dim / 2`
/// angles of each position, then their sines. Computed in f64, rounded once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RopeTable {
    /// Size of a head; even.
    pub head_dim: usize,
    /// Base of the frequencies, `base^(-2i/head_dim)`.
    pub base: f64,
    /// Llama 3's scaling, if any.
    pub scaling: Option<RopeScaling>,
}

impl RopeTable {
    /// The `head_dim / 2` angular frequencies in radians per position.
    #[must_use]
    pub fn frequencies(&self) -> Vec<f64> {
        (0..self.head_dim / 2)
            .map(|index| {
                let plain = self.base.powf(-2.0 * index as f64 / self.head_dim as f64);
                self.scaling.map_or(plain, |scaling| scaling.apply(plain))
            })
            .collect()
    }
}

impl RopeScaling {
    fn apply(&self, frequency: f64) -> f64 {
        let context = self.original_max_position_embeddings as f64;
        let wavelength = 2.0 * std::f64::consts::PI / frequency;
        if wavelength < context / self.high_freq_factor {
            frequency
        } else if wavelength > context / self.low_freq_factor {
            frequency / self.factor
        } else {
            let span = self.high_freq_factor - self.low_freq_factor;
            let smooth = (context / wavelength - self.low_freq_factor) / span;
            frequency * ((1.0 - smooth) / self.factor + smooth)
        }
    }
}

impl Op for RopeTable {
    fn name(&self) -> &'static str {
        "rope_table"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 1)?;
        if inputs[0].dtype != DType::I32
            || inputs[0].shape.ndim() != 1
            || !self.head_dim.is_multiple_of(2)
        {
            return invalid("needs positions i32 [s] and an even head size");
        }
        Ok(vec![TensorType::new(
            DType::F32,
            [inputs[0].shape[0], self.head_dim],
        )])
    }

    fn grad(&self, _: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        Ok(vec![None])
    }

    fn shard(&self, _: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        ShardRule::einsum("s->s.", "")
    }
}

/// Rotates pairs `(i, i + d/2)` of each head: `x: [b, s, h, d], table: f32 [s, d]
/// -> [b, s, h, d]`.
///
/// `y[i] = x[i] cos - x[i+d/2] sin`, `y[i+d/2] = x[i+d/2] cos + x[i] sin` (the
/// pairing of Hugging Face's weights). The gradient is the opposite rotation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rope {
    /// Rotate the other way.
    pub inverse: bool,
}

impl Op for Rope {
    fn name(&self) -> &'static str {
        "rope"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 2)?;
        float(inputs[0], "input")?;
        let (x, table) = (&inputs[0].shape, &inputs[1].shape);
        if x.ndim() != 4
            || inputs[1].dtype != DType::F32
            || table[..] != [x[1], x[3]]
            || !x[3].is_multiple_of(2)
        {
            return invalid("needs x [b,s,h,d] with even d and a table f32 [s,d]");
        }
        Ok(vec![inputs[0].clone()])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let Some(dy) = cx.grads[0] else {
            return Ok(vec![None, None]);
        };
        let table = cx.inputs[1];
        let dx = cx.graph.add1(
            Self {
                inverse: !self.inverse,
            },
            &[dy, table],
        )?;
        Ok(vec![Some(dx), None])
    }

    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        Cost::new(3 * outputs[0].shape.num_elements() as u64, inputs, outputs)
    }

    fn shard(&self, _: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        ShardRule::einsum("bsh.,s.->bsh.", "")
    }

    fn aliases(&self) -> Vec<Alias> {
        vec![Alias::may(0, 0)]
    }
}
