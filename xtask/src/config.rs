//! `cargo xtask config`: shows, checks and compares experiments.

use std::path::PathBuf;

use cairn_config::show;

use crate::context::{Context, Result};
use crate::experiment::{ExperimentArgs, PRE_TRAINER, PresetArgs};

/// Show, check and compare experiments
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cargo xtask config show --exp configs/experiments/quickstart.yaml --origin"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Show(ShowArgs),
    Check(CheckArgs),
    Diff(DiffArgs),
    Schema(SchemaArgs),
}

/// Print what an experiment resolves to
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "cargo xtask config show --exp FILE [OPTIONS] [KEY=VALUE | --KEY VALUE]...",
    after_help = "Example:\n  cargo xtask config show --exp configs/experiments/quickstart.yaml --origin lr=1.0e-3"
)]
struct ShowArgs {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// Print each key with the place it was decided and what it replaced
    #[arg(long)]
    origin: bool,
}

/// Check an experiment; every error of the file is reported at once
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "cargo xtask config check --exp FILE [OPTIONS] [KEY=VALUE | --KEY VALUE]...",
    after_help = "Example:\n  cargo xtask config check --exp configs/experiments/quickstart.yaml"
)]
struct CheckArgs {
    #[command(flatten)]
    experiment: ExperimentArgs,
}

/// Print the keys in which two experiments differ once resolved
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cargo xtask config diff configs/experiments/quickstart.yaml my_experiment.yaml"
)]
struct DiffArgs {
    /// The one experiment file
    #[arg(value_name = "A")]
    a: PathBuf,
    /// The other experiment file
    #[arg(value_name = "B")]
    b: PathBuf,
    #[command(flatten)]
    presets: PresetArgs,
}

/// Print the JSON schema of `framework: native`
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask config schema > cairn-native.schema.json")]
struct SchemaArgs {}

pub(crate) fn run(args: Args, context: &Context) -> Result {
    match args.command {
        Command::Show(args) => show_experiment(&args, context),
        Command::Check(args) => check(&args, context),
        Command::Diff(args) => diff(&args, context),
        Command::Schema(SchemaArgs {}) => context.print_json(&cairn_config::native::schema()),
    }
}

fn show_experiment(args: &ShowArgs, context: &Context) -> Result {
    let resolved = args.experiment.resolve(context, PRE_TRAINER)?;
    match (context.json(), args.origin) {
        (false, false) => context.print(&show::yaml(&resolved)),
        (false, true) => context.print(&show::yaml_with_origins(&resolved)),
        (true, false) => context.print_json(&resolved.to_record()),
        (true, true) => context.print_json(&show::origins_json(&resolved)),
    }
}

fn check(args: &CheckArgs, context: &Context) -> Result {
    let resolved = args.experiment.resolve(context, PRE_TRAINER)?;
    let modules: Vec<_> = resolved
        .modules
        .iter()
        .map(
            |module| serde_json::json!({"name": module.name, "framework": module.framework_name()}),
        )
        .collect();
    if context.json() {
        return context
            .print_json(&serde_json::json!({"file": args.experiment.exp, "modules": modules}));
    }
    let names: Vec<_> = resolved
        .modules
        .iter()
        .map(|module| format!("{} ({})", module.name, module.framework_name()))
        .collect();
    context.print(&format!(
        "{}: good: {}",
        args.experiment.exp.display(),
        names.join(", ")
    ))
}

fn diff(args: &DiffArgs, context: &Context) -> Result {
    let (a, _) = args.presets.resolve(context, &args.a, &[], PRE_TRAINER)?;
    let (b, _) = args.presets.resolve(context, &args.b, &[], PRE_TRAINER)?;
    let differences = show::diff(&a, &b);
    if context.json() {
        return context.print_json(&show::diff_json(&differences));
    }
    context.print(&show::diff_text(&differences))
}
