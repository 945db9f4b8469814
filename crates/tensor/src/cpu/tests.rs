//! Every kernel against the reference in f64, in each float type and instruction set.

use std::sync::Arc;

use cairn_formats::{Philox, scope_hash};
use cairn_graph::ops::attention::AttentionSizes;
use cairn_graph::ops::cross_entropy::CrossEntropyConfig;
use cairn_graph::ops::*;
use cairn_graph::{AliasKind, Op, TensorType};

use super::isa::Isa;
use super::{Cpu, OPERATORS};
use crate::backend::{Args, Backend, Kernel, Operand, Signature, View, ViewMut};
use crate::error::KernelError;
use crate::{DType, HostTensor, Pool, Reference, Shape};

const FLOATS: [DType; 4] = [DType::F64, DType::F32, DType::BF16, DType::F16];

pub(super) fn normal(name: &str, ty: TensorType) -> HostTensor {
    let n = ty.shape.num_elements();
    let mut values = vec![0.0; n];
    let stream = Philox::new(7).stream(1, scope_hash(name));
    stream.fill_normal(0, &mut values, 0.0, 1.0);
    let values: Vec<f64> = values.iter().map(|x| f64::from(*x)).collect();
    HostTensor::from_f64(ty, &values).unwrap()
}

fn ints(values: &[i32]) -> HostTensor {
    HostTensor::new([values.len()], values).unwrap()
}

/// A kernel with its operands; inputs in `in_place` share the storage of their output.
pub(super) struct Prepared<'a> {
    kernel: Box<dyn Kernel>,
    inputs: &'a [HostTensor],
    results: Vec<HostTensor>,
    scratch: HostTensor,
    pairs: Vec<(usize, usize)>,
}

fn poisoned(ty: TensorType) -> HostTensor {
    let mut tensor = HostTensor::zeros(ty).unwrap();
    tensor.bytes_mut().fill(0xff);
    tensor
}

impl<'a> Prepared<'a> {
    pub(super) fn new(
        backend: &dyn Backend,
        op: &dyn Op,
        inputs: &'a [HostTensor],
        in_place: bool,
    ) -> Self {
        let types: Vec<&TensorType> = inputs.iter().map(HostTensor::ty).collect();
        let outputs = op.infer(&types).unwrap();
        let operands = types.iter().map(|ty| Operand::contiguous((*ty).clone()));
        let signature = Signature {
            inputs: operands.collect(),
            outputs: outputs.clone(),
        };
        let kernel = backend.kernel(op, &signature);
        let kernel = kernel.unwrap_or_else(|| panic!("no kernel: {op:?} {}", signature.describe()));
        let must = op
            .aliases()
            .into_iter()
            .filter(|alias| alias.kind == AliasKind::Must);
        let mut pairs: Vec<_> = must.map(|alias| (alias.output, alias.input)).collect();
        let more = if in_place {
            kernel.in_place()
        } else {
            Vec::new()
        };
        for pair in more {
            if pairs
                .iter()
                .all(|other| other.0 != pair.0 && other.1 != pair.1)
            {
                pairs.push(pair);
            }
        }
        let mut results: Vec<HostTensor> = outputs.into_iter().map(poisoned).collect();
        for (output, input) in &pairs {
            results[*output] = inputs[*input].clone();
        }
        let scratch = poisoned(TensorType::new(DType::U8, [kernel.scratch_bytes()]));
        Self {
            kernel,
            inputs,
            results,
            scratch,
            pairs,
        }
    }

    pub(super) fn run(&mut self, pool: &Pool) -> Result<(), KernelError> {
        let inputs = self.inputs.iter().enumerate().map(|(index, tensor)| {
            let shared = self.pairs.iter().any(|pair| pair.1 == index);
            (!shared).then(|| View {
                dtype: tensor.dtype(),
                shape: tensor.shape(),
                strides: None,
                data: tensor.bytes(),
            })
        });
        let types: Vec<TensorType> = self
            .results
            .iter()
            .map(|tensor| tensor.ty().clone())
            .collect();
        let outputs = self
            .results
            .iter_mut()
            .zip(&types)
            .map(|(tensor, ty)| ViewMut {
                dtype: ty.dtype,
                shape: &ty.shape,
                data: tensor.bytes_mut(),
            });
        self.kernel.run(&mut Args {
            inputs: inputs.collect(),
            outputs: outputs.collect(),
            scratch: self.scratch.bytes_mut(),
            pool,
        })
    }
}

