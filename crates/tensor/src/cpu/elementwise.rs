//! Elementwise operators: blocks of elements are widened on the stack, computed and
//! rounded once.

use cairn_formats::DType;
use cairn_graph::Op;
use cairn_graph::ops::{Binary, BinaryKind, Select, Unary, UnaryKind};

use super::Target;
use super::gather::{BLOCK, Gather};
use super::kernel::CpuKernel;
use super::num::{Acc, Num, with_float};
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

/// An operand read in the order of the output.
#[derive(Clone, Copy)]
struct Source<'a, T> {
    /// `None` where the elements are in the output.
    data: Option<&'a [T]>,
    order: Gather,
}

impl<T: Num> Source<'_, T> {
    /// Elements `start ..`; `out` holds the same elements of the output.
    #[inline(always)]
    fn load(&self, start: usize, out: &[T], to: &mut [T::Acc]) {
        match self.data {
            Some(data) => self.order.load(data, start, to),
            None => {
                for (to, from) in to.iter_mut().zip(out) {
                    *to = from.up();
                }
            }
        }
    }
}

#[inline(always)]
fn store<T: Num>(from: &[T::Acc], to: &mut [T]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = T::down(*from);
    }
}

pub(super) fn build_unary(
    op: &dyn Op,
    signature: &Signature,
    target: Target,
) -> Option<Box<dyn Kernel>> {
    let kind = op.as_any().downcast_ref::<Unary>()?.kind;
    let order = Gather::broadcast(&signature.inputs[0], &signature.outputs[0].shape)?;
    let level = target.level();
    with_float!(signature.outputs[0].dtype, T => {
        CpuKernel::new(format!("unary.{}", level.name()), move |args| {
            let source = Source { data: operand::<T>(args, 0)?, order };
            let pool = args.pool;
            pool.chunks_mut(args.outputs[0].slice::<T>()?, CHUNK, |chunk, out| {
                unary(level, kind, source, chunk * CHUNK, out);
            });
            Ok(())
        })
        .in_place(in_place(signature))
        .build()
    })
}

simd! {
    fn unary [T: Num] (kind: UnaryKind, x: Source<'_, T>, first: usize, out: &mut [T]) {
        let mut block = [T::Acc::ZERO; BLOCK];
        for (index, out) in out.chunks_mut(BLOCK).enumerate() {
            let block = &mut block[..out.len()];
            x.load(first + index * BLOCK, out, block);
            apply_unary(kind, block);
            store(block, out);
        }
    }
}

#[inline(always)]
fn apply_unary<A: Acc>(kind: UnaryKind, x: &mut [A]) {
    use UnaryKind as K;
    match kind {
        K::Neg => map(x, |x| -x),
        K::Abs => map(x, A::abs),
        K::Exp => map(x, A::exp),
        K::Log => map(x, A::ln),
        K::Sqrt => map(x, A::sqrt),
        K::Rsqrt => map(x, |x| A::ONE / x.sqrt()),
        K::Reciprocal => map(x, |x| A::ONE / x),
        K::Square => map(x, |x| x * x),
        K::Tanh => map(x, A::tanh),
        K::Sigmoid => map(x, A::sigmoid),
        K::Silu => map(x, |x| x * x.sigmoid()),
        K::Gelu => map(x, gelu),
        K::Relu => map(x, |x| x.larger(A::ZERO)),
        K::Sin => map(x, A::sin),
        K::Cos => map(x, A::cos),
    }
}

