//! Rows of a table by index.

use cairn_formats::DType;
use serde::{Deserialize, Serialize};

use crate::error::{GraphError, OpError, invalid};
use crate::op::{GradCx, InputGrads, Op, ShardRule};
use crate::ops::elementwise::letters;
use crate::ops::{arity, float};
use crate::types::TensorType;

/// `table: [v, d], indices: i32 [..] -> [.., d]`. An index outside `0..v` is an
/// error at run time. Gradient: rows are summed in the order of the indices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Embedding {}

impl Op for Embedding {
    fn name(&self) -> &'static str {
        "embedding"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 2)?;
        float(inputs[0], "table")?;
        if inputs[0].shape.ndim() != 2 || inputs[1].dtype != DType::I32 {
            return invalid("needs a table [v,d] and i32 indices");
        }
        let mut dims = inputs[1].shape.to_vec();
        dims.push(inputs[0].shape[1]);
        Ok(vec![TensorType::new(inputs[0].dtype, dims)])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let Some(dy) = cx.grads[0] else {
            return Ok(vec![None, None]);
        };
        let op = EmbeddingGrad {
            rows: cx.input_type(0).shape[0],
            dtype: cx.grad_dtypes[0],
        };
        let indices = cx.inputs[1];
        Ok(vec![Some(cx.graph.add1(op, &[dy, indices])?), None])
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        // A table split by rows gives partial sums: other ranks' rows are zero.
        let rows = letters(inputs[1].shape.ndim());
        ShardRule::einsum(&format!("yz,{rows}->{rows}z"), "y")
    }
}

/// `dy: [.., d], indices: i32 [..] -> [rows, d]` in `dtype`: sums the rows of
/// `dy` by index, in f32, in the order of the indices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmbeddingGrad {
    /// Rows of the table.
    pub rows: usize,
    /// dtype of the result.
    pub dtype: DType,
}

impl Op for EmbeddingGrad {
    fn name(&self) -> &'static str {
        "embedding_grad"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 2)?;
        float(inputs[0], "gradient")?;
        let shape = &inputs[0].shape;
        if shape.ndim() == 0
            || shape[..shape.ndim() - 1] != inputs[1].shape[..]
            || inputs[1].dtype != DType::I32
        {
            return invalid("needs a gradient [..,d] and i32 indices [..]");
        }
        Ok(vec![TensorType::new(self.dtype, [self.rows, shape.last()])])
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let rows = letters(inputs[1].shape.ndim());
        ShardRule::einsum(&format!("{rows}z,{rows}->yz"), &rows)
    }
}
