//! The training loop of Cairn's own engine.

use std::path::{Path, PathBuf};
use std::time::Instant;

use cairn_base::{Diagnostic, Progress as ProgressBar, files};
use cairn_config::native::NativeExperiment;
use cairn_launch::request;
use cairn_nn::training::{OptimizerConfig, StepConfig};
use cairn_nn::{ModelConfig, Precision};
use cairn_tensor::cpu::isa::Isa;
use cairn_tensor::{Pool, ProgramOptions, TensorError};
use serde_json::Value;

use super::engine::StepInputs;
use super::place::Place;
use super::sample::{Sampling, generate};
use super::scaler::LossScaler;
use super::state::{Progress, restore, snapshot, view};
use super::{Engine, convert, init, resume, schedule};
use crate::checkpoint::{self, CheckpointError, CheckpointWriter, Retention};
use crate::data::{Batches, DataError, Dataset, EvalBatches};
use crate::error::TrainError;
use crate::memory::peak_bytes;
use crate::metrics::{EvalMetrics, Metrics, Sample, StepMetrics};
use crate::runtime::{Adapter, End, Patch, Trainer};
use crate::signals::Signals;
use crate::{metrics, report, trace};

/// Everything the native trainer is made from.
#[derive(Clone, Debug)]
pub struct NativeArgs {
    /// The experiment.
    pub experiment: NativeExperiment,
    /// The resolved experiment as it is stored beside every artefact.
    pub record: Value,
    /// The same as text, for people.
    pub record_text: String,
    /// The checkout, where `cargo-registry` looks.
    pub project: Option<PathBuf>,
    /// Go on from the newest complete checkpoint.
    pub resume: bool,
    /// Trace this many steps.
    pub profile: u64,
    /// Look for non-finite values after each operator.
    pub detect_anomaly: bool,
    /// Threads of the engine.
    pub threads: usize,
    /// Instruction set of the engine.
    pub isa: Isa,
    /// Where it computes.
    pub device: request::Device,
    /// The model.
    pub model: ModelConfig,
    /// Shape and dtypes of a micro batch.
    pub step: StepConfig,
    /// The optimizer's constants.
    pub optimizer: OptimizerConfig,
    /// Signals caught.
    pub signals: Signals,
}

/// The native engine as a backend.
#[derive(Debug)]
pub struct NativeAdapter {
    /// What the trainer will be made from.
    pub args: NativeArgs,
}

impl Adapter for NativeAdapter {
    type Args = NativeArgs;
    type Trainer = NativeTrainer;

    fn name(&self) -> &'static str {
        "native"
    }

    fn prepare(&self) -> Result<(), TrainError> {
        // The run directory comes with the first file in it: what is refused
        // before that leaves nothing behind.
        Ok(())
    }

    fn convert(&self) -> Result<NativeArgs, TrainError> {
        Ok(self.args.clone())
    }

    fn patches(&self) -> Vec<Patch<NativeArgs>> {
        Vec::new()
    }

    fn trainer(&self, args: NativeArgs) -> Result<NativeTrainer, TrainError> {
        Ok(NativeTrainer { args, open: None })
    }
}

/// The native trainer. What it holds open exists from `setup` on.
#[derive(Debug)]
pub struct NativeTrainer {
    args: NativeArgs,
    open: Option<Open>,
}

/// What a running training holds.
#[derive(Debug)]
struct Open {
    engine: Engine,
    dataset: Dataset,
    batches: Batches,
    evaluation: Option<EvalBatches>,
    writer: CheckpointWriter,
    metrics: Option<Metrics>,
    progress: Progress,
}

impl Trainer for NativeTrainer {
    type Args = NativeArgs;

    fn args(&mut self) -> &mut NativeArgs {
        &mut self.args
    }

