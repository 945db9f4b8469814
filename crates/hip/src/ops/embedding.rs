//! Rows of a table by index.

use cairn_formats::DType;
use cairn_graph::Op;
use cairn_graph::ops::{Embedding, EmbeddingGrad};
use cairn_tensor::{Address, DeviceArgs, KernelError, Signature};

use super::{attributes, operand, result, scratch, size, suffix};
use crate::args::Arg;
use crate::backend::Plan;
use crate::module::Kernels;

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

/// Bits of an index that one sort takes.
const DIGIT_BITS: u32 = 9;
/// Indices of a block of a sort.
const BLOCK: u32 = 1024;
/// Rows that a workgroup looks for.
const STARTS: u32 = 256;

/// Where the parts of the working space begin, and its end.
struct Places {
    /// Indices and positions after every other sort.
    sorted: [[usize; 2]; 2],
    counts: usize,
    starts: usize,
    end: usize,
}

impl Places {
    fn new(count: u32, rows: u32) -> Self {
        let mut end = 0;
        let mut words = |count: usize| {
            let first = end;
            end += (4 * count).next_multiple_of(16);
            first
        };
        let count = count as usize;
        let blocks = count.div_ceil(BLOCK as usize);
        Self {
            sorted: [(); 2].map(|()| [(); 2].map(|()| words(count))),
            counts: words(blocks << DIGIT_BITS),
            starts: words(rows as usize + 1),
            end,
        }
    }
}

/// Positions sorted by index, then the rows.
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
    let places = Places::new(count, rows);
    let names =
        ["count", "scan", "scatter", "starts"].map(|stage| format!("embedding_sort_{stage}"));
    let bytes = places.end;
    let plan = Plan::new(
        names.into_iter().chain([name.clone()]),
        move |kernels, args| {
            let positions = sort(kernels, args, &places, count, rows)?;
            let given = [
                operand(args, 0)?,
                positions,
                scratch(args, places.starts),
                result(args, 0)?,
                Arg::U32(columns),
            ];
            kernels.launch(&name, u64::from(rows), &given)
        },
    );
    Some(plan.scratch(bytes))
}

/// Sorts the positions of the indices and finds where each row's begin; where they are.
fn sort(
    kernels: &Kernels,
    args: &DeviceArgs<'_>,
    places: &Places,
    count: u32,
    rows: u32,
) -> Result<Arg, KernelError> {
    let blocks = count.div_ceil(BLOCK);
    let bits = u32::BITS - rows.saturating_sub(1).leading_zeros();
    let counts = scratch(args, places.counts);
    let (mut indices, mut positions) = (operand(args, 1)?, Arg::Buffer(Address(0)));
    for pass in 0..bits.div_ceil(DIGIT_BITS).max(1) {
        let shift = Arg::U32(pass * DIGIT_BITS);
        let given = [
            indices.clone(),
            counts.clone(),
            Arg::U32(count),
            Arg::U32(rows),
            Arg::U32(blocks),
            shift.clone(),
        ];
        kernels.launch("embedding_sort_count", blocks.into(), &given)?;
        let given = [counts.clone(), Arg::U32(blocks << DIGIT_BITS)];
        kernels.launch("embedding_sort_scan", 1, &given)?;
        let to = places.sorted[pass as usize % 2].map(|place| scratch(args, place));
        let given = [
            indices,
            positions,
            counts.clone(),
            to[0].clone(),
            to[1].clone(),
            Arg::U32(count),
            Arg::U32(blocks),
            shift,
        ];
        kernels.launch("embedding_sort_scatter", blocks.into(), &given)?;
        [indices, positions] = to;
    }
    let given = [
        indices,
        scratch(args, places.starts),
        Arg::U32(count),
        Arg::U32(rows),
    ];
    kernels.launch("embedding_sort_starts", (rows / STARTS + 1).into(), &given)?;
    Ok(positions)
}
