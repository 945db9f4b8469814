//! Elementwise operators with NumPy broadcasting, and casts.
//!
//! Arithmetic is done in f32 (f64 for f64 operands) and rounded once to the
//! storage dtype. Gradients of broadcast operands are summed back.

use cairn_formats::DType;
use serde::{Deserialize, Serialize};

use crate::error::{GraphError, OpError, invalid};
use crate::graph::{Graph, ValueId};
use crate::op::{Alias, Cost, GradCx, InputGrads, Op, ShardRule};
use crate::ops::{arity, float};
use crate::types::{Shape, TensorType};

/// Functions of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnaryKind {
    /// `-x`
    Neg,
    /// `|x|`; gradient `sign(x)`, 0 at 0.
    Abs,
    /// `e^x`
    Exp,
    /// Natural logarithm.
    Log,
    /// `sqrt(x)`
    Sqrt,
    /// `1 / sqrt(x)`
    Rsqrt,
    /// `1 / x`
    Reciprocal,
    /// `x^2`
    Square,
    /// `tanh(x)`
    Tanh,
    /// `1 / (1 + e^-x)`
    Sigmoid,
    /// `x * sigmoid(x)` (SiLU, Swish-1)
    Silu,
    /// GELU in its tanh approximation (Hendrycks and Gimpel, 2016).
    Gelu,
    /// `max(x, 0)`; gradient 0 at 0.
    Relu,
    /// `sin(x)`
    Sin,
    /// `cos(x)`
    Cos,
}

impl UnaryKind {
    /// Every kind, for tables of tests.
    pub const ALL: [Self; 15] = [
        Self::Neg,
        Self::Abs,
        Self::Exp,
        Self::Log,
        Self::Sqrt,
        Self::Rsqrt,
        Self::Reciprocal,
        Self::Square,
        Self::Tanh,
        Self::Sigmoid,
        Self::Silu,
        Self::Gelu,
        Self::Relu,
        Self::Sin,
        Self::Cos,
    ];
}

/// One function applied to each element. `x: [..] -> [..]`, same float dtype.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unary {
    /// The function.
    pub kind: UnaryKind,
}

impl Op for Unary {
    fn name(&self) -> &'static str {
        "unary"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 1)?;
        float(inputs[0], "input")?;
        Ok(vec![inputs[0].clone()])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let Some(dy) = cx.grads[0] else {
            return Ok(vec![None]);
        };
        let (x, y) = (cx.inputs[0], cx.outputs[0]);
        let g = &mut *cx.graph;
        use UnaryKind as K;
        let dx = match self.kind {
            K::Neg => g.neg(dy)?,
            K::Abs => {
                let zero = g.scalar_like(x, 0.0)?;
                let positive = g.binary(BinaryKind::Greater, x, zero)?;
                let negative = g.binary(BinaryKind::Greater, zero, x)?;
                let sign = g.sub(positive, negative)?;
                g.mul(dy, sign)?
            }
            K::Exp => g.mul(dy, y)?,
            K::Log => g.div(dy, x)?,
            K::Sqrt => {
                let half = g.scale(dy, 0.5)?;
                g.div(half, y)?
            }
            K::Rsqrt => {
                let cube = {
                    let square = g.unary(K::Square, y)?;
                    g.mul(square, y)?
                };
                let half = g.scale(dy, -0.5)?;
                g.mul(half, cube)?
            }
            K::Reciprocal => {
                let square = g.unary(K::Square, y)?;
                let negative = g.neg(dy)?;
                g.mul(negative, square)?
            }
            K::Square => {
                let twice = g.scale(x, 2.0)?;
                g.mul(dy, twice)?
            }
            K::Tanh => {
                let square = g.unary(K::Square, y)?;
                let scaled = g.mul(dy, square)?;
                g.sub(dy, scaled)?
            }
            K::Sigmoid => {
                let square = g.unary(K::Square, y)?;
                let slope = g.sub(y, square)?;
                g.mul(dy, slope)?
            }
            K::Silu => {
                // s + x s (1 - s) = s + y (1 - s) = s + y - y s
                let s = g.unary(K::Sigmoid, x)?;
                let ys = g.mul(y, s)?;
                let sum = g.add_(s, y)?;
                let slope = g.sub(sum, ys)?;
                g.mul(dy, slope)?
            }
            K::Gelu => gelu_grad(g, x, dy)?,
            K::Relu => {
                let zero = g.scalar_like(x, 0.0)?;
                let mask = g.binary(BinaryKind::Greater, x, zero)?;
                g.mul(dy, mask)?
            }
            K::Sin => {
                let cos = g.unary(K::Cos, x)?;
                g.mul(dy, cos)?
            }
            K::Cos => {
                let sin = g.unary(K::Sin, x)?;
                let negative = g.neg(dy)?;
                g.mul(negative, sin)?
            }
        };
        Ok(vec![Some(dx)])
    }

    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        Cost::new(outputs[0].shape.num_elements() as u64, inputs, outputs)
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let dims = letters(inputs[0].shape.ndim());
        ShardRule::einsum(&format!("{dims}->{dims}"), "")
    }

    fn aliases(&self) -> Vec<Alias> {
        vec![Alias::may(0, 0)]
    }
}

