//! Short forms for building and running small programs.

use std::sync::Arc;

use cairn_graph::{Graph, ValueId};
use cairn_tensor::{
    DType, Dispatcher, HostTensor, Pool, Program, ProgramOptions, Reference, Shape, Store,
    TensorType,
};

pub(crate) fn reference() -> Dispatcher {
    Dispatcher::new(vec![Arc::new(Reference)])
}

pub(crate) fn pool(threads: usize) -> Pool {
    Pool::new(threads).unwrap()
}

pub(crate) fn f64s(shape: impl Into<Shape>) -> TensorType {
    TensorType::new(DType::F64, shape)
}

/// Numbers without a pattern that a wrong index could hit by chance.
pub(crate) fn numbers(count: usize, seed: usize) -> Vec<f64> {
    (0..count)
        .map(|index| ((index * 37 + seed * 101 + 11) as f64 * 0.7391).sin() * 1.5)
        .collect()
}

pub(crate) fn tensor(ty: TensorType, seed: usize) -> HostTensor {
    let values = numbers(ty.shape.num_elements(), seed);
    HostTensor::from_f64(ty, &values).unwrap()
}

/// Compiles for the reference backend.
pub(crate) fn compile(graph: &Graph) -> Program {
    graph.verify().unwrap();
    Program::compile(graph.clone(), &reference(), ProgramOptions::default()).unwrap()
}

/// Runs `graph` once and gives the results in the order they were named.
pub(crate) fn run(graph: &Graph, store: &mut Store) -> Vec<HostTensor> {
    let mut program = compile(graph);
    program.run(store, &pool(1)).unwrap();
    let outputs = graph.outputs().iter();
    outputs
        .map(|(name, _)| program.output(store, name).unwrap())
        .collect()
}

/// An input with numbers in the store.
pub(crate) fn input(graph: &mut Graph, store: &mut Store, name: &str, ty: TensorType) -> ValueId {
    store.insert(
        name,
        tensor(ty.clone(), name.len() + usize::from(name.as_bytes()[0])),
    );
    graph.add_input(name, ty).unwrap()
}

/// Fails where two lists of numbers differ by more than `tolerance`, relative to
/// the numbers and their root mean square.
#[track_caller]
pub(crate) fn assert_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    assert!(!found.is_empty(), "{what}: nothing to compare");
    let square: f64 = expected.iter().map(|x| x * x).sum();
    let rms = (square / expected.len() as f64).sqrt();
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs();
        assert!(
            error <= tolerance * (expected.abs() + rms),
            "{what}: {found} instead of {expected} at {index}"
        );
    }
}
