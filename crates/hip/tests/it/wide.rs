//! Sizes at which kernels move blocks, keep rows in registers and take several stages:
//! the operator table has the awkward ones.

use cairn_formats::DType;
use cairn_graph::ops::cross_entropy::CrossEntropyConfig;
use cairn_graph::ops::{
    AdamW, Binary, BinaryKind, CacheWrite, Cast, CrossEntropyWithGrad, Dropout, Embedding,
    EmbeddingGrad, Glu, GluGrad, GluKind, LayerNorm, LayerNormGrad, Reduce, ReduceKind, RmsNorm,
    RmsNormGrad, Rope, Select, Softmax, SoftmaxGrad, SumSquares, Transpose, Unary, UnaryKind,
};
use cairn_tensor::suite::{self, Content, Order, Row, Sample, SampleInput};

use crate::support::{on_each, pool};

#[test]
fn wide_sizes_pass_the_gates_of_the_operator_table() {
    on_each(
        "wide::wide_sizes_pass_the_gates_of_the_operator_table",
        |gpu| {
            let rows = rows();
            let report = suite::check_backend(gpu, &pool(), &rows, &|_| true);
            println!("{report}");
            assert_eq!(report.describe_failures(), "");
            let ran = report.cases.iter().filter(|case| case.passed()).count();
            assert!(ran >= 2 * rows.len(), "{ran}");
        },
    );
}

/// Rows of a block and a part, of two blocks of all waves and a part, and longer than
/// registers hold.
const ROWS: [[usize; 2]; 3] = [[43, 520], [3, 4104], [2, 16392]];

/// Elements of two workgroups that move blocks, with a part of a block at the end.
const ELEMENTS: usize = 4096 + 2048 + 613;

fn rows() -> Vec<Row> {
    let mut rows = elements();
    rows.extend(norms());
    rows.extend(others());
    let floats = [DType::F32, DType::BF16];
    rows.into_iter().map(|row| row.dtypes(&floats)).collect()
}

fn sample(op: impl cairn_graph::Op + 'static, inputs: Vec<SampleInput>) -> Sample {
    let shapes: Vec<_> = inputs
        .iter()
        .map(|input| format!("{:?} {:?}", input.ty.shape.dims(), input.order))
        .collect();
    Sample::new(shapes.join(", "), op, inputs)
}

fn normal(dtype: DType, count: usize) -> Vec<SampleInput> {
    vec![SampleInput::normal(dtype, [ELEMENTS]); count]
}

fn elements() -> Vec<Row> {
    let kinds = [GluKind::Swiglu, GluKind::Geglu];
    vec![
        Row::new("binary", |dtype| {
            let add = sample(
                Binary {
                    kind: BinaryKind::Add,
                },
                normal(dtype, 2),
            );
            let sub = |second: &[usize], order| {
                let inputs = vec![
                    SampleInput::normal(dtype, [70, 512]),
                    SampleInput::normal(dtype, second).ordered(order),
                ];
                let kind = BinaryKind::Sub;
                sample(Binary { kind }, inputs)
            };
            vec![
                add,
                sub(&[70, 512], Order::Contiguous),
                sub(&[70, 1], Order::Contiguous),
                sub(&[512], Order::Contiguous),
                sub(&[70, 512], Order::Transposed),
                sub(&[70, 512], Order::Sliced),
            ]
        }),
        Row::new("unary", |dtype| {
            let kinds = [UnaryKind::Silu, UnaryKind::Tanh, UnaryKind::Cos];
            let make = |kind| sample(Unary { kind }, normal(dtype, 1));
            kinds.map(make).into()
        }),
        Row::new("glu", move |dtype| {
            let make = |kind| sample(Glu { kind }, normal(dtype, 2));
            kinds.map(make).into()
        }),
        Row::new("glu_grad", move |dtype| {
            let make = |kind| sample(GluGrad { kind }, normal(dtype, 3));
            kinds.map(make).into()
        }),
        Row::new("cast", |dtype| {
            let to = [DType::F32, DType::BF16, DType::I32, DType::F64];
            let make = |dtype_to| {
                let input = SampleInput::new(dtype, [ELEMENTS], Content::Normal(90.0));
                sample(Cast { dtype: dtype_to }, vec![input])
            };
            to.into_iter().filter(|to| *to != dtype).map(make).collect()
        }),
        Row::new("select", |dtype| {
            let make = |condition| {
                let mut inputs = normal(dtype, 2);
                let content = Content::Integers(0, 2);
                inputs.insert(0, SampleInput::new(condition, [ELEMENTS], content));
                sample(Select {}, inputs)
            };
            [DType::I32, DType::U8].map(make).into()
        }),
        Row::new("dropout", |dtype| {
            let mut inputs = normal(dtype, 1);
            let rng = Content::Values(vec![1234.0, 7.0]);
            inputs.push(SampleInput::new(DType::I64, [2], rng));
            vec![sample(Dropout { p: 0.3, key: 42 }, inputs)]
        }),
        Row::new("adamw", |dtype| {
            let state = |content| SampleInput::new(DType::F32, [ELEMENTS], content);
            let rates = |values: Vec<f64>| {
                let dims: &[usize] = if values.len() == 1 { &[] } else { &[3] };
                SampleInput::new(DType::F32, dims, Content::Values(values))
            };
            let inputs = vec![
                state(Content::Normal(1.0)),
                SampleInput::normal(dtype, [ELEMENTS]),
                state(Content::Normal(0.1)),
                state(Content::Uniform(0.0, 0.1)),
                rates(vec![1e-2, 0.19, 0.0975]),
                rates(vec![0.125]),
                rates(vec![1.0]),
                SampleInput::normal(DType::BF16, [ELEMENTS]),
            ];
            let op = AdamW {
                beta1: 0.9,
                beta2: 0.95,
                eps: 1e-8,
                weight_decay: 0.1,
                copy: true,
            };
            vec![sample(op, inputs)]
        }),
        Row::new("sum_squares", |dtype| {
            let input = SampleInput::normal(dtype, [16384 + 8192 + 77]);
            vec![sample(SumSquares {}, vec![input])]
        }),
    ]
}

