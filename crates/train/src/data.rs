//! From text to batches: sources, tokenizer, cache of tokenised shards, split,
//! deterministic shuffling and resumable batches. Knows nothing of the engine.
//!
//! [`Dataset::open`] does everything that has to be done before the first
//! batch; a second run finds the tokens in the cache and only maps them.

pub mod batches;
pub mod cache;
pub mod dataset;
pub mod error;
pub mod mapped;
pub mod megatron;
pub mod report;
pub mod settings;
pub mod shuffle;
pub mod source;
pub mod split;
pub mod stream;
pub mod tokenizer;

pub use batches::{Batch, BatchShape, Batches, EvalBatches, Position};
pub use dataset::{Dataset, SplitStats};
pub use error::DataError;
pub use report::{InspectReport, PrepareReport, inspect, prepare};
pub use settings::{Settings, SourceKind, TokenizerSettings};
pub use tokenizer::Tokenizer;
