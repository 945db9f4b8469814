//! Sums, products, gated units, casts, choices and dropout of arrays that lie alike.

use cairn_formats::DType;
use cairn_graph::Op;
use cairn_graph::ops::{Binary, BinaryKind, Cast, Dropout, Glu, GluGrad, GluKind, Select};
use cairn_tensor::Signature;

use super::{BLOCKS, RUNS, attributes, operand, place, plain, result, suffix};
use crate::args::Arg;
use crate::backend::Plan;

pub(super) fn find(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    binary(op, signature)
        .or_else(|| glu(op, signature))
        .or_else(|| glu_grad(op, signature))
        .or_else(|| cast(op, signature))
        .or_else(|| select(op, signature))
        .or_else(|| dropout(op, signature))
}

fn count(signature: &Signature) -> usize {
    signature.outputs[0].shape.num_elements()
}

/// Kernels of the form `(a, b, out, count)`.
fn pairwise(kernel: String, signature: &Signature) -> Option<Plan> {
    let count = count(signature);
    let name = kernel.clone();
    let plan = Plan::new([kernel], move |kernels, args| {
        kernels.launch(
            &name,
            count.div_ceil(BLOCKS) as u64,
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

/// How kernels name a gated unit.
fn gated(kind: GluKind) -> &'static str {
    match kind {
        GluKind::Swiglu => "swiglu",
        GluKind::Geglu => "geglu",
    }
}

fn glu(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let name = gated(attributes::<Glu>(op)?.kind);
    pairwise(format!("{name}_{}", plain(signature)?), signature)
}

fn glu_grad(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let name = gated(attributes::<GluGrad>(op)?.kind);
    let kernel = format!("{name}_backward_{}", plain(signature)?);
    let count = count(signature);
    let name = kernel.clone();
    Some(Plan::new([kernel], move |kernels, args| {
        kernels.launch(
            &name,
            count.div_ceil(BLOCKS) as u64,
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

fn select(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    attributes::<Select>(op)?;
    let condition = signature.inputs.first()?.ty.dtype;
    let by = match condition {
        DType::I32 => "i32",
        DType::U8 => "u8",
        float => suffix(float)?,
    };
    let bits = signature.outputs[0].dtype.bits();
    let float = condition.is_float() && condition.bits() != bits;
    let name = format!("select_{by}_{bits}");
    let count = count(signature);
    let fits = [16, 32].contains(&bits) && !float && signature.is_contiguous();
    fits.then(|| {
        Plan::new([name.clone()], move |kernels, args| {
            let given = [
                operand(args, 0)?,
                operand(args, 1)?,
                operand(args, 2)?,
                result(args, 0)?,
                Arg::U64(count as u64),
            ];
            kernels.launch(&name, count.div_ceil(RUNS) as u64, &given)
        })
    })
}

fn dropout(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let op = attributes::<Dropout>(op)?;
    let x = signature
        .inputs
        .first()
        .filter(|_| signature.is_contiguous())?;
    let name = format!("dropout_{}", suffix(x.ty.dtype)?);
    let count = count(signature);
    let plan = Plan::new([name.clone()], move |kernels, args| {
        let given = [
            place(args, 0, 0)?,
            operand(args, 1)?,
            result(args, 0)?,
            Arg::U64(count as u64),
            Arg::U64(op.key),
            Arg::F32(op.p as f32),
            Arg::F32((1.0 - op.p) as f32),
        ];
        kernels.launch(&name, count.div_ceil(BLOCKS) as u64, &given)
    });
    Some(plan.in_place(&[(0, 0)]))
}

/// How `kernels/cast.hip` names a dtype.
fn cast_name(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::U8 => "u8",
        DType::I32 => "i32",
        DType::I64 => "i64",
        DType::F32 => "f32",
        DType::BF16 => "bf16",
        DType::F64 => "f64",
        _ => return None,
    })
}

fn cast(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    attributes::<Cast>(op)?;
    let from = signature
        .inputs
        .first()
        .filter(|input| input.strides.is_none())?;
    let (from, to) = (from.ty.dtype, signature.outputs[0].dtype);
    if from == to {
        return None;
    }
    // These two are of `kernels/elementwise.hip`.
    let floats = matches!(
        (from, to),
        (DType::F32, DType::BF16) | (DType::BF16, DType::F32)
    );
    let each = if floats { BLOCKS } else { RUNS };
    let kernel = format!("cast_{}_{}", cast_name(from)?, cast_name(to)?);
    let count = count(signature);
    Some(Plan::new([kernel.clone()], move |kernels, args| {
        let given = [operand(args, 0)?, result(args, 0)?, Arg::U64(count as u64)];
        kernels.launch(&kernel, count.div_ceil(each) as u64, &given)
    }))
}
