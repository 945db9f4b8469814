//! Softmax of rows and its gradient. A row is read three times and never kept wide.

use cairn_graph::Op;
use cairn_graph::ops::{Softmax, SoftmaxGrad};

use super::Target;
use super::elementwise::{CHUNK, in_place, operand};
use super::kernel::CpuKernel;
use super::lanes;
use super::num::{Acc, Num, with_float};
use super::simd::simd;
use crate::backend::{Kernel, Signature};

/// Rows of one chunk.
pub(super) fn rows_per_chunk(columns: usize) -> usize {
    (CHUNK / columns.max(1)).max(1)
}

pub(super) fn build(op: &dyn Op, signature: &Signature, target: Target) -> Option<Box<dyn Kernel>> {
    let log = op.as_any().downcast_ref::<Softmax>()?.log;
    if !signature.is_contiguous() {
        return None;
    }
    let (out, level) = (&signature.outputs[0], target.level());
    let columns = out.shape.last();
    let piece = rows_per_chunk(columns) * columns;
    with_float!(out.dtype, T => {
        CpuKernel::new(format!("softmax.{}", level.name()), move |args| {
            let x = operand::<T>(args, 0)?;
            let pool = args.pool;
            pool.chunks_mut(args.outputs[0].slice::<T>()?, piece, |chunk, out| {
                if let Some(x) = x {
                    out.copy_from_slice(&x[chunk * piece..chunk * piece + out.len()]);
                }
                rows(level, log, columns, out);
            });
            Ok(())
        })
        .in_place(in_place(signature))
        .build()
    })
}

simd! {
    fn rows [T: Num] (log: bool, columns: usize, data: &mut [T]) {
        for row in data.chunks_exact_mut(columns) {
            let max = lanes::max(row, T::up);
            let sum = lanes::sum(row, |x: T| (x.up() - max).exp());
            if log {
                let shift = sum.ln();
                for x in row {
                    *x = T::down(x.up() - max - shift);
                }
            } else {
                let factor = T::Acc::ONE / sum;
                for x in row {
                    *x = T::down((x.up() - max).exp() * factor);
                }
            }
        }
    }
}

pub(super) fn build_grad(
    op: &dyn Op,
    signature: &Signature,
    target: Target,
) -> Option<Box<dyn Kernel>> {
    let log = op.as_any().downcast_ref::<SoftmaxGrad>()?.log;
    if !signature.is_contiguous() {
        return None;
    }
    let (out, level) = (&signature.outputs[0], target.level());
    let columns = out.shape.last();
    let piece = rows_per_chunk(columns) * columns;
    with_float!(out.dtype, T => {
        CpuKernel::new(format!("softmax_grad.{}", level.name()), move |args| {
            let (y, dy) = (args.input(0)?.slice::<T>()?, args.input(1)?.slice::<T>()?);
            let pool = args.pool;
            pool.chunks_mut(args.outputs[0].slice::<T>()?, piece, |chunk, dx| {
                let part = chunk * piece..chunk * piece + dx.len();
                grad_rows(level, log, columns, &y[part.clone()], &dy[part], dx);
            });
            Ok(())
        })
        .build()
    })
}

simd! {
    fn grad_rows [T: Num] (log: bool, columns: usize, y: &[T], dy: &[T], dx: &mut [T]) {
        let inputs = y.chunks_exact(columns).zip(dy.chunks_exact(columns));
        for (dx, (y, dy)) in dx.chunks_exact_mut(columns).zip(inputs) {
            let pairs = y.iter().zip(dy);
            if log {
                let sum = lanes::sum(dy, T::up);
                for (dx, (y, dy)) in dx.iter_mut().zip(pairs) {
                    *dx = T::down(dy.up() - y.up().exp() * sum);
                }
            } else {
                let sum = lanes::sum_pairs(y, dy, |y: T, dy: T| y.up() * dy.up());
                for (dx, (y, dy)) in dx.iter_mut().zip(pairs) {
                    *dx = T::down(y.up() * (dy.up() - sum));
                }
            }
        }
    }
}
