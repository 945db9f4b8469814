//! Rows of operators that move or look up elements, constants and rotary positions.

use cairn_formats::DType;
use cairn_graph::TensorType;
use cairn_graph::ops::{
    Broadcast, Concat, Embedding, EmbeddingGrad, Fill, Iota, Pad, Reshape, Rope, RopeScaling,
    RopeTable, Slice, Transpose,
};

use super::elementwise::all_orders;
use super::sample::{Content, Dims, Order, Row, Sample, SampleInput, table};

const MOVED: [DType; 7] = [
    DType::F64,
    DType::F32,
    DType::BF16,
    DType::F16,
    DType::I32,
    DType::I64,
    DType::U8,
];

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new("reshape", reshape).dtypes(&MOVED).gradient(&[0]),
        Row::new("transpose", transpose)
            .dtypes(&MOVED)
            .gradient(&[0]),
        Row::new("slice", slice).dtypes(&MOVED).gradient(&[0]),
        Row::new("pad", pad).dtypes(&MOVED).gradient(&[0]),
        Row::new("broadcast", broadcast)
            .dtypes(&MOVED)
            .gradient(&[0]),
        Row::new("concat", concat).dtypes(&MOVED).gradient(&[0, 1]),
        Row::new("fill", fill).dtypes(&MOVED),
        Row::new("iota", iota).dtypes(&[DType::I32]),
        Row::new("embedding", embedding).gradient(&[0]),
        Row::new("embedding_grad", embedding_grad),
        Row::new("rope_table", rope_table).dtypes(&[DType::F32]),
        Row::new("rope", rope).gradient(&[0]),
    ]
}

fn some(dtype: DType, shape: &[usize]) -> SampleInput {
    let content = if dtype.is_float() {
        Content::Normal(1.0)
    } else {
        Content::Integers(0, 250)
    };
    SampleInput::new(dtype, shape, content)
}

fn reshape(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (from, to) in table::<(Dims, Dims), _>([
        (&[6, 4], &[2, 12]),
        (&[1], &[]),
        (&[0, 5], &[5, 0]),
        (&[3, 2, 127], &[6, 127]),
    ]) {
        let op = Reshape { shape: to.into() };
        samples.extend(all_orders(Sample::new(
            format!("{from:?} {to:?}"),
            op,
            vec![some(dtype, from)],
        )));
    }
    samples
}

fn transpose(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (shape, perm) in table::<(Dims, Dims), _>([
        (&[3, 127], &[1, 0]),
        (&[2, 5, 3, 33], &[0, 2, 1, 3]),
        (&[2, 3, 5], &[2, 0, 1]),
        (&[0, 5], &[1, 0]),
        (&[1], &[0]),
        (&[], &[]),
    ]) {
        let op = Transpose {
            perm: perm.to_vec(),
        };
        samples.extend(all_orders(Sample::new(
            format!("{shape:?} {perm:?}"),
            op,
            vec![some(dtype, shape)],
        )));
    }
    samples
}

fn slice(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (shape, start, end) in table::<(Dims, Dims, Dims), _>([
        (&[7, 129], &[2, 1], &[5, 128]),
        (&[7, 129], &[0, 0], &[7, 129]),
        (&[4, 5, 6], &[1, 0, 5], &[2, 5, 6]),
        (&[4, 5], &[4, 0], &[4, 5]),
        (&[9], &[8], &[9]),
        (&[1, 5], &[0, 1], &[1, 4]),
        (&[0, 5], &[0, 1], &[0, 3]),
    ]) {
        let op = Slice {
            start: start.to_vec(),
            end: end.to_vec(),
        };
        let name = format!("{shape:?} {start:?}..{end:?}");
        samples.extend(all_orders(Sample::new(name, op, vec![some(dtype, shape)])));
    }
    samples
}

fn pad(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (shape, before, after) in table::<(Dims, Dims, Dims), _>([
        (&[3, 129], &[2, 1], &[0, 3]),
        (&[5], &[0], &[0]),
        (&[1], &[0], &[2]),
        (&[0, 2], &[1, 0], &[1, 1]),
        (&[2, 3, 4], &[0, 0, 1], &[1, 0, 0]),
    ]) {
        let op = Pad {
            before: before.to_vec(),
            after: after.to_vec(),
        };
        let name = format!("{shape:?} {before:?} {after:?}");
        samples.extend(all_orders(Sample::new(name, op, vec![some(dtype, shape)])));
    }
    samples
}

fn broadcast(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (from, to) in table::<(Dims, Dims), _>([
        (&[129], &[3, 129]),
        (&[3, 1], &[3, 65]),
        (&[], &[2, 3]),
        (&[2, 1, 5], &[4, 2, 3, 5]),
        (&[1, 5], &[0, 5]),
        (&[0], &[3, 0]),
    ]) {
        let op = Broadcast { shape: to.into() };
        samples.extend(all_orders(Sample::new(
            format!("{from:?} {to:?}"),
            op,
            vec![some(dtype, from)],
        )));
    }
    samples
}

