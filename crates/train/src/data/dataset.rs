//! The data of a run, ready to be cut into batches.

use std::path::PathBuf;
use std::sync::Arc;

use cairn_base::Diagnostic;
use serde::{Deserialize, Serialize};

use super::batches::{BatchShape, Batches, EvalBatches, Position};
use super::settings::{Settings, SourceKind, TokenizerSettings};
use super::stream::TokenStream;
use super::tokenizer::Tokenizer;
use super::{DataError, shuffle};

mod build;
mod indexed;

/// Sequences an epoch of made-up data has, and how many are held out.
const MOCK_SEQUENCES: (u64, u64) = (1 << 16, 1 << 10);

/// What one side of the split holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitStats {
    /// Documents.
    pub documents: u64,
    /// Tokens, each document's end of text included.
    pub tokens: u64,
    /// Bytes of text; none where the source holds tokens.
    pub bytes: Option<u64>,
    /// Characters of text (Unicode scalar values), exactly.
    pub chars: Option<u64>,
}

impl SplitStats {
    /// Characters a token stands for, by which a loss per token becomes bits
    /// per character.
    #[must_use]
    pub fn chars_per_token(&self) -> Option<f64> {
        self.chars.map(|chars| chars as f64 / self.tokens as f64)
    }

    /// Bytes a token stands for.
    #[must_use]
    pub fn bytes_per_token(&self) -> Option<f64> {
        self.bytes.map(|bytes| bytes as f64 / self.tokens as f64)
    }

    /// Bits per character of a mean loss in nats per token.
    #[must_use]
    pub fn bits_per_char(&self, loss: f64) -> Option<f64> {
        self.chars_per_token()
            .map(|chars| loss / std::f64::consts::LN_2 / chars)
    }
}

/// Where the time went, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Timings {
    /// Listing and hashing the inputs.
    pub list: f64,
    /// Training or reading the tokenizer.
    pub tokenizer: f64,
    /// Encoding and writing the tokens.
    pub encode: f64,
}

/// The data of a run.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The training side.
    pub train: Arc<TokenStream>,
    /// The held-out side.
    pub validation: Option<Arc<TokenStream>>,
    /// None where tokens came without one.
    pub tokenizer: Option<Tokenizer>,
    /// Facts about the training side.
    pub train_stats: SplitStats,
    /// Facts about the held-out side.
    pub validation_stats: Option<SplitStats>,
    /// The crates held out, in order of their names.
    pub held_out: Vec<String>,
    /// Names the tokens and the split: a checkpoint's position is one in the
    /// data with this fingerprint.
    pub fingerprint: String,
    /// Where the tokens are cached, if they are.
    pub cache_dir: Option<PathBuf>,
    /// True when nothing had to be tokenised.
    pub cache_hit: bool,
    /// Where the time went.
    pub timings: Timings,
    /// What a user should know.
    pub notes: Vec<Diagnostic>,
    seq_length: usize,
    seed: u64,
}

impl Dataset {
    /// Lists, hashes, tokenises where the cache has no tokens, splits, and
    /// checks that both sides hold at least one sequence.
    ///
    /// # Errors
    /// Everything a [`DataError`] can say but a position.
    pub fn open(settings: &Settings) -> Result<Self, DataError> {
        Self::open_until(settings, &|| false)
    }

    /// As [`Dataset::open`], but gives up once `stop` holds: it is asked between
    /// pieces of the work. What is complete in the cache stays there.
    ///
    /// # Errors
    /// [`DataError::Stopped`], and those of [`Dataset::open`].
    pub fn open_until(settings: &Settings, stop: &dyn Fn() -> bool) -> Result<Self, DataError> {
        settings.check()?;
        let dataset = match settings.source {
            SourceKind::Text | SourceKind::Jsonl => build::open(settings, stop)?,
            SourceKind::Megatron => indexed::open(settings)?,
            SourceKind::Mock => mock(settings)?,
        };
        let shape = BatchShape::single(settings.seq_length, 1);
        Batches::new(Arc::clone(&dataset.train), shape, 0, Position::default())?;
        if let Some(validation) = &dataset.validation {
            EvalBatches::new(Arc::clone(validation), shape, None)?;
        }
        Ok(dataset)
    }

