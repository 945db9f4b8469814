//! Elementwise operators: blocks of elements are widened on the stack, computed and
//! rounded once.

use cairn_formats::DType;
use cairn_graph::Op;
use cairn_graph::ops::{Binary, BinaryKind, Select, Unary, UnaryKind};

use super::Target;
use super::block::{Reader, Wide, with_wide};
use super::gather::{BLOCK, Gather};
use super::kernel::CpuKernel;
use super::num::Acc;
use super::shape::with_bits;
use super::simd::simd;
use crate::backend::{Args, Kernel, Operand, Signature};
use crate::element::Element;
use crate::error::KernelError;

/// Elements of one chunk of work.
pub(super) const CHUNK: usize = 1 << 15;

/// Whether an output of this type may be computed where the operand is.
pub(super) fn same_storage(operand: &Operand, out: &cairn_graph::TensorType) -> bool {
    operand.strides.is_none() && operand.ty == *out
}

/// Indices of the inputs an elementwise result may overwrite.
pub(super) fn in_place(signature: &Signature) -> Vec<(usize, usize)> {
    let fits = |input: &usize| same_storage(&signature.inputs[*input], &signature.outputs[0]);
    (0..signature.inputs.len())
        .filter(fits)
        .map(|input| (0, input))
        .collect()
}

/// The elements of an input, or `None` where they are in the output.
pub(super) fn operand<'a, T: Element>(
    args: &Args<'a>,
    index: usize,
) -> Result<Option<&'a [T]>, KernelError> {
    match args.inputs.get(index).copied().flatten() {
        Some(view) => Ok(Some(view.slice::<T>()?)),
        None => Ok(None),
    }
}

pub(super) fn build_unary(
    op: &dyn Op,
    signature: &Signature,
    target: Target,
) -> Option<Box<dyn Kernel>> {
    let kind = op.as_any().downcast_ref::<Unary>()?.kind;
    let (out, level) = (&signature.outputs[0], target.level());
    with_wide!(out.dtype, A => {
        let (io, x) = (A::io(out.dtype)?, Reader::<A>::new(&signature.inputs[0], &out.shape)?);
        CpuKernel::new(format!("unary.{}", level.name()), move |args| {
            let x = x.source(args, 0);
            let pool = args.pool;
            pool.chunks_mut(args.outputs[0].data, CHUNK * io.size, |chunk, out| {
                let mut buffers = [[0.0; BLOCK]; 2];
                let [from, to] = &mut buffers;
                for (index, out) in out.chunks_mut(BLOCK * io.size).enumerate() {
                    let from = &mut from[..out.len() / io.size];
                    let from = x.read(level, chunk * CHUNK + index * BLOCK, out, from);
                    io.compute(level, out, to, |to| apply_unary(level, kind, from, to));
                }
            });
            Ok(())
        })
        .in_place(in_place(signature))
        .build()
    })
}

simd! {
    fn apply_unary [A: Acc] (kind: UnaryKind, x: &[A], y: &mut [A]) {
        use UnaryKind as K;
        match kind {
            K::Neg => map(x, y, |x| -x),
            K::Abs => map(x, y, A::abs),
            K::Exp => map(x, y, A::exp),
            K::Log => map(x, y, A::ln),
            K::Sqrt => map(x, y, A::sqrt),
            K::Rsqrt => map(x, y, |x| A::ONE / x.sqrt()),
            K::Reciprocal => map(x, y, |x| A::ONE / x),
            K::Square => map(x, y, |x| x * x),
            K::Tanh => map(x, y, A::tanh),
            K::Sigmoid => map(x, y, A::sigmoid),
            K::Silu => map(x, y, |x| x * x.sigmoid()),
            K::Gelu => map(x, y, gelu),
            K::Relu => map(x, y, |x| x.larger(A::ZERO)),
            K::Sin => map(x, y, A::sin),
            K::Cos => map(x, y, A::cos),
        }
    }
}

#[inline(always)]
fn map<A: Acc>(x: &[A], y: &mut [A], f: impl Fn(A) -> A) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = f(*x);
    }
}

/// `2 sqrt(2/pi)`: with it, `0.5 (1 + tanh(u))` is `sigmoid(2u)`.
const GELU_SLOPE: f64 = 1.595_769_121_605_730_9;
const GELU_CUBE: f64 = 0.044_715;

/// `x sigmoid(2u)` with `u = sqrt(2/pi) (x + 0.044715 x^3)`: GELU's tanh form.
#[inline(always)]
pub(super) fn gelu<A: Acc>(x: A) -> A {
    let (slope, cube) = (A::constant(GELU_SLOPE), A::constant(GELU_CUBE));
    x * (slope * (x + cube * (x * x * x))).sigmoid()
}

