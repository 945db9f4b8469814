//! `cargo xtask train`: checks an experiment and becomes the engine that runs it.

use cairn_base::Diagnostic;
use cairn_launch::request::{self, Command, Train};

use crate::context::{Context, Failure, Result};
use crate::deps;
use crate::engine::{self, Start};
use crate::experiment::{self, ExperimentArgs, POST_TRAINER, PRE_TRAINER};

pub(crate) mod hip;

/// Train a model as an experiment file says
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "cargo xtask train [pretrain] --exp FILE [OPTIONS] [KEY=VALUE | --KEY VALUE]...",
    after_help = "Examples:\n  cargo xtask train --exp configs/experiments/quickstart.yaml\n  \
        cargo xtask train --exp configs/experiments/quickstart.yaml --resume\n  \
        cargo xtask train --exp configs/experiments/quickstart.yaml lr=1.0e-3 exp_name=slower"
)]
pub(crate) struct Args {
    /// What kind of training
    #[arg(value_enum, default_value = "pretrain", hide_default_value = true)]
    stage: Stage,
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// Go on from the newest complete checkpoint of the run
    #[arg(long)]
    resume: bool,
    /// Print what would be started, as a shell script or as JSON, and start nothing
    #[arg(long)]
    dry_run: bool,
    /// Write a Chrome trace of this many steps
    #[arg(long, value_name = "STEPS", value_parser = clap::value_parser!(u32).range(1..))]
    profile: Option<u32>,
    /// Stop at the first operator whose result is NaN or infinite, and name it
    #[arg(long)]
    detect_anomaly: bool,
    /// Where to train: `cpu`, or `hip`, an AMD GPU (without one, a simulated one); `hip:N` is
    /// the GPU of that number, from 0
    #[arg(long, value_name = "DEVICE", default_value = "cpu", value_parser = device)]
    device: Device,
    /// With `--device hip`, run operators that have no kernel there on the CPU
    #[arg(long)]
    cpu_fallback: bool,
    /// Threads of the CPU engine; results do not depend on it (also: `CAIRN_THREADS`)
    #[arg(long, value_name = "N", value_parser = crate::args::at_least_one)]
    threads: Option<usize>,
    #[command(flatten)]
    source: deps::RunArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Stage {
    /// From the beginning, or from a checkpoint
    Pretrain,
    /// Fine-tuning of a finished model: nothing here does it yet, so it is refused by name
    #[value(hide = true)]
    Posttrain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Device {
    Cpu,
    /// The AMD GPU of this number.
    Hip(i32),
}

/// `cpu`, `hip` or `hip:1`.
fn device(text: &str) -> std::result::Result<Device, String> {
    let number = match text {
        "cpu" => return Ok(Device::Cpu),
        "hip" => Some(0),
        _ => text
            .strip_prefix("hip:")
            .and_then(|number| number.parse().ok())
            .filter(|number| *number >= 0),
    };
    number
        .map(Device::Hip)
        .ok_or_else(|| "write cpu, hip, or hip:N for the GPU of number N".to_owned())
}

pub(crate) fn run(args: Args, context: &Context) -> Result {
    let module = match args.stage {
        Stage::Pretrain => PRE_TRAINER,
        Stage::Posttrain => POST_TRAINER,
    };
    let resolved = args.experiment.resolve(context, module)?;
    if let Some(module) = resolved.module()
        && deps::is_external(context, module)?
    {
        return deps::external(&args.source, context, &resolved, module, args.dry_run);
    }
    if args.stage == Stage::Posttrain {
        let diagnostic = Diagnostic::error("train::stage", "the native engine has no post-training yet")
            .hint("use `cargo xtask train pretrain`, which trains from the beginning or from a checkpoint");
        return Err(Failure::wrong(diagnostic));
    }
    let experiment = experiment::for_engine(&resolved)?;
    cairn_config::native::trainable(&experiment.native.model).map_err(Failure::wrong)?;
    let mut env = experiment::environment(&resolved)?;
    let device = match args.device {
        Device::Cpu => request::Device::Cpu,
        Device::Hip(ordinal) => request::Device::Hip(request::Hip {
            ordinal,
            ..hip::prepare(args.cpu_fallback, args.dry_run, &mut env, context)?
        }),
    };
    let command = Command::Train(Box::new(Train {
        experiment,
        resume: args.resume,
        device,
        profile: args.profile,
        detect_anomaly: args.detect_anomaly,
    }));
    let start = Start {
        threads: args.threads,
        env,
    };
    if !args.dry_run {
        return engine::become_engine(context, "train", command, start);
    }
    let plan = engine::plan(context, "train", command, start)?;
    let printed = if context.json() {
        plan.to_json()
    } else {
        plan.to_shell()
    };
    context.print(&printed.map_err(|error| {
        Failure::failed(Diagnostic::error(
            "train::plan",
            format!("the plan cannot be printed: {error}"),
        ))
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_is_chosen_by_its_number() {
        assert_eq!(device("cpu"), Ok(Device::Cpu));
        assert_eq!(device("hip"), Ok(Device::Hip(0)));
        assert_eq!(device("hip:3"), Ok(Device::Hip(3)));
        for wrong in ["gpu", "hip:", "hip:-1", "hip:x", "cpu:0", "HIP", ""] {
            assert!(device(wrong).unwrap_err().contains("hip:N"), "{wrong}");
        }
    }
}