pub(super) fn run(
    backend: &dyn Backend,
    op: &dyn Op,
    inputs: &[HostTensor],
    in_place: bool,
    pool: &Pool,
) -> Result<Vec<HostTensor>, KernelError> {
    let mut prepared = Prepared::new(backend, op, inputs, in_place);
    prepared.run(pool)?;
    Ok(prepared.results)
}

fn snr_db(got: &[f64], want: &[f64]) -> f64 {
    let (mut signal, mut noise) = (0.0, 0.0);
    for (got, want) in got.iter().zip(want) {
        if got == want || (got.is_nan() && want.is_nan()) {
            continue;
        }
        signal += want * want;
        noise += (got - want) * (got - want);
    }
    let signal = signal.max(want.iter().filter(|x| x.is_finite()).map(|x| x * x).sum());
    if noise == 0.0 {
        f64::INFINITY
    } else {
        10.0 * (signal / noise).log10()
    }
}

/// Compares with the reference on every instruction set, in and out of place, with one
/// thread and three.
fn check(name: &str, op: &dyn Op, inputs: &[HostTensor]) {
    let wide: Vec<HostTensor> = inputs
        .iter()
        .enumerate()
        .map(|(index, tensor)| {
            // Rotations take their table in f32 whatever they rotate.
            let table = op.name() == "rope" && index == 1;
            let dtype = if tensor.dtype().is_float() && !table {
                DType::F64
            } else {
                tensor.dtype()
            };
            HostTensor::from_f64(tensor.ty().with_dtype(dtype), &tensor.to_f64().unwrap()).unwrap()
        })
        .collect();
    let narrow = inputs
        .iter()
        .map(HostTensor::dtype)
        .filter(|dtype| dtype.is_float());
    let narrow = narrow.min_by_key(|dtype| dtype.bits());
    // Operators that name a result type get it in f64 as well.
    let mut attributes = op.attributes();
    for field in ["out_dtype", "weight_dtype", "dtype"] {
        if let Some(value) = attributes.get_mut(field)
            && value
                .as_str()
                .is_some_and(|name| name.starts_with(['f', 'b']))
            && op.name() != "fill"
        {
            *value = "f64".into();
        }
    }
    let oracle: Arc<dyn Op> = registry().load(op.name(), attributes).unwrap();
    let serial = Pool::new(1).unwrap();
    let want = run(&Reference, oracle.as_ref(), &wide, false, &serial).unwrap();
    let pool = Pool::new(3).unwrap();
    for isa in [
        Isa::Portable,
        Isa::Avx2,
        Isa::Avx512,
        Isa::Avx512Bf16,
        Isa::Amx,
    ] {
        if isa > Isa::detect() {
            println!("cairn-skip: this processor has no {isa}");
            continue;
        }
        let cpu = Cpu::new(isa, 3);
        let got = run(&cpu, op, inputs, false, &pool).unwrap();
        for (variant, again) in [
            ("one thread", run(&cpu, op, inputs, false, &serial).unwrap()),
            ("in place", run(&cpu, op, inputs, true, &pool).unwrap()),
        ] {
            for (got, again) in got.iter().zip(&again) {
                assert!(
                    got.bytes() == again.bytes(),
                    "{name} {op:?} {isa}: {variant} differs"
                );
            }
        }
        for (index, (got, want)) in got.iter().zip(&want).enumerate() {
            let own = got.dtype();
            let judged = narrow
                .filter(|narrow| narrow.bits() < own.bits())
                .unwrap_or(own);
            let gate = match judged {
                DType::F64 => 180.0,
                DType::F32 => 100.0,
                dtype if dtype.is_float() => 40.0,
                _ => f64::INFINITY,
            };
            let snr = snr_db(&got.to_f64().unwrap(), &want.to_f64().unwrap());
            assert!(
                snr >= gate,
                "{name} {op:?} {} {isa}: output {index} has {snr:.1} dB, needs {gate}",
                inputs.first().map_or(String::new(), |x| x.ty().to_string())
            );
        }
    }
}

