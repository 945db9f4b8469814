//! Text to tokens and back: byte-level BPE trained here, any `tokenizer.json`,
//! or plain bytes. Encoding runs on all cores and gives the same tokens on any
//! number of them.

mod bpe;
mod pieces;
mod words;

use std::fmt;
use std::path::Path;

use cairn_base::files;
use tokenizers::{AddedToken, Tokenizer as Inner};

use super::DataError;
use words::Words;

/// The token that ends a text, for tokenizers made here.
pub const END_OF_TEXT: &str = "<|endoftext|>";

/// What published tokenizers call the token that ends a text, in the order tried.
const END_OF_TEXT_NAMES: [&str; 8] = [
    END_OF_TEXT,
    "<|end_of_text|>",
    "</s>",
    "<eos>",
    "<｜end▁of▁sentence｜>",
    "<|eot_id|>",
    "<|im_end|>",
    "[EOS]",
];

/// A byte vocabulary is the 256 bytes and the end of a text.
const BYTES_END_OF_TEXT: u32 = 256;

/// Turns text into tokens and back.
#[derive(Clone)]
pub struct Tokenizer {
    name: String,
    /// None for plain bytes.
    inner: Option<Box<Inner>>,
    /// The shorter way to the same tokens, for a BPE trained here.
    words: Option<Words>,
    vocab_size: usize,
    end_of_text: u32,
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokenizer")
            .field("name", &self.name)
            .field("vocab_size", &self.vocab_size)
            .finish_non_exhaustive()
    }
}

impl Tokenizer {
    /// One token a byte; 257 entries.
    #[must_use]
    pub fn bytes() -> Self {
        Self {
            name: "bytes".to_owned(),
            inner: None,
            words: None,
            vocab_size: BYTES_END_OF_TEXT as usize + 1,
            end_of_text: BYTES_END_OF_TEXT,
        }
    }

    /// Byte-level BPE trained on these texts. A small corpus may give fewer
    /// than `vocab_size` entries. Deterministic.
    ///
    /// # Errors
    /// A `vocab_size` below 257, which the bytes and the end of a text need.
    pub fn train(texts: &[&str], vocab_size: usize) -> Result<Self, DataError> {
        Self::train_seen(texts, vocab_size, |_| ())
    }

    /// As [`Tokenizer::train`]; `seen` is told the bytes of each text read.
    ///
    /// # Errors
    /// As [`Tokenizer::train`].
    pub fn train_seen(
        texts: &[&str],
        vocab_size: usize,
        seen: impl Fn(usize) + Sync,
    ) -> Result<Self, DataError> {
        let name = "bpe".to_owned();
        let trained = Words::new().and_then(|words| {
            let inner = bpe::train(&words, texts, vocab_size, seen)?;
            Ok((words, inner))
        });
        let (words, inner) = trained.map_err(|reason| DataError::Tokenizer {
            name: name.clone(),
            reason,
        })?;
        let words = Some(words);
        Ok(Self {
            words,
            ..Self::new(name, inner)?
        })
    }