    fn setup(&mut self) -> Result<(), TrainError> {
        let args = &self.args;
        let training = &args.experiment.training;
        refuse_file_in_the_way(args.run_dir())?;
        let checkpoints = args.run_dir().join("checkpoints");
        if !args.resume {
            refuse_to_overwrite(&checkpoints)?;
        }
        let settings = convert::data(&args.experiment, args.project.as_deref());
        let dataset = match Dataset::open_until(&settings, &|| args.signals.stop()) {
            Err(DataError::Stopped) => return args.stop_before_first_step().and(Ok(())),
            opened => opened?,
        };
        show(&dataset.notes);
        let batches = dataset.batches(
            training.micro_batch_size,
            0,
            1,
            crate::data::Position::default(),
        )?;
        let evaluation = match training.eval_interval {
            0 => None,
            _ => {
                dataset.eval_batches(training.micro_batch_size, 0, 1, Some(args.eval_batches()))?
            }
        };
        let place = Place::open(&args.device, args.isa, args.threads)?;
        let mut engine = Engine::new(
            args.model.clone(),
            args.step,
            &args.optimizer,
            training.num_micro_batches(1),
            place.dispatcher.clone(),
            Pool::new(args.threads).map_err(|error| TrainError::Internal(error.to_string()))?,
            ProgramOptions {
                detect_anomaly: args.detect_anomaly,
            },
        )?;
        show(place.fallbacks(&engine).as_slice());
        if args.profile > 0 {
            show(place.modelled_times().as_slice());
        }
        engine.prepare()?;
        args.stop_before_first_step()?;
        let options = checkpoint::Options {
            retention: Retention {
                keep_last: training.keep_last,
                keep_every: training.keep_every,
            },
            ..checkpoint::Options::default()
        };
        let (writer, notes) = CheckpointWriter::open(&checkpoints, options)?;
        show(&notes);
        let progress = Progress {
            step: 0,
            tokens: 0,
            data: batches.position(),
            data_fingerprint: dataset.fingerprint.clone(),
            seq_length: training.seq_length,
            scaler: LossScaler::new(training),
            seed: training.seed,
            isa: place.name.clone(),
            model: args.model.clone(),
        };
        self.open = Some(Open {
            engine,
            dataset,
            batches,
            evaluation,
            writer,
            metrics: None,
            progress,
        });
        Ok(())
    }

    fn init(&mut self) -> Result<(), TrainError> {
        let args = &self.args;
        let open = opened(&mut self.open)?;
        let checkpoints = args.run_dir().join("checkpoints");
        let found = match args.resume {
            true => {
                let (found, warnings) = checkpoint::load_latest(&checkpoints)?;
                show(&warnings);
                if found.is_none() && !warnings.is_empty() {
                    // Starting over would throw away what may be repaired.
                    return Err(CheckpointError::None { path: checkpoints }.into());
                }
                found
            }
            false => None,
        };
        match found {
            Some(found) => {
                args.restore(open, found)?;
                let total = args.experiment.training.train_iters;
                if open.progress.step > total {
                    say(&format!(
                        "nothing to do: {} steps are done, `train_iters` asks for {total}",
                        open.progress.step
                    ));
                    return Ok(());
                }
                if !args.run_dir().join(metrics::METRICS_NAME).exists() {
                    show(&[args.metrics_missing(open.progress.step)]);
                }
            }
            None => {
                if args.resume {
                    say("no checkpoint to resume from: starting at step 0");
                }
                init::initialise(
                    &mut open.engine.store,
                    &args.model,
                    args.precision(),
                    args.experiment.training.seed,
                )?;
            }
        }
        files::write_atomic(
            &args.run_dir().join("experiment.json"),
            pretty(&args.record).as_bytes(),
        )?;
        if let Some(json) = open
            .dataset
            .tokenizer
            .as_ref()
            .map(crate::data::Tokenizer::to_json)
            .transpose()?
            .flatten()
        {
            files::write_atomic(&args.run_dir().join("tokenizer.json"), json.as_bytes())?;
        }
        open.metrics = Some(args.open_metrics(&open.progress)?);
        args.announce(open);
        Ok(())
    }

    fn train(&mut self) -> Result<End, TrainError> {
        let args = &self.args;
        let open = opened(&mut self.open)?;
        let total = args.experiment.training.train_iters;
        if open.progress.step > total {
            return Ok(End::Complete);
        }
        args.stop_before_first_step()?;
        let mut trace = trace::StepTrace::new(open.progress.step, total, args.profile);
        let result = args.steps(open, &mut trace);
        let traced = trace.finish(&mut open.engine, args.run_dir());
        if result? == End::Stopped {
            return traced.map(|()| End::Stopped);
        }
        traced?;
        show_replays(&open.engine);
        args.sample(open)?;
        Ok(End::Complete)
    }

    fn cleanup(&mut self, failed: bool) -> Result<(), TrainError> {
        let Some(mut open) = self.open.take() else {
            return Ok(());
        };
        if let Some(metrics) = &mut open.metrics {
            metrics.sync()?;
        }
        show(&open.writer.take_warnings());
        open.writer.finish()?;
        if open.metrics.is_none() {
            return Ok(());
        }
        report::write_loss_curve(self.args.run_dir())?;
        report::write(self.args.run_dir(), None)?;
        if failed {
            return Ok(());
        }
        say(&format!(
            "report: {}",
            self.args.run_dir().join("report.html").display()
        ));
        Ok(())
    }
}

