//! Fused operators and their gradients against the same mathematics in
//! primitive operators, in f64 on the reference.

use cairn_graph::ops::cross_entropy::CrossEntropyConfig;
use cairn_graph::ops::{
    AdamW, Attention, BinaryKind, CrossEntropy, Embedding, Glu, GluKind, LayerNorm, MatMul, Reduce,
    ReduceKind, RmsNorm, Rope, Select, Slice, Softmax, UnaryKind,
};
use cairn_graph::{Graph, GraphError, ValueId, gradients};
use cairn_tensor::{DType, HostTensor, Store, TensorType};

use crate::support::{assert_close, f64s, input, run, tensor};

type Built = Result<ValueId, GraphError>;

/// Builds both forms on the same inputs, weighs and sums both results, and
/// compares results and gradients of all inputs.
fn compare(
    what: &str,
    types: &[TensorType],
    more: &dyn Fn(&mut Graph, &mut Store) -> Vec<ValueId>,
    fused: &dyn Fn(&mut Graph, &[ValueId]) -> Built,
    primitive: &dyn Fn(&mut Graph, &[ValueId]) -> Built,
) {
    let mut results = Vec::new();
    for form in [fused, primitive] {
        let (mut graph, mut store) = (Graph::new(), Store::new());
        let mut values = Vec::new();
        for (index, ty) in types.iter().enumerate() {
            let name = format!("{}", char::from(b'a' + index as u8));
            values.push(input(&mut graph, &mut store, &name, ty.clone()));
        }
        let wrt = values.clone();
        values.extend(more(&mut graph, &mut store));
        let out = form(&mut graph, &values).unwrap();
        let ty = graph.ty(out).clone();
        let weights = input(&mut graph, &mut store, "weights", ty.clone());
        let product = graph.mul(out, weights).unwrap();
        let dims: Vec<usize> = (0..ty.shape.ndim()).collect();
        let loss = graph.reduce(ReduceKind::Sum, product, &dims).unwrap();
        let grads = gradients(&mut graph, loss, None, &wrt, None).unwrap();
        graph.set_output("out", out);
        for index in 0..wrt.len() {
            graph.set_output(format!("d{index}"), grads.get(index).unwrap());
        }
        results.push(run(&graph, &mut store));
    }
    for (index, (fused, primitive)) in results[0].iter().zip(&results[1]).enumerate() {
        let name = format!("{what}, result {index}");
        assert_close(
            &name,
            &fused.to_f64().unwrap(),
            &primitive.to_f64().unwrap(),
            1e-11,
        );
    }
}

fn nothing(_: &mut Graph, _: &mut Store) -> Vec<ValueId> {
    Vec::new()
}

fn reduce(g: &mut Graph, kind: ReduceKind, x: ValueId, dim: usize) -> Built {
    let op = Reduce {
        kind,
        dims: vec![dim],
        keep: true,
    };
    g.add1(op, &[x])
}

/// `exp(x)` over its sum along the innermost dim.
fn plain_softmax(g: &mut Graph, x: ValueId) -> Built {
    let dim = g.ty(x).shape.ndim() - 1;
    let e = g.unary(UnaryKind::Exp, x)?;
    let sum = reduce(g, ReduceKind::Sum, e, dim)?;
    g.div(e, sum)
}

#[test]
fn softmax() {
    let types = [f64s([3, 2, 7])];
    compare(
        "softmax",
        &types,
        &nothing,
        &|g, x| g.add1(Softmax { log: false }, x),
        &|g, x| plain_softmax(g, x[0]),
    );
    compare(
        "log softmax",
        &types,
        &nothing,
        &|g, x| g.add1(Softmax { log: true }, x),
        &|g, x| {
            let p = plain_softmax(g, x[0])?;
            g.unary(UnaryKind::Log, p)
        },
    );
}

/// `x / sqrt(mean(x^2) + eps)`
fn over_rms(g: &mut Graph, x: ValueId, eps: f64) -> Built {
    let dim = g.ty(x).shape.ndim() - 1;
    let square = g.unary(UnaryKind::Square, x)?;
    let mean = reduce(g, ReduceKind::Mean, square, dim)?;
    let shifted = g.offset(mean, eps)?;
    let rstd = g.unary(UnaryKind::Rsqrt, shifted)?;
    g.mul(x, rstd)
}

