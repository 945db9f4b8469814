//! `cargo xtask bench sim`: the speed of the simulator, by products of
//! matrices with Cairn's own kernels.

use cairn_launch::request::{self, SimBench};

use crate::context::{Context, Result};
use crate::engine::{self, Start};
use crate::kernels;

/// Measure the simulator: matrix products in both modes, with and without checks
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cargo xtask kernels build --arch gfx942\n  cargo xtask bench sim --arch gfx942"
)]
pub(crate) struct SimArgs {
    /// The architecture, for which the kernels are built
    #[arg(long, value_name = "ARCH", default_value = "gfx942", value_parser = ["gfx942", "gfx950"])]
    arch: String,
    /// Rows and columns of the bf16 matrices; those in f32 have half as many
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(64..=8192))]
    size: u32,
    /// How often; medians are reported
    #[arg(long, value_name = "N", default_value = "5", value_parser = crate::args::at_least_one)]
    repeats: usize,
    /// Threads; without, `CAIRN_THREADS` or as many as there are cores
    #[arg(long, value_name = "N", value_parser = crate::args::at_least_one)]
    threads: Option<usize>,
}

pub(crate) fn run(args: &SimArgs, context: &Context) -> Result {
    let object = |kernel| kernels::object_of(kernel, &args.arch, context);
    let bench = SimBench {
        bf16: object("gemm_bf16_nn")?,
        f32: object("gemm_f32_nn")?,
        size: args.size,
        repeats: args.repeats,
    };
    let start = Start {
        threads: args.threads,
        ..Start::default()
    };
    engine::become_engine(context, "sim", request::Command::SimBench(bench), start)
}
