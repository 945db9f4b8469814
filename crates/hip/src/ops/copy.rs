//! What moves elements, and constants.

use std::collections::BTreeSet;

use cairn_formats::{DType, bf16, f16};
use cairn_graph::ops::{
    Assign, Broadcast, Cast, Concat, Fill, Iota, Pad, Reshape, Slice, Transpose,
};
use cairn_graph::{Op, Shape};
use cairn_tensor::{Address, Element, KernelError, Operand, Signature};

use super::geometry::{Geometry, Transposed, stretched};
use super::{RUNS, address, attributes, operand, result};
use crate::args::Arg;
use crate::backend::Plan;
use crate::module::Kernels;

pub(super) fn find(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let moved = moves(op, signature)?;
    match moved {
        Moves::Pieces { pieces, zeros } => copies(signature, pieces, zeros),
        Moves::Constant(bits) => constant(signature, bits),
        Moves::Indices(len) => Some(iota(u32::try_from(len).ok()?)),
    }
}

/// What an operator puts into its output.
enum Moves {
    /// Of each input a piece of its elements; zeros elsewhere, where that is said.
    Pieces { pieces: Vec<Piece>, zeros: bool },
    /// The same bits everywhere.
    Constant(u64),
    /// Each element's index.
    Indices(usize),
}

/// Elements of an input and where they go, in elements.
struct Piece {
    input: usize,
    dims: Vec<usize>,
    from: Vec<usize>,
    from_offset: usize,
    to: Vec<usize>,
    to_offset: usize,
}

fn strides_of(operand: &Operand) -> Vec<usize> {
    let own = || operand.ty.shape.strides().to_vec();
    operand.strides.clone().unwrap_or_else(own)
}

fn moves(op: &dyn Op, signature: &Signature) -> Option<Moves> {
    let out = &signature.outputs.first()?.shape;
    if let Some(op) = attributes::<Fill>(op) {
        return Some(Moves::Constant(bits(op.ty.dtype, op.value)?));
    }
    if let Some(op) = attributes::<Iota>(op) {
        return Some(Moves::Indices(op.len));
    }
    if let Some(op) = attributes::<Concat>(op) {
        return Some(concat(op.dim, signature));
    }
    let whole = |input: usize, dims: &Shape, from: Vec<usize>| Piece {
        input,
        dims: dims.to_vec(),
        from,
        from_offset: 0,
        to: dims.strides().to_vec(),
        to_offset: 0,
    };
    let plain = |own: Piece| {
        Some(Moves::Pieces {
            pieces: vec![own],
            zeros: false,
        })
    };
    let input = signature.inputs.first()?;
    let (shape, strides) = (&input.ty.shape, strides_of(input));
    let same = attributes::<Cast>(op).is_some_and(|op| op.dtype == input.ty.dtype);
    if same || attributes::<Reshape>(op).is_some() {
        return plain(whole(0, shape, strides));
    }
    if attributes::<Assign>(op).is_some() {
        let value = signature.inputs.get(1)?;
        return plain(whole(1, &value.ty.shape, strides_of(value)));
    }
    if let Some(op) = attributes::<Transpose>(op) {
        return plain(whole(
            0,
            out,
            op.perm.iter().map(|dim| strides[*dim]).collect(),
        ));
    }
    if attributes::<Broadcast>(op).is_some() {
        return plain(whole(
            0,
            out,
            stretched(shape, input.strides.as_deref(), out),
        ));
    }
    if let Some(op) = attributes::<Slice>(op) {
        let mut own = whole(0, out, strides.clone());
        let starts = op.start.iter().zip(&strides);
        own.from_offset = starts.map(|(start, stride)| start * stride).sum();
        return plain(own);
    }
    if let Some(op) = attributes::<Pad>(op) {
        let to = out.strides().to_vec();
        let starts = op.before.iter().zip(&to);
        let own = Piece {
            to_offset: starts.map(|(start, stride)| start * stride).sum(),
            to,
            ..whole(0, shape, strides)
        };
        return Some(Moves::Pieces {
            pieces: vec![own],
            zeros: true,
        });
    }
    None
}

fn concat(dim: usize, signature: &Signature) -> Moves {
    let to = signature.outputs[0].shape.strides().to_vec();
    let mut offset = 0;
    let inputs = signature.inputs.iter().enumerate();
    let pieces = inputs.map(|(input, operand)| {
        let own = Piece {
            input,
            dims: operand.ty.shape.to_vec(),
            from: strides_of(operand),
            from_offset: 0,
            to: to.clone(),
            to_offset: offset * to[dim],
        };
        offset += operand.ty.shape[dim];
        own
    });
    Moves::Pieces {
        pieces: pieces.collect(),
        zeros: false,
    }
}