impl NativeArgs {
    fn run_dir(&self) -> &Path {
        Path::new(&self.experiment.meta.run_dir)
    }

    fn precision(&self) -> Precision {
        self.step.precision
    }

    /// Micro batches of one evaluation.
    fn eval_batches(&self) -> u64 {
        let training = &self.experiment.training;
        training.eval_iters * training.num_micro_batches(1) as u64
    }

    /// All steps that are left, until a signal comes.
    fn steps(&self, open: &mut Open, trace: &mut trace::StepTrace) -> Result<End, TrainError> {
        let total = self.experiment.training.train_iters;
        let checkpoints = self.run_dir().join("checkpoints");
        let bar = ProgressBar::new("training", total);
        bar.set(open.progress.step);
        self.signals.at(&checkpoints, open.progress.step);
        while open.progress.step < total {
            let step = open.progress.step + 1;
            trace.begin(step, &mut open.engine);
            let metrics = self.one_step(open, step)?;
            self.signals.at(&checkpoints, step);
            trace.end(&mut open.engine, self.run_dir())?;
            bar.set(step);
            bar.message(format!(
                "loss {:.4}  {:.0} tokens/s",
                metrics.loss, metrics.tokens_per_s
            ));
            self.log(&bar, &metrics);
            self.evaluate_if_due(open, step, &bar)?;
            let stop = self.signals.stop();
            if stop || step == total {
                self.save_and_wait(open)?;
            } else if self.save_is_due(step) || self.signals.take_save() {
                self.save(open)?;
            }
            if stop {
                bar.finish();
                say(&format!(
                    "stopped by a signal after step {step}; a checkpoint was written: `--resume` goes on"
                ));
                return Ok(if step == total {
                    End::Complete
                } else {
                    End::Stopped
                });
            }
        }
        bar.finish();
        finish_write(open)?;
        Ok(End::Complete)
    }

    /// Ends the run when a signal has come already.
    fn stop_before_first_step(&self) -> Result<(), TrainError> {
        if !self.signals.stop() {
            return Ok(());
        }
        let checkpoints = checkpoint::step_dirs(&self.run_dir().join("checkpoints"))?;
        Err(TrainError::Stopped {
            resumable: self.resume && !checkpoints.is_empty(),
        })
    }

    fn metrics_missing(&self, step: u64) -> Diagnostic {
        let path = self.run_dir().join(metrics::METRICS_NAME);
        let message = format!(
            "{} is missing: steps 1 to {step} are not on record",
            path.display()
        );
        Diagnostic::warning("train::no-metrics", message)
            .hint("the training goes on from the checkpoint; put the file back before that to keep its curves")
    }

    fn save_is_due(&self, step: u64) -> bool {
        let interval = self.experiment.training.save_interval;
        interval > 0 && step.is_multiple_of(interval)
    }

    fn restore(&self, open: &mut Open, found: checkpoint::Checkpoint) -> Result<(), TrainError> {
        let path = found.path.clone();
        let changes = resume::changes(&found.experiment, &self.record);
        let progress = restore(found, &mut open.engine.store, &self.model, self.precision())?;
        let start = resume::Start {
            fresh: &open.progress,
            path: &path,
        };
        resume::check(&start, &progress)?;
        let place = open.progress.isa.clone();
        show(resume::other_place(&progress, &place).as_slice());
        let training = &self.experiment.training;
        open.batches = open
            .dataset
            .batches(training.micro_batch_size, 0, 1, progress.data)?;
        say(&format!(
            "resuming after step {} from {}",
            progress.step,
            path.display()
        ));
        for change in changes {
            say(&format!("changed since then: {change}"));
        }
        open.progress = Progress {
            isa: place,
            ..progress
        };
        Ok(())
    }

    fn open_metrics(&self, progress: &Progress) -> Result<Metrics, TrainError> {
        let training = &self.experiment.training;
        let settings = metrics::Settings {
            tensorboard: training.tensorboard,
            prometheus: training
                .prometheus_port
                .map(|port| ([127, 0, 0, 1], port).into()),
            run_name: self.experiment.meta.exp_name.clone(),
            experiment: self.record_text.clone(),
        };
        let (metrics, warnings) = match self.resume {
            true => Metrics::resume(self.run_dir(), &settings, progress.step)?,
            false => Metrics::create(self.run_dir(), &settings)?,
        };
        show(&warnings);
        if let Some(address) = metrics.prometheus_address() {
            say(&format!("metrics at http://{address}/metrics"));
        }
        Ok(metrics)
    }

