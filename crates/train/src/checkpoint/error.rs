//! What can go wrong with a checkpoint, and what the user is told about it.

use std::path::{Path, PathBuf};

use cairn_base::{Diagnostic, FileError, FileErrorKind, Severity};
use thiserror::Error;

/// Why a checkpoint could not be written or read.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// The folder for checkpoints cannot be created, locked or cleared.
    #[error("cannot use the checkpoint folder {}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The cause, with the file it happened at.
        source: FileError,
    },
    /// Writing failed; the partial directory was removed again.
    #[error("checkpoint {} was not written: {source}", path.display())]
    Write {
        /// The checkpoint that was to be.
        path: PathBuf,
        /// The cause, with the file it happened at.
        source: FileError,
    },
    /// The checkpoint is complete, but an older one could not be deleted.
    #[error("checkpoint {} is complete, but an older one was not deleted: {source}", path.display())]
    Purge {
        /// The complete checkpoint.
        path: PathBuf,
        /// The cause, with the folder it happened at.
        source: FileError,
    },
    /// Reading failed before anything could be judged.
    #[error(transparent)]
    Read(#[from] FileError),
    /// The files are there but are not what was written.
    #[error("checkpoint {} is damaged: {reason}", path.display())]
    Damaged {
        /// The checkpoint.
        path: PathBuf,
        /// What does not hold, with the file it was found in.
        reason: String,
    },
    /// The manifest was written by another version of the format.
    #[error("checkpoint {} has format version {found}, this program reads {supported}", path.display())]
    Version {
        /// The checkpoint.
        path: PathBuf,
        /// The version it states.
        found: u64,
        /// The version read here.
        supported: u64,
    },
    /// No complete checkpoint in a folder that should have one.
    #[error("no complete checkpoint in {}", path.display())]
    None {
        /// The folder looked in.
        path: PathBuf,
    },
    /// A file where a folder is wanted.
    #[error("{} is a file; a checkpoint is a folder, and so is a run", path.display())]
    NotAFolder {
        /// What was named.
        path: PathBuf,
    },
    /// A record contradicts itself or another one.
    #[error("tensor `{name}` cannot be saved: {reason}")]
    Record {
        /// The tensor.
        name: String,
        /// The contradiction.
        reason: String,
    },
    /// The tensors are not the ones the model wants.
    #[error("checkpoint {} belongs to another architecture: {}", path.display(), differences.join("; "))]
    Mismatch {
        /// The checkpoint.
        path: PathBuf,
        /// One sentence for each difference shown; the last may count the rest.
        differences: Vec<String>,
    },
    /// The background writer could not be started, or panicked.
    #[error("the checkpoint writer for step {step} failed: {reason}")]
    Writer {
        /// The step it was to write.
        step: u64,
        /// The panic message or the system's refusal.
        reason: String,
    },
}

impl CheckpointError {
    pub(super) fn damaged(path: &Path, reason: impl Into<String>) -> Self {
        Self::Damaged {
            path: path.to_path_buf(),
            reason: reason.into(),
        }
    }

    /// True when the medium has no room left (disk, quota or file size limit).
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Write { source, .. } | Self::Folder { source, .. } if source.kind == FileErrorKind::Full)
    }

    /// The form shown to people. `last_good` is named in the hint when known.
    #[must_use]
    pub fn diagnostic(&self, last_good: Option<&Path>) -> Diagnostic {
        let (code, hint) = match self {
            Self::Write { source, .. } | Self::Folder { source, .. } => match source.kind {
                FileErrorKind::Full => (
                    "checkpoint::disk-full",
                    "free space, or set `workspace` to a disk with room, then run again with --resume",
                ),
                FileErrorKind::Locked => (
                    "checkpoint::in-use",
                    "wait for the other process to end, stop it, or choose another `exp_name`",
                ),
                FileErrorKind::Other => (
                    "checkpoint::write",
                    "remove the cause, then run again with --resume",
                ),
                _ => (
                    "checkpoint::not-writable",
                    "make the folder writable, or set `workspace` to one that is, then run again with --resume",
                ),
            },
            Self::Purge { .. } => ("checkpoint::purge", "delete it by hand to free its space"),
            Self::Read(_) => ("checkpoint::read", "check the path and its permissions"),
            Self::Damaged { .. } => (
                "checkpoint::damaged",
                "use an older checkpoint, or copy this one again from its source",
            ),
            Self::Version { .. } => (
                "checkpoint::version",
                "read it with the version of Cairn that wrote it",
            ),
            Self::None { .. } => (
                "checkpoint::none",
                "run without --resume to start from step 0, or check `workspace` and `exp_name`",
            ),
            Self::NotAFolder { .. } => (
                "checkpoint::not-a-folder",
                "name a run directory, or one of its `checkpoints/step-...` folders",
            ),
            Self::Record { .. } => (
                "checkpoint::record",
                "this is a fault in Cairn; please report it",
            ),
            Self::Mismatch { .. } => (
                "checkpoint::architecture",
                "use the experiment stored in the checkpoint's manifest.json, or choose another `exp_name`",
            ),
            Self::Writer { .. } => (
                "checkpoint::writer",
                "run again with --resume; if it happens again, please report it",
            ),
        };
        let diagnostic = Diagnostic::error(code, self.to_string()).hint(hint);
        match last_good {
            Some(path) => {
                diagnostic.hint(format!("the last good checkpoint is {}", path.display()))
            }
            None => diagnostic,
        }
    }

    /// The same as a warning: this checkpoint was passed over.
    #[must_use]
    pub fn skipped(&self) -> Diagnostic {
        let mut diagnostic = self.diagnostic(None);
        diagnostic.severity = Severity::Warning;
        diagnostic.message = format!("skipping a checkpoint: {self}");
        diagnostic.hints = vec!["an older complete checkpoint is used if there is one".into()];
        diagnostic
    }
}
