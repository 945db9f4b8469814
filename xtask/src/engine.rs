//! The engine's side of a command: which binary serves it, building that
//! binary, and becoming it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use cairn_base::{Diagnostic, Exec, env};
use cairn_launch::plan::LaunchPlan;
use cairn_launch::request::{Command, Request};

use crate::context::{Context, Failure, Result};

/// A binary that serves commands.
#[derive(Debug, PartialEq, Eq)]
struct Engine {
    package: &'static str,
    binary: &'static str,
    /// The subcommands it serves.
    commands: &'static [&'static str],
}

static ENGINES: &[Engine] = &[
    Engine {
        package: "cairn-train",
        binary: "cairn-train",
        commands: &["train", "data", "ckpt", "report", "plan", "bench"],
    },
    Engine {
        package: "cairn-cdna",
        binary: "cairn-sim",
        commands: &["sim"],
    },
];

/// How long a rebuild may take before a message says that it happens.
const QUIET: Duration = Duration::from_secs(2);

/// What an engine is started with besides its request.
#[derive(Debug, Default)]
pub(crate) struct Start {
    /// Threads of the CPU engine.
    pub(crate) threads: Option<usize>,
    /// Variables of the experiment.
    pub(crate) env: BTreeMap<String, String>,
}

/// The plan that serves `subcommand`; nothing is built or started.
pub(crate) fn plan(
    context: &Context,
    subcommand: &str,
    command: Command,
    start: Start,
) -> Result<LaunchPlan> {
    let engine = engine_for(subcommand)?;
    let program = target_dir(context).join("release").join(engine.binary);
    let mut request = Request::new(Some(context.root.clone()), context.format.into(), command);
    request.threads = start.threads;
    Ok(LaunchPlan::direct(
        &program,
        &context.cwd,
        start.env,
        request,
    ))
}

/// Builds the binary that serves `subcommand` and becomes it.
pub(crate) fn become_engine(
    context: &Context,
    subcommand: &str,
    command: Command,
    start: Start,
) -> Result {
    let plan = plan(context, subcommand, command, start)?;
    build(context, engine_for(subcommand)?)?;
    let error = plan.run();
    Err(Failure::failed(Diagnostic::error(
        "xtask::engine",
        error.to_string(),
    )))
}

fn engine_for(subcommand: &str) -> Result<&'static Engine> {
    ENGINES
        .iter()
        .find(|engine| engine.commands.contains(&subcommand))
        .ok_or_else(|| {
            let message = format!("no engine serves `{subcommand}`");
            Failure::failed(Diagnostic::error("xtask::engine", message))
        })
}

/// The target folder this program was built in, so that nothing is compiled twice.
pub(crate) fn target_dir(context: &Context) -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let target = program
        .parent()
        .filter(|dir| dir.ends_with("release"))
        .and_then(Path::parent);
    target.map_or_else(|| context.root.join("target"), Path::to_path_buf)
}

/// The cargo that started this program.
pub(crate) fn cargo() -> Exec {
    Exec::new(env::get(&env::CARGO).unwrap_or_else(|| "cargo".to_owned()))
}

/// Builds an engine. The first build shows cargo's own progress; a rebuild
/// says a word only when it takes long.
fn build(context: &Context, engine: &Engine) -> Result {
    let target = target_dir(context);
    let first = !target.join("release").join(engine.binary).is_file();
    let mut cargo = cargo()
        .args([
            "build",
            "--release",
            "--package",
            engine.package,
            "--bin",
            engine.binary,
        ])
        .arg("--manifest-path")
        .arg(context.root.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target);
    if first {
        eprintln!("building the engine (once; a few minutes on a small machine)");
        fetch(context);
    } else {
        cargo = cargo.arg("--quiet");
    }
    let (done, waiting) = mpsc::channel::<()>();
    let notice = std::thread::spawn(move || {
        if !first && waiting.recv_timeout(QUIET) == Err(mpsc::RecvTimeoutError::Timeout) {
            eprintln!("building the engine");
        }
    });
    let built = cargo.run();
    drop(done);
    // It has nothing to return.
    drop(notice.join());
    built.map_err(|error| {
        Failure::failed(error.diagnostic().hint("the compiler's messages are above"))
    })
}

/// Downloads every package of the workspace for this machine, those that only
/// tests need included, so that nothing needs the network after the build: the
/// data source `cargo-registry` reads them. Without a network the build says more.
fn fetch(context: &Context) {
    let version = Exec::new("rustc")
        .arg("-vV")
        .output()
        .map(|output| output.text());
    let host = version.ok().and_then(|text| {
        text.lines()
            .find_map(|line| line.strip_prefix("host: ").map(str::to_owned))
    });
    let mut cargo = cargo()
        .args(["fetch", "--quiet", "--locked", "--manifest-path"])
        .arg(context.root.join("Cargo.toml"));
    if let Some(host) = host {
        cargo = cargo.args(["--target", &host]);
    }
    // What is missing is told by the build or by the data source.
    drop(cargo.capture());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subcommand_is_served_by_at_most_one_engine() {
        let mut all: Vec<_> = ENGINES.iter().flat_map(|engine| engine.commands).collect();
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
        assert_eq!(engine_for("train").unwrap().binary, "cairn-train");
        assert_eq!(engine_for("sim").unwrap().binary, "cairn-sim");
        assert!(engine_for("doctor").is_err());
    }
}