    fn announce(&self, open: &Open) {
        let training = &self.experiment.training;
        let stats = &open.dataset.train_stats;
        say(&format!(
            "{} parameters, {} tokens a step, {} training tokens, {} on {} threads, {}",
            open.engine.num_parameters(),
            training.tokens_per_step(),
            stats.tokens,
            open.progress.isa,
            self.threads,
            self.run_dir().display(),
        ));
    }

    fn one_step(&self, open: &mut Open, step: u64) -> Result<StepMetrics, TrainError> {
        let training = &self.experiment.training;
        let started = Instant::now();
        let batches = (0..training.num_micro_batches(1))
            .map(|_| open.batches.next_batch())
            .collect::<Result<Vec<_>, _>>()?;
        let lr = schedule::learning_rate(training, step);
        let inputs = StepInputs {
            lr,
            step,
            loss_scale: open.progress.scaler.scale,
            seed: open.progress.seed,
        };
        let result = match open.engine.train_step(&batches, &inputs, &self.optimizer) {
            Err(error @ TensorError::Anomaly { .. }) => {
                open.writer.wait()?;
                return Err(TrainError::Anomaly {
                    error: Box::new(error),
                    step,
                    last_good: open.writer.last_good(),
                });
            }
            result => result?,
        };
        open.progress.scaler.update(training, result.applied);
        if !result.applied && !LossScaler::is_dynamic(training) || !result.loss().is_finite() {
            let finite_loss = result.loss().is_finite();
            open.writer.wait()?;
            return Err(TrainError::NonFinite {
                what: if finite_loss {
                    "the gradient norm"
                } else {
                    "the loss"
                },
                value: if finite_loss {
                    result.grad_norm
                } else {
                    f64::from(result.loss())
                },
                step,
                last_good: open.writer.last_good(),
            });
        }
        open.progress.step = step;
        open.progress.tokens += training.tokens_per_step() as u64;
        open.progress.data = open.batches.position();
        let seconds = started.elapsed().as_secs_f64();
        let metrics = StepMetrics {
            step,
            loss: result.loss(),
            lr,
            grad_norm: result.grad_norm as f32,
            tokens: open.progress.tokens,
            tokens_per_s: training.tokens_per_step() as f64 / seconds,
            step_ms: seconds * 1e3,
            mem_bytes: peak_bytes(),
        };
        if let Some(sink) = &mut open.metrics {
            sink.step(&metrics)?;
        }
        Ok(metrics)
    }

    fn log(&self, bar: &ProgressBar, metrics: &StepMetrics) {
        let training = &self.experiment.training;
        let interval = training.log_interval;
        if interval == 0
            || !(metrics.step.is_multiple_of(interval) || metrics.step == training.train_iters)
        {
            return;
        }
        bar.println(format!(
            "step {:>6}/{}  loss {:.4}  lr {:.3e}  grad norm {:.3}  {:.0} tokens/s  {:.0} ms  {:.2} GiB",
            metrics.step,
            training.train_iters,
            metrics.loss,
            metrics.lr,
            metrics.grad_norm,
            metrics.tokens_per_s,
            metrics.step_ms,
            metrics.mem_bytes as f64 / f64::from(1 << 30),
        ));
    }

    fn evaluate_if_due(
        &self,
        open: &mut Open,
        step: u64,
        bar: &ProgressBar,
    ) -> Result<(), TrainError> {
        let training = &self.experiment.training;
        let due = training.eval_interval > 0
            && (step.is_multiple_of(training.eval_interval) || step == training.train_iters);
        let Some(evaluation) = open.evaluation.as_ref().filter(|_| due) else {
            return Ok(());
        };
        let (mut loss, mut tokens) = (0.0, 0.0);
        for batch in evaluation.iter() {
            let (sum, count) = open.engine.evaluate(&batch?)?;
            loss += sum;
            tokens += count;
        }
        let val_loss = loss / tokens;
        let bits = open
            .dataset
            .validation_stats
            .as_ref()
            .and_then(|stats| stats.bits_per_char(val_loss));
        let metrics = EvalMetrics {
            step,
            val_loss,
            val_bits_per_char: bits.unwrap_or(f64::NAN),
        };
        bar.println(match bits {
            Some(bits) => {
                format!("step {step:>6}  held-out loss {val_loss:.4}  {bits:.4} bits per character")
            }
            None => format!("step {step:>6}  held-out loss {val_loss:.4}"),
        });
        if let Some(sink) = &mut open.metrics {
            sink.eval(&metrics)?;
        }
        Ok(())
    }

