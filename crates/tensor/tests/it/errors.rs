//! What programs and kernels say when they cannot go on.

use std::sync::Arc;

use cairn_graph::ops::cross_entropy::CrossEntropyConfig;
use cairn_graph::ops::{CacheWrite, CrossEntropy, Embedding, UnaryKind};
use cairn_graph::{Graph, Op, ValueId};
use cairn_tensor::{
    Backend, DType, Dispatcher, HostTensor, Kernel, Program, ProgramOptions, Signature, Store,
    TensorError, TensorType,
};

use crate::support::{compile, f64s, input, pool, reference, run, tensor};

fn fails(graph: &Graph, store: &mut Store) -> String {
    compile(graph).run(store, &pool(1)).unwrap_err().to_string()
}

fn looked_up(indices: &[i32]) -> (Graph, Store) {
    let (mut graph, mut store) = (Graph::new(), Store::new());
    let table = input(&mut graph, &mut store, "table", f64s([5, 3]));
    store.insert(
        "indices",
        HostTensor::new([indices.len()], indices).unwrap(),
    );
    let ty = TensorType::new(DType::I32, [indices.len()]);
    let indices = graph.add_input("indices", ty).unwrap();
    graph
        .scoped("embed", |g| g.add1(Embedding {}, &[table, indices]))
        .unwrap();
    (graph, store)
}

#[test]
fn an_index_outside_the_table() {
    for wrong in [5, -1] {
        let (graph, mut store) = looked_up(&[0, 4, wrong]);
        let message = fails(&graph, &mut store);
        assert!(
            message.contains(&format!("index {wrong} at position 2 is not in 0..5")),
            "{message}"
        );
        assert!(message.contains("`embedding` in `embed`"), "{message}");
        assert!(
            message.contains("f64[5,3], i32[3] -> f64[3,3]"),
            "{message}"
        );
    }
}

#[test]
fn a_target_outside_the_vocabulary() {
    let (mut graph, mut store) = (Graph::new(), Store::new());
    let h = input(&mut graph, &mut store, "h", f64s([2, 3]));
    let w = input(&mut graph, &mut store, "w", f64s([4, 3]));
    store.insert("targets", HostTensor::new([2], &[-1_i32, 4]).unwrap());
    let targets = graph
        .add_input("targets", TensorType::new(DType::I32, [2]))
        .unwrap();
    let config = CrossEntropyConfig {
        z_loss: 0.0,
        chunk: 8,
    };
    graph
        .add(CrossEntropy { config }, &[h, w, targets])
        .unwrap();
    let message = fails(&graph, &mut store);
    assert!(
        message.contains("target 4 at position 1 is not in 0..4"),
        "{message}"
    );
}

#[test]
fn a_write_past_the_end_of_a_cache() {
    for position in [2, -1] {
        let (mut graph, mut store) = (Graph::new(), Store::new());
        store.insert("cache", tensor(f64s([1, 4, 1, 2]), 1));
        let cache = graph.add_state("cache", f64s([1, 4, 1, 2])).unwrap();
        let new = input(&mut graph, &mut store, "new", f64s([1, 3, 1, 2]));
        store.insert("position", HostTensor::scalar(position).unwrap());
        let at = graph
            .add_input("position", TensorType::new(DType::I32, []))
            .unwrap();
        graph.add(CacheWrite {}, &[cache, new, at]).unwrap();
        let before = store.get("cache").unwrap().unwrap().clone();
        let message = fails(&graph, &mut store);
        assert!(
            message.contains(&format!("position {position}")),
            "{message}"
        );
        assert_eq!(store.get("cache").unwrap().unwrap().bytes(), before.bytes());
    }
}

fn negated() -> (Graph, Store) {
    let (mut graph, mut store) = (Graph::new(), Store::new());
    let x = input(&mut graph, &mut store, "x", f64s([2]));
    let y = graph.scoped("layer", |g| g.neg(x)).unwrap();
    graph.set_output("y", y);
    (graph, store)
}

