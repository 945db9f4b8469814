//! Root-mean-square normalisation and its gradient, a row at a time.

use cairn_graph::Op;
use cairn_graph::ops::{RmsNorm, RmsNormGrad};

use super::Target;
use super::kernel::CpuKernel;
use super::lanes;
use super::num::{Acc, Num, with_float};
use super::scratch;
use super::simd::{Level, simd};
use super::softmax::rows_per_chunk;
use crate::backend::{Args, Kernel, Signature};
use crate::element::Element;
use crate::error::KernelError;

/// Most row blocks whose gradients of the weight are kept apart before they are added.
const ROW_BLOCKS: usize = 32;

/// The vector in input `index`, widened into `to`.
pub(super) fn widen<A: Acc>(
    args: &Args<'_>,
    index: usize,
    to: &mut [A],
) -> Result<(), KernelError> {
    let view = args.input(index)?;
    with_element!(view.dtype, W => {
        for (to, from) in to.iter_mut().zip(view.slice::<W>()?) {
            *to = A::rounded(from.to_f64());
        }
    }, return Err(KernelError(format!("a weight of {} has no kernel", view.dtype))));
    Ok(())
}

/// Rows of each block of a sum over rows: at most `ROW_BLOCKS` blocks, by shape alone.
pub(super) fn rows_per_block(rows: usize) -> usize {
    rows.div_ceil(ROW_BLOCKS).max(16)
}

pub(super) fn build(op: &dyn Op, signature: &Signature, target: Target) -> Option<Box<dyn Kernel>> {
    let eps = op.as_any().downcast_ref::<RmsNorm>()?.eps;
    if !signature.is_contiguous() {
        return None;
    }
    let (x, level) = (&signature.inputs[0].ty, target.level());
    let d = x.shape.last();
    let rows = rows_per_chunk(d);
    with_float!(x.dtype, T => {
        type A = <T as Num>::Acc;
        CpuKernel::new(format!("rmsnorm.{}", level.name()), move |args| {
            let weight: &mut [A] = scratch::take(&mut std::mem::take(&mut args.scratch), d);
            widen(args, 1, weight)?;
            let (x, weight, pool) = (args.input(0)?.slice::<T>()?, &*weight, args.pool);
            let [y, rstd] = &mut args.outputs[..] else {
                return Err(KernelError("needs two outputs".to_owned()));
            };
            let (y, rstd) = (y.slice::<T>()?, rstd.slice::<A>()?);
            if d == 0 {
                rstd.fill(A::constant(f64::NAN));
                return Ok(());
            }
            pool.chunks_mut2((y, rows * d), (rstd, rows), |chunk, y, rstd| {
                let start = chunk * rows * d;
                forward(level, eps, weight, &x[start..start + y.len()], y, rstd);
            });
            Ok(())
        })
        .scratch_bytes(scratch::bytes::<A>(d))
        .build()
    })
}

simd! {
    fn forward [T: Num] (
        eps: f64,
        weight: &[T::Acc],
        x: &[T],
        y: &mut [T],
        rstd: &mut [T::Acc],
    ) {
        let d = weight.len();
        let rows = x.chunks_exact(d).zip(y.chunks_exact_mut(d)).zip(rstd);
        for ((x, y), rstd) in rows {
            let squares = lanes::sum(x, |x: T| {
                let x = x.up();
                x * x
            });
            let mean = squares / T::Acc::constant(d as f64);
            let r = T::Acc::ONE / (mean + T::Acc::constant(eps)).sqrt();
            *rstd = r;
            for ((y, x), w) in y.iter_mut().zip(x).zip(weight) {
                *y = T::down(x.up() * r * *w);
            }
        }
    }
}

