//! What `data prepare` and `data inspect` answer.

use std::path::PathBuf;

use serde::Serialize;

use super::batches::Position;
use super::dataset::{Dataset, SplitStats, Timings};
use super::settings::{Settings, SourceKind};
use super::{DataError, Tokenizer};

/// What one side of the split holds, with the ratios people ask for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SplitReport {
    /// The counts.
    #[serde(flatten)]
    pub stats: SplitStats,
    /// Sequences of an epoch.
    pub sequences: u64,
    /// Characters a token stands for.
    pub chars_per_token: Option<f64>,
    /// Bytes a token stands for.
    pub bytes_per_token: Option<f64>,
}

/// The tokenizer in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TokenizerReport {
    /// `bpe`, `bytes`, or its file.
    pub name: String,
    /// One more than its largest token.
    pub vocab_size: usize,
    /// The token that ends a text.
    pub end_of_text: u32,
}

/// The state of prepared data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PrepareReport {
    /// Kind of source.
    pub source: SourceKind,
    /// Names tokens and split.
    pub fingerprint: String,
    /// Where the tokens are cached, if they are.
    pub cache_dir: Option<PathBuf>,
    /// True when nothing had to be tokenised.
    pub cache_hit: bool,
    /// None where tokens came without one.
    pub tokenizer: Option<TokenizerReport>,
    /// The training side.
    pub train: SplitReport,
    /// The held-out side.
    pub validation: Option<SplitReport>,
    /// The crates held out.
    pub held_out: Vec<String>,
    /// Where the time went, in seconds.
    pub seconds: Timings,
}

/// A sequence as the model sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Example {
    /// Its first tokens.
    pub tokens: Vec<i32>,
    /// The text of all its tokens; none without a tokenizer.
    pub text: Option<String>,
}

/// Prepared data, with a look inside.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InspectReport {
    /// The counts.
    #[serde(flatten)]
    pub prepared: PrepareReport,
    /// The first sequences of the first epoch.
    pub examples: Vec<Example>,
}

/// Tokens an example shows.
const SHOWN_TOKENS: usize = 16;

/// Prepares the data, or finds that it is.
///
/// # Errors
/// As [`Dataset::open`].
pub fn prepare(settings: &Settings) -> Result<PrepareReport, DataError> {
    Ok(PrepareReport::new(settings, &Dataset::open(settings)?))
}

/// Prepares the data, and shows the first sequences a training would see.
///
/// # Errors
/// As [`Dataset::open`].
pub fn inspect(settings: &Settings, examples: usize) -> Result<InspectReport, DataError> {
    let dataset = Dataset::open(settings)?;
    let mut batches = dataset.batches(1, 0, 1, Position::default())?;
    let examples = (0..examples as u64).take_while(|index| *index < batches.sequences());
    let examples: Result<Vec<Example>, DataError> = examples
        .collect::<Vec<_>>()
        .into_iter()
        .map(|_| example(batches.next_batch()?.tokens, dataset.tokenizer.as_ref()))
        .collect();
    Ok(InspectReport {
        prepared: PrepareReport::new(settings, &dataset),
        examples: examples?,
    })
}

fn example(tokens: Vec<i32>, tokenizer: Option<&Tokenizer>) -> Result<Example, DataError> {
    // Tokens are never negative: reading refuses those.
    let ids: Vec<u32> = tokens.iter().map(|token| token.unsigned_abs()).collect();
    let text = tokenizer
        .map(|tokenizer| tokenizer.decode(&ids))
        .transpose()?;
    let tokens = tokens.into_iter().take(SHOWN_TOKENS).collect();
    Ok(Example { tokens, text })
}

impl PrepareReport {
    /// What there is to say about open data.
    #[must_use]
    pub fn new(settings: &Settings, dataset: &Dataset) -> Self {
        let split = |stats: SplitStats| SplitReport {
            stats,
            sequences: stats.tokens.saturating_sub(1) / settings.seq_length as u64,
            chars_per_token: stats.chars_per_token(),
            bytes_per_token: stats.bytes_per_token(),
        };
        Self {
            source: settings.source,
            fingerprint: dataset.fingerprint.clone(),
            cache_dir: dataset.cache_dir.clone(),
            cache_hit: dataset.cache_hit,
            tokenizer: dataset.tokenizer.as_ref().map(|tokenizer| TokenizerReport {
                name: tokenizer.name().to_owned(),
                vocab_size: tokenizer.vocab_size(),
                end_of_text: tokenizer.end_of_text(),
            }),
            train: split(dataset.train_stats),
            validation: dataset.validation_stats.map(split),
            held_out: dataset.held_out.clone(),
            seconds: dataset.timings,
        }
    }
}
