//! Cutting long texts, so that one large file neither keeps one core busy
//! alone nor needs all its tokens' bookkeeping at once.

/// Texts up to this size are never cut.
const PIECE_BYTES: usize = 1 << 20;

/// The text in pieces whose tokens together are the tokens of the text: a cut
/// is made behind a line end between two characters that are no white space,
/// where no byte-level pattern in use forms a word across. Only when a whole
/// further piece offers no such place is it cut at any character.
pub(super) fn cut(text: &str) -> Vec<&str> {
    cut_to(text, PIECE_BYTES)
}

fn cut_to(text: &str, piece_bytes: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while rest.len() > piece_bytes {
        let at = place(rest, piece_bytes);
        let (piece, behind) = rest.split_at(at);
        pieces.push(piece);
        rest = behind;
    }
    if !rest.is_empty() || pieces.is_empty() {
        pieces.push(rest);
    }
    pieces
}

/// Where to cut, at `piece_bytes` or behind.
fn place(text: &str, piece_bytes: usize) -> usize {
    let bytes = text.as_bytes();
    let last = (2 * piece_bytes).min(bytes.len());
    let is_word = |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_graphic());
    let good = (piece_bytes..last)
        .find(|at| bytes[at - 1] == b'\n' && *at >= 2 && is_word(at - 2) && is_word(*at));
    let mut at = good.unwrap_or(last);
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_are_the_text(text in "[a-z\n \u{e9}\u{4e16}]{0,200}", size in 1usize..40) {
            let pieces = cut_to(&text, size);
            prop_assert_eq!(&pieces.concat(), &text);
            prop_assert!(pieces.iter().all(|piece| piece.len() <= 2 * size + 3));
        }

        #[test]
        fn pieces_have_the_tokens_of_the_text(
            text in "([a-z]{1,6}[;,(){}]{0,2}[ ]{0,3}\n{1,2}[ ]{0,2}){4,40}", size in 60usize..100,
        ) {
            // The library's own way is the one that cuts into pieces.
            let trained = super::super::Tokenizer::train(&[text.as_str()], 300).unwrap();
            let json = trained.to_json().unwrap().unwrap();
            let tokenizer = super::super::Tokenizer::from_json(json.as_bytes(), "t").unwrap();
            let whole = tokenizer.encode(&text).unwrap();
            let pieces = cut_to(&text, size);
            // Texts without a good place are cut badly, which is known.
            let good = pieces.windows(2).all(|pair| {
                let before = pair[0].as_bytes();
                before.len() >= 2 && before.ends_with(b"\n")
                    && before[before.len() - 2].is_ascii_graphic()
                    && pair[1].as_bytes()[0].is_ascii_graphic()
            });
            if good {
                prop_assert_eq!(tokenizer.encode_all(&pieces).unwrap().concat(), whole);
            }
        }
    }

    #[test]
    fn short_texts_stay_whole_and_long_ones_are_cut_at_lines() {
        assert_eq!(cut(""), [""]);
        assert_eq!(cut("short"), ["short"]);
        let line = "let x = 1;\n";
        let long = line.repeat(300_000);
        let pieces = cut(&long);
        assert_eq!(pieces.len(), 4);
        assert!(pieces.iter().all(|piece| piece.len() % line.len() == 0));
    }
}
