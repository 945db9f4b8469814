//! Products of matrices.

use cairn_graph::Op;
use cairn_graph::ops::MatMul;
use cairn_tensor::Signature;

use super::{attributes, operand, plain, result, size};
use crate::args::Arg;
use crate::backend::Plan;

/// Columns and rows of a workgroup's tile, by dtype.
fn side(dtype: &str) -> usize {
    if dtype == "bf16" { 256 } else { 64 }
}

pub(super) fn find(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let op = attributes::<MatMul>(op)?;
    let [a, b] = signature.inputs.as_slice() else {
        return None;
    };
    let dtype = plain(signature).filter(|_| op.out_dtype == a.ty.dtype)?;
    let layout = match (op.trans_a, op.trans_b) {
        (false, false) => "nn",
        (false, true) => "nt",
        (true, false) => "tn",
        (true, true) => return None,
    };
    let sizes = op.sizes(&a.ty.shape, &b.ty.shape).ok()?;
    // Of a shared right side the batch is just more rows.
    let (m, batch) = match sizes.shared_b && !op.trans_a {
        true => (sizes.batch * sizes.m, 1),
        false => (sizes.m, sizes.batch),
    };
    if batch != 1 {
        return None;
    }
    let (n, k) = (sizes.n, sizes.k);
    let lda = if op.trans_a { m } else { k };
    let ldb = if op.trans_b { k } else { n };
    let given = [m, n, k, lda, ldb, n].map(size);
    let given: Vec<u32> = given.into_iter().collect::<Option<_>>()?;
    let tiles = m.div_ceil(side(dtype)) * n.div_ceil(side(dtype));
    let name = format!("gemm_{dtype}_{layout}");
    Some(Plan::new([name.clone()], move |kernels, args| {
        let mut all = vec![operand(args, 0)?, operand(args, 1)?, result(args, 0)?];
        all.extend(given.iter().copied().map(Arg::U32));
        kernels.launch(&name, tiles as u64, &all)
    }))
}
