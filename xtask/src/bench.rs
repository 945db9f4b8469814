//! `cargo xtask bench`: measures speed, beside a peer where one is given.

use std::path::PathBuf;

use cairn_base::{Diagnostic, env};
use cairn_launch::request::{self, Bench, BenchSubject, Peer};

use crate::context::{Context, Failure, Result};
use crate::engine::{self, Start};
use crate::experiment::{self, ExperimentArgs, PRE_TRAINER};

mod deps;
mod resolve;
mod roofline;
mod sim;

/// Measure speed
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cargo xtask bench train --exp configs/experiments/bench_28M.yaml"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Train(TrainArgs),
    Gemm(GemmArgs),
    Config(resolve::ConfigArgs),
    Deps(deps::DepsArgs),
    Roofline(roofline::RooflineArgs),
    Sim(sim::SimArgs),
}

/// Measure training steps
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "cargo xtask bench train --exp FILE [OPTIONS] [KEY=VALUE | --KEY VALUE]...",
    after_help = "Examples:\n  cargo xtask bench train --exp configs/experiments/bench_28M.yaml --peer torch --python PY\n  \
        cargo xtask bench train --exp configs/experiments/quickstart.yaml --whole --peer torch --python PY"
)]
struct TrainArgs {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// Steps in each repeat
    #[arg(long, value_name = "N", default_value = "10", value_parser = crate::args::at_least_one)]
    steps: usize,
    /// Train from start to end instead, beside the peer on the same tokens, and once more with
    /// another number of threads: wall-clock time, held-out bits per character, equal loss bits
    #[arg(long, requires = "peer", conflicts_with_all = ["steps", "repeats"])]
    whole: bool,
    #[command(flatten)]
    measure: MeasureArgs,
}

/// Measure matrix products
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask bench gemm --shape 2048x1408x512 --dtype bf16")]
struct GemmArgs {
    /// M, N and K of a product; may be repeated
    #[arg(long = "shape", value_name = "MxNxK", value_parser = shape,
        default_values = ["512x512x512", "1024x1024x1024", "2048x2048x2048", "2048x1408x512"])]
    shapes: Vec<[usize; 3]>,
    /// Element type of the operands; may be repeated
    #[arg(long = "dtype", value_enum, default_values = ["f32", "bf16"])]
    dtypes: Vec<Dtype>,
    #[command(flatten)]
    measure: MeasureArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Dtype {
    F32,
    Bf16,
    F16,
}

/// How to measure.
#[derive(Debug, clap::Args)]
struct MeasureArgs {
    /// How often; best and median are reported
    #[arg(long, value_name = "N", default_value = "5", value_parser = crate::args::at_least_one)]
    repeats: usize,
    /// Threads of the CPU engine
    #[arg(long, value_name = "N", value_parser = crate::args::at_least_one)]
    threads: Option<usize>,
    /// Measure another implementation beside it, taking turns
    #[arg(long, value_enum)]
    peer: Option<PeerArg>,
    /// The Python that has the peer's packages (also: `CAIRN_PYTHON`)
    #[arg(long, value_name = "PROGRAM", requires = "peer")]
    python: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum PeerArg {
    /// PyTorch in eager mode
    Torch,
}

impl MeasureArgs {
    fn peer(&self) -> Result<Option<Peer>> {
        let Some(PeerArg::Torch) = self.peer else {
            return Ok(None);
        };
        let python = self
            .python
            .clone()
            .or_else(|| env::get(&env::CAIRN_PYTHON).map(PathBuf::from));
        python.map(|python| Some(Peer::Torch { python })).ok_or_else(|| {
            let diagnostic = Diagnostic::error("bench::python", "the peer needs a Python that has PyTorch")
                .hint("name it with `--python PROGRAM` or in CAIRN_PYTHON; ci/peers/README.md says how to make one");
            Failure::wrong(diagnostic)
        })
    }
}

/// `2048x1408x512`.
fn shape(text: &str) -> std::result::Result<[usize; 3], String> {
    let sizes: Vec<usize> = text
        .split('x')
        .map(str::parse)
        .collect::<std::result::Result<_, _>>()
        .unwrap_or_default();
    <[usize; 3]>::try_from(sizes)
        .ok()
        .filter(|sizes| sizes.iter().all(|size| (1..=1 << 20).contains(size)))
        .ok_or_else(|| "three sizes from 1 to 1048576 are needed, such as 2048x1408x512".to_owned())
}

pub(crate) fn run(args: Args, context: &Context) -> Result {
    let (subject, measure, env) = match args.command {
        Command::Config(args) => return resolve::run(&args, context),
        Command::Deps(args) => return deps::run(&args, context),
        Command::Roofline(args) => return roofline::run(&args, context),
        Command::Sim(args) => return sim::run(&args, context),
        Command::Gemm(args) => {
            let dtypes = args
                .dtypes
                .iter()
                .map(|dtype| dtype.name().to_owned())
                .collect();
            (
                BenchSubject::Gemm {
                    shapes: args.shapes,
                    dtypes,
                },
                args.measure,
                Default::default(),
            )
        }
        Command::Train(args) => {
            let resolved = args.experiment.resolve(context, PRE_TRAINER)?;
            let experiment = Box::new(experiment::for_engine(&resolved)?);
            let subject = BenchSubject::Train {
                experiment,
                steps: args.steps,
                whole: args.whole,
            };
            (subject, args.measure, experiment::environment(&resolved)?)
        }
    };
    let bench = Bench {
        subject,
        repeats: measure.repeats,
        peer: measure.peer()?,
    };
    let start = Start {
        threads: measure.threads,
        env,
    };
    engine::become_engine(
        context,
        "bench",
        request::Command::Bench(Box::new(bench)),
        start,
    )
}

impl Dtype {
    fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_three_sizes() {
        assert_eq!(shape("2048x1408x512"), Ok([2048, 1408, 512]));
        for wrong in [
            "",
            "1x2",
            "1x2x3x4",
            "0x1x1",
            "axbxc",
            "1x1x-1",
            "1x1x99999999999999999999",
            "2097152x1x1",
        ] {
            assert!(shape(wrong).is_err(), "{wrong}");
        }
    }
}
