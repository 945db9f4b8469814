//! `cargo xtask kernels`: builds the HIP sources for the architectures asked
//! for, and tells what was built.

use std::path::PathBuf;

use cairn_base::{Diagnostic, Progress, env};
use cairn_kernels::source::Tree;
use cairn_kernels::{Arch, KernelsError, Manifest, Request, Search, archs};

use crate::context::{Context, Failure, Result};
use crate::{args, engine};

mod build;
mod check;
mod inspect;
mod list;

pub(crate) use build::build_for;

/// Build GPU kernels for chosen architectures, and tell what they need
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask kernels build --arch \"gfx942;gfx950\"")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Build(BuildArgs),
    List(ListArgs),
    Inspect(InspectArgs),
    Check(CheckArgs),
    Clean(CleanArgs),
}

/// Compile every kernel that is not built yet
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cargo xtask kernels build --arch \"gfx942;gfx950\" --jobs 8\n\n\
    GPU_ARCHS, HIPCC, ROCM_HOME and MAX_JOBS are honoured."
)]
struct BuildArgs {
    /// Architectures separated by `;`, or `native` for this machine's GPU
    #[arg(long, value_name = "LIST")]
    arch: Option<String>,
    /// Compilers that run at once
    #[arg(long, value_name = "N", value_parser = args::at_least_one)]
    jobs: Option<usize>,
    /// The compiler to use, and no other
    #[arg(long, value_name = "PATH")]
    cc: Option<PathBuf>,
}

/// List the kernels, what each computes, and for what it is built
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask kernels list")]
struct ListArgs {}

/// Show a kernel: arguments, registers, LDS, occupancy and instructions
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask kernels inspect gemm_bf16_nt --arch gfx942")]
struct InspectArgs {
    /// The entry point
    #[arg(value_name = "NAME")]
    name: String,
    /// Architectures separated by `;` instead of all that are built
    #[arg(long, value_name = "LIST")]
    arch: Option<String>,
}

/// Fail on spills, scratch, or more registers or LDS than a source declares
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask kernels check")]
struct CheckArgs {
    /// Architectures separated by `;` instead of all that are built
    #[arg(long, value_name = "LIST")]
    arch: Option<String>,
}

/// Remove everything that was built, and the cache
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask kernels clean")]
struct CleanArgs {}

pub(crate) fn run(args: Args, context: &Context) -> Result {
    match args.command {
        Command::Build(args) => build::run(args, context),
        Command::List(ListArgs {}) => list::run(context),
        Command::Inspect(args) => inspect::run(&args, context),
        Command::Check(args) => check::run(&args, context),
        Command::Clean(CleanArgs {}) => clean(context),
    }
}

fn clean(context: &Context) -> Result {
    let dir = out(context);
    match std::fs::remove_dir_all(&dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(cairn_base::FileError::new("remove", &dir, error).into())
        }
        _ => Ok(()),
    }
}

/// Where the sources are.
fn sources(context: &Context) -> PathBuf {
    context.root.join("kernels")
}

/// Where everything is built.
pub(crate) fn out(context: &Context) -> PathBuf {
    engine::target_dir(context).join("kernels")
}

pub(crate) fn failure(error: &KernelsError) -> Failure {
    failures(std::slice::from_ref(error))
}

fn failures(errors: &[KernelsError]) -> Failure {
    let diagnostics = errors.iter().map(KernelsError::diagnostic).collect();
    let wrong_input = errors.iter().all(KernelsError::is_wrong_input);
    Failure {
        diagnostics,
        code: if wrong_input { 2 } else { 1 },
    }
}

pub(crate) fn installed() -> Vec<String> {
    archs::installed(archs::TOPOLOGY.as_ref())
}

/// The architectures that were named: by the flag, or else by `GPU_ARCHS`.
fn named(flag: Option<&str>) -> Result<Option<Vec<Arch>>> {
    let variable = env::get(&env::GPU_ARCHS);
    let list = match (flag, &variable) {
        (Some(list), _) => archs::parse(list, "--arch", installed),
        (None, Some(list)) => archs::parse(list, "GPU_ARCHS", installed),
        (None, None) => return Ok(None),
    };
    list.map(Some).map_err(|error| failure(&error))
}

/// What is built for the architectures that were named by the flag, or else
/// for all for which anything is.
fn manifests(flag: Option<&str>, context: &Context) -> Result<Vec<(Arch, Manifest)>> {
    let out = out(context);
    let load = |arch| Manifest::load(&out, arch);
    let archs = match flag {
        Some(list) => archs::parse(list, "--arch", installed).map_err(|error| failure(&error))?,
        None => archs::BUILDABLE
            .into_iter()
            .filter(|arch| load(*arch).is_ok())
            .collect(),
    };
    if archs.is_empty() {
        return Err(failure(&KernelsError::NotBuilt(archs::DEFAULT[0])));
    }
    archs
        .into_iter()
        .map(|arch| load(arch).map(|manifest| (arch, manifest)))
        .collect::<std::result::Result<_, _>>()
        .map_err(|error| failure(&error))
}

/// The code object with an entry point, as it was built for an architecture.
pub(crate) fn object_of(name: &str, arch: &str, context: &Context) -> Result<PathBuf> {
    let out = out(context);
    let mut found = None;
    for (arch, manifest) in manifests(Some(arch), context)? {
        manifest
            .must_be_from(&tree(context)?, arch)
            .map_err(|error| failure(&error))?;
        if let Some(entry) = manifest.kernels.get(name) {
            found = Some(cairn_kernels::manifest::dir_of(&out, arch).join(&entry.object));
        }
    }
    found.ok_or_else(|| {
        let message = format!("no kernel `{name}` is built for {arch}");
        Failure::wrong(
            Diagnostic::error("kernels::name", message)
                .hint("`cargo xtask kernels list` shows what there is"),
        )
    })
}

fn tree(context: &Context) -> Result<Tree> {
    Tree::read(&sources(context)).map_err(|error| failure(&error))
}
