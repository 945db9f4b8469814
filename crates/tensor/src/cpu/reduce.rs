//! Sums, means and maxima over dims, and the sum of squares of many tensors.
//!
//! Blocks of elements are summed in f32 lanes (f64 for f64) and blocks combine in order
//! in f64; the blocks are those of the shape.

use cairn_graph::Op;
use cairn_graph::ops::{Reduce, ReduceKind, SumSquares};

use super::Target;
use super::gather::{BLOCK, Gather};
use super::kernel::CpuKernel;
use super::lanes;
use super::num::{Acc, Num, with_float};
use super::simd::{Level, simd};
use crate::backend::{Kernel, Signature};
use crate::element::Element;
use crate::error::KernelError;

/// Elements of one partial result.
const PART: usize = 1 << 16;

/// Columns of one chunk when rows are added to each other.
const COLUMNS: usize = 256;

/// How the elements of a reduction lie.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one in each kernel")]
enum Layout {
    /// `[rows, len]` contiguous: each row gives one element.
    Rows { len: usize },
    /// `[outer, len, inner]` contiguous: `inner` elements next to each other are kept.
    Columns { len: usize, inner: usize },
    /// Anything else: the kept elements and the reduced ones each in their own order.
    Strided {
        kept: Gather,
        reduced: Gather,
        len: usize,
    },
}

pub(super) fn build(op: &dyn Op, signature: &Signature, target: Target) -> Option<Box<dyn Kernel>> {
    let op = op.as_any().downcast_ref::<Reduce>()?;
    let input = &signature.inputs[0];
    let layout = layout(op, &input.ty.shape, input.strides.as_deref())?;
    let (kind, level) = (op.kind, target.level());
    let outputs = signature.outputs[0].shape.num_elements();
    let parts = match layout {
        Layout::Rows { len } if outputs < 64 => len.div_ceil(PART).max(1),
        _ => 1,
    };
    with_float!(input.ty.dtype, T => {
        CpuKernel::new(format!("reduce.{}", level.name()), move |args| {
            let x = args.input(0)?.slice::<T>()?;
            let pool = args.pool;
            let out = args.outputs[0].slice::<T>()?;
            match layout {
                Layout::Rows { len } if parts > 1 => {
                    let partial: &mut [f64] = bytemuck::cast_slice_mut(&mut *args.scratch);
                    pool.chunks_mut(&mut partial[..outputs * parts], 1, |index, partial| {
                        let (row, part) = (index / parts, index % parts);
                        let end = len.min((part + 1) * PART);
                        partial[0] = row_of(level, kind, &x[row * len + part * PART..row * len + end]);
                    });
                    for (out, partial) in out.iter_mut().zip(partial.chunks_exact(parts)) {
                        let all = partial.iter().copied().fold(start(kind), |a, b| combine(kind, a, b));
                        *out = T::rounded(finish(kind, all, len));
                    }
                }
                Layout::Rows { len } => {
                    let rows = (PART / len.max(1)).clamp(1, 1024);
                    pool.chunks_mut(out, rows, |chunk, out| {
                        for (i, out) in out.iter_mut().enumerate() {
                            let row = chunk * rows + i;
                            let all = row_of(level, kind, &x[row * len..(row + 1) * len]);
                            *out = T::rounded(finish(kind, all, len));
                        }
                    });
                }
                Layout::Columns { len, inner } => {
                    for (outer, out) in out.chunks_exact_mut(inner).enumerate() {
                        pool.chunks_mut(out, COLUMNS, |chunk, out| {
                            let from = &x[outer * len * inner + chunk * COLUMNS..];
                            columns_of(level, kind, from, len, inner, out);
                        });
                    }
                }
                Layout::Strided { kept, reduced, len } => {
                    pool.chunks_mut(out, 64, |chunk, out| {
                        for (i, out) in out.iter_mut().enumerate() {
                            let from = kept.start_of(chunk * 64 + i);
                            let all = strided_of(kind, x.get(from..).unwrap_or_default(), &reduced, len);
                            *out = T::rounded(finish(kind, all, len));
                        }
                    });
                }
            }
            Ok(())
        })
        .scratch_bytes(if parts > 1 { outputs * parts * 8 } else { 0 })
        .build()
    })
}

fn layout(op: &Reduce, shape: &[usize], strides: Option<&[usize]>) -> Option<Layout> {
    let reduced = |dim: &usize| op.dims.contains(dim);
    let len: usize = op.dims.iter().map(|dim| shape[*dim]).product();
    // Dims of size 1 belong to either side.
    let sides: Vec<bool> = (0..shape.len())
        .filter(|dim| shape[*dim] != 1)
        .map(|dim| reduced(&dim))
        .collect();
    let changes = sides.windows(2).filter(|pair| pair[0] != pair[1]).count();
    if strides.is_none() && len > 0 && shape.iter().all(|size| *size > 0) {
        let kept_first = sides.first() != Some(&true);
        let kept_last = sides.last() == Some(&false);
        if !kept_last && (changes == 0 || (changes == 1 && kept_first)) {
            return Some(Layout::Rows { len });
        }
        let kept = |dims: &mut dyn Iterator<Item = usize>| dims.map(|dim| shape[dim]).product();
        if kept_last && changes == 1 {
            let inner = kept(&mut (0..shape.len()).filter(|dim| !reduced(dim)));
            return Some(Layout::Columns { len, inner });
        }
        if kept_last && changes == 2 && kept_first {
            let last = op.dims.iter().rfind(|dim| shape[**dim] != 1)?;
            let inner = kept(&mut (last + 1..shape.len()));
            return Some(Layout::Columns { len, inner });
        }
    }
    let own = cairn_graph::Shape::from(shape).strides();
    let strides = strides.unwrap_or(&own);
    let side = |wanted: bool| {
        let dims: Vec<_> = (0..shape.len())
            .filter(|dim| reduced(dim) == wanted)
            .collect();
        let pick = |from: &[usize]| dims.iter().map(|dim| from[*dim]).collect::<Vec<_>>();
        Gather::new(&pick(shape), &pick(strides))
    };
    Some(Layout::Strided {
        kept: side(false)?,
        reduced: side(true)?,
        len,
    })
}