#[inline(always)]
fn map<A: Acc>(x: &mut [A], f: impl Fn(A) -> A) {
    for x in x {
        *x = f(*x);
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
    let shape = &signature.outputs[0].shape;
    let order_a = Gather::broadcast(&signature.inputs[0], shape)?;
    let order_b = Gather::broadcast(&signature.inputs[1], shape)?;
    let level = target.level();
    with_element!(signature.outputs[0].dtype, T => {
        CpuKernel::new(format!("binary.{}", level.name()), move |args| {
            let a = Source { data: operand::<T>(args, 0)?, order: order_a };
            let b = Source { data: operand::<T>(args, 1)?, order: order_b };
            let pool = args.pool;
            pool.chunks_mut(args.outputs[0].slice::<T>()?, CHUNK, |chunk, out| {
                binary(level, kind, a, b, chunk * CHUNK, out);
            });
            Ok(())
        })
        .in_place(in_place(signature))
        .build()
    }, None)
}

simd! {
    fn binary [T: Num] (
        kind: BinaryKind,
        a: Source<'_, T>,
        b: Source<'_, T>,
        first: usize,
        out: &mut [T],
    ) {
        let mut block_a = [T::Acc::ZERO; BLOCK];
        let mut block_b = [T::Acc::ZERO; BLOCK];
        for (index, out) in out.chunks_mut(BLOCK).enumerate() {
            let (block_a, block_b) = (&mut block_a[..out.len()], &mut block_b[..out.len()]);
            a.load(first + index * BLOCK, out, block_a);
            b.load(first + index * BLOCK, out, block_b);
            apply_binary(kind, block_a, block_b);
            store(block_a, out);
        }
    }
}

#[inline(always)]
fn apply_binary<A: Acc>(kind: BinaryKind, a: &mut [A], b: &[A]) {
    use BinaryKind as K;
    let flag = |yes: bool| if yes { A::ONE } else { A::ZERO };
    match kind {
        K::Add => zip(a, b, |a, b| a + b),
        K::Sub => zip(a, b, |a, b| a - b),
        K::Mul => zip(a, b, |a, b| a * b),
        K::Div => zip(a, b, |a, b| a / b),
        K::Max => zip(a, b, A::larger),
        K::Min => zip(a, b, A::smaller),
        K::Greater => zip(a, b, |a, b| flag(a > b)),
        K::GreaterEqual => zip(a, b, |a, b| flag(a >= b)),
        K::Equal => zip(a, b, |a, b| flag(a == b)),
    }
}

#[inline(always)]
fn zip<A: Acc>(a: &mut [A], b: &[A], f: impl Fn(A, A) -> A) {
    for (a, b) in a.iter_mut().zip(b) {
        *a = f(*a, *b);
    }
}

pub(super) fn build_select(
    op: &dyn Op,
    signature: &Signature,
    _: Target,
) -> Option<Box<dyn Kernel>> {
    op.as_any().downcast_ref::<Select>()?;
    let out = &signature.outputs[0];
    let order = |input: usize| Gather::broadcast(&signature.inputs[input], &out.shape);
    let (order_c, order_a, order_b) = (order(0)?, order(1)?, order(2)?);
    let condition = match signature.inputs[0].ty.dtype {
        DType::Bool => DType::U8,
        dtype => dtype,
    };
    let nonzero = with_element!(condition, T => nonzero::<T> as Nonzero, return None);
    with_element!(out.dtype, T => {
        CpuKernel::new("select".to_owned(), move |args| {
            let c = args.input(0)?.data;
            let (a, b) = (args.input(1)?.slice::<T>()?, args.input(2)?.slice::<T>()?);
            let pool = args.pool;
            pool.chunks_mut(args.outputs[0].slice::<T>()?, CHUNK, |chunk, out| {
                let (mut mask, mut other) = ([false; BLOCK], [T::from_f64(0.0); BLOCK]);
                for (index, out) in out.chunks_mut(BLOCK).enumerate() {
                    let start = chunk * CHUNK + index * BLOCK;
                    let (mask, other) = (&mut mask[..out.len()], &mut other[..out.len()]);
                    nonzero(&order_c, c, start, mask);
                    order_a.copy(a, start, out);
                    order_b.copy(b, start, other);
                    for ((out, other), keep) in out.iter_mut().zip(other).zip(mask) {
                        *out = if *keep { *out } else { *other };
                    }
                }
            });
            Ok(())
        })
        .build()
    }, None)
}

type Nonzero = fn(&Gather, &[u8], usize, &mut [bool]);

fn nonzero<T: Num>(order: &Gather, condition: &[u8], start: usize, to: &mut [bool]) {
    let condition: &[T] = bytemuck::cast_slice(condition);
    let mut block = [T::Acc::ZERO; BLOCK];
    let block = &mut block[..to.len()];
    order.load(condition, start, block);
    for (to, from) in to.iter_mut().zip(block) {
        *to = *from != T::Acc::ZERO;
    }
}
