//! A product with what follows it: the product in f32, then bias, activation and residual
//! in one pass that rounds.

use cairn_formats::DType;
use cairn_graph::Op;
use cairn_graph::ops::{FusedMatMul, UnaryKind};

use super::elementwise::{gelu, operand, same_storage};
use super::gemm::{GemmArgs, OperandB};
use super::kernel::CpuKernel;
use super::num::{Acc, Num, with_float};
use super::simd::simd;
use super::softmax::rows_per_chunk;
use super::{Target, matmul, scratch};
use crate::backend::{Kernel, Signature};
use crate::error::KernelError;

pub(super) fn build(op: &dyn Op, signature: &Signature, target: Target) -> Option<Box<dyn Kernel>> {
    let op = op.as_any().downcast_ref::<FusedMatMul>()?;
    let out = &signature.outputs[0];
    if signature.inputs[2..]
        .iter()
        .any(|input| input.strides.is_some())
    {
        return None;
    }
    let wide = if out.dtype == DType::F64 {
        DType::F64
    } else {
        DType::F32
    };
    let plan = matmul::plan(&op.product, signature, wide, false, target)?;
    let (count, columns, level) = (out.shape.num_elements(), out.shape.last(), target.level());
    let piece = (rows_per_chunk(columns) * columns).max(1);
    let (bias_input, residual_input) = (op.bias_input(), op.residual_input());
    let activation = op.activation;
    let in_place: Vec<(usize, usize)> = residual_input
        .filter(|input| same_storage(&signature.inputs[*input], out))
        .map(|input| (0, input))
        .into_iter()
        .collect();
    with_float!(out.dtype, T => {
        type A = <T as Num>::Acc;
        let bytes = scratch::bytes::<A>(count) + plan.scratch_bytes();
        CpuKernel::new(format!("fused_matmul.{}", plan.kernel_name()), move |args| {
            let (a, b) = (args.input(0)?.data, args.input(1)?.data);
            let bias = match bias_input {
                Some(input) => Some(args.input(input)?.slice::<T>()?),
                None => None,
            };
            let residual = match residual_input {
                Some(input) => operand::<T>(args, input)?,
                None => None,
            };
            let mut space = &mut *args.scratch;
            let sums = scratch::take::<A>(&mut space, count);
            let call = GemmArgs {
                a,
                b: OperandB::Plain(b),
                c: bytemuck::cast_slice_mut(sums),
                bias: None,
                scratch: space,
            };
            plan.run(call, args.pool).map_err(|error| KernelError(error.to_string()))?;
            let sums = &*sums;
            let pool = args.pool;
            pool.chunks_mut(args.outputs[0].slice::<T>()?, piece, |chunk, out| {
                let part = chunk * piece..chunk * piece + out.len();
                if let Some(residual) = residual {
                    out.copy_from_slice(&residual[part.clone()]);
                }
                for (out, sums) in out.chunks_mut(columns).zip(sums[part].chunks(columns)) {
                    finish(level, activation, bias, residual_input.is_some(), sums, out);
                }
            });
            Ok(())
        })
        .scratch_bytes(bytes)
        .in_place(in_place)
        .build()
    })
}

simd! {
    fn finish [T: Num] (
        activation: Option<UnaryKind>, bias: Option<&[T]>, add: bool, sums: &[T::Acc], out: &mut [T]
    ) {
        match activation {
            Some(UnaryKind::Relu) => each(bias, add, sums, out, |x: T::Acc| x.larger(T::Acc::ZERO)),
            Some(UnaryKind::Silu) => each(bias, add, sums, out, |x: T::Acc| x * x.sigmoid()),
            Some(UnaryKind::Gelu) => each(bias, add, sums, out, gelu),
            _ => each(bias, add, sums, out, |x: T::Acc| x),
        }
    }
}

#[inline(always)]
fn each<T: Num>(
    bias: Option<&[T]>,
    add: bool,
    sums: &[T::Acc],
    out: &mut [T],
    f: impl Fn(T::Acc) -> T::Acc,
) {
    for (at, (out, sum)) in out.iter_mut().zip(sums).enumerate() {
        let sum = bias.map_or(*sum, |bias| *sum + bias[at].up());
        let value = f(sum);
        *out = T::down(if add { value + out.up() } else { value });
    }
}
