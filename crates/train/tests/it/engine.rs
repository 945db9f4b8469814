//! Starting the engine as its users do: a request in a file, a process, what it
//! printed, and what it left in the run directory.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Output, Stdio};

use cairn_config::{Options, SystemEnv, SystemFiles, preset_roots};
use cairn_launch::request::{Command, Device, Experiment, Format, Request, Train};
use cairn_train::checkpoint::{self, Checkpoint};
use serde_json::Value;

use crate::common::root;

/// A workspace folder of its own, and the experiment that runs in it.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) dir: tempfile::TempDir,
    file: PathBuf,
    overrides: Vec<String>,
}

/// How a training is started.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct How {
    /// Go on from the newest checkpoint.
    pub(crate) resume: bool,
    /// Look for the first non-finite value.
    pub(crate) detect_anomaly: bool,
    /// Trace this many steps; none when 0.
    pub(crate) profile: u32,
    /// Threads; 2 when 0.
    pub(crate) threads: usize,
    /// On one simulated GPU of this architecture instead of the CPU.
    pub(crate) gpu: Option<&'static str>,
    /// Decides there in which order workgroups and waves run, and what memory holds
    /// before it is written.
    pub(crate) sim_seed: u32,
    /// The memory that it has there, such as `8M`; 4 GiB without.
    pub(crate) sim_memory: Option<&'static str>,
}

/// Goes on from the newest checkpoint.
pub(crate) const RESUME: How = How {
    resume: true,
    detect_anomaly: false,
    profile: 0,
    threads: 0,
    gpu: None,
    sim_seed: 0,
    sim_memory: None,
};

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Workspace {
    /// The experiment `configs/experiments/<name>.yaml` with `overrides`.
    pub(crate) fn new(name: &str, overrides: &[&str]) -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            file: root()
                .join("configs/experiments")
                .join(format!("{name}.yaml")),
            overrides: overrides.iter().map(|one| (*one).to_owned()).collect(),
        }
    }

    /// The tiny experiment without evaluation: the quickest training there is.
    pub(crate) fn tiny(overrides: &[&str]) -> Self {
        let quiet = ["tensorboard=false", "eval_interval=0", "log_interval=1000"];
        Self::new("tiny_resume", &[&quiet, overrides].concat())
    }

    /// The tiny experiment with another model preset.
    pub(crate) fn with_model(model: &str, overrides: &[&str]) -> Self {
        let mut workspace = Self::tiny(overrides);
        let text = std::fs::read_to_string(&workspace.file).unwrap();
        assert!(text.contains("model: llama_tiny.yaml"));
        workspace.file = workspace.dir.path().join("experiment.yaml");
        std::fs::write(&workspace.file, text.replace("llama_tiny.yaml", model)).unwrap();
        workspace
    }

    /// The same folder with further overrides.
    pub(crate) fn change(&mut self, overrides: &[&str]) {
        self.overrides
            .extend(overrides.iter().map(|one| (*one).to_owned()));
    }

    /// What it changes in its file, to be done elsewhere.
    pub(crate) fn overrides(&self) -> Vec<&str> {
        self.overrides.iter().map(String::as_str).collect()
    }

    /// The resolved experiment.
    pub(crate) fn experiment(&self) -> Experiment {
        let mut overrides = self.overrides.clone();
        overrides.push(format!("workspace={}", self.dir.path().display()));
        overrides.extend(["work_group=g".to_owned(), "user_name=u".to_owned()]);
        let roots = preset_roots(&[], &SystemEnv, Some(&root()));
        let options = Options {
            files: &SystemFiles,
            env: &SystemEnv,
            roots: &roots,
            overrides: &overrides,
            module: "pre_trainer",
        };
        let (resolved, diagnostics) = cairn_config::resolve(&self.file, &options);
        let resolved = resolved.unwrap_or_else(|| panic!("{diagnostics:?}"));
        let module = resolved.module().unwrap();
        Experiment {
            native: module.native.as_ref().unwrap().as_ref().clone(),
            record: resolved.to_record(),
            origins: Vec::new(),
        }
    }

    /// Where the run writes.
    pub(crate) fn run_dir(&self) -> PathBuf {
        PathBuf::from(self.experiment().native.meta.run_dir)
    }

    /// Where its checkpoints are.
    pub(crate) fn checkpoints(&self) -> PathBuf {
        self.run_dir().join("checkpoints")
    }

    /// The request to train.
    pub(crate) fn train_command(&self, how: How) -> Command {
        Command::Train(Box::new(Train {
            experiment: self.experiment(),
            resume: how.resume,
            device: how.gpu.map_or(Device::Cpu, |_| crate::gpu::device()),
            profile: Some(how.profile).filter(|steps| *steps > 0),
            detect_anomaly: how.detect_anomaly,
        }))
    }

    /// Trains to the end of the process.
    pub(crate) fn train(&self, how: How) -> Ended {
        let mut process = process(&self.train_command(how), how.threads);
        if let Some(arch) = how.gpu {
            process.env("CAIRN_SIM", format!("{arch}:1"));
            process.env("CAIRN_SIM_SEED", how.sim_seed.to_string());
            process.env("CAIRN_SIM_MEMORY", how.sim_memory.unwrap_or("4G"));
        }
        process.output().unwrap().into()
    }

    /// Trains, and the run has to be complete.
    pub(crate) fn complete(&self, how: How) -> Ended {
        let ended = self.train(how);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended
    }

    /// Starts a training and does not wait for it.
    pub(crate) fn start(&self, how: How) -> Child {
        start(&self.train_command(how), how.threads)
    }

    /// The lines of `metrics.jsonl` without what time decides.
    pub(crate) fn metrics(&self) -> Vec<Value> {
        metrics(&self.run_dir())
    }

    /// The newest checkpoint, whose hashes have to hold.
    pub(crate) fn newest(&self) -> Checkpoint {
        let (found, warnings) = checkpoint::load_latest(&self.checkpoints()).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        found.expect("a checkpoint")
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Ended {
    /// The one diagnostic that a failed command prints as JSON, the last line.
    pub(crate) fn diagnostic(&self) -> Value {
        let line = self.stderr.lines().next_back().unwrap_or_default();
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {}", self.stderr))
    }

    /// Exit code, diagnostic code, a part of the message and one of a hint.
    pub(crate) fn expect_error(&self, exit: i32, code: &str, message: &str, hint: &str) {
        assert_eq!(self.code, Some(exit), "{}", self.stderr);
        let diagnostic = self.diagnostic();
        assert_eq!(diagnostic["severity"], "error", "{diagnostic}");
        assert_eq!(diagnostic["code"], code, "{diagnostic}");
        assert!(
            diagnostic["message"].as_str().unwrap().contains(message),
            "{diagnostic}"
        );
        let hints = diagnostic["hints"].as_array().unwrap();
        assert!(
            hints.iter().any(|one| one.as_str().unwrap().contains(hint)),
            "{diagnostic}"
        );
    }
}

/// The engine with this request as its command line.
pub(crate) fn process(command: &Command, threads: usize) -> Process {
    let mut request = Request::new(Some(root()), Format::Json, command.clone());
    request.threads = Some(if threads == 0 { 2 } else { threads });
    let path = request.write_temporary().unwrap();
    let mut process = Process::new(env!("CARGO_BIN_EXE_cairn-train"));
    process.arg("--request").arg(path).stdin(Stdio::null());
    process
}

/// Runs the engine to its end.
pub(crate) fn run(command: &Command, threads: usize) -> Ended {
    process(command, threads).output().unwrap().into()
}

/// Starts the engine with what it prints caught.
pub(crate) fn start(command: &Command, threads: usize) -> Child {
    let mut process = process(command, threads);
    // A group of its own, so that a signal of the terminal does not reach it.
    process
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Sends a signal by its name, such as `TERM`.
pub(crate) fn signal(child: &Child, name: &str) {
    // The shell's own `kill`, since not every machine has the program.
    let line = format!("kill -s {name} {}", child.id());
    let status = Process::new("sh").args(["-c", &line]).status().unwrap();
    assert!(status.success(), "{line}");
}

/// Waits until `ready` holds; the process must not end before that.
pub(crate) fn wait_for(child: &mut Child, ready: impl Fn() -> bool) {
    while !ready() {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(ready(), "ended with {status} before what was waited for");
            return;
        }
        std::thread::yield_now();
    }
}

/// The lines of a run's `metrics.jsonl` without what time decides.
pub(crate) fn metrics(run_dir: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(run_dir.join("metrics.jsonl")).unwrap();
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut value: Value = serde_json::from_str(line).unwrap();
        let object = value.as_object_mut().unwrap();
        for key in ["tokens_per_s", "step_ms", "mem_bytes"] {
            object.shift_remove(key);
        }
        lines.push(value);
    }
    lines
}