/// `dy * d/dx [0.5 x (1 + tanh(u))]`, `u = sqrt(2/pi) (x + 0.044715 x^3)`.
fn gelu_grad(g: &mut Graph, x: ValueId, dy: ValueId) -> Result<ValueId, GraphError> {
    let c = (2.0 / std::f64::consts::PI).sqrt();
    let x2 = g.unary(UnaryKind::Square, x)?;
    let scaled = g.scale(x2, 0.044_715)?;
    let inner = g.offset(scaled, 1.0)?;
    let product = g.mul(x, inner)?;
    let u = g.scale(product, c)?;
    let t = g.unary(UnaryKind::Tanh, u)?;
    let t2 = g.unary(UnaryKind::Square, t)?;
    let negative = g.neg(t2)?;
    let sech2 = g.offset(negative, 1.0)?;
    let slope = {
        let scaled = g.scale(x2, 3.0 * 0.044_715)?;
        let shifted = g.offset(scaled, 1.0)?;
        g.scale(shifted, 0.5 * c)?
    };
    let left = {
        let shifted = g.offset(t, 1.0)?;
        g.scale(shifted, 0.5)?
    };
    let right = {
        let a = g.mul(x, sech2)?;
        g.mul(a, slope)?
    };
    let total = g.add_(left, right)?;
    g.mul(dy, total)
}

/// Functions of two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BinaryKind {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a / b`
    Div,
    /// The larger; the gradient goes to `a` on a tie.
    Max,
    /// The smaller; the gradient goes to `a` on a tie.
    Min,
    /// 1 where `a > b`, else 0, in the operands' dtype. No gradient.
    Greater,
    /// 1 where `a >= b`, else 0. No gradient.
    GreaterEqual,
    /// 1 where `a == b`, else 0. No gradient.
    Equal,
}

impl BinaryKind {
    /// Every kind, for tables of tests.
    pub const ALL: [Self; 9] = [
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::Div,
        Self::Max,
        Self::Min,
        Self::Greater,
        Self::GreaterEqual,
        Self::Equal,
    ];
}

/// One function applied to pairs of elements of broadcast operands.
/// `a, b: same dtype, shapes that broadcast -> their broadcast shape`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binary {
    /// The function.
    pub kind: BinaryKind,
}

