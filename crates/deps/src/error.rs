//! What can go wrong with third-party trees, and how it is told.

use std::path::PathBuf;

use cairn_base::{Diagnostic, ExecError, FileError, FileErrorKind, nearest};
use thiserror::Error;

use crate::nar::NarHash;

/// Why something could not be done.
#[derive(Debug, Error)]
pub enum DepsError {
    /// A message that is complete already: a manifest or lock that is wrong.
    #[error("{}", .0.message)]
    Wrong(Box<Diagnostic>),
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// A process.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// There is no git.
    #[error("git is needed to fetch sources, and there is none")]
    NoGit,
    /// A name the manifest does not have.
    #[error("there is no third-party project `{name}`")]
    UnknownName {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The manifest has it, the lock does not.
    #[error("`{name}` is not locked")]
    NotLocked {
        /// The project.
        name: String,
    },
    /// No source gave the revision.
    #[error("cannot fetch {name} at {rev}{}", list(tried))]
    Fetch {
        /// The project, with the submodule's path where it is one.
        name: String,
        /// The revision.
        rev: String,
        /// Each source and what it answered.
        tried: Vec<Attempt>,
    },
    /// The network may not be used and the revision is not here.
    #[error(
        "{name} at {rev} is not here, and `--offline` forbids the network{}",
        list(tried)
    )]
    Offline {
        /// The project.
        name: String,
        /// The revision.
        rev: String,
        /// Each local source and what it lacks.
        tried: Vec<Attempt>,
    },
    /// A tag or branch that cannot be resolved.
    #[error("{name} has no {what} at {url}")]
    NoReference {
        /// The project.
        name: String,
        /// Such as "branch `main`".
        what: String,
        /// Where, without credentials.
        url: String,
    },
    /// The bytes are not those that were locked.
    #[error("{part} has the hash {found}, the lock says {expected}")]
    Hash {
        /// Such as "the source of torchtitan".
        part: String,
        /// The project.
        name: String,
        /// What the lock says.
        expected: NarHash,
        /// What was computed.
        found: NarHash,
    },
    /// A patch that does not apply.
    #[error("the patch {patch} of {name} no longer applies: {}", place(*hunk, file, reason))]
    Patch {
        /// The project.
        name: String,
        /// The patch's file name.
        patch: String,
        /// The file it cannot change.
        file: String,
        /// The number of the hunk, from 1, where one is to blame.
        hunk: Option<usize>,
        /// What git said.
        reason: String,
    },
    /// Content that could do harm outside its tree.
    #[error("{name} is refused: `{path}` {reason}")]
    Hostile {
        /// The project.
        name: String,
        /// The path inside the tree.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The cache cannot be written and lacks something.
    #[error("the cache {} is read-only and has no {}", dir.display(), names.join(", "))]
    ReadOnly {
        /// The cache.
        dir: PathBuf,
        /// What it lacks.
        names: Vec<String>,
    },
    /// Something else is where the cache has its link.
    #[error("{} is in the way: the cache keeps a link there", path.display())]
    InTheWay {
        /// The place.
        path: PathBuf,
    },
    /// A tree that is not as locked.
    #[error("{name} in {} is not as locked{}", path.display(), changes_of(changes))]
    Changed {
        /// The project.
        name: String,
        /// Where it is.
        path: PathBuf,
        /// What differs, as far as that is known.
        changes: Vec<String>,
    },
    /// No tree anywhere.
    #[error("{name} is nowhere on this machine")]
    Missing {
        /// The project.
        name: String,
    },
    /// A bundle that holds something else.
    #[error("{} is no bundle of third-party trees: {reason}", path.display())]
    Bundle {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// An object store that lost something.
    #[error("the object store {} is damaged: {reason}", path.display())]
    Store {
        /// The store.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// A source that was asked and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The source, without credentials.
    pub from: String,
    /// What it answered.
    pub answer: Answer,
}

/// What a source that did not deliver answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is there and lacks the revision.
    Lacks,
    /// It is not there.
    NoRepository,
    /// It lacks objects it should have.
    Incomplete(String),
    /// It cannot be reached.
    Network(String),
    /// Something else.
    Other(String),
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Lacks => "does not have this revision".to_owned(),
            Self::NoRepository => "there is no repository".to_owned(),
            Self::Incomplete(said) => format!("is incomplete: {said}"),
            Self::Network(said) => format!("cannot be reached: {said}"),
            Self::Other(said) => said.clone(),
        }
    }
}

fn list(tried: &[Attempt]) -> String {
    let lines = tried
        .iter()
        .map(|attempt| format!("\n  {}: {}", attempt.from, attempt.answer.text()));
    lines.collect()
}

fn changes_of(changes: &[String]) -> String {
    const SHOWN: usize = 10;
    let mut text: String = changes
        .iter()
        .take(SHOWN)
        .map(|change| format!("\n  {change}"))
        .collect();
    if changes.len() > SHOWN {
        text.push_str(&format!("\n  and {} more", changes.len() - SHOWN));
    }
    text
}

fn place(hunk: Option<usize>, file: &str, reason: &str) -> String {
    match hunk {
        Some(hunk) => format!("hunk {hunk} of {file}: {reason}"),
        None => format!("{file}: {reason}"),
    }
}

impl From<Box<Diagnostic>> for DepsError {
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Self::Wrong(diagnostic)
    }
}

