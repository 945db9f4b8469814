//! Rows of products and reductions.

use cairn_formats::DType;
use cairn_graph::ops::{FusedMatMul, MatMul, Reduce, ReduceKind, SumSquares, UnaryKind};

use super::elementwise::all_orders;
use super::sample::{Content, Dims, Order, Row, Sample, SampleInput, table};

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new("matmul", matmul).gradient(&[0, 1]),
        Row::new("matmul", matmul_accumulate).gradient(&[0, 1, 2]),
        Row::new("fused_matmul", fused).gradient(&[0, 1]),
        Row::new("fused_matmul", fused_whole).gradient(&[0, 1, 2, 3]),
        Row::new("reduce", reduce).gradient(&[0]),
        Row::new("sum_squares", sum_squares).gradient(&[0, 1]),
    ]
}

/// Sizes: batch dims, m, n, k, and whether the right side is shared.
const SIZES: [(&[usize], usize, usize, usize, bool); 12] = [
    (&[], 1, 1, 1, true),
    (&[], 7, 9, 5, true),
    (&[], 33, 65, 129, true),
    (&[], 127, 129, 255, true),
    (&[], 1, 257, 64, true),
    (&[2], 5, 17, 31, true),
    (&[3], 5, 17, 31, false),
    (&[2, 3], 4, 33, 16, false),
    (&[2, 3], 4, 33, 16, true),
    (&[], 0, 5, 3, true),
    (&[], 4, 0, 3, true),
    (&[], 4, 5, 0, true),
];

fn product(
    dtype: DType,
    out_dtype: DType,
    (trans_a, trans_b): (bool, bool),
    (batch, m, n, k, shared): (&[usize], usize, usize, usize, bool),
    accumulate: bool,
) -> Sample {
    let matrix = |batch: &[usize], rows: usize, columns: usize, swapped: bool| {
        let mut dims = batch.to_vec();
        dims.extend(if swapped {
            [columns, rows]
        } else {
            [rows, columns]
        });
        dims
    };
    let mut inputs = vec![
        SampleInput::normal(dtype, matrix(batch, m, k, trans_a)),
        SampleInput::normal(
            dtype,
            matrix(if shared { &[] } else { batch }, k, n, trans_b),
        ),
    ];
    if accumulate {
        inputs.push(SampleInput::normal(out_dtype, matrix(batch, m, n, false)));
    }
    let op = MatMul {
        trans_a,
        trans_b,
        out_dtype,
    };
    let name = format!(
        "{batch:?} {m}x{n}x{k}{}{}{}{} to {out_dtype}",
        if trans_a { " at" } else { "" },
        if trans_b { " bt" } else { "" },
        if shared { " shared" } else { "" },
        if accumulate { " plus" } else { "" }
    );
    Sample::new(name, op, inputs)
}

const TRANSPOSES: [(bool, bool); 4] = [(false, false), (false, true), (true, false), (true, true)];

fn wide(dtype: DType) -> DType {
    if dtype == DType::F64 {
        DType::F64
    } else {
        DType::F32
    }
}

fn matmul(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for transposes in TRANSPOSES {
        for sizes in SIZES {
            samples.push(product(dtype, dtype, transposes, sizes, false));
        }
        if wide(dtype) != dtype {
            samples.push(product(dtype, wide(dtype), transposes, SIZES[2], false));
        }
        for sizes in [SIZES[2], SIZES[5], SIZES[7]] {
            let sample = product(dtype, dtype, transposes, sizes, false);
            samples.extend([Order::Transposed, Order::Sliced].map(|order| sample.ordered(order)));
        }
    }
    let batched = product(dtype, dtype, (false, false), SIZES[6], false);
    samples.push(batched.ordered(Order::Broadcast));
    samples
}

fn matmul_accumulate(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for transposes in TRANSPOSES {
        for sizes in SIZES {
            samples.push(product(dtype, wide(dtype), transposes, sizes, true));
        }
    }
    samples.push(product(dtype, dtype, (false, true), SIZES[3], true));
    samples
}

