//! `cargo xtask report`: a run as one HTML page.

use std::path::PathBuf;

use cairn_launch::request::{self, Report};

use crate::context::{Context, Result};
use crate::engine::{self, Start};

/// Write a run's report: one HTML page with curves, experiment and sample
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask report output/local/me/quickstart")]
pub(crate) struct Args {
    /// The run directory
    #[arg(value_name = "RUN")]
    run_dir: PathBuf,
    /// Where to write the page; without, `report.html` in the run directory
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: Args, context: &Context) -> Result {
    context.must_exist("run", &args.run_dir)?;
    let command = request::Command::Report(Report {
        run_dir: args.run_dir,
        output: args.output,
    });
    engine::become_engine(context, "report", command, Start::default())
}
