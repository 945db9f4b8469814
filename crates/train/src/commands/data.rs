//! `data prepare` and `data inspect`.

use std::fmt::Write;
use std::path::Path;

use cairn_base::{Diagnostic, FileError};
use cairn_launch::request::{DataInspect, DataPrepare, DataTarget};
use serde::Serialize;

use super::{Context, text};
use crate::data::megatron::{IndexedDataset, IndexedWriter, TokenType, pair};
use crate::data::stream::TokenStream;
use crate::data::{self, DataError, Dataset};
use crate::error::TrainError;
use crate::native::convert;

/// Tokens read at once.
const BLOCK: usize = 1 << 16;

/// Makes tokenizer and tokenised shards of an experiment.
///
/// # Errors
/// When the corpus cannot be read.
pub fn prepare(context: &Context, request: &DataPrepare) -> Result<u8, TrainError> {
    let settings = convert::data(&request.experiment.native, context.project.as_deref());
    let report = data::prepare(&settings)?;
    if let Some(prefix) = &request.megatron_prefix {
        let dataset = Dataset::open(&settings)?;
        let end = dataset.tokenizer.as_ref().map(data::Tokenizer::end_of_text);
        write_megatron(
            &dataset.train,
            settings.vocab_size,
            end,
            &suffixed(prefix, "_train"),
        )?;
        if let Some(validation) = &dataset.validation {
            write_megatron(
                validation,
                settings.vocab_size,
                end,
                &suffixed(prefix, "_validation"),
            )?;
        }
    }
    context.answer(&report, text::prepared)?;
    Ok(0)
}

fn suffixed(prefix: &Path, suffix: &str) -> std::path::PathBuf {
    let mut name = prefix.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// A stream as one `.bin`/`.idx` pair: a document ends behind each end of text.
fn write_megatron(
    stream: &TokenStream,
    vocab_size: usize,
    end: Option<u32>,
    prefix: &Path,
) -> Result<(), DataError> {
    let partial = suffixed(prefix, ".partial");
    let mut writer = IndexedWriter::create(&partial, TokenType::for_vocabulary(vocab_size))?;
    let (mut start, mut open) = (0, false);
    while start < stream.tokens() {
        let len = usize::try_from(stream.tokens() - start)
            .unwrap_or(BLOCK)
            .min(BLOCK);
        let mut block = vec![0; len];
        stream.read(start, &mut block)?;
        start += len as u64;
        let block: Vec<u32> = block.into_iter().map(i32::unsigned_abs).collect();
        for document in block.split_inclusive(|token| Some(*token) == end) {
            writer.push(document)?;
            open = document.last().copied() != end;
            if !open {
                writer.end_sequence()?;
                writer.end_document();
            }
        }
    }
    if open {
        writer.end_sequence()?;
        writer.end_document();
    }
    writer.finish()?;
    // An existing pair stays as it was until the new one is complete.
    let ((new_bin, new_idx), (bin, idx)) = (pair(&partial), pair(prefix));
    for (from, to) in [(new_bin, bin), (new_idx, idx)] {
        std::fs::rename(&from, &to).map_err(|error| FileError::new("write", &to, error))?;
    }
    Ok(())
}

/// Describes a corpus.
///
/// # Errors
/// When it cannot be read.
pub fn inspect(context: &Context, request: &DataInspect) -> Result<u8, TrainError> {
    match &request.target {
        DataTarget::Experiment(experiment) => {
            let settings = convert::data(&experiment.native, context.project.as_deref());
            context.answer(&data::inspect(&settings, request.show)?, text::inspected)?;
        }
        DataTarget::Megatron(path) => {
            let prefix = match path.extension().and_then(|end| end.to_str()) {
                Some("bin" | "idx") => path.with_extension(""),
                _ => path.clone(),
            };
            let (_, idx) = pair(&prefix);
            if !idx.exists() {
                let message = format!(
                    "{} is no Megatron data set: there is no {}",
                    path.display(),
                    idx.display()
                );
                let diagnostic = Diagnostic::error("data::no-pair", message)
                    .hint("name the prefix of a `.bin`/`.idx` pair, or one of its files")
                    .hint("`data inspect --exp EXPERIMENT` describes the text of an experiment");
                return Err(Box::new(diagnostic).into());
            }
            context.answer(
                &inspect_megatron(&prefix, request.show)?,
                IndexedReport::text,
            )?;
        }
    }
    Ok(0)
}

/// A Megatron data set.
#[derive(Debug, Serialize)]
struct IndexedReport {
    prefix: String,
    token_bytes: usize,
    documents: usize,
    tokens: u64,
    /// The first tokens of the first documents.
    first: Vec<Vec<i32>>,
}

fn inspect_megatron(prefix: &Path, show: usize) -> Result<IndexedReport, DataError> {
    let data = IndexedDataset::open(prefix)?;
    let count = |index| {
        data.document(index)
            .map(|sequence| sequence.tokens)
            .sum::<u64>()
    };
    let mut first = Vec::new();
    for index in 0..show.min(data.documents()) {
        let Some(sequence) = data.document(index).next() else {
            continue;
        };
        let mut tokens = vec![0; usize::try_from(sequence.tokens).unwrap_or(16).min(16)];
        data.read(sequence.offset, &mut tokens, i32::MAX as usize)?;
        first.push(tokens);
    }
    Ok(IndexedReport {
        prefix: prefix.display().to_string(),
        token_bytes: data.kind().bytes(),
        documents: data.documents(),
        tokens: (0..data.documents()).map(count).sum(),
        first,
    })
}

impl IndexedReport {
    fn text(&self) -> String {
        let mut text = format!(
            "{}: {} documents, {} tokens of {} bytes",
            self.prefix, self.documents, self.tokens, self.token_bytes
        );
        for (index, tokens) in self.first.iter().enumerate() {
            let _ = write!(text, "\ndocument {index}: {tokens:?} ..");
        }
        text
    }
}
