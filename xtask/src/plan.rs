//! `cargo xtask plan`: what an experiment will need, before it is run.

use cairn_launch::request::{self, PlanEstimate};

use crate::context::{Context, Result};
use crate::engine::{self, Start};
use crate::experiment::ExperimentArgs;

/// Say what an experiment needs without running it
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cargo xtask plan estimate --exp configs/experiments/quickstart.yaml"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Estimate(EstimateArgs),
}

/// Print parameters, FLOPs of a step and peak memory
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "cargo xtask plan estimate --exp FILE [OPTIONS] [KEY=VALUE | --KEY VALUE]...",
    after_help = "Example:\n  cargo xtask plan estimate --exp configs/experiments/quickstart.yaml micro_batch_size=16"
)]
struct EstimateArgs {
    #[command(flatten)]
    experiment: ExperimentArgs,
}

pub(crate) fn run(args: Args, context: &Context) -> Result {
    let Command::Estimate(args) = args.command;
    let (experiment, _) = args.experiment.native(context)?;
    let command = request::Command::PlanEstimate(Box::new(PlanEstimate { experiment }));
    engine::become_engine(context, "plan", command, Start::default())
}
