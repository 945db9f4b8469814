//! Operators that move elements and compute nothing.

use serde::{Deserialize, Serialize};

use crate::error::{GraphError, OpError, invalid};
use crate::op::{Alias, GradCx, InputGrads, Op, ShardRule};
use crate::ops::arity;
use crate::ops::elementwise::letters;
use crate::types::{Shape, TensorType};

/// The same elements in row-major order under another shape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reshape {
    /// Wanted shape; same number of elements.
    pub shape: Shape,
}

impl Op for Reshape {
    fn name(&self) -> &'static str {
        "reshape"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 1)?;
        if inputs[0].shape.num_elements() != self.shape.num_elements() {
            return invalid(format!(
                "cannot turn {} into {}: the number of elements differs",
                inputs[0], self.shape
            ));
        }
        Ok(vec![TensorType {
            dtype: inputs[0].dtype,
            shape: self.shape.clone(),
        }])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let Some(dy) = cx.grads[0] else {
            return Ok(vec![None]);
        };
        let shape = cx.input_type(0).shape;
        Ok(vec![Some(cx.graph.reshape(dy, shape)?)])
    }

    fn shard(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> ShardRule {
        reshape_rule(&inputs[0].shape, &outputs[0].shape)
    }

    fn aliases(&self) -> Vec<Alias> {
        vec![Alias::view(0, 0)]
    }
}

/// Dims that begin a group of equal extent on both sides may be split there:
/// the outermost dim of each group carries the letter.
fn reshape_rule(from: &Shape, to: &Shape) -> ShardRule {
    let (mut input, mut output) = (vec!['.'; from.ndim()], vec!['.'; to.ndim()]);
    let (mut i, mut j) = (0, 0);
    for letter in 'a'..='z' {
        if i >= from.ndim() || j >= to.ndim() {
            break;
        }
        let (start_i, start_j) = (i, j);
        let (mut size_i, mut size_j) = (from[i], to[j]);
        (i, j) = (i + 1, j + 1);
        while size_i != size_j {
            if size_i < size_j && i < from.ndim() {
                size_i *= from[i];
                i += 1;
            } else if size_j < size_i && j < to.ndim() {
                size_j *= to[j];
                j += 1;
            } else {
                break;
            }
        }
        // Splitting evenly means the same on both sides only when one outer
        // size divides into the other; the larger one is then the finer grid.
        let (a, b) = (from[start_i], to[start_j]);
        if a == b || (b != 0 && a % b == 0) || (a != 0 && b % a == 0) {
            input[start_i] = letter;
            output[start_j] = letter;
        }
    }
    let rule = format!(
        "{}->{}",
        input.iter().collect::<String>(),
        output.iter().collect::<String>()
    );
    ShardRule::einsum(&rule, "")
}

/// Dims in another order: output dim `i` is input dim `perm[i]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transpose {
    /// A permutation of the dims.
    pub perm: Vec<usize>,
}

impl Op for Transpose {
    fn name(&self) -> &'static str {
        "transpose"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 1)?;
        let mut sorted = self.perm.clone();
        sorted.sort_unstable();
        if sorted != (0..inputs[0].shape.ndim()).collect::<Vec<_>>() {
            return invalid(format!(
                "needs a permutation of {} dims, got {:?}",
                inputs[0].shape.ndim(),
                self.perm
            ));
        }
        let dims = self
            .perm
            .iter()
            .map(|dim| inputs[0].shape[*dim])
            .collect::<Vec<_>>();
        Ok(vec![TensorType::new(inputs[0].dtype, dims)])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let Some(dy) = cx.grads[0] else {
            return Ok(vec![None]);
        };
        let mut perm = vec![0; self.perm.len()];
        for (to, from) in self.perm.iter().enumerate() {
            perm[*from] = to;
        }
        Ok(vec![Some(cx.graph.add1(Self { perm }, &[dy])?)])
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let all = letters(inputs[0].shape.ndim());
        let out: String = self.perm.iter().map(|dim| &all[*dim..=*dim]).collect();
        ShardRule::einsum(&format!("{all}->{out}"), "")
    }
}

/// A box out of a tensor: `start[d] .. end[d]` of each dim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// First element of each dim.
    pub start: Vec<usize>,
    /// One past the last element of each dim.
    pub end: Vec<usize>,
}

