//! Planned runs of random graphs against runs with storage for every value,
//! and plans of what must stay small.

use std::sync::Arc;

use cairn_graph::ops::cross_entropy::CrossEntropyConfig;
use cairn_graph::ops::{
    Assign, Attention, BinaryKind, Concat, CrossEntropy, Glu, GluGrad, GluKind, MatMul, Reduce,
    ReduceKind, RmsNorm, Slice, Softmax, UnaryKind,
};
use cairn_graph::passes::{Recompute, standard};
use cairn_graph::{Graph, ValueId, gradients};
use cairn_tensor::cpu::Cpu;
use cairn_tensor::cpu::isa::Isa;
use cairn_tensor::{DType, Dispatcher, Program, ProgramOptions, Store, TensorType};
use proptest::prelude::*;

use crate::interpret::interpret;
use crate::support::{compile, f64s, pool, tensor};

const N: usize = 3;

/// One more node: what it is, and which earlier values it reads.
type Choice = (u8, usize, usize);

/// A graph of square matrices in which everything that shares storage occurs:
/// views, views of views, updates of states, operators in place.
fn build(choices: &[Choice], results: &[usize]) -> Graph {
    let mut g = Graph::new();
    let square = || f64s([N, N]);
    let mut values = vec![
        g.add_input("x", square()).unwrap(),
        g.add_parameter("w", square()).unwrap(),
    ];
    // Current value of each state, while it may be read.
    let mut states: Vec<ValueId> = (0..3)
        .map(|index| g.add_state(&format!("s{index}"), square()).unwrap())
        .collect();
    values.extend(&states);
    for (kind, first, second) in choices {
        let (a, b) = (values[first % values.len()], values[second % values.len()]);
        let made = node(&mut g, *kind, a, b);
        if let Some(made) = made {
            values.extend(made);
            continue;
        }
        // Update a state with `b`; its old value must not be read again.
        let which = first % states.len();
        let state = states[which];
        if b == state {
            continue;
        }
        let value = if kind.is_multiple_of(2) {
            b
        } else {
            let op = MatMul {
                trans_a: false,
                trans_b: false,
                out_dtype: DType::F64,
            };
            g.add1(op, &[a_not(state, a, values[0]), b, state]).unwrap()
        };
        let new = g.add1(Assign {}, &[state, value]).unwrap();
        values.retain(|value| *value != state);
        states[which] = new;
        values.push(new);
    }
    for (index, result) in results.iter().enumerate() {
        let value = values[result % values.len()];
        g.set_output(format!("r{index}"), value);
    }
    g
}

fn a_not(state: ValueId, a: ValueId, other: ValueId) -> ValueId {
    if a == state { other } else { a }
}

