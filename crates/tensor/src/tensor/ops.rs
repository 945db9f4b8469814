//! The operators as methods. Shapes, dtypes and rounding are those of the
//! operators in [`cairn_graph::ops`]; any other operator is reached by
//! [`Context::apply`](super::Context::apply).

use std::ops::Range;
use std::sync::Arc;

use cairn_formats::DType;
use cairn_graph::ops::{
    Binary, BinaryKind, Broadcast, Cast, Concat, MatMul, Reduce, ReduceKind, Reshape, Select,
    Slice, Softmax, Transpose, Unary, UnaryKind,
};
use cairn_graph::{Op, OpError, Shape};

use super::Tensor;
use crate::error::TensorError;

type Recorded = Result<Tensor, TensorError>;

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident => $kind:ident;)+) => {
        $(
            $(#[$doc])*
            ///
            /// # Errors
            /// When the dtype is no float.
            pub fn $name(&self) -> Recorded {
                self.call1(Unary { kind: UnaryKind::$kind }, &[])
            }
        )+
    };
}

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident => $kind:ident;)+) => {
        $(
            $(#[$doc])*
            ///
            /// # Errors
            /// When dtypes differ or shapes do not broadcast to each other.
            pub fn $name(&self, other: &Self) -> Recorded {
                self.call1(Binary { kind: BinaryKind::$kind }, &[other])
            }
        )+
    };
}

impl Tensor {
    unary! {
        /// `-x`
        neg => Neg;
        /// `|x|`
        abs => Abs;
        /// `e^x`
        exp => Exp;
        /// Natural logarithm.
        log => Log;
        /// Square root.
        sqrt => Sqrt;
        /// `1 / sqrt(x)`
        rsqrt => Rsqrt;
        /// `1 / x`
        reciprocal => Reciprocal;
        /// `x^2`
        square => Square;
        /// Hyperbolic tangent.
        tanh => Tanh;
        /// `1 / (1 + e^-x)`
        sigmoid => Sigmoid;
        /// `x * sigmoid(x)`
        silu => Silu;
        /// GELU in its tanh approximation.
        gelu => Gelu;
        /// `max(x, 0)`
        relu => Relu;
        /// Sine.
        sin => Sin;
        /// Cosine.
        cos => Cos;
    }

    binary! {
        /// `a + b` of broadcast operands.
        add => Add;
        /// `a - b` of broadcast operands.
        sub => Sub;
        /// `a * b` of broadcast operands, element by element.
        mul => Mul;
        /// `a / b` of broadcast operands.
        div => Div;
        /// The larger of broadcast operands; the gradient goes to `a` on a tie.
        maximum => Max;
        /// The smaller of broadcast operands; the gradient goes to `a` on a tie.
        minimum => Min;
        /// 1 where `a > b`, else 0, in the operands' dtype: a constant to gradients.
        greater => Greater;
        /// 1 where `a >= b`, else 0: a constant to gradients.
        greater_equal => GreaterEqual;
        /// 1 where `a == b`, else 0: a constant to gradients.
        equal => Equal;
    }

    /// `factor * x`. The factor is a value and no part of the program: another
    /// one in the next step compiles nothing.
    ///
    /// # Errors
    /// When the dtype has no element type.
    pub fn scale(&self, factor: f64) -> Recorded {
        self.mul(&self.context().full(self.dtype(), [], factor)?)
    }

    /// `x + offset`; like the factor of [`Tensor::scale`], `offset` is a value.
    ///
    /// # Errors
    /// When the dtype has no element type.
    pub fn offset(&self, offset: f64) -> Recorded {
        self.add(&self.context().full(self.dtype(), [], offset)?)
    }

    /// `a` where this is not 0, else `b`; all of one shape.
    ///
    /// # Errors
    /// When shapes or the dtypes of the branches differ.
    pub fn select(&self, a: &Self, b: &Self) -> Recorded {
        self.call1(Select {}, &[a, b])
    }

    /// Matrix product in the operands' dtype: `[.., m, k]` with `[k, n]` shared
    /// by every batch, or with `[.., k, n]`.
    ///
    /// # Errors
    /// When shapes or dtypes do not fit.
    pub fn matmul(&self, other: &Self) -> Recorded {
        let op = MatMul {
            trans_a: false,
            trans_b: false,
            out_dtype: self.dtype(),
        };
        self.call1(op, &[other])
    }

    /// Sums `dims` away; 0 of nothing.
    ///
    /// # Errors
    /// When a dim is listed twice or does not exist, or the dtype is no float.
    pub fn sum(&self, dims: &[usize]) -> Recorded {
        self.reduce(ReduceKind::Sum, dims, false)
    }

