//! Layer normalisation and its gradient, a row at a time.

use cairn_graph::Op;
use cairn_graph::ops::{LayerNorm, LayerNormGrad};

use super::Target;
use super::kernel::CpuKernel;
use super::lanes;
use super::num::{Acc, Num, with_float};
use super::rmsnorm::{add_blocks, rows_per_block, widen};
use super::scratch;
use super::simd::simd;
use super::softmax::rows_per_chunk;
use crate::backend::{Kernel, Signature};
use crate::error::KernelError;

pub(super) fn build(op: &dyn Op, signature: &Signature, target: Target) -> Option<Box<dyn Kernel>> {
    let eps = op.as_any().downcast_ref::<LayerNorm>()?.eps;
    if !signature.is_contiguous() {
        return None;
    }
    let (x, level) = (&signature.inputs[0].ty, target.level());
    let d = x.shape.last();
    let rows = rows_per_chunk(d);
    with_float!(x.dtype, T => {
        type A = <T as Num>::Acc;
        CpuKernel::new(format!("layernorm.{}", level.name()), move |args| {
            let mut rest = std::mem::take(&mut args.scratch);
            let weight: &mut [A] = scratch::take(&mut rest, d);
            let bias: &mut [A] = scratch::take(&mut rest, d);
            widen(args, 1, weight)?;
            widen(args, 2, bias)?;
            let (x, pool) = (args.input(0)?.slice::<T>()?, args.pool);
            let (weight, bias) = (&*weight, &*bias);
            let [y, mean, rstd] = &mut args.outputs[..] else {
                return Err(KernelError("needs three outputs".to_owned()));
            };
            let (y, mean, rstd) = (y.slice::<T>()?, mean.slice::<A>()?, rstd.slice::<A>()?);
            if d == 0 {
                mean.fill(A::constant(f64::NAN));
                rstd.fill(A::constant(f64::NAN));
                return Ok(());
            }
            let pieces = ((y, rows * d), (mean, rows), (rstd, rows));
            pool.chunks_mut3(pieces.0, pieces.1, pieces.2, |chunk, y, mean, rstd| {
                let start = chunk * rows * d;
                let x = &x[start..start + y.len()];
                forward(level, eps, weight, bias, x, y, mean, rstd);
            });
            Ok(())
        })
        .scratch_bytes(2 * scratch::bytes::<A>(d))
        .build()
    })
}

simd! {
    fn forward [T: Num] (
        eps: f64,
        weight: &[T::Acc],
        bias: &[T::Acc],
        x: &[T],
        y: &mut [T],
        means: &mut [T::Acc],
        rstds: &mut [T::Acc],
    ) {
        let d = weight.len();
        let count = T::Acc::constant(d as f64);
        let rows = x.chunks_exact(d).zip(y.chunks_exact_mut(d));
        for ((x, y), (mean, rstd)) in rows.zip(means.iter_mut().zip(rstds)) {
            let m = lanes::sum(x, T::up) / count;
            let squares = lanes::sum(x, |x: T| {
                let x = x.up() - m;
                x * x
            });
            let r = T::Acc::ONE / (squares / count + T::Acc::constant(eps)).sqrt();
            *mean = m;
            *rstd = r;
            for ((y, x), (w, b)) in y.iter_mut().zip(x).zip(weight.iter().zip(bias)) {
                *y = T::down((x.up() - m) * r * *w + *b);
            }
        }
    }
}

pub(super) fn build_grad(
    op: &dyn Op,
    signature: &Signature,
    target: Target,
) -> Option<Box<dyn Kernel>> {
    let dtype = op.as_any().downcast_ref::<LayerNormGrad>()?.weight_dtype;
    if !signature.is_contiguous() {
        return None;
    }
    let (x, level) = (&signature.inputs[0].ty, target.level());
    let (d, total) = (x.shape.last(), x.shape.rows());
    let rows = rows_per_block(total);
    let blocks = total.div_ceil(rows);
    with_float!(x.dtype, T => {
        type A = <T as Num>::Acc;
        CpuKernel::new(format!("layernorm_grad.{}", level.name()), move |args| {
            let mut rest = std::mem::take(&mut args.scratch);
            let weight: &mut [A] = scratch::take(&mut rest, d);
            let partial_w: &mut [A] = scratch::take(&mut rest, blocks * d);
            let partial_b: &mut [A] = scratch::take(&mut rest, blocks * d);
            widen(args, 1, weight)?;
            let (weight, pool) = (&*weight, args.pool);
            let x = args.input(0)?.slice::<T>()?;
            let (mean, rstd) = (args.input(2)?.slice::<A>()?, args.input(3)?.slice::<A>()?);
            let dy = args.input(4)?.slice::<T>()?;
            let [dx, dweight, dbias] = &mut args.outputs[..] else {
                return Err(KernelError("needs three outputs".to_owned()));
            };
            if d > 0 {
                let pieces = ((dx.slice::<T>()?, rows * d), (&mut *partial_w, d), (&mut *partial_b, d));
                pool.chunks_mut3(pieces.0, pieces.1, pieces.2, |block, dx, dw, db| {
                    let part = block * rows * d..block * rows * d + dx.len();
                    let operands = GradRows {
                        weight,
                        x: &x[part.clone()],
                        mean: &mean[block * rows..],
                        rstd: &rstd[block * rows..],
                        dy: &dy[part],
                    };
                    backward(level, operands, dx, dw, db);
                });
            }
            add_blocks(level, partial_w, blocks, d, (&mut *dweight.data, dtype))?;
            add_blocks(level, partial_b, blocks, d, (&mut *dbias.data, dtype))
        })
        .scratch_bytes(scratch::bytes::<A>(d) + 2 * scratch::bytes::<A>(blocks * d))
        .build()
    })
}

#[derive(Clone, Copy)]
struct GradRows<'a, T: Num> {
    weight: &'a [T::Acc],
    x: &'a [T],
    mean: &'a [T::Acc],
    rstd: &'a [T::Acc],
    dy: &'a [T],
}

simd! {
    fn backward [T: Num] (
        rows: GradRows<'_, T>,
        dx: &mut [T],
        dweight: &mut [T::Acc],
        dbias: &mut [T::Acc],
    ) {
        let GradRows { weight, x, mean, rstd, dy } = rows;
        let d = weight.len();
        let count = T::Acc::constant(d as f64);
        dweight.fill(T::Acc::ZERO);
        dbias.fill(T::Acc::ZERO);
        for (row, dx) in dx.chunks_exact_mut(d).enumerate() {
            let part = row * d..(row + 1) * d;
            let (x, dy) = (&x[part.clone()], &dy[part]);
            let (m, r) = (mean[row], rstd[row]);
            let (sum, dot) = lanes::sums_of_triples(x, dy, weight, |x: T, dy: T, w| {
                let g = dy.up() * w;
                (g, g * ((x.up() - m) * r))
            });
            let (mean_g, mean_dot) = (sum / count, dot / count);
            let out = dx.iter_mut().zip(dweight.iter_mut().zip(dbias.iter_mut()));
            for ((dx, (dw, db)), ((x, dy), w)) in out.zip(x.iter().zip(dy).zip(weight)) {
                let (unit, dy) = ((x.up() - m) * r, dy.up());
                *dw += dy * unit;
                *db += dy;
                *dx = T::down(r * (dy * *w - mean_g - unit * mean_dot));
            }
        }
    }
}
