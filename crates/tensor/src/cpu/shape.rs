//! Operators that move elements: copies of strided views, padding, concatenation; and
//! tensors made of nothing.

use cairn_formats::DType;
use cairn_graph::Op;
use cairn_graph::ops::{Broadcast, Concat, Fill, Iota, Pad, Reshape, Slice, Transpose};

use super::Target;
use super::elementwise::CHUNK;
use super::gather::Gather;
use super::kernel::CpuKernel;
use super::parts::Parts;
use crate::backend::{Kernel, Operand, Signature};
use crate::element::Element;

/// Runs `$body` with `$T` bound to an integer as wide as an element.
macro_rules! with_bits {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype.bits() {
            8 => {
                type $T = u8;
                $body
            }
            16 => {
                type $T = u16;
                $body
            }
            32 => {
                type $T = u32;
                $body
            }
            64 => {
                type $T = u64;
                $body
            }
            _ => None,
        }
    };
}

pub(super) use with_bits;

/// Side of the squares in which a matrix is transposed.
const TILE: usize = 32;

/// Copies of `reshape`, `transpose`, `slice` and `broadcast`.
pub(super) fn build_copy(op: &dyn Op, signature: &Signature, _: Target) -> Option<Box<dyn Kernel>> {
    let input = &signature.inputs[0];
    let out = &signature.outputs[0].shape;
    let own = || {
        let shape = &input.ty.shape;
        input.strides.clone().unwrap_or_else(|| shape.strides())
    };
    let any = op.as_any();
    let (order, offset) = if any.is::<Reshape>() {
        (Gather::new(&input.ty.shape, &own())?, 0)
    } else if let Some(op) = any.downcast_ref::<Transpose>() {
        let strides = own();
        let strides: Vec<_> = op.perm.iter().map(|dim| strides[*dim]).collect();
        (Gather::new(out, &strides)?, 0)
    } else if let Some(op) = any.downcast_ref::<Slice>() {
        let strides = own();
        let offset = op
            .start
            .iter()
            .zip(&strides)
            .map(|(start, stride)| start * stride);
        (Gather::new(out, &strides)?, offset.sum())
    } else if any.is::<Broadcast>() {
        (Gather::broadcast(input, out)?, 0)
    } else {
        return None;
    };
    copy_kernel(op.name(), input, order, offset)
}

fn copy_kernel(
    name: &str,
    input: &Operand,
    order: Gather,
    offset: usize,
) -> Option<Box<dyn Kernel>> {
    with_bits!(input.ty.dtype, T => {
        CpuKernel::new(format!("{name}.copy"), move |args| {
            let from: &[T] = bytemuck::cast_slice(args.input(0)?.data);
            let pool = args.pool;
            let to: &mut [T] = bytemuck::cast_slice_mut(args.outputs[0].data);
            if to.is_empty() {
                return Ok(());
            }
            let from = &from[offset..];
            if let Some((rows, columns, stride)) = order.transposed() {
                // Bands of rows of the result, each in squares that fit the cache.
                pool.chunks_mut(to, TILE * columns, |band, to| {
                    let first = band * TILE % rows;
                    let base = order.start_of(band * TILE * columns) - first;
                    transpose(&from[base..], first, stride, columns, to);
                });
            } else {
                pool.chunks_mut(to, CHUNK, |chunk, to| order.copy(from, chunk * CHUNK, to));
            }
            Ok(())
        })
        .build()
    })
}

/// `to[r][c] = from[first + r + c * stride]`.
fn transpose<T: Copy>(from: &[T], first: usize, stride: usize, columns: usize, to: &mut [T]) {
    for start in (0..columns).step_by(TILE) {
        let end = columns.min(start + TILE);
        for (r, row) in to.chunks_exact_mut(columns).enumerate() {
            for (c, to) in row[start..end].iter_mut().enumerate() {
                *to = from[first + r + (start + c) * stride];
            }
        }
    }
}

pub(super) fn build_fill(op: &dyn Op, signature: &Signature, _: Target) -> Option<Box<dyn Kernel>> {
    let value = op.as_any().downcast_ref::<Fill>()?.value;
    let dtype = match signature.outputs[0].dtype {
        DType::Bool => {
            return fill_kernel(u8::from(value != 0.0));
        }
        dtype => dtype,
    };
    with_element!(dtype, T => fill_kernel(T::rounded(value)), None)
}