#[test]
fn rmsnorm() {
    compare(
        "rmsnorm",
        &[f64s([3, 2, 7]), f64s([7])],
        &nothing,
        &|g, x| Ok(g.add(RmsNorm { eps: 1e-3 }, x)?[0]),
        &|g, x| {
            let unit = over_rms(g, x[0], 1e-3)?;
            g.mul(unit, x[1])
        },
    );
}

#[test]
fn layernorm() {
    compare(
        "layernorm",
        &[f64s([3, 2, 7]), f64s([7]), f64s([7])],
        &nothing,
        &|g, x| Ok(g.add(LayerNorm { eps: 1e-3 }, x)?[0]),
        &|g, x| {
            let mean = reduce(g, ReduceKind::Mean, x[0], 2)?;
            let centered = g.sub(x[0], mean)?;
            let unit = over_rms(g, centered, 1e-3)?;
            let scaled = g.mul(unit, x[1])?;
            g.add_(scaled, x[2])
        },
    );
}

#[test]
fn gated_units() {
    for (kind, unary) in [
        (GluKind::Swiglu, UnaryKind::Silu),
        (GluKind::Geglu, UnaryKind::Gelu),
    ] {
        compare(
            "glu",
            &[f64s([3, 7]), f64s([3, 7])],
            &nothing,
            &|g, x| g.add1(Glu { kind }, x),
            &|g, x| {
                let gate = g.unary(unary, x[0])?;
                g.mul(gate, x[1])
            },
        );
    }
}

#[test]
fn rope() {
    let (b, s, h, d) = (2, 5, 3, 8);
    let table = |g: &mut Graph, store: &mut Store| {
        vec![input(
            g,
            store,
            "table",
            TensorType::new(DType::F32, [s, d]),
        )]
    };
    compare(
        "rope",
        &[f64s([b, s, h, d])],
        &table,
        &|g, x| g.add1(Rope { inverse: false }, x),
        &|g, x| {
            let half = |g: &mut Graph, x: ValueId, from: usize| {
                let mut start = vec![0; 4];
                let mut end = g.ty(x).shape.to_vec();
                (start[3], end[3]) = (from, from + d / 2);
                g.add1(Slice { start, end }, &[x])
            };
            let table = g.cast(x[1], DType::F64)?;
            let table = g.reshape(table, [1, s, 1, d])?;
            let (cos, sin) = (half(g, table, 0)?, half(g, table, d / 2)?);
            let (a, b) = (half(g, x[0], 0)?, half(g, x[0], d / 2)?);
            let (a_cos, a_sin) = (g.mul(a, cos)?, g.mul(a, sin)?);
            let (b_cos, b_sin) = (g.mul(b, cos)?, g.mul(b, sin)?);
            let parts = [g.sub(a_cos, b_sin)?, g.add_(b_cos, a_sin)?];
            g.add1(cairn_graph::ops::Concat { dim: 3 }, &parts)
        },
    );
}

/// Heads of keys or values repeated for each query of their group:
/// `[b, s, hk, d] -> [b, h, s, d]`.
fn repeat_heads(g: &mut Graph, x: ValueId, groups: usize) -> Built {
    let [b, s, hk, d] = g.ty(x).shape[..] else {
        panic!("four dims")
    };
    let x = g.transpose(x, &[0, 2, 1, 3])?;
    let x = g.reshape(x, [b, hk, 1, s, d])?;
    let x = g.broadcast(x, [b, hk, groups, s, d])?;
    g.reshape(x, [b, hk * groups, s, d])
}

#[test]
fn attention() {
    let (b, sq, sk, hq, hk, d, dv) = (2, 4, 6, 6, 2, 5, 3);
    let types = [
        f64s([b, sq, hq, d]),
        f64s([b, sk, hk, d]),
        f64s([b, sk, hk, dv]),
    ];
    for causal in [false, true] {
        let scale = 0.3;
        // 0 where a key is visible, far below everything where not.
        let mask = |g: &mut Graph, store: &mut Store| {
            let values: Vec<f64> = (0..sq * sk)
                .map(|at| {
                    let (i, j) = (at / sk, at % sk);
                    if causal && j > i + sk - sq {
                        -1e30
                    } else {
                        0.0
                    }
                })
                .collect();
            store.insert(
                "mask",
                HostTensor::from_f64(f64s([sq, sk]), &values).unwrap(),
            );
            vec![g.add_input("mask", f64s([sq, sk])).unwrap()]
        };
        compare(
            "attention",
            &types,
            &mask,
            &|g, x| Ok(g.add(Attention { scale, causal }, &x[..3])?[0]),
            &|g, x| {
                let q = g.transpose(x[0], &[0, 2, 1, 3])?;
                let k = repeat_heads(g, x[1], hq / hk)?;
                let v = repeat_heads(g, x[2], hq / hk)?;
                let scores = g.matmul(q, k, true)?;
                let scaled = g.scale(scores, scale)?;
                let masked = g.add_(scaled, x[3])?;
                let p = plain_softmax(g, masked)?;
                let out = g.matmul(p, v, false)?;
                g.transpose(out, &[0, 2, 1, 3])
            },
        );
    }
}

