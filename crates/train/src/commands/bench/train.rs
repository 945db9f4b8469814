//! Training steps of an experiment, in turns with a peer.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use cairn_base::Exec;
use cairn_config::native::NativeExperiment;
use cairn_tensor::cpu::Cpu;
use cairn_tensor::{Dispatcher, Pool, ProgramOptions};
use serde::{Deserialize, Serialize};

use super::super::Context;
use super::{best, median, torch};
use crate::error::TrainError;
use crate::memory::peak_bytes;
use crate::native::engine::StepInputs;
use crate::native::{Engine, convert, init, schedule};

/// First steps of a repeat that do not count: they touch memory for the first time.
const SKIPPED: usize = 2;

/// One contender's numbers.
#[derive(Clone, Debug, Serialize)]
struct Side {
    name: String,
    parameters: u64,
    /// Median step of each repeat in milliseconds.
    step_ms: Vec<f64>,
    /// Median over repeats.
    median_step_ms: f64,
    /// The fastest step of all repeats.
    best_step_ms: f64,
    /// By the median step.
    tokens_per_s: f64,
    peak_bytes: u64,
}

impl Side {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            parameters: 0,
            step_ms: Vec::new(),
            median_step_ms: f64::NAN,
            best_step_ms: f64::INFINITY,
            tokens_per_s: f64::NAN,
            peak_bytes: 0,
        }
    }
}

#[derive(Debug, Serialize)]
struct Comparison {
    cairn: Side,
    peers: Vec<Side>,
    /// Cairn's tokens per second over the fastest peer's.
    speed_ratio: Option<f64>,
    /// The same by the best step of each.
    best_speed_ratio: Option<f64>,
    /// Cairn's peak memory over the smallest peer's.
    memory_ratio: Option<f64>,
}

/// What `ci/peers/torch_train.py` prints.
#[derive(Debug, Deserialize)]
struct PeerReport {
    median_step_ms: f64,
    best_step_ms: f64,
    peak_rss_bytes: u64,
    parameters: u64,
}

pub(super) fn run(
    context: &Context,
    repeats: usize,
    python: Option<&Path>,
    experiment: &NativeExperiment,
    steps: usize,
) -> Result<(), TrainError> {
    let (steps, repeats) = (steps.max(1) + SKIPPED, repeats.max(1));
    let mut cairn = Side::new("cairn");
    let mut peers = Vec::new();
    if let Some(python) = python {
        torch::comparable(experiment)?;
        let exec = torch::trainer(context, python, experiment, steps)?
            .arg("--skip")
            .arg(SKIPPED.to_string());
        peers.push((Side::new("torch"), exec.clone()));
        peers.push((Side::new("torch, tuned malloc"), torch::tuned(exec)));
    }
    for repeat in 1..=repeats {
        crate::console::line(&format!("repeat {repeat} of {repeats}"));
        own(context, experiment, steps, &mut cairn)?;
        for (side, exec) in &mut peers {
            peer(exec, cairn.parameters, side)?;
        }
    }
    let tokens = experiment.training.tokens_per_step() as f64;
    let mut peers: Vec<Side> = peers.into_iter().map(|(side, _)| side).collect();
    for side in peers.iter_mut().chain([&mut cairn]) {
        side.median_step_ms = median(&side.step_ms);
        side.tokens_per_s = tokens / side.median_step_ms * 1e3;
    }
    let least = |of: fn(&Side) -> f64| peers.iter().map(of).reduce(f64::min);
    let smallest = peers.iter().map(|side| side.peak_bytes).min();
    let comparison = Comparison {
        speed_ratio: least(|side| side.median_step_ms).map(|peer| peer / cairn.median_step_ms),
        best_speed_ratio: least(|side| side.best_step_ms).map(|peer| peer / cairn.best_step_ms),
        memory_ratio: smallest.map(|smallest| cairn.peak_bytes as f64 / smallest as f64),
        cairn,
        peers,
    };
    context.answer(&comparison, text)
}

fn text(comparison: &Comparison) -> String {
    let mut lines = vec![format!(
        "{:<22} {:>12} {:>12} {:>10} {:>10} {:>12}",
        "", "parameters", "median ms", "best ms", "tokens/s", "peak memory"
    )];
    for side in std::iter::once(&comparison.cairn).chain(&comparison.peers) {
        lines.push(format!(
            "{:<22} {:>12} {:>12.1} {:>10.1} {:>10.0} {:>8.3} GiB",
            side.name,
            side.parameters,
            side.median_step_ms,
            side.best_step_ms,
            side.tokens_per_s,
            side.peak_bytes as f64 / f64::from(1 << 30),
        ));
    }
    if let (Some(speed), Some(best), Some(memory)) = (
        comparison.speed_ratio,
        comparison.best_speed_ratio,
        comparison.memory_ratio,
    ) {
        lines.push(format!(
            "cairn reaches {speed:.2}x of the fastest peer's speed by the median step and {best:.2}x by the \
             best, with {memory:.2}x of the smallest peer's memory"
        ));
    }
    lines.join("\n")
}

/// One repeat of Cairn on random tokens.
fn own(
    context: &Context,
    experiment: &NativeExperiment,
    steps: usize,
    side: &mut Side,
) -> Result<(), TrainError> {
    let training = &experiment.training;
    let optimizer = convert::optimizer(training);
    let micro_batches = training.num_micro_batches(1);
    let pool =
        Pool::new(context.threads).map_err(|error| TrainError::Internal(error.to_string()))?;
    let mut engine = Engine::new(
        convert::model(&experiment.model, training)?,
        convert::step(training, experiment.model.vocab_size),
        &optimizer,
        micro_batches,
        Dispatcher::new(vec![Arc::new(Cpu::new(context.isa, context.threads))]),
        pool,
        ProgramOptions::default(),
    )?;
    engine.prepare()?;
    init::initialise(
        &mut engine.store,
        &engine.model.clone(),
        engine.step.precision,
        training.seed,
    )?;
    let mut settings = convert::data(experiment, None);
    settings.source = crate::data::SourceKind::Mock;
    settings.tokenizer = None;
    let mut batches = crate::data::Dataset::open(&settings)?.batches(
        training.micro_batch_size,
        0,
        1,
        crate::data::Position::default(),
    )?;
    let mut times = Vec::new();
    for step in 1..=steps as u64 {
        let started = Instant::now();
        let batch = (0..micro_batches)
            .map(|_| batches.next_batch())
            .collect::<Result<Vec<_>, _>>()?;
        let lr = schedule::learning_rate(training, step);
        engine.train_step(
            &batch,
            &StepInputs {
                lr,
                step,
                loss_scale: 1.0,
                seed: training.seed,
            },
            &optimizer,
        )?;
        times.push(started.elapsed().as_secs_f64() * 1e3);
    }
    let counted = &times[SKIPPED..];
    side.step_ms.push(median(counted));
    side.best_step_ms = side.best_step_ms.min(best(counted));
    side.peak_bytes = peak_bytes();
    side.parameters = engine.num_parameters() as u64;
    Ok(())
}

/// One repeat of `PyTorch` on the same shape.
fn peer(exec: &Exec, own: u64, side: &mut Side) -> Result<(), TrainError> {
    let report: PeerReport = torch::answer(exec)?;
    torch::same_parameters(own, report.parameters)?;
    side.step_ms.push(report.median_step_ms);
    side.best_step_ms = side.best_step_ms.min(report.best_step_ms);
    side.peak_bytes = side.peak_bytes.max(report.peak_rss_bytes);
    side.parameters = report.parameters;
    Ok(())
}
