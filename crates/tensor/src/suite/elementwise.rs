//! Rows of elementwise operators, casts, gated units and dropout.

use cairn_formats::DType;
use cairn_graph::ops::{
    Binary, BinaryKind, Cast, Dropout, Glu, GluGrad, GluKind, Select, Unary, UnaryKind,
};

use super::sample::{Content, Dims, Order, Row, Sample, SampleInput, table};

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new("unary", unary).gradient(&[0]),
        Row::new("binary", binary),
        // The kinds that have a gradient.
        Row::new("binary", smooth_binary).gradient(&[0, 1]),
        Row::new("select", select).gradient(&[1, 2]),
        Row::new("cast", cast).dtypes(&[
            DType::F64,
            DType::F32,
            DType::BF16,
            DType::F16,
            DType::I32,
            DType::I64,
        ]),
        Row::new("glu", glu).gradient(&[0, 1]),
        Row::new("glu_grad", glu_grad),
        Row::new("dropout", dropout).gradient(&[0]),
    ]
}

/// Shapes every elementwise operator is tried on.
pub(super) const SHAPES: [&[usize]; 7] = [
    &[],
    &[1],
    &[127],
    &[3, 129],
    &[0, 5],
    &[2, 3, 33],
    &[5, 1031],
];

/// A sample in all memory orders.
pub(super) fn all_orders(sample: Sample) -> Vec<Sample> {
    let others =
        [Order::Transposed, Order::Sliced, Order::Broadcast].map(|order| sample.ordered(order));
    std::iter::once(sample).chain(others).collect()
}

fn unary(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for kind in UnaryKind::ALL {
        let content = match kind {
            UnaryKind::Log | UnaryKind::Sqrt | UnaryKind::Rsqrt => Content::Uniform(0.1, 5.0),
            UnaryKind::Reciprocal => Content::Uniform(0.2, 4.0),
            _ => Content::Normal(2.0),
        };
        for shape in SHAPES {
            let input = SampleInput::new(dtype, shape, content.clone());
            samples.push(Sample::new(
                format!("{kind:?} {shape:?}"),
                Unary { kind },
                vec![input],
            ));
        }
        let input = SampleInput::new(dtype, [3, 65], content);
        let sample = Sample::new(format!("{kind:?} [3, 65]"), Unary { kind }, vec![input]);
        samples.extend(all_orders(sample).into_iter().skip(1));
    }
    samples.extend(extremes(dtype));
    samples
}

/// Where naive formulas overflow.
fn extremes(dtype: DType) -> Vec<Sample> {
    let values = vec![-60.0, -20.0, -11.0, 0.0, 9.0, 20.0, 60.0];
    [
        UnaryKind::Tanh,
        UnaryKind::Sigmoid,
        UnaryKind::Silu,
        UnaryKind::Gelu,
    ]
    .map(|kind| {
        let input = SampleInput::new(dtype, [7], Content::Values(values.clone()));
        Sample::new(format!("{kind:?} extremes"), Unary { kind }, vec![input])
    })
    .into()
}

fn pairs(dtype: DType, kinds: &[BinaryKind], contents: [Content; 2]) -> Vec<Sample> {
    let shapes: [(&[usize], &[usize]); 11] = [
        (&[], &[]),
        (&[1], &[1]),
        (&[127], &[127]),
        (&[3, 129], &[3, 129]),
        (&[3, 129], &[129]),
        (&[3, 129], &[3, 1]),
        (&[129], &[3, 1]),
        (&[2, 3, 33], &[]),
        (&[], &[2, 3, 33]),
        (&[2, 1, 33], &[1, 5, 1]),
        (&[0, 5], &[5]),
    ];
    let mut samples = Vec::new();
    for kind in kinds {
        let sample = |a: &[usize], b: &[usize]| {
            let inputs = vec![
                SampleInput::new(dtype, a, contents[0].clone()),
                SampleInput::new(dtype, b, contents[1].clone()),
            ];
            Sample::new(
                format!("{kind:?} {a:?} {b:?}"),
                Binary { kind: *kind },
                inputs,
            )
        };
        samples.extend(shapes.iter().map(|(a, b)| sample(a, b)));
        samples.extend(all_orders(sample(&[3, 65], &[3, 65])).into_iter().skip(1));
        // One operand as it lies, the other transposed.
        let mut mixed = sample(&[65, 3], &[65, 3]);
        mixed.name.push_str(" mixed");
        mixed.inputs[1] = mixed.inputs[1].clone().ordered(Order::Transposed);
        samples.push(mixed);
    }
    samples
}

