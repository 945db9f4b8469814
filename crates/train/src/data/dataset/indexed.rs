//! Sources that are tokens already: Megatron's pairs, read where they are.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use cairn_base::hash::{self, Fingerprint};
use cairn_base::{FileError, files};

use super::{Dataset, SplitStats, Timings, ready_tokenizer};
use crate::data::megatron::{IndexedDataset, Sequence, pair};
use crate::data::settings::Settings;
use crate::data::split::{self, Division, Item};
use crate::data::stream::TokenStream;
use crate::data::{DataError, source};

pub(super) fn open(settings: &Settings) -> Result<Dataset, DataError> {
    let started = Instant::now();
    let prefixes = prefixes(&settings.paths)?;
    let mut print = Fingerprint::new();
    print
        .part("megatron")
        .part(settings.validation_fraction.to_bits().to_le_bytes());
    let mut documents = Vec::new();
    for prefix in &prefixes {
        let data = Arc::new(IndexedDataset::open(prefix)?);
        identify(prefix, &mut print)?;
        documents.extend((0..data.documents()).map(|index| Indexed::new(&data, index)));
    }
    let items: Vec<Item<'_>> = documents
        .iter()
        .map(|document| Item {
            group: None,
            size: document.tokens,
        })
        .collect();
    // Documents stand alone here, so that there is always something to hold out.
    let division = split::divide(&items, settings.validation_fraction)
        .map_err(|error| DataError::TooFewCrates { crates: error.0 })?;
    let sides = sides(&documents, &division, settings.vocab_size);
    let (tokenizer, notes) = ready_tokenizer(settings)?;
    let [(train, train_stats), (validation, validation_stats)] = sides;
    let held_out = validation_stats.tokens > 0;
    Ok(Dataset {
        train: Arc::new(train),
        validation: held_out.then(|| Arc::new(validation)),
        tokenizer,
        train_stats,
        validation_stats: held_out.then_some(validation_stats),
        held_out: Vec::new(),
        fingerprint: print.finish(),
        cache_dir: None,
        cache_hit: false,
        timings: Timings {
            list: started.elapsed().as_secs_f64(),
            ..Timings::default()
        },
        notes,
        seq_length: settings.seq_length,
        seed: settings.seed,
    })
}

/// A document of a pair.
struct Indexed {
    data: Arc<IndexedDataset>,
    index: usize,
    tokens: u64,
}

impl Indexed {
    fn new(data: &Arc<IndexedDataset>, index: usize) -> Self {
        Self {
            data: Arc::clone(data),
            index,
            tokens: data.document(index).map(|sequence| sequence.tokens).sum(),
        }
    }
}

/// The pairs, each once; a glob names them by any of their files.
fn prefixes(paths: &[String]) -> Result<Vec<PathBuf>, DataError> {
    let mut found: Vec<PathBuf> = Vec::new();
    for path in paths {
        let expanded = match path.contains(['*', '?', '[']) {
            true => source::expand(path)?,
            false => vec![PathBuf::from(path)],
        };
        for path in expanded {
            let (_, idx) = pair(&path);
            if !found.contains(&idx) {
                found.push(idx);
            }
        }
    }
    Ok(found)
}

/// The whole index and the length of the tokens: hashing all tokens would read
/// what is mapped because it is large.
fn identify(prefix: &Path, print: &mut Fingerprint) -> Result<(), DataError> {
    let (bin, idx) = pair(prefix);
    let size = files::open(&bin)?
        .metadata()
        .map_err(|error| FileError::new("read", &bin, error))?;
    print
        .part(hash::blake3_file(&idx)?)
        .part(size.len().to_le_bytes());
    Ok(())
}

type Side = (TokenStream, SplitStats);

/// Training and validation.
fn sides(documents: &[Indexed], division: &Division, vocab_size: usize) -> [Side; 2] {
    let mut sides = [(); 2].map(|()| (TokenStream::new(vocab_size), SplitStats::default()));
    for (at, (document, held_out)) in documents.iter().zip(&division.held_out).enumerate() {
        let held = match division.tail {
            Some((index, size)) if index == at => size,
            _ if *held_out => document.tokens,
            _ => 0,
        };
        push(document, document.tokens - held, &mut sides);
    }
    sides
}

/// The first `train` tokens go to one side, the others to the other.
fn push(document: &Indexed, train: u64, [first, second]: &mut [Side; 2]) {
    let size = document.data.kind().bytes() as u64;
    let mut left = train;
    for sequence in document.data.document(document.index) {
        let head = sequence.tokens.min(left);
        left -= head;
        let tail = Sequence {
            offset: sequence.offset + head * size,
            tokens: sequence.tokens - head,
        };
        first.0.push(
            &document.data,
            Sequence {
                tokens: head,
                ..sequence
            },
        );
        second.0.push(&document.data, tail);
        first.1.tokens += head;
        second.1.tokens += tail.tokens;
    }
    first.1.documents += u64::from(train > 0);
    second.1.documents += u64::from(document.tokens > train);
}
