//! A whole training, from start to end, in Cairn and in a peer side by side:
//! the peer takes the very batches that Cairn takes, in the same order, and is
//! evaluated on the same held-out sequences. Only the initial weights differ.
//! Cairn trains once more with another number of threads, which must not change
//! a bit.

use std::path::Path;
use std::time::Instant;

use cairn_base::{Exec, FileError};
use cairn_config::native::{LrDecayStyle, NativeExperiment, TrainingParams};
use cairn_launch::request::{Command, Experiment, Request, Train};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::Context;
use super::torch;
use crate::data::{Batch, Dataset, Position};
use crate::error::TrainError;
use crate::native::convert;

/// One training.
#[derive(Debug, Serialize)]
struct Run {
    name: String,
    threads: usize,
    /// Wall-clock time of the whole process, its start and its end included.
    process_s: f64,
    /// The part of it spent in steps.
    steps_s: f64,
    val_loss: Option<f64>,
    val_bits_per_char: Option<f64>,
    /// The losses' bits; they are compared and not printed.
    #[serde(skip)]
    loss_bits: Vec<u32>,
}

#[derive(Debug, Serialize)]
struct Comparison {
    steps: u64,
    tokens: u64,
    cairn: Run,
    cairn_again: Run,
    peer: Run,
    /// Cairn's wall-clock time over the peer's.
    time_ratio: f64,
    /// The same for the steps alone.
    steps_time_ratio: f64,
    /// Both trainings of Cairn had the same losses, bit for bit.
    equal_loss_bits: bool,
}

/// What `ci/peers/torch_train.py` prints.
#[derive(Deserialize)]
struct PeerReport {
    parameters: u64,
    step_ms: Vec<f64>,
    evals: Vec<PeerEval>,
}

#[derive(Deserialize)]
struct PeerEval {
    val_loss: f64,
}

pub(super) fn run(
    context: &Context,
    experiment: &Experiment,
    python: Option<&Path>,
) -> Result<(), TrainError> {
    let native = &experiment.native;
    let Some(python) = python else {
        return Err(torch::refuse(
            "a whole training is compared with a peer's",
            "add `--peer torch --python PROGRAM`",
        ));
    };
    torch::comparable(native)?;
    same_schedule(&native.training)?;
    let dir = tempfile::tempdir()
        .map_err(|error| FileError::new("write", std::env::temp_dir(), error))?;
    // Tokenised before any clock runs; both read what lies there.
    let dataset = Dataset::open(&convert::data(native, context.project.as_deref()))?;
    let exec = peer_command(context, python, native, &dataset, dir.path())?;
    let other = if context.threads == 1 { 2 } else { 1 };
    let cairn = own(context, experiment, context.threads, &dir.path().join("a"))?;
    let peer = peer(context, native, &dataset, &exec)?;
    let cairn_again = own(context, experiment, other, &dir.path().join("b"))?;
    let comparison = Comparison {
        steps: native.training.train_iters,
        tokens: native.training.train_iters * native.training.tokens_per_step() as u64,
        time_ratio: cairn.process_s / peer.process_s,
        steps_time_ratio: cairn.steps_s / peer.steps_s,
        equal_loss_bits: cairn.loss_bits == cairn_again.loss_bits,
        cairn,
        cairn_again,
        peer,
    };
    context.answer(&comparison, text)
}

fn text(comparison: &Comparison) -> String {
    let mut lines = vec![format!(
        "{:<22} {:>7} {:>10} {:>10} {:>13} {:>10}",
        "", "threads", "process s", "steps s", "held-out loss", "bits/char"
    )];
    for run in [&comparison.cairn, &comparison.peer, &comparison.cairn_again] {
        let number = |value: Option<f64>| {
            value.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"))
        };
        lines.push(format!(
            "{:<22} {:>7} {:>10.1} {:>10.1} {:>13} {:>10}",
            run.name,
            run.threads,
            run.process_s,
            run.steps_s,
            number(run.val_loss),
            number(run.val_bits_per_char),
        ));
    }
    lines.push(format!(
        "cairn takes {:.2}x of the peer's wall-clock time, {:.2}x in steps alone ({} steps, {} tokens)",
        comparison.time_ratio, comparison.steps_time_ratio, comparison.steps, comparison.tokens
    ));
    lines.push(format!(
        "cairn with {} and {} threads: the loss bits of all steps are {}",
        comparison.cairn.threads,
        comparison.cairn_again.threads,
        if comparison.equal_loss_bits {
            "equal"
        } else {
            "NOT equal"
        }
    ));
    lines.push(
        "both trained on the same batches in the same order and were evaluated on the same \
         held-out sequences; initial weights were drawn by each"
            .to_owned(),
    );
    lines.join("\n")
}

