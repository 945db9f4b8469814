//! `cargo xtask deps`: third-party source trees, locked, verified and in a cache.

use std::path::PathBuf;

use cairn_base::{Diagnostic, env};
use cairn_deps::resolve::Named;
use cairn_deps::sync::Options;
use cairn_deps::url::Url;
use cairn_deps::{Cache, DepsError, Project};

use crate::context::{Context, Failure, Result};

mod change;
mod keep;
mod run;
mod show;
mod sync;

pub(crate) use run::{RunArgs, external, is_external};

/// Fetch, verify and find the third-party projects that Cairn drives
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask deps sync torchtitan Megatron-LM")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Sync(sync::Args),
    Lock(change::LockArgs),
    Update(change::UpdateArgs),
    Add(change::AddArgs),
    Remove(change::RemoveArgs),
    Status(show::StatusArgs),
    Verify(show::VerifyArgs),
    Path(show::PathArgs),
    Fingerprint(show::FingerprintArgs),
    Pythonpath(show::PythonpathArgs),
    Sbom(show::SbomArgs),
    Gc(keep::GcArgs),
    Bundle(keep::BundleArgs),
    Import(keep::ImportArgs),
}

pub(crate) fn run(args: Args, context: &Context) -> Result {
    match args.command {
        Command::Sync(args) => sync::run(&args, context),
        Command::Lock(args) => change::lock(&args, context),
        Command::Update(args) => change::update(&args, context),
        Command::Add(args) => change::add(&args, context),
        Command::Remove(args) => change::remove(&args, context),
        Command::Status(args) => show::status(&args, context),
        Command::Verify(args) => show::verify(&args, context),
        Command::Path(args) => show::path(&args, context),
        Command::Fingerprint(args) => show::fingerprint(&args, context),
        Command::Pythonpath(args) => show::pythonpath(&args, context),
        Command::Sbom(args) => show::sbom(&args, context),
        Command::Gc(args) => keep::gc(&args, context),
        Command::Bundle(args) => keep::bundle(&args, context),
        Command::Import(args) => keep::import(&args, context),
    }
}

/// Which cache.
#[derive(Debug, Default, clap::Args)]
struct CacheArgs {
    /// The cache (also: `CAIRN_THIRDPARTY_DIR`, `PRIMUS_THIRDPARTY_DIR`)
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl CacheArgs {
    fn cache(&self, context: &Context) -> Result<Cache> {
        Ok(Cache::locate(self.dir.as_deref(), &context.cwd)?)
    }
}

/// Where sources come from.
#[derive(Debug, clap::Args)]
struct SourceArgs {
    /// Projects to work on at a time
    #[arg(long, value_name = "N", default_value = "4", value_parser = crate::args::at_least_one)]
    jobs: usize,
    /// Touch no network; say what is missing
    #[arg(long)]
    offline: bool,
    /// A folder of bare repositories, or an address below which they are: asked first;
    /// may be repeated
    #[arg(long = "mirror", value_name = "DIR_OR_URL")]
    mirrors: Vec<String>,
    /// How often a source that cannot be reached is asked again
    #[arg(long, value_name = "N", default_value = "3")]
    retries: u32,
}

impl SourceArgs {
    fn options(&self, context: &Context) -> Result<Options> {
        let mirrors = self.mirrors.iter().map(|text| mirror(context, text));
        Ok(Options {
            jobs: self.jobs,
            offline: self.offline,
            mirrors: mirrors.collect::<Result<_>>()?,
            retries: self.retries,
            ..Options::default()
        })
    }
}

/// A mirror as typed: a folder, or an address.
fn mirror(context: &Context, text: &str) -> Result<Url> {
    let path = context.cwd.join(text);
    let parsed = if path.is_dir() {
        Url::of_path(&path)
    } else {
        Url::parse_base(text)
    };
    parsed.map_err(|error| {
        // Whatever was typed may hold a password.
        let message = format!("a mirror cannot be used: {error}");
        Failure::wrong(Diagnostic::error("deps::mirror", message).hint(
            "name a folder of bare repositories that exists, or an https, ssh or file address",
        ))
    })
}

/// What the user says about a backend's tree.
fn named(context: &Context, flag: Option<&PathBuf>) -> Named {
    let variable = env::get(&env::BACKEND_PATH).map(PathBuf::from);
    Named {
        flag: flag.map(|path| context.cwd.join(path)),
        variable: variable.map(|path| context.cwd.join(path)),
    }
}

fn project(context: &Context) -> Result<Project> {
    Ok(Project::read(&context.root)?)
}

impl From<DepsError> for Failure {
    fn from(error: DepsError) -> Self {
        Self {
            diagnostics: vec![error.diagnostic()],
            code: error.exit_code(),
        }
    }
}

/// All of several errors; the worst exit code is that of wrong input.
fn failures(errors: &[DepsError]) -> Failure {
    Failure {
        diagnostics: errors.iter().map(DepsError::diagnostic).collect(),
        code: errors.iter().map(DepsError::exit_code).max().unwrap_or(1),
    }
}
