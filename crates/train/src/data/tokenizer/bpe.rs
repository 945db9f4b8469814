//! Training a byte-level BPE: the 256 bytes, then the merges that pay most.

use tokenizers::models::bpe::{BPE, BpeTrainer};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::{Model, Tokenizer as Inner, TokenizerBuilder};

use super::{END_OF_TEXT, special};

/// Bytes and the end of a text.
const SMALLEST: usize = 257;

/// A merge has to be seen this often: one that is seen once shortens nothing else.
const MIN_FREQUENCY: u64 = 2;

/// Trains on texts cut into words by the pattern of GPT-2, the byte-level default.
pub(super) fn train<'a>(
    texts: impl Iterator<Item = &'a str> + Send,
    vocab_size: usize,
) -> Result<Inner, String> {
    if vocab_size < SMALLEST {
        return Err(format!(
            "a byte-level vocabulary has at least {SMALLEST} entries, not {vocab_size}"
        ));
    }
    let byte_level = ByteLevel::new(false, true, true);
    let mut trainer = BpeTrainer::builder()
        .vocab_size(vocab_size)
        .min_frequency(MIN_FREQUENCY)
        .special_tokens(vec![special(END_OF_TEXT)])
        .initial_alphabet(ByteLevel::alphabet().into_iter().collect())
        .show_progress(false)
        .build();
    let mut tokenizer = TokenizerBuilder::new()
        .with_model(BPE::default())
        .with_normalizer(None::<tokenizers::NormalizerWrapper>)
        .with_pre_tokenizer(Some(byte_level))
        .with_post_processor(None::<tokenizers::PostProcessorWrapper>)
        .with_decoder(Some(byte_level))
        .build()
        .map_err(|error| error.to_string())?;
    tokenizer
        .train(&mut trainer, texts)
        .map_err(|error| error.to_string())?;
    debug_assert!(tokenizer.get_model().get_vocab_size() <= vocab_size);
    let json = tokenizer
        .to_string(false)
        .map_err(|error| error.to_string())?;
    // The library's general form is reached through its file format.
    Inner::from_bytes(json).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vocabulary_has_the_size_asked_for_or_what_the_text_gives() {
        let text = "the quick brown fox jumps over the lazy dog and the quick cat".repeat(3);
        let full = train([text.as_str()].into_iter(), 270).unwrap();
        assert_eq!(full.get_vocab_size(true), 270);
        let all = train([text.as_str()].into_iter(), 4096).unwrap();
        assert!((271..400).contains(&all.get_vocab_size(true)));
        assert!(
            train([text.as_str()].into_iter(), 256)
                .unwrap_err()
                .contains("at least 257")
        );
    }

    #[test]
    fn a_repeated_word_becomes_one_token() {
        let text = "bonjour ".repeat(20);
        let tokenizer = train([text.as_str()].into_iter(), 400).unwrap();
        let encoded = tokenizer.encode(" bonjour bonjour", false).unwrap();
        assert_eq!(encoded.get_ids().len(), 2);
    }
}
