//! Products of matrices.

use cairn_formats::DType;
use cairn_graph::Op;
use cairn_graph::ops::MatMul;
use cairn_tensor::{Address, KernelError, Signature};

use super::{address, attributes, operand, place, result, size};
use crate::args::Arg;
use crate::backend::Plan;
use crate::module::Kernels;

/// How the operands lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// `a [m, k], b [k, n]`
    Nn,
    /// `a [m, k], b [n, k]`
    Nt,
    /// `a [k, m], b [k, n]`
    Tn,
}

/// A product of two matrices without gaps, on kernels.
#[derive(Clone, Debug)]
pub(super) struct Gemm {
    kernel: String,
    added: bool,
    tiles: u64,
    sizes: [u32; 6],
}

impl Gemm {
    /// `c [m, n] = op(a) op(b) (+ c0)`, `None` where no kernel takes it.
    pub(super) fn new(
        (from, to): (DType, DType),
        layout: Layout,
        [m, n, k]: [usize; 3],
        added: bool,
    ) -> Option<Self> {
        let (stem, side) = match (from, to, added) {
            (DType::F32, DType::F32, false) => ("gemm_f32", 64),
            (DType::F32, DType::F32, true) => ("gemm_f32_add", 64),
            (DType::BF16, DType::BF16, false) => ("gemm_bf16", 256),
            (DType::BF16, DType::F32, _) => ("gemm_bf16_f32", 256),
            _ => return None,
        };
        let (letters, lda, ldb) = match layout {
            Layout::Nn => ("nn", k, n),
            Layout::Nt => ("nt", k, k),
            Layout::Tn => ("tn", m, n),
        };
        let mut sizes = [0; 6];
        for (slot, value) in sizes.iter_mut().zip([m, n, k, lda, ldb, n]) {
            *slot = size(value)?;
        }
        Some(Self {
            kernel: format!("{stem}_{letters}"),
            // This one takes a place for what is added, or none.
            added: added || stem == "gemm_bf16_f32",
            tiles: (m.div_ceil(side) * n.div_ceil(side)) as u64,
            sizes,
        })
    }

    /// The kernel.
    pub(super) fn kernel(&self) -> String {
        self.kernel.clone()
    }

    /// Starts it.
    pub(super) fn launch(
        &self,
        kernels: &Kernels,
        a: Address,
        b: Address,
        added: Option<Address>,
        c: Address,
    ) -> Result<(), KernelError> {
        let mut all = vec![Arg::Buffer(a), Arg::Buffer(b)];
        if self.added {
            all.push(Arg::Buffer(added.unwrap_or(Address(0))));
        }
        all.push(Arg::Buffer(c));
        all.extend(self.sizes.map(Arg::U32));
        kernels.launch(&self.kernel, self.tiles, &all)
    }
}

pub(super) fn find(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let op = attributes::<MatMul>(op)?;
    let (a, b) = (signature.inputs.first()?, signature.inputs.get(1)?);
    let layout = match (op.trans_a, op.trans_b) {
        (false, false) => Layout::Nn,
        (false, true) => Layout::Nt,
        (true, false) => Layout::Tn,
        (true, true) => return None,
    };
    let sizes = op.sizes(&a.ty.shape, &b.ty.shape).ok()?;
    // Of a shared right side the batch is just more rows.
    let (m, batch) = match sizes.shared_b && !op.trans_a {
        true => (sizes.batch * sizes.m, 1),
        false => (sizes.m, sizes.batch),
    };
    let (n, k) = (sizes.n, sizes.k);
    let added = signature.inputs.len() == 3;
    let (from, to) = (a.ty.dtype, op.out_dtype);
    let gemm =
        Gemm::new((from, to), layout, [m, n, k], added).filter(|_| signature.is_contiguous())?;
    let steps = [
        from.bytes(m * k),
        if sizes.shared_b { 0 } else { from.bytes(k * n) },
        to.bytes(m * n),
    ];
    let plan = Plan::new([gemm.kernel()], move |kernels, args| {
        let (a, b) = (address(operand(args, 0)?)?, address(operand(args, 1)?)?);
        let c = address(result(args, 0)?)?;
        let c0 = added
            .then(|| place(args, 2, 0).and_then(address))
            .transpose()?;
        for index in 0..batch {
            gemm.launch(
                kernels,
                a.offset(index * steps[0]),
                b.offset(index * steps[1]),
                c0.map(|c0| c0.offset(index * steps[2])),
                c.offset(index * steps[2]),
            )?;
        }
        Ok(())
    });
    Some(if added {
        plan.in_place(&[(0, 2)])
    } else {
        plan
    })
}