    /// A `tokenizer.json`.
    ///
    /// # Errors
    /// A file that cannot be read, is no tokenizer, or has no token that ends a text.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let bytes = files::read(path)?;
        Self::from_json(&bytes, &path.display().to_string())
    }

    /// The content of a `tokenizer.json`, under the name messages give it.
    ///
    /// # Errors
    /// As [`Tokenizer::open`].
    pub fn from_json(json: &[u8], name: &str) -> Result<Self, DataError> {
        let inner = Inner::from_bytes(json).map_err(|error| DataError::Tokenizer {
            name: name.to_owned(),
            reason: error.to_string(),
        })?;
        Self::new(name.to_owned(), inner)
    }

    fn new(name: String, mut inner: Inner) -> Result<Self, DataError> {
        // A corpus may speak of special tokens; only we may use them.
        inner.set_encode_special_tokens(true);
        let found = END_OF_TEXT_NAMES
            .iter()
            .find_map(|token| inner.token_to_id(token));
        let Some(end_of_text) = found else {
            let reason = format!(
                "no token ends a text; looked for {}",
                END_OF_TEXT_NAMES.join(" ")
            );
            return Err(DataError::Tokenizer { name, reason });
        };
        let largest = inner.get_vocab(true).into_values().max().unwrap_or(0);
        Ok(Self {
            name,
            inner: Some(Box::new(inner)),
            words: None,
            vocab_size: largest as usize + 1,
            end_of_text,
        })
    }

    /// `bytes`, `bpe`, or the file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One more than the largest token.
    #[must_use]
    pub fn vocab_size(&self) -> usize {
        self.vocab_size
    }

    /// The token that ends a text.
    #[must_use]
    pub fn end_of_text(&self) -> u32 {
        self.end_of_text
    }

    /// The tokens of a text, without an end.
    ///
    /// # Errors
    /// When the tokenizer has no token for a part of the text.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, DataError> {
        Ok(self.encode_all(&[text])?.pop().unwrap_or_default())
    }

    /// The tokens of each of these texts, without ends, encoded in parallel.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn encode_all(&self, texts: &[&str]) -> Result<Vec<Vec<u32>>, DataError> {
        let Some(inner) = &self.inner else {
            return Ok(texts
                .iter()
                .map(|text| text.bytes().map(u32::from).collect())
                .collect());
        };
        if let Some(words) = &self.words {
            return words
                .encode(inner, texts)
                .map_err(|reason| self.problem(reason));
        }
        let pieces: Vec<_> = texts.iter().map(|text| pieces::cut(text)).collect();
        let flat = pieces.concat();
        let encoded = inner
            .encode_batch_fast(flat, false)
            .map_err(|error| self.problem(error.to_string()))?;
        let mut encoded = encoded.iter();
        Ok(pieces
            .iter()
            .map(|pieces| {
                encoded
                    .by_ref()
                    .take(pieces.len())
                    .flat_map(|piece| piece.get_ids().iter().copied())
                    .collect()
            })
            .collect())
    }

    /// The text of these tokens, ends of texts left out. Bytes that are no
    /// UTF-8 become replacement characters.
    ///
    /// # Errors
    /// When the decoder of a `tokenizer.json` fails.
    pub fn decode(&self, tokens: &[u32]) -> Result<String, DataError> {
        let Some(inner) = &self.inner else {
            let bytes: Vec<u8> = tokens
                .iter()
                .filter_map(|token| u8::try_from(*token).ok())
                .collect();
            return Ok(String::from_utf8_lossy(&bytes).into_owned());
        };
        inner
            .decode(tokens, true)
            .map_err(|error| self.problem(error.to_string()))
    }

    /// The `tokenizer.json`; none for plain bytes, which have no such form.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn to_json(&self) -> Result<Option<String>, DataError> {
        let json = self
            .inner
            .as_ref()
            .map(|inner| inner.to_string(false))
            .transpose();
        json.map_err(|error| self.problem(error.to_string()))
    }

    /// Checks that a model with this vocabulary fits. A model's vocabulary may
    /// be padded to a multiple of 64, by less than 1024 entries.
    ///
    /// # Errors
    /// [`DataError::Vocabulary`] when it does not.
    pub fn check_vocabulary(&self, model: usize) -> Result<(), DataError> {
        let padded = model.is_multiple_of(64) && model < self.vocab_size + 1024;
        if self.vocab_size == model || (self.vocab_size < model && padded) {
            return Ok(());
        }
        Err(DataError::Vocabulary {
            name: self.name.clone(),
            tokenizer: self.vocab_size,
            model,
        })
    }

    fn problem(&self, reason: String) -> DataError {
        DataError::Tokenizer {
            name: self.name.clone(),
            reason,
        }
    }
}

