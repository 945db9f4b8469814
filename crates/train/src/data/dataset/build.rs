//! Text sources: from files to cached tokens.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use cairn_base::hash::Fingerprint;
use cairn_base::progress::Unit;
use cairn_base::{Diagnostic, Progress, files};
use serde::{Deserialize, Serialize};

use super::{Dataset, SplitStats, Timings};
use crate::data::megatron::{IndexedDataset, IndexedWriter, TokenType};
use crate::data::settings::{Settings, TokenizerSettings};
use crate::data::source::{self, Document, Input};
use crate::data::split::{self, Division, Item};
use crate::data::stream::TokenStream;
use crate::data::tokenizer::Tokenizer;
use crate::data::{DataError, cache};

const TRAIN: &str = "train";
const VALIDATION: &str = "validation";
const TOKENIZER: &str = "tokenizer.json";

/// Text encoded at once: enough for all cores, little enough to see progress.
const CHUNK_BYTES: usize = 8 << 20;

/// Whether the caller wants no more of it.
type Stop<'a> = &'a dyn Fn() -> bool;

fn go_on(stop: Stop<'_>) -> Result<(), DataError> {
    match stop() {
        true => Err(DataError::Stopped),
        false => Ok(()),
    }
}

/// What is remembered of prepared data.
#[derive(Debug, Serialize, Deserialize)]
struct Facts {
    train: SplitStats,
    validation: Option<SplitStats>,
    held_out: Vec<String>,
}

pub(super) fn open(settings: &Settings, stop: Stop<'_>) -> Result<Dataset, DataError> {
    let started = Instant::now();
    let mut timings = Timings::default();
    let given = given_tokenizer(settings)?;
    let inputs = source::list(settings)?;
    let key = key(settings, &inputs, given.as_ref())?;
    timings.list = started.elapsed().as_secs_f64();
    go_on(stop)?;
    let entry = cache::get_or_make(&settings.cache_dir, &key, |dir| {
        make(settings, &inputs, given.as_ref(), dir, &mut timings, stop)
    })?;
    let tokenizer = match given {
        Some(tokenizer) => tokenizer,
        None => Tokenizer::from_json(&files::read(&entry.dir.join(TOKENIZER))?, "bpe")?,
    };
    let vocab_size = settings.vocab_size;
    let train = stream(&entry.dir, TRAIN, vocab_size)?;
    let validation = entry
        .facts
        .validation
        .map(|_| stream(&entry.dir, VALIDATION, vocab_size));
    let notes = small_vocabulary(settings, &tokenizer).into_iter().collect();
    Ok(Dataset {
        train,
        validation: validation.transpose()?,
        tokenizer: Some(tokenizer),
        train_stats: entry.facts.train,
        validation_stats: entry.facts.validation,
        held_out: entry.facts.held_out,
        fingerprint: key,
        cache_dir: Some(entry.dir),
        cache_hit: entry.hit,
        timings,
        notes,
        seq_length: settings.seq_length,
        seed: settings.seed,
    })
}

/// The tokenizer, where it does not depend on the corpus, after checking that
/// the model can use it: a mistake shows before any work is done.
fn given_tokenizer(settings: &Settings) -> Result<Option<Tokenizer>, DataError> {
    let tokenizer = match &settings.tokenizer {
        Some(TokenizerSettings::Bytes) => Tokenizer::bytes(),
        Some(TokenizerSettings::File { path }) => Tokenizer::open(path)?,
        Some(TokenizerSettings::Bpe { vocab_size }) if *vocab_size != settings.vocab_size => {
            return Err(DataError::Vocabulary {
                name: "bpe".to_owned(),
                tokenizer: *vocab_size,
                model: settings.vocab_size,
            });
        }
        Some(TokenizerSettings::Bpe { .. }) | None => return Ok(None),
    };
    tokenizer.check_vocabulary(settings.vocab_size)?;
    Ok(Some(tokenizer))
}

/// A corpus that gave fewer merges than were asked for leaves entries unused.
fn small_vocabulary(settings: &Settings, tokenizer: &Tokenizer) -> Option<Diagnostic> {
    let Some(TokenizerSettings::Bpe { vocab_size }) = settings.tokenizer else {
        return None;
    };
    let found = tokenizer.vocab_size();
    (found < vocab_size).then(|| {
        let message = format!("the corpus gave only {found} of {vocab_size} tokens");
        let hint =
            format!("set the tokenizer's and the model's `vocab_size` to {found}, or add data");
        Diagnostic::note("data::small-vocabulary", message).hint(hint)
    })
}

/// All that decides the tokens and the split.
fn key(
    settings: &Settings,
    inputs: &[Input],
    given: Option<&Tokenizer>,
) -> Result<String, DataError> {
    let mut print = Fingerprint::new();
    print.part(cache::FORMAT.to_le_bytes());
    print.part(settings.validation_fraction.to_bits().to_le_bytes());
    match (given, &settings.tokenizer) {
        (Some(tokenizer), _) => print.part(tokenizer.to_json()?.unwrap_or_default()),
        (None, Some(TokenizerSettings::Bpe { vocab_size })) => {
            print.part("bpe").part(vocab_size.to_string())
        }
        (None, _) => &mut print,
    };
    source::fingerprint(settings, inputs, &mut print)?;
    Ok(print.finish())
}