#[test]
fn a_missing_leaf_or_one_of_another_type() {
    let (graph, mut store) = negated();
    let mut program = compile(&graph);
    let message = program
        .run(&mut Store::new(), &pool(1))
        .unwrap_err()
        .to_string();
    assert_eq!(message, "input `x` should be f64[2], the store has nothing");
    store.insert("x", HostTensor::scalar(1.0_f32).unwrap());
    let message = program.run(&mut store, &pool(1)).unwrap_err().to_string();
    assert_eq!(message, "input `x` should be f64[2], the store has f32[]");
    // A right one afterwards is taken, and a leaf replaced later is seen.
    for value in [3.0, 4.0] {
        store.insert("x", HostTensor::new([2], &[value, value]).unwrap());
        program.run(&mut store, &pool(1)).unwrap();
        let y = program.output(&store, "y").unwrap();
        assert_eq!(y.to_f64().unwrap(), [-value, -value]);
    }
}

#[test]
fn a_result_nobody_named_or_another_program_replaced() {
    let (graph, mut store) = negated();
    let mut program = compile(&graph);
    program.run(&mut store, &pool(1)).unwrap();
    assert_eq!(
        program.output(&store, "z").unwrap_err(),
        TensorError::NoOutput {
            name: "z".to_owned()
        }
    );
    assert!(program.output(&store, "y").is_ok());
    compile(&graph).run(&mut store, &pool(1)).unwrap();
    assert!(program.output(&store, "y").is_err());
}

#[derive(Debug)]
struct Nothing;

impl Backend for Nothing {
    fn name(&self) -> &str {
        "nothing"
    }

    fn kernel(&self, _: &dyn Op, _: &Signature) -> Option<Box<dyn Kernel>> {
        None
    }
}

#[test]
fn an_operator_without_kernel_is_refused_or_falls_back_visibly() {
    let (graph, mut store) = negated();
    let alone = Dispatcher::new(vec![Arc::new(Nothing)]);
    let error = Program::compile(graph.clone(), &alone, ProgramOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no kernel for `unary` in `layer` (f64[2] -> f64[2]) on backend nothing"
    );
    let both = Dispatcher::new(vec![Arc::new(Nothing), Arc::new(cairn_tensor::Reference)]);
    let mut program = Program::compile(graph, &both, ProgramOptions::default()).unwrap();
    let kernels = program.kernels();
    assert_eq!(kernels.len(), 1);
    assert!(kernels[0].fallback);
    assert_eq!(
        (kernels[0].backend.as_str(), kernels[0].op.as_str()),
        ("reference", "unary")
    );
    program.run(&mut store, &pool(1)).unwrap();
}

/// `log(x) * 0` and more after it, with the anomaly in the middle.
fn with_logarithm() -> (Graph, Store) {
    let (mut graph, mut store) = (Graph::new(), Store::new());
    store.insert("x", HostTensor::new([3], &[1.0, 2.0, -1.0]).unwrap());
    let x = graph.add_input("x", f64s([3])).unwrap();
    let twice = graph.scoped("first", |g| g.scale(x, 2.0)).unwrap();
    let log = graph
        .scoped("second", |g| g.unary(UnaryKind::Log, twice))
        .unwrap();
    let y: ValueId = graph.scoped("third", |g| g.scale(log, 3.0)).unwrap();
    graph.set_output("y", y);
    (graph, store)
}

#[test]
fn detect_anomaly_names_the_first_operator() {
    let (graph, mut store) = with_logarithm();
    // Unasked, it goes on.
    assert!(run(&graph, &mut store)[0].to_f64().unwrap()[2].is_nan());
    let options = ProgramOptions {
        detect_anomaly: true,
    };
    let mut program = Program::compile(graph, &reference(), options).unwrap();
    let message = program.run(&mut store, &pool(1)).unwrap_err().to_string();
    assert!(message.starts_with("`unary` in `second`"), "{message}");
    assert!(
        message.contains("NaN at element 2 of output 0"),
        "{message}"
    );
    store.insert("x", HostTensor::new([3], &[1.0, 2.0, 1.0]).unwrap());
    program.run(&mut store, &pool(1)).unwrap();
}
