//! Casts: through f32 among the floats that fit it, through f64 otherwise.

use cairn_graph::ops::Cast;
use cairn_graph::{DType, Op};

use super::Target;
use super::elementwise::CHUNK;
use super::gather::{BLOCK, Gather};
use super::kernel::CpuKernel;
use super::num::{Num, with_float};
use super::simd::{Level, simd};
use crate::backend::{Kernel, Signature};
use crate::element::Element;
use crate::error::KernelError;
use crate::threads::Pool;

/// Elements from `start` on of a strided operand, converted.
type Convert = fn(Level, &Gather, &[u8], usize, &mut [u8]);

pub(super) fn build(op: &dyn Op, signature: &Signature, target: Target) -> Option<Box<dyn Kernel>> {
    op.as_any().downcast_ref::<Cast>()?;
    let (from, to) = (signature.inputs[0].ty.dtype, signature.outputs[0].dtype);
    let order = Gather::broadcast(&signature.inputs[0], &signature.outputs[0].shape)?;
    let level = target.level();
    let convert = converter(from, to)?;
    let bytes = to.bytes(1);
    CpuKernel::new(format!("cast.{}", level.name()), move |args| {
        let x = args.input(0)?.data;
        let pool = args.pool;
        pool.chunks_mut(args.outputs[0].data, CHUNK * bytes, |chunk, out| {
            convert(level, &order, x, chunk * CHUNK, out);
        });
        Ok(())
    })
    .build()
}

fn converter(from: DType, to: DType) -> Option<Convert> {
    narrow(from, to).or_else(|| {
        with_element!(from, S => {
            with_element!(to, T => Some(through_f64::<S, T> as Convert), None)
        }, None)
    })
}

/// Between f32, bf16 and f16.
fn narrow(from: DType, to: DType) -> Option<Convert> {
    if from.bits() > 32 || to.bits() > 32 {
        return None;
    }
    with_float!(from, S => with_float!(to, T => narrow_pair::<S, T>()))
}

fn narrow_pair<S: Num, T: Num>() -> Option<Convert> {
    Some(through_acc::<S, T>)
}

fn through_acc<S: Num, T: Num>(
    level: Level,
    order: &Gather,
    from: &[u8],
    start: usize,
    to: &mut [u8],
) {
    let (from, to) = (
        bytemuck::cast_slice::<u8, S>(from),
        bytemuck::cast_slice_mut::<u8, T>(to),
    );
    convert(level, order, from, start, to);
}

simd! {
    fn convert [S: Num, T: Num] (order: &Gather, from: &[S], start: usize, to: &mut [T]) {
        if order.is_contiguous() {
            for (to, from) in to.iter_mut().zip(&from[start..]) {
                *to = T::down(<T::Acc as Element>::from_f64(from.up().to_f64()));
            }
            return;
        }
        let mut block = [S::Acc::default(); BLOCK];
        for (index, to) in to.chunks_mut(BLOCK).enumerate() {
            let block = &mut block[..to.len()];
            order.load(from, start + index * BLOCK, block);
            for (to, from) in to.iter_mut().zip(block) {
                *to = T::down(<T::Acc as Element>::from_f64(from.to_f64()));
            }
        }
    }
}

fn through_f64<S: Num, T: Element>(
    _: Level,
    order: &Gather,
    from: &[u8],
    start: usize,
    to: &mut [u8],
) {
    let (from, to) = (
        bytemuck::cast_slice::<u8, S>(from),
        bytemuck::cast_slice_mut::<u8, T>(to),
    );
    let mut block = [from_zero::<S>(); BLOCK];
    for (index, to) in to.chunks_mut(BLOCK).enumerate() {
        let block = &mut block[..to.len()];
        order.copy(from, start + index * BLOCK, block);
        for (to, from) in to.iter_mut().zip(block) {
            *to = T::from_f64(from.to_f64());
        }
    }
}

fn from_zero<S: Element>() -> S {
    S::from_f64(0.0)
}

/// Casts contiguous elements of `from_dtype` to `to_dtype`.
pub(super) fn contiguous<S: Element>(
    level: Level,
    from_dtype: DType,
    to_dtype: DType,
    from: &[S],
    to: &mut [u8],
    pool: &Pool,
) -> Result<(), KernelError> {
    let order = Gather::new(&[from.len()], &[1]);
    let (Some(convert), Some(order)) = (converter(from_dtype, to_dtype), order) else {
        return Err(KernelError(format!(
            "no cast from {from_dtype} to {to_dtype}"
        )));
    };
    let from = bytemuck::cast_slice(from);
    pool.chunks_mut(to, CHUNK * to_dtype.bytes(1), |chunk, to| {
        convert(level, &order, from, chunk * CHUNK, to);
    });
    Ok(())
}
