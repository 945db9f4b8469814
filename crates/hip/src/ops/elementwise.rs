//! Sums, products, gated units and casts of arrays that lie alike.

use cairn_formats::DType;
use cairn_graph::Op;
use cairn_graph::ops::{Binary, BinaryKind, Cast, Glu, GluGrad, GluKind};
use cairn_tensor::Signature;

use super::{attributes, operand, place, plain, result};
use crate::args::Arg;
use crate::backend::Plan;

/// Lanes of a workgroup.
const LANES: usize = 256;

pub(super) fn find(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    binary(op, signature)
        .or_else(|| glu(op, signature))
        .or_else(|| glu_grad(op, signature))
        .or_else(|| cast(op, signature))
}

/// Elements that a workgroup handles: 16 bytes a lane.
fn per_workgroup(bytes: usize) -> usize {
    LANES * 16 / bytes
}

fn count(signature: &Signature) -> usize {
    signature.outputs[0].shape.num_elements()
}

/// Kernels of the form `(a, b, out, count)`.
fn pairwise(kernel: String, signature: &Signature) -> Option<Plan> {
    let count = count(signature);
    let each = per_workgroup(signature.outputs[0].dtype.bytes(1));
    let name = kernel.clone();
    let plan = Plan::new([kernel], move |kernels, args| {
        kernels.launch(
            &name,
            count.div_ceil(each) as u64,
            &[
                place(args, 0, 0)?,
                place(args, 1, 0)?,
                result(args, 0)?,
                Arg::U64(count as u64),
            ],
        )
    });
    Some(plan.in_place(&[(0, 0), (0, 1)]))
}

fn binary(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let name = match attributes::<Binary>(op)?.kind {
        BinaryKind::Add => "add",
        BinaryKind::Mul => "mul",
        _ => return None,
    };
    let [a, b] = signature.inputs.as_slice() else {
        return None;
    };
    let suffix = plain(signature).filter(|_| a.ty.shape == b.ty.shape)?;
    pairwise(format!("{name}_{suffix}"), signature)
}

fn glu(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    if attributes::<Glu>(op)?.kind != GluKind::Swiglu {
        return None;
    }
    pairwise(format!("swiglu_{}", plain(signature)?), signature)
}

fn glu_grad(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    if attributes::<GluGrad>(op)?.kind != GluKind::Swiglu {
        return None;
    }
    let kernel = format!("swiglu_backward_{}", plain(signature)?);
    let count = count(signature);
    let each = per_workgroup(signature.outputs[0].dtype.bytes(1));
    let name = kernel.clone();
    Some(Plan::new([kernel], move |kernels, args| {
        kernels.launch(
            &name,
            count.div_ceil(each) as u64,
            &[
                operand(args, 2)?,
                operand(args, 0)?,
                operand(args, 1)?,
                result(args, 0)?,
                result(args, 1)?,
                Arg::U64(count as u64),
            ],
        )
    }))
}

fn cast(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    attributes::<Cast>(op)?;
    let from = signature
        .inputs
        .first()
        .filter(|input| input.strides.is_none())?;
    let kernel = match (from.ty.dtype, signature.outputs[0].dtype) {
        (DType::F32, DType::BF16) => "cast_f32_bf16",
        (DType::BF16, DType::F32) => "cast_bf16_f32",
        _ => return None,
    };
    let count = count(signature);
    Some(Plan::new([kernel.to_owned()], move |kernels, args| {
        kernels.launch(
            kernel,
            count.div_ceil(LANES * 4) as u64,
            &[operand(args, 0)?, result(args, 0)?, Arg::U64(count as u64)],
        )
    }))
}
