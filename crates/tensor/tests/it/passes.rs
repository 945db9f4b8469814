//! Passes keep results equal, by bits, on a small two-layer transformer.

use cairn_graph::ops::cross_entropy::CrossEntropyConfig;
use cairn_graph::ops::{
    Assign, Attention, CrossEntropy, Dropout, Embedding, Glu, GluKind, Iota, RmsNorm, Rope,
    RopeTable,
};
use cairn_graph::passes::{
    Recompute, eliminate_common_subexpressions, eliminate_dead_code, fuse, recompute, standard,
};
use cairn_graph::{Graph, GraphError, Stage, ValueId, gradients};
use cairn_tensor::{DType, HostTensor, Store, TensorType};

use crate::support::{assert_close, compile, numbers, run};

const TOKENS: usize = 6;
const BATCH: usize = 2;
const DIM: usize = 8;
const HEADS: usize = 2;
const VOCAB: usize = 11;

type Built = Result<ValueId, GraphError>;

struct Model {
    graph: Graph,
    store: Store,
    parameters: Vec<ValueId>,
}

impl Model {
    fn parameter(&mut self, name: &str, dtype: DType, shape: &[usize]) -> ValueId {
        let path = self.graph.scope_path(self.graph.current_scope()).to_owned();
        let name = format!("{path}.{name}");
        let ty = TensorType::new(dtype, shape);
        // Small weights: large ones saturate and cancel, which hides errors.
        let values = numbers(ty.shape.num_elements(), self.parameters.len());
        let values: Vec<f64> = values.iter().map(|x| 0.3 * x).collect();
        let values = HostTensor::from_f64(ty.clone(), &values).unwrap();
        self.store.insert(name.clone(), values);
        let value = self.graph.add_parameter(&name, ty).unwrap();
        self.parameters.push(value);
        value
    }
}

/// Loss and gradients of a two-layer model, as results.
pub(crate) fn model(dtype: DType) -> (Graph, Store) {
    let (mut graph, store, grads) = build(dtype);
    for (index, grad) in grads.into_iter().enumerate() {
        graph.set_output(format!("d{index}"), grad);
    }
    (graph, store)
}

/// The model with its loss as result, and the gradients.
fn build(dtype: DType) -> (Graph, Store, Vec<ValueId>) {
    let mut m = Model {
        graph: Graph::new(),
        store: Store::new(),
        parameters: Vec::new(),
    };
    let ids = |from: usize| -> Vec<i32> {
        (0..BATCH * TOKENS)
            .map(|i| ((i * 7 + from) % VOCAB) as i32)
            .collect()
    };
    let int = |dims: &[usize]| TensorType::new(DType::I32, dims);
    m.store
        .insert("tokens", HostTensor::new([BATCH, TOKENS], &ids(1)).unwrap());
    m.store.insert(
        "targets",
        HostTensor::new([BATCH, TOKENS], &ids(3)).unwrap(),
    );
    m.store
        .insert("rng", HostTensor::new([2], &[5_i64, 6]).unwrap());
    let tokens = m.graph.add_input("tokens", int(&[BATCH, TOKENS])).unwrap();
    let targets = m.graph.add_input("targets", int(&[BATCH, TOKENS])).unwrap();
    let rng = m
        .graph
        .add_input("rng", TensorType::new(DType::I64, [2]))
        .unwrap();
    let table = m.parameter("embedding", dtype, &[VOCAB, DIM]);
    let positions = m.graph.add1(Iota { len: TOKENS }, &[]).unwrap();
    let rope = RopeTable {
        head_dim: DIM / HEADS,
        base: 100.0,
        scaling: None,
    };
    let rope = m.graph.add1(rope, &[positions]).unwrap();
    let mut x = m.graph.add1(Embedding {}, &[table, tokens]).unwrap();
    for layer in 0..2 {
        let scope = m.graph.intern_scope(&format!("layers.{layer}"));
        let mut next = x;
        m = in_scope(m, scope, |m| next = block(m, dtype, x, rope, rng).unwrap());
        x = next;
    }
    // The embedding is tied: two gradients flow into it.
    let config = CrossEntropyConfig {
        z_loss: 1e-3,
        chunk: 4,
    };
    let loss = m
        .graph
        .add(CrossEntropy { config }, &[x, table, targets])
        .unwrap();
    let wrt = m.parameters.clone();
    let grads = gradients(&mut m.graph, loss[0], None, &wrt, None).unwrap();
    m.graph.set_output("loss", loss[0]);
    m.graph.set_output("count", loss[1]);
    let grads = (0..wrt.len())
        .map(|index| grads.get(index).unwrap())
        .collect();
    (m.graph, m.store, grads)
}

