//! What is asked of the engine: one JSON document that `cargo xtask` writes
//! after checking the command line, and that `cairn-train` reads. Everything
//! in it is decided; the engine parses no arguments and resolves no files.

use std::io;
use std::path::{Path, PathBuf};

use cairn_base::files::{self, FileError};
use cairn_config::native::NativeExperiment;
use serde::{Deserialize, Serialize};

/// The version written and understood here. It changes with every change of
/// meaning, so that an engine of another build refuses instead of guessing.
pub const VERSION: u32 = 2;

/// One command for the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// [`VERSION`] of the writer.
    pub version: u32,
    /// The checkout this belongs to: where the data source `cargo-registry`
    /// finds its packages. Absent outside a checkout.
    pub project: Option<PathBuf>,
    /// The form of the answer on stdout, and of diagnostics on stderr.
    pub format: Format,
    /// Threads of the CPU engine; `None` leaves it to `CAIRN_THREADS`.
    pub threads: Option<usize>,
    /// What to do.
    pub command: Command,
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// Everything the engine can be asked to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum Command {
    /// Train a model.
    Train(Box<Train>),
    /// Make an experiment's corpus, tokenizer and tokenised shards.
    DataPrepare(Box<DataPrepare>),
    /// Describe a corpus.
    DataInspect(Box<DataInspect>),
    /// List the checkpoints of a run.
    CkptList(CkptList),
    /// Describe one checkpoint.
    CkptInspect(CkptInspect),
    /// Write a checkpoint in the Hugging Face layout.
    CkptExport(CkptExport),
    /// Make a checkpoint from a model in the Hugging Face layout.
    CkptImport(Box<CkptImport>),
    /// Write a run's HTML report.
    Report(Report),
    /// Print parameters, FLOPs and memory of an experiment.
    PlanEstimate(Box<PlanEstimate>),
    /// Measure speed.
    Bench(Box<Bench>),
    /// Run a kernel on the simulator.
    SimRun(Box<SimRun>),
    /// Run it and write an annotated listing.
    SimProfile(Box<SimProfile>),
    /// List what the simulator does not execute.
    SimUnsupported(SimUnsupported),
    /// Measure the speed of the simulator.
    SimBench(SimBench),
}

/// Arguments of [`Command::SimRun`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimRun {
    /// The code object.
    pub object: PathBuf,
    /// The kernel; may be left out where there is only one.
    pub kernel: Option<String>,
    /// Workgroups in x, y and z.
    pub grid: [u32; 3],
    /// Work-items of a workgroup in x, y and z.
    pub workgroup: [u32; 3],
    /// LDS beside what the kernel declares.
    pub dynamic_lds: u32,
    /// The arguments, in order, as the simulator reads them.
    pub arguments: Vec<String>,
    /// Which faults are looked for: `default`, `all` or `none`.
    pub checks: String,
    /// Matrix instructions accumulate in f32 instead of exactly.
    pub fast: bool,
    /// Order of workgroups and waves, and what is in registers at first.
    pub seed: u64,
    /// Runs, each with the next seed; all must give the same bits.
    pub repeats: u32,
    /// Most instructions of a wave.
    pub budget: u64,
}

/// Arguments of [`Command::SimProfile`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimProfile {
    /// What to run.
    pub run: SimRun,
    /// Where to write the listing as text.
    pub text: Option<PathBuf>,
    /// Where to write it as HTML.
    pub html: Option<PathBuf>,
}

/// Arguments of [`Command::SimUnsupported`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimUnsupported {
    /// The architecture.
    pub arch: String,
}

/// Arguments of [`Command::SimBench`]: square products by the kernels of Cairn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimBench {
    /// The code object that has `gemm_bf16_nn`, `gemm_bf16_nt` and `gemm_bf16_tn`.
    pub bf16: PathBuf,
    /// The code object that has `gemm_f32_nn`.
    pub f32: PathBuf,
    /// Rows and columns of the bf16 matrices; those in f32 have half as many.
    pub size: u32,
    /// How often each is run.
    pub repeats: usize,
}

