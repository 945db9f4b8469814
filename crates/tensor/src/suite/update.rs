//! Rows of updates of states.

use cairn_formats::DType;
use cairn_graph::ops::{AdamW, Assign, CacheWrite};

use super::sample::{Content, Dims, Order, Row, Sample, SampleInput, table};

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new("adamw", adamw).dtypes(&[DType::F64, DType::F32]),
        Row::new("assign", assign).dtypes(&[
            DType::F64,
            DType::F32,
            DType::BF16,
            DType::F16,
            DType::I32,
            DType::I64,
        ]),
        Row::new("cache_write", cache_write),
    ]
}

fn adamw(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (shape, weight_decay, grad, copy, apply) in
        table::<(Dims, f64, DType, Option<DType>, f64), _>([
            (&[127], 0.1, dtype, None, 1.0),
            (&[3, 129], 0.0, dtype, Some(DType::BF16), 1.0),
            (&[1031], 0.1, DType::BF16, Some(DType::BF16), 1.0),
            (&[33], 0.1, dtype, Some(DType::F16), 1.0),
            (&[33], 0.1, dtype, Some(DType::BF16), 0.0),
            (&[], 0.1, dtype, None, 1.0),
            (&[1], 0.1, dtype, None, 1.0),
            (&[0], 0.1, dtype, None, 1.0),
        ])
    {
        let mut inputs = vec![
            SampleInput::normal(dtype, shape),
            SampleInput::normal(grad, shape),
            SampleInput::new(dtype, shape, Content::Normal(0.1)),
            SampleInput::new(dtype, shape, Content::Uniform(0.0, 0.1)),
            SampleInput::new(dtype, [3], Content::Values(vec![1e-2, 0.19, 0.0975])),
            SampleInput::new(dtype, [], Content::Values(vec![0.125])),
            SampleInput::new(dtype, [], Content::Values(vec![apply])),
        ];
        if let Some(copy) = copy {
            inputs.push(SampleInput::normal(copy, shape));
        }
        let op = AdamW {
            beta1: 0.9,
            beta2: 0.95,
            eps: 1e-8,
            weight_decay,
            copy: copy.is_some(),
        };
        let name =
            format!("{shape:?} decay={weight_decay} grad={grad} copy={copy:?} apply={apply}");
        samples.push(Sample::new(name, op, inputs));
    }
    // States lie as they were made; only the gradient comes from elsewhere.
    let plain = samples[1].clone();
    for order in [Order::Transposed, Order::Sliced, Order::Broadcast] {
        let mut sample = plain.clone();
        sample.name = format!("{} grad {order:?}", plain.name).to_lowercase();
        sample.inputs[1] = sample.inputs[1].clone().ordered(order);
        samples.push(sample);
    }
    samples
}

fn assign(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for shape in table::<Dims, _>([&[], &[1], &[3, 129], &[0, 5]]) {
        let content = if dtype.is_float() {
            Content::Normal(1.0)
        } else {
            Content::Integers(-9, 10)
        };
        let state = SampleInput::new(dtype, shape, content.clone());
        for order in [
            Order::Contiguous,
            Order::Transposed,
            Order::Sliced,
            Order::Broadcast,
        ] {
            let value = SampleInput::new(dtype, shape, content.clone()).ordered(order);
            samples.push(Sample::new(
                format!("{shape:?} from {order:?}").to_lowercase(),
                Assign {},
                vec![state.clone(), value],
            ));
        }
    }
    samples
}

fn cache_write(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (b, max, s, h, d, position) in [
        (1, 1, 1, 1, 1, 0.0),
        (2, 9, 3, 2, 5, 4.0),
        (2, 9, 1, 2, 5, 8.0),
        (2, 9, 0, 2, 5, 9.0),
        (1, 7, 7, 1, 33, 0.0),
    ] {
        for order in [
            Order::Contiguous,
            Order::Transposed,
            Order::Sliced,
            Order::Broadcast,
        ] {
            let inputs = vec![
                SampleInput::normal(dtype, [b, max, h, d]),
                SampleInput::normal(dtype, [b, s, h, d]).ordered(order),
                SampleInput::new(DType::I32, [], Content::Values(vec![position])),
            ];
            let name = format!("{b}x{max}x{h}x{d} {s} at {position} {order:?}").to_lowercase();
            samples.push(Sample::new(name, CacheWrite {}, inputs));
        }
    }
    samples
}
