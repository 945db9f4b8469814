//! Rows of a table by index.

use cairn_formats::DType;
use cairn_graph::Op;
use cairn_graph::ops::{Embedding, EmbeddingGrad};
use cairn_tensor::Signature;

use super::{attributes, operand, result, size, suffix};
use crate::args::Arg;
use crate::backend::Plan;

pub(super) fn find(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    forward(op, signature).or_else(|| backward(op, signature))
}

fn forward(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    attributes::<Embedding>(op)?;
    let [table, indices] = signature.inputs.as_slice() else {
        return None;
    };
    let width = table.ty.dtype.bits();
    let fits = [16, 32].contains(&width) && signature.is_contiguous();
    let name = format!("embedding_{width}");
    let (rows, columns) = (size(table.ty.shape[0])?, size(table.ty.shape[1])?);
    let count = indices.ty.shape.num_elements() as u64;
    fits.then(|| {
        Plan::new([name.clone()], move |kernels, args| {
            let given = [
                operand(args, 0)?,
                operand(args, 1)?,
                result(args, 0)?,
                Arg::U32(rows),
                Arg::U32(columns),
            ];
            kernels.launch(&name, count, &given)
        })
    })
}

fn backward(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let op = attributes::<EmbeddingGrad>(op)?;
    let [gradient, indices] = signature.inputs.as_slice() else {
        return None;
    };
    if !signature.is_contiguous() || gradient.ty.dtype == DType::F32 && op.dtype != DType::F32 {
        return None;
    }
    let (from, to) = (suffix(gradient.ty.dtype)?, suffix(op.dtype)?);
    let name = format!("embedding_backward_{from}_{to}");
    let columns = size(gradient.ty.shape.dims().last().copied()?)?;
    let (rows, count) = (size(op.rows)?, size(indices.ty.shape.num_elements())?);
    Some(Plan::new([name.clone()], move |kernels, args| {
        let given = [
            operand(args, 0)?,
            operand(args, 1)?,
            result(args, 0)?,
            Arg::U32(count),
            Arg::U32(rows),
            Arg::U32(columns),
        ];
        kernels.launch(&name, u64::from(rows), &given)
    }))
}
