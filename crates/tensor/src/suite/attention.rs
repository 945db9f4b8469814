//! Rows of attention and of the loss.

use cairn_formats::DType;
use cairn_graph::ops::cross_entropy::CrossEntropyConfig;
use cairn_graph::ops::{
    Attention, AttentionGrad, CrossEntropy, CrossEntropyGrad, CrossEntropyWithGrad,
};

use super::sample::{Content, Order, Row, Sample, SampleInput};

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new("attention", attention)
            .gradient(&[0, 1, 2])
            .rounds_inside(),
        Row::new("attention_grad", attention_grad).rounds_inside(),
        Row::new("cross_entropy", cross_entropy).gradient(&[0, 1]),
        Row::new("cross_entropy_grad", cross_entropy_grad).rounds_inside(),
        Row::new("cross_entropy_with_grad", cross_entropy_with_grad).rounds_inside(),
    ]
}

fn statistics(dtype: DType) -> DType {
    if dtype == DType::F64 {
        DType::F64
    } else {
        DType::F32
    }
}

/// Sizes of one attention, and where its first query stands, if not at the end.
#[derive(Clone, Copy)]
struct Sizes {
    b: usize,
    sq: usize,
    sk: usize,
    hq: usize,
    hk: usize,
    d: usize,
    dv: usize,
    causal: bool,
    start: Option<i64>,
}

#[rustfmt::skip]
fn sizes() -> Vec<Sizes> {
    let plain = Sizes { b: 1, sq: 1, sk: 1, hq: 1, hk: 1, d: 1, dv: 1, causal: true, start: None };
    vec![
        plain,
        Sizes { b: 2, sq: 5, sk: 5, hq: 6, hk: 2, d: 8, dv: 8, ..plain },
        Sizes { b: 2, sq: 5, sk: 5, hq: 6, hk: 2, d: 8, dv: 8, causal: false, ..plain },
        Sizes { b: 1, sq: 127, sk: 127, hq: 2, hk: 1, d: 16, dv: 16, ..plain },
        Sizes { b: 1, sq: 129, sk: 129, hq: 4, hk: 4, d: 64, dv: 64, ..plain },
        Sizes { b: 1, sq: 65, sk: 255, hq: 2, hk: 2, d: 32, dv: 16, causal: false, ..plain },
        Sizes { b: 1, sq: 3, sk: 130, hq: 4, hk: 2, d: 33, dv: 17, ..plain },
        // Decoding: one query in the middle of a cache.
        Sizes { b: 2, sq: 1, sk: 140, hq: 4, hk: 2, d: 16, dv: 16, start: Some(77), ..plain },
        Sizes { b: 1, sq: 4, sk: 9, hq: 2, hk: 1, d: 8, dv: 8, start: Some(0), ..plain },
        // The first two queries see nothing.
        Sizes { b: 1, sq: 4, sk: 6, hq: 2, hk: 2, d: 8, dv: 8, start: Some(-2), ..plain },
        Sizes { b: 0, sq: 4, sk: 4, hq: 2, hk: 2, d: 8, dv: 8, ..plain },
        Sizes { b: 1, sq: 0, sk: 4, hq: 2, hk: 2, d: 8, dv: 8, ..plain },
    ]
}

/// Heads that matrix instructions take, in bf16: several tiles of queries and of keys, whole
/// and not.
#[rustfmt::skip]
fn tiled() -> Vec<Sizes> {
    let plain = Sizes { b: 1, sq: 1, sk: 1, hq: 1, hk: 1, d: 64, dv: 64, causal: true, start: None };
    vec![
        Sizes { b: 1, sq: 130, sk: 200, hq: 4, hk: 2, d: 128, dv: 128, ..plain },
        Sizes { b: 2, sq: 70, sk: 192, hq: 2, hk: 1, d: 96, dv: 96, causal: false, ..plain },
        Sizes { b: 1, sq: 33, sk: 131, hq: 2, hk: 2, d: 192, dv: 192, start: Some(75), ..plain },
        Sizes { b: 1, sq: 40, sk: 70, hq: 3, hk: 1, d: 192, dv: 128, causal: false, ..plain },
        Sizes { b: 1, sq: 3, sk: 0, hq: 2, hk: 1, causal: false, ..plain },
        Sizes { b: 1, sq: 0, sk: 3, hq: 2, hk: 1, ..plain },
        // No query of the first tile sees anything.
        Sizes { b: 1, sq: 200, sk: 40, hq: 2, hk: 1, start: Some(-140), ..plain },
    ]
}

/// The sizes that samples of a dtype have.
fn sizes_for(dtype: DType) -> Vec<Sizes> {
    let mut all = sizes();
    if dtype == DType::BF16 {
        all.extend(tiled());
    }
    all
}

impl Sizes {
    fn name(&self) -> String {
        let Self {
            b,
            sq,
            sk,
            hq,
            hk,
            d,
            dv,
            causal,
            start,
        } = self;
        let start = start
            .map(|start| format!(" start={start}"))
            .unwrap_or_default();
        format!("b={b} s={sq}/{sk} h={hq}/{hk} d={d}/{dv} causal={causal}{start}")
    }

    fn scale(&self) -> f64 {
        1.0 / (self.d as f64).sqrt()
    }

    fn operands(&self, dtype: DType) -> Vec<SampleInput> {
        let normal = |s: usize, h: usize, d: usize| SampleInput::normal(dtype, [self.b, s, h, d]);
        vec![
            normal(self.sq, self.hq, self.d),
            normal(self.sk, self.hk, self.d),
            normal(self.sk, self.hk, self.dv),
        ]
    }

