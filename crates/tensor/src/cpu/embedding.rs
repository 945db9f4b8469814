//! Rows of a table by index, and the sum of rows back into it.

use cairn_formats::DType;
use cairn_graph::Op;
use cairn_graph::ops::{Embedding, EmbeddingGrad};

use super::Target;
use super::block::Wide;
use super::elementwise::CHUNK;
use super::gather::BLOCK;
use super::kernel::CpuKernel;
use super::num::{Acc, Num, with_float};
use super::simd::simd;
use crate::backend::{Kernel, Signature};
use crate::error::KernelError;

fn check(indices: &[i32], rows: usize) -> Result<(), KernelError> {
    let outside = |index: &i32| usize::try_from(*index).map_or(true, |index| index >= rows);
    match indices.iter().position(outside) {
        None => Ok(()),
        Some(position) => Err(KernelError(format!(
            "index {} at position {position} is outside a table of {rows} rows",
            indices[position]
        ))),
    }
}

pub(super) fn build(op: &dyn Op, signature: &Signature, _: Target) -> Option<Box<dyn Kernel>> {
    op.as_any().downcast_ref::<Embedding>()?;
    if !signature.is_contiguous() {
        return None;
    }
    let table = &signature.inputs[0].ty;
    let rows = table.shape[0];
    if !matches!(
        table.dtype,
        DType::F64 | DType::F32 | DType::F16 | DType::BF16
    ) {
        return None;
    }
    let width = table.dtype.bytes(table.shape[1]);
    CpuKernel::new("embedding".to_owned(), move |args| {
        let (table, indices) = (args.input(0)?.data, args.input(1)?.slice::<i32>()?);
        check(indices, rows)?;
        let pool = args.pool;
        let tokens = (4 * CHUNK / width.max(1)).max(1);
        pool.chunks_mut(args.outputs[0].data, tokens * width, |chunk, out| {
            let indices = &indices[chunk * tokens..];
            for (out, index) in out.chunks_exact_mut(width).zip(indices) {
                let from = *index as usize * width;
                out.copy_from_slice(&table[from..from + width]);
            }
        });
        Ok(())
    })
    .build()
}

/// Rows of the table in one chunk.
const ROWS: usize = 64;

pub(super) fn build_grad(
    op: &dyn Op,
    signature: &Signature,
    target: Target,
) -> Option<Box<dyn Kernel>> {
    let rows = op.as_any().downcast_ref::<EmbeddingGrad>()?.rows;
    if !signature.is_contiguous() {
        return None;
    }
    let level = target.level();
    let (dy, out) = (&signature.inputs[0].ty, &signature.outputs[0]);
    let (width, tokens) = (out.shape[1], signature.inputs[1].ty.shape.num_elements());
    with_float!(dy.dtype, S => {
        let io = <<S as Num>::Acc as Wide>::io(out.dtype)?;
        CpuKernel::new(format!("embedding_grad.{}", level.name()), move |args| {
            let (dy, indices) = (args.input(0)?.slice::<S>()?, args.input(1)?.slice::<i32>()?);
            check(indices, rows)?;
            let pool = args.pool;
            let scratch: &mut [u32] = bytemuck::cast_slice_mut(&mut *args.scratch);
            let (starts, order) = scratch.split_at_mut(rows + 1);
            sort(indices, starts, &mut order[..tokens]);
            let (starts, order) = (&*starts, &*order);
            pool.chunks_mut(args.outputs[0].data, ROWS * width * io.size, |chunk, out| {
                for (i, out) in out.chunks_exact_mut(width * io.size).enumerate() {
                    let row = chunk * ROWS + i;
                    let tokens = &order[starts[row] as usize..starts[row + 1] as usize];
                    let mut sums = [<S as Num>::Acc::ZERO; BLOCK];
                    for (index, out) in out.chunks_mut(BLOCK * io.size).enumerate() {
                        io.compute(level, out, &mut sums, |sums| {
                            sum_rows(level, dy, tokens, (index * BLOCK, width), sums);
                        });
                    }
                }
            });
            Ok(())
        })
        .scratch_bytes((rows + 1 + tokens) * 4)
        .build()
    })
}

/// Positions grouped by index, each group in order: those of index `i` are
/// `order[starts[i]..starts[i + 1]]`.
fn sort(indices: &[i32], starts: &mut [u32], order: &mut [u32]) {
    starts.fill(0);
    for index in indices {
        starts[*index as usize + 1] += 1;
    }
    for row in 1..starts.len() {
        starts[row] += starts[row - 1];
    }
    // Each start moves to the end of its group, which is the start of the next ...
    for (position, index) in indices.iter().enumerate() {
        let at = &mut starts[*index as usize];
        order[*at as usize] = position as u32;
        *at += 1;
    }
    // ... and back by one place.
    let last = starts.len() - 1;
    starts.copy_within(..last, 1);
    starts[0] = 0;
}

simd! {
    /// Columns `first..` of the rows of `tokens`, each `width` long.
    fn sum_rows [S: Num] (
        dy: &[S],
        tokens: &[u32],
        columns: (usize, usize),
        sums: &mut [S::Acc],
    ) {
        let ((first, width), len) = (columns, sums.len());
        sums.fill(S::Acc::ZERO);
        for token in tokens {
            let start = *token as usize * width + first;
            for (sum, dy) in sums.iter_mut().zip(&dy[start..start + len]) {
                *sum += dy.up();
            }
        }
    }
}