#[test]
fn cross_entropy() {
    let (tokens, d, v, z_loss) = (6, 4, 9, 0.01);
    let targets = [3_i32, 0, -1, 8, 3, -100];
    // The targets, and the same as one-hot rows (none for an ignored token).
    let more = |g: &mut Graph, store: &mut Store| {
        let mut hot = vec![0.0; tokens * v];
        for (token, target) in targets.iter().enumerate() {
            if *target >= 0 {
                hot[token * v + *target as usize] = 1.0;
            }
        }
        store.insert("targets", HostTensor::new([tokens], &targets).unwrap());
        store.insert(
            "hot",
            HostTensor::from_f64(f64s([tokens, v]), &hot).unwrap(),
        );
        vec![
            g.add_input("targets", TensorType::new(DType::I32, [tokens]))
                .unwrap(),
            g.add_input("hot", f64s([tokens, v])).unwrap(),
        ]
    };
    compare(
        "cross entropy",
        &[f64s([tokens, d]), f64s([v, d])],
        &more,
        &|g, x| {
            let config = CrossEntropyConfig { z_loss, chunk: 4 };
            Ok(g.add(CrossEntropy { config }, &x[..3])?[0])
        },
        &|g, x| {
            let logits = g.matmul(x[0], x[1], true)?;
            let e = g.unary(UnaryKind::Exp, logits)?;
            let sum = g.reduce(ReduceKind::Sum, e, &[1])?;
            let lse = g.unary(UnaryKind::Log, sum)?;
            let picked = g.mul(logits, x[3])?;
            let picked = g.reduce(ReduceKind::Sum, picked, &[1])?;
            let counts = g.reduce(ReduceKind::Sum, x[3], &[1])?;
            let square = g.unary(UnaryKind::Square, lse)?;
            let z = g.scale(square, z_loss)?;
            let sum = g.add_(lse, z)?;
            let counted = g.mul(sum, counts)?;
            let loss = g.sub(counted, picked)?;
            g.reduce(ReduceKind::Sum, loss, &[0])
        },
    );
}

#[test]
fn embedding() {
    let (rows, d) = (5, 3);
    let indices = [4_i32, 0, 4, 2];
    let more = |g: &mut Graph, store: &mut Store| {
        let mut hot = vec![0.0; indices.len() * rows];
        for (position, index) in indices.iter().enumerate() {
            hot[position * rows + *index as usize] = 1.0;
        }
        store.insert("indices", HostTensor::new([2, 2], &indices).unwrap());
        store.insert(
            "hot",
            HostTensor::from_f64(f64s([2, 2, rows]), &hot).unwrap(),
        );
        vec![
            g.add_input("indices", TensorType::new(DType::I32, [2, 2]))
                .unwrap(),
            g.add_input("hot", f64s([2, 2, rows])).unwrap(),
        ]
    };
    compare(
        "embedding",
        &[f64s([rows, d])],
        &more,
        &|g, x| g.add1(Embedding {}, &x[..2]),
        &|g, x| g.matmul(x[2], x[0], false),
    );
}

#[test]
fn select() {
    let more = |g: &mut Graph, store: &mut Store| {
        let flags = HostTensor::from_f64(f64s([2, 3]), &[1.0, 0.0, 1.0, 0.0, 0.0, 1.0]).unwrap();
        store.insert("flags", flags);
        vec![g.add_input("flags", f64s([2, 3])).unwrap()]
    };
    compare(
        "select",
        &[f64s([2, 3]), f64s([2, 3])],
        &more,
        &|g, x| g.add1(Select {}, &[x[2], x[0], x[1]]),
        &|g, x| {
            let difference = g.sub(x[0], x[1])?;
            let picked = g.mul(x[2], difference)?;
            g.add_(x[1], picked)
        },
    );
}

