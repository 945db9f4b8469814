//! Functions of one element, and of two with broadcasting.

use cairn_formats::DType;
use cairn_graph::Op;
use cairn_graph::ops::{Binary, BinaryKind, Unary, UnaryKind};
use cairn_tensor::Signature;

use super::geometry::{Geometry, stretched};
use super::{BLOCKS, RUNS, attributes, place, plain, result, suffix};
use crate::args::Arg;
use crate::backend::Plan;

pub(super) fn find(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    unary(op, signature).or_else(|| binary(op, signature))
}

/// The number of a kind in `kernels/functions.hip`.
fn unary_number(kind: UnaryKind) -> u32 {
    match kind {
        UnaryKind::Neg => 0,
        UnaryKind::Abs => 1,
        UnaryKind::Exp => 2,
        UnaryKind::Sqrt => 3,
        UnaryKind::Rsqrt => 4,
        UnaryKind::Reciprocal => 5,
        UnaryKind::Square => 6,
        UnaryKind::Sigmoid => 7,
        UnaryKind::Silu => 8,
        UnaryKind::Relu => 9,
        UnaryKind::Log => 10,
        UnaryKind::Tanh => 11,
        UnaryKind::Gelu => 12,
        UnaryKind::Sin => 13,
        UnaryKind::Cos => 14,
    }
}

fn binary_number(kind: BinaryKind) -> u32 {
    match kind {
        BinaryKind::Add => 0,
        BinaryKind::Sub => 1,
        BinaryKind::Mul => 2,
        BinaryKind::Div => 3,
        BinaryKind::Max => 4,
        BinaryKind::Min => 5,
        BinaryKind::Greater => 6,
        BinaryKind::GreaterEqual => 7,
        BinaryKind::Equal => 8,
    }
}

fn unary(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let number = unary_number(attributes::<Unary>(op)?.kind);
    let name = format!("unary_{}", plain(signature)?);
    let count = signature.outputs[0].shape.num_elements();
    let plan = Plan::new([name.clone()], move |kernels, args| {
        let given = [
            place(args, 0, 0)?,
            result(args, 0)?,
            Arg::U64(count as u64),
            Arg::U32(number),
        ];
        kernels.launch(&name, count.div_ceil(BLOCKS) as u64, &given)
    });
    Some(plan.in_place(&[(0, 0)]))
}

fn binary(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let number = binary_number(attributes::<Binary>(op)?.kind);
    let [a, b] = signature.inputs.as_slice() else {
        return None;
    };
    let out = &signature.outputs[0];
    let same = a.ty.dtype == out.dtype && b.ty.dtype == out.dtype;
    let dtype = match out.dtype {
        DType::F64 => "f64",
        other => suffix(other)?,
    };
    let name = format!("binary_{dtype}");
    let bytes = out.dtype.bytes(1);
    let strides =
        [a, b].map(|operand| stretched(&operand.ty.shape, operand.strides.as_deref(), &out.shape));
    let geometry = Geometry::new(out.shape.dims(), &strides).filter(|_| same)?;
    let plan = Plan::new([name.clone()], move |kernels, args| {
        let given = [
            place(args, 0, 0)?,
            place(args, 1, 0)?,
            result(args, 0)?,
            geometry.arg(geometry.at_once(bytes)),
            Arg::U32(number),
        ];
        kernels.launch(&name, geometry.count().div_ceil(RUNS) as u64, &given)
    });
    Some(plan.in_place(&[(0, 0), (0, 1)]))
}
