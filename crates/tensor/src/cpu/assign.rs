//! Explicit updates of states.

use cairn_graph::Op;
use cairn_graph::ops::{Assign, CacheWrite};

use super::Target;
use super::elementwise::CHUNK;
use super::kernel::CpuKernel;
use crate::backend::{Kernel, Signature};
use crate::error::KernelError;

pub(super) fn build(op: &dyn Op, signature: &Signature, _: Target) -> Option<Box<dyn Kernel>> {
    op.as_any().downcast_ref::<Assign>()?;
    if !signature.is_contiguous() {
        return None;
    }
    CpuKernel::new("assign".to_owned(), |args| {
        let value = args.input(1)?.data;
        let pool = args.pool;
        let piece = 4 * CHUNK;
        pool.chunks_mut(args.outputs[0].data, piece, |chunk, to| {
            to.copy_from_slice(&value[chunk * piece..chunk * piece + to.len()]);
        });
        Ok(())
    })
    .build()
}

pub(super) fn build_cache_write(
    op: &dyn Op,
    signature: &Signature,
    _: Target,
) -> Option<Box<dyn Kernel>> {
    op.as_any().downcast_ref::<CacheWrite>()?;
    if !signature.is_contiguous() {
        return None;
    }
    let (cache, new) = (&signature.outputs[0], &signature.inputs[1].ty);
    let ([_, max, heads, d], [_, length, ..]) = (&cache.shape[..], &new.shape[..]) else {
        return None;
    };
    let (max, length) = (*max, *length);
    let token = cache.dtype.bytes(heads * d);
    CpuKernel::new("cache_write".to_owned(), move |args| {
        let new = args.input(1)?.data;
        let position = args.input(2)?.slice::<i32>()?.first().copied().unwrap_or(0);
        let first = usize::try_from(position)
            .ok()
            .filter(|first| first + length <= max)
            .ok_or_else(|| {
                KernelError(format!(
                    "cannot write {length} tokens at position {position} of a cache of {max}"
                ))
            })?;
        let (size, from) = (length * token, first * token);
        if size == 0 {
            return Ok(());
        }
        let caches = args.outputs[0].data.chunks_exact_mut(max * token);
        for (cache, new) in caches.zip(new.chunks_exact(size)) {
            cache[from..from + size].copy_from_slice(new);
        }
        Ok(())
    })
    .build()
}