/// GELU and its slope.
#[inline(always)]
pub(super) fn gelu_and_slope<A: Acc>(x: A) -> (A, A) {
    let (slope, cube) = (A::constant(GELU_SLOPE), A::constant(GELU_CUBE));
    let square = x * x;
    let s = (slope * (x + cube * (x * square))).sigmoid();
    let inner = slope * (A::ONE + A::constant(3.0 * GELU_CUBE) * square);
    (x * s, s + x * (s * (A::ONE - s)) * inner)
}

pub(super) fn build_binary(
    op: &dyn Op,
    signature: &Signature,
    target: Target,
) -> Option<Box<dyn Kernel>> {
    let kind = op.as_any().downcast_ref::<Binary>()?.kind;
    let (out, level) = (&signature.outputs[0], target.level());
    with_wide!(out.dtype, A => {
        let io = A::io(out.dtype)?;
        let a = Reader::<A>::new(&signature.inputs[0], &out.shape)?;
        let b = Reader::<A>::new(&signature.inputs[1], &out.shape)?;
        CpuKernel::new(format!("binary.{}", level.name()), move |args| {
            let (a, b) = (a.source(args, 0), b.source(args, 1));
            let pool = args.pool;
            pool.chunks_mut(args.outputs[0].data, CHUNK * io.size, |chunk, out| {
                let mut buffers = [[0.0; BLOCK]; 3];
                let [block_a, block_b, to] = &mut buffers;
                for (index, out) in out.chunks_mut(BLOCK * io.size).enumerate() {
                    let (start, len) = (chunk * CHUNK + index * BLOCK, out.len() / io.size);
                    let a = a.read(level, start, out, &mut block_a[..len]);
                    let b = b.read(level, start, out, &mut block_b[..len]);
                    io.compute(level, out, to, |to| apply_binary(level, kind, a, b, to));
                }
            });
            Ok(())
        })
        .in_place(in_place(signature))
        .build()
    })
}

simd! {
    fn apply_binary [A: Acc] (kind: BinaryKind, a: &[A], b: &[A], to: &mut [A]) {
        use BinaryKind as K;
        let flag = |yes: bool| if yes { A::ONE } else { A::ZERO };
        match kind {
            K::Add => zip(a, b, to, |a, b| a + b),
            K::Sub => zip(a, b, to, |a, b| a - b),
            K::Mul => zip(a, b, to, |a, b| a * b),
            K::Div => zip(a, b, to, |a, b| a / b),
            K::Max => zip(a, b, to, A::larger),
            K::Min => zip(a, b, to, A::smaller),
            K::Greater => zip(a, b, to, |a, b| flag(a > b)),
            K::GreaterEqual => zip(a, b, to, |a, b| flag(a >= b)),
            K::Equal => zip(a, b, to, |a, b| flag(a == b)),
        }
    }
}

#[inline(always)]
fn zip<A: Acc>(a: &[A], b: &[A], to: &mut [A], f: impl Fn(A, A) -> A) {
    for (to, (a, b)) in to.iter_mut().zip(a.iter().zip(b)) {
        *to = f(*a, *b);
    }
}

pub(super) fn build_select(
    op: &dyn Op,
    signature: &Signature,
    target: Target,
) -> Option<Box<dyn Kernel>> {
    op.as_any().downcast_ref::<Select>()?;
    let out = &signature.outputs[0];
    let order = |input: usize| Gather::broadcast(&signature.inputs[input], &out.shape);
    let (order_a, order_b) = (order(1)?, order(2)?);
    let condition = match signature.inputs[0].ty.dtype {
        // Truth values are bytes.
        DType::Bool => DType::U8,
        dtype => dtype,
    };
    let condition = Operand {
        ty: signature.inputs[0].ty.with_dtype(condition),
        strides: signature.inputs[0].strides.clone(),
    };
    let condition = Reader::<f64>::new(&condition, &out.shape)?;
    let level = target.level();
    with_bits!(out.dtype, T => {
        CpuKernel::new("select".to_owned(), move |args| {
            let c = condition.input(args, 0)?;
            let a: &[T] = bytemuck::cast_slice(args.input(1)?.data);
            let b: &[T] = bytemuck::cast_slice(args.input(2)?.data);
            let pool = args.pool;
            let out: &mut [T] = bytemuck::cast_slice_mut(args.outputs[0].data);
            pool.chunks_mut(out, CHUNK, |chunk, out| {
                let (mut mask, mut other) = ([0.0; BLOCK], [0; BLOCK]);
                for (index, out) in out.chunks_mut(BLOCK).enumerate() {
                    let start = chunk * CHUNK + index * BLOCK;
                    let (mask, other) = (&mut mask[..out.len()], &mut other[..out.len()]);
                    let mask = c.read(level, start, &[], mask);
                    order_a.copy(a, start, out);
                    order_b.copy(b, start, other);
                    for ((out, other), keep) in out.iter_mut().zip(other).zip(mask) {
                        *out = if *keep != 0.0 { *out } else { *other };
                    }
                }
            });
            Ok(())
        })
        .build()
    })
}
