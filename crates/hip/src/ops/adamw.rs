//! The optimizer's step.

use cairn_formats::DType;
use cairn_graph::Op;
use cairn_graph::ops::AdamW;
use cairn_tensor::{Address, Signature};

use super::{BLOCKS, attributes, operand, result, suffix};
use crate::args::Arg;
use crate::backend::Plan;

pub(super) fn find(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let op = attributes::<AdamW>(op)?;
    let ty = |index: usize| signature.inputs.get(index).map(|input| &input.ty);
    let master = ty(0)?.dtype == DType::F32;
    let copied = !op.copy || ty(7)?.dtype == DType::BF16;
    if !master || !copied || !signature.is_contiguous() {
        return None;
    }
    let name = format!("adamw_{}", suffix(ty(1)?.dtype)?);
    let count = ty(0)?.shape.num_elements();
    let rates = [
        op.beta1,
        1.0 - op.beta1,
        op.beta2,
        1.0 - op.beta2,
        op.eps,
        op.weight_decay,
    ];
    let rates: Vec<u8> = rates
        .into_iter()
        .flat_map(|rate| (rate as f32).to_le_bytes())
        .collect();
    Some(Plan::new([name.clone()], move |kernels, args| {
        let copy = if op.copy {
            result(args, 3)?
        } else {
            Arg::Buffer(Address(0))
        };
        let given = [
            result(args, 0)?,
            operand(args, 1)?,
            result(args, 1)?,
            result(args, 2)?,
            operand(args, 4)?,
            operand(args, 5)?,
            operand(args, 6)?,
            copy,
            Arg::U64(count as u64),
            Arg::Bytes(rates.clone()),
        ];
        kernels.launch(&name, count.div_ceil(BLOCKS) as u64, &given)
    }))
}
