//! Cairn's suites on what is added here, and the additions in programs, stored
//! graphs and lazy tensors.

use std::sync::Arc;

use cairn_graph::ops::ReduceKind;
use cairn_graph::passes::{Pass, eliminate_dead_code};
use cairn_graph::{Graph, Op, TensorType, dump};
use cairn_tensor::cpu::{Cpu, isa::Isa};
use cairn_tensor::{
    Args, Backend, Context, DType, Dispatcher, HostTensor, Kernel, KernelError, Pool, Program,
    ProgramOptions, Reference, Signature, Store, suite,
};
use outside::{Extra, FoldOnes, Softplus, registry, row};

fn pool(threads: usize) -> Pool {
    Pool::new(threads).unwrap()
}

fn cpu() -> Arc<dyn Backend> {
    Arc::new(Cpu::new(Isa::detect(), 2))
}

#[test]
fn accuracy() {
    let report = suite::check_backend(&Extra, &pool(2), &[row()], &|_| true);
    println!("{report}");
    assert_eq!(
        report.failures().count(),
        0,
        "{}",
        report.describe_failures()
    );
    assert_eq!(report.missing(), []);
    assert_eq!(report.cases.len(), 4 * 3 * 9);
}

/// Answers for [`Softplus`] with zeros.
#[derive(Debug)]
struct Zeros;

impl Backend for Zeros {
    fn name(&self) -> &'static str {
        "zeros"
    }

    fn kernel(&self, op: &dyn Op, _: &Signature) -> Option<Box<dyn Kernel>> {
        (op.name() == "softplus").then_some(Box::new(Self))
    }
}

impl Kernel for Zeros {
    fn name(&self) -> &str {
        "softplus.zeros"
    }

    fn run(&self, args: &mut Args<'_>) -> Result<(), KernelError> {
        for output in &mut args.outputs {
            output.data.fill(0);
        }
        Ok(())
    }
}

#[test]
fn accuracy_refuses_a_wrong_kernel() {
    let report = suite::check_backend(&Zeros, &pool(1), &[row()], &|_| true);
    // Nothing can be wrong with no elements: one empty sample a beta and dtype.
    assert_eq!(report.failures().count(), 4 * 3 * 8);
}

#[test]
fn determinism() {
    let pools = [pool(1), pool(2), pool(4)];
    let pairs: Vec<(&dyn Backend, &Pool)> = pools.iter().map(|p| (&Extra as _, p)).collect();
    let report = suite::determinism(&pairs, 10, &[row()], &|_| true);
    assert_eq!(
        report.failures().count(),
        0,
        "{}",
        report.describe_failures()
    );
    assert_eq!(
        report.cases.iter().filter(|case| case.passed()).count(),
        4 * 3 * 9
    );
}

/// What the rule of [`Softplus`] needs beside it comes from the reference.
#[derive(Debug)]
struct WithReference;

impl Backend for WithReference {
    fn name(&self) -> &'static str {
        "extra and reference"
    }

    fn kernel(&self, op: &dyn Op, signature: &Signature) -> Option<Box<dyn Kernel>> {
        let own = Extra.kernel(op, signature);
        own.or_else(|| Reference.kernel(op, signature))
    }
}

#[test]
fn gradients() {
    let backend: Arc<dyn Backend> = Arc::new(WithReference);
    let checks = suite::gradients(&backend, &pool(1), &[row()], &|_| true).unwrap();
    let failed: Vec<_> = checks
        .iter()
        .filter(|check| check.failure.is_some())
        .collect();
    assert!(failed.is_empty(), "{failed:?}");
    // One input a sample, but for the empty ones.
    assert_eq!(checks.len(), 3 * 8);
}

/// `softplus(x * 1)` and its gradient.
fn graph() -> Graph {
    let mut graph = Graph::new();
    let x = graph
        .add_parameter("x", TensorType::new(DType::F32, [4]))
        .unwrap();
    let same = graph.scale(x, 1.0).unwrap();
    let y = graph.add1(Softplus { beta: 2.0 }, &[same]).unwrap();
    let loss = graph.reduce(ReduceKind::Sum, y, &[0]).unwrap();
    let grads = cairn_graph::gradients(&mut graph, loss, None, &[x], None).unwrap();
    graph.set_output("loss", loss);
    graph.set_output("dx", grads.get(0).unwrap());
    graph
}