    fn push_start(&self, inputs: &mut Vec<SampleInput>) {
        if let Some(start) = self.start {
            inputs.push(SampleInput::new(
                DType::I32,
                [],
                Content::Values(vec![start as f64]),
            ));
        }
    }
}

fn attention(dtype: DType) -> Vec<Sample> {
    let make = |sizes: &Sizes| {
        let mut inputs = sizes.operands(dtype);
        sizes.push_start(&mut inputs);
        let op = Attention {
            scale: sizes.scale(),
            causal: sizes.causal,
        };
        Sample::new(sizes.name(), op, inputs)
    };
    let mut samples: Vec<Sample> = sizes_for(dtype).iter().map(make).collect();
    // Scores far beyond what e^x can hold.
    let mut large = make(&sizes()[1]);
    large.name.push_str(" large");
    large.inputs[0].content = Content::Normal(60.0);
    large.inputs[1].content = Content::Normal(3.0);
    if dtype == DType::F32 {
        samples.push(large);
    }
    let first = make(&sizes()[1]);
    samples.extend(
        [Order::Transposed, Order::Sliced, Order::Broadcast].map(|order| first.ordered(order)),
    );
    samples
}

fn attention_grad(dtype: DType) -> Vec<Sample> {
    let make = |sizes: &Sizes| {
        let out = [sizes.b, sizes.sq, sizes.hq, sizes.dv];
        let rows = [sizes.b, sizes.hq, sizes.sq];
        let mut inputs = sizes.operands(dtype);
        inputs.push(SampleInput::new(dtype, out, Content::Normal(0.3)));
        // As large as it is for normal scores, so that probabilities stay near 1.
        let keys = (sizes.sk.max(1) as f64).ln();
        inputs.push(SampleInput::new(
            statistics(dtype),
            rows,
            Content::Uniform(keys, keys + 1.0),
        ));
        inputs.push(SampleInput::normal(dtype, out));
        sizes.push_start(&mut inputs);
        let op = AttentionGrad {
            scale: sizes.scale(),
            causal: sizes.causal,
        };
        Sample::new(sizes.name(), op, inputs)
    };
    let mut samples: Vec<Sample> = sizes_for(dtype).iter().map(make).collect();
    let first = make(&sizes()[1]);
    samples.extend(
        [Order::Transposed, Order::Sliced, Order::Broadcast].map(|order| first.ordered(order)),
    );
    samples
}

/// Tokens, size of the state, vocabulary, chunk, z-loss, least target.
type LossCase = (&'static [usize], usize, usize, usize, f64, i64);

const LOSSES: [LossCase; 7] = [
    (&[13], 6, 37, 4, 0.0, -3),
    (&[2, 5], 33, 129, 1024, 1e-2, 0),
    (&[1], 1, 1, 1, 0.0, 0),
    (&[127], 16, 255, 32, 1e-3, -20),
    (&[3], 8, 2053, 2, 0.0, 0),
    // Nothing counts.
    (&[4], 8, 9, 4, 1e-2, -9),
    (&[0], 8, 9, 4, 0.0, 0),
];

fn losses(
    dtype: DType,
    with_gradient: bool,
    make: impl Fn(CrossEntropyConfig, String, Vec<SampleInput>) -> Sample,
) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (tokens, d, v, chunk, z_loss, least) in LOSSES {
        let mut state = tokens.to_vec();
        state.push(d);
        let ignored = least == -9;
        let targets = Content::Integers(least, if ignored { 0 } else { v as i64 });
        let mut inputs = vec![
            SampleInput::normal(dtype, state),
            SampleInput::new(dtype, [v, d], Content::Normal(0.7)),
            SampleInput::new(DType::I32, tokens, targets),
        ];
        if with_gradient {
            let dloss = Content::Values(vec![0.375]);
            inputs.push(SampleInput::new(statistics(dtype), [], dloss));
        }
        let name = format!("{tokens:?} d={d} v={v} chunk={chunk} z={z_loss} targets from {least}");
        samples.push(make(CrossEntropyConfig { z_loss, chunk }, name, inputs));
    }
    let first = samples[1].clone();
    samples.extend([Order::Transposed, Order::Sliced].map(|order| first.ordered(order)));
    // With equal rows of the weight the gradient of the state would cancel.
    let mut equal = first.ordered(Order::Broadcast);
    equal.inputs[1].order = Order::Contiguous;
    samples.push(equal);
    samples
}

fn cross_entropy(dtype: DType) -> Vec<Sample> {
    losses(dtype, false, |config, name, inputs| {
        Sample::new(name, CrossEntropy { config }, inputs)
    })
}

fn cross_entropy_grad(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for weight_dtype in [dtype, statistics(dtype)] {
        samples.extend(losses(dtype, true, |config, name, inputs| {
            let op = CrossEntropyGrad {
                config,
                weight_dtype,
            };
            Sample::new(format!("{name} to {weight_dtype}"), op, inputs)
        }));
    }
    samples
}

fn cross_entropy_with_grad(dtype: DType) -> Vec<Sample> {
    losses(dtype, true, |config, name, inputs| {
        let weight_dtype = statistics(dtype);
        Sample::new(
            name,
            CrossEntropyWithGrad {
                config,
                weight_dtype,
            },
            inputs,
        )
    })
}
