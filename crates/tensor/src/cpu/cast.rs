//! Casts: through f32 among the floats that fit it, through f64 otherwise.

use cairn_graph::ops::Cast;
use cairn_graph::{DType, Op};

use super::Target;
use super::block::{Io, Reader, Wide};
use super::elementwise::CHUNK;
use super::gather::BLOCK;
use super::kernel::CpuKernel;
use super::simd::Level;
use crate::backend::{Kernel, Signature};
use crate::threads::Pool;

pub(super) fn build(op: &dyn Op, signature: &Signature, target: Target) -> Option<Box<dyn Kernel>> {
    op.as_any().downcast_ref::<Cast>()?;
    let (from, to) = (signature.inputs[0].ty.dtype, signature.outputs[0].dtype);
    match (f32::io(from), f32::io(to)) {
        (Some(_), Some(to)) => build_through(to, signature, target),
        _ => build_through(f64::io(to)?, signature, target),
    }
}

fn build_through<A: Wide>(
    io: Io<A>,
    signature: &Signature,
    target: Target,
) -> Option<Box<dyn Kernel>> {
    let x = Reader::<A>::new(&signature.inputs[0], &signature.outputs[0].shape)?;
    let level = target.level();
    CpuKernel::new(format!("cast.{}", level.name()), move |args| {
        let x = x.input(args, 0)?;
        let pool = args.pool;
        pool.chunks_mut(args.outputs[0].data, CHUNK * io.size, |chunk, out| {
            let mut buffer = [A::ZERO; BLOCK];
            for (index, out) in out.chunks_mut(BLOCK * io.size).enumerate() {
                let buffer = &mut buffer[..out.len() / io.size];
                let block = x.read(level, chunk * CHUNK + index * BLOCK, &[], buffer);
                io.write(level, block, out);
            }
        });
        Ok(())
    })
    .build()
}

/// Rounds contiguous numbers to `dtype`; false when it has no numbers of this kind.
pub(super) fn round_to<A: Wide>(
    level: Level,
    dtype: DType,
    from: &[A],
    to: &mut [u8],
    pool: &Pool,
) -> bool {
    let Some(io) = A::io(dtype) else {
        return false;
    };
    pool.chunks_mut(to, CHUNK * io.size, |chunk, to| {
        let start = chunk * CHUNK;
        io.write(level, &from[start..start + to.len() / io.size], to);
    });
    true
}
