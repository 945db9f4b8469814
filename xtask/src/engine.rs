//! The engine's side of a command: which binary serves it, building that
//! binary, and becoming it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::mpsc;
use std::time::Duration;

use cairn_base::{Diagnostic, Exec, env, files};
use cairn_launch::plan::LaunchPlan;
use cairn_launch::request::{Command, Format, Request};

use crate::context::{Context, Failure, Result};

/// A binary that serves commands.
#[derive(Debug, PartialEq, Eq)]
struct Engine {
    binary: &'static str,
    /// The subcommands it serves.
    commands: &'static [&'static str],
}

static ENGINES: &[Engine] = &[
    Engine {
        binary: "cairn-train",
        commands: &["train", "data", "ckpt", "report", "plan", "bench"],
    },
    Engine {
        binary: "cairn-sim",
        commands: &["sim"],
    },
];

/// How long a rebuild may take before a message says that it happens.
const QUIET: Duration = Duration::from_secs(2);

/// What cargo says when it waits; what it waits for follows.
const WAITS: &str = "waiting for file lock";

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
    Err(Failure::failed(plan.run().diagnostic()))
}

/// Builds the binary that serves `subcommand`, runs it and gives the JSON it answers with.
pub(crate) fn ask(
    context: &Context,
    subcommand: &str,
    command: Command,
    start: Start,
) -> Result<String> {
    let mut plan = plan(context, subcommand, command, start)?;
    plan.request.format = Format::Json;
    build(context, engine_for(subcommand)?)?;
    let ended = plan.answer();
    let (status, answer) = ended.map_err(|error| Failure::failed(error.diagnostic()))?;
    if status.success() {
        return Ok(answer);
    }
    let message = format!("`{subcommand}` ended with {status}");
    let diagnostic = Diagnostic::error("xtask::engine", message);
    Err(Failure::failed(diagnostic.hint("its messages are above")))
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

/// Where `sim library` puts the simulated HIP, and `doctor` looks for it.
pub(crate) fn simulated_hip(context: &Context) -> PathBuf {
    target_dir(context).join("sim")
}

/// Folders that HIP is looked for in before the loader's own: the simulated one's first
/// where it is wanted, then ROCm's.
pub(crate) fn hip_folders(context: &Context, simulated: bool) -> Vec<PathBuf> {
    let own = simulated.then(|| simulated_hip(context));
    let rocm = env::get(&env::ROCM_HOME).map(|home| PathBuf::from(home).join("lib"));
    own.into_iter().chain(rocm).collect()
}

/// Builds the simulated HIP and puts it into a folder; the library's file.
pub(crate) fn place_simulated_hip(context: &Context, folder: &Path) -> Result<PathBuf> {
    let target = target_dir(context);
    let cargo = cargo()
        .args(["build", "--release", "--package", "cairn-cdna-hip"])
        .arg("--manifest-path")
        .arg(context.root.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target);
    let built = rebuild(&cargo, |text| eprintln!("{text}"))?;
    if !built.success() {
        let message = format!("the simulated HIP cannot be built ({built})");
        let diagnostic = Diagnostic::error("xtask::build", message);
        return Err(Failure::failed(
            diagnostic.hint("the compiler's messages are above"),
        ));
    }
    let library = folder.join("libamdhip64.so");
    let bytes = files::read(&target.join("release/libcairn_cdna_hip.so"))?;
    // As it is where it is there already: another program may have it open.
    if !library.is_file() || files::read(&library)? != bytes {
        files::create_dir_all(folder)?;
        files::write_atomic(&library, &bytes)?;
    }
    Ok(library)
}

/// The cargo that started this program.
pub(crate) fn cargo() -> Exec {
    Exec::new(env::get(&env::CARGO).unwrap_or_else(|| "cargo".to_owned()))
}

/// Builds an engine. The first build shows cargo's own progress; a rebuild
/// says a word only when it takes long or has to wait.
fn build(context: &Context, engine: &Engine) -> Result {
    let target = target_dir(context);
    let first = !target.join("release").join(engine.binary).is_file();
    let mut cargo = cargo()
        .args([
            "build",
            "--release",
            // One set of features for all of the workspace: what tests have built is used.
            "--workspace",
            "--bin",
            engine.binary,
        ])
        .arg("--manifest-path")
        .arg(context.root.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target);
    let built = if first {
        eprintln!("building the engine (once; a few minutes on a small machine)");
        fetch(context);
        cargo.status()?
    } else {
        if env::color_on_stderr() {
            cargo = cargo.args(["--color", "always"]);
        }
        rebuild(&cargo, |text| eprintln!("{text}"))?
    };
    if built.success() {
        return Ok(());
    }
    let message = format!("the engine cannot be built ({built})");
    let diagnostic = Diagnostic::error("xtask::build", message);
    Err(Failure::failed(
        diagnostic.hint("the compiler's messages are above"),
    ))
}

/// Runs cargo and tells nothing of what it says unless it fails, but that it
/// waits for another cargo, or that it takes long.
fn rebuild(
    cargo: &Exec,
    tell: impl Fn(&str) + Sync,
) -> std::result::Result<ExitStatus, cairn_base::ExecError> {
    let (done, waiting) = mpsc::channel::<()>();
    let mut said = Vec::new();
    let tell = &tell;
    let status = std::thread::scope(|scope| {
        scope.spawn(move || {
            if waiting.recv_timeout(QUIET) == Err(mpsc::RecvTimeoutError::Timeout) {
                tell("building the engine");
            }
        });
        let status = cargo.error_lines(|line| {
            if let Some((_, what)) = line.split_once(WAITS) {
                // One word is enough; the other thread may be gone already.
                let _ = done.send(());
                tell(&format!(
                    "waiting for another cargo to end: it holds a lock{what}"
                ));
            }
            said.push(line.to_owned());
        });
        drop(done);
        status
    })?;
    if !status.success() {
        said.iter().for_each(|line| tell(line));
    }
    Ok(status)
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

    /// What is told while this script stands in for cargo.
    fn told(script: &str) -> (bool, Vec<String>) {
        let told = std::sync::Mutex::new(Vec::new());
        let cargo = Exec::new("sh").args(["-c", script]);
        let status = rebuild(&cargo, |text| {
            // Said or not as the machine is busy or not.
            if text != "building the engine" {
                told.lock().unwrap().push(text.to_owned());
            }
        });
        (status.unwrap().success(), told.into_inner().unwrap())
    }

    #[test]
    fn a_rebuild_that_waits_says_so_and_another_shows_nothing_of_cargos() {
        let waits = "echo '    Blocking waiting for file lock on artifact directory' >&2";
        let word = "waiting for another cargo to end: it holds a lock on artifact directory";
        assert_eq!(told(waits), (true, vec![word.to_owned()]));
        assert_eq!(told("echo '   Compiling a' >&2"), (true, vec![]));
    }

    #[test]
    fn a_failed_rebuild_shows_what_the_compiler_said() {
        let said = told("echo 'error[E0308]: mismatched types' >&2; exit 101");
        assert_eq!(
            said,
            (false, vec!["error[E0308]: mismatched types".to_owned()])
        );
    }

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