fn concat(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (dim, shapes) in table::<(usize, Vec<Dims>), _>([
        (0, vec![&[2, 129], &[3, 129]]),
        (1, vec![&[3, 1], &[3, 127], &[3, 2]]),
        (1, vec![&[2, 0, 3], &[2, 5, 3]]),
        (0, vec![&[4], &[1]]),
    ]) {
        let inputs = shapes.iter().map(|shape| some(dtype, shape)).collect();
        samples.extend(all_orders(Sample::new(
            format!("dim {dim} {shapes:?}"),
            Concat { dim },
            inputs,
        )));
    }
    samples
}

fn fill(dtype: DType) -> Vec<Sample> {
    let make = |value: f64, shape: &[usize]| {
        let ty = TensorType::new(dtype, shape);
        Sample::new(format!("{value} {shape:?}"), Fill { value, ty }, Vec::new())
    };
    vec![
        make(1.0, &[]),
        make(3.7, &[3, 129]),
        make(0.0, &[127]),
        make(2.0, &[0, 5]),
        make(-1.0, &[1]),
    ]
}

fn iota(_: DType) -> Vec<Sample> {
    [0, 1, 129]
        .map(|len| Sample::new(format!("{len}"), Iota { len }, Vec::new()))
        .into()
}

fn embedding(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (rows, d, shape) in table::<(usize, usize, Dims), _>([
        (17, 129, &[2, 5]),
        (1, 1, &[1]),
        (300, 64, &[255]),
        (5, 8, &[]),
        (5, 8, &[0]),
    ]) {
        let inputs = vec![
            SampleInput::normal(dtype, [rows, d]),
            SampleInput::new(DType::I32, shape, Content::Integers(0, rows as i64)),
        ];
        samples.push(Sample::new(
            format!("[{rows}, {d}] {shape:?}"),
            Embedding {},
            inputs,
        ));
    }
    let first = samples[0].clone();
    samples.extend(all_orders(first).into_iter().skip(1));
    samples
}

fn embedding_grad(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (rows, d, shape) in table::<(usize, usize, Dims), _>([
        (17, 129, &[2, 5]),
        // Every row many times.
        (3, 65, &[255]),
        (1, 1, &[1]),
        (5, 8, &[0]),
    ]) {
        for wanted in [dtype, DType::F32] {
            let op = EmbeddingGrad {
                rows,
                dtype: wanted,
            };
            let mut dims = shape.to_vec();
            dims.push(d);
            let inputs = vec![
                SampleInput::normal(dtype, dims),
                SampleInput::new(DType::I32, shape, Content::Integers(0, rows as i64)),
            ];
            samples.push(Sample::new(
                format!("[{rows}, {d}] {shape:?} to {wanted}"),
                op,
                inputs,
            ));
        }
    }
    let first = samples[0].clone();
    samples.extend(all_orders(first).into_iter().skip(1));
    samples
}

fn rope_table(_: DType) -> Vec<Sample> {
    let llama3 = RopeScaling {
        factor: 8.0,
        low_freq_factor: 1.0,
        high_freq_factor: 4.0,
        original_max_position_embeddings: 8192,
    };
    let mut samples = Vec::new();
    for scaling in [None, Some(llama3)] {
        for (s, head_dim) in [(1, 2), (129, 64), (5, 128), (0, 8)] {
            let op = RopeTable {
                head_dim,
                base: 500_000.0,
                scaling,
            };
            let positions = SampleInput::new(DType::I32, [s], Content::Integers(0, 131_072));
            let name = format!("{s} x {head_dim} scaled={}", scaling.is_some());
            samples.extend(
                [Order::Contiguous, Order::Sliced, Order::Broadcast].map(|order| {
                    let name = format!("{name} {order:?}").to_lowercase();
                    Sample::new(name, op.clone(), vec![positions.clone().ordered(order)])
                }),
            );
        }
    }
    samples
}

fn rope(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for inverse in [false, true] {
        for shape in [
            [2, 5, 3, 8],
            [1, 1, 1, 2],
            [1, 129, 2, 64],
            [2, 3, 1, 34],
            [0, 3, 2, 4],
        ] {
            let [_, s, _, d] = shape;
            let inputs = vec![
                SampleInput::normal(dtype, shape),
                SampleInput::new(DType::F32, [s, d], Content::Uniform(-1.0, 1.0)),
            ];
            samples.push(Sample::new(
                format!("{shape:?} inverse={inverse}"),
                Rope { inverse },
                inputs,
            ));
        }
    }
    let first = samples[0].clone();
    samples.extend(all_orders(first).into_iter().skip(1));
    samples
}