/// The bits of a number in a dtype.
fn bits(dtype: DType, value: f64) -> Option<u64> {
    Some(match dtype {
        DType::F64 => value.to_bits(),
        DType::F32 => u64::from((value as f32).to_bits()),
        DType::BF16 => u64::from(bf16::rounded(value).to_bits()),
        DType::F16 => u64::from(f16::rounded(value).to_bits()),
        DType::I64 => value as i64 as u64,
        DType::I32 => u64::from(value as i32 as u32),
        DType::U8 => u64::from(value as u8),
        _ => return None,
    })
}

/// How kernels name elements of a dtype that they only move.
fn width(dtype: DType) -> Option<usize> {
    let bits = dtype.bits();
    [8, 16, 32, 64].contains(&bits).then_some(bits)
}

fn copies(signature: &Signature, pieces: Vec<Piece>, zeros: bool) -> Option<Plan> {
    let ty = &signature.outputs[0];
    let width = width(ty.dtype)?;
    let bytes = width / 8;
    let fill = format!("fill_{width}");
    let mut names = BTreeSet::new();
    if zeros {
        names.insert(fill.clone());
    }
    let mut ready = Vec::new();
    for own in pieces {
        let geometry = Geometry::new(&own.dims, &[own.from, own.to])?;
        let way = Way::of(geometry);
        names.insert(way.kernel(width));
        ready.push((
            own.input,
            way,
            own.from_offset * bytes,
            own.to_offset * bytes,
        ));
    }
    let count = ty.shape.num_elements();
    Some(Plan::new(names, move |kernels, args| {
        let out = address(result(args, 0)?)?;
        if zeros {
            launch_fill(kernels, &fill, out, count, 0)?;
        }
        for (input, way, from, to) in &ready {
            let source = address(operand(args, *input)?)?;
            let mut given = vec![
                Arg::Buffer(source.offset(*from)),
                Arg::Buffer(out.offset(*to)),
            ];
            let groups = way.finish(bytes, &mut given);
            kernels.launch(&way.kernel(width), groups as u64, &given)?;
        }
        Ok(())
    }))
}

/// How elements are moved.
enum Way {
    /// In the order of the output.
    Copy(Geometry),
    /// By tiles of matrices.
    Transpose(Transposed),
}

impl Way {
    fn of(geometry: Geometry) -> Self {
        match geometry.transposed() {
            Some(matrices) => Self::Transpose(matrices),
            None => Self::Copy(geometry),
        }
    }

    fn kernel(&self, width: usize) -> String {
        match self {
            Self::Copy(_) => format!("copy_{width}"),
            Self::Transpose(_) => format!("transpose_{width}"),
        }
    }

    /// Adds the last arguments, for elements of so many bytes; the number of workgroups.
    fn finish(&self, bytes: usize, given: &mut Vec<Arg>) -> usize {
        match self {
            Self::Copy(geometry) => {
                given.push(geometry.arg(geometry.at_once(bytes)));
                geometry.count().div_ceil(RUNS)
            }
            Self::Transpose(matrices) => {
                given.extend(matrices.args(bytes));
                matrices.groups(bytes)
            }
        }
    }
}

fn launch_fill(
    kernels: &Kernels,
    kernel: &str,
    out: Address,
    count: usize,
    bits: u64,
) -> Result<(), KernelError> {
    let given = [Arg::Buffer(out), Arg::U64(count as u64), Arg::U64(bits)];
    kernels.launch(kernel, count.div_ceil(RUNS) as u64, &given)
}

fn constant(signature: &Signature, bits: u64) -> Option<Plan> {
    let ty = &signature.outputs[0];
    let name = format!("fill_{}", width(ty.dtype)?);
    let count = ty.shape.num_elements();
    Some(Plan::new([name.clone()], move |kernels, args| {
        launch_fill(kernels, &name, args.outputs[0].address, count, bits)
    }))
}

fn iota(len: u32) -> Plan {
    Plan::new(["iota_i32".to_owned()], move |kernels, args| {
        let given = [result(args, 0)?, Arg::U32(len)];
        kernels.launch("iota_i32", u64::from(len).div_ceil(RUNS as u64), &given)
    })
}