    /// Training batches of `micro_batch_size` sequences from a position on.
    ///
    /// # Errors
    /// A position this data does not have.
    pub fn batches(
        &self,
        micro_batch_size: usize,
        rank: usize,
        world_size: usize,
        position: Position,
    ) -> Result<Batches, DataError> {
        let shape = self.shape(micro_batch_size, rank, world_size);
        Batches::new(Arc::clone(&self.train), shape, self.seed, position)
    }

    /// At most `eval_iters` batches of held-out data, all of it for none; no
    /// batches where nothing is held out.
    ///
    /// # Errors
    /// Held-out data too short for one sequence.
    pub fn eval_batches(
        &self,
        micro_batch_size: usize,
        rank: usize,
        world_size: usize,
        eval_iters: Option<u64>,
    ) -> Result<Option<EvalBatches>, DataError> {
        let shape = self.shape(micro_batch_size, rank, world_size);
        let stream = self.validation.as_ref().map(Arc::clone);
        stream
            .map(|stream| EvalBatches::new(stream, shape, eval_iters))
            .transpose()
    }

    fn shape(&self, micro_batch_size: usize, rank: usize, world_size: usize) -> BatchShape {
        BatchShape {
            seq_length: self.seq_length,
            micro_batch_size,
            rank,
            world_size,
        }
    }
}

/// Made-up data: nothing to read, nothing to cache.
fn mock(settings: &Settings) -> Result<Dataset, DataError> {
    let stream = |sequences: u64, key: u64| {
        let tokens = sequences * settings.seq_length as u64 + 1;
        Arc::new(TokenStream::mock(tokens, settings.vocab_size, key))
    };
    let stats = |stream: &TokenStream| SplitStats {
        tokens: stream.tokens(),
        ..SplitStats::default()
    };
    let train = stream(MOCK_SEQUENCES.0, settings.seed);
    let held_out = settings.validation_fraction > 0.0;
    let validation = held_out.then(|| stream(MOCK_SEQUENCES.1, shuffle::mix(settings.seed) ^ 1));
    let (tokenizer, notes) = ready_tokenizer(settings)?;
    Ok(Dataset {
        train_stats: stats(&train),
        validation_stats: validation.as_deref().map(stats),
        train,
        validation,
        tokenizer,
        held_out: Vec::new(),
        fingerprint: format!("mock-{}-{}", settings.vocab_size, settings.seed),
        cache_dir: None,
        cache_hit: false,
        timings: Timings::default(),
        notes,
        seq_length: settings.seq_length,
        seed: settings.seed,
    })
}

/// The tokenizer of a source that holds tokens: only needed to show text.
fn ready_tokenizer(settings: &Settings) -> Result<(Option<Tokenizer>, Vec<Diagnostic>), DataError> {
    let tokenizer = match &settings.tokenizer {
        None => return Ok((None, Vec::new())),
        Some(TokenizerSettings::Bpe { .. }) => {
            let message = "no BPE tokenizer is trained, as the source holds tokens and no text";
            let hint =
                "remove `data.tokenizer`, or name the `tokenizer.json` the tokens were made with";
            return Ok((
                None,
                vec![Diagnostic::warning("data::no-text", message).hint(hint)],
            ));
        }
        Some(TokenizerSettings::Bytes) => Tokenizer::bytes(),
        Some(TokenizerSettings::File { path }) => Tokenizer::open(path)?,
    };
    tokenizer.check_vocabulary(settings.vocab_size)?;
    Ok((Some(tokenizer), Vec::new()))
}

#[cfg(test)]
#[path = "dataset/tests.rs"]
pub(super) mod tests;