    /// Starts a checkpoint; with `async_save` training goes on meanwhile, on
    /// states that are copied for it.
    fn save(&self, open: &mut Open) -> Result<(), TrainError> {
        if !self.experiment.training.async_save {
            return self.save_and_wait(open);
        }
        let snapshot = snapshot(
            &open.engine.store,
            &open.progress,
            self.precision(),
            &self.record,
        )?;
        sync_metrics(open)?;
        let started = open.writer.save(snapshot);
        started.map_err(|error| with_last_good(open, error))
    }

    /// Writes a checkpoint and waits for it: nothing is copied.
    fn save_and_wait(&self, open: &mut Open) -> Result<(), TrainError> {
        sync_metrics(open)?;
        let snapshot = view(
            &open.engine.store,
            &open.progress,
            self.precision(),
            &self.record,
        )?;
        let written = open.writer.save_here(&snapshot);
        drop(snapshot);
        written.map_err(|error| with_last_good(open, error))
    }

    fn sample(&self, open: &mut Open) -> Result<(), TrainError> {
        let (Some(wanted), Some(tokenizer)) = (
            &self.experiment.training.sample,
            open.dataset.tokenizer.clone(),
        ) else {
            return Ok(());
        };
        let prompt = tokenizer.encode(&wanted.prompt)?;
        let prompt = if prompt.is_empty() {
            vec![tokenizer.end_of_text()]
        } else {
            prompt
        };
        let sampling = Sampling {
            temperature: wanted.temperature,
            top_k: wanted.top_k,
            seed: open.progress.seed,
        };
        let made = generate(
            &mut open.engine,
            &prompt,
            wanted.tokens,
            Some(tokenizer.end_of_text()),
            &sampling,
        )?;
        let text = tokenizer.decode(&made)?;
        say(&format!("sample: {}{}", wanted.prompt, text));
        if let Some(sink) = &mut open.metrics {
            sink.sample(&Sample {
                step: open.progress.step,
                prompt: wanted.prompt.clone(),
                text,
            })?;
        }
        Ok(())
    }
}

/// How a device's work was started; nothing where the host computes.
fn show_replays(engine: &Engine) {
    let (runs, reason) = engine.replays();
    if runs.eager + runs.replayed == 0 {
        return;
    }
    let why = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    say(&format!(
        "graphs: {} captured, {} launched, {} runs operator by operator{why}",
        runs.captured, runs.replayed, runs.eager
    ));
}

/// A checkpoint must not be ahead of the metrics on disk.
fn sync_metrics(open: &mut Open) -> Result<(), TrainError> {
    match &mut open.metrics {
        Some(sink) => Ok(sink.sync()?),
        None => Ok(()),
    }
}

/// Waits for the checkpoint being written.
fn finish_write(open: &mut Open) -> Result<(), TrainError> {
    let waited = open.writer.wait().map(|_| ());
    waited.map_err(|error| with_last_good(open, error))
}

fn with_last_good(open: &Open, error: CheckpointError) -> TrainError {
    TrainError::Checkpoint {
        error: Box::new(error),
        last_good: open.writer.last_good(),
    }
}

fn opened(open: &mut Option<Open>) -> Result<&mut Open, TrainError> {
    open.as_mut()
        .ok_or_else(|| TrainError::Internal("the trainer was not set up".to_owned()))
}

/// A file where a folder of the run directory's path is to be: a slip in
/// `workspace` or a name, found before anything is written.
fn refuse_file_in_the_way(run_dir: &Path) -> Result<(), TrainError> {
    let Some(found) = run_dir.ancestors().find(|path| path.exists()) else {
        return Ok(());
    };
    if found.is_dir() {
        return Ok(());
    }
    let message = format!(
        "{} is a file, so {} cannot be a folder",
        found.display(),
        run_dir.display()
    );
    let diagnostic = Diagnostic::error("train::file-in-the-way", message)
        .hint("choose another `workspace` or `exp_name`");
    Err(Box::new(diagnostic).into())
}

/// A new run must not mix with the checkpoints of an old one.
fn refuse_to_overwrite(checkpoints: &Path) -> Result<(), TrainError> {
    let steps = checkpoint::step_dirs(checkpoints)?;
    let Some(newest) = steps.keys().next_back() else {
        return Ok(());
    };
    let message = format!(
        "{} has checkpoints of an earlier run, up to step {newest}",
        checkpoints.display()
    );
    let diagnostic = Diagnostic::error("train::run-exists", message)
        .hint("add `--resume` to go on with that run")
        .hint("or choose another `exp_name=...`, or remove the folder to start over");
    Err(Box::new(diagnostic).into())
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// Shows messages that do not stop the run.
fn show(diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        crate::console::diagnostic(diagnostic);
    }
}

fn say(line: &str) {
    crate::console::line(line);
}
