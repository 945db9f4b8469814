//! One long sequence of tokens: the documents of a split behind each other, or
//! tokens made up on the spot.

use std::sync::Arc;

use super::DataError;
use super::megatron::{IndexedDataset, Sequence};
use super::shuffle::mix;

/// A sequence of tokens that can be read anywhere.
#[derive(Clone, Debug)]
pub struct TokenStream {
    tokens: u64,
    vocab_size: usize,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Runs of tokens in files.
    Files(Vec<Run>),
    /// The token at a position is a hash of key and position.
    Mock(u64),
}

/// Tokens that stand behind each other in a file.
#[derive(Clone, Debug)]
struct Run {
    data: Arc<IndexedDataset>,
    /// Position of the first one in the stream.
    start: u64,
    offset: u64,
    tokens: u64,
}

impl TokenStream {
    /// An empty stream, whose tokens must be below `vocab_size`.
    #[must_use]
    pub fn new(vocab_size: usize) -> Self {
        Self {
            tokens: 0,
            vocab_size,
            kind: Kind::Files(Vec::new()),
        }
    }

    /// `tokens` made-up tokens.
    #[must_use]
    pub fn mock(tokens: u64, vocab_size: usize, key: u64) -> Self {
        Self {
            tokens,
            vocab_size,
            kind: Kind::Mock(mix(key)),
        }
    }

    /// Appends a sequence of a file.
    pub fn push(&mut self, data: &Arc<IndexedDataset>, sequence: Sequence) {
        let Kind::Files(runs) = &mut self.kind else {
            return;
        };
        let start = self.tokens;
        self.tokens += sequence.tokens;
        if sequence.tokens == 0 {
            return;
        }
        if let Some(last) = runs.last_mut() {
            let end = last.offset + last.tokens * data.kind().bytes() as u64;
            if Arc::ptr_eq(&last.data, data) && end == sequence.offset {
                last.tokens += sequence.tokens;
                return;
            }
        }
        runs.push(Run {
            data: Arc::clone(data),
            start,
            offset: sequence.offset,
            tokens: sequence.tokens,
        });
    }

    /// Number of tokens.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Reads the tokens from `start` on.
    ///
    /// # Errors
    /// A token outside the vocabulary.
    ///
    /// # Panics
    /// When the range is not within the stream: a caller's mistake.
    pub fn read(&self, start: u64, out: &mut [i32]) -> Result<(), DataError> {
        assert!(
            start + out.len() as u64 <= self.tokens,
            "{} tokens from {start} of {}",
            out.len(),
            self.tokens
        );
        let runs = match &self.kind {
            Kind::Files(runs) => runs,
            Kind::Mock(key) => {
                for (slot, position) in out.iter_mut().zip(start..) {
                    *slot = (mix(key ^ position) % self.vocab_size as u64) as i32;
                }
                return Ok(());
            }
        };
        let first = runs.partition_point(|run| run.start + run.tokens <= start);
        let mut position = start;
        let mut rest = out;
        for run in runs.iter().skip(first) {
            if rest.is_empty() {
                break;
            }
            let skipped = position - run.start;
            let count = (rest.len() as u64).min(run.tokens - skipped);
            let (part, behind) = rest.split_at_mut(count as usize);
            let offset = run.offset + skipped * run.data.kind().bytes() as u64;
            run.data.read(offset, part, self.vocab_size)?;
            position += count;
            rest = behind;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::megatron::{IndexedWriter, TokenType};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_range_is_read_as_if_it_were_one_list(
            documents in prop::collection::vec(prop::collection::vec(0u32..100, 0..9), 1..20),
            kept in prop::collection::vec(any::<bool>(), 20),
            cut in (0usize..100, 0usize..100),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let prefix = dir.path().join("d");
            let mut writer = IndexedWriter::create(&prefix, TokenType::U16).unwrap();
            for document in &documents {
                writer.push(document).unwrap();
                writer.end_sequence().unwrap();
                writer.end_document();
            }
            writer.finish().unwrap();
            let data = Arc::new(IndexedDataset::open(&prefix).unwrap());
            let mut stream = TokenStream::new(100);
            let mut list = Vec::new();
            for (index, document) in documents.iter().enumerate().filter(|(i, _)| kept[*i]) {
                data.document(index).for_each(|sequence| stream.push(&data, sequence));
                list.extend(document.iter().map(|t| *t as i32));
            }
            prop_assert_eq!(stream.tokens() as usize, list.len());
            let start = cut.0.min(list.len());
            let end = (start + cut.1).min(list.len());
            let mut out = vec![-1; end - start];
            stream.read(start as u64, &mut out).unwrap();
            prop_assert_eq!(&out[..], &list[start..end]);
        }
    }

    #[test]
    fn made_up_tokens_are_the_same_wherever_reading_starts() {
        let stream = TokenStream::mock(1000, 50, 7);
        let mut all = vec![0; 1000];
        stream.read(0, &mut all).unwrap();
        let mut part = vec![0; 100];
        stream.read(500, &mut part).unwrap();
        assert_eq!(part, all[500..600]);
        assert!(all.iter().all(|token| (0..50).contains(token)));
        assert!((0..50).all(|token| all.contains(&token)));
        let mut other = vec![0; 1000];
        TokenStream::mock(1000, 50, 8).read(0, &mut other).unwrap();
        assert_ne!(all, other);
    }
}
