//! Products and sums.

use cairn_formats::DType;
use cairn_graph::ops::{FusedMatMul, MatMul, Reduce, ReduceKind, SumSquares};
use cairn_graph::{Op, Shape};

use super::elementwise::function;
use super::{Results, Values, attributes, indices, ravel};

pub(super) fn matmul(
    op: &dyn Op,
    inputs: &[Values],
    shapes: &[Shape],
    _: &[DType],
) -> Option<Results> {
    let op = attributes::<MatMul>(op)?;
    Some(Ok(vec![product(op, inputs, shapes)?]))
}

pub(super) fn fused_matmul(
    op: &dyn Op,
    inputs: &[Values],
    shapes: &[Shape],
    _: &[DType],
) -> Option<Results> {
    let op = attributes::<FusedMatMul>(op)?;
    let mut out = product(&op.product, &inputs[..2], shapes)?;
    let n = shapes[0].last();
    for (at, x) in out.iter_mut().enumerate() {
        if let Some(bias) = op.bias_input() {
            *x += inputs[bias].data[at % n];
        }
        if let Some(kind) = op.activation {
            *x = function(kind)(*x);
        }
        if let Some(residual) = op.residual_input() {
            *x += inputs[residual].data[at];
        }
    }
    Some(Ok(vec![out]))
}

fn product(op: &MatMul, inputs: &[Values], shapes: &[Shape]) -> Option<Vec<f64>> {
    let (a, b) = (&inputs[0], &inputs[1]);
    let sizes = op.sizes(&a.shape, &b.shape).ok()?;
    let (m, n, k) = (sizes.m, sizes.n, sizes.k);
    let mut out = inputs
        .get(2)
        .map_or_else(|| vec![0.0; shapes[0].num_elements()], |c| c.data.clone());
    for batch in 0..sizes.batch {
        let a = &a.data[batch * m * k..];
        let b = if sizes.shared_b {
            &b.data[..]
        } else {
            &b.data[batch * k * n..]
        };
        for i in 0..m {
            for j in 0..n {
                let term = |p: usize| {
                    let left = if op.trans_a {
                        a[p * m + i]
                    } else {
                        a[i * k + p]
                    };
                    let right = if op.trans_b {
                        b[j * k + p]
                    } else {
                        b[p * n + j]
                    };
                    left * right
                };
                out[(batch * m + i) * n + j] += (0..k).map(term).sum::<f64>();
            }
        }
    }
    Some(out)
}

pub(super) fn reduce(
    op: &dyn Op,
    inputs: &[Values],
    shapes: &[Shape],
    _: &[DType],
) -> Option<Results> {
    let op = attributes::<Reduce>(op)?;
    let shape = &inputs[0].shape;
    let kept: Vec<usize> = (0..shape.ndim())
        .map(|dim| {
            if op.dims.contains(&dim) {
                1
            } else {
                shape[dim]
            }
        })
        .collect();
    let kept = Shape::from(kept);
    let start = if op.kind == ReduceKind::Max {
        f64::NEG_INFINITY
    } else {
        0.0
    };
    let mut out = vec![start; shapes[0].num_elements()];
    for (index, value) in indices(shape).zip(&inputs[0].data) {
        let to: Vec<usize> = index
            .iter()
            .zip(kept.iter())
            .map(|(i, size)| if *size == 1 { 0 } else { *i })
            .collect();
        let slot = &mut out[ravel(&to, &kept)];
        *slot = if op.kind == ReduceKind::Max {
            slot.max(*value)
        } else {
            *slot + value
        };
    }
    if op.kind == ReduceKind::Mean {
        let count: usize = op.dims.iter().map(|dim| shape[*dim]).product();
        for value in &mut out {
            *value /= count as f64;
        }
    }
    Some(Ok(vec![out]))
}

pub(super) fn sum_squares(
    op: &dyn Op,
    inputs: &[Values],
    _: &[Shape],
    _: &[DType],
) -> Option<Results> {
    attributes::<SumSquares>(op)?;
    Some(Ok(vec![vec![
        inputs
            .iter()
            .flat_map(|input| &input.data)
            .map(|x| x * x)
            .sum(),
    ]]))
}
