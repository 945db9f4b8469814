//! `cargo xtask ckpt`: lists, describes and converts checkpoints.

use std::path::PathBuf;

use cairn_launch::request::{self, CkptExport, CkptImport, CkptInspect, CkptList};

use crate::context::{Context, Result};
use crate::engine::{self, Start};
use crate::experiment::ExperimentArgs;

/// List, inspect and convert checkpoints
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask ckpt list output/local/me/quickstart")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(ListArgs),
    Inspect(InspectArgs),
    Export(ExportArgs),
    Import(ImportArgs),
}

/// List the checkpoints of a run and whether each is complete
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask ckpt list output/local/me/quickstart")]
struct ListArgs {
    /// The run directory
    #[arg(value_name = "RUN")]
    run_dir: PathBuf,
}

/// Describe a checkpoint: step, tensors, sizes and hashes
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask ckpt inspect output/local/me/quickstart --verify")]
struct InspectArgs {
    /// A checkpoint, or a run directory for its newest complete one
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Check the hash of every file
    #[arg(long)]
    verify: bool,
}

/// Write a checkpoint as a Hugging Face model folder
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cargo xtask ckpt export output/local/me/quickstart --to my-model --dtype bf16"
)]
struct ExportArgs {
    /// A checkpoint, or a run directory for its newest complete one
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// The folder to write; it must not exist or be empty
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Element type of the written weights
    #[arg(long, value_enum, default_value = "f32")]
    dtype: Dtype,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Dtype {
    F32,
    Bf16,
}

/// Make a run's first checkpoint from a Hugging Face model folder
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "cargo xtask ckpt import DIR --exp FILE [OPTIONS] [KEY=VALUE | --KEY VALUE]...",
    after_help = "Example:\n  cargo xtask ckpt import Llama-3.2-1B --exp my_experiment.yaml\n  \
        cargo xtask train --exp my_experiment.yaml --resume"
)]
struct ImportArgs {
    /// A folder with `config.json` and `model*.safetensors`
    #[arg(value_name = "DIR")]
    from: PathBuf,
    #[command(flatten)]
    experiment: ExperimentArgs,
}

pub(crate) fn run(args: Args, context: &Context) -> Result {
    match &args.command {
        Command::List(args) => context.must_exist("run", &args.run_dir)?,
        Command::Inspect(args) => context.must_exist("checkpoint or run", &args.path)?,
        Command::Export(args) => context.must_exist("checkpoint or run", &args.path)?,
        Command::Import(args) => context.must_exist("model folder", &args.from)?,
    }
    let command = match args.command {
        Command::List(args) => request::Command::CkptList(CkptList {
            run_dir: args.run_dir,
        }),
        Command::Inspect(args) => request::Command::CkptInspect(CkptInspect {
            path: args.path,
            verify: args.verify,
        }),
        Command::Export(args) => {
            let dtype = match args.dtype {
                Dtype::F32 => "f32",
                Dtype::Bf16 => "bf16",
            };
            request::Command::CkptExport(CkptExport {
                path: args.path,
                to: args.to,
                dtype: dtype.to_owned(),
            })
        }
        Command::Import(args) => {
            let (experiment, _) = args.experiment.native(context)?;
            request::Command::CkptImport(Box::new(CkptImport {
                from: args.from,
                experiment,
            }))
        }
    };
    engine::become_engine(context, "ckpt", command, Start::default())
}