/// A product with what follows it.
fn follow(
    dtype: DType,
    transposes: (bool, bool),
    sizes: (&[usize], usize, usize, usize, bool),
    (bias, activation, residual): (bool, Option<UnaryKind>, bool),
) -> Sample {
    let (batch, m, n, ..) = sizes;
    let mut inputs = product(dtype, dtype, transposes, sizes, false).inputs;
    if bias {
        inputs.push(SampleInput::normal(dtype, [n]));
    }
    if residual {
        inputs.push(SampleInput::normal(dtype, [batch, &[m, n]].concat()));
    }
    let (trans_a, trans_b) = transposes;
    let product = MatMul {
        trans_a,
        trans_b,
        out_dtype: dtype,
    };
    let name = format!("{sizes:?} {transposes:?} {bias} {activation:?} {residual}");
    let op = FusedMatMul {
        product,
        bias,
        activation,
        residual,
    };
    Sample::new(name, op, inputs)
}

/// Parts of what may follow.
fn fused(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    let mut ways = vec![(true, None, false), (false, None, true)];
    ways.extend(FusedMatMul::ACTIVATIONS.map(|kind| (true, Some(kind), false)));
    ways.push((false, Some(UnaryKind::Silu), false));
    for (index, way) in ways.into_iter().enumerate() {
        for sizes in [SIZES[2], SIZES[8], SIZES[9], SIZES[11]] {
            let transposes = TRANSPOSES[index % 4];
            samples.push(follow(dtype, transposes, sizes, way));
        }
    }
    samples
}

/// All of it.
fn fused_whole(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (index, transposes) in TRANSPOSES.into_iter().enumerate() {
        let way = (true, Some(FusedMatMul::ACTIVATIONS[index % 3]), true);
        for sizes in [SIZES[0], SIZES[3], SIZES[6], SIZES[7]] {
            samples.push(follow(dtype, transposes, sizes, way));
        }
    }
    let sample = samples[1].clone();
    samples.extend(all_orders(sample).into_iter().skip(1));
    samples
}

fn reduce(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for kind in [ReduceKind::Sum, ReduceKind::Mean, ReduceKind::Max] {
        let make = |shape: &[usize], dims: &[usize], keep: bool| {
            let op = Reduce {
                kind,
                dims: dims.to_vec(),
                keep,
            };
            // Away from 0, so that sums do not cancel.
            let input = SampleInput::new(dtype, shape, Content::Uniform(-0.5, 1.5));
            Sample::new(
                format!("{kind:?} {shape:?} {dims:?} keep={keep}"),
                op,
                vec![input],
            )
        };
        let cases: [(&[usize], &[usize]); 12] = [
            (&[], &[]),
            (&[1], &[0]),
            (&[127], &[0]),
            (&[5003], &[0]),
            (&[3, 129], &[1]),
            (&[129, 3], &[0]),
            (&[3, 129], &[]),
            (&[2, 3, 65], &[0, 2]),
            (&[2, 3, 65], &[1]),
            (&[2, 3, 65], &[0, 1, 2]),
            (&[255, 33], &[0]),
            (&[0, 5], &[1]),
        ];
        for (shape, dims) in cases {
            samples.push(make(shape, dims, false));
            samples.push(make(shape, dims, true));
        }
        if kind == ReduceKind::Sum {
            samples.push(make(&[0, 5], &[0], false));
        }
        samples.extend(all_orders(make(&[3, 65], &[1], false)).into_iter().skip(1));
        samples.extend(all_orders(make(&[3, 65], &[0], false)).into_iter().skip(1));
    }
    // Whatever is not a number stays seen.
    for kind in [ReduceKind::Sum, ReduceKind::Mean] {
        let input = SampleInput::new(dtype, [4], Content::Values(vec![1.0, f64::NAN, 2.0, 3.0]));
        let op = Reduce {
            kind,
            dims: vec![0],
            keep: false,
        };
        samples.push(Sample::new(format!("{kind:?} NaN"), op, vec![input]));
    }
    samples
}

fn sum_squares(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for shapes in table::<[Dims; 2], _>([[&[127], &[3, 129]], [&[], &[1]], [&[0, 5], &[5003]]]) {
        let inputs = shapes.map(|shape| SampleInput::normal(dtype, shape)).into();
        samples.push(Sample::new(format!("{shapes:?}"), SumSquares {}, inputs));
    }
    let first = samples[0].clone();
    samples.extend(all_orders(first).into_iter().skip(1));
    samples
}