fn fill_kernel<T: bytemuck::Pod + Send + Sync>(value: T) -> Option<Box<dyn Kernel>> {
    CpuKernel::new("fill".to_owned(), move |args| {
        let pool = args.pool;
        let out: &mut [T] = bytemuck::cast_slice_mut(args.outputs[0].data);
        pool.chunks_mut(out, CHUNK, |_, out| out.fill(value));
        Ok(())
    })
    .build()
}

pub(super) fn build_iota(op: &dyn Op, _: &Signature, _: Target) -> Option<Box<dyn Kernel>> {
    op.as_any().downcast_ref::<Iota>()?;
    CpuKernel::new("iota".to_owned(), |args| {
        for (i, out) in args.outputs[0].slice::<i32>()?.iter_mut().enumerate() {
            *out = i as i32;
        }
        Ok(())
    })
    .build()
}

pub(super) fn build_pad(op: &dyn Op, signature: &Signature, _: Target) -> Option<Box<dyn Kernel>> {
    let before = op.as_any().downcast_ref::<Pad>()?.before.clone();
    let input = &signature.inputs[0];
    let (shape, out) = (input.ty.shape.to_vec(), signature.outputs[0].shape.to_vec());
    let order = Gather::broadcast(input, &shape)?;
    let columns = out.last().copied().unwrap_or(1);
    let inner = shape.last().copied().unwrap_or(1);
    let left = before.last().copied().unwrap_or(0);
    with_bits!(input.ty.dtype, T => {
        CpuKernel::new("pad".to_owned(), move |args| {
            let from: &[T] = bytemuck::cast_slice(args.input(0)?.data);
            let pool = args.pool;
            let to: &mut [T] = bytemuck::cast_slice_mut(args.outputs[0].data);
            let rows = (CHUNK / columns.max(1)).max(1);
            pool.chunks_mut(to, rows * columns, |chunk, to| {
                for (row, to) in to.chunks_exact_mut(columns).enumerate() {
                    to.fill(0);
                    if let Some(row) = source_row(chunk * rows + row, &before, &shape, &out) {
                        order.copy(from, row * inner, &mut to[left..left + inner]);
                    }
                }
            });
            Ok(())
        })
        .build()
    })
}

/// The row of the operand that row `row` of the padded result holds, if any.
fn source_row(mut row: usize, before: &[usize], shape: &[usize], out: &[usize]) -> Option<usize> {
    let mut from = 0;
    let mut step = 1;
    for dim in (0..out.len().saturating_sub(1)).rev() {
        let index = (row % out[dim]).checked_sub(before[dim])?;
        row /= out[dim];
        if index >= shape[dim] {
            return None;
        }
        from += index * step;
        step *= shape[dim];
    }
    Some(from)
}

pub(super) fn build_concat(
    op: &dyn Op,
    signature: &Signature,
    _: Target,
) -> Option<Box<dyn Kernel>> {
    let dim = op.as_any().downcast_ref::<Concat>()?.dim;
    let out = &signature.outputs[0];
    let inner: usize = out.shape[dim + 1..].iter().product();
    let rows: usize = out.shape[..dim].iter().product();
    let length = out.shape[dim] * inner;
    let mut pieces = Vec::new();
    let mut at = 0;
    for input in &signature.inputs {
        let length = input.ty.shape[dim] * inner;
        pieces.push((Gather::broadcast(input, &input.ty.shape)?, at, length));
        at += length;
    }
    with_bits!(out.dtype, T => {
        CpuKernel::new("concat".to_owned(), move |args| {
            let inputs = (0..pieces.len())
                .map(|index| Ok(bytemuck::cast_slice::<u8, T>(args.input(index)?.data)))
                .collect::<Result<Vec<_>, crate::error::KernelError>>()?;
            let pool = args.pool;
            let to = Parts::<T>::new(bytemuck::cast_slice_mut(args.outputs[0].data));
            pool.run(rows * pieces.len(), |chunk| {
                let (row, index) = (chunk / pieces.len(), chunk % pieces.len());
                let (order, at, len) = &pieces[index];
                let start = row * length + at;
                // SAFETY: the pieces of the rows of a concatenation do not overlap.
                #[expect(unsafe_code, reason = "pieces of one output")]
                let to = unsafe { to.get(start..start + len) };
                order.copy(inputs[index], row * len, to);
            });
            Ok(())
        })
        .build()
    })
}
