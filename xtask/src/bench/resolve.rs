//! `cargo xtask bench config`: how long resolving an experiment takes, inside
//! a process and as a process of its own.

use std::time::{Duration, Instant};

use cairn_base::Exec;
use serde_json::json;

use crate::context::{Context, Failure, Result};
use crate::experiment::{ExperimentArgs, PRE_TRAINER};

/// Measure how long an experiment takes to resolve and to show
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "cargo xtask bench config --exp FILE [OPTIONS] [KEY=VALUE | --KEY VALUE]...",
    after_help = "Example:\n  cargo xtask bench config --exp configs/experiments/quickstart.yaml"
)]
pub(crate) struct ConfigArgs {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// How often; best and median are reported
    #[arg(long, value_name = "N", default_value = "20", value_parser = crate::args::at_least_one)]
    repeats: usize,
}

pub(crate) fn run(args: &ConfigArgs, context: &Context) -> Result {
    let exp = &args.experiment;
    // Once before the clock runs: errors are told, and files are in memory.
    let resolved = exp.resolve(context, PRE_TRAINER)?;
    let keys = resolved
        .module()
        .and_then(|module| module.params.as_map())
        .map_or(0, |map| map.len());
    let inside = measure(args.repeats, || {
        exp.presets
            .resolve(context, &exp.exp, &exp.overrides, PRE_TRAINER)
            .map(|_| ())
    })?;
    let program = std::env::current_exe().unwrap_or_default();
    let mut show = Exec::new(program)
        .args(["config", "show", "--exp"])
        .arg(&exp.exp);
    for root in &exp.presets.configs {
        show = show.arg("--configs").arg(root);
    }
    show = show.arg("--").args(&exp.overrides);
    let process = measure(args.repeats, || Ok(show.output().map(|_| ())?))?;
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    if context.json() {
        return context.print_json(&json!({
            "keys": keys, "repeats": args.repeats,
            "resolve_ms": {"best": ms(inside.0), "median": ms(inside.1)},
            "show_process_ms": {"best": ms(process.0), "median": ms(process.1)},
        }));
    }
    context.print(&format!(
        "{}: {keys} keys, {} repeats\n  resolve              best {:.2} ms, median {:.2} ms\n  \
         config show, process best {:.2} ms, median {:.2} ms",
        exp.exp.display(),
        args.repeats,
        ms(inside.0),
        ms(inside.1),
        ms(process.0),
        ms(process.1),
    ))
}

/// Best and median time of `repeats` runs.
fn measure(
    repeats: usize,
    mut run: impl FnMut() -> std::result::Result<(), Failure>,
) -> Result<(Duration, Duration)> {
    let mut times = Vec::with_capacity(repeats);
    for _ in 0..repeats {
        let start = Instant::now();
        run()?;
        times.push(start.elapsed());
    }
    times.sort();
    let at = |index: usize| times.get(index).copied().unwrap_or_default();
    Ok((at(0), at(times.len() / 2)))
}