/// The losses of a run's steps in order, as bits, after checking that every
/// step stands there exactly once.
pub(crate) fn losses(run_dir: &Path) -> Vec<f32> {
    let mut found = Vec::new();
    for line in metrics(run_dir) {
        if let Some(loss) = line.get("loss") {
            found.push(loss.as_f64().unwrap() as f32);
            assert_eq!(line["step"].as_u64(), Some(found.len() as u64), "{line}");
        }
    }
    found
}

/// Says which tensors of two checkpoints differ, or that nothing does.
pub(crate) fn assert_same_checkpoint(got: &Checkpoint, want: &Checkpoint, what: &str) {
    assert_eq!(got.step, want.step, "{what}");
    assert_eq!(got.records.len(), want.records.len(), "{what}");
    let mut wrong = String::new();
    for (got, want) in got.records.iter().zip(&want.records) {
        assert_eq!(
            (&got.name, got.dtype, &got.shape),
            (&want.name, want.dtype, &want.shape),
            "{what}"
        );
        if got.bytes != want.bytes {
            let _ = write!(wrong, " {}", got.name);
        }
    }
    assert!(wrong.is_empty(), "{what}: these tensors differ:{wrong}");
    assert_eq!(got.state, want.state, "{what}");
}

/// Every file below a folder with its bytes.
pub(crate) fn contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                all.insert(path.clone(), std::fs::read(&path).unwrap());
            }
        }
    }
    all
}