    /// Averages `dims` away; NaN of nothing.
    ///
    /// # Errors
    /// As [`Tensor::sum`].
    pub fn mean(&self, dims: &[usize]) -> Recorded {
        self.reduce(ReduceKind::Mean, dims, false)
    }

    /// The largest along `dims`; ties share the gradient.
    ///
    /// # Errors
    /// As [`Tensor::sum`].
    pub fn max(&self, dims: &[usize]) -> Recorded {
        self.reduce(ReduceKind::Max, dims, false)
    }

    /// The sum of all elements.
    ///
    /// # Errors
    /// When the dtype is no float.
    pub fn sum_all(&self) -> Recorded {
        self.sum(&self.all_dims())
    }

    /// The mean of all elements.
    ///
    /// # Errors
    /// When the dtype is no float.
    pub fn mean_all(&self) -> Recorded {
        self.mean(&self.all_dims())
    }

    /// Reduces `dims`, in any order; `keep` leaves them at size 1.
    ///
    /// # Errors
    /// As [`Tensor::sum`].
    pub fn reduce(&self, kind: ReduceKind, dims: &[usize], keep: bool) -> Recorded {
        let mut dims = dims.to_vec();
        dims.sort_unstable();
        self.call1(Reduce { kind, dims, keep }, &[])
    }

    /// Softmax over the innermost dim.
    ///
    /// # Errors
    /// When there is no dim, or the dtype is no float.
    pub fn softmax(&self) -> Recorded {
        self.call1(Softmax { log: false }, &[])
    }

    /// Logarithm of the softmax over the innermost dim.
    ///
    /// # Errors
    /// When there is no dim, or the dtype is no float.
    pub fn log_softmax(&self) -> Recorded {
        self.call1(Softmax { log: true }, &[])
    }

    /// The same elements in row-major order under another shape.
    ///
    /// # Errors
    /// When the number of elements differs.
    pub fn reshape(&self, shape: impl Into<Shape>) -> Recorded {
        let shape = shape.into();
        self.call1(Reshape { shape }, &[])
    }

    /// Stretches dims of size 1 and adds outer ones.
    ///
    /// # Errors
    /// When the shape cannot be stretched to that.
    pub fn broadcast(&self, shape: impl Into<Shape>) -> Recorded {
        let shape = shape.into();
        self.call1(Broadcast { shape }, &[])
    }

    /// Dims in another order: dim `i` of the result is dim `perm[i]`.
    ///
    /// # Errors
    /// When `perm` is no permutation of the dims.
    pub fn transpose(&self, perm: &[usize]) -> Recorded {
        let perm = perm.to_vec();
        self.call1(Transpose { perm }, &[])
    }

    /// A box: one range a dim.
    ///
    /// # Errors
    /// When a range does not lie in its dim, or their number differs.
    pub fn slice(&self, ranges: &[Range<usize>]) -> Recorded {
        let op = Slice {
            start: ranges.iter().map(|range| range.start).collect(),
            end: ranges.iter().map(|range| range.end).collect(),
        };
        self.call1(op, &[])
    }

    /// Tensors one after the other along `dim`.
    ///
    /// # Errors
    /// When there are none, or they differ in dtype or in another dim.
    pub fn concat(tensors: &[&Self], dim: usize) -> Recorded {
        let op = Concat { dim };
        let Some((first, others)) = tensors.split_first() else {
            let source = OpError::Arity {
                expected: "at least 1".to_owned(),
                got: 0,
            };
            return Err(TensorError::Call {
                op: op.name().to_owned(),
                inputs: String::new(),
                source,
            });
        };
        first.call1(op, others)
    }

    /// The same numbers in another dtype: rounded to nearest even; to integers
    /// towards zero and saturated.
    ///
    /// # Errors
    /// None in practice.
    pub fn cast(&self, dtype: DType) -> Recorded {
        if dtype == self.dtype() {
            return Ok(self.clone());
        }
        self.call1(Cast { dtype }, &[])
    }

    fn all_dims(&self) -> Vec<usize> {
        (0..self.shape().ndim()).collect()
    }

    /// Records an operator with one output on `self` and `others`.
    fn call1(&self, op: impl Op + 'static, others: &[&Self]) -> Recorded {
        let inputs = std::iter::once(self).chain(others.iter().copied());
        let name = op.name();
        let outputs = self
            .context()
            .record(Arc::new(op), inputs.cloned().collect())?;
        let output = outputs.into_iter().next();
        output.ok_or_else(|| TensorError::NoOutput {
            name: name.to_owned(),
        })
    }
}
