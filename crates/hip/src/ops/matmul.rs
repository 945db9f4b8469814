//! Products of matrices, and what is done to them before they are stored.

use cairn_formats::DType;
use cairn_graph::Op;
use cairn_graph::ops::{FusedMatMul, MatMul, UnaryKind};
use cairn_tensor::{DeviceArgs, Signature};

use super::gemm::{Activation, Buffers, planned};
use super::{address, attributes, operand, place, result};
use crate::backend::Plan;
use crate::tiles::{Product, Tiles};

pub(super) use super::gemm::Gemm;
pub(super) use crate::tiles::Layout;

/// What beside `a` and `b` an operator has.
#[derive(Clone, Copy)]
struct More {
    /// Which input is the bias.
    bias: Option<usize>,
    /// Which input is added, and may be the place of the result.
    added: Option<usize>,
    activation: Activation,
}

pub(super) fn find(op: &dyn Op, signature: &Signature, tiles: &Tiles) -> Option<Plan> {
    if let Some(op) = attributes::<MatMul>(op) {
        let more = More {
            bias: None,
            added: (signature.inputs.len() == 3).then_some(2),
            activation: Activation::None,
        };
        return plan(&op, more, signature, tiles);
    }
    let op = attributes::<FusedMatMul>(op)?;
    let more = More {
        bias: op.bias_input(),
        added: op.residual_input(),
        activation: match op.activation {
            None => Activation::None,
            Some(UnaryKind::Relu) => Activation::Relu,
            Some(UnaryKind::Silu) => Activation::Silu,
            Some(UnaryKind::Gelu) => Activation::Gelu,
            Some(_) => return None,
        },
    };
    plan(&op.product, more, signature, tiles)
}

fn plan(op: &MatMul, more: More, signature: &Signature, tiles: &Tiles) -> Option<Plan> {
    let (a, b) = (signature.inputs.first()?, signature.inputs.get(1)?);
    let layout = match (op.trans_a, op.trans_b) {
        (false, false) => Layout::Nn,
        (false, true) => Layout::Nt,
        (true, false) => Layout::Tn,
        (true, true) => Layout::Tt,
    };
    if !signature.is_contiguous() {
        return None;
    }
    let sizes = op.sizes(&a.ty.shape, &b.ty.shape).ok()?;
    // Of a shared right side the batch is just more rows.
    let (m, batch) = match sizes.shared_b && !op.trans_a {
        true => (sizes.batch * sizes.m, 1),
        false => (sizes.m, sizes.batch),
    };
    let (n, k) = (sizes.n, sizes.k);
    let (from, to): (DType, DType) = (a.ty.dtype, op.out_dtype);
    let product = Product {
        dtype: from,
        layout,
        m,
        n,
        k,
    };
    let has_more = more.bias.is_some() || more.added.is_some();
    let work = planned(tiles, product, to, more.activation, has_more)?;
    let steps = [
        from.bytes(m * k),
        if sizes.shared_b { 0 } else { from.bytes(k * n) },
        to.bytes(m * n),
    ];
    let (names, scratch_bytes) = (work.kernels(), work.scratch_bytes());
    let plan = Plan::new(names, move |kernels, args: &DeviceArgs<'_>| {
        let optional = |index: Option<usize>| {
            index
                .map(|index| place(args, index, 0).and_then(address))
                .transpose()
        };
        let (a, b) = (address(operand(args, 0)?)?, address(operand(args, 1)?)?);
        let c = address(result(args, 0)?)?;
        let (bias, added) = (optional(more.bias)?, optional(more.added)?);
        for index in 0..batch {
            let buffers = Buffers {
                a: a.offset(index * steps[0]),
                b: b.offset(index * steps[1]),
                bias,
                added: added.map(|added| added.offset(index * steps[2])),
                c: c.offset(index * steps[2]),
                scratch: args.scratch,
            };
            work.launch(kernels, &buffers)?;
        }
        Ok(())
    })
    .scratch(scratch_bytes);
    Some(match more.added {
        Some(input) => plan.in_place(&[(0, input)]),
        None => plan,
    })
}