/// Runs `body` with new nodes in `scope`.
fn in_scope(mut m: Model, scope: cairn_graph::ScopeId, body: impl FnOnce(&mut Model)) -> Model {
    let mut graph = std::mem::take(&mut m.graph);
    let made = graph.located(
        scope,
        Stage::Forward,
        |graph| -> Result<Model, GraphError> {
            let mut inner = Model {
                graph: std::mem::take(graph),
                store: std::mem::take(&mut m.store),
                parameters: std::mem::take(&mut m.parameters),
            };
            body(&mut inner);
            *graph = std::mem::take(&mut inner.graph);
            Ok(inner)
        },
    );
    let mut made = made.unwrap();
    made.graph = graph;
    made
}

fn block(m: &mut Model, dtype: DType, x: ValueId, rope: ValueId, rng: ValueId) -> Built {
    let head_dim = DIM / HEADS;
    let norm = m.parameter("attention_norm", dtype, &[DIM]);
    let [wq, wk, wv, wo] = ["q", "k", "v", "o"].map(|name| m.parameter(name, dtype, &[DIM, DIM]));
    let ffn_norm = m.parameter("ffn_norm", dtype, &[DIM]);
    let [gate, up] = ["gate", "up"].map(|name| m.parameter(name, dtype, &[2 * DIM, DIM]));
    let down = m.parameter("down", dtype, &[DIM, 2 * DIM]);
    let g = &mut m.graph;
    let y = g.add(RmsNorm { eps: 1e-5 }, &[x, norm])?[0];
    let heads = |g: &mut Graph, w: ValueId| {
        let projected = g.matmul(y, w, true)?;
        g.reshape(projected, [BATCH, TOKENS, HEADS, head_dim])
    };
    let (q, k, v) = (heads(g, wq)?, heads(g, wk)?, heads(g, wv)?);
    let q = g.add1(Rope { inverse: false }, &[q, rope])?;
    let k = g.add1(Rope { inverse: false }, &[k, rope])?;
    let op = Attention {
        scale: 0.5,
        causal: true,
    };
    let out = g.add(op, &[q, k, v])?[0];
    let out = g.reshape(out, [BATCH, TOKENS, DIM])?;
    let out = g.matmul(out, wo, true)?;
    let out = g.add1(Dropout { p: 0.2, key: 9 }, &[out, rng])?;
    let x = g.add_(x, out)?;
    let y = g.add(RmsNorm { eps: 1e-5 }, &[x, ffn_norm])?[0];
    let (gate, up) = (g.matmul(y, gate, true)?, g.matmul(y, up, true)?);
    let hidden = g.add1(
        Glu {
            kind: GluKind::Swiglu,
        },
        &[gate, up],
    )?;
    let out = g.matmul(hidden, down, true)?;
    g.add_(x, out)
}

#[track_caller]
fn assert_same_bits(what: &str, a: &[HostTensor], b: &[HostTensor]) {
    assert_eq!(a.len(), b.len());
    for (index, (a, b)) in a.iter().zip(b).enumerate() {
        assert_eq!(a.bytes(), b.bytes(), "{what}: result {index}");
    }
}

fn count(graph: &Graph, stage: Stage) -> usize {
    graph
        .nodes()
        .iter()
        .filter(|node| node.stage == stage)
        .count()
}

fn has(graph: &Graph, op: &str) -> usize {
    graph
        .nodes()
        .iter()
        .filter(|node| node.op.name() == op)
        .count()
}

#[test]
fn rewrites_keep_every_bit() {
    for dtype in [DType::F64, DType::F32, DType::BF16] {
        let (graph, mut store) = model(dtype);
        let plain = run(&graph, &mut store);
        let values = plain[0].to_f64().unwrap();
        assert!(values[0].is_finite() && values[0] > 0.0);
        let cse = eliminate_common_subexpressions(&graph).unwrap();
        assert!(cse.nodes().len() < graph.nodes().len());
        assert_same_bits("cse", &run(&cse, &mut store), &plain);
        let dce = eliminate_dead_code(&graph).unwrap();
        assert!(dce.nodes().len() <= graph.nodes().len());
        assert_same_bits("dce", &run(&dce, &mut store), &plain);
        for policy in [Recompute::Selective, Recompute::Full] {
            let again = recompute(&graph, policy).unwrap();
            assert!(count(&again, Stage::Recompute) > 0);
            assert_same_bits("recompute", &run(&again, &mut store), &plain);
        }
    }
}