impl DepsError {
    /// Exit code: 2 when what was typed or the files are wrong, 1 when it failed.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Wrong(_) | Self::UnknownName { .. } | Self::Bundle { .. } => 2,
            Self::File(error) if error.action == "read" => 2,
            _ => 1,
        }
    }

    /// What the user is told.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        let message = self.to_string();
        match self {
            Self::Wrong(diagnostic) => (**diagnostic).clone(),
            Self::File(error) => file(error),
            Self::Exec(error) => error.diagnostic(),
            Self::NoGit => Diagnostic::error("deps::no-git", message)
                .hint("install git, or put the folder it is in on PATH")
                .hint("`cargo xtask deps import FILE` fills the cache from a bundle without git"),
            Self::UnknownName { name, known } => unknown(message, name, known),
            Self::NotLocked { name } => Diagnostic::error("deps::not-locked", message)
                .hint(format!("lock it: cargo xtask deps lock {name}")),
            Self::Fetch { name, tried, .. } => fetch(message, name, tried),
            Self::Offline { .. } => Diagnostic::error("deps::offline", message)
                .hint("sync once without `--offline`, or name a folder of bare repositories with `--mirror DIR`")
                .hint("on a machine with a network: cargo xtask deps bundle -o FILE; here: cargo xtask deps import FILE"),
            Self::NoReference { name, .. } => Diagnostic::error("deps::no-reference", message)
                .hint(format!("correct it in third_party/third_party.toml, or set a revision: cargo xtask deps update {name} --rev REV")),
            Self::Hash { name, .. } => Diagnostic::error("deps::hash", message)
                .hint("nothing was put into the cache; do not use this source before you know why it changed")
                .hint(format!("if the change is wanted: cargo xtask deps lock {name}")),
            Self::Patch { name, patch, .. } => Diagnostic::error("deps::patch", message)
                .hint(format!("make third_party/patches/{name}/{patch} anew for the locked revision, or drop it from third_party.toml"))
                .hint(format!("afterwards: cargo xtask deps lock {name}")),
            Self::Hostile { name, .. } => Diagnostic::error("deps::hostile", message)
                .hint(format!("choose another revision: cargo xtask deps update {name} --rev REV")),
            Self::ReadOnly { .. } => Diagnostic::error("deps::read-only", message)
                .hint("choose a cache that can be written: `--dir DIR` or CAIRN_THIRDPARTY_DIR"),
            Self::InTheWay { .. } => Diagnostic::error("deps::in-the-way", message)
                .hint("move it away, or choose another cache with `--dir DIR`"),
            Self::Changed { name, .. } => Diagnostic::error("deps::changed", message)
                .hint(format!("to have the locked tree back: cargo xtask deps sync {name}; a tree outside the cache is yours to restore"))
                .hint("to train on it as it is: `--allow-dirty`, which the run records"),
            Self::Missing { name } => Diagnostic::error("deps::missing", message)
                .hint(format!("fetch it: cargo xtask deps sync {name}")),
            Self::Bundle { .. } => Diagnostic::error("deps::bundle", message)
                .hint("make one with `cargo xtask deps bundle -o FILE`"),
            Self::Store { path, .. } => Diagnostic::error("deps::store", message)
                .hint(format!("remove {} and sync again", path.display())),
        }
    }
}

fn file(error: &FileError) -> Diagnostic {
    let diagnostic = error.diagnostic();
    match error.kind {
        FileErrorKind::Full | FileErrorKind::Permission | FileErrorKind::ReadOnly => {
            diagnostic.hint("the cache is chosen by `--dir DIR` or CAIRN_THIRDPARTY_DIR; what it holds already stays usable")
        }
        _ => diagnostic,
    }
}

fn unknown(message: String, name: &str, known: &[String]) -> Diagnostic {
    let diagnostic = Diagnostic::error("deps::unknown-name", message);
    match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => diagnostic.hint(format!("did you mean `{near}`?")),
        None => diagnostic.hint(format!("known are {}", known.join(", "))),
    }
}

fn fetch(message: String, name: &str, tried: &[Attempt]) -> Diagnostic {
    let all = |test: fn(&Answer) -> bool| tried.iter().all(|attempt| test(&attempt.answer));
    let any = |test: fn(&Answer) -> bool| tried.iter().any(|attempt| test(&attempt.answer));
    if all(|answer| matches!(answer, Answer::Lacks)) {
        Diagnostic::error("deps::no-revision", message)
            .hint(format!("the revision does not exist (any more); choose another: cargo xtask deps update {name} --rev REV"))
    } else if any(|answer| matches!(answer, Answer::Network(_))) {
        Diagnostic::error("deps::network", message)
            .hint("check the network and proxies, or name a mirror: `--mirror DIR_OR_URL`")
            .hint(
                "without a network: cargo xtask deps import FILE, made elsewhere by `deps bundle`",
            )
    } else {
        Diagnostic::error("deps::fetch", message)
            .hint("name another source with `--mirror DIR_OR_URL`, or bring a mirror up to date: git -C MIRROR remote update")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetch_with(answers: Vec<Answer>) -> &'static str {
        let tried = answers.into_iter().map(|answer| Attempt {
            from: "file:///m".to_owned(),
            answer,
        });
        let error = DepsError::Fetch {
            name: "a".to_owned(),
            rev: "0".to_owned(),
            tried: tried.collect(),
        };
        error.diagnostic().code
    }

    #[test]
    fn the_reason_for_a_failed_fetch_decides_the_next_step() {
        let network = || Answer::Network("no route".to_owned());
        assert_eq!(fetch_with(vec![Answer::Lacks]), "deps::no-revision");
        assert_eq!(fetch_with(vec![Answer::Lacks, network()]), "deps::network");
        assert_eq!(
            fetch_with(vec![Answer::Lacks, Answer::NoRepository]),
            "deps::fetch"
        );
    }
}
