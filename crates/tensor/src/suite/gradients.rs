//! Gradient rules against central differences, in f64 on the reference.

use std::sync::Arc;

use cairn_formats::DType;
use cairn_graph::ops::{BinaryKind, ReduceKind};
use cairn_graph::{Graph, ValueId};

use super::sample::{Order, Row, Sample, SampleInput, fill};
use crate::backend::{Backend, Dispatcher};
use crate::error::TensorError;
use crate::host::HostTensor;
use crate::program::{Program, ProgramOptions};
use crate::store::Store;
use crate::threads::Pool;

/// Elements of each input whose difference is taken: enough to see a wrong
/// rule, few enough for a naive backend.
const ELEMENTS: usize = 16;
/// Half the distance of the two evaluations.
const STEP: f64 = 1e-5;
/// Bound on the difference, relative to the gradient and its root mean square.
const TOLERANCE: f64 = 1e-6;

/// One sample's gradient with respect to one input.
#[derive(Clone, Debug)]
pub struct GradientCheck {
    /// Operator name.
    pub op: &'static str,
    /// Sample name.
    pub sample: String,
    /// Which input.
    pub input: usize,
    /// Largest relative error over the elements tried.
    pub max_error: f64,
    /// What is wrong, if anything.
    pub failure: Option<String>,
}

/// Checks every row that `filter` keeps and that has a gradient. `backend`
/// must run f64.
///
/// The scalar differentiated is a weighted sum of output 0.
///
/// # Errors
/// When a graph cannot be built, compiled or run.
pub fn gradients(
    backend: &Arc<dyn Backend>,
    pool: &Pool,
    rows: &[Row],
    filter: &dyn Fn(&str) -> bool,
) -> Result<Vec<GradientCheck>, TensorError> {
    let dispatcher = Dispatcher::new(vec![backend.clone()]);
    let mut checks = Vec::new();
    for row in rows
        .iter()
        .filter(|row| filter(row.op) && !row.gradient_inputs.is_empty())
    {
        for sample in (row.samples)(DType::F64) {
            checks.extend(check(row, &sample, &dispatcher, pool)?);
        }
    }
    Ok(checks)
}

fn check(
    row: &Row,
    sample: &Sample,
    dispatcher: &Dispatcher,
    pool: &Pool,
) -> Result<Vec<GradientCheck>, TensorError> {
    let mut graph = Graph::new();
    let mut store = Store::new();
    let mut values = Vec::new();
    for (index, input) in sample.inputs.iter().enumerate() {
        values.push(graph.add_input(&format!("x{index}"), input.ty.clone())?);
        // Repeated elements would be ties, where a maximum has no gradient.
        let input = input.clone().ordered(Order::Contiguous);
        let seen = fill(&input, index as u64 + 1)?.seen;
        if seen.to_f64()?.iter().any(|x| !x.is_finite()) {
            return Ok(Vec::new());
        }
        store.insert(format!("x{index}"), seen);
    }
    let out = graph.add_shared(sample.op.clone(), &values)?[0];
    let ty = graph.ty(out).clone();
    if ty.dtype != DType::F64 || ty.shape.num_elements() == 0 {
        return Ok(Vec::new());
    }
    let weights = graph.add_input("weights", ty.clone())?;
    store.insert(
        "weights",
        fill(&SampleInput::normal(DType::F64, ty.shape.clone()), 99)?.seen,
    );
    let weighted = graph.binary(BinaryKind::Mul, out, weights)?;
    let all: Vec<usize> = (0..ty.shape.ndim()).collect();
    let loss = graph.reduce(ReduceKind::Sum, weighted, &all)?;
    graph.set_output("loss", loss);
    let mut forward = Program::compile(graph.clone(), dispatcher, ProgramOptions::default())?;
    let wrt: Vec<ValueId> = row
        .gradient_inputs
        .iter()
        .map(|input| values[*input])
        .collect();
    let grads = cairn_graph::gradients(&mut graph, loss, None, &wrt, None)?;
    for (position, input) in row.gradient_inputs.iter().enumerate() {
        if let Some(grad) = grads.get(position) {
            graph.set_output(format!("d{input}"), grad);
        }
    }
    let mut backward = Program::compile(graph, dispatcher, ProgramOptions::default())?;
    backward.run(&mut store, pool)?;
    let mut checks = Vec::new();
    for input in &row.gradient_inputs {
        checks.push((
            *input,
            backward.output(&store, &format!("d{input}"))?.to_f64()?,
        ));
    }
    let mut results = Vec::new();
    for (input, grad) in checks {
        let (max_error, failure) = compare(&mut forward, &mut store, pool, input, &grad)?;
        results.push(GradientCheck {
            op: row.op,
            sample: sample.name.clone(),
            input,
            max_error,
            failure,
        });
    }
    Ok(results)
}

fn compare(
    forward: &mut Program,
    store: &mut Store,
    pool: &Pool,
    input: usize,
    grad: &[f64],
) -> Result<(f64, Option<String>), TensorError> {
    let name = format!("x{input}");
    let rms = (grad.iter().map(|g| g * g).sum::<f64>() / grad.len().max(1) as f64).sqrt();
    let (mut max_error, mut failure) = (0.0, None);
    let stride = grad.len().div_ceil(ELEMENTS).max(1);
    for element in (0..grad.len()).step_by(stride) {
        let mut at = |distance: f64| -> Result<f64, TensorError> {
            let before = nudge(store, &name, element, distance)?;
            forward.run(store, pool)?;
            let loss = forward.output_scalar(store, "loss")?;
            nudge(store, &name, element, before)?;
            Ok(loss)
        };
        let slope = (at(STEP)? - at(-STEP)?) / (2.0 * STEP);
        // A gradient of 0 everywhere allows for the rounding of the differences.
        let scale = grad[element].abs() + rms + 1e-4;
        let error = (slope - grad[element]).abs() / scale;
        if error.is_nan() || error > max_error {
            max_error = error;
        }
        if error.is_nan() || error > TOLERANCE {
            failure = Some(format!(
                "element {element}: differences give {slope}, the rule {}",
                grad[element]
            ));
        }
    }
    Ok((max_error, failure))
}

/// Adds `distance` to one element; gives the distance that undoes it.
fn nudge(store: &mut Store, name: &str, element: usize, distance: f64) -> Result<f64, TensorError> {
    let Some(tensor) = store.get_mut(name)? else {
        return Ok(0.0);
    };
    let slot: &mut HostTensor = tensor;
    let slot = &mut slot.as_mut_slice::<f64>()?[element];
    let before = *slot;
    *slot += distance;
    Ok(before - *slot)
}
