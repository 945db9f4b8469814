//! `ckpt list|inspect|export|import`.

use std::path::{Path, PathBuf};

use cairn_base::Diagnostic;
use cairn_formats::DType;
use cairn_launch::request::{CkptExport, CkptImport, CkptInspect, CkptList};
use serde_json::json;

use super::{Context, text};
use crate::checkpoint::{self, Retention};
use crate::error::TrainError;
use crate::hugging_face;
use crate::native::scaler::LossScaler;
use crate::native::state::{Progress, snapshot};
use crate::native::{convert, init};

/// Lists the checkpoints of a run.
///
/// # Errors
/// When the folder cannot be read.
pub fn list(context: &Context, request: &CkptList) -> Result<u8, TrainError> {
    // In full: a list that calls a damaged one complete is of no use.
    let rows = checkpoint::list(&request.run_dir, true)?;
    context.answer(&rows, |rows| {
        if rows.is_empty() {
            return format!("no checkpoints in {}", request.run_dir.display());
        }
        text::listing(rows)
    })?;
    Ok(0)
}

/// Describes one checkpoint.
///
/// # Errors
/// When there is none, or it is damaged.
pub fn inspect(context: &Context, request: &CkptInspect) -> Result<u8, TrainError> {
    let (path, passed_over) = newest(&request.path)?;
    context.answer(&checkpoint::inspect(&path)?, text::inspection)?;
    // Told on stderr already; who asks whether all is well wants to hear no.
    Ok(if request.verify && passed_over > 0 {
        2
    } else {
        0
    })
}

/// Writes a checkpoint's model in the Hugging Face layout.
///
/// # Errors
/// When the checkpoint is damaged or the folder cannot be written.
pub fn export(context: &Context, request: &CkptExport) -> Result<u8, TrainError> {
    if request.to.exists() && !request.to.is_dir() {
        let message = format!(
            "{} is a file, not a folder to write to",
            request.to.display()
        );
        let diagnostic = Diagnostic::error("ckpt::not-a-folder", message)
            .hint("name a new folder: nothing is overwritten");
        return Err(Box::new(diagnostic).into());
    }
    let (path, _) = newest(&request.path)?;
    let loaded = checkpoint::load(&path)?;
    let unreadable = |error: serde_json::Error| TrainError::State {
        path: path.clone(),
        reason: error.to_string(),
    };
    let progress: Progress = serde_json::from_value(loaded.state.clone()).map_err(unreadable)?;
    let dtype = match request.dtype.as_str() {
        "f32" => DType::F32,
        "bf16" => DType::BF16,
        other => {
            let diagnostic = Diagnostic::error(
                "ckpt::dtype",
                format!("weights cannot be exported as `{other}`"),
            )
            .hint("use `f32` or `bf16`");
            return Err(Box::new(diagnostic).into());
        }
    };
    let tokenizer = path
        .ancestors()
        .nth(2)
        .map(|run| run.join("tokenizer.json"))
        .filter(|path| path.exists());
    let files = hugging_face::export(
        &progress.model,
        &loaded,
        dtype,
        tokenizer.as_deref(),
        &request.to,
    )?;
    context.answer(&json!({ "checkpoint": path, "files": files }), |_| {
        format!("{} -> {}", path.display(), request.to.display())
    })?;
    Ok(0)
}

/// Makes the checkpoint of step 0 from a model in the Hugging Face layout.
///
/// # Errors
/// When the model is of another shape than the experiment's, or cannot be read.
pub fn import(context: &Context, request: &CkptImport) -> Result<u8, TrainError> {
    let experiment = &request.experiment.native;
    let training = &experiment.training;
    let model = convert::model(&experiment.model, training)?;
    let precision = convert::precision(training.precision);
    let checkpoints = Path::new(&experiment.meta.run_dir).join("checkpoints");
    if let Some(step) = checkpoint::step_dirs(&checkpoints)?.keys().next_back() {
        let message = format!(
            "{} already has checkpoints, up to step {step}",
            checkpoints.display()
        );
        let hint = "choose another `exp_name=...`, or remove the folder";
        return Err(Box::new(Diagnostic::error("ckpt::run-exists", message).hint(hint)).into());
    }
    let mut store = hugging_face::import(&request.from, &model, precision)?;
    for spec in cairn_nn::models::parameters(&model) {
        init::add_state(&mut store, &spec, precision)?;
    }
    let dataset =
        crate::data::Dataset::open(&convert::data(experiment, context.project.as_deref()))?;
    let progress = Progress {
        step: 0,
        tokens: 0,
        data: crate::data::Position::default(),
        data_fingerprint: dataset.fingerprint,
        seq_length: training.seq_length,
        scaler: LossScaler::new(training),
        seed: training.seed,
        isa: context.isa.name().to_owned(),
        model,
    };
    let snapshot = snapshot(&store, &progress, precision, &request.experiment.record)?;
    let options = checkpoint::Options {
        retention: Retention::default(),
        ..checkpoint::Options::default()
    };
    cairn_base::files::create_dir_all(&checkpoints)?;
    let path = checkpoint::save_now(&checkpoints, &snapshot, &options)?;
    context.answer(&json!({ "checkpoint": path }), |_| {
        format!(
            "{}: `train --resume` goes on from these weights",
            path.display()
        )
    })?;
    Ok(0)
}

/// The checkpoint meant by `path`: itself, or the newest complete one of a run,
/// and how many newer ones of it are damaged.
fn newest(path: &Path) -> Result<(PathBuf, usize), TrainError> {
    let latest = checkpoint::locate(path)?;
    for warning in &latest.warnings {
        crate::console::diagnostic(warning);
    }
    let passed_over = latest.warnings.len();
    let found = latest.path.map(|path| (path, passed_over));
    found.ok_or_else(|| {
        let message = format!("no complete checkpoint in {}", path.display());
        let hint = "name a run directory, or one of its `checkpoints/step-...` folders";
        Box::new(Diagnostic::error("ckpt::none", message).hint(hint)).into()
    })
}