fn start(kind: ReduceKind) -> f64 {
    match kind {
        ReduceKind::Max => f64::NEG_INFINITY,
        ReduceKind::Sum | ReduceKind::Mean => 0.0,
    }
}

fn combine(kind: ReduceKind, a: f64, b: f64) -> f64 {
    match kind {
        ReduceKind::Max => a.larger(b),
        ReduceKind::Sum | ReduceKind::Mean => a + b,
    }
}

fn finish(kind: ReduceKind, all: f64, len: usize) -> f64 {
    match kind {
        ReduceKind::Mean => all / len as f64,
        ReduceKind::Sum | ReduceKind::Max => all,
    }
}

simd! {
    /// One row, not yet divided by its length.
    fn row_of [T: Num] (kind: ReduceKind, x: &[T]) -> f64 {
        let blocks = x.chunks(BLOCK);
        match kind {
            ReduceKind::Max => blocks
                .map(|x| lanes::max(x, T::up).wide())
                .fold(f64::NEG_INFINITY, f64::larger),
            ReduceKind::Sum | ReduceKind::Mean => {
                blocks.map(|x| lanes::sum(x, T::up).wide()).sum()
            }
        }
    }
}

simd! {
    /// Up to [`COLUMNS`] columns of `len` rows that are `stride` apart.
    fn columns_of [T: Num] (kind: ReduceKind, x: &[T], len: usize, stride: usize, out: &mut [T]) {
        let width = out.len();
        let mut all = [start(kind); COLUMNS];
        for first in (0..len).step_by(64) {
            let rows = first..len.min(first + 64);
            let initial = match kind {
                ReduceKind::Max => T::Acc::NEG_INFINITY,
                ReduceKind::Sum | ReduceKind::Mean => T::Acc::ZERO,
            };
            let mut block = [initial; COLUMNS];
            for row in rows {
                let x = &x[row * stride..row * stride + width];
                if kind == ReduceKind::Max {
                    for (block, x) in block.iter_mut().zip(x) {
                        *block = block.larger(x.up());
                    }
                } else {
                    for (block, x) in block.iter_mut().zip(x) {
                        *block += x.up();
                    }
                }
            }
            for (all, block) in all.iter_mut().zip(block) {
                *all = combine(kind, *all, block.wide());
            }
        }
        for (out, all) in out.iter_mut().zip(all) {
            *out = T::rounded(finish(kind, all, len));
        }
    }
}

fn strided_of<T: Num>(kind: ReduceKind, x: &[T], reduced: &Gather, len: usize) -> f64 {
    let mut block = [T::Acc::ZERO; BLOCK];
    let mut all = start(kind);
    for first in (0..len).step_by(BLOCK) {
        let block = &mut block[..BLOCK.min(len - first)];
        reduced.load(x, first, block);
        let part = match kind {
            ReduceKind::Max => lanes::max(block, |x| x),
            ReduceKind::Sum | ReduceKind::Mean => lanes::sum(block, |x| x),
        };
        all = combine(kind, all, part.wide());
    }
    all
}

/// The squares of `len` elements from `start` on, summed.
type Squares = fn(Level, &[u8], usize, usize) -> f64;

pub(super) fn build_sum_squares(
    op: &dyn Op,
    signature: &Signature,
    target: Target,
) -> Option<Box<dyn Kernel>> {
    op.as_any().downcast_ref::<SumSquares>()?;
    if !signature.is_contiguous() {
        return None;
    }
    let level = target.level();
    let mut parts: Vec<(usize, usize, usize, Squares)> = Vec::new();
    for (index, input) in signature.inputs.iter().enumerate() {
        let squares = with_float!(input.ty.dtype, T => Some(squares_of::<T> as Squares))?;
        let total = input.ty.shape.num_elements();
        for start in (0..total).step_by(PART) {
            parts.push((index, start, PART.min(total - start), squares));
        }
    }
    let scratch = parts.len() * 8;
    with_float!(signature.outputs[0].dtype, T => {
        CpuKernel::new(format!("sum_squares.{}", level.name()), move |args| {
            let inputs = &args.inputs;
            let missing = |index| KernelError(format!("input {index} is missing"));
            if let Some(index) = inputs.iter().position(Option::is_none) {
                return Err(missing(index));
            }
            let partial: &mut [f64] = bytemuck::cast_slice_mut(&mut *args.scratch);
            args.pool.chunks_mut(&mut partial[..parts.len()], 1, |chunk, partial| {
                let (index, start, len, squares) = parts[chunk];
                if let Some(x) = &inputs[index] {
                    partial[0] = squares(level, x.data, start, len);
                }
            });
            let total: f64 = partial[..parts.len()].iter().sum();
            args.outputs[0].slice::<T>()?[0] = T::rounded(total);
            Ok(())
        })
        .scratch_bytes(scratch)
        .build()
    })
}

fn squares_of<T: Num>(level: Level, x: &[u8], start: usize, len: usize) -> f64 {
    let x: &[T] = bytemuck::cast_slice(x);
    squares(level, &x[start..start + len])
}

simd! {
    fn squares [T: Num] (x: &[T]) -> f64 {
        x.chunks(BLOCK)
            .map(|x| {
                let square = |x: T| {
                    let x = x.up();
                    x * x
                };
                lanes::sum(x, square).wide()
            })
            .sum()
    }
}