/// In f64 the reference rounds nowhere in between, so fused sums have the same bits.
#[test]
fn fusions_keep_every_bit_in_f64() {
    let (graph, mut store) = model(DType::F64);
    let plain = run(&graph, &mut store);
    let fused = eliminate_dead_code(&fuse(&graph).unwrap()).unwrap();
    assert_eq!(has(&fused, "cross_entropy_with_grad"), 1);
    assert_eq!(
        has(&fused, "cross_entropy") + has(&fused, "cross_entropy_grad"),
        0
    );
    assert!(has(&fused, "binary") < has(&graph, "binary"));
    assert_same_bits("fuse", &run(&fused, &mut store), &plain);
}

#[test]
fn fusions_round_less_in_narrow_types() {
    for (dtype, tolerance) in [(DType::F32, 1e-5), (DType::BF16, 0.1)] {
        let (graph, mut store) = model(dtype);
        let plain = run(&graph, &mut store);
        let fused = run(&fuse(&graph).unwrap(), &mut store);
        for (index, (a, b)) in fused.iter().zip(&plain).enumerate() {
            let name = format!("{dtype}, result {index}");
            assert_close(&name, &a.to_f64().unwrap(), &b.to_f64().unwrap(), tolerance);
        }
    }
}

#[test]
fn all_passes_together_keep_every_bit_whatever_is_recomputed() {
    let (graph, mut store) = model(DType::F32);
    let kept = standard(&graph, Recompute::None).unwrap();
    let expected = run(&kept, &mut store);
    for policy in [Recompute::Selective, Recompute::Full] {
        let again = standard(&graph, policy).unwrap();
        assert_same_bits("standard", &run(&again, &mut store), &expected);
    }
}

#[test]
fn recomputation_repeats_what_the_policy_says() {
    let (graph, _) = model(DType::F32);
    let of = |policy| -> Vec<&'static str> {
        let again = standard(&graph, policy).unwrap();
        let mut names: Vec<_> = again
            .nodes()
            .iter()
            .filter(|node| node.stage == Stage::Recompute)
            .map(|node| node.op.name())
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    assert!(of(Recompute::None).is_empty());
    let selective = of(Recompute::Selective);
    assert!(
        selective.contains(&"glu") && selective.contains(&"rmsnorm"),
        "{selective:?}"
    );
    assert!(
        !selective.contains(&"matmul") && !selective.contains(&"attention"),
        "{selective:?}"
    );
    let full = of(Recompute::Full);
    assert!(
        full.contains(&"matmul") && full.contains(&"attention"),
        "{full:?}"
    );
    // What enters a layer is kept: the embedding is outside.
    assert!(!full.contains(&"embedding"), "{full:?}");
}

/// With gradients summed into states after the whole backward, products must
/// not wait for those sums: they would keep every activation alive.
#[test]
fn sums_into_states_do_not_delay_products() {
    let peak = |adds: bool| {
        let (mut graph, _, grads) = build(DType::F32);
        for (index, grad) in grads.into_iter().enumerate() {
            let ty = graph.ty(grad).clone();
            let state = graph.add_state(&format!("sum{index}"), ty).unwrap();
            let sum = if adds {
                graph.add_(state, grad).unwrap()
            } else {
                grad
            };
            graph.add1(Assign {}, &[state, sum]).unwrap();
        }
        let graph = standard(&graph, Recompute::None).unwrap();
        // Only products take part: a bias or an embedding is added at the end.
        compile(&graph).plan().peak_bytes
    };
    let (sums, plain) = (peak(true), peak(false));
    println!("{sums} bytes with sums, {plain} without");
    assert!(sums <= plain + plain / 10, "{sums} against {plain}");
}

#[test]
fn recomputation_saves_memory() {
    let (graph, _) = model(DType::F32);
    let peak = |policy| {
        compile(&standard(&graph, policy).unwrap())
            .plan()
            .peak_bytes
    };
    let (none, full) = (peak(Recompute::None), peak(Recompute::Full));
    assert!(full < none, "{full} against {none}");
}
