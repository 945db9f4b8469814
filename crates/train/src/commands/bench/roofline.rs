//! One layer forward and backward on the simulated GPU: what each kernel has to do, and
//! how long the cycle model says that it takes.

use cairn_config::native::NativeExperiment;
use cairn_launch::request;
use cairn_nn::{ModelConfig, training};
use cairn_tensor::{Pool, Program, ProgramOptions, Store};
use serde::Serialize;

use super::super::Context;
use crate::error::TrainError;
use crate::native::place::Place;
use crate::native::{convert, engine};

/// Where the operators of the layer are.
const LAYER: &str = "layers.0.";
/// Rows of the embedding that is built around the layer: what is outside is not reported.
const VOCABULARY: usize = 256;

/// A node of the graph on its kernels.
#[derive(Debug, Serialize)]
struct Row {
    /// Whether it is part of the gradients.
    backward: bool,
    /// Scope within the layer.
    scope: String,
    op: String,
    /// Kernels, in the order of their launches.
    kernel: String,
    /// Operations, by the operator's own account.
    flops: u64,
    /// Each operand read once and each result written once.
    bytes: u64,
    /// By the cycle model.
    micros: f64,
}

pub(super) fn run(
    context: &Context,
    experiment: &NativeExperiment,
    device: &request::Hip,
) -> Result<(), TrainError> {
    let training = &experiment.training;
    let model = ModelConfig {
        num_layers: 1,
        vocab_size: VOCABULARY,
        ..convert::model(&experiment.model, training)?
    };
    let step = convert::step(training, VOCABULARY);
    let device = request::Device::Hip(device.clone());
    let place = Place::open(&device, context.isa, context.threads)?;
    let graph = training::loss_and_gradients(&model, &step, false)?;
    let mut program = engine::compile(graph, &place.dispatcher, ProgramOptions::default())?;
    let mut store = leaves(&program)?;
    let pool =
        Pool::new(context.threads).map_err(|error| TrainError::Internal(error.to_string()))?;
    let mut spans = Vec::new();
    program.run_profiled(&mut store, &pool, &mut spans)?;
    let mut backward = false;
    let mut rows = Vec::new();
    for span in spans {
        backward |= span.scope.starts_with("loss");
        if let Some(scope) = span.scope.strip_prefix(LAYER) {
            rows.push(Row {
                backward,
                scope: scope.to_owned(),
                op: span.op,
                kernel: span.kernel,
                flops: span.cost.flops,
                bytes: span.cost.bytes,
                micros: span.micros,
            });
        }
    }
    context.answer(&rows, |rows| {
        let line = |row: &Row| {
            format!(
                "{} {} {} {:.1} us",
                row.scope, row.op, row.kernel, row.micros
            )
        };
        rows.iter().map(line).collect::<Vec<_>>().join("\n")
    })
}

/// Every leaf of the program: numbers do not matter to times, and token 0 is one.
fn leaves(program: &Program) -> Result<Store, TrainError> {
    let mut store = Store::new();
    for kind in ["parameter", "state", "input"] {
        for (name, value) in program.graph().leaves(kind) {
            store.ensure(name, program.graph().ty(value))?;
        }
    }
    Ok(store)
}