pub(super) fn build_grad(
    op: &dyn Op,
    signature: &Signature,
    target: Target,
) -> Option<Box<dyn Kernel>> {
    let op = op.as_any().downcast_ref::<RmsNormGrad>()?;
    if !signature.is_contiguous() {
        return None;
    }
    let (x, level) = (&signature.inputs[0].ty, target.level());
    let (d, total) = (x.shape.last(), x.shape.rows());
    let residual = signature.inputs.len() == 5;
    let rows = rows_per_block(total);
    let blocks = total.div_ceil(rows);
    let weight_dtype = op.weight_dtype;
    with_float!(x.dtype, T => {
        type A = <T as Num>::Acc;
        CpuKernel::new(format!("rmsnorm_grad.{}", level.name()), move |args| {
            let mut rest = std::mem::take(&mut args.scratch);
            let weight: &mut [A] = scratch::take(&mut rest, d);
            let partial: &mut [A] = scratch::take(&mut rest, blocks * d);
            widen(args, 1, weight)?;
            let (weight, pool) = (&*weight, args.pool);
            let x = args.input(0)?.slice::<T>()?;
            let rstd = args.input(2)?.slice::<A>()?;
            let dy = args.input(3)?.slice::<T>()?;
            let residual = if residual { Some(args.input(4)?.slice::<T>()?) } else { None };
            let [dx, dweight] = &mut args.outputs[..] else {
                return Err(KernelError("needs two outputs".to_owned()));
            };
            if d > 0 {
                let dx = dx.slice::<T>()?;
                pool.chunks_mut2((dx, rows * d), (&mut *partial, d), |block, dx, partial| {
                    let part = block * rows * d..block * rows * d + dx.len();
                    let operands = GradRows {
                        weight,
                        x: &x[part.clone()],
                        rstd: &rstd[block * rows..],
                        dy: &dy[part.clone()],
                        residual: residual.map(|residual| &residual[part]),
                    };
                    backward(level, operands, dx, partial);
                });
            }
            let dweight = (&mut *dweight.data, weight_dtype);
            add_blocks(level, partial, blocks, d, dweight)
        })
        .scratch_bytes(scratch::bytes::<A>(d) + scratch::bytes::<A>(blocks * d))
        .build()
    })
}

/// Adds the partial sums of all blocks in order and rounds once to `dtype`.
pub(super) fn add_blocks<A: Acc>(
    level: Level,
    partial: &mut [A],
    blocks: usize,
    d: usize,
    (out, dtype): (&mut [u8], cairn_graph::DType),
) -> Result<(), KernelError> {
    if blocks == 0 {
        out.fill(0);
        return Ok(());
    }
    let (first, rest) = partial[..blocks * d].split_at_mut(d);
    for block in rest.chunks_exact(d.max(1)) {
        accumulate(level, block, first);
    }
    with_element!(dtype, W => {
        for (to, from) in bytemuck::cast_slice_mut::<u8, W>(out).iter_mut().zip(first) {
            *to = W::rounded(from.to_f64());
        }
        Ok(())
    }, Err(KernelError(format!("a gradient of {dtype} has no kernel"))))
}

simd! {
    fn accumulate [A: Acc] (from: &[A], to: &mut [A]) {
        for (to, from) in to.iter_mut().zip(from) {
            *to += *from;
        }
    }
}

#[derive(Clone, Copy)]
struct GradRows<'a, T: Num> {
    weight: &'a [T::Acc],
    x: &'a [T],
    rstd: &'a [T::Acc],
    dy: &'a [T],
    residual: Option<&'a [T]>,
}

simd! {
    fn backward [T: Num] (rows: GradRows<'_, T>, dx: &mut [T], dweight: &mut [T::Acc]) {
        let GradRows { weight, x, rstd, dy, residual } = rows;
        let d = weight.len();
        dweight.fill(T::Acc::ZERO);
        for (row, dx) in dx.chunks_exact_mut(d).enumerate() {
            let part = row * d..(row + 1) * d;
            let (x, dy, r) = (&x[part.clone()], &dy[part.clone()], rstd[row]);
            let dot = lanes::sum_triples(x, dy, weight, |x: T, dy: T, w| dy.up() * w * x.up());
            // rstd (g - x^ mean(g x^)) with x^ = x rstd.
            let slope = dot * r * r * r / T::Acc::constant(d as f64);
            let operands = x.iter().zip(dy).zip(weight);
            match residual {
                None => {
                    let out = dx.iter_mut().zip(dweight.iter_mut());
                    for ((dx, dw), ((x, dy), w)) in out.zip(operands) {
                        let (x, dy) = (x.up(), dy.up());
                        *dw += dy * x * r;
                        *dx = T::down(dy * *w * r - x * slope);
                    }
                }
                Some(residual) => {
                    let out = dx.iter_mut().zip(dweight.iter_mut());
                    let operands = operands.zip(&residual[part]);
                    for ((dx, dw), (((x, dy), w), more)) in out.zip(operands) {
                        let (x, dy) = (x.up(), dy.up());
                        *dw += dy * x * r;
                        *dx = T::down(dy * *w * r - x * slope + more.up());
                    }
                }
            }
        }
    }
}
