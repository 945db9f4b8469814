//! `cargo xtask`: the one entry point of Cairn. Parses the command line,
//! hands it to one file per subcommand and turns what comes back into
//! messages and an exit code.

mod args;
mod bench;
mod ci;
mod ckpt;
mod completions;
mod config;
mod context;
mod data;
mod deps;
mod doctor;
mod engine;
mod experiment;
mod kernels;
mod plan;
mod report;
mod sim;
mod table;
mod test;
mod tidy;
mod train;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::context::{Context, Result};

/// Trains language models on AMD GPUs from one YAML file, and on the CPU when there is no GPU.
#[derive(Debug, Parser)]
#[command(
    name = "xtask",
    bin_name = "cargo xtask",
    version,
    max_term_width = 100
)]
#[command(
    after_help = "Example:\n  cargo xtask train --exp configs/experiments/quickstart.yaml\n\n\
    Exit codes: 0 done, 1 failed, 2 wrong use or wrong input,\n\
    3 stopped early by a signal with a checkpoint written."
)]
struct Cli {
    /// The form of answers and messages: text for people, json for programs
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "text",
        value_name = "FORM"
    )]
    format: context::FormatArg,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Train(train::Args),
    Config(config::Args),
    Data(data::Args),
    Deps(deps::Args),
    Ckpt(ckpt::Args),
    Report(report::Args),
    Plan(plan::Args),
    Bench(bench::Args),
    Sim(sim::Args),
    Kernels(kernels::Args),
    Test(test::Args),
    Tidy(tidy::Args),
    Ci(ci::Args),
    Doctor(doctor::Args),
    Completions(completions::Args),
}

impl Command {
    fn run(self, context: &Context) -> Result {
        match self {
            Self::Train(args) => train::run(args, context),
            Self::Config(args) => config::run(args, context),
            Self::Data(args) => data::run(args, context),
            Self::Deps(args) => deps::run(args, context),
            Self::Ckpt(args) => ckpt::run(args, context),
            Self::Report(args) => report::run(args, context),
            Self::Plan(args) => plan::run(args, context),
            Self::Bench(args) => bench::run(args, context),
            Self::Sim(args) => sim::run(args, context),
            Self::Kernels(args) => kernels::run(args, context),
            Self::Test(args) => test::run(args, context),
            Self::Tidy(args) => tidy::run(args, context),
            Self::Ci(args) => ci::run(args, context),
            Self::Doctor(args) => doctor::run(args, context),
            Self::Completions(args) => completions::run(args, context),
        }
    }
}

fn main() -> ExitCode {
    let mut definition = Cli::command();
    definition.build();
    let tokens = match args::utf8(std::env::args_os()) {
        Ok(tokens) => args::separate_overrides(&definition, tokens),
        Err(failure) => return failure.report(context::FormatArg::Text),
    };
    let suspects = args::likely_flags(&definition, &tokens);
    let parsed = definition
        .try_get_matches_from(tokens)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        // Help and version are answers; the rest is wrong use: status 2.
        Err(error) => error.exit(),
    };
    let outcome = Context::new(cli.format).and_then(|context| cli.command.run(&context));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(mut failure) => {
            failure.diagnostics.extend(suspects);
            failure.report(cli.format)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_help_ends_with_an_example() {
        fn check(command: &mut clap::Command, path: &str) {
            let help = command.render_long_help().to_string();
            let example = help
                .rsplit_once("Example")
                .map_or("", |(_, example)| example);
            assert!(
                example.contains("cargo xtask"),
                "`{path} --help` has no example:\n{help}"
            );
            for sub in command
                .get_subcommands_mut()
                .filter(|sub| sub.get_name() != "help")
            {
                let path = format!("{path} {}", sub.get_name());
                check(sub, &path);
            }
        }
        let mut definition = Cli::command();
        definition.build();
        check(&mut definition, "cargo xtask");
    }
}
