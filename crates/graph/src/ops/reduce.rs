//! Reductions. The order is fixed by the shape: blocks of elements are summed
//! in f32 (f64 for f64) and blocks combine in order.

use cairn_formats::DType;
use serde::{Deserialize, Serialize};

use crate::error::{GraphError, OpError, invalid};
use crate::op::{Cost, GradCx, InputGrads, Op, ShardRule};
use crate::ops::elementwise::letters;
use crate::ops::{arity, float};
use crate::types::{Shape, TensorType};

/// How elements are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReduceKind {
    /// Sum; 0 of nothing.
    Sum,
    /// Mean; NaN of nothing.
    Mean,
    /// Largest; the gradient is shared equally among ties.
    Max,
}

/// Reduces the listed dims. `x: [..] -> [..]` with those dims removed, or kept
/// at size 1 with `keep`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reduce {
    /// How.
    pub kind: ReduceKind,
    /// Which dims, ascending, without repeats.
    pub dims: Vec<usize>,
    /// Keep reduced dims at size 1.
    pub keep: bool,
}

impl Reduce {
    /// Shape with the reduced dims at size 1.
    fn kept(&self, shape: &Shape) -> Shape {
        let dims = shape
            .iter()
            .enumerate()
            .map(|(dim, size)| if self.dims.contains(&dim) { 1 } else { *size });
        dims.collect::<Vec<_>>().into()
    }
}

impl Op for Reduce {
    fn name(&self) -> &'static str {
        "reduce"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 1)?;
        float(inputs[0], "input")?;
        let ndim = inputs[0].shape.ndim();
        if !self.dims.is_sorted_by(|a, b| a < b) || self.dims.last().is_some_and(|dim| *dim >= ndim)
        {
            return invalid(format!(
                "needs ascending dims below {ndim}, got {:?}",
                self.dims
            ));
        }
        let kept = self.kept(&inputs[0].shape);
        let shape = if self.keep {
            kept
        } else {
            let left = kept
                .iter()
                .enumerate()
                .filter(|(dim, _)| !self.dims.contains(dim))
                .map(|(_, size)| *size);
            left.collect::<Vec<_>>().into()
        };
        Ok(vec![TensorType {
            dtype: inputs[0].dtype,
            shape,
        }])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let Some(dy) = cx.grads[0] else {
            return Ok(vec![None]);
        };
        let x = cx.inputs[0];
        let shape = cx.input_type(0).shape;
        let kept = self.kept(&shape);
        let count: usize = self.dims.iter().map(|dim| shape[*dim]).product();
        let g = &mut *cx.graph;
        let dy = g.reshape(dy, kept.clone())?;
        let dx = match self.kind {
            ReduceKind::Sum => g.broadcast(dy, shape)?,
            ReduceKind::Mean => {
                let scaled = g.scale(dy, 1.0 / count as f64)?;
                g.broadcast(scaled, shape)?
            }
            ReduceKind::Max => {
                let y = g.reshape(cx.outputs[0], kept)?;
                let mask = g.binary(crate::ops::BinaryKind::Equal, x, y)?;
                let ties = g.add1(
                    Self {
                        kind: ReduceKind::Sum,
                        dims: self.dims.clone(),
                        keep: true,
                    },
                    &[mask],
                )?;
                let share = g.div(dy, ties)?;
                g.mul(mask, share)?
            }
        };
        Ok(vec![Some(dx)])
    }

    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        Cost::new(inputs[0].shape.num_elements() as u64, inputs, outputs)
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let all = letters(inputs[0].shape.ndim());
        let mut out = String::new();
        let mut summed = String::new();
        let mut input = String::new();
        for (dim, letter) in all.chars().enumerate() {
            let reduced = self.dims.contains(&dim);
            // A maximum or a mean of parts is not a sum of parts.
            let whole = reduced && self.kind != ReduceKind::Sum;
            input.push(if whole { '.' } else { letter });
            match (reduced, self.keep) {
                (false, _) => out.push(letter),
                (true, true) => out.push('.'),
                (true, false) => {}
            }
            if reduced && !whole {
                summed.push(letter);
            }
        }
        ShardRule::einsum(&format!("{input}->{out}"), &summed)
    }
}

/// Sum of the squares of every element of all inputs: `[..].. -> f32[]`
/// (f64 if any input is). The global gradient norm is its square root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SumSquares {}

impl Op for SumSquares {
    fn name(&self) -> &'static str {
        "sum_squares"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        for input in inputs {
            float(input, "input")?;
        }
        let wide = inputs.iter().any(|ty| ty.dtype == DType::F64);
        Ok(vec![TensorType::new(
            if wide { DType::F64 } else { DType::F32 },
            [],
        )])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let Some(dy) = cx.grads[0] else {
            return Ok(vec![None; cx.inputs.len()]);
        };
        let mut grads = Vec::new();
        for (index, x) in cx.inputs.clone().into_iter().enumerate() {
            let dtype = cx.input_type(index).dtype;
            let dy = cx.graph.cast(dy, dtype)?;
            let twice = cx.graph.scale(x, 2.0)?;
            grads.push(Some(cx.graph.mul(twice, dy)?));
        }
        Ok(grads)
    }

    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        Cost::new(
            inputs
                .iter()
                .map(|ty| 2 * ty.shape.num_elements() as u64)
                .sum(),
            inputs,
            outputs,
        )
    }
}
