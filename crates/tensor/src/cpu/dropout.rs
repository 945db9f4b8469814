//! Dropout: the mask of [`crate::random`], drawn again wherever it is needed.

use cairn_graph::Op;
use cairn_graph::ops::Dropout;

use super::Target;
use super::elementwise::{CHUNK, in_place, operand};
use super::gather::BLOCK;
use super::kernel::CpuKernel;
use super::num::{Acc, Num, with_float};
use super::simd::simd;
use crate::backend::{Kernel, Signature};
use crate::error::KernelError;
use crate::random::Mask;

pub(super) fn build(op: &dyn Op, signature: &Signature, target: Target) -> Option<Box<dyn Kernel>> {
    let op = op.as_any().downcast_ref::<Dropout>()?.clone();
    if !signature.is_contiguous() {
        return None;
    }
    let level = target.level();
    with_float!(signature.outputs[0].dtype, T => {
        CpuKernel::new(format!("dropout.{}", level.name()), move |args| {
            let x = operand::<T>(args, 0)?;
            let [seed, step] = args.input(1)?.slice::<i64>()? else {
                return Err(KernelError("needs a seed and a step".to_owned()));
            };
            let mask = Mask::new(&op, *seed, *step);
            let keep = 1.0 - op.p;
            let pool = args.pool;
            pool.chunks_mut(args.outputs[0].slice::<T>()?, CHUNK, |chunk, out| {
                if let Some(x) = x {
                    out.copy_from_slice(&x[chunk * CHUNK..chunk * CHUNK + out.len()]);
                }
                drop_some(level, &mask, keep, chunk * CHUNK, out);
            });
            Ok(())
        })
        .in_place(in_place(signature))
        .build()
    })
}

simd! {
    fn drop_some [T: Num] (mask: &Mask, keep: f64, first: usize, data: &mut [T]) {
        let keep = T::Acc::constant(keep);
        let mut kept = [false; BLOCK];
        for (index, data) in data.chunks_mut(BLOCK).enumerate() {
            let kept = &mut kept[..data.len()];
            mask.fill(first + index * BLOCK, kept);
            for (x, kept) in data.iter_mut().zip(kept) {
                let value = x.up() / keep;
                *x = T::down(if *kept { value } else { T::Acc::ZERO });
            }
        }
    }
}
