//! Short names for building graphs: `g.add_(a, b)?` instead of `g.add1(..)`.

use cairn_formats::DType;

use crate::error::GraphError;
use crate::graph::{Graph, ValueId};
use crate::ops::{
    Binary, BinaryKind, Broadcast, Cast, Fill, Input, MatMul, Parameter, Reduce, ReduceKind,
    Reshape, State, Transpose, Unary, UnaryKind,
};
use crate::types::{Shape, TensorType};

type Built = Result<ValueId, GraphError>;

impl Graph {
    /// A new input.
    ///
    /// # Errors
    /// When the name is taken.
    pub fn add_input(&mut self, name: &str, ty: TensorType) -> Built {
        self.add1(
            Input {
                name: name.to_owned(),
                ty,
            },
            &[],
        )
    }

    /// A new parameter.
    ///
    /// # Errors
    /// When the name is taken.
    pub fn add_parameter(&mut self, name: &str, ty: TensorType) -> Built {
        self.add1(
            Parameter {
                name: name.to_owned(),
                ty,
            },
            &[],
        )
    }

    /// A new state.
    ///
    /// # Errors
    /// When the name is taken.
    pub fn add_state(&mut self, name: &str, ty: TensorType) -> Built {
        self.add1(
            State {
                name: name.to_owned(),
                ty,
            },
            &[],
        )
    }

    /// A scalar constant.
    ///
    /// # Errors
    /// None in practice.
    pub fn scalar(&mut self, dtype: DType, value: f64) -> Built {
        self.add1(
            Fill {
                value,
                ty: TensorType::new(dtype, []),
            },
            &[],
        )
    }

    /// A scalar constant in the dtype of `x`.
    ///
    /// # Errors
    /// None in practice.
    pub fn scalar_like(&mut self, x: ValueId, value: f64) -> Built {
        let dtype = self.ty(x).dtype;
        self.scalar(dtype, value)
    }

    /// A tensor of one value with the type of `x`.
    ///
    /// # Errors
    /// None in practice.
    pub fn full_like(&mut self, x: ValueId, value: f64) -> Built {
        let ty = self.ty(x).clone();
        self.add1(Fill { value, ty }, &[])
    }

    /// One function of each element.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn unary(&mut self, kind: UnaryKind, x: ValueId) -> Built {
        self.add1(Unary { kind }, &[x])
    }

    /// One function of each pair of elements.
    ///
    /// # Errors
    /// When dtypes differ or shapes do not broadcast.
    pub fn binary(&mut self, kind: BinaryKind, a: ValueId, b: ValueId) -> Built {
        self.add1(Binary { kind }, &[a, b])
    }

    /// `-x`
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn neg(&mut self, x: ValueId) -> Built {
        self.unary(UnaryKind::Neg, x)
    }

    /// `a + b`
    ///
    /// # Errors
    /// When dtypes differ or shapes do not broadcast.
    pub fn add_(&mut self, a: ValueId, b: ValueId) -> Built {
        self.binary(BinaryKind::Add, a, b)
    }

    /// `a - b`
    ///
    /// # Errors
    /// When dtypes differ or shapes do not broadcast.
    pub fn sub(&mut self, a: ValueId, b: ValueId) -> Built {
        self.binary(BinaryKind::Sub, a, b)
    }

    /// `a * b`
    ///
    /// # Errors
    /// When dtypes differ or shapes do not broadcast.
    pub fn mul(&mut self, a: ValueId, b: ValueId) -> Built {
        self.binary(BinaryKind::Mul, a, b)
    }

    /// `a / b`
    ///
    /// # Errors
    /// When dtypes differ or shapes do not broadcast.
    pub fn div(&mut self, a: ValueId, b: ValueId) -> Built {
        self.binary(BinaryKind::Div, a, b)
    }

    /// `factor * x`
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn scale(&mut self, x: ValueId, factor: f64) -> Built {
        let factor = self.scalar_like(x, factor)?;
        self.mul(x, factor)
    }

    /// `x + offset`
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn offset(&mut self, x: ValueId, offset: f64) -> Built {
        let offset = self.scalar_like(x, offset)?;
        self.add_(x, offset)
    }

    /// `x` in another dtype; `x` itself when it has it already.
    ///
    /// # Errors
    /// None in practice.
    pub fn cast(&mut self, x: ValueId, dtype: DType) -> Built {
        if self.ty(x).dtype == dtype {
            return Ok(x);
        }
        self.add1(Cast { dtype }, &[x])
    }

    /// `x` under another shape; `x` itself when it has it already.
    ///
    /// # Errors
    /// When the number of elements differs.
    pub fn reshape(&mut self, x: ValueId, shape: impl Into<Shape>) -> Built {
        let shape = shape.into();
        if self.ty(x).shape == shape {
            return Ok(x);
        }
        self.add1(Reshape { shape }, &[x])
    }

    /// `x` stretched to `shape`; `x` itself when it has it already.
    ///
    /// # Errors
    /// When it cannot be stretched to that.
    pub fn broadcast(&mut self, x: ValueId, shape: impl Into<Shape>) -> Built {
        let shape = shape.into();
        if self.ty(x).shape == shape {
            return Ok(x);
        }
        self.add1(Broadcast { shape }, &[x])
    }

    /// Dims in another order.
    ///
    /// # Errors
    /// When `perm` is no permutation of the dims.
    pub fn transpose(&mut self, x: ValueId, perm: &[usize]) -> Built {
        self.add1(
            Transpose {
                perm: perm.to_vec(),
            },
            &[x],
        )
    }

    /// `a op(b)` with the result in the operands' dtype; `trans_b` for weights `[n, k]`.
    ///
    /// # Errors
    /// When shapes or dtypes do not fit.
    pub fn matmul(&mut self, a: ValueId, b: ValueId, trans_b: bool) -> Built {
        let out_dtype = self.ty(a).dtype;
        self.add1(
            MatMul {
                trans_a: false,
                trans_b,
                out_dtype,
            },
            &[a, b],
        )
    }

    /// Reduces `dims` away.
    ///
    /// # Errors
    /// When `dims` are not ascending dims of `x`.
    pub fn reduce(&mut self, kind: ReduceKind, x: ValueId, dims: &[usize]) -> Built {
        self.add1(
            Reduce {
                kind,
                dims: dims.to_vec(),
                keep: false,
            },
            &[x],
        )
    }

    /// Sums the dims that broadcasting stretched, so that the result has `shape`.
    ///
    /// # Errors
    /// When `shape` does not broadcast to the shape of `x`.
    pub fn sum_to(&mut self, x: ValueId, shape: &Shape) -> Built {
        let from = self.ty(x).shape.clone();
        if from == *shape {
            return Ok(x);
        }
        let extra = from.ndim().saturating_sub(shape.ndim());
        let dims: Vec<usize> = (0..from.ndim())
            .filter(|dim| *dim < extra || (shape[dim - extra] == 1 && from[*dim] != 1))
            .collect();
        let summed = self.reduce(ReduceKind::Sum, x, &dims)?;
        self.reshape(summed, shape.clone())
    }
}
