//! Operators that move or look up elements, and rotary positions.

use cairn_formats::DType;
use cairn_graph::ops::{
    Broadcast, Concat, Embedding, EmbeddingGrad, Fill, Iota, Pad, Reshape, Rope, RopeTable, Slice,
    Transpose,
};
use cairn_graph::{Op, Shape};

use super::{Results, Values, attributes, indices, ravel};
use crate::error::KernelError;

pub(super) fn fill(op: &dyn Op, _: &[Values], shapes: &[Shape], _: &[DType]) -> Option<Results> {
    Some(Ok(vec![vec![
        attributes::<Fill>(op)?.value;
        shapes[0].num_elements()
    ]]))
}

pub(super) fn iota(op: &dyn Op, _: &[Values], _: &[Shape], _: &[DType]) -> Option<Results> {
    Some(Ok(vec![
        (0..attributes::<Iota>(op)?.len)
            .map(|index| index as f64)
            .collect(),
    ]))
}

pub(super) fn reshape(op: &dyn Op, inputs: &[Values], _: &[Shape], _: &[DType]) -> Option<Results> {
    attributes::<Reshape>(op)?;
    Some(Ok(vec![inputs[0].data.clone()]))
}

/// Gathers the element at `from(index)` for each index of the result.
fn gather(input: &Values, shape: &Shape, from: impl Fn(&[usize]) -> Vec<usize>) -> Results {
    Ok(vec![
        indices(shape)
            .map(|index| input.data[ravel(&from(&index), &input.shape)])
            .collect(),
    ])
}

pub(super) fn transpose(
    op: &dyn Op,
    inputs: &[Values],
    shapes: &[Shape],
    _: &[DType],
) -> Option<Results> {
    let perm = &attributes::<Transpose>(op)?.perm;
    Some(gather(&inputs[0], &shapes[0], |index| {
        let mut from = vec![0; perm.len()];
        for (to, dim) in perm.iter().enumerate() {
            from[*dim] = index[to];
        }
        from
    }))
}

pub(super) fn slice(
    op: &dyn Op,
    inputs: &[Values],
    shapes: &[Shape],
    _: &[DType],
) -> Option<Results> {
    let start = &attributes::<Slice>(op)?.start;
    Some(gather(&inputs[0], &shapes[0], |index| {
        index
            .iter()
            .zip(start)
            .map(|(i, start)| i + start)
            .collect()
    }))
}

pub(super) fn broadcast(
    op: &dyn Op,
    inputs: &[Values],
    shapes: &[Shape],
    _: &[DType],
) -> Option<Results> {
    attributes::<Broadcast>(op)?;
    let shape = inputs[0].shape.clone();
    Some(gather(&inputs[0], &shapes[0], |index| {
        let own = &index[index.len() - shape.ndim()..];
        own.iter()
            .zip(shape.iter())
            .map(|(i, size)| if *size == 1 { 0 } else { *i })
            .collect()
    }))
}

pub(super) fn pad(
    op: &dyn Op,
    inputs: &[Values],
    shapes: &[Shape],
    _: &[DType],
) -> Option<Results> {
    let before = &attributes::<Pad>(op)?.before;
    let mut out = vec![0.0; shapes[0].num_elements()];
    for (index, value) in indices(&inputs[0].shape).zip(&inputs[0].data) {
        let to: Vec<usize> = index
            .iter()
            .zip(before)
            .map(|(i, before)| i + before)
            .collect();
        out[ravel(&to, &shapes[0])] = *value;
    }
    Some(Ok(vec![out]))
}

pub(super) fn concat(
    op: &dyn Op,
    inputs: &[Values],
    shapes: &[Shape],
    _: &[DType],
) -> Option<Results> {
    let dim = attributes::<Concat>(op)?.dim;
    let mut out = vec![0.0; shapes[0].num_elements()];
    let mut offset = 0;
    for input in inputs {
        for (mut index, value) in indices(&input.shape).zip(&input.data) {
            index[dim] += offset;
            out[ravel(&index, &shapes[0])] = *value;
        }
        offset += input.shape[dim];
    }
    Some(Ok(vec![out]))
}

/// An index as a row number.
pub(super) fn row(
    value: f64,
    position: usize,
    rows: usize,
    what: &str,
) -> Result<usize, KernelError> {
    if value >= 0.0 && (value as usize) < rows {
        return Ok(value as usize);
    }
    Err(KernelError(format!(
        "{what} {value} at position {position} is not in 0..{rows}"
    )))
}

pub(super) fn embedding(
    op: &dyn Op,
    inputs: &[Values],
    _: &[Shape],
    _: &[DType],
) -> Option<Results> {
    attributes::<Embedding>(op)?;
    let (table, d) = (&inputs[0], inputs[0].shape[1]);
    let mut out = Vec::new();
    for (position, value) in inputs[1].data.iter().enumerate() {
        match row(*value, position, table.shape[0], "index") {
            Ok(row) => out.extend_from_slice(&table.data[row * d..(row + 1) * d]),
            Err(error) => return Some(Err(error)),
        }
    }
    Some(Ok(vec![out]))
}

pub(super) fn embedding_grad(
    op: &dyn Op,
    inputs: &[Values],
    shapes: &[Shape],
    _: &[DType],
) -> Option<Results> {
    let rows = attributes::<EmbeddingGrad>(op)?.rows;
    let d = inputs[0].shape.last();
    let mut out = vec![0.0; shapes[0].num_elements()];
    for (position, value) in inputs[1].data.iter().enumerate() {
        let row = match row(*value, position, rows, "index") {
            Ok(row) => row,
            Err(error) => return Some(Err(error)),
        };
        for column in 0..d {
            out[row * d + column] += inputs[0].data[position * d + column];
        }
    }
    Some(Ok(vec![out]))
}

pub(super) fn rope_table(
    op: &dyn Op,
    inputs: &[Values],
    _: &[Shape],
    _: &[DType],
) -> Option<Results> {
    let frequencies = attributes::<RopeTable>(op)?.frequencies();
    let mut out = Vec::new();
    for position in &inputs[0].data {
        out.extend(
            frequencies
                .iter()
                .map(|frequency| (position * frequency).cos()),
        );
        out.extend(
            frequencies
                .iter()
                .map(|frequency| (position * frequency).sin()),
        );
    }
    Some(Ok(vec![out]))
}

pub(super) fn rope(op: &dyn Op, inputs: &[Values], _: &[Shape], _: &[DType]) -> Option<Results> {
    let sign = if attributes::<Rope>(op)?.inverse {
        -1.0
    } else {
        1.0
    };
    let shape = &inputs[0].shape;
    let (half, table) = (shape[3] / 2, &inputs[1].data);
    let mut out = inputs[0].data.clone();
    for (row, values) in out.chunks_exact_mut(shape[3].max(1)).enumerate() {
        let position = row / shape[2] % shape[1];
        for index in 0..half {
            let (cos, sin) = (
                table[position * 2 * half + index],
                sign * table[position * 2 * half + half + index],
            );
            let (a, b) = (values[index], values[index + half]);
            values[index] = a * cos - b * sin;
            values[index + half] = b * cos + a * sin;
        }
    }
    Some(Ok(vec![out]))
}