/// Refuses a learning rate that the peer would take another way down: it knows
/// warm-up from zero and a cosine to the last step.
fn same_schedule(training: &TrainingParams) -> Result<(), TrainError> {
    let same = training.lr_decay_style == LrDecayStyle::Cosine
        && training.lr_decay_iters == training.train_iters
        && training.lr_warmup_init == 0.0;
    if same {
        return Ok(());
    }
    Err(torch::refuse(
        "the peer knows one schedule: warm-up from zero, then a cosine to the last step",
        "set `lr_decay_style=cosine` and leave `lr_decay_iters` and `lr_warmup_init` out",
    ))
}

/// Trains the experiment in a process of its own, as `train` does.
fn own(
    context: &Context,
    experiment: &Experiment,
    threads: usize,
    run_dir: &Path,
) -> Result<Run, TrainError> {
    crate::console::line(&format!("cairn, {threads} threads"));
    let mut experiment = experiment.clone();
    experiment.native.meta.run_dir = run_dir.to_string_lossy().into_owned();
    let command = Command::Train(Box::new(Train {
        experiment,
        resume: false,
        device: cairn_launch::request::Device::Cpu,
        profile: None,
        detect_anomaly: false,
    }));
    let mut request = Request::new(context.project.clone(), context.format, command);
    request.threads = Some(threads);
    let internal = |error: String| TrainError::Internal(error);
    let path = request
        .write_temporary()
        .map_err(|error| internal(error.to_string()))?;
    let program = std::env::current_exe().map_err(|error| internal(error.to_string()))?;
    let started = Instant::now();
    let trained = Exec::new(program).arg("--request").arg(&path).output();
    let process_s = started.elapsed().as_secs_f64();
    trained.map_err(|error| Box::new(error.diagnostic()))?;
    let metrics = cairn_base::files::read_text(&run_dir.join("metrics.jsonl"))?;
    let mut run = Run {
        name: "cairn".to_owned(),
        threads,
        process_s,
        steps_s: 0.0,
        val_loss: None,
        val_bits_per_char: None,
        loss_bits: Vec::new(),
    };
    for line in metrics.lines() {
        let object: Value =
            serde_json::from_str(line).map_err(|error| internal(error.to_string()))?;
        if let Some(loss) = object["val_loss"].as_f64() {
            run.val_loss = Some(loss);
            run.val_bits_per_char = object["val_bits_per_char"].as_f64();
        } else {
            run.steps_s += object["step_ms"].as_f64().unwrap_or(f64::NAN) / 1e3;
            // Written as the shortest decimal that reads back as the same f32.
            let loss = object["loss"].as_f64().unwrap_or(f64::NAN) as f32;
            run.loss_bits.push(loss.to_bits());
        }
    }
    Ok(run)
}