/// A special token as the library wants it.
fn special(content: &str) -> AddedToken {
    AddedToken::from(content, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "fn main() {\n    println!(\"grüß dich, 世界 \u{1f980}\");\r\n\t\n}\n\n";

    fn trained() -> Tokenizer {
        Tokenizer::train(&[TEXT, "let x = 1;\n"], 300).unwrap()
    }

    #[test]
    fn every_kind_gives_the_text_back() {
        let trained = trained();
        let json = trained.to_json().unwrap().unwrap();
        let read = Tokenizer::from_json(json.as_bytes(), "t.json").unwrap();
        for tokenizer in [Tokenizer::bytes(), trained, read] {
            for text in [TEXT, "", " ", "\u{0}\u{7f}", "unseen: ÄÖ≠\n\n\n  x"] {
                let tokens = tokenizer.encode(text).unwrap();
                assert_eq!(tokenizer.decode(&tokens).unwrap(), text, "{tokenizer:?}");
                assert!(
                    tokens
                        .iter()
                        .all(|t| (*t as usize) < tokenizer.vocab_size())
                );
            }
        }
    }

    #[test]
    fn training_twice_gives_the_same_tokenizer() {
        assert_eq!(trained().to_json().unwrap(), trained().to_json().unwrap());
    }

    #[test]
    fn a_written_and_read_tokenizer_gives_the_same_tokens() {
        let trained = trained();
        let json = trained.to_json().unwrap().unwrap();
        let read = Tokenizer::from_json(json.as_bytes(), "t.json").unwrap();
        assert_eq!(read.encode(TEXT).unwrap(), trained.encode(TEXT).unwrap());
        assert_eq!(read.end_of_text(), trained.end_of_text());
        assert_eq!(read.vocab_size(), trained.vocab_size());
    }

    #[test]
    fn a_text_cannot_smuggle_in_an_end_of_text() {
        for tokenizer in [trained(), Tokenizer::bytes()] {
            let text = format!("a{END_OF_TEXT}b");
            let tokens = tokenizer.encode(&text).unwrap();
            assert!(!tokens.contains(&tokenizer.end_of_text()), "{tokens:?}");
            assert_eq!(tokenizer.decode(&tokens).unwrap(), text);
        }
    }

    #[test]
    fn ends_of_texts_are_not_decoded() {
        for tokenizer in [trained(), Tokenizer::bytes()] {
            let mut tokens = tokenizer.encode("ab").unwrap();
            tokens.insert(1, tokenizer.end_of_text());
            assert!(tokenizer.decode(&tokens).unwrap().starts_with('a'));
            assert!(!tokenizer.decode(&tokens).unwrap().contains("endoftext"));
        }
    }

    #[test]
    fn many_texts_at_once_are_the_texts_one_by_one() {
        let tokenizer = trained();
        let texts: Vec<String> = (0..50)
            .map(|i| format!("{TEXT}{i}").repeat(i % 4))
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let all = tokenizer.encode_all(&texts).unwrap();
        for (text, tokens) in texts.iter().zip(all) {
            assert_eq!(tokenizer.encode(text).unwrap(), tokens);
        }
    }

    #[test]
    fn files_that_are_no_tokenizer_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tokenizer.json");
        let missing = Tokenizer::open(&path).unwrap_err();
        assert_eq!(missing.diagnostic().code, "file::not-found");
        std::fs::write(&path, "{\"model\": 3}").unwrap();
        let error = Tokenizer::open(&path).unwrap_err();
        assert_eq!(error.code(), "data::tokenizer");
        let json = trained()
            .to_json()
            .unwrap()
            .unwrap()
            .replace("<|endoftext|>", "<|other|>");
        std::fs::write(&path, json).unwrap();
        let error = Tokenizer::open(&path).unwrap_err();
        assert!(
            error.to_string().contains("no token ends a text"),
            "{error}"
        );
    }

    #[test]
    fn a_vocabulary_fits_exactly_or_padded() {
        let bytes = Tokenizer::bytes();
        for good in [257, 320, 1280] {
            assert!(bytes.check_vocabulary(good).is_ok(), "{good}");
        }
        for bad in [1, 256, 258, 1281, 1344, 4096] {
            let error = bytes.check_vocabulary(bad).unwrap_err();
            assert_eq!(error.code(), "data::vocabulary", "{bad}");
        }
    }
}
