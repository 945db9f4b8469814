//! Gated linear units and their gradient.

use cairn_graph::Op;
use cairn_graph::ops::{Glu, GluGrad, GluKind};

use super::Target;
use super::block::{Reader, Wide, with_wide};
use super::elementwise::{CHUNK, gelu, gelu_and_slope, in_place, same_storage};
use super::gather::BLOCK;
use super::kernel::CpuKernel;
use super::num::Acc;
use super::simd::simd;
use crate::backend::{Kernel, Signature};
use crate::error::KernelError;

pub(super) fn build(op: &dyn Op, signature: &Signature, target: Target) -> Option<Box<dyn Kernel>> {
    let kind = op.as_any().downcast_ref::<Glu>()?.kind;
    let (out, level) = (&signature.outputs[0], target.level());
    with_wide!(out.dtype, A => {
        let io = A::io(out.dtype)?;
        let gate = Reader::<A>::new(&signature.inputs[0], &out.shape)?;
        let up = Reader::<A>::new(&signature.inputs[1], &out.shape)?;
        CpuKernel::new(format!("glu.{}", level.name()), move |args| {
            let (gate, up) = (gate.source(args, 0), up.source(args, 1));
            let pool = args.pool;
            pool.chunks_mut(args.outputs[0].data, CHUNK * io.size, |chunk, out| {
                let mut buffers = [[0.0; BLOCK]; 3];
                let [block_g, block_u, to] = &mut buffers;
                for (index, out) in out.chunks_mut(BLOCK * io.size).enumerate() {
                    let (start, len) = (chunk * CHUNK + index * BLOCK, out.len() / io.size);
                    let gate = gate.read(level, start, out, &mut block_g[..len]);
                    let up = up.read(level, start, out, &mut block_u[..len]);
                    io.compute(level, out, to, |to| forward(level, kind, gate, up, to));
                }
            });
            Ok(())
        })
        .in_place(in_place(signature))
        .build()
    })
}

simd! {
    fn forward [A: Acc] (kind: GluKind, gate: &[A], up: &[A], out: &mut [A]) {
        let operands = out.iter_mut().zip(gate.iter().zip(up));
        match kind {
            GluKind::Swiglu => {
                for (out, (g, u)) in operands {
                    *out = *g * g.sigmoid() * *u;
                }
            }
            GluKind::Geglu => {
                for (out, (g, u)) in operands {
                    *out = gelu(*g) * *u;
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
    let (out, level) = (&signature.outputs[0], target.level());
    let pairs = [(0, 0), (1, 1)];
    let fits =
        |pair: &(usize, usize)| same_storage(&signature.inputs[pair.1], &signature.outputs[pair.0]);
    let pairs = pairs.into_iter().filter(fits).collect();
    with_wide!(out.dtype, A => {
        let io = A::io(out.dtype)?;
        let reader = |input: usize| Reader::<A>::new(&signature.inputs[input], &out.shape);
        let (gate, up, dy) = (reader(0)?, reader(1)?, reader(2)?);
        CpuKernel::new(format!("glu_grad.{}", level.name()), move |args| {
            let (gate, up, dy) = (gate.source(args, 0), up.source(args, 1), dy.input(args, 2)?);
            let pool = args.pool;
            let [dgate, dup] = &mut args.outputs[..] else {
                return Err(KernelError("needs two outputs".to_owned()));
            };
            let size = CHUNK * io.size;
            pool.chunks_mut2((&mut *dgate.data, size), (&mut *dup.data, size), |chunk, dgate, dup| {
                let mut buffers = [[0.0; BLOCK]; 5];
                let [block_g, block_u, block_dy, to_g, to_u] = &mut buffers;
                let blocks = dgate.chunks_mut(BLOCK * io.size).zip(dup.chunks_mut(BLOCK * io.size));
                for (index, (dgate, dup)) in blocks.enumerate() {
                    let (start, len) = (chunk * CHUNK + index * BLOCK, dup.len() / io.size);
                    let gate = gate.read(level, start, dgate, &mut block_g[..len]);
                    let up = up.read(level, start, dup, &mut block_u[..len]);
                    let dy = dy.read(level, start, &[], &mut block_dy[..len]);
                    io.compute(level, dgate, to_g, |dgate| {
                        io.compute(level, dup, to_u, |dup| {
                            backward(level, kind, gate, up, dy, dgate, dup);
                        });
                    });
                }
            });
            Ok(())
        })
        .in_place(pairs)
        .build()
    })
}

simd! {
    fn backward [A: Acc] (
        kind: GluKind,
        gate: &[A],
        up: &[A],
        dy: &[A],
        dgate: &mut [A],
        dup: &mut [A],
    ) {
        let operands = dy.iter().zip(gate.iter().zip(up));
        let results = dgate.iter_mut().zip(dup.iter_mut()).zip(operands);
        match kind {
            GluKind::Swiglu => {
                for ((dgate, dup), (dy, (g, u))) in results {
                    let s = g.sigmoid();
                    let value = *g * s;
                    *dgate = *dy * *u * (s + value * (A::ONE - s));
                    *dup = *dy * value;
                }
            }
            GluKind::Geglu => {
                for ((dgate, dup), (dy, (g, u))) in results {
                    let (value, slope) = gelu_and_slope(*g);
                    *dgate = *dy * *u * slope;
                    *dup = *dy * value;
                }
            }
        }
    }
}