fn smooth_binary(dtype: DType) -> Vec<Sample> {
    use BinaryKind as K;
    let mut samples = pairs(
        dtype,
        &[K::Add, K::Sub, K::Mul, K::Max, K::Min],
        [Content::Normal(1.0), Content::Normal(1.0)],
    );
    samples.extend(pairs(
        dtype,
        &[K::Div],
        [Content::Normal(1.0), Content::Uniform(0.5, 2.0)],
    ));
    samples
}

/// Comparisons and extrema of values with many ties, and integers.
fn binary(dtype: DType) -> Vec<Sample> {
    use BinaryKind as K;
    let kinds = [K::Greater, K::GreaterEqual, K::Equal, K::Max, K::Min];
    pairs(
        dtype,
        &kinds,
        [Content::Integers(-2, 3), Content::Integers(-2, 3)],
    )
}

fn select(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for condition in [dtype, DType::I32, DType::U8] {
        for shape in table::<Dims, _>([&[], &[127], &[3, 129], &[0, 5], &[1]]) {
            let inputs = vec![
                SampleInput::new(condition, shape, Content::Integers(0, 2)),
                SampleInput::normal(dtype, shape),
                SampleInput::normal(dtype, shape),
            ];
            samples.push(Sample::new(
                format!("{condition} {shape:?}"),
                Select {},
                inputs,
            ));
        }
    }
    let strided = samples[2].clone();
    samples.extend(all_orders(strided).into_iter().skip(1));
    samples
}

fn cast(from: DType) -> Vec<Sample> {
    let targets = [
        DType::F64,
        DType::F32,
        DType::BF16,
        DType::F16,
        DType::I32,
        DType::I64,
        DType::U8,
    ];
    let mut samples = Vec::new();
    for to in targets {
        let content = if to == DType::U8 || !from.is_float() {
            Content::Integers(0, 200)
        } else {
            Content::Normal(30.0)
        };
        for shape in SHAPES {
            let input = SampleInput::new(from, shape, content.clone());
            samples.push(Sample::new(
                format!("to {to} {shape:?}"),
                Cast { dtype: to },
                vec![input],
            ));
        }
        let input = SampleInput::new(from, [3, 65], content);
        let sample = Sample::new(format!("to {to} [3, 65]"), Cast { dtype: to }, vec![input]);
        samples.extend(all_orders(sample).into_iter().skip(1));
    }
    samples
}

fn glu(dtype: DType) -> Vec<Sample> {
    gated(dtype, 2, |kind| {
        move |name, inputs| Sample::new(name, Glu { kind }, inputs)
    })
}

fn glu_grad(dtype: DType) -> Vec<Sample> {
    gated(dtype, 3, |kind| {
        move |name, inputs| Sample::new(name, GluGrad { kind }, inputs)
    })
}

fn gated<F: Fn(String, Vec<SampleInput>) -> Sample>(
    dtype: DType,
    operands: usize,
    make: impl Fn(GluKind) -> F,
) -> Vec<Sample> {
    let mut samples = Vec::new();
    for kind in [GluKind::Swiglu, GluKind::Geglu] {
        let make = make(kind);
        for shape in SHAPES {
            let inputs = vec![SampleInput::new(dtype, shape, Content::Normal(2.0)); operands];
            samples.push(make(format!("{kind:?} {shape:?}"), inputs));
        }
        let inputs = vec![SampleInput::normal(dtype, [3, 65]); operands];
        samples.extend(
            all_orders(make(format!("{kind:?} [3, 65]"), inputs))
                .into_iter()
                .skip(1),
        );
    }
    samples
}

fn dropout(dtype: DType) -> Vec<Sample> {
    let rng = || SampleInput::new(DType::I64, [2], Content::Values(vec![1234.0, 7.0]));
    let mut samples = Vec::new();
    for (p, shape) in table::<(f64, Dims), _>([
        (0.0, &[3, 129]),
        (0.1, &[]),
        (0.1, &[1031]),
        (0.5, &[3, 129]),
        (0.9, &[2, 3, 33]),
        (0.5, &[0, 5]),
        (0.5, &[1]),
    ]) {
        let op = Dropout { p, key: 42 };
        let inputs = vec![SampleInput::normal(dtype, shape), rng()];
        samples.push(Sample::new(format!("p={p} {shape:?}"), op, inputs));
    }
    for order in [Order::Transposed, Order::Sliced, Order::Broadcast] {
        let op = Dropout {
            p: 0.3,
            key: 1 << 40,
        };
        let inputs = vec![SampleInput::normal(dtype, [3, 65]).ordered(order), rng()];
        samples.push(Sample::new(
            format!("p=0.3 {order:?}").to_lowercase(),
            op,
            inputs,
        ));
    }
    samples
}
