//! The words a byte-level BPE trained here works on, without the general
//! machinery of the library: that keeps an alignment for each byte, which
//! neither counting words nor encoding a corpus needs. Tests hold both to the
//! same tokens.

use indexmap::IndexMap;
use rayon::prelude::*;
use regex::Regex;
use tokenizers::models::ModelWrapper;
use tokenizers::{Model, Tokenizer as Inner};

/// The pattern of GPT-2, but for its look-ahead `\s+(?!\S)`, which
/// [`Words::of`] makes good: contractions, then letters, digits or others,
/// each with one space before them, then white space.
const PATTERN: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+";

/// Texts that share one table of known words.
const GROUP_TEXTS: usize = 64;

/// Cuts text into words.
#[derive(Clone, Debug)]
pub(super) struct Words {
    pattern: Regex,
}

impl Words {
    pub(super) fn new() -> Result<Self, String> {
        let pattern = Regex::new(PATTERN).map_err(|error| error.to_string())?;
        Ok(Self { pattern })
    }

    /// The words of a text; together they are the text.
    pub(super) fn of<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a str> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let found = self.pattern.find_at(text, at)?;
            let mut word = found.as_str();
            // White space before a word leaves its last character to it.
            let last = word.chars().next_back().filter(|last| last.is_whitespace());
            if let Some(last) = last.filter(|_| found.end() < text.len()) {
                let head = word.len() - last.len_utf8();
                word = word
                    .get(..head)
                    .filter(|head| !head.is_empty())
                    .unwrap_or(word);
            }
            at = found.start() + word.len();
            Some(word)
        })
    }

    /// How often each word comes.
    pub(super) fn count<'a>(
        &self,
        texts: &[&'a str],
        seen: impl Fn(usize) + Sync,
    ) -> IndexMap<&'a str, u64> {
        let count = |texts: &[&'a str]| {
            let mut counts: IndexMap<&'a str, u64> = IndexMap::new();
            for text in texts {
                let mut start = 0;
                for word in self.of(text) {
                    let end = start + word.len();
                    *counts.entry(&text[start..end]).or_default() += 1;
                    start = end;
                }
                seen(text.len());
            }
            counts
        };
        texts
            .par_chunks(GROUP_TEXTS)
            .map(count)
            .reduce(IndexMap::new, |mut all, more| {
                for (word, count) in more {
                    *all.entry(word).or_default() += count;
                }
                all
            })
    }

    /// The tokens of each text.
    pub(super) fn encode(&self, inner: &Inner, texts: &[&str]) -> Result<Vec<Vec<u32>>, String> {
        let groups: Result<Vec<_>, String> = texts
            .par_chunks(GROUP_TEXTS)
            .map(|texts| self.encode_group(inner.get_model(), texts))
            .collect();
        Ok(groups?.concat())
    }

    fn encode_group(&self, model: &ModelWrapper, texts: &[&str]) -> Result<Vec<Vec<u32>>, String> {
        let mut known: IndexMap<String, Vec<u32>> = IndexMap::new();
        let mut encoded = Vec::with_capacity(texts.len());
        for text in texts {
            let mut ids = Vec::with_capacity(text.len() / 3);
            for word in self.of(text) {
                if let Some(tokens) = known.get(word) {
                    ids.extend_from_slice(tokens);
                    continue;
                }
                let tokens = model
                    .tokenize(&visible(word))
                    .map_err(|error| error.to_string())?;
                let tokens: Vec<u32> = tokens.into_iter().map(|token| token.id).collect();
                ids.extend_from_slice(&tokens);
                known.insert(word.to_owned(), tokens);
            }
            encoded.push(ids);
        }
        Ok(encoded)
    }
}

/// A word in the alphabet byte-level vocabularies are written in: printable
/// Latin-1 bytes stand for themselves, the others for characters from U+0100 on.
pub(super) fn visible(word: &str) -> String {
    word.bytes().map(visible_byte).collect()
}

fn visible_byte(byte: u8) -> char {
    let code = u32::from(byte);
    // Bytes that are not printable, in order: 0-32, 127-160, 173.
    let moved = match code {
        0..=32 => 256 + code,
        127..=160 => 256 + 33 + code - 127,
        173 => 256 + 33 + 34,
        _ => code,
    };
    char::from_u32(moved).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tokenizers::pre_tokenizers::byte_level::ByteLevel;
    use tokenizers::{OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer};

    /// The words as the library cuts and writes them.
    fn library(text: &str) -> Vec<String> {
        let mut cut = PreTokenizedString::from(text);
        ByteLevel::new(false, true, true)
            .pre_tokenize(&mut cut)
            .unwrap();
        let splits = cut.get_splits(OffsetReferential::Original, OffsetType::Byte);
        splits
            .into_iter()
            .map(|(word, _, _)| word.to_owned())
            .filter(|w| !w.is_empty())
            .collect()
    }

    fn ours(text: &str) -> Vec<String> {
        let words = Words::new().unwrap();
        words.of(text).map(visible).collect()
    }

    proptest! {
        #[test]
        fn words_are_those_of_the_library(text in "([a-z]|[ \n\t\r]|[0-9']|[!-/]|\\PC|'re|'s|  |\u{a0}|\u{2003}|\u{85}){0,60}") {
            prop_assert_eq!(ours(&text), library(&text));
        }

        #[test]
        fn tokens_are_those_of_the_library(text in "([a-e]{1,4}|[ \n]{1,3}|[0-9';(]|\\PC){0,60}") {
            let corpus = "abc abcd ab; (abc) 'bc' \n\n   eda 10 100\n".repeat(5);
            let tokenizer = super::super::Tokenizer::train(&[corpus.as_str()], 300).unwrap();
            let json = tokenizer.to_json().unwrap().unwrap();
            let general = super::super::Tokenizer::from_json(json.as_bytes(), "general").unwrap();
            prop_assert_eq!(tokenizer.encode(&text).unwrap(), general.encode(&text).unwrap());
        }
    }

    #[test]
    fn white_space_leaves_its_last_character_to_the_next_word() {
        let words = Words::new().unwrap();
        let of = |text| -> Vec<String> { words.of(text).map(str::to_owned).collect() };
        assert_eq!(
            of("fn  a() {\n    x's\n\n"),
            ["fn", " ", " a", "()", " {", "\n   ", " x", "'s", "\n\n"]
        );
        assert_eq!(of("\n\n\tb \u{a0}"), ["\n\n", "\t", "b", " \u{a0}"]);
        assert!(of("").is_empty());
    }

    #[test]
    fn every_byte_has_the_librarys_character() {
        let mut mine: Vec<char> = (0..=255).map(visible_byte).collect();
        let mut theirs: Vec<char> = ByteLevel::alphabet().into_iter().collect();
        mine.sort_unstable();
        theirs.sort_unstable();
        assert_eq!(mine, theirs);
    }

    #[test]
    fn counts_are_those_of_all_texts_together() {
        let words = Words::new().unwrap();
        let texts: Vec<String> = (0..200).map(|i| format!("a b{} a", i % 2)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let counts = words.count(&texts, |_| ());
        let expected = [("a", 200), (" b", 200), ("0", 100), (" a", 200), ("1", 100)];
        assert_eq!(counts.len(), expected.len());
        for (word, count) in expected {
            assert_eq!(counts.get(word), Some(&count), "{word:?}");
        }
    }
}