fn norms() -> Vec<Row> {
    /// Samples of each shape, with a weight of the same dtype and one in f32.
    fn each(dtype: DType, make: impl Fn([usize; 2], DType) -> Sample) -> Vec<Sample> {
        let shapes = ROWS
            .into_iter()
            .flat_map(|shape| [(shape, dtype), (shape, DType::F32)]);
        let mut samples: Vec<Sample> = shapes.map(|(shape, weight)| make(shape, weight)).collect();
        // Rows of a wave each, several to a team's weight.
        samples.push(make([701, 24], dtype));
        samples
    }
    let statistics = |rows: usize, least: f64, most: f64| {
        SampleInput::new(DType::F32, [rows], Content::Uniform(least, most))
    };
    vec![
        Row::new("softmax", |dtype| {
            let make =
                |(shape, log)| sample(Softmax { log }, vec![SampleInput::normal(dtype, shape)]);
            let shapes = ROWS
                .into_iter()
                .flat_map(|shape| [(shape, false), (shape, true)]);
            shapes.map(make).collect()
        }),
        Row::new("softmax_grad", |dtype| {
            let make = |shape: [usize; 2]| {
                let y = SampleInput::new(dtype, shape, Content::Uniform(0.0, 0.9));
                let inputs = vec![y, SampleInput::normal(dtype, shape)];
                sample(SoftmaxGrad { log: false }, inputs)
            };
            ROWS.map(make).into()
        }),
        Row::new("rmsnorm", |dtype| {
            each(dtype, |shape, weight| {
                let weight = SampleInput::normal(weight, [shape[1]]);
                let inputs = vec![SampleInput::normal(dtype, shape), weight];
                sample(RmsNorm { eps: 1e-5 }, inputs)
            })
        }),
        Row::new("rmsnorm_grad", move |dtype| {
            each(dtype, |shape, weight_dtype| {
                let inputs = vec![
                    SampleInput::normal(dtype, shape),
                    SampleInput::normal(weight_dtype, [shape[1]]),
                    statistics(shape[0], 0.4, 1.2),
                    SampleInput::normal(dtype, shape),
                    SampleInput::normal(dtype, shape),
                ];
                sample(RmsNormGrad { weight_dtype }, inputs)
            })
        }),
        Row::new("layernorm", |dtype| {
            each(dtype, |shape, weight| {
                let weight = SampleInput::normal(weight, [shape[1]]);
                let inputs = vec![SampleInput::normal(dtype, shape), weight.clone(), weight];
                sample(LayerNorm { eps: 1e-5 }, inputs)
            })
        }),
        Row::new("layernorm_grad", move |dtype| {
            each(dtype, |shape, weight_dtype| {
                let inputs = vec![
                    SampleInput::normal(dtype, shape),
                    SampleInput::normal(weight_dtype, [shape[1]]),
                    statistics(shape[0], -0.3, 0.3),
                    statistics(shape[0], 0.4, 1.2),
                    SampleInput::normal(dtype, shape),
                ];
                sample(LayerNormGrad { weight_dtype }, inputs)
            })
        }),
    ]
}

