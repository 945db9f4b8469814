//! Functions of one element, and of two with broadcasting.

use cairn_formats::DType;
use cairn_graph::Op;
use cairn_graph::ops::{Binary, BinaryKind, Unary, UnaryKind};
use cairn_tensor::Signature;

use super::geometry::{Geometry, stretched};
use super::{BLOCKS, RUNS, address, attributes, place, plain, result, suffix};
use crate::args::Arg;
use crate::backend::Plan;

/// Rows that a workgroup takes one after the other where one array has one row for all.
const BAND: usize = 16;

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
        let (a, b) = (place(args, 0, 0)?, place(args, 1, 0)?);
        // Elements may begin anywhere where an operand is a view.
        let aligned = |arg: &Arg| address(arg.clone()).is_ok_and(|at| at.0.is_multiple_of(16));
        let run = 16 / bytes;
        let rows = geometry.one_row(run).filter(|_| aligned(&a) && aligned(&b));
        let (groups, band) = match rows {
            Some((rows, columns)) => (columns.div_ceil(256 * run) * rows.div_ceil(BAND), BAND),
            None => (geometry.count().div_ceil(RUNS), 0),
        };
        let given = [
            a,
            b,
            result(args, 0)?,
            geometry.arg(geometry.at_once(bytes)),
            Arg::U32(number),
            Arg::U32(band as u32),
        ];
        kernels.launch(&name, groups as u64, &given)
    });
    Some(plan.in_place(&[(0, 0), (0, 1)]))
}
