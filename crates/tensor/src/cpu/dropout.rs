//! Dropout: the mask of [`crate::random`], drawn again wherever it is needed.

use cairn_graph::Op;
use cairn_graph::ops::Dropout;

use super::Target;
use super::block::{Reader, Wide, with_wide};
use super::elementwise::{CHUNK, in_place};
use super::gather::BLOCK;
use super::kernel::CpuKernel;
use super::num::Acc;
use super::simd::simd;
use crate::backend::{Kernel, Signature};
use crate::error::KernelError;
use crate::random::Mask;

pub(super) fn build(op: &dyn Op, signature: &Signature, target: Target) -> Option<Box<dyn Kernel>> {
    let op = op.as_any().downcast_ref::<Dropout>()?.clone();
    if signature.inputs[1].strides.is_some() {
        return None;
    }
    let (out, level) = (&signature.outputs[0], target.level());
    with_wide!(out.dtype, A => {
        let (io, x) = (A::io(out.dtype)?, Reader::<A>::new(&signature.inputs[0], &out.shape)?);
        CpuKernel::new(format!("dropout.{}", level.name()), move |args| {
            let x = x.source(args, 0);
            let [seed, step] = args.input(1)?.slice::<i64>()? else {
                return Err(KernelError("needs a seed and a step".to_owned()));
            };
            let mask = Mask::new(&op, *seed, *step);
            let keep = A::constant(1.0 - op.p);
            let pool = args.pool;
            pool.chunks_mut(args.outputs[0].data, CHUNK * io.size, |chunk, out| {
                let mut buffers = [[0.0; BLOCK]; 2];
                let mut kept = [false; BLOCK];
                let [from, to] = &mut buffers;
                for (index, out) in out.chunks_mut(BLOCK * io.size).enumerate() {
                    let (start, len) = (chunk * CHUNK + index * BLOCK, out.len() / io.size);
                    let kept = &mut kept[..len];
                    draw(level, &mask, start, kept);
                    let from = x.read(level, start, out, &mut from[..len]);
                    io.compute(level, out, to, |to| drop_some(level, keep, kept, from, to));
                }
            });
            Ok(())
        })
        .in_place(in_place(signature))
        .build()
    })
}

simd! {
    fn draw [] (mask: &Mask, first: usize, kept: &mut [bool]) {
        mask.fill(first, kept);
    }
}

simd! {
    fn drop_some [A: Acc] (keep: A, kept: &[bool], x: &[A], y: &mut [A]) {
        for ((y, x), kept) in y.iter_mut().zip(x).zip(kept) {
            let value = *x / keep;
            *y = if *kept { value } else { A::ZERO };
        }
    }
}