fn t(name: &str, dtype: DType, shape: impl Into<Shape>) -> HostTensor {
    normal(name, TensorType::new(dtype, shape))
}

/// The same, away from zero and positive.
fn positive(name: &str, dtype: DType, shape: impl Into<Shape>) -> HostTensor {
    let x = t(name, dtype, shape);
    let values: Vec<f64> = x.to_f64().unwrap().iter().map(|x| x.abs() + 0.1).collect();
    HostTensor::from_f64(x.ty().clone(), &values).unwrap()
}

fn wide(dtype: DType) -> DType {
    if dtype == DType::F64 {
        dtype
    } else {
        DType::F32
    }
}

#[test]
fn elementwise() {
    for dtype in FLOATS {
        for kind in UnaryKind::ALL {
            let x = positive("x", dtype, [3, 701]);
            check("positive", &Unary { kind }, &[x]);
        }
        for kind in [
            UnaryKind::Exp,
            UnaryKind::Tanh,
            UnaryKind::Gelu,
            UnaryKind::Silu,
        ] {
            check("signed", &Unary { kind }, &[t("x", dtype, [2, 1300])]);
        }
        let shapes: [(&[usize], &[usize]); 6] = [
            (&[5, 700], &[5, 700]),
            (&[5, 700], &[]),
            (&[], &[5, 700]),
            (&[5, 700], &[700]),
            (&[5, 700], &[5, 1]),
            (&[3, 1, 65], &[2, 1]),
        ];
        for (a, b) in shapes {
            for kind in BinaryKind::ALL {
                let (a, b) = (positive("a", dtype, a), positive("b", dtype, b));
                check("binary", &Binary { kind }, &[a, b]);
            }
        }
        let inputs = [
            t("g", dtype, [4, 1111]),
            t("u", dtype, [4, 1111]),
            t("d", dtype, [4, 1111]),
        ];
        for kind in [GluKind::Swiglu, GluKind::Geglu] {
            check("glu", &Glu { kind }, &inputs[..2]);
            check("glu", &GluGrad { kind }, &inputs);
        }
        for to in [DType::F64, DType::F32, DType::BF16, DType::F16, DType::I32] {
            check("cast", &Cast { dtype: to }, &[t("x", dtype, [1999])]);
        }
        let mask = HostTensor::from_f64(
            TensorType::new(DType::I32, [1500]),
            &(0..1500).map(|i| f64::from(i % 3)).collect::<Vec<_>>(),
        );
        check(
            "select",
            &Select {},
            &[mask.unwrap(), t("a", dtype, [1500]), t("b", dtype, [1500])],
        );
        let rng = HostTensor::new([2], &[5i64, 9]).unwrap();
        check(
            "dropout",
            &Dropout { p: 0.25, key: 11 },
            &[t("x", dtype, [40_000]), rng],
        );
    }
}

#[test]
fn reductions() {
    for dtype in FLOATS {
        for dims in [
            vec![],
            vec![0],
            vec![1],
            vec![2],
            vec![0, 1],
            vec![0, 2],
            vec![1, 2],
            vec![0, 1, 2],
        ] {
            for kind in [ReduceKind::Sum, ReduceKind::Mean, ReduceKind::Max] {
                let op = Reduce {
                    kind,
                    dims: dims.clone(),
                    keep: false,
                };
                check("small", &op, &[positive("x", dtype, [7, 33, 65])]);
            }
        }
        let op = Reduce {
            kind: ReduceKind::Sum,
            dims: vec![0],
            keep: false,
        };
        if dtype != DType::F16 {
            // Its sums end at 65504.
            check("long", &op, &[positive("x", dtype, [200_003])]);
        }
        let inputs = [
            t("a", dtype, [70_000]),
            t("b", dtype, [3, 5]),
            t("c", dtype, []),
        ];
        check("squares", &SumSquares {}, &inputs);
        for (rows, columns) in [(5, 1), (3, 127), (2, 5000)] {
            let x = [
                t("x", dtype, [rows, columns]),
                t("dy", dtype, [rows, columns]),
            ];
            for log in [false, true] {
                check("softmax", &Softmax { log }, &x[..1]);
                check("softmax", &SoftmaxGrad { log }, &x);
            }
        }
    }
}