/// The outputs of one node, or `None` for an update.
fn node(g: &mut Graph, kind: u8, a: ValueId, b: ValueId) -> Option<Vec<ValueId>> {
    let one = |value| Some(vec![value]);
    match kind % 16 {
        0 => one(g.neg(a).unwrap()),
        1 => one(g.unary(UnaryKind::Tanh, a).unwrap()),
        2 => one(g.binary(BinaryKind::Add, a, b).unwrap()),
        3 => one(g.binary(BinaryKind::Sub, a, b).unwrap()),
        4 => one(g.transpose(a, &[1, 0]).unwrap()),
        5 => {
            let flat = g.reshape(a, [N * N]).unwrap();
            let flat = g.neg(flat).unwrap();
            one(g.reshape(flat, [N, N]).unwrap())
        }
        6 => {
            let op = Slice {
                start: vec![1, 0],
                end: vec![2, N],
            };
            let row = g.add1(op, &[a]).unwrap();
            one(g.broadcast(row, [N, N]).unwrap())
        }
        7 => {
            let op = MatMul {
                trans_a: false,
                trans_b: true,
                out_dtype: DType::F64,
            };
            let product = g.add1(op, &[a, b]).unwrap();
            one(g.unary(UnaryKind::Tanh, product).unwrap())
        }
        8 => one(g
            .add1(
                Glu {
                    kind: GluKind::Swiglu,
                },
                &[a, b],
            )
            .unwrap()),
        9 => Some(
            g.add(
                GluGrad {
                    kind: GluKind::Swiglu,
                },
                &[a, b, a],
            )
            .unwrap(),
        ),
        10 => one(g.add1(Softmax { log: false }, &[a]).unwrap()),
        11 => {
            let both = g.add1(Concat { dim: 0 }, &[a, b]).unwrap();
            let op = Slice {
                start: vec![1, 0],
                end: vec![1 + N, N],
            };
            one(g.add1(op, &[both]).unwrap())
        }
        12 => {
            let op = Reduce {
                kind: ReduceKind::Mean,
                dims: vec![1],
                keep: true,
            };
            let mean = g.add1(op, &[a]).unwrap();
            one(g.sub(b, mean).unwrap())
        }
        13 => {
            let flat = g.reshape(a, [N * N]).unwrap();
            one(g.reshape(flat, [N, N]).unwrap())
        }
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_planned_run_equals_one_with_storage_for_every_value(
        choices in prop::collection::vec((any::<u8>(), 0_usize..64, 0_usize..64), 1..40),
        results in prop::collection::vec(0_usize..64, 1..4),
    ) {
        let graph = build(&choices, &results);
        let mut store = Store::new();
        for (index, name) in ["x", "w", "s0", "s1", "s2"].iter().enumerate() {
            store.insert(*name, tensor(f64s([N, N]), index));
        }
        let mut program = compile(&graph);
        // The second run starts with what the first left in arena and states.
        for _ in 0..2 {
            let (expected, leaves) = interpret(&graph, &store);
            program.run(&mut store, &pool(1)).unwrap();
            for ((name, _), expected) in graph.outputs().iter().zip(&expected) {
                let found = program.output(&store, name).unwrap();
                prop_assert!(found.bytes() == expected.bytes(), "{}", name);
            }
            for (name, expected) in &leaves {
                let found = store.get(name).unwrap().unwrap();
                prop_assert!(found.bytes() == expected.bytes(), "{}", name);
            }
        }
        prop_assert!(program.plan().arena_bytes >= program.plan().peak_bytes);
    }
}

fn arena_bytes(graph: Graph) -> usize {
    let graph = standard(&graph, Recompute::None).unwrap();
    let dispatcher = Dispatcher::new(vec![Arc::new(Cpu::new(Isa::detect(), 2))]);
    let program = Program::compile(graph, &dispatcher, ProgramOptions::default()).unwrap();
    program.plan().arena_bytes
}

#[test]
fn attention_over_8192_tokens_needs_no_square_matrix() {
    let (s, heads, groups, d) = (8192, 4, 2, 64);
    let mut g = Graph::new();
    let mut leaf = |name: &str, h: usize| {
        g.add_parameter(name, TensorType::new(DType::BF16, [1, s, h, d]))
            .unwrap()
    };
    let wrt = [leaf("q", heads), leaf("k", groups), leaf("v", groups)];
    let op = Attention {
        scale: 0.125,
        causal: true,
    };
    let out = g.add(op, &wrt).unwrap()[0];
    let loss = g.add1(cairn_graph::ops::SumSquares {}, &[out]).unwrap();
    let grads = gradients(&mut g, loss, None, &wrt, None).unwrap();
    for index in 0..wrt.len() {
        g.set_output(format!("d{index}"), grads.get(index).unwrap());
    }
    let bytes = arena_bytes(g);
    println!("{bytes} bytes for forward and backward");
    // One head's scores alone, in f32.
    assert!(bytes < s * s * 4 / 4, "{bytes}");
}

#[test]
fn the_loss_over_128k_words_needs_no_matrix_of_logits() {
    let (tokens, d, v) = (4096, 64, 128 * 1024);
    let mut g = Graph::new();
    let h = g
        .add_parameter("h", TensorType::new(DType::BF16, [tokens, d]))
        .unwrap();
    let w = g
        .add_parameter("w", TensorType::new(DType::BF16, [v, d]))
        .unwrap();
    let targets = g
        .add_input("targets", TensorType::new(DType::I32, [tokens]))
        .unwrap();
    let config = CrossEntropyConfig {
        z_loss: 0.0,
        chunk: 128,
    };
    let loss = g.add(CrossEntropy { config }, &[h, w, targets]).unwrap()[0];
    let grads = gradients(&mut g, loss, None, &[h, w], Some(DType::F32)).unwrap();
    for index in 0..2 {
        g.set_output(format!("d{index}"), grads.get(index).unwrap());
    }
    let bytes = arena_bytes(g);
    println!("{bytes} bytes for loss and gradients");
    // All logits in bf16, and the f32 gradient of the projection that is a result.
    assert!(bytes - v * d * 4 < tokens * v * 2 / 4, "{bytes}");
}

#[test]
fn a_norm_in_between_keeps_only_its_statistics() {
    let mut g = Graph::new();
    let x = g.add_input("x", f64s([64, 32])).unwrap();
    let w = g.add_parameter("w", f64s([32])).unwrap();
    let twice = g.scale(x, 2.0).unwrap();
    let y = g.add(RmsNorm { eps: 1e-5 }, &[twice, w]).unwrap()[0];
    let z = g.neg(y).unwrap();
    g.set_output("z", z);
    let plan = compile(&g).plan().clone();
    // Two matrices at once, and the row statistics.
    assert!(
        plan.arena_bytes <= 2 * 64 * 32 * 8 + 64 * 8 + 128,
        "{}",
        plan.arena_bytes
    );
}
