//! Everything that can be wrong with data, with what a user needs to fix it.

use std::path::PathBuf;

use cairn_base::{Diagnostic, ExecError, FileError};

/// What is wrong with the data or its settings.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// A setting that cannot be right, whatever the data.
    #[error("`{key}` {reason}")]
    Setting {
        /// The setting.
        key: &'static str,
        /// Behind the key: what it must be or what it is.
        reason: String,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A program that was needed failed.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// A pattern of `paths` is no glob.
    #[error("`{pattern}` is no valid glob: {reason}")]
    BadGlob {
        /// As the user wrote it.
        pattern: String,
        /// What the glob parser says.
        reason: String,
    },
    /// A pattern of `paths` matches nothing.
    #[error("`{pattern}` matches no file")]
    NoMatch {
        /// As the user wrote it.
        pattern: String,
    },
    /// There are files, but no text in them.
    #[error("the corpus is empty: no text in {files} file(s)")]
    EmptyCorpus {
        /// Files read.
        files: usize,
    },
    /// A line that is no JSON object with a text.
    #[error("{}:{line}: {reason}", path.display())]
    JsonLine {
        /// The file.
        path: PathBuf,
        /// 1-based.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The packages of the workspace cannot be listed.
    #[error("cannot list the packages of this workspace: {reason}")]
    Packages {
        /// What Cargo says.
        reason: String,
    },
    /// Too few crates to hold one out.
    #[error("no crate can be held out: the corpus has only {crates}")]
    TooFewCrates {
        /// Crates in the corpus.
        crates: usize,
    },
    /// A tokenizer cannot be read, trained or used.
    #[error("cannot use the tokenizer {name}: {reason}")]
    Tokenizer {
        /// Its file, or its kind.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The tokenizer's vocabulary is not the model's.
    #[error(
        "the tokenizer {name} has {tokenizer} tokens, but the model's vocabulary has {model} entries"
    )]
    Vocabulary {
        /// Its file, or its kind.
        name: String,
        /// Its size.
        tokenizer: usize,
        /// The model's.
        model: usize,
    },
    /// A `.bin` or `.idx` file is damaged or is something else.
    #[error("{}: {problem}", path.display())]
    Megatron {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A token the model has no embedding for.
    #[error("{}: token {token} is outside the model's vocabulary of {vocab_size}", path.display())]
    TokenRange {
        /// The `.bin` file.
        path: PathBuf,
        /// The token.
        token: i64,
        /// The model's.
        vocab_size: usize,
    },
    /// Not enough tokens for one sequence.
    #[error(
        "the {split} data has {tokens} tokens, too few for one sequence of {seq_length} and its target"
    )]
    TooShort {
        /// `training` or `validation`.
        split: &'static str,
        /// Its tokens.
        tokens: u64,
        /// Tokens of a sequence.
        seq_length: usize,
    },
    /// The caller does not want to wait any longer.
    #[error("stopped while the data was prepared")]
    Stopped,
    /// A stored position that this data does not have.
    #[error("cannot resume at sequence {index}: the training data has only {sequences}")]
    Position {
        /// Index in the epoch.
        index: u64,
        /// Sequences in an epoch.
        sequences: u64,
    },
}

impl DataError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Setting { .. } => "data::setting",
            Self::File(_) => "data::file",
            Self::Exec(_) => "data::program",
            Self::BadGlob { .. } => "data::bad-glob",
            Self::NoMatch { .. } => "data::no-match",
            Self::EmptyCorpus { .. } => "data::empty-corpus",
            Self::JsonLine { .. } => "data::json-line",
            Self::Packages { .. } => "data::packages",
            Self::TooFewCrates { .. } => "data::too-few-crates",
            Self::Tokenizer { .. } => "data::tokenizer",
            Self::Vocabulary { .. } => "data::vocabulary",
            Self::Megatron { .. } => "data::megatron",
            Self::TokenRange { .. } => "data::token-range",
            Self::TooShort { .. } => "data::too-short",
            Self::Position { .. } => "data::position",
            Self::Stopped => "data::stopped",
        }
    }

    /// Exit code: 2 when what is to be read is wrong, 1 when what Cairn makes of
    /// it cannot be written.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::File(error) if !error.action.starts_with("read") && error.action != "map" => 1,
            Self::Stopped => 1,
            _ => 2,
        }
    }

    /// The form a user is shown, with a next step.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        let hint = match self {
            Self::File(error) if error.action == "read" => {
                let hint = "`data.paths` and `data.tokenizer` name the files to read, UTF-8 text";
                return error.diagnostic().hint(hint);
            }
            Self::File(error) => {
                let hint = "`data.cache_dir` names the folder for tokenised data; without it, it is below `workspace`";
                return error.diagnostic().hint(hint);
            }
            Self::Exec(error) => return error.diagnostic(),
            Self::Setting { key, .. } => format!("set `data.{key}` in the experiment"),
            Self::BadGlob { .. } => {
                "`*` matches within a folder name, `**` is a whole path component".to_owned()
            }
            Self::NoMatch { .. } => {
                "check `data.paths`; relative paths start at the current folder".to_owned()
            }
            Self::EmptyCorpus { .. } => "name files with text in `data.paths`".to_owned(),
            Self::JsonLine { .. } => {
                "each line is one JSON object; `data.text_key` names the text in it".to_owned()
            }
            Self::Packages { .. } => {
                "run `cargo fetch --locked` once with a network, or name files in `data.paths`"
                    .to_owned()
            }
            Self::TooFewCrates { .. } => "set `data.validation_fraction` to 0".to_owned(),
            Self::Tokenizer { .. } => {
                "use another `tokenizer.json`, or `tokenizer: {kind: bpe, vocab_size: N}`"
                    .to_owned()
            }
            Self::Vocabulary { tokenizer, .. } => {
                format!("set the model's `vocab_size: {tokenizer}`, or use the model's tokenizer")
            }
            Self::Megatron { .. } => {
                "write the pair again; both files must come from one run of the writer".to_owned()
            }
            Self::TokenRange { .. } => {
                "use the model these tokens were made for, or tokenise the text again".to_owned()
            }
            Self::TooShort {
                split: "validation",
                ..
            } => "raise `data.validation_fraction`, set it to 0, or lower `seq_length`".to_owned(),
            Self::TooShort { .. } => "lower `seq_length`, or add data".to_owned(),
            Self::Stopped => "the same command starts again".to_owned(),
            Self::Position { .. } => {
                "resume with the data, seq_length and tokenizer the checkpoint was written with"
                    .to_owned()
            }
        };
        Diagnostic::error(self.code(), self.to_string()).hint(hint)
    }
}

impl From<DataError> for Diagnostic {
    fn from(error: DataError) -> Self {
        error.diagnostic()
    }
}