#[test]
fn normalisations() {
    for dtype in FLOATS {
        for (rows, d) in [(1, 1), (77, 127), (70, 512)] {
            let x = t("x", dtype, [rows, d]);
            let weight = t("w", DType::F32, [d]);
            check(
                "rmsnorm",
                &RmsNorm { eps: 1e-5 },
                &[x.clone(), weight.clone()],
            );
            let inputs = [x.clone(), weight.clone(), t("b", dtype, [d])];
            check("layernorm", &LayerNorm { eps: 1e-5 }, &inputs);
            let rstd = positive("r", wide(dtype), [rows]);
            let mean = t("m", wide(dtype), [rows]);
            let dy = t("dy", dtype, [rows, d]);
            let inputs = [
                x.clone(),
                weight.clone(),
                rstd.clone(),
                dy.clone(),
                t("more", dtype, [rows, d]),
            ];
            let op = RmsNormGrad {
                weight_dtype: DType::F32,
            };
            check("rmsnorm_grad", &op, &inputs[..4]);
            check("rmsnorm_grad", &op, &inputs);
            let inputs = [x, weight, mean, rstd, dy];
            check(
                "layernorm_grad",
                &LayerNormGrad {
                    weight_dtype: DType::F32,
                },
                &inputs,
            );
        }
    }
}

#[test]
fn moves() {
    for dtype in [DType::F32, DType::BF16, DType::F64, DType::I32, DType::U8] {
        let n = 3 * 40 * 65;
        let values: Vec<f64> = (0..n).map(|i| f64::from(i % 251)).collect();
        let x = HostTensor::from_f64(TensorType::new(dtype, [3, 40, 65]), &values).unwrap();
        for perm in [
            vec![0, 2, 1],
            vec![1, 0, 2],
            vec![2, 1, 0],
            vec![2, 0, 1],
            vec![1, 2, 0],
        ] {
            check("transpose", &Transpose { perm }, std::slice::from_ref(&x));
        }
        check(
            "slice",
            &Slice {
                start: vec![1, 3, 7],
                end: vec![3, 40, 60],
            },
            std::slice::from_ref(&x),
        );
        check(
            "pad",
            &Pad {
                before: vec![1, 0, 3],
                after: vec![0, 2, 1],
            },
            std::slice::from_ref(&x),
        );
        check(
            "broadcast",
            &Broadcast {
                shape: [2, 3, 40, 65].into(),
            },
            std::slice::from_ref(&x),
        );
        for dim in 0..3 {
            check(
                "concat",
                &Concat { dim },
                &[x.clone(), x.clone(), x.clone()],
            );
        }
        let ty = TensorType::new(dtype, [70_001]);
        check("fill", &Fill { value: 3.7, ty }, &[]);
    }
    check("iota", &Iota { len: 77 }, &[]);
}

#[test]
fn rows_of_tables() {
    for dtype in FLOATS {
        let indices: Vec<i32> = (0..200).map(|i| i * 7 % 61).collect();
        check(
            "embedding",
            &Embedding {},
            &[t("table", dtype, [61, 300]), ints(&indices)],
        );
        for to in [dtype, wide(dtype)] {
            let op = EmbeddingGrad {
                rows: 61,
                dtype: to,
            };
            check(
                "embedding_grad",
                &op,
                &[t("dy", dtype, [200, 300]), ints(&indices)],
            );
        }
        let table = t("table", DType::F32, [9, 64]);
        for inverse in [false, true] {
            check(
                "rope",
                &Rope { inverse },
                &[t("x", dtype, [3, 9, 5, 64]), table.clone()],
            );
        }
        let position = HostTensor::scalar(3i32).unwrap();
        let cache = [
            t("cache", dtype, [2, 9, 3, 8]),
            t("new", dtype, [2, 4, 3, 8]),
            position,
        ];
        check("cache_write", &CacheWrite {}, &cache);
        check(
            "assign",
            &Assign {},
            &[t("a", dtype, [333]), t("b", dtype, [333])],
        );
    }
    let op = RopeTable {
        head_dim: 64,
        base: 10_000.0,
        scaling: None,
    };
    check("rope_table", &op, &[ints(&(0..131).collect::<Vec<_>>())]);
}

