//! Sequences in a shuffled order, cut into batches, from any position on.
//!
//! Sequence `i` of a split is the tokens `[i * S, i * S + S]`: `S` inputs and,
//! one further, their targets; neighbours share one token, so each is a target
//! once. The order of an epoch is a permutation given by seed and epoch. It is
//! the order of all ranks together: the sequences of a global batch are the
//! same however it is divided into ranks and micro batches.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::DataError;
use super::shuffle::Permutation;
use super::stream::TokenStream;

/// The order in which evaluation walks through the held-out data: spread over
/// all of it, and the same for every run.
const EVAL_SEED: u64 = 0;

/// Inputs and targets, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// `[micro_batch_size, seq_length]`.
    pub tokens: Vec<i32>,
    /// `[micro_batch_size, seq_length]`: the token behind each.
    pub targets: Vec<i32>,
}

/// How batches are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchShape {
    /// Tokens of a sequence.
    pub seq_length: usize,
    /// Sequences of a batch.
    pub micro_batch_size: usize,
    /// Which of the data-parallel ranks this is.
    pub rank: usize,
    /// How many there are.
    pub world_size: usize,
}

impl BatchShape {
    /// The shape for one rank alone.
    #[must_use]
    pub fn single(seq_length: usize, micro_batch_size: usize) -> Self {
        Self {
            seq_length,
            micro_batch_size,
            rank: 0,
            world_size: 1,
        }
    }

    /// Sequences that all ranks take together.
    fn stride(&self) -> u64 {
        self.micro_batch_size as u64 * self.world_size as u64
    }
}

/// Where the next batch starts; the same on all ranks. Part of a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Passes over the data that are complete.
    pub epoch: u64,
    /// Sequences of this pass that have been taken.
    pub index: u64,
}

/// Training batches, without end.
#[derive(Clone, Debug)]
pub struct Batches {
    sequences: Sequences,
    shape: BatchShape,
    seed: u64,
    position: Position,
}

impl Batches {
    /// Batches of a stream from a position on.
    ///
    /// # Errors
    /// A stream too short for one sequence; a position it does not have.
    pub fn new(
        stream: Arc<TokenStream>,
        shape: BatchShape,
        seed: u64,
        position: Position,
    ) -> Result<Self, DataError> {
        let sequences = Sequences::new(stream, shape.seq_length, "training")?;
        if position.index >= sequences.count {
            return Err(DataError::Position {
                index: position.index,
                sequences: sequences.count,
            });
        }
        Ok(Self {
            sequences,
            shape,
            seed,
            position,
        })
    }

    /// The next batch.
    ///
    /// # Errors
    /// A token outside the vocabulary. The position does not move then.
    pub fn next_batch(&mut self) -> Result<Batch, DataError> {
        let skipped = self.shape.rank as u64 * self.shape.micro_batch_size as u64;
        let mut at = self.moved(skipped);
        let mut rows = Rows::new(&self.sequences, self.shape.micro_batch_size);
        for _ in 0..self.shape.micro_batch_size {
            let order = Permutation::new(self.sequences.count, self.seed, at.epoch);
            rows.push(order.at(at.index))?;
            at = at.moved(1, self.sequences.count);
        }
        self.position = self.moved(self.shape.stride());
        Ok(rows.batch)
    }

    /// Where the next batch starts.
    #[must_use]
    pub fn position(&self) -> Position {
        self.position
    }

    /// Sequences of an epoch.
    #[must_use]
    pub fn sequences(&self) -> u64 {
        self.sequences.count
    }

    fn moved(&self, by: u64) -> Position {
        self.position.moved(by, self.sequences.count)
    }
}

impl Position {
    fn moved(self, by: u64, sequences: u64) -> Self {
        let index = self.index + by;
        Self {
            epoch: self.epoch + index / sequences,
            index: index % sequences,
        }
    }
}

/// Evaluation batches: always the same ones in the same order.
#[derive(Clone, Debug)]
pub struct EvalBatches {
    sequences: Sequences,
    order: Permutation,
    shape: BatchShape,
    count: u64,
}

impl EvalBatches {
    /// At most `eval_iters` batches (all of the data for none), each rank a
    /// share of its own. No sequence comes twice, except that data with fewer
    /// sequences than one batch of all ranks fills it by repetition.
    ///
    /// # Errors
    /// A stream too short for one sequence.
    pub fn new(
        stream: Arc<TokenStream>,
        shape: BatchShape,
        eval_iters: Option<u64>,
    ) -> Result<Self, DataError> {
        let sequences = Sequences::new(stream, shape.seq_length, "validation")?;
        let order = Permutation::new(sequences.count, EVAL_SEED, 0);
        let available = (sequences.count / shape.stride()).max(1);
        Ok(Self {
            sequences,
            order,
            shape,
            count: eval_iters.map_or(available, |wanted| wanted.min(available)),
        })
    }

    /// Number of batches.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Batch `index`, from 0 on.
    ///
    /// # Errors
    /// A token outside the vocabulary.
    pub fn batch(&self, index: u64) -> Result<Batch, DataError> {
        let rows = self.shape.micro_batch_size as u64;
        let first = index * self.shape.stride() + self.shape.rank as u64 * rows;
        let mut batch = Rows::new(&self.sequences, self.shape.micro_batch_size);
        for row in first..first + rows {
            batch.push(self.order.at(row % self.sequences.count))?;
        }
        Ok(batch.batch)
    }

    /// All batches in order.
    pub fn iter(&self) -> impl Iterator<Item = Result<Batch, DataError>> + '_ {
        (0..self.count).map(|index| self.batch(index))
    }
}

/// A stream cut into sequences.
#[derive(Clone, Debug)]
struct Sequences {
    stream: Arc<TokenStream>,
    seq_length: usize,
    count: u64,
}

impl Sequences {
    fn new(
        stream: Arc<TokenStream>,
        seq_length: usize,
        split: &'static str,
    ) -> Result<Self, DataError> {
        let tokens = stream.tokens();
        let count = tokens.saturating_sub(1) / (seq_length as u64).max(1);
        if count == 0 || seq_length == 0 {
            return Err(DataError::TooShort {
                split,
                tokens,
                seq_length,
            });
        }
        Ok(Self {
            stream,
            seq_length,
            count,
        })
    }
}

/// A batch being filled.
struct Rows<'a> {
    sequences: &'a Sequences,
    row: Vec<i32>,
    batch: Batch,
}

impl<'a> Rows<'a> {
    fn new(sequences: &'a Sequences, rows: usize) -> Self {
        let capacity = rows * sequences.seq_length;
        Self {
            sequences,
            row: vec![0; sequences.seq_length + 1],
            batch: Batch {
                tokens: Vec::with_capacity(capacity),
                targets: Vec::with_capacity(capacity),
            },
        }
    }

    fn push(&mut self, sequence: u64) -> Result<(), DataError> {
        let start = sequence * self.sequences.seq_length as u64;
        self.sequences.stream.read(start, &mut self.row)?;
        self.batch
            .tokens
            .extend_from_slice(&self.row[..self.sequences.seq_length]);
        self.batch.targets.extend_from_slice(&self.row[1..]);
        Ok(())
    }
}

#[cfg(test)]
#[path = "batches/tests.rs"]
mod tests;
