//! Reductions over dims, and sums of squares.

use cairn_formats::DType;
use cairn_graph::Op;
use cairn_graph::ops::{Reduce, ReduceKind, SumSquares};
use cairn_tensor::Signature;

use super::geometry::Geometry;
use super::{attributes, operand, result, scratch, size, suffix};
use crate::args::Arg;
use crate::backend::Plan;

/// Elements that a workgroup of `sum_squares_*` adds.
const BAND: usize = 16384;

/// Inputs of an element that a workgroup of `reduce_columns_*` takes.
const INPUTS: usize = 64;

pub(super) fn find(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    reduce(op, signature).or_else(|| sum_squares(op, signature))
}

fn reduce(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let op = attributes::<Reduce>(op)?;
    let input = signature.inputs.first()?;
    let same = signature.outputs[0].dtype == input.ty.dtype;
    let name = format!("reduce_{}", suffix(input.ty.dtype).filter(|_| same)?);
    let number = match op.kind {
        ReduceKind::Sum => 0,
        ReduceKind::Mean => 1,
        ReduceKind::Max => 2,
    };
    let shape = &input.ty.shape;
    let own = || shape.strides().to_vec();
    let strides = input.strides.clone().unwrap_or_else(own);
    let part = |reduced: bool| {
        let dims = (0..shape.ndim()).filter(|dim| op.dims.contains(dim) == reduced);
        let (sizes, strides): (Vec<_>, Vec<_>) = dims.map(|dim| (shape[dim], strides[dim])).unzip();
        Geometry::new(&sizes, &[strides])
    };
    let (kept, reduced) = (part(false)?, part(true)?);
    let bytes = input.ty.dtype.bytes(1);
    if kept.inner_stride() == Some(1) && reduced.inner_stride() != Some(1) {
        let own = suffix(input.ty.dtype)?;
        return Some(columns(kept, reduced, number, bytes, own));
    }
    Some(Plan::new([name.clone()], move |kernels, args| {
        let given = [
            operand(args, 0)?,
            result(args, 0)?,
            kept.arg(1),
            reduced.arg(1),
            Arg::U32(number),
        ];
        kernels.launch(&name, kept.count() as u64, &given)
    }))
}

/// Where what is kept lies behind each other: bands of inputs, then their parts.
fn columns(kept: Geometry, reduced: Geometry, number: u32, bytes: usize, own: &str) -> Plan {
    let columns = format!("reduce_columns_{own}");
    let sums = format!("reduce_bands_{own}");
    let bands = reduced.count().div_ceil(INPUTS).max(1);
    let mut names = vec![columns.clone()];
    if bands > 1 {
        names.push(sums.clone());
    }
    let run = kept.at_once(bytes);
    let whole = kept.count().is_multiple_of(run) && reduced.steps_by(run);
    let run = if whole { run } else { 1 };
    let parts = if bands > 1 {
        bands * kept.count() * 4
    } else {
        0
    };
    let plan = Plan::new(names, move |kernels, args| {
        // Elements may begin anywhere where the operand is a view.
        let aligned = args.input(0)?.address.0.is_multiple_of(16);
        let run = if aligned { run } else { 1 };
        let groups = kept.count().div_ceil(256 * run);
        let given = [
            operand(args, 0)?,
            result(args, 0)?,
            scratch(args, 0),
            kept.arg(run),
            reduced.arg(1),
            Arg::U32(groups as u32),
            Arg::U32(number),
        ];
        kernels.launch(&columns, (groups * bands) as u64, &given)?;
        if bands == 1 {
            return Ok(());
        }
        let given = [
            scratch(args, 0),
            result(args, 0)?,
            Arg::U32(bands as u32),
            Arg::U32(kept.count() as u32),
            Arg::U32(reduced.count() as u32),
            Arg::U32(number),
        ];
        kernels.launch(&sums, kept.count().div_ceil(1024) as u64, &given)
    });
    plan.scratch(parts)
}

/// Parts of all inputs one after the other, then their sum.
fn sum_squares(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    attributes::<SumSquares>(op)?;
    if !signature.is_contiguous() || signature.outputs[0].dtype != DType::F32 {
        return None;
    }
    let mut inputs = Vec::new();
    let mut parts = 0;
    for input in &signature.inputs {
        let name = format!("sum_squares_{}", suffix(input.ty.dtype)?);
        let count = input.ty.shape.num_elements();
        let own = count.div_ceil(BAND);
        inputs.push((name, count, own, parts));
        parts += own;
    }
    let total = size(parts)?;
    let mut names: Vec<String> = inputs.iter().map(|(name, ..)| name.clone()).collect();
    names.sort_unstable();
    names.dedup();
    names.push("sum_parts".to_owned());
    let plan = Plan::new(names, move |kernels, args| {
        for (index, (name, count, own, first)) in inputs.iter().enumerate() {
            let given = [
                operand(args, index)?,
                scratch(args, first * 4),
                Arg::U64(*count as u64),
            ];
            kernels.launch(name, *own as u64, &given)?;
        }
        let given = [scratch(args, 0), result(args, 0)?, Arg::U32(total)];
        kernels.launch("sum_parts", 1, &given)
    });
    Some(plan.scratch(parts * 4))
}