fn attention_inputs(s: AttentionSizes, dtype: DType) -> [HostTensor; 3] {
    [
        t("q", dtype, [s.b, s.sq, s.hq, s.d]),
        t("k", dtype, [s.b, s.sk, s.hk, s.d]),
        t("v", dtype, [s.b, s.sk, s.hk, s.dv]),
    ]
}

#[test]
fn attention() {
    let cases = [
        (
            AttentionSizes {
                b: 2,
                sq: 150,
                sk: 150,
                hq: 4,
                hk: 2,
                d: 64,
                dv: 64,
            },
            None,
        ),
        (
            AttentionSizes {
                b: 1,
                sq: 33,
                sk: 300,
                hq: 3,
                hk: 1,
                d: 16,
                dv: 24,
            },
            None,
        ),
        (
            AttentionSizes {
                b: 1,
                sq: 140,
                sk: 260,
                hq: 2,
                hk: 2,
                d: 32,
                dv: 32,
            },
            Some(70),
        ),
        (
            AttentionSizes {
                b: 2,
                sq: 1,
                sk: 200,
                hq: 4,
                hk: 2,
                d: 64,
                dv: 48,
            },
            Some(150),
        ),
        (
            AttentionSizes {
                b: 1,
                sq: 20,
                sk: 20,
                hq: 2,
                hk: 1,
                d: 8,
                dv: 8,
            },
            Some(-5),
        ),
        (
            AttentionSizes {
                b: 2,
                sq: 3,
                sk: 5,
                hq: 2,
                hk: 1,
                d: 8,
                dv: 8,
            },
            None,
        ),
    ];
    let pool = Pool::new(1).unwrap();
    for dtype in FLOATS {
        for (sizes, start) in cases {
            for causal in [true, false] {
                let mut inputs = attention_inputs(sizes, dtype).to_vec();
                let start = start.map(|start: i32| HostTensor::scalar(start).unwrap());
                inputs.extend(start.clone());
                let scale = 1.0 / (sizes.d as f64).sqrt();
                let op = Attention { scale, causal };
                check("attention", &op, &inputs);
                let out = run(&Reference, &op, &inputs, false, &pool).unwrap();
                inputs.truncate(3);
                inputs.extend(out);
                inputs.push(t("dout", dtype, [sizes.b, sizes.sq, sizes.hq, sizes.dv]));
                inputs.extend(start);
                check("attention_grad", &AttentionGrad { scale, causal }, &inputs);
            }
        }
    }
}

#[test]
fn cross_entropy() {
    for dtype in FLOATS {
        let (tokens, d, v) = (45, 40, 133);
        let mut targets: Vec<i32> = (0..tokens).map(|i| i * 13 % v).collect();
        targets[3] = -100;
        let dloss = HostTensor::from_f64(TensorType::new(wide(dtype), []), &[0.25]).unwrap();
        let inputs = [
            t("h", dtype, [tokens as usize, d]),
            t("w", dtype, [v as usize, d]),
            ints(&targets),
            dloss,
        ];
        for chunk in [16, 45, 1000] {
            let config = CrossEntropyConfig {
                z_loss: 1e-2,
                chunk,
            };
            check("cross_entropy", &CrossEntropy { config }, &inputs[..3]);
            for weight_dtype in [dtype, wide(dtype)] {
                check(
                    "cross_entropy",
                    &CrossEntropyGrad {
                        config,
                        weight_dtype,
                    },
                    &inputs,
                );
                check(
                    "cross_entropy",
                    &CrossEntropyWithGrad {
                        config,
                        weight_dtype,
                    },
                    &inputs,
                );
            }
        }
    }
}

#[test]
fn adamw() {
    for dtype in FLOATS {
        for copy in [false, true] {
            for apply in [1.0, 0.0] {
                let n = 40_001;
                let scalar = |shape: Shape, values: &[f64]| {
                    HostTensor::from_f64(TensorType::new(wide(dtype), shape), values).unwrap()
                };
                let mut inputs = vec![
                    t("p", dtype, [n]),
                    t("g", dtype, [n]),
                    t("m", dtype, [n]),
                    positive("v", dtype, [n]),
                    scalar([3].into(), &[1e-2, 0.1, 0.05]),
                    scalar(Shape::scalar(), &[0.5]),
                    scalar(Shape::scalar(), &[apply]),
                ];
                if copy {
                    inputs.push(t(
                        "copy",
                        if dtype == DType::F64 {
                            dtype
                        } else {
                            DType::BF16
                        },
                        [n],
                    ));
                }
                let op = AdamW {
                    beta1: 0.9,
                    beta2: 0.95,
                    eps: 1e-8,
                    weight_decay: 0.1,
                    copy,
                };
                check("adamw", &op, &inputs);
            }
        }
    }
}

