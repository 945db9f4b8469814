//! `cargo xtask completions`: completion scripts for shells.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::context::{Context, Result};

/// Print a completion script for a shell
///
/// It completes the command `xtask`: define it as an alias of `cargo xtask`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  alias xtask='cargo xtask'\n  eval \"$(cargo xtask completions bash)\""
)]
pub(crate) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: Args, context: &Context) -> Result {
    let mut definition = crate::Cli::command().bin_name("xtask");
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut definition, "xtask", &mut script);
    context.print(&String::from_utf8_lossy(&script))
}
