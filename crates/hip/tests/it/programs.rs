//! Small programs that tests run on a GPU.

use std::sync::Arc;

use cairn_graph::ops::{Assign, Embedding};
use cairn_graph::{Graph, GraphError};
use cairn_hip::Gpu;
use cairn_tensor::{
    Backend, DType, Dispatcher, HostTensor, Program, ProgramOptions, Store, TensorType,
};

/// Rows of the table.
pub(crate) const ROWS: usize = 8;
/// Its columns, and elements of the sum.
pub(crate) const COLUMNS: usize = 300;

fn f32s(dims: &[usize]) -> TensorType {
    TensorType::new(DType::F32, dims.to_vec())
}

/// Numbers without a pattern.
pub(crate) fn numbers(count: usize, seed: usize) -> Vec<f64> {
    let number = |index: usize| ((index * 37 + seed * 101 + 11) as f64 * 0.7391).sin();
    (0..count).map(number).collect()
}

pub(crate) fn tensor(dims: &[usize], seed: usize) -> HostTensor {
    let ty = f32s(dims);
    let values = numbers(ty.shape.num_elements(), seed);
    HostTensor::from_f64(ty, &values).unwrap()
}

/// Rows of a table by two tokens.
pub(crate) fn lookup(tokens: [i32; 2]) -> (Graph, Store) {
    let (mut graph, mut store) = (Graph::new(), Store::new());
    let table = graph
        .add_parameter("table", f32s(&[ROWS, COLUMNS]))
        .unwrap();
    let ty = TensorType::new(DType::I32, vec![2]);
    let indices = graph.add_input("tokens", ty.clone()).unwrap();
    let rows = graph.scoped("model.embed_tokens", |graph| {
        graph.add1(Embedding {}, &[table, indices])
    });
    graph.set_output("rows", rows.unwrap());
    store.insert("table", tensor(&[ROWS, COLUMNS], 1));
    let tokens: Vec<f64> = tokens.into_iter().map(f64::from).collect();
    store.insert("tokens", HostTensor::from_f64(ty, &tokens).unwrap());
    (graph, store)
}

/// The same, where the rows are used further.
pub(crate) fn looked_up_and_scaled(tokens: [i32; 2]) -> (Graph, Store) {
    let (mut graph, store) = lookup(tokens);
    let rows = graph.output("rows").unwrap();
    let square = graph.mul(rows, rows).unwrap();
    let half = graph.scale(square, 0.5).unwrap();
    graph.set_output("half", half);
    (graph, store)
}

/// sum <- sum + x * x, and the same as a result.
pub(crate) fn sum() -> (Graph, Store) {
    let (mut graph, mut store) = (Graph::new(), Store::new());
    let build = |graph: &mut Graph| -> Result<(), GraphError> {
        let x = graph.add_input("x", f32s(&[COLUMNS]))?;
        let sum = graph.add_state("sum", f32s(&[COLUMNS]))?;
        let square = graph.mul(x, x)?;
        let added = graph.add_(sum, square)?;
        let assigned = graph.add1(Assign {}, &[sum, added])?;
        let twice = graph.scale(assigned, 2.0)?;
        graph.set_output("twice", twice);
        Ok(())
    };
    build(&mut graph).unwrap();
    store.insert("x", tensor(&[COLUMNS], 1));
    store.insert("sum", tensor(&[COLUMNS], 2));
    (graph, store)
}

/// Compiles for a backend.
pub(crate) fn compile(graph: &Graph, backend: impl Backend + 'static, detect: bool) -> Program {
    let options = ProgramOptions {
        detect_anomaly: detect,
    };
    let dispatcher = Dispatcher::new(vec![Arc::new(backend)]);
    Program::compile(graph.clone(), &dispatcher, options).unwrap()
}

pub(crate) fn on_gpu(graph: &Graph, gpu: &Gpu, detect: bool) -> Program {
    compile(graph, gpu.clone(), detect)
}

/// Replaces the content of an input where it is.
pub(crate) fn set(store: &mut Store, name: &str, seed: usize) {
    let slot = store.get_mut(name).unwrap().unwrap();
    let numbers = numbers(COLUMNS, seed);
    let slice = slot.as_mut_slice::<f32>().unwrap();
    for (to, number) in slice.iter_mut().zip(numbers) {
        *to = number as f32;
    }
}

/// The bytes of a tensor of the store.
pub(crate) fn bytes(store: &Store, name: &str) -> Vec<u8> {
    store.get(name).unwrap().unwrap().bytes().to_vec()
}
