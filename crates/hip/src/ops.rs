//! Which kernels compute an operator: one file a family, as the operators are.
//!
//! Each function looks at an operator and the types and orders of its operands and
//! gives a plan, or `None` where no kernel takes them.

mod adamw;
mod attention;
mod cache;
mod copy;
mod cross_entropy;
mod elementwise;
mod embedding;
mod functions;
mod gemm;
mod geometry;
mod layernorm;
mod matmul;
mod reduce;
mod rope;
mod rows;

use cairn_formats::DType;
use cairn_graph::{Op, Shape};
use cairn_tensor::{Address, DeviceArgs, KernelError, Signature};

use crate::args::Arg;
use crate::backend::Plan;
use crate::tiles::Tiles;

/// Elements that a workgroup handles where a wave moves blocks of 512.
const BLOCKS: usize = 2048;

/// Elements that a workgroup handles where a lane moves runs of 16 bytes.
const RUNS: usize = 4096;

/// The plan for an operator on these operands.
pub(crate) fn find(op: &dyn Op, signature: &Signature, tiles: &Tiles) -> Option<Plan> {
    let product = matmul::find(op, signature, tiles);
    if product.is_some() {
        return product;
    }
    // Of two that compute an operator the first is the faster one.
    let families = [
        elementwise::find,
        functions::find,
        rows::find,
        attention::find,
        cross_entropy::find,
        embedding::find,
        rope::find,
        reduce::find,
        adamw::find,
        layernorm::find,
        cache::find,
        copy::find,
    ];
    families.iter().find_map(|family| family(op, signature))
}

/// The operator as one of these.
fn attributes<T: Clone + 'static>(op: &dyn Op) -> Option<T> {
    op.as_any().downcast_ref::<T>().cloned()
}

/// How kernels name a dtype that they compute in.
fn suffix(dtype: DType) -> Option<&'static str> {
    match dtype {
        DType::F32 => Some("f32"),
        DType::BF16 => Some("bf16"),
        _ => None,
    }
}

/// The dtype of all these operands, where they are contiguous and have one that
/// kernels compute in.
fn plain(signature: &Signature) -> Option<&'static str> {
    let dtype = signature.inputs.first()?.ty.dtype;
    let same = signature.inputs.iter().all(|input| input.ty.dtype == dtype);
    (same && signature.is_contiguous())
        .then(|| suffix(dtype))
        .flatten()
}

/// Rows and columns of a tensor whose last dim is a row.
fn rows_and_columns(shape: &Shape) -> Option<(usize, usize)> {
    let columns = shape.dims().last().copied()?;
    (columns > 0).then(|| (shape.num_elements() / columns, columns))
}

/// A size that a kernel takes in 32 bits.
fn size(value: usize) -> Option<u32> {
    u32::try_from(value).ok()
}

/// Where input `index` is: in the place of output `output` if it is computed there.
fn place(args: &DeviceArgs<'_>, index: usize, output: usize) -> Result<Arg, KernelError> {
    match args.inputs.get(index) {
        Some(None) => result(args, output),
        _ => operand(args, index),
    }
}

/// Where an input is.
fn operand(args: &DeviceArgs<'_>, index: usize) -> Result<Arg, KernelError> {
    Ok(Arg::Buffer(args.input(index)?.address))
}

/// Where an output is.
fn result(args: &DeviceArgs<'_>, index: usize) -> Result<Arg, KernelError> {
    let view = args.outputs.get(index);
    let view = view.ok_or_else(|| KernelError(format!("output {index} is missing")))?;
    Ok(Arg::Buffer(view.address))
}

/// The address in an argument.
fn address(arg: Arg) -> Result<Address, KernelError> {
    match arg {
        Arg::Buffer(address) => Ok(address),
        other => Err(KernelError(format!("{other:?} is no address"))),
    }
}

/// An address in the working space.
fn scratch(args: &DeviceArgs<'_>, offset: usize) -> Arg {
    Arg::Buffer(Address(args.scratch.0 + offset as u64))
}
