//! Training a byte-level BPE: the 256 bytes, then the merges that pay most.

use tokenizers::Tokenizer as Inner;
use tokenizers::models::bpe::{BPE, BpeTrainer};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;

use super::words::{Words, visible};
use super::{END_OF_TEXT, special};

/// Bytes and the end of a text.
const SMALLEST: usize = 257;

/// A merge has to be seen this often: one that is seen once shortens nothing else.
const MIN_FREQUENCY: u64 = 2;

/// Trains on the words of these texts, of which `seen` is told the sizes.
pub(super) fn train(
    words: &Words,
    texts: &[&str],
    vocab_size: usize,
    seen: impl Fn(usize) + Sync,
) -> Result<Inner, String> {
    if vocab_size < SMALLEST {
        return Err(format!(
            "a byte-level vocabulary has at least {SMALLEST} entries, not {vocab_size}"
        ));
    }
    let trainer = BpeTrainer::builder()
        .vocab_size(vocab_size)
        .min_frequency(MIN_FREQUENCY)
        .special_tokens(vec![special(END_OF_TEXT)])
        .initial_alphabet(ByteLevel::alphabet().into_iter().collect())
        .show_progress(false)
        .build();
    let counts = words.count(texts, seen).into_iter();
    let counts = counts
        .map(|(word, count)| (visible(word).into(), count))
        .collect();
    let mut model = BPE::default();
    let specials = trainer
        .do_train(&counts, &mut model)
        .map_err(|error| error.to_string())?;
    let byte_level = ByteLevel::new(false, true, true);
    let mut tokenizer = Inner::new(model);
    tokenizer
        .with_pre_tokenizer(Some(byte_level))
        .with_decoder(Some(byte_level));
    tokenizer
        .add_special_tokens(specials)
        .map_err(|error| error.to_string())?;
    Ok(tokenizer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn train(text: &str, vocab_size: usize) -> Result<Inner, String> {
        super::train(&Words::new()?, &[text], vocab_size, |_| ())
    }

    #[test]
    fn the_vocabulary_has_the_size_asked_for_or_what_the_text_gives() {
        let text = "the quick brown fox jumps over the lazy dog and the quick cat".repeat(3);
        let full = train(&text, 270).unwrap();
        assert_eq!(full.get_vocab_size(true), 270);
        let all = train(&text, 4096).unwrap();
        assert!((271..400).contains(&all.get_vocab_size(true)));
        assert!(train(&text, 256).unwrap_err().contains("at least 257"));
    }

    #[test]
    fn a_repeated_word_becomes_one_token() {
        let text = "bonjour ".repeat(20);
        let tokenizer = train(&text, 400).unwrap();
        let encoded = tokenizer.encode(" bonjour bonjour", false).unwrap();
        assert_eq!(encoded.get_ids().len(), 2);
    }
}
