//! LayerNorm and its gradients.

use cairn_graph::Op;
use cairn_graph::ops::{LayerNorm, LayerNormGrad};
use cairn_tensor::Signature;

use super::rows::{groups, rows_each, with_weight};
use super::{attributes, operand, result, rows_and_columns, scratch, size, suffix};
use crate::args::Arg;
use crate::backend::Plan;

/// Rows of a band of the gradients of weight and bias.
const BAND: usize = 40;

pub(super) fn find(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    forward(op, signature).or_else(|| backward(op, signature))
}

fn forward(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let eps = attributes::<LayerNorm>(op)?.eps as f32;
    let [x, weight, bias] = signature.inputs.as_slice() else {
        return None;
    };
    let alike = weight.ty == bias.ty && signature.is_contiguous();
    let own = with_weight(x.ty.dtype, weight.ty.dtype).filter(|_| alike)?;
    let name = format!("layernorm_forward_{own}");
    let (rows, columns) = rows_and_columns(&x.ty.shape)?;
    let each = rows_each(rows);
    let groups = groups(rows.div_ceil(each), x.ty.dtype, columns);
    let (rows, columns) = (size(rows)?, size(columns)?);
    Some(Plan::new([name.clone()], move |kernels, args| {
        let given = [
            operand(args, 0)?,
            operand(args, 1)?,
            operand(args, 2)?,
            result(args, 0)?,
            result(args, 1)?,
            result(args, 2)?,
            Arg::U32(rows),
            Arg::U32(columns),
            Arg::U32(each as u32),
            Arg::F32(eps),
        ];
        kernels.launch(&name, groups, &given)
    }))
}

/// x, weight, mean, rstd, dy -> dx, dweight, dbias, in two ordered stages.
fn backward(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let weight_dtype = attributes::<LayerNormGrad>(op)?.weight_dtype;
    let (x, weight) = (signature.inputs.first()?, signature.inputs.get(1)?);
    let own = with_weight(x.ty.dtype, weight.ty.dtype).filter(|_| signature.is_contiguous())?;
    let rows_kernel = format!("layernorm_backward_{own}");
    let sum_kernel = format!("rmsnorm_backward_weight_{}", suffix(weight_dtype)?);
    let (rows, columns) = rows_and_columns(&x.ty.shape)?;
    let bands = rows.div_ceil(BAND);
    let groups = groups(bands, x.ty.dtype, columns);
    let parts = (bands * columns * 4).next_multiple_of(16);
    let (rows, columns) = (size(rows)?, size(columns)?);
    let names = [rows_kernel.clone(), sum_kernel.clone()];
    let plan = Plan::new(names, move |kernels, args| {
        let given = [
            operand(args, 4)?,
            operand(args, 0)?,
            operand(args, 1)?,
            operand(args, 2)?,
            operand(args, 3)?,
            result(args, 0)?,
            scratch(args, 0),
            scratch(args, parts),
            Arg::U32(rows),
            Arg::U32(columns),
        ];
        kernels.launch(&rows_kernel, groups, &given)?;
        for output in 0..2 {
            let given = [
                scratch(args, output * parts),
                result(args, output + 1)?,
                Arg::U32(bands as u32),
                Arg::U32(columns),
            ];
            kernels.launch(&sum_kernel, u64::from(columns.div_ceil(256)), &given)?;
        }
        Ok(())
    });
    Some(plan.scratch(2 * parts))
}