/// Writes the batches for the peer; the command that trains on them.
fn peer_command(
    context: &Context,
    python: &Path,
    experiment: &NativeExperiment,
    dataset: &Dataset,
    dir: &Path,
) -> Result<Exec, TrainError> {
    let training = &experiment.training;
    if experiment.model.vocab_size > 1 << 16 {
        return Err(torch::refuse(
            "the peer reads tokens of 16 bits",
            "compare an experiment with a vocabulary of at most 65536",
        ));
    }
    let steps = usize::try_from(training.train_iters).unwrap_or(usize::MAX);
    let mut batches = dataset.batches(training.micro_batch_size, 0, 1, Position::default())?;
    let train = dir.join("train.bin");
    write_rows(
        &train,
        training.seq_length,
        (0..steps).map(|_| Ok(batches.next_batch()?)),
    )?;
    let mut exec = torch::trainer(context, python, experiment, steps)?
        .args(["--rows", "--data"])
        .arg(&train)
        .arg("--warmup")
        .arg(training.lr_warmup_iters.to_string())
        .arg("--seed")
        .arg(training.seed.to_string());
    let evaluation =
        dataset.eval_batches(training.micro_batch_size, 0, 1, Some(training.eval_iters))?;
    if let Some(evaluation) = evaluation.filter(|_| training.eval_interval > 0) {
        let held_out = dir.join("held_out.bin");
        write_rows(
            &held_out,
            training.seq_length,
            evaluation.iter().map(|batch| Ok(batch?)),
        )?;
        exec = exec
            .arg("--val-data")
            .arg(&held_out)
            .arg("--eval-interval")
            .arg(training.eval_interval.to_string());
    }
    Ok(torch::tuned(exec))
}

fn peer(
    context: &Context,
    experiment: &NativeExperiment,
    dataset: &Dataset,
    exec: &Exec,
) -> Result<Run, TrainError> {
    let model = convert::model(&experiment.model, &experiment.training)?;
    crate::console::line(&format!("torch, tuned malloc, {} threads", context.threads));
    let started = Instant::now();
    let report: PeerReport = torch::answer(exec)?;
    let process_s = started.elapsed().as_secs_f64();
    torch::same_parameters(
        cairn_nn::models::num_parameters(&model) as u64,
        report.parameters,
    )?;
    let val_loss = report.evals.last().map(|eval| eval.val_loss);
    let stats = dataset.validation_stats.as_ref();
    Ok(Run {
        name: "torch, tuned malloc".to_owned(),
        threads: context.threads,
        process_s,
        steps_s: report.step_ms.iter().sum::<f64>() / 1e3,
        val_loss,
        val_bits_per_char: val_loss.and_then(|loss| stats?.bits_per_char(loss)),
        loss_bits: Vec::new(),
    })
}

/// Batches as rows of `seq_length + 1` tokens, each a little-endian u16: the
/// inputs, and the target of the last one.
fn write_rows(
    path: &Path,
    seq_length: usize,
    batches: impl Iterator<Item = Result<Batch, TrainError>>,
) -> Result<(), TrainError> {
    let mut bytes = Vec::new();
    for batch in batches {
        let batch = batch?;
        let rows = batch.tokens.chunks(seq_length);
        for (inputs, targets) in rows.zip(batch.targets.chunks(seq_length)) {
            for token in inputs.iter().chain(targets.last()) {
                let token = u16::try_from(*token).map_err(|_| {
                    TrainError::Internal(format!("token {token} has more than 16 bits"))
                })?;
                bytes.extend(token.to_le_bytes());
            }
        }
    }
    Ok(cairn_base::files::write_atomic(path, &bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::bench::torch::tests::quickstart;

    #[test]
    fn rows_hold_the_inputs_and_the_last_target() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows");
        let batch = Batch {
            tokens: vec![1, 2, 3, 4],
            targets: vec![2, 9, 4, 300],
        };
        write_rows(&path, 2, [Ok(batch)].into_iter()).unwrap();
        let words: Vec<u16> = std::fs::read(&path)
            .unwrap()
            .chunks(2)
            .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
            .collect();
        assert_eq!(words, [1, 2, 9, 3, 4, 300]);
    }

    #[test]
    fn a_token_that_does_not_fit_is_no_row() {
        let dir = tempfile::tempdir().unwrap();
        let batch = Batch {
            tokens: vec![70_000],
            targets: vec![1],
        };
        assert!(write_rows(&dir.path().join("rows"), 1, [Ok(batch)].into_iter()).is_err());
    }

    #[test]
    fn another_schedule_is_refused() {
        let mut training = quickstart().training;
        assert!(same_schedule(&training).is_ok());
        training.lr_decay_style = LrDecayStyle::Linear;
        assert!(same_schedule(&training).is_err());
    }
}