#[test]
fn matmul() {
    for dtype in FLOATS {
        for (trans_a, trans_b) in [(false, false), (false, true), (true, false), (true, true)] {
            for (batch, shared) in [(None, true), (Some(3), false), (Some(3), true)] {
                let (m, n, k) = (37, 45, 70);
                let side = |rows, columns, swap: bool, batched: bool| {
                    let mut dims: Vec<usize> = batch.filter(|_| batched).into_iter().collect();
                    dims.extend(if swap {
                        [columns, rows]
                    } else {
                        [rows, columns]
                    });
                    dims
                };
                let mut inputs = vec![
                    t("a", dtype, side(m, k, trans_a, true)),
                    t("b", dtype, side(k, n, trans_b, !shared)),
                ];
                let op = MatMul {
                    trans_a,
                    trans_b,
                    out_dtype: wide(dtype),
                };
                check("matmul", &op, &inputs);
                inputs.push(t("c", wide(dtype), side(m, n, false, true)));
                check("matmul c0", &op, &inputs);
            }
        }
    }
}

#[test]
fn bad_indices_are_errors_that_name_them() {
    let pool = Pool::new(2).unwrap();
    let cpu = Cpu::new(Isa::detect(), 2);
    let table = t("table", DType::F32, [4, 3]);
    let failed =
        |op: &dyn Op, inputs: &[HostTensor]| run(&cpu, op, inputs, false, &pool).unwrap_err().0;
    for bad in [4, -1] {
        let message = failed(&Embedding {}, &[table.clone(), ints(&[0, bad, 1])]);
        assert!(
            message.contains(&format!("{bad} at position 1")),
            "{message}"
        );
        let op = EmbeddingGrad {
            rows: 4,
            dtype: DType::F32,
        };
        let message = failed(&op, &[t("dy", DType::F32, [3, 2]), ints(&[0, bad, 1])]);
        assert!(
            message.contains(&format!("{bad} at position 1")),
            "{message}"
        );
    }
    let config = CrossEntropyConfig {
        z_loss: 0.0,
        chunk: 2,
    };
    let message = failed(
        &CrossEntropy { config },
        &[t("h", DType::F32, [2, 3]), table, ints(&[0, 4])],
    );
    assert!(message.contains("4 at position 1"), "{message}");
    let position = HostTensor::scalar(3i32).unwrap();
    let cache = [
        t("c", DType::F32, [1, 4, 1, 2]),
        t("n", DType::F32, [1, 2, 1, 2]),
        position,
    ];
    assert!(failed(&CacheWrite {}, &cache).contains("position 3"));
}

#[test]
fn names_are_sorted_and_known() {
    assert!(OPERATORS.is_sorted());
    let registry = registry();
    for name in OPERATORS {
        assert!(registry.names().any(|known| known == *name), "{name}");
    }
    for name in registry
        .names()
        .filter(|name| !["input", "parameter", "state"].contains(name))
    {
        assert!(OPERATORS.contains(&name), "{name} has no kernel");
    }
}

/// A view of `storage`: dims in another order and a slice of each.
fn view_of(
    storage: &HostTensor,
    perm: &[usize],
    start: &[usize],
    shape: &[usize],
) -> (Shape, Vec<usize>, usize) {
    let own = storage.shape().strides();
    let strides: Vec<usize> = perm.iter().map(|dim| own[*dim]).collect();
    let offset: usize = start
        .iter()
        .zip(&strides)
        .map(|(start, stride)| start * stride)
        .sum();
    (shape.into(), strides, storage.dtype().bytes(offset))
}

