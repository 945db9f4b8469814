//! Rows of softmax and norms. Statistics given to gradients are any numbers:
//! a kernel may not assume that they belong to the input.

use cairn_formats::DType;
use cairn_graph::ops::{LayerNorm, LayerNormGrad, RmsNorm, RmsNormGrad, Softmax, SoftmaxGrad};

use super::elementwise::all_orders;
use super::sample::{Content, Order, Row, Sample, SampleInput};

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new("softmax", softmax).gradient(&[0]),
        Row::new("softmax_grad", softmax_grad),
        Row::new("rmsnorm", rmsnorm).gradient(&[0, 1]),
        Row::new("rmsnorm_grad", rmsnorm_grad),
        Row::new("layernorm", layernorm).gradient(&[0, 1, 2]),
        Row::new("layernorm_grad", layernorm_grad),
    ]
}

const SHAPES: [&[usize]; 8] = [
    &[7],
    &[3, 127],
    &[2, 3, 129],
    &[5, 320],
    &[65, 33],
    &[257, 16],
    &[0, 5],
    &[2, 1],
];

fn statistics(dtype: DType) -> DType {
    if dtype == DType::F64 {
        DType::F64
    } else {
        DType::F32
    }
}

fn softmax(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for log in [false, true] {
        let make = |shape: &[usize], content: Content| {
            let name = format!("log={log} {shape:?} {content:?}");
            Sample::new(
                name,
                Softmax { log },
                vec![SampleInput::new(dtype, shape, content)],
            )
        };
        samples.extend(SHAPES.map(|shape| make(shape, Content::Normal(2.0))));
        samples.extend(
            all_orders(make(&[3, 65], Content::Normal(1.0)))
                .into_iter()
                .skip(1),
        );
        // Beyond what e^x can hold.
        samples.push(make(
            &[2, 5],
            Content::Values(vec![900.0, 901.0, -900.0, 899.5, 0.0]),
        ));
        // Masked elements, the first of a row too.
        samples.push(make(
            &[2, 3],
            Content::Values(vec![f64::NEG_INFINITY, 1.0, 2.0]),
        ));
    }
    samples
}

fn softmax_grad(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for log in [false, true] {
        let y = if log {
            Content::Uniform(-4.0, -0.1)
        } else {
            Content::Uniform(0.0, 0.9)
        };
        let make = |shape: &[usize]| {
            let inputs = vec![
                SampleInput::new(dtype, shape, y.clone()),
                SampleInput::normal(dtype, shape),
            ];
            Sample::new(format!("log={log} {shape:?}"), SoftmaxGrad { log }, inputs)
        };
        samples.extend(SHAPES.map(make));
        samples.extend(all_orders(make(&[3, 65])).into_iter().skip(1));
    }
    samples
}

/// A sample with a compute-dtype weight and, where that differs, a wide one.
fn weights(dtype: DType, make: impl Fn(&[usize], DType) -> Sample) -> Vec<Sample> {
    let mut samples: Vec<Sample> = SHAPES.iter().map(|shape| make(shape, dtype)).collect();
    samples.push(make(&[3, 129], statistics(dtype)));
    // The weight stays contiguous: a vector has no other useful order.
    for order in [Order::Transposed, Order::Sliced, Order::Broadcast] {
        let mut sample = make(&[3, 65], dtype);
        for input in &mut sample.inputs {
            if input.ty.shape.ndim() > 1 {
                *input = input.clone().ordered(order);
            }
        }
        sample.name = format!("{} {order:?}", sample.name).to_lowercase();
        samples.push(sample);
    }
    samples
}

fn weight(dtype: DType, shape: &[usize]) -> SampleInput {
    let d = shape.last().copied().unwrap_or(1);
    SampleInput::new(dtype, [d], Content::Uniform(0.5, 1.5))
}

fn row_statistics(dtype: DType, shape: &[usize], content: Content) -> SampleInput {
    SampleInput::new(statistics(dtype), &shape[..shape.len() - 1], content)
}

fn rmsnorm(dtype: DType) -> Vec<Sample> {
    weights(dtype, |shape, wide| {
        let inputs = vec![
            SampleInput::new(dtype, shape, Content::Normal(3.0)),
            weight(wide, shape),
        ];
        Sample::new(
            format!("{shape:?} weight {wide}"),
            RmsNorm { eps: 1e-5 },
            inputs,
        )
    })
}

fn rmsnorm_grad(dtype: DType) -> Vec<Sample> {
    let make = |shape: &[usize], wide: DType, residual: bool| {
        let mut inputs = vec![
            SampleInput::normal(dtype, shape),
            weight(wide, shape),
            row_statistics(dtype, shape, Content::Uniform(0.4, 1.2)),
            SampleInput::normal(dtype, shape),
        ];
        if residual {
            inputs.push(SampleInput::normal(dtype, shape));
        }
        let name = format!("{shape:?} weight {wide} residual={residual}");
        Sample::new(name, RmsNormGrad { weight_dtype: wide }, inputs)
    };
    let mut samples = weights(dtype, |shape, wide| make(shape, wide, false));
    samples.extend(weights(dtype, |shape, wide| make(shape, wide, true)));
    samples
}

fn layernorm(dtype: DType) -> Vec<Sample> {
    weights(dtype, |shape, wide| {
        let inputs = vec![
            SampleInput::new(dtype, shape, Content::Normal(3.0)),
            weight(wide, shape),
            weight(wide, shape),
        ];
        // Of one element the variance is 0: the bias alone is left.
        Sample::new(
            format!("{shape:?} weight {wide}"),
            LayerNorm { eps: 1e-5 },
            inputs,
        )
    })
}

fn layernorm_grad(dtype: DType) -> Vec<Sample> {
    weights(dtype, |shape, wide| {
        let inputs = vec![
            SampleInput::normal(dtype, shape),
            weight(wide, shape),
            row_statistics(dtype, shape, Content::Normal(0.3)),
            row_statistics(dtype, shape, Content::Uniform(0.4, 1.2)),
            SampleInput::normal(dtype, shape),
        ];
        Sample::new(
            format!("{shape:?} weight {wide}"),
            LayerNormGrad { weight_dtype: wide },
            inputs,
        )
    })
}