impl Op for Slice {
    fn name(&self) -> &'static str {
        "slice"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 1)?;
        let shape = &inputs[0].shape;
        let fits = self.start.len() == shape.ndim()
            && self.end.len() == shape.ndim()
            && (0..shape.ndim())
                .all(|dim| self.start[dim] <= self.end[dim] && self.end[dim] <= shape[dim]);
        if !fits {
            return invalid(format!(
                "cannot take {:?}..{:?} of {}",
                self.start, self.end, inputs[0]
            ));
        }
        let dims = self
            .start
            .iter()
            .zip(&self.end)
            .map(|(start, end)| end - start)
            .collect::<Vec<_>>();
        Ok(vec![TensorType::new(inputs[0].dtype, dims)])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let Some(dy) = cx.grads[0] else {
            return Ok(vec![None]);
        };
        let shape = cx.input_type(0).shape;
        let after = shape
            .iter()
            .zip(&self.end)
            .map(|(size, end)| size - end)
            .collect();
        Ok(vec![Some(cx.graph.add1(
            Pad {
                before: self.start.clone(),
                after,
            },
            &[dy],
        )?)])
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let rule: String = letters(inputs[0].shape.ndim())
            .chars()
            .enumerate()
            .map(|(dim, letter)| {
                let whole = self.start[dim] == 0 && self.end[dim] == inputs[0].shape[dim];
                if whole { letter } else { '.' }
            })
            .collect();
        ShardRule::einsum(&format!("{rule}->{rule}"), "")
    }
}

/// Zeros around a tensor: `before[d]` and `after[d]` of them along each dim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pad {
    /// Zeros before the first element of each dim.
    pub before: Vec<usize>,
    /// Zeros after the last element of each dim.
    pub after: Vec<usize>,
}

impl Op for Pad {
    fn name(&self) -> &'static str {
        "pad"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 1)?;
        let shape = &inputs[0].shape;
        if self.before.len() != shape.ndim() || self.after.len() != shape.ndim() {
            return invalid(format!("needs one amount per dim of {}", inputs[0]));
        }
        let dims = (0..shape.ndim())
            .map(|dim| self.before[dim] + shape[dim] + self.after[dim])
            .collect::<Vec<_>>();
        Ok(vec![TensorType::new(inputs[0].dtype, dims)])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let Some(dy) = cx.grads[0] else {
            return Ok(vec![None]);
        };
        let shape = cx.input_type(0).shape;
        let end = shape
            .iter()
            .zip(&self.before)
            .map(|(size, before)| size + before)
            .collect();
        Ok(vec![Some(cx.graph.add1(
            Slice {
                start: self.before.clone(),
                end,
            },
            &[dy],
        )?)])
    }
}

/// Tensors one after the other along `dim`; the other dims agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Concat {
    /// Which dim grows.
    pub dim: usize,
}

impl Op for Concat {
    fn name(&self) -> &'static str {
        "concat"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        let Some(first) = inputs.first() else {
            return Err(OpError::Arity {
                expected: "at least 1".to_owned(),
                got: 0,
            });
        };
        if self.dim >= first.shape.ndim() {
            return invalid(format!("has no dim {}", self.dim));
        }
        let mut dims = first.shape.to_vec();
        dims[self.dim] = 0;
        for input in inputs {
            let agrees = input.dtype == first.dtype
                && input.shape.ndim() == dims.len()
                && (0..dims.len())
                    .all(|dim| dim == self.dim || input.shape[dim] == first.shape[dim]);
            if !agrees {
                return invalid("needs inputs that agree in dtype and in every other dim");
            }
            dims[self.dim] += input.shape[self.dim];
        }
        Ok(vec![TensorType::new(first.dtype, dims)])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let Some(dy) = cx.grads[0] else {
            return Ok(vec![None; cx.inputs.len()]);
        };
        let mut offset = 0;
        let mut grads = Vec::new();
        for index in 0..cx.inputs.len() {
            let shape = cx.input_type(index).shape;
            let mut start = vec![0; shape.ndim()];
            start[self.dim] = offset;
            let end = start
                .iter()
                .zip(shape.iter())
                .map(|(start, size)| start + size)
                .collect();
            offset += shape[self.dim];
            grads.push(Some(cx.graph.add1(Slice { start, end }, &[dy])?));
        }
        Ok(grads)
    }
}

/// Stretches dims of size 1 (and adds outer ones) by NumPy's rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broadcast {
    /// Wanted shape.
    pub shape: Shape,
}

impl Op for Broadcast {
    fn name(&self) -> &'static str {
        "broadcast"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 1)?;
        if inputs[0].shape.broadcast(&self.shape).as_ref() != Some(&self.shape) {
            return invalid(format!("cannot stretch {} to {}", inputs[0], self.shape));
        }
        Ok(vec![TensorType {
            dtype: inputs[0].dtype,
            shape: self.shape.clone(),
        }])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let Some(dy) = cx.grads[0] else {
            return Ok(vec![None]);
        };
        let shape = cx.input_type(0).shape;
        Ok(vec![Some(cx.graph.sum_to(dy, &shape)?)])
    }
}
