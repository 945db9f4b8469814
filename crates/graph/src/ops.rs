//! The operators, one file a family, found through one table.

pub mod adamw;
pub mod assign;
pub mod attention;
pub mod cross_entropy;
pub mod dropout;
pub mod elementwise;
pub mod embedding;
pub mod fused_matmul;
pub mod glu;
pub mod layernorm;
pub mod leaf;
pub mod matmul;
pub mod reduce;
pub mod rmsnorm;
pub mod rope;
pub mod shape;
pub mod softmax;

use crate::error::OpError;
use crate::op::{Op, OpRegistry};
use crate::types::TensorType;

pub use adamw::AdamW;
pub use assign::{Assign, CacheWrite};
pub use attention::{Attention, AttentionGrad};
pub use cross_entropy::{CrossEntropy, CrossEntropyGrad, CrossEntropyWithGrad};
pub use dropout::Dropout;
pub use elementwise::{Binary, BinaryKind, Cast, Select, Unary, UnaryKind};
pub use embedding::{Embedding, EmbeddingGrad};
pub use fused_matmul::FusedMatMul;
pub use glu::{Glu, GluGrad, GluKind};
pub use layernorm::{LayerNorm, LayerNormGrad};
pub use leaf::{Fill, Input, Iota, Parameter, State};
pub use matmul::MatMul;
pub use reduce::{Reduce, ReduceKind, SumSquares};
pub use rmsnorm::{RmsNorm, RmsNormGrad};
pub use rope::{Rope, RopeScaling, RopeTable};
pub use shape::{Broadcast, Concat, Pad, Reshape, Slice, Transpose};
pub use softmax::{Softmax, SoftmaxGrad};

macro_rules! table {
    ($($name:literal => $ty:ty),+ $(,)?) => {
        /// Every operator Cairn ships, by name.
        #[must_use]
        pub fn registry() -> OpRegistry {
            let mut registry = OpRegistry::default();
            $(registry.insert::<$ty>($name);)+
            registry
        }
    };
}

table! {
    "adamw" => AdamW, "assign" => Assign, "attention" => Attention, "attention_grad" => AttentionGrad,
    "binary" => Binary, "broadcast" => Broadcast, "cache_write" => CacheWrite, "cast" => Cast,
    "concat" => Concat, "cross_entropy" => CrossEntropy, "cross_entropy_grad" => CrossEntropyGrad,
    "cross_entropy_with_grad" => CrossEntropyWithGrad, "dropout" => Dropout, "embedding" => Embedding,
    "embedding_grad" => EmbeddingGrad, "fill" => Fill, "fused_matmul" => FusedMatMul, "glu" => Glu, "glu_grad" => GluGrad,
    "input" => Input, "iota" => Iota, "layernorm" => LayerNorm, "layernorm_grad" => LayerNormGrad,
    "matmul" => MatMul, "pad" => Pad, "parameter" => Parameter, "reduce" => Reduce, "reshape" => Reshape,
    "rmsnorm" => RmsNorm, "rmsnorm_grad" => RmsNormGrad, "rope" => Rope, "rope_table" => RopeTable,
    "select" => Select, "slice" => Slice, "softmax" => Softmax, "softmax_grad" => SoftmaxGrad,
    "state" => State, "sum_squares" => SumSquares, "transpose" => Transpose, "unary" => Unary,
}

/// Checks the number of inputs.
pub(crate) fn arity(inputs: &[&TensorType], expected: usize) -> Result<(), OpError> {
    if inputs.len() == expected {
        return Ok(());
    }
    Err(OpError::Arity {
        expected: expected.to_string(),
        got: inputs.len(),
    })
}

/// Checks that an input has a float dtype.
pub(crate) fn float(ty: &TensorType, what: &str) -> Result<(), OpError> {
    if ty.dtype.is_float() {
        return Ok(());
    }
    crate::error::invalid(format!("needs a float {what}, got {ty}"))
}

/// Checks that two inputs have the same type.
pub(crate) fn same(a: &TensorType, b: &TensorType, what: &str) -> Result<(), OpError> {
    if a == b {
        return Ok(());
    }
    crate::error::invalid(format!("needs {what} of the same type, got {a} and {b}"))
}

/// True for an operator that only names storage.
#[must_use]
pub fn is_leaf(op: &dyn Op) -> bool {
    let any = op.as_any();
    any.is::<Parameter>() || any.is::<State>() || any.is::<Input>()
}