fn make(
    settings: &Settings,
    inputs: &[Input],
    given: Option<&Tokenizer>,
    dir: &Path,
    timings: &mut Timings,
    stop: Stop<'_>,
) -> Result<Facts, DataError> {
    let documents = source::load(settings, inputs)?;
    go_on(stop)?;
    let items: Vec<Item<'_>> = documents.iter().map(Document::item).collect();
    let division = split::divide(&items, settings.validation_fraction)
        .map_err(|error| DataError::TooFewCrates { crates: error.0 })?;
    let (train, validation) = sides(&documents, &division);
    let started = Instant::now();
    let tokenizer = match (given, &settings.tokenizer) {
        (None, Some(TokenizerSettings::Bpe { vocab_size })) => {
            let tokenizer = train_tokenizer(&train, *vocab_size)?;
            let json = tokenizer.to_json()?.unwrap_or_default();
            files::write_atomic(&dir.join(TOKENIZER), json.as_bytes())?;
            tokenizer
        }
        (Some(tokenizer), _) => tokenizer.clone(),
        (None, _) => Tokenizer::bytes(),
    };
    timings.tokenizer = started.elapsed().as_secs_f64();
    go_on(stop)?;
    let started = Instant::now();
    let total: usize = train.iter().chain(&validation).map(|text| text.len()).sum();
    let progress = Progress::with_unit("tokenising", total as u64, Unit::Bytes);
    let kind = TokenType::for_vocabulary(settings.vocab_size.max(tokenizer.vocab_size()));
    let write = |name: &str, texts: &[&str]| {
        let writer = IndexedWriter::create(&dir.join(name), kind)?;
        write_split(writer, texts, &tokenizer, &progress, stop)
    };
    let facts = Facts {
        train: write(TRAIN, &train)?,
        validation: match validation.is_empty() {
            true => None,
            false => Some(write(VALIDATION, &validation)?),
        },
        held_out: held_out(&documents, &division),
    };
    progress.finish();
    timings.encode = started.elapsed().as_secs_f64();
    Ok(facts)
}

fn train_tokenizer(texts: &[&str], vocab_size: usize) -> Result<Tokenizer, DataError> {
    let total: usize = texts.iter().map(|text| text.len()).sum();
    let progress = Progress::with_unit("training the tokenizer", total as u64, Unit::Bytes);
    let seen = |bytes: usize| progress.inc(bytes as u64);
    let tokenizer = Tokenizer::train_seen(texts, vocab_size, seen);
    progress.finish();
    tokenizer
}

/// The texts of both sides, in the order of the documents.
pub(super) fn sides<'a>(
    documents: &'a [Document],
    division: &Division,
) -> (Vec<&'a str>, Vec<&'a str>) {
    let (mut train, mut validation) = (Vec::new(), Vec::new());
    for (index, (document, held_out)) in documents.iter().zip(&division.held_out).enumerate() {
        let text = document.text.as_str();
        match division.tail {
            Some((at, size)) if at == index => {
                let (head, tail) = text.split_at(tail_start(text, size as usize));
                train.extend(Some(head).filter(|head| !head.is_empty()));
                validation.extend(Some(tail).filter(|tail| !tail.is_empty()));
            }
            _ if *held_out => validation.push(text),
            _ => train.push(text),
        }
    }
    (train, validation)
}

/// Where the last `size` bytes begin: at the next line, or where the text is
/// one line, at the next character.
fn tail_start(text: &str, size: usize) -> usize {
    let mut at = text.len().saturating_sub(size);
    while !text.is_char_boundary(at) {
        at += 1;
    }
    let line = text[at..].find('\n').map(|line| at + line + 1);
    line.filter(|start| *start < text.len()).unwrap_or(at)
}

pub(super) fn held_out(documents: &[Document], division: &Division) -> Vec<String> {
    let held = documents
        .iter()
        .zip(&division.held_out)
        .filter(|(_, held)| **held);
    let mut names: Vec<String> = held
        .filter_map(|(document, _)| document.group.clone())
        .collect();
    names.sort();
    names.dedup();
    names
}

fn write_split(
    mut writer: IndexedWriter,
    texts: &[&str],
    tokenizer: &Tokenizer,
    progress: &Progress,
    stop: Stop<'_>,
) -> Result<SplitStats, DataError> {
    let (mut bytes, mut chars) = (0, 0);
    let mut rest = texts;
    while !rest.is_empty() {
        go_on(stop)?;
        let mut size = 0;
        let count = rest.iter().take_while(|text| {
            let fits = size < CHUNK_BYTES;
            size += text.len();
            fits
        });
        let (chunk, behind) = rest.split_at(count.count());
        for (text, tokens) in chunk.iter().zip(tokenizer.encode_all(chunk)?) {
            writer.push(&tokens)?;
            writer.push(&[tokenizer.end_of_text()])?;
            writer.end_sequence()?;
            writer.end_document();
            bytes += text.len() as u64;
            chars += text.chars().count() as u64;
            progress.inc(text.len() as u64);
        }
        rest = behind;
    }
    let tokens = writer.tokens();
    writer.finish()?;
    Ok(SplitStats {
        documents: texts.len() as u64,
        tokens,
        bytes: Some(bytes),
        chars: Some(chars),
    })
}

fn stream(dir: &Path, name: &str, vocab_size: usize) -> Result<Arc<TokenStream>, DataError> {
    let data = Arc::new(IndexedDataset::open(&dir.join(name))?);
    let mut stream = TokenStream::new(vocab_size);
    for document in 0..data.documents() {
        data.document(document)
            .for_each(|sequence| stream.push(&data, sequence));
    }
    Ok(Arc::new(stream))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_starts_at_a_line_or_a_character() {
        assert_eq!(tail_start("ab\ncd\nef\n", 5), 6);
        assert_eq!(tail_start("ab\ncd\nef\n", 1), 8);
        assert_eq!(tail_start("abcdef", 2), 4);
        assert_eq!(tail_start("ab世", 2), 5);
        assert_eq!(tail_start("ab", 9), 0);
    }
}
