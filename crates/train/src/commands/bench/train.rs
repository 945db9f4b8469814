//! Training steps of an experiment, in turns with a peer.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use cairn_base::{Diagnostic, Exec};
use cairn_config::native::{NativeExperiment, Precision};
use cairn_launch::request::{Bench, Peer};
use cairn_tensor::cpu::Cpu;
use cairn_tensor::{Dispatcher, Pool, ProgramOptions};
use serde::{Deserialize, Serialize};

use super::super::Context;
use super::median;
use crate::error::TrainError;
use crate::memory::peak_bytes;
use crate::native::engine::StepInputs;
use crate::native::{Engine, convert, init, schedule};

/// First steps of a repeat that do not count: they touch memory for the first time.
const SKIPPED: usize = 2;

/// Environment in which glibc keeps freed memory: the faster form of the peer.
const TUNED_MALLOC: [(&str, &str); 3] = [
    ("MALLOC_TOP_PAD_", "268435456"),
    ("MALLOC_MMAP_THRESHOLD_", "4294967296"),
    ("MALLOC_TRIM_THRESHOLD_", "8589934592"),
];

/// One contender's numbers.
#[derive(Clone, Debug, Default, Serialize)]
struct Side {
    name: String,
    parameters: u64,
    /// Median step of each repeat in milliseconds.
    step_ms: Vec<f64>,
    /// Median over repeats.
    median_step_ms: f64,
    tokens_per_s: f64,
    peak_bytes: u64,
}

#[derive(Debug, Serialize)]
struct Comparison {
    cairn: Side,
    peers: Vec<Side>,
    /// Cairn's tokens per second over the fastest peer's.
    speed_ratio: Option<f64>,
    /// Cairn's peak memory over the smallest peer's.
    memory_ratio: Option<f64>,
}

/// What `ci/peers/torch_train.py` prints.
#[derive(Debug, Deserialize)]
struct PeerReport {
    median_step_ms: f64,
    peak_rss_bytes: u64,
    parameters: u64,
}

pub(super) fn run(
    context: &Context,
    request: &Bench,
    experiment: &NativeExperiment,
    steps: usize,
) -> Result<(), TrainError> {
    let steps = steps.max(1) + SKIPPED;
    let mut cairn = Side {
        name: "cairn".to_owned(),
        ..Side::default()
    };
    let mut peers: Vec<(Side, bool)> = match request.peer {
        None => Vec::new(),
        Some(Peer::Torch { .. }) => [("torch", false), ("torch, tuned malloc", true)]
            .map(|(name, tuned)| {
                (
                    Side {
                        name: name.to_owned(),
                        ..Side::default()
                    },
                    tuned,
                )
            })
            .into(),
    };
    for repeat in 0..request.repeats.max(1) {
        crate::console::line(&format!(
            "repeat {} of {}",
            repeat + 1,
            request.repeats.max(1)
        ));
        own(context, experiment, steps, &mut cairn)?;
        for (side, tuned) in &mut peers {
            if let Some(Peer::Torch { python }) = &request.peer {
                peer(context, python, experiment, steps, *tuned, side)?;
            }
        }
    }
    let tokens = experiment.training.tokens_per_step() as f64;
    let mut peers: Vec<Side> = peers.into_iter().map(|(side, _)| side).collect();
    for side in peers.iter_mut().chain([&mut cairn]) {
        side.median_step_ms = median(&side.step_ms);
        side.tokens_per_s = tokens / side.median_step_ms * 1e3;
    }
    let fastest = peers.iter().map(|side| side.tokens_per_s).reduce(f64::max);
    let smallest = peers.iter().map(|side| side.peak_bytes).min();
    let comparison = Comparison {
        speed_ratio: fastest.map(|fastest| cairn.tokens_per_s / fastest),
        memory_ratio: smallest.map(|smallest| cairn.peak_bytes as f64 / smallest as f64),
        cairn,
        peers,
    };
    context.answer(&comparison, text)
}

fn text(comparison: &Comparison) -> String {
    let mut lines = vec![format!(
        "{:<22} {:>12} {:>10} {:>10} {:>12}",
        "", "parameters", "ms/step", "tokens/s", "peak memory"
    )];
    for side in std::iter::once(&comparison.cairn).chain(&comparison.peers) {
        lines.push(format!(
            "{:<22} {:>12} {:>10.1} {:>10.0} {:>8.3} GiB",
            side.name,
            side.parameters,
            side.median_step_ms,
            side.tokens_per_s,
            side.peak_bytes as f64 / f64::from(1 << 30),
        ));
    }
    if let (Some(speed), Some(memory)) = (comparison.speed_ratio, comparison.memory_ratio) {
        lines.push(format!("cairn reaches {speed:.2}x of the fastest peer's speed with {memory:.2}x of the smallest peer's memory"));
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
    side.step_ms.push(median(&times[SKIPPED..]));
    side.peak_bytes = peak_bytes();
    side.parameters = engine.num_parameters() as u64;
    Ok(())
}

/// One repeat of PyTorch on the same shape.
fn peer(
    context: &Context,
    python: &Path,
    experiment: &NativeExperiment,
    steps: usize,
    tuned: bool,
    side: &mut Side,
) -> Result<(), TrainError> {
    let refuse = |message: String, hint: &str| {
        TrainError::from(Box::new(
            Diagnostic::error("bench::peer", message).hint(hint),
        ))
    };
    let (model, training) = (&experiment.model, &experiment.training);
    let dtype = match training.precision {
        Precision::F32 => "f32",
        Precision::Bf16 => "bf16-autocast",
        Precision::F16 | Precision::F64 => {
            return Err(refuse(
                "the peer trains in f32 and bf16".to_owned(),
                "set `precision=f32` or `precision=bf16`",
            ));
        }
    };
    let Some(project) = &context.project else {
        return Err(refuse(
            "the peer's script lies in a checkout".to_owned(),
            "run this inside a checkout of Cairn",
        ));
    };
    let mut command = Exec::new(python)
        .arg(project.join("ci/peers/torch_train.py"))
        .arg("--json");
    let numbers = [
        ("--dim", model.hidden_size),
        ("--layers", model.num_layers),
        ("--heads", model.num_attention_heads),
        ("--kv-heads", model.num_query_groups),
        ("--ffn", model.ffn_hidden_size),
        ("--vocab", model.vocab_size),
        ("--seq", training.seq_length),
        ("--batch", training.global_batch_size),
        ("--steps", steps),
        ("--skip", SKIPPED),
        ("--threads", context.threads),
    ];
    for (flag, number) in numbers {
        command = command.arg(flag).arg(number.to_string());
    }
    command = command.arg("--dtype").arg(dtype);
    if tuned {
        for (name, value) in TUNED_MALLOC {
            command = command.env(name, value);
        }
    }
    let hint = "ci/peers/README.md says how to install the peer";
    let output = command
        .output()
        .map_err(|error| refuse(error.to_string(), hint))?;
    let report: PeerReport = serde_json::from_slice(&output.stdout)
        .map_err(|error| refuse(format!("the peer's answer cannot be read: {error}"), hint))?;
    side.step_ms.push(report.median_step_ms);
    side.peak_bytes = side.peak_bytes.max(report.peak_rss_bytes);
    side.parameters = report.parameters;
    Ok(())
}
