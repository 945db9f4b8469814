//! Gated linear units and their gradient.

use cairn_graph::Op;
use cairn_graph::ops::{Glu, GluGrad, GluKind};

use super::Target;
use super::elementwise::{CHUNK, gelu, gelu_and_slope, in_place, operand, same_storage};
use super::gather::BLOCK;
use super::kernel::CpuKernel;
use super::num::{Acc, Num, with_float};
use super::simd::simd;
use crate::backend::{Kernel, Signature};
use crate::error::KernelError;

pub(super) fn build(op: &dyn Op, signature: &Signature, target: Target) -> Option<Box<dyn Kernel>> {
    let kind = op.as_any().downcast_ref::<Glu>()?.kind;
    if !signature.is_contiguous() {
        return None;
    }
    let level = target.level();
    with_float!(signature.outputs[0].dtype, T => {
        CpuKernel::new(format!("glu.{}", level.name()), move |args| {
            let (gate, up) = (operand::<T>(args, 0)?, operand::<T>(args, 1)?);
            let pool = args.pool;
            pool.chunks_mut(args.outputs[0].slice::<T>()?, CHUNK, |chunk, out| {
                let part = chunk * CHUNK..chunk * CHUNK + out.len();
                let [gate, up] = [gate, up].map(|x| x.map(|x| &x[part.clone()]));
                forward(level, kind, gate, up, out);
            });
            Ok(())
        })
        .in_place(in_place(signature))
        .build()
    })
}

/// A block of an operand, which is in `out` where it is computed in place.
#[inline(always)]
fn load<T: Num>(x: Option<&[T]>, start: usize, out: &[T], to: &mut [T::Acc]) {
    let from = match x {
        Some(x) => &x[start..start + out.len()],
        None => out,
    };
    for (to, from) in to.iter_mut().zip(from) {
        *to = from.up();
    }
}

simd! {
    fn forward [T: Num] (kind: GluKind, gate: Option<&[T]>, up: Option<&[T]>, out: &mut [T]) {
        let mut g = [T::Acc::ZERO; BLOCK];
        let mut u = [T::Acc::ZERO; BLOCK];
        for (index, out) in out.chunks_mut(BLOCK).enumerate() {
            let (g, u) = (&mut g[..out.len()], &mut u[..out.len()]);
            load(gate, index * BLOCK, out, g);
            load(up, index * BLOCK, out, u);
            let operands = out.iter_mut().zip(g).zip(u);
            match kind {
                GluKind::Swiglu => {
                    for ((out, g), u) in operands {
                        *out = T::down(*g * g.sigmoid() * *u);
                    }
                }
                GluKind::Geglu => {
                    for ((out, g), u) in operands {
                        *out = T::down(gelu(*g) * *u);
                    }
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
    let kind = op.as_any().downcast_ref::<GluGrad>()?.kind;
    if !signature.is_contiguous() {
        return None;
    }
    let level = target.level();
    let pairs = [(0, 0), (1, 1)];
    let fits =
        |pair: &(usize, usize)| same_storage(&signature.inputs[pair.1], &signature.outputs[pair.0]);
    let pairs = pairs.into_iter().filter(fits).collect();
    with_float!(signature.outputs[0].dtype, T => {
        CpuKernel::new(format!("glu_grad.{}", level.name()), move |args| {
            let (gate, up) = (operand::<T>(args, 0)?, operand::<T>(args, 1)?);
            let dy = args.input(2)?.slice::<T>()?;
            let pool = args.pool;
            let [dgate, dup] = &mut args.outputs[..] else {
                return Err(KernelError("needs two outputs".to_owned()));
            };
            let (dgate, dup) = (dgate.slice::<T>()?, dup.slice::<T>()?);
            pool.chunks_mut2((dgate, CHUNK), (dup, CHUNK), |chunk, dgate, dup| {
                let part = chunk * CHUNK..chunk * CHUNK + dgate.len();
                let [gate, up] = [gate, up].map(|x| x.map(|x| &x[part.clone()]));
                backward(level, kind, gate, up, &dy[part.clone()], dgate, dup);
            });
            Ok(())
        })
        .in_place(pairs)
        .build()
    })
}

simd! {
    fn backward [T: Num] (
        kind: GluKind,
        gate: Option<&[T]>,
        up: Option<&[T]>,
        dy: &[T],
        dgate: &mut [T],
        dup: &mut [T],
    ) {
        let mut g = [T::Acc::ZERO; BLOCK];
        let mut u = [T::Acc::ZERO; BLOCK];
        let blocks = dgate.chunks_mut(BLOCK).zip(dup.chunks_mut(BLOCK)).zip(dy.chunks(BLOCK));
        for (index, ((dgate, dup), dy)) in blocks.enumerate() {
            let (g, u) = (&mut g[..dy.len()], &mut u[..dy.len()]);
            load(gate, index * BLOCK, dgate, g);
            load(up, index * BLOCK, dup, u);
            let operands = dy.iter().zip(g.iter().zip(u));
            let results = dgate.iter_mut().zip(dup.iter_mut()).zip(operands);
            match kind {
                GluKind::Swiglu => {
                    for ((dgate, dup), (dy, (g, u))) in results {
                        let (dy, s) = (dy.up(), g.sigmoid());
                        let value = *g * s;
                        let slope = s + value * (T::Acc::ONE - s);
                        *dgate = T::down(dy * *u * slope);
                        *dup = T::down(dy * value);
                    }
                }
                GluKind::Geglu => {
                    for ((dgate, dup), (dy, (g, u))) in results {
                        let dy = dy.up();
                        let (value, slope) = gelu_and_slope(*g);
                        *dgate = T::down(dy * *u * slope);
                        *dup = T::down(dy * value);
                    }
                }
            }
        }
    }
}
