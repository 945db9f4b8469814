//! Elementwise operators, casts, gated units, dropout.

use cairn_formats::DType;
use cairn_graph::ops::{
    Binary, BinaryKind, Cast, Dropout, Glu, GluGrad, GluKind, Select, Unary, UnaryKind,
};
use cairn_graph::{Op, Shape};

use super::{Results, Values, attributes, indices, ravel};
use crate::random;

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// GELU in its tanh form and its slope.
fn gelu(x: f64) -> (f64, f64) {
    let c = (2.0 / std::f64::consts::PI).sqrt();
    let t = (c * (x + 0.044_715 * x * x * x)).tanh();
    let slope = 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * c * (1.0 + 3.0 * 0.044_715 * x * x);
    (0.5 * x * (1.0 + t), slope)
}

pub(super) fn unary(op: &dyn Op, inputs: &[Values], _: &[Shape], _: &[DType]) -> Option<Results> {
    let apply = function(attributes::<Unary>(op)?.kind);
    Some(Ok(vec![inputs[0].data.iter().map(|x| apply(*x)).collect()]))
}

/// The function of a kind.
pub(super) fn function(kind: UnaryKind) -> fn(f64) -> f64 {
    use UnaryKind as K;
    match kind {
        K::Neg => |x| -x,
        K::Abs => f64::abs,
        K::Exp => f64::exp,
        K::Log => f64::ln,
        K::Sqrt => f64::sqrt,
        K::Rsqrt => |x| 1.0 / x.sqrt(),
        K::Reciprocal => |x| 1.0 / x,
        K::Square => |x| x * x,
        K::Tanh => f64::tanh,
        K::Sigmoid => sigmoid,
        K::Silu => |x| x * sigmoid(x),
        K::Gelu => |x| gelu(x).0,
        K::Relu => |x| {
            if x > 0.0 || x.is_nan() { x } else { 0.0 }
        },
        K::Sin => f64::sin,
        K::Cos => f64::cos,
    }
}

pub(super) fn binary(
    op: &dyn Op,
    inputs: &[Values],
    shapes: &[Shape],
    _: &[DType],
) -> Option<Results> {
    use BinaryKind as K;
    let flag = |condition: bool| f64::from(u8::from(condition));
    let kind = attributes::<Binary>(op)?.kind;
    let apply = |a: f64, b: f64| match kind {
        K::Add => a + b,
        K::Sub => a - b,
        K::Mul => a * b,
        K::Div => a / b,
        K::Max => {
            if a >= b || a.is_nan() {
                a
            } else {
                b
            }
        }
        K::Min => {
            if a <= b || a.is_nan() {
                a
            } else {
                b
            }
        }
        K::Greater => flag(a > b),
        K::GreaterEqual => flag(a >= b),
        K::Equal => flag(a == b),
    };
    let (a, b) = (&inputs[0], &inputs[1]);
    let at = |values: &Values, index: &[usize]| {
        let own = &index[index.len() - values.shape.ndim()..];
        let clamped: Vec<usize> = own
            .iter()
            .zip(values.shape.iter())
            .map(|(i, size)| if *size == 1 { 0 } else { *i })
            .collect();
        values.data[ravel(&clamped, &values.shape)]
    };
    Some(Ok(vec![
        indices(&shapes[0])
            .map(|index| apply(at(a, &index), at(b, &index)))
            .collect(),
    ]))
}

pub(super) fn select(op: &dyn Op, inputs: &[Values], _: &[Shape], _: &[DType]) -> Option<Results> {
    attributes::<Select>(op)?;
    let pick = |index: usize| {
        if inputs[0].data[index] != 0.0 {
            inputs[1].data[index]
        } else {
            inputs[2].data[index]
        }
    };
    Some(Ok(vec![(0..inputs[0].data.len()).map(pick).collect()]))
}

pub(super) fn cast(op: &dyn Op, inputs: &[Values], _: &[Shape], _: &[DType]) -> Option<Results> {
    attributes::<Cast>(op)?;
    Some(Ok(vec![inputs[0].data.clone()]))
}

pub(super) fn glu(op: &dyn Op, inputs: &[Values], _: &[Shape], _: &[DType]) -> Option<Results> {
    let kind = attributes::<Glu>(op)?.kind;
    let pairs = inputs[0].data.iter().zip(&inputs[1].data);
    Some(Ok(vec![
        pairs
            .map(|(gate, up)| activation(kind, *gate).0 * up)
            .collect(),
    ]))
}

pub(super) fn glu_grad(
    op: &dyn Op,
    inputs: &[Values],
    _: &[Shape],
    _: &[DType],
) -> Option<Results> {
    let kind = attributes::<GluGrad>(op)?.kind;
    let (mut dgate, mut dup) = (Vec::new(), Vec::new());
    for ((gate, up), dy) in inputs[0]
        .data
        .iter()
        .zip(&inputs[1].data)
        .zip(&inputs[2].data)
    {
        let (value, slope) = activation(kind, *gate);
        dgate.push(dy * up * slope);
        dup.push(dy * value);
    }
    Some(Ok(vec![dgate, dup]))
}

fn activation(kind: GluKind, x: f64) -> (f64, f64) {
    match kind {
        GluKind::Swiglu => {
            let s = sigmoid(x);
            (x * s, s + x * s * (1.0 - s))
        }
        GluKind::Geglu => gelu(x),
    }
}

pub(super) fn dropout(op: &dyn Op, inputs: &[Values], _: &[Shape], _: &[DType]) -> Option<Results> {
    let op = attributes::<Dropout>(op)?;
    let mask = random::Mask::new(op, inputs[1].data[0] as i64, inputs[1].data[1] as i64);
    let keep = |(element, x): (usize, &f64)| {
        if mask.keeps(element) {
            x / (1.0 - op.p)
        } else {
            0.0
        }
    };
    Some(Ok(vec![
        inputs[0].data.iter().enumerate().map(keep).collect(),
    ]))
}
