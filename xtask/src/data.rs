//! `cargo xtask data`: makes and describes corpora.

use std::path::PathBuf;

use cairn_base::Diagnostic;
use cairn_launch::request::{self, DataInspect, DataPrepare, DataTarget};

use crate::context::{Context, Failure, Result};
use crate::engine::{self, Start};
use crate::experiment::{ExperimentArgs, PresetArgs};

/// Prepare and inspect training data
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cargo xtask data prepare --exp configs/experiments/quickstart.yaml"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Prepare(PrepareArgs),
    Inspect(InspectArgs),
}

/// Make an experiment's tokenizer and tokenised shards before it is trained
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "cargo xtask data prepare --exp FILE [OPTIONS] [KEY=VALUE | --KEY VALUE]...",
    after_help = "Example:\n  cargo xtask data prepare --exp configs/experiments/quickstart.yaml --megatron corpus/code"
)]
struct PrepareArgs {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// Also write the tokens as Megatron's `PREFIX_train` and `PREFIX_validation` `.bin` and `.idx`
    #[arg(long, value_name = "PREFIX")]
    megatron: Option<PathBuf>,
}

/// Describe an experiment's data, or a Megatron data set
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "cargo xtask data inspect (--exp FILE | PATH) [OPTIONS] [KEY=VALUE | --KEY VALUE]...",
    after_help = "Examples:\n  cargo xtask data inspect --exp configs/experiments/quickstart.yaml\n  \
        cargo xtask data inspect corpus/code_train.idx --show 3"
)]
struct InspectArgs {
    /// A Megatron data set: its `.idx`, its `.bin` or their common prefix
    #[arg(
        value_name = "PATH",
        conflicts_with = "exp",
        required_unless_present = "exp"
    )]
    path: Option<PathBuf>,
    /// The experiment file
    #[arg(long, visible_alias = "config", value_name = "FILE")]
    exp: Option<PathBuf>,
    #[command(flatten)]
    presets: PresetArgs,
    /// Show the beginning of this many documents
    #[arg(long, value_name = "N", default_value_t = 3)]
    show: usize,
    /// Changes to the experiment
    #[arg(last = true, value_name = "KEY=VALUE")]
    overrides: Vec<String>,
}

pub(crate) fn run(args: Args, context: &Context) -> Result {
    match args.command {
        Command::Prepare(args) => {
            let (experiment, _) = args.experiment.native(context)?;
            let command = DataPrepare {
                experiment,
                megatron_prefix: args.megatron,
            };
            engine::become_engine(
                context,
                "data",
                request::Command::DataPrepare(Box::new(command)),
                Start::default(),
            )
        }
        Command::Inspect(args) => inspect(args, context),
    }
}

fn inspect(args: InspectArgs, context: &Context) -> Result {
    let target = match (args.path, args.exp) {
        (Some(path), _) if args.overrides.is_empty() => {
            let mut index = path.clone().into_os_string();
            index.push(".idx");
            if !context.cwd.join(&index).exists() {
                context.must_exist("data set", &path)?;
            }
            DataTarget::Megatron(path)
        }
        (Some(_), _) => {
            let message = format!(
                "`{}` changes an experiment, and none is given",
                args.overrides.join(" ")
            );
            let diagnostic =
                Diagnostic::error("data::overrides", message).hint("name one with `--exp FILE`");
            return Err(Failure::wrong(diagnostic));
        }
        (None, exp) => {
            let experiment = ExperimentArgs {
                exp: exp.unwrap_or_default(),
                presets: args.presets,
                overrides: args.overrides,
            };
            DataTarget::Experiment(Box::new(experiment.native(context)?.0))
        }
    };
    let command = request::Command::DataInspect(Box::new(DataInspect {
        target,
        show: args.show,
    }));
    engine::become_engine(context, "data", command, Start::default())
}
