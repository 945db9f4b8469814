//! Rotary position embedding: the table of angles and the rotation.

use cairn_graph::Op;
use cairn_graph::ops::{Rope, RopeTable};

use super::Target;
use super::elementwise::{in_place, operand};
use super::kernel::CpuKernel;
use super::num::{Acc, Num, with_float};
use super::simd::simd;
use super::softmax::rows_per_chunk;
use crate::backend::{Kernel, Signature};

pub(super) fn build_table(
    op: &dyn Op,
    signature: &Signature,
    _: Target,
) -> Option<Box<dyn Kernel>> {
    let op = op.as_any().downcast_ref::<RopeTable>()?;
    if !signature.is_contiguous() {
        return None;
    }
    let (frequencies, half) = (op.frequencies(), op.head_dim / 2);
    CpuKernel::new("rope_table".to_owned(), move |args| {
        let positions = args.input(0)?.slice::<i32>()?;
        let pool = args.pool;
        if half == 0 {
            return Ok(());
        }
        pool.chunks_mut(
            args.outputs[0].slice::<f32>()?,
            64 * 2 * half,
            |chunk, out| {
                let positions = &positions[chunk * 64..];
                for (row, position) in out.chunks_exact_mut(2 * half).zip(positions) {
                    let (cos, sin) = row.split_at_mut(half);
                    for ((cos, sin), frequency) in cos.iter_mut().zip(sin).zip(&frequencies) {
                        let (s, c) = (f64::from(*position) * frequency).sin_cos();
                        (*cos, *sin) = (c as f32, s as f32);
                    }
                }
            },
        );
        Ok(())
    })
    .build()
}

pub(super) fn build(op: &dyn Op, signature: &Signature, target: Target) -> Option<Box<dyn Kernel>> {
    let inverse = op.as_any().downcast_ref::<Rope>()?.inverse;
    if !signature.is_contiguous() {
        return None;
    }
    let (out, level) = (&signature.outputs[0], target.level());
    let [_, length, heads, d] = out.shape[..] else {
        return None;
    };
    let tokens = rows_per_chunk(heads * d);
    let piece = tokens * heads * d;
    with_float!(out.dtype, T => {
        CpuKernel::new(format!("rope.{}", level.name()), move |args| {
            let x = operand::<T>(args, 0)?;
            let table = args.input(1)?.slice::<f32>()?;
            let pool = args.pool;
            pool.chunks_mut(args.outputs[0].slice::<T>()?, piece, |chunk, out| {
                if let Some(x) = x {
                    out.copy_from_slice(&x[chunk * piece..chunk * piece + out.len()]);
                }
                for (i, token) in out.chunks_exact_mut(heads * d).enumerate() {
                    let position = (chunk * tokens + i) % length;
                    rotate(level, inverse, &table[position * d..(position + 1) * d], token);
                }
            });
            Ok(())
        })
        .in_place(in_place(signature).into_iter().filter(|pair| pair.1 == 0).collect())
        .build()
    })
}

simd! {
    /// Rotates every head of one token.
    fn rotate [T: Num] (inverse: bool, table: &[f32], token: &mut [T]) {
        let half = table.len() / 2;
        let (cos, sin) = table.split_at(half);
        let sign = if inverse { -T::Acc::ONE } else { T::Acc::ONE };
        for head in token.chunks_exact_mut(table.len()) {
            let (low, high) = head.split_at_mut(half);
            for ((a, b), (cos, sin)) in low.iter_mut().zip(high).zip(cos.iter().zip(sin)) {
                let cos = T::Acc::constant(f64::from(*cos));
                let sin = T::Acc::constant(f64::from(*sin)) * sign;
                let (x, y) = (a.up(), b.up());
                *a = T::down(x * cos - y * sin);
                *b = T::down(y * cos + x * sin);
            }
        }
    }
}