/// An experiment in the forms the engine needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Checked and typed.
    pub native: NativeExperiment,
    /// The whole resolved experiment, to be kept beside every artefact.
    pub record: serde_json::Value,
    /// Each parameter with the place it was decided, in the order of the
    /// experiment, for the report.
    pub origins: Vec<KeyOrigin>,
}

/// A parameter and where it was decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeyOrigin {
    /// Dotted key.
    pub key: String,
    /// Its value.
    pub value: serde_json::Value,
    /// `file:line`, `<command line>` or the like.
    pub origin: String,
}

/// Arguments of [`Command::Train`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Train {
    /// What to train.
    pub experiment: Experiment,
    /// Go on from the newest complete checkpoint, if there is one.
    pub resume: bool,
    /// Where.
    pub device: Device,
    /// Record a trace of this many steps.
    pub profile: Option<u32>,
    /// Look for NaN and infinity after each operator.
    pub detect_anomaly: bool,
}

/// Where a run computes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Device {
    /// On the CPU.
    Cpu,
    /// On an AMD GPU, or a simulated one.
    Hip(Hip),
}

/// An AMD GPU, and what it is used through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hip {
    /// Its number.
    pub ordinal: i32,
    /// The folder of built kernels.
    pub kernels: PathBuf,
    /// Folders that are looked through for HIP before the loader's own.
    pub libraries: Vec<PathBuf>,
    /// Operators without a kernel run on the CPU instead of being refused.
    pub cpu_fallback: bool,
}

/// Arguments of [`Command::DataPrepare`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataPrepare {
    /// Whose `data` section counts.
    pub experiment: Experiment,
    /// Also write the tokens as `<prefix>_train.bin/.idx` and
    /// `<prefix>_validation.bin/.idx` in Megatron's format.
    pub megatron_prefix: Option<PathBuf>,
}

/// Arguments of [`Command::DataInspect`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataInspect {
    /// What to describe.
    pub target: DataTarget,
    /// How many documents to show the beginning of.
    pub show: usize,
}

/// A corpus to describe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataTarget {
    /// The corpus of an experiment, prepared if need be.
    Experiment(Box<Experiment>),
    /// A Megatron data set: the path of its `.idx` or `.bin`, or their prefix.
    Megatron(PathBuf),
}

/// Arguments of [`Command::CkptList`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CkptList {
    /// The run directory.
    pub run_dir: PathBuf,
}

/// Arguments of [`Command::CkptInspect`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CkptInspect {
    /// A checkpoint, or a run directory for its newest complete one.
    pub path: PathBuf,
    /// Check the hash of every file.
    pub verify: bool,
}

/// Arguments of [`Command::CkptExport`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CkptExport {
    /// A checkpoint, or a run directory for its newest complete one.
    pub path: PathBuf,
    /// The folder to write `config.json`, `model*.safetensors` and the
    /// tokenizer to. Must not exist, or be empty.
    pub to: PathBuf,
    /// Element type of the written weights: `f32` or `bf16`.
    pub dtype: String,
}

/// Arguments of [`Command::CkptImport`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CkptImport {
    /// A folder with `config.json` and `model*.safetensors`.
    pub from: PathBuf,
    /// The experiment that goes on from these weights: its model must be of
    /// the same shape; the checkpoint of step 0 goes to its run directory.
    pub experiment: Experiment,
}

/// Arguments of [`Command::Report`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The run directory.
    pub run_dir: PathBuf,
    /// Where to write the page; `report.html` in the run directory without.
    pub output: Option<PathBuf>,
}

/// Arguments of [`Command::PlanEstimate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanEstimate {
    /// What to estimate.
    pub experiment: Experiment,
}

/// Arguments of [`Command::Bench`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bench {
    /// What to measure.
    pub subject: BenchSubject,
    /// How often; the best and the median are reported.
    pub repeats: usize,
    /// Measure this beside it, interleaved.
    pub peer: Option<Peer>,
}