#[test]
fn matmul_reads_strided_operands() {
    type Side<'a> = (&'a [usize], &'a [usize], &'a [usize], &'a [usize]);
    // Storage, order of dims, first element, shape seen.
    let cases: [(Side<'_>, Side<'_>, bool); 7] = [
        // Transposed matrices.
        (
            (&[70, 37], &[1, 0], &[0, 0], &[37, 70]),
            (&[45, 70], &[1, 0], &[0, 0], &[70, 45]),
            true,
        ),
        // Slices of rows and columns.
        (
            (&[50, 90], &[0, 1], &[3, 7], &[37, 70]),
            (&[80, 60], &[0, 1], &[5, 9], &[70, 45]),
            true,
        ),
        // Heads between tokens: [b, s, h, d] seen as [b, h, s, d].
        (
            (
                &[2, 37, 3, 70],
                &[0, 2, 1, 3],
                &[0, 0, 0, 0],
                &[2, 3, 37, 70],
            ),
            (
                &[2, 3, 70, 45],
                &[0, 1, 2, 3],
                &[0, 0, 0, 0],
                &[2, 3, 70, 45],
            ),
            false,
        ),
        // Batches in between: rows evenly spaced, batches too.
        (
            (&[37, 4, 70], &[1, 0, 2], &[0, 0, 0], &[4, 37, 70]),
            (&[70, 4, 45], &[1, 0, 2], &[0, 0, 0], &[4, 70, 45]),
            true,
        ),
        // Vectors.
        (
            (&[70, 1], &[1, 0], &[0, 0], &[1, 70]),
            (&[45, 70], &[1, 0], &[0, 0], &[70, 45]),
            true,
        ),
        (
            (&[37, 90], &[0, 1], &[0, 5], &[37, 1]),
            (&[9, 45], &[0, 1], &[4, 0], &[1, 45]),
            true,
        ),
        // One sum a batch.
        (
            (&[5, 1, 8], &[0, 1, 2], &[0, 0, 0], &[5, 1, 8]),
            (&[5, 1, 8], &[0, 2, 1], &[0, 0, 0], &[5, 8, 1]),
            true,
        ),
    ];
    let pool = Pool::new(2).unwrap();
    for dtype in FLOATS {
        for (a, b, expected) in &cases {
            let storage = [t("a", dtype, a.0), t("b", dtype, b.0)];
            let views = [(&storage[0], a), (&storage[1], b)]
                .map(|(storage, side)| view_of(storage, side.1, side.2, side.3));
            let out = wide(dtype);
            let op = MatMul {
                trans_a: false,
                trans_b: false,
                out_dtype: out,
            };
            let operand = |view: &(Shape, Vec<usize>, usize)| Operand {
                ty: TensorType::new(dtype, view.0.clone()),
                strides: Some(view.1.clone()),
            };
            let types = [operand(&views[0]), operand(&views[1])];
            let outputs = op.infer(&[&types[0].ty, &types[1].ty]).unwrap();
            let signature = Signature {
                inputs: types.to_vec(),
                outputs: outputs.clone(),
            };
            let call = |backend: &dyn Backend| -> Option<HostTensor> {
                let kernel = backend.kernel(&op, &signature)?;
                let mut result = poisoned(outputs[0].clone());
                let mut scratch = poisoned(TensorType::new(DType::U8, [kernel.scratch_bytes()]));
                let inputs = storage.iter().zip(&views).map(|(storage, view)| {
                    Some(View {
                        dtype,
                        shape: &view.0,
                        strides: Some(&view.1),
                        data: &storage.bytes()[view.2..],
                    })
                });
                let mut args = Args {
                    inputs: inputs.collect(),
                    outputs: vec![ViewMut {
                        dtype: out,
                        shape: &outputs[0].shape,
                        data: result.bytes_mut(),
                    }],
                    scratch: scratch.bytes_mut(),
                    pool: &pool,
                };
                kernel.run(&mut args).unwrap();
                drop(args);
                Some(result)
            };
            let want = call(&Reference).unwrap().to_f64().unwrap();
            for isa in [Isa::Portable, Isa::detect()] {
                let got = call(&Cpu::new(isa, 2));
                assert_eq!(got.is_some(), *expected, "{dtype} {isa} {types:?}");
                if let Some(got) = got {
                    let snr = snr_db(&got.to_f64().unwrap(), &want);
                    assert!(snr >= 100.0, "{dtype} {isa} {types:?}: {snr} dB");
                }
            }
        }
    }
}
