//! Writing in the background: training goes on while a snapshot, taken by
//! value, goes to disk.

use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use cairn_base::files::{self, Lock};
use cairn_base::{Diagnostic, Severity};

use super::{CheckpointError, Options, Snapshot, load, retention, save_now};

/// File in the `checkpoints` folder that the one process training there locks.
const LOCK_NAME: &str = ".lock";

type Outcome = Result<PathBuf, CheckpointError>;

/// Owner of a run's `checkpoints` folder. At most one checkpoint is being
/// written; the next save waits for it. A failure is reported by the call that
/// follows it, and the failed checkpoint is not tried again.
#[derive(Debug)]
pub struct CheckpointWriter {
    dir: PathBuf,
    options: Options,
    in_flight: Option<(u64, JoinHandle<Outcome>)>,
    last_saved: Option<PathBuf>,
    warnings: Vec<Diagnostic>,
    /// Held while the writer lives: a second process would clear what this one
    /// is writing.
    _lock: Lock,
}

impl CheckpointWriter {
    /// Creates `dir` if needed, locks it, and clears what a killed run left in
    /// it. The diagnostics are notes about what was found.
    ///
    /// # Errors
    /// When the folder cannot be created, read or cleared, or another process
    /// has it open.
    pub fn open(dir: &Path, options: Options) -> Result<(Self, Vec<Diagnostic>), CheckpointError> {
        let at = |source| CheckpointError::Folder {
            path: dir.to_path_buf(),
            source,
        };
        files::create_dir_all(dir).map_err(at)?;
        if let Some(parent) = dir.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            files::sync_dir(parent).map_err(at)?;
        }
        let lock = Lock::try_acquire(&dir.join(LOCK_NAME)).map_err(at)?;
        let notes = retention::recover(dir).map_err(at)?;
        let writer = Self {
            dir: dir.to_path_buf(),
            options,
            in_flight: None,
            last_saved: None,
            warnings: Vec::new(),
            _lock: lock,
        };
        Ok((writer, notes))
    }

    /// Starts writing `snapshot` and returns once the previous one is complete.
    ///
    /// # Errors
    /// The previous save's failure; `snapshot` is written all the same.
    pub fn save(&mut self, snapshot: Snapshot) -> Result<(), CheckpointError> {
        let previous = self.wait().map(|_| ());
        let step = snapshot.step;
        let (dir, options) = (self.dir.clone(), self.options);
        let handle = std::thread::Builder::new()
            .name(format!("checkpoint-{step}"))
            .spawn(move || save_now(&dir, &snapshot, &options))
            .map_err(|error| CheckpointError::Writer {
                step,
                reason: error.to_string(),
            })?;
        self.in_flight = Some((step, handle));
        previous
    }

    /// Writes `snapshot` on the calling thread, once the previous one is
    /// complete: nothing has to be copied for it.
    ///
    /// # Errors
    /// The previous save's failure, after which this one is tried all the same;
    /// or its own.
    pub fn save_here<B: AsRef<[u8]>>(
        &mut self,
        snapshot: &Snapshot<B>,
    ) -> Result<(), CheckpointError> {
        let previous = self.wait().map(|_| ());
        let outcome = save_now(&self.dir, snapshot, &self.options);
        let here = self.settle(outcome).map(|_| ());
        // The first failure is the one that names the cause.
        previous.and(here)
    }

    /// Waits for the checkpoint being written, if any, and gives its path.
    ///
    /// # Errors
    /// Its failure.
    pub fn wait(&mut self) -> Result<Option<&Path>, CheckpointError> {
        let Some((step, handle)) = self.in_flight.take() else {
            return Ok(None);
        };
        let outcome = handle.join().unwrap_or_else(|payload| {
            Err(CheckpointError::Writer {
                step,
                reason: panic_text(payload.as_ref()),
            })
        });
        self.settle(outcome)
    }

    /// Takes note of how a save ended.
    fn settle(&mut self, outcome: Outcome) -> Result<Option<&Path>, CheckpointError> {
        let path = match outcome {
            Ok(path) => path,
            Err(error) => {
                let CheckpointError::Purge { path, .. } = &error else {
                    return Err(error);
                };
                // The checkpoint itself is complete: no reason to stop a run.
                let mut warning = error.diagnostic(None);
                warning.severity = Severity::Warning;
                self.warnings.push(warning);
                path.clone()
            }
        };
        self.last_saved = Some(path);
        Ok(self.last_saved.as_deref())
    }

    /// Warnings since the last call: older checkpoints that could not be
    /// deleted, which the next save tries again.
    pub fn take_warnings(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.warnings)
    }

    /// Waits for the last checkpoint and ends. Gives the newest one this writer
    /// completed.
    ///
    /// # Errors
    /// The last save's failure.
    pub fn finish(mut self) -> Result<Option<PathBuf>, CheckpointError> {
        self.wait()?;
        Ok(self.last_saved.take())
    }

    /// The newest complete checkpoint of the folder, for a message: this
    /// writer's own if it wrote one, else the newest whose hashes hold.
    #[must_use]
    pub fn last_good(&self) -> Option<PathBuf> {
        self.last_saved
            .clone()
            .or_else(|| load::find_latest(&self.dir).ok()?.path)
    }
}

impl Drop for CheckpointWriter {
    /// A checkpoint that was begun is completed even when training fails.
    fn drop(&mut self) {
        if let Err(error) = self.wait() {
            crate::console::diagnostic(&error.diagnostic(None));
        }
    }
}

fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| {
            payload
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
        })
        .unwrap_or_else(|| "unknown panic".to_owned())
}