/// What a benchmark measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BenchSubject {
    /// Training steps of an experiment on its own data shape.
    Train {
        /// What to train.
        experiment: Box<Experiment>,
        /// Steps in each repeat.
        steps: usize,
        /// The whole training instead, beside the peer's of the same tokens.
        whole: bool,
    },
    /// Matrix products.
    Gemm {
        /// M, N and K of each product.
        shapes: Vec<[usize; 3]>,
        /// Element types of the operands, such as `f32` and `bf16`.
        dtypes: Vec<String>,
    },
    /// One layer of a model on a simulated GPU: what each kernel does, and its time by the
    /// cycle model.
    Roofline {
        /// Whose model.
        experiment: Box<Experiment>,
        /// The simulated GPU.
        device: Hip,
    },
}

/// Another implementation to measure against.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Peer {
    /// `PyTorch`, in eager mode.
    Torch {
        /// The Python that has it.
        python: PathBuf,
    },
}

/// A request that cannot be passed on or read.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// Its file cannot be written or read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is no request.
    #[error("{} holds no request: {source}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// It was written by another build.
    #[error("the request has version {found}, this engine understands {VERSION}")]
    Version {
        /// The version it has.
        found: u64,
    },
}

impl Request {
    /// A request of this version.
    #[must_use]
    pub fn new(project: Option<PathBuf>, format: Format, command: Command) -> Self {
        Self {
            version: VERSION,
            project,
            format,
            threads: None,
            command,
        }
    }

    /// Writes the request to a new temporary file that only this user can
    /// read. Whoever reads it deletes it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_temporary(&self) -> Result<PathBuf, RequestError> {
        let dir = std::env::temp_dir();
        let failed = |error: io::Error| FileError::new("write", &dir, error);
        let mut file = tempfile::Builder::new()
            .prefix("cairn-request-")
            .suffix(".json")
            .tempfile_in(&dir)
            .map_err(failed)?;
        serde_json::to_writer(&mut file, self).map_err(|error| failed(error.into()))?;
        let (_, path) = file.keep().map_err(|error| failed(error.error))?;
        Ok(path)
    }

    /// Reads a request and deletes its file.
    ///
    /// # Errors
    /// When the file cannot be read, holds no request, or one of another
    /// version. It is left in place then, for a look at it.
    pub fn take(path: &Path) -> Result<Self, RequestError> {
        let request = Self::parse(path, &files::read(path)?)?;
        std::fs::remove_file(path).map_err(|error| FileError::new("remove", path, error))?;
        Ok(request)
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Self, RequestError> {
        let malformed = |source| RequestError::Malformed {
            path: path.to_path_buf(),
            source,
        };
        let value: serde_json::Value = serde_json::from_slice(bytes).map_err(malformed)?;
        // The version comes first: another version may have other fields.
        match value.get("version").and_then(serde_json::Value::as_u64) {
            Some(found) if found != u64::from(VERSION) => Err(RequestError::Version { found }),
            _ => serde_json::from_value(value).map_err(malformed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        let command = Command::CkptList(CkptList {
            run_dir: "output/a/b/c".into(),
        });
        Request::new(Some("/project".into()), Format::Json, command)
    }

    #[test]
    fn a_request_travels_in_a_private_file_and_is_taken_once() {
        use std::os::unix::fs::PermissionsExt;
        let path = request().write_temporary().unwrap();
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(Request::take(&path).unwrap(), request());
        assert!(!path.exists());
        assert!(matches!(Request::take(&path), Err(RequestError::File(_))));
    }

    #[test]
    fn another_version_or_form_is_refused() {
        let path = Path::new("request.json");
        let mut other = serde_json::to_value(request()).unwrap();
        other["version"] = 99.into();
        let parsed = Request::parse(path, other.to_string().as_bytes());
        assert!(matches!(parsed, Err(RequestError::Version { found: 99 })));
        let bare = format!("{{\"version\":{VERSION}}}");
        for text in ["", "{}", &bare, "[1]"] {
            let parsed = Request::parse(path, text.as_bytes());
            assert!(
                matches!(parsed, Err(RequestError::Malformed { .. })),
                "{text}"
            );
        }
    }
}