fn run(graph: &Graph, backends: Vec<Arc<dyn Backend>>) -> (Program, [HostTensor; 2]) {
    let dispatcher = Dispatcher::new(backends);
    let mut program =
        Program::compile(graph.clone(), &dispatcher, ProgramOptions::default()).unwrap();
    let mut store = Store::new();
    store.insert(
        "x",
        HostTensor::new([4], &[-1.0_f32, 0.0, 0.5, 30.0]).unwrap(),
    );
    program.run(&mut store, &pool(2)).unwrap();
    let results = ["loss", "dx"].map(|name| program.output(&store, name).unwrap());
    (program, results)
}

#[test]
fn programs_take_the_kernel_from_whoever_has_it() {
    let extra: Arc<dyn Backend> = Arc::new(Extra);
    let others: [Arc<dyn Backend>; 2] = [cpu(), Arc::new(Reference)];
    for other in others {
        for (first, backends) in [
            (true, vec![extra.clone(), other.clone()]),
            (false, vec![other, extra.clone()]),
        ] {
            let (program, [loss, dx]) = run(&graph(), backends);
            for choice in program.kernels() {
                let own = choice.op == "softplus";
                assert_eq!(choice.kernel == "softplus.extra", own, "{choice:?}");
                assert_eq!(choice.fallback, own != first, "{choice:?}");
            }
            let x = [-1.0_f64, 0.0, 0.5, 30.0];
            let expected: f64 = x.iter().map(|x| (2.0 * x).exp().ln_1p() / 2.0).sum();
            assert!(
                (loss.to_f64().unwrap()[0] - expected).abs() < 1e-5,
                "{loss:?}"
            );
            for (found, x) in dx.to_f64().unwrap().iter().zip(x) {
                assert!(
                    (found - 1.0 / (1.0 + (-2.0 * x).exp())).abs() < 1e-6,
                    "{found} at {x}"
                );
            }
        }
    }
}

#[test]
fn nobody_has_the_kernel() {
    let dispatcher = Dispatcher::new(vec![cpu(), Arc::new(Reference)]);
    let error = Program::compile(graph(), &dispatcher, ProgramOptions::default()).unwrap_err();
    assert!(
        error.to_string().contains("no kernel for `softplus`"),
        "{error}"
    );
}

#[test]
fn graphs_are_stored_and_read() {
    let graph = graph();
    let stored = dump::to_json(&graph);
    let read = dump::from_json(stored.clone(), &registry()).unwrap();
    assert_eq!(dump::to_text(&read), dump::to_text(&graph));
    assert!(dump::to_text(&read).contains("softplus"));
    let error = dump::from_json(stored, &cairn_graph::ops::registry()).unwrap_err();
    assert!(
        error.to_string().contains("unknown operator `softplus`"),
        "{error}"
    );
}

#[test]
fn wrong_operands_are_refused() {
    let mut graph = Graph::new();
    let x = graph
        .add_input("x", TensorType::new(DType::I32, [2]))
        .unwrap();
    let error = graph.add1(Softplus { beta: 1.0 }, &[x]).unwrap_err();
    assert!(error.to_string().contains("`softplus`"), "{error}");
}

#[test]
fn the_pass_removes_products_with_one_and_keeps_bits() {
    let graph = graph();
    let folded = FoldOnes.run(&graph).unwrap();
    let folded = eliminate_dead_code(&folded).unwrap();
    folded.verify().unwrap();
    // Before: x * 1 forward; the seed and the product again backward.
    let products = |graph: &Graph| dump::to_text(graph).matches("\"mul\"").count();
    assert!(
        products(&folded) < products(&graph),
        "{}",
        dump::to_text(&folded)
    );
    assert!(folded.nodes().len() < graph.nodes().len());
    let backends = || -> Vec<Arc<dyn Backend>> { vec![cpu(), Arc::new(Extra)] };
    let (before, after) = (run(&graph, backends()).1, run(&folded, backends()).1);
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before.bytes(), after.bytes());
    }
}

#[test]
fn lazy_tensors_take_the_operator() {
    let dispatcher = Dispatcher::new(vec![cpu(), Arc::new(Extra)]);
    let cx = Context::new(dispatcher, pool(2));
    let x = cx.parameter([2], &[0.0_f32, 1.0]).unwrap();
    let y = cx.apply(Softplus { beta: 1.0 }, &[&x]).unwrap().remove(0);
    let dx = y.sum_all().unwrap().grad(&[&x]).unwrap().remove(0);
    cx.evaluate(&[&y, &dx]).unwrap();
    let (y, dx) = (y.to_vec::<f32>().unwrap(), dx.to_vec::<f32>().unwrap());
    for (found, expected) in [
        (y[0], std::f32::consts::LN_2),
        (y[1], 1.313_262),
        (dx[0], 0.5),
        (dx[1], 0.731_059),
    ] {
        assert!(
            (found - expected).abs() < 1e-5,
            "{found} instead of {expected}"
        );
    }
}