impl Op for Binary {
    fn name(&self) -> &'static str {
        "binary"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 2)?;
        if inputs[0].dtype != inputs[1].dtype {
            return invalid("needs operands of the same dtype; cast one of them");
        }
        let Some(shape) = inputs[0].shape.broadcast(&inputs[1].shape) else {
            return invalid("needs shapes that broadcast to each other");
        };
        Ok(vec![TensorType {
            dtype: inputs[0].dtype,
            shape,
        }])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let Some(dy) = cx.grads[0] else {
            return Ok(vec![None, None]);
        };
        let (a, b) = (cx.inputs[0], cx.inputs[1]);
        let (shape_a, shape_b) = (cx.input_type(0).shape, cx.input_type(1).shape);
        let g = &mut *cx.graph;
        use BinaryKind as K;
        let (da, db) = match self.kind {
            K::Add => (dy, dy),
            K::Sub => (dy, g.neg(dy)?),
            K::Mul => (g.mul(dy, b)?, g.mul(dy, a)?),
            K::Div => {
                let da = g.div(dy, b)?;
                let ratio = g.div(cx.outputs[0], b)?;
                let product = g.mul(dy, ratio)?;
                (da, g.neg(product)?)
            }
            K::Max | K::Min => {
                let (hi, lo) = if self.kind == K::Max { (a, b) } else { (b, a) };
                let mask = g.binary(K::GreaterEqual, hi, lo)?;
                let da = g.mul(dy, mask)?;
                (da, g.sub(dy, da)?)
            }
            K::Greater | K::GreaterEqual | K::Equal => return Ok(vec![None, None]),
        };
        Ok(vec![
            Some(g.sum_to(da, &shape_a)?),
            Some(g.sum_to(db, &shape_b)?),
        ])
    }

    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        Cost::new(outputs[0].shape.num_elements() as u64, inputs, outputs)
    }

    fn shard(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> ShardRule {
        let all = letters(outputs[0].shape.ndim());
        let part = |shape: &Shape| {
            let skip = all.len() - shape.ndim();
            (0..shape.ndim())
                .map(|dim| {
                    if shape[dim] == outputs[0].shape[dim + skip] {
                        &all[dim + skip..=dim + skip]
                    } else {
                        "."
                    }
                })
                .collect::<String>()
        };
        ShardRule::einsum(
            &format!(
                "{},{}->{all}",
                part(&inputs[0].shape),
                part(&inputs[1].shape)
            ),
            "",
        )
    }

    fn aliases(&self) -> Vec<Alias> {
        vec![Alias::may(0, 0), Alias::may(0, 1)]
    }
}

/// `condition != 0 ? a : b`, all of one shape; `condition` of any dtype.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Select {}

impl Op for Select {
    fn name(&self) -> &'static str {
        "select"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 3)?;
        if inputs[0].shape != inputs[1].shape || inputs[1] != inputs[2] {
            return invalid("needs a condition and two branches of one shape");
        }
        Ok(vec![inputs[1].clone()])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let Some(dy) = cx.grads[0] else {
            return Ok(vec![None, None, None]);
        };
        let zero = cx.graph.full_like(dy, 0.0)?;
        let condition = cx.inputs[0];
        let da = cx.graph.add1(Self {}, &[condition, dy, zero])?;
        let db = cx.graph.add1(Self {}, &[condition, zero, dy])?;
        Ok(vec![None, Some(da), Some(db)])
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let dims = letters(inputs[0].shape.ndim());
        ShardRule::einsum(&format!("{dims},{dims},{dims}->{dims}"), "")
    }
}

/// The same numbers in another dtype: rounded to nearest even, integers from
/// floats rounded towards zero and saturated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cast {
    /// Wanted dtype.
    pub dtype: DType,
}

impl Op for Cast {
    fn name(&self) -> &'static str {
        "cast"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 1)?;
        Ok(vec![inputs[0].with_dtype(self.dtype)])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let Some(dy) = cx.grads[0] else {
            return Ok(vec![None]);
        };
        if !cx.input_type(0).dtype.is_float() {
            return Ok(vec![None]);
        }
        let dtype = cx.grad_dtypes[0];
        Ok(vec![Some(cx.graph.cast(dy, dtype)?)])
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let dims = letters(inputs[0].shape.ndim());
        ShardRule::einsum(&format!("{dims}->{dims}"), "")
    }
}

/// `ndim` different index letters.
pub(crate) fn letters(ndim: usize) -> String {
    (b'a'..=b'z').take(ndim).map(char::from).collect()
}