fn others() -> Vec<Row> {
    vec![
        Row::new("reduce", |dtype| {
            let kinds = [ReduceKind::Sum, ReduceKind::Mean, ReduceKind::Max];
            let make = |(kind, dims): (ReduceKind, &[usize])| {
                let input = SampleInput::new(dtype, [3, 150, 264], Content::Uniform(-0.5, 1.5));
                let op = Reduce {
                    kind,
                    dims: dims.to_vec(),
                    keep: false,
                };
                sample(op, vec![input])
            };
            let dims: [&[usize]; 3] = [&[0, 1], &[1], &[1, 2]];
            let cases = kinds
                .into_iter()
                .flat_map(|kind| dims.map(|dims| (kind, dims)));
            cases.map(make).collect()
        }),
        Row::new("transpose", |dtype| {
            let make = |(shape, perm): ([usize; 3], [usize; 3])| {
                let perm = perm.to_vec();
                sample(Transpose { perm }, vec![SampleInput::normal(dtype, shape)])
            };
            let cases = [
                ([2, 128, 192], [0, 2, 1]),
                ([2, 67, 130], [2, 0, 1]),
                ([9, 5, 64], [1, 0, 2]),
            ];
            cases.map(make).into()
        }),
        Row::new("embedding", |dtype| {
            let table = SampleInput::normal(dtype, [90, 2056]);
            let indices = SampleInput::new(DType::I32, [9], Content::Integers(0, 90));
            vec![sample(Embedding {}, vec![table, indices])]
        }),
        Row::new("embedding_grad", |dtype| {
            // Indices of two digits, of three blocks, in columns of more than a wave's.
            let make = |(columns, tokens, most, to)| {
                let inputs = vec![
                    SampleInput::normal(dtype, [tokens, columns]),
                    SampleInput::new(DType::I32, [tokens], Content::Integers(0, most)),
                ];
                let op = EmbeddingGrad {
                    rows: 1200,
                    dtype: to,
                };
                sample(op, inputs)
            };
            [
                (16, 2500, 1200, dtype),
                (16, 2500, 40, DType::F32),
                (520, 50, 1200, DType::F32),
            ]
            .map(make)
            .into()
        }),
        Row::new("rope", |dtype| {
            let make = |shape: [usize; 4]| {
                let table = Content::Uniform(-1.0, 1.0);
                let inputs = vec![
                    SampleInput::normal(dtype, shape),
                    SampleInput::new(DType::F32, [shape[1], shape[3]], table),
                ];
                sample(Rope { inverse: false }, inputs)
            };
            [[2, 3, 40, 128], [1, 2, 3, 1040]].map(make).into()
        }),
        Row::new("cache_write", |dtype| {
            let inputs = vec![
                SampleInput::normal(dtype, [2, 20, 4, 128]),
                SampleInput::normal(dtype, [2, 9, 4, 128]),
                SampleInput::new(DType::I32, [], Content::Values(vec![3.0])),
            ];
            vec![sample(CacheWrite {}, inputs)]
        }),
        // Two steps of a workgroup and a part, more logits than registers hold, and more than
        // LDS holds then.
        Row::new("cross_entropy_with_grad", |dtype| {
            let make = |vocabulary: usize| {
                let inputs = vec![
                    SampleInput::normal(dtype, [3, 8]),
                    SampleInput::new(dtype, [vocabulary, 8], Content::Normal(0.7)),
                    SampleInput::new(
                        DType::I32,
                        [3],
                        Content::Values(vec![5.0, -1.0, vocabulary as f64 - 9.0]),
                    ),
                    SampleInput::new(DType::F32, [], Content::Values(vec![0.375])),
                ];
                let config = CrossEntropyConfig {
                    z_loss: 1e-3,
                    chunk: 2,
                };
                let weight_dtype = DType::F32;
                sample(
                    CrossEntropyWithGrad {
                        config,
                        weight_dtype,
                    },
                    inputs,
                )
            };
            vec![make(16392), make(107_016), make(114_184)]
        })
        .rounds_inside(),
    ]
}
