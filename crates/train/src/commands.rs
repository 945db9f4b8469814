//! One function a command.

pub mod bench;
pub mod ckpt;
pub mod data;
pub mod plan;
pub mod report;
pub mod text;
pub mod train;

use std::path::PathBuf;

use cairn_base::{Diagnostic, env};
use cairn_launch::request::{Command, Format, Request};
use cairn_tensor::Pool;
use cairn_tensor::cpu::isa::{ISA_VAR, Isa};
use cairn_tensor::threads::THREADS_VAR;
use serde::Serialize;

use crate::error::TrainError;

/// What every command is given beside its own arguments.
#[derive(Clone, Debug)]
pub struct Context {
    /// The checkout.
    pub project: Option<PathBuf>,
    /// Form of the answer.
    pub format: Format,
    /// Threads of the engine.
    pub threads: usize,
    /// Instruction set of the engine.
    pub isa: Isa,
}

impl Context {
    /// Prints an answer: as JSON, or as the text that `text` makes of it.
    ///
    /// # Errors
    /// When it cannot be turned into JSON: a fault of Cairn.
    pub fn answer<T: Serialize>(
        &self,
        value: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<(), TrainError> {
        let line = match self.format {
            Format::Text => text(value),
            Format::Json => serde_json::to_string_pretty(value)
                .map_err(|error| TrainError::Internal(error.to_string()))?,
        };
        crate::console::answer(&line);
        Ok(())
    }
}

/// Does what the request says and gives the exit code.
///
/// # Errors
/// When it cannot be done.
pub fn run(request: Request) -> Result<u8, TrainError> {
    let context = context(&request)?;
    match request.command {
        Command::Train(train) => train::run(&context, *train),
        Command::DataPrepare(prepare) => data::prepare(&context, &prepare),
        Command::DataInspect(inspect) => data::inspect(&context, &inspect),
        Command::CkptList(list) => ckpt::list(&context, &list),
        Command::CkptInspect(inspect) => ckpt::inspect(&context, &inspect),
        Command::CkptExport(export) => ckpt::export(&context, &export),
        Command::CkptImport(import) => ckpt::import(&context, &import),
        Command::Report(report) => report::run(&context, &report),
        Command::PlanEstimate(estimate) => plan::estimate(&context, &estimate),
        Command::Bench(bench) => bench::run(&context, &bench),
        Command::SimRun(_)
        | Command::SimProfile(_)
        | Command::SimUnsupported(_)
        | Command::SimBench(_) => {
            let what = "a request for cairn-sim".to_owned();
            Err(TrainError::Internal(what))
        }
    }
}

fn context(request: &Request) -> Result<Context, TrainError> {
    let wrong = |message: String, hint: String| {
        TrainError::Diagnostic(Box::new(
            Diagnostic::error("train::environment", message).hint(hint),
        ))
    };
    let threads = match request.threads {
        Some(threads) => Ok(threads),
        None => Pool::threads_from(env::get(&env::CAIRN_THREADS).as_deref()),
    };
    let threads = threads.map_err(|error| {
        wrong(
            format!("{THREADS_VAR}: {error}"),
            format!("unset {THREADS_VAR}, or set it to the number of cores to use"),
        )
    })?;
    let isa = Isa::from_setting(env::get(&env::CAIRN_CPU).as_deref()).map_err(|error| {
        wrong(
            format!("{ISA_VAR}: {error}"),
            format!("unset {ISA_VAR} to use what the processor has"),
        )
    })?;
    Ok(Context {
        project: request.project.clone(),
        format: request.format,
        threads,
        isa,
    })
}