#[test]
fn a_product_that_accumulates() {
    for (trans_a, trans_b) in [(false, false), (false, true), (true, false), (true, true)] {
        let op = MatMul {
            trans_a,
            trans_b,
            out_dtype: DType::F64,
        };
        let a = if trans_a { [4, 3] } else { [3, 4] };
        let b = if trans_b { [5, 4] } else { [4, 5] };
        compare(
            "matmul",
            &[f64s(a), f64s(b), f64s([3, 5])],
            &nothing,
            &|g, x| g.add1(op.clone(), x),
            &|g, x| {
                // Rows times columns, summed over the middle.
                let a = if trans_a {
                    g.transpose(x[0], &[1, 0])?
                } else {
                    x[0]
                };
                let b = if trans_b {
                    x[1]
                } else {
                    g.transpose(x[1], &[1, 0])?
                };
                let a = g.reshape(a, [3, 1, 4])?;
                let product = g.mul(a, b)?;
                let sum = g.reduce(ReduceKind::Sum, product, &[2])?;
                g.add_(sum, x[2])
            },
        );
    }
}

#[test]
fn adamw() {
    let (beta1, beta2, eps, decay) = (0.9, 0.95, 1e-8, 0.1);
    let schedule = [0.02, 0.271, 0.142_625];
    let scale = 0.25;
    let names = ["param", "grad", "m", "v"];
    let mut store = Store::new();
    let mut start = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let mut values = tensor(f64s([7]), index).to_f64().unwrap();
        if *name == "v" {
            values.iter_mut().for_each(|x| *x = x.abs());
        }
        let values = HostTensor::from_f64(f64s([7]), &values).unwrap();
        store.insert(*name, values.clone());
        start.push(values);
    }
    store.insert("schedule", HostTensor::new([3], &schedule).unwrap());
    store.insert("scale", HostTensor::scalar(scale).unwrap());
    store.insert("apply", HostTensor::scalar(1.0).unwrap());
    let mut graph = Graph::new();
    let mut inputs: Vec<ValueId> = names
        .map(|name| graph.add_state(name, f64s([7])).unwrap())
        .into();
    inputs.push(graph.add_input("schedule", f64s([3])).unwrap());
    inputs.push(graph.add_input("scale", f64s([])).unwrap());
    inputs.push(graph.add_input("apply", f64s([])).unwrap());
    let op = AdamW {
        beta1,
        beta2,
        eps,
        weight_decay: decay,
        copy: false,
    };
    graph.add(op, &inputs).unwrap();
    run(&graph, &mut store);

    let mut graph = Graph::new();
    let g = &mut graph;
    let mut primitive = Store::new();
    let mut values = Vec::new();
    for (name, start) in names.iter().zip(start) {
        primitive.insert(*name, start);
        values.push(g.add_input(name, f64s([7])).unwrap());
    }
    let (param, m, v) = (values[0], values[2], values[3]);
    let grad = g.scale(values[1], scale).unwrap();
    let blend = |g: &mut Graph, old: ValueId, new: ValueId, beta: f64| {
        let (old, new) = (g.scale(old, beta)?, g.scale(new, 1.0 - beta)?);
        g.add_(old, new)
    };
    let m = blend(g, m, grad, beta1).unwrap();
    let square = g.unary(UnaryKind::Square, grad).unwrap();
    let v = blend(g, v, square, beta2).unwrap();
    let m_hat = g.scale(m, 1.0 / schedule[1]).unwrap();
    let v_hat = g.scale(v, 1.0 / schedule[2]).unwrap();
    let root = g.unary(UnaryKind::Sqrt, v_hat).unwrap();
    let root = g.offset(root, eps).unwrap();
    let step = g.binary(BinaryKind::Div, m_hat, root).unwrap();
    let decayed = g.scale(param, decay).unwrap();
    let step = g.add_(step, decayed).unwrap();
    let step = g.scale(step, schedule[0]).unwrap();
    let param = g.sub(param, step).unwrap();
    for (name, value) in [("param", param), ("m", m), ("v", v)] {
        g.set_output(name, value);
    }
    let made = run(&graph, &mut primitive);
    for (name, made) in ["param", "m", "v"].into_iter().zip(&made) {
        let fused = store.get(name).unwrap().unwrap().to_f64().unwrap();
        assert_close(name, &fused, &made.to_f64().unwrap(), 1e-12);
    }
}
