//! Matrix multiplication through [`super::gemm`].

use cairn_formats::DType;
use cairn_graph::ops::MatMul;
use cairn_graph::ops::matmul::MatMulSizes;
use cairn_graph::{Op, Shape};

use super::Target;
use super::gemm::{Gemm, GemmArgs, GemmPlan, OperandB};
use crate::backend::{Args, Kernel, Operand, Signature};
use crate::error::KernelError;

#[derive(Debug)]
struct MatMulKernel {
    name: String,
    plan: GemmPlan,
    /// A third input that the product is added to.
    accumulates: bool,
}

pub(super) fn build(op: &dyn Op, signature: &Signature, target: Target) -> Option<Box<dyn Kernel>> {
    let op = op.as_any().downcast_ref::<MatMul>()?;
    if signature.inputs.get(2).is_some_and(|c| c.strides.is_some()) {
        return None;
    }
    let accumulates = signature.inputs.len() == 3;
    let plan = plan(
        op,
        signature,
        signature.outputs[0].dtype,
        accumulates,
        target,
    )?;
    let name = format!("matmul.{}", plan.kernel_name());
    Some(Box::new(MatMulKernel {
        name,
        plan,
        accumulates,
    }))
}

/// The plan of the product of the first two operands, with a result in `out_dtype`.
pub(super) fn plan(
    op: &MatMul,
    signature: &Signature,
    out_dtype: DType,
    accumulate: bool,
    target: Target,
) -> Option<GemmPlan> {
    let (a, b) = (&signature.inputs[0], &signature.inputs[1]);
    let sizes = op.sizes(&a.ty.shape, &b.ty.shape).ok()?;
    let (a_matrix, b_matrix) = (matrix(a, op.trans_a)?, matrix(b, op.trans_b)?);
    let MatMulSizes {
        batch,
        m,
        n,
        k,
        shared_b,
    } = sizes;
    let mut gemm = Gemm::new(m, n, k, a.ty.dtype, out_dtype);
    (gemm.trans_a, gemm.lda) = a_matrix.order(gemm.k.max(1));
    (gemm.trans_b, gemm.ldb) = b_matrix.order(gemm.n.max(1));
    gemm.ldc = n.max(1);
    gemm.batch = batch;
    gemm.stride_a = a_matrix.batch_stride;
    gemm.stride_b = if shared_b { 0 } else { b_matrix.batch_stride };
    gemm.stride_c = m * n;
    gemm.accumulate = accumulate;
    if shared_b && !op.trans_a && a.strides.is_some() && a.ty.shape.ndim() > 2 {
        // Folding the batch into rows needs evenly spaced rows.
        return None;
    }
    GemmPlan::new(&gemm, target.isa, target.threads).ok()
}

/// Strides of the last two dims as the product sees them (after `trans`).
struct Matrix {
    row: usize,
    column: usize,
    batch_stride: usize,
    shape: (usize, usize),
}

impl Matrix {
    /// Whether it is stored transposed, and its leading dimension (at least `least`
    /// where there is no second row to measure by).
    fn order(&self, columns: usize) -> (bool, usize) {
        let transposed = self.column != 1 && self.row == 1;
        let lead = if transposed { self.column } else { self.row };
        let least = if transposed {
            self.shape.0.max(1)
        } else {
            columns
        };
        (transposed, lead.max(least))
    }
}

/// The matrix a product reads, or `None` when neither side is dense or batches
/// are not evenly spaced.
fn matrix(operand: &Operand, trans: bool) -> Option<Matrix> {
    let shape: &Shape = &operand.ty.shape;
    let ndim = shape.ndim();
    let strides = operand.strides.clone().unwrap_or_else(|| shape.strides());
    let (mut row, mut column) = (strides[ndim - 2], strides[ndim - 1]);
    let (mut rows, mut columns) = (shape[ndim - 2], shape[ndim - 1]);
    if trans {
        (row, column) = (column, row);
        (rows, columns) = (columns, rows);
    }
    // A dim of size 1 has no meaningful stride.
    if columns <= 1 && column != 1 && row != 1 {
        column = 1;
    }
    if rows <= 1 && row != 1 && column != 1 {
        row = 1;
    }
    if operand.strides.is_some() && (row == 0 || column == 0) {
        return None;
    }
    if row != 1 && column != 1 {
        return None;
    }
    // All batch dims must step evenly: stride[d] = stride[d+1] * size[d+1].
    let batch = &shape[..ndim - 2];
    let mut batch_stride = None;
    for dim in (0..batch.len()).rev().filter(|dim| batch[*dim] > 1) {
        match batch_stride {
            None => batch_stride = Some((strides[dim], batch[dim])),
            Some((inner, size)) if strides[dim] == inner * size => {
                batch_stride = Some((inner, size * batch[dim]));
            }
            Some(_) => return None,
        }
    }
    let batch_stride = batch_stride.map_or(rows * columns, |(stride, _)| stride);
    Some(Matrix {
        row,
        column,
        batch_stride,
        shape: (rows, columns),
    })
}

impl Kernel for MatMulKernel {
    fn name(&self) -> &str {
        &self.name
    }

    fn scratch_bytes(&self) -> usize {
        self.plan.scratch_bytes()
    }

    fn in_place(&self) -> Vec<(usize, usize)> {
        if self.accumulates {
            vec![(0, 2)]
        } else {
            Vec::new()
        }
    }

    fn run(&self, args: &mut Args<'_>) -> Result<(), KernelError> {
        let (a, b) = (args.input(0)?.data, args.input(1)?.data);
        if let Some(Some(c)) = args.inputs.get(2) {
            args.outputs[0].data.copy_from_slice(c.data);
        }
        let call = GemmArgs {
            a,
            b: OperandB::Plain(b),
            c: &mut *args.outputs[0].data,
            bias: None,
            scratch: &mut *args.scratch,
        };
        self.plan
            .run(call, args.pool)
            .map_err(|error| KernelError(error.to_string()))
    }
}
