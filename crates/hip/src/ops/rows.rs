//! Softmax and RMSNorm: a row at a time.

use cairn_formats::DType;
use cairn_graph::Op;
use cairn_graph::ops::{RmsNorm, RmsNormGrad, Softmax, SoftmaxGrad};
use cairn_tensor::Signature;

use super::{attributes, operand, plain, result, rows_and_columns, scratch, size, suffix};
use crate::args::Arg;
use crate::backend::Plan;

/// Rows of a band of the weight's gradient.
const BAND: usize = 32;

/// Workgroups of `teams` that handle rows, as `kernels/include/rows.h` says: a team is a
/// wave of eight where rows are short and aligned.
pub(super) fn groups(teams: usize, dtype: DType, columns: usize) -> u64 {
    let aligned = columns.is_multiple_of(if dtype == DType::F32 { 4 } else { 8 });
    let waves = if aligned && columns <= 512 { 8 } else { 1 };
    teams.div_ceil(waves) as u64
}

/// Rows that a team handles one after the other, so that it keeps the weight: as many as
/// leave enough teams for a GPU.
pub(super) fn rows_each(rows: usize) -> usize {
    (rows / 340).clamp(1, 24)
}

pub(super) fn find(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    softmax(op, signature)
        .or_else(|| softmax_grad(op, signature))
        .or_else(|| rmsnorm(op, signature))
        .or_else(|| rmsnorm_grad(op, signature))
}

/// `softmax_` or, of the logarithm, `softmax_log_`.
fn stem(log: bool) -> &'static str {
    if log { "softmax_log" } else { "softmax" }
}

fn softmax(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let log = attributes::<Softmax>(op)?.log;
    let name = format!("{}_forward_{}", stem(log), plain(signature)?);
    let (rows, columns) = rows_and_columns(&signature.outputs[0].shape)?;
    let groups = groups(rows, signature.outputs[0].dtype, columns);
    let (rows, columns) = (size(rows)?, size(columns)?);
    Some(Plan::new([name.clone()], move |kernels, args| {
        let given = [
            operand(args, 0)?,
            result(args, 0)?,
            Arg::U32(rows),
            Arg::U32(columns),
        ];
        kernels.launch(&name, groups, &given)
    }))
}

fn softmax_grad(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let log = attributes::<SoftmaxGrad>(op)?.log;
    let name = format!("{}_backward_{}", stem(log), plain(signature)?);
    let (rows, columns) = rows_and_columns(&signature.outputs[0].shape)?;
    let groups = groups(rows, signature.outputs[0].dtype, columns);
    let (rows, columns) = (size(rows)?, size(columns)?);
    Some(Plan::new([name.clone()], move |kernels, args| {
        let given = [
            operand(args, 1)?,
            operand(args, 0)?,
            result(args, 0)?,
            Arg::U32(rows),
            Arg::U32(columns),
        ];
        kernels.launch(&name, groups, &given)
    }))
}

/// How kernels name rows of one dtype beside a weight of another.
pub(super) fn with_weight(rows: DType, weight: DType) -> Option<String> {
    let own = suffix(rows)?;
    match weight {
        same if same == rows => Some(own.to_owned()),
        DType::F32 => Some(format!("{own}_wide")),
        _ => None,
    }
}

fn rmsnorm(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let eps = attributes::<RmsNorm>(op)?.eps as f32;
    let [x, weight] = signature.inputs.as_slice() else {
        return None;
    };
    let own = with_weight(x.ty.dtype, weight.ty.dtype).filter(|_| signature.is_contiguous())?;
    let name = format!("rmsnorm_forward_{own}");
    let (rows, columns) = rows_and_columns(&x.ty.shape)?;
    let each = rows_each(rows);
    let groups = groups(rows.div_ceil(each), x.ty.dtype, columns);
    let (rows, columns) = (size(rows)?, size(columns)?);
    Some(Plan::new([name.clone()], move |kernels, args| {
        let given = [
            operand(args, 0)?,
            operand(args, 1)?,
            result(args, 0)?,
            result(args, 1)?,
            Arg::U32(rows),
            Arg::U32(columns),
            Arg::U32(each as u32),
            Arg::F32(eps),
        ];
        kernels.launch(&name, groups, &given)
    }))
}

/// x, weight, rstd, dy (, residual) -> dx, dweight, in two ordered stages.
fn rmsnorm_grad(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let weight_dtype = attributes::<RmsNormGrad>(op)?.weight_dtype;
    let [x, weight, _, _, rest @ ..] = signature.inputs.as_slice() else {
        return None;
    };
    let own = with_weight(x.ty.dtype, weight.ty.dtype).filter(|_| signature.is_contiguous())?;
    let residual = !rest.is_empty();
    let rows_kernel = format!(
        "rmsnorm_backward_rows_{}{own}",
        if residual { "add_" } else { "" }
    );
    let weight_kernel = format!("rmsnorm_backward_weight_{}", suffix(weight_dtype)?);
    let (rows, columns) = rows_and_columns(&x.ty.shape)?;
    let bands = rows.div_ceil(BAND);
    let groups = groups(bands, x.ty.dtype, columns);
    let (rows, columns) = (size(rows)?, size(columns)?);
    let names = [rows_kernel.clone(), weight_kernel.clone()];
    let plan = Plan::new(names, move |kernels, args| {
        let mut given = vec![
            operand(args, 3)?,
            operand(args, 0)?,
            operand(args, 1)?,
            operand(args, 2)?,
        ];
        if residual {
            given.push(operand(args, 4)?);
        }
        given.extend([
            result(args, 0)?,
            scratch(args, 0),
            Arg::U32(rows),
            Arg::U32(columns),
        ]);
        kernels.launch(&rows_kernel, groups, &given)?;
        let given = [
            scratch(args, 0),
            result(args, 1)?,
            Arg::U32(bands as u32),
            Arg::U32(columns),
        ];
        kernels.launch(&weight_kernel, u64::from(columns.div_ceil(256)), &given)
    });
    Some(plan.scratch(bands * columns as usize * 4))
}
