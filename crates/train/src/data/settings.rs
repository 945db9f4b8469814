//! What decides the data of a run. The names are those of the experiment's
//! `data` section; the trainer fills them in.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::DataError;

/// The named source: the Rust code Cargo downloaded for this workspace.
pub const CARGO_REGISTRY: &str = "cargo-registry";

/// Kind of source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// Text files, one document each, or the named source `cargo-registry`.
    Text,
    /// One JSON object a line, one document each.
    Jsonl,
    /// Megatron's `.bin`/`.idx` pairs of tokens.
    Megatron,
    /// Generated tokens, for tests and measurements.
    Mock,
}

/// How text becomes tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TokenizerSettings {
    /// Byte-level BPE trained on the training side of the corpus.
    Bpe {
        /// Entries of the vocabulary, the end-of-text token included.
        vocab_size: usize,
    },
    /// A `tokenizer.json`.
    File {
        /// Where it is.
        path: PathBuf,
    },
    /// One token a byte, and one that ends a text: 257 entries.
    Bytes,
}

/// What decides the data of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Kind of source.
    pub source: SourceKind,
    /// Globs and files; prefixes of `.bin`/`.idx` pairs; or `cargo-registry`.
    pub paths: Vec<String>,
    /// Key of the text in a JSON line.
    pub text_key: String,
    /// How text becomes tokens; may be absent for `megatron` and `mock`.
    pub tokenizer: Option<TokenizerSettings>,
    /// Entries of the model's vocabulary: every token must be below it.
    pub vocab_size: usize,
    /// Share of the corpus held out for evaluation, in `[0, 1)`.
    pub validation_fraction: f64,
    /// Tokens in a training sequence.
    pub seq_length: usize,
    /// Key of the shuffling, and of generated tokens.
    pub seed: u64,
    /// Where tokenised shards are kept.
    pub cache_dir: PathBuf,
    /// The Cargo workspace that `cargo-registry` speaks of; none means the
    /// current folder's.
    pub workspace_root: Option<PathBuf>,
}

impl Settings {
    /// Checks what does not need the data.
    ///
    /// # Errors
    /// [`DataError::Setting`] for the first value that cannot be right.
    pub fn check(&self) -> Result<(), DataError> {
        let wrong = |key, reason: &str| {
            Err(DataError::Setting {
                key,
                reason: reason.to_owned(),
            })
        };
        if !(0.0..1.0).contains(&self.validation_fraction) {
            return wrong("validation_fraction", "must be at least 0 and below 1");
        }
        if self.seq_length == 0 {
            return wrong("seq_length", "must be at least 1");
        }
        if self.vocab_size == 0 || i32::try_from(self.vocab_size).is_err() {
            return wrong("vocab_size", "must be at least 1 and below 2^31");
        }
        if self.paths.is_empty() && self.source != SourceKind::Mock {
            return wrong("paths", "names no file");
        }
        let needs_tokenizer = matches!(self.source, SourceKind::Text | SourceKind::Jsonl);
        if needs_tokenizer && self.tokenizer.is_none() {
            return wrong("tokenizer", "is needed where the source is text");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dataset::tests::settings;

    #[test]
    fn each_impossible_setting_is_named() {
        type Change = fn(&mut Settings);
        let cases: [(&str, Change); 7] = [
            ("validation_fraction", |s| s.validation_fraction = 1.0),
            ("validation_fraction", |s| s.validation_fraction = f64::NAN),
            ("seq_length", |s| s.seq_length = 0),
            ("vocab_size", |s| s.vocab_size = 0),
            ("vocab_size", |s| s.vocab_size = 1 << 31),
            ("paths", |s| s.paths.clear()),
            ("tokenizer", |s| s.tokenizer = None),
        ];
        assert!(settings().check().is_ok());
        for (key, change) in cases {
            let mut wrong = settings();
            change(&mut wrong);
            match wrong.check() {
                Err(DataError::Setting { key: named, .. }) => assert_eq!(named, key),
                other => panic!("{key}: {other:?}"),
            }
        }
    }

    #[test]
    fn the_experiment_spelling_reads() {
        let bpe: TokenizerSettings =
            serde_json::from_str(r#"{"kind": "bpe", "vocab_size": 4096}"#).unwrap();
        assert_eq!(bpe, TokenizerSettings::Bpe { vocab_size: 4096 });
        let source: SourceKind = serde_json::from_str(r#""jsonl""#).unwrap();
        assert_eq!(source, SourceKind::Jsonl);
    }
}
