//! Layouts that `PyYAML` reads and the parser refuses: lines inside brackets or
//! quotes that stand left of their key, comments right after a bracket or quote,
//! and a bracket right after a colon. Blanks are added there, which mean nothing in these places, and the
//! text is parsed again; places stay those of the text as written.

use std::borrow::Cow;
use std::collections::BTreeMap;

use saphyr_parser::ScanError;

/// Blanks added to a line at a time.
const STEP: usize = 64;
/// Blanks that one place may get.
const MAX_BLANKS: usize = 1024;
/// Bytes that may be parsed again for one file.
const MAX_PARSED: usize = 32 << 20;

/// A text with blanks to add at byte offsets.
#[derive(Debug, Default)]
pub(super) struct Relaxed {
    blanks: BTreeMap<usize, usize>,
    parsed: usize,
}

/// What the parser sees, and the byte of the text behind each of its
/// characters; empty when the two are the same.
pub(super) struct View<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) offsets: Vec<u32>,
}

impl Relaxed {
    /// The text with the blanks so far.
    pub(super) fn view<'a>(&self, text: &'a str) -> View<'a> {
        if self.blanks.is_empty() {
            let offsets = if text.is_ascii() {
                Vec::new()
            } else {
                text.char_indices().map(|(at, _)| offset(at)).collect()
            };
            return View {
                text: Cow::Borrowed(text),
                offsets,
            };
        }
        let mut out = String::with_capacity(text.len() + self.blanks.values().sum::<usize>());
        let mut offsets = Vec::with_capacity(out.capacity());
        for (at, c) in text.char_indices() {
            for _ in 0..self.blanks.get(&at).copied().unwrap_or_default() {
                out.push(' ');
                offsets.push(offset(at));
            }
            out.push(c);
            offsets.push(offset(at));
        }
        View {
            text: Cow::Owned(out),
            offsets,
        }
    }

    /// Adds blanks for an error at a byte of the text; false when the error is
    /// one that stands.
    pub(super) fn repair(&mut self, text: &str, error: &ScanError, at: usize) -> bool {
        self.parsed = self.parsed.saturating_add(text.len());
        if self.parsed > MAX_PARSED {
            return false;
        }
        match error.info() {
            // In block context the parser closes blocks instead.
            "invalid indentation" | "invalid indentation in flow construct" => {
                let start = text
                    .get(..at)
                    .and_then(|before| before.rfind('\n'))
                    .map_or(0, |end| end + 1);
                self.add(start, STEP)
            }
            "invalid indentation in quoted scalar" => self.indent_quoted(text, at),
            "comments must be separated from other tokens by whitespace" => {
                match text
                    .get(at..)
                    .and_then(|rest| rest.lines().next()?.find('#'))
                {
                    Some(hash) => self.add(at + hash, 1),
                    None => false,
                }
            }
            "':' may not precede any of `[{` in flow mapping" => {
                let found = text.get(at..).and_then(|rest| rest.find([':', '\n']));
                match found.map(|colon| at + colon + 1) {
                    Some(after)
                        if text
                            .as_bytes()
                            .get(after)
                            .is_some_and(|b| matches!(b, b'[' | b'{')) =>
                    {
                        self.add(after, 1)
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Indents the lines of a quoted text after its first.
    fn indent_quoted(&mut self, text: &str, start: usize) -> bool {
        let body = text.get(start..).unwrap_or_default();
        let quoted = body.get(..quoted_length(body)).unwrap_or_default();
        let mut added = false;
        for (at, _) in quoted.match_indices('\n') {
            added |= self.add(start + at + 1, STEP);
        }
        added
    }

    fn add(&mut self, at: usize, blanks: usize) -> bool {
        let here = self.blanks.entry(at).or_default();
        *here += blanks;
        *here <= MAX_BLANKS
    }
}

/// Bytes of the quoted text that a text starts with, quotes included; all of it
/// when the quote does not close, none when it does not open.
pub(super) fn quoted_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let quote = match bytes.first() {
        Some(quote @ (b'"' | b'\'')) => *quote,
        _ => return 0,
    };
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        let next = bytes.get(at + 1);
        if (quote == b'"' && *byte == b'\\')
            || (*byte == quote && quote == b'\'' && next == Some(&quote))
        {
            at += 2;
        } else if *byte == quote {
            return at + 1;
        } else {
            at += 1;
        }
    }
    text.len()
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use crate::yaml::read;

    fn json(text: &str) -> Result<String, String> {
        let mut diagnostics = Vec::new();
        match read("test", text.as_bytes().to_vec(), &mut diagnostics).1 {
            Some(value) => Ok(value.to_json().to_string()),
            None => Err(diagnostics.iter().map(|d| d.message.clone()).collect()),
        }
    }

    /// Each row was read with `PyYAML` 6.0.3.
    #[test]
    fn brackets_and_quotes_may_go_on_at_any_column() {
        for (text, expected) in [
            ("a:\n  b: [\n    1,\n]\nc: 2\n", r#"{"a":{"b":[1]},"c":2}"#),
            ("a:\n  b: [\n  1,\n  ]\n", r#"{"a":{"b":[1]}}"#),
            ("a:\n- b: [\n  1]\n", r#"{"a":[{"b":[1]}]}"#),
            ("a:\n  b: {c: 1,\nd: 2}\n", r#"{"a":{"b":{"c":1,"d":2}}}"#),
            ("a: [x,\ny,\nz]\n", r#"{"a":["x","y","z"]}"#),
            ("a: [{x: é},\n{x: 2}]\n", r#"{"a":[{"x":"é"},{"x":2}]}"#),
            ("a:\n  b: \"x\ny\n\n z\"\n", r#"{"a":{"b":"x y\nz"}}"#),
            ("a:\n  b: 'it''s\ny'\n", r#"{"a":{"b":"it's y"}}"#),
            ("a: {b:{c: 1}, d:[2]}\n", r#"{"a":{"b":{"c":1},"d":[2]}}"#),
            ("a: \"x\"#c\nb: [1]# d\n", r##"{"a":"x","b":[1]}"##),
        ] {
            assert_eq!(json(text), Ok(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn places_are_those_of_the_text_as_written() {
        let text = "a:\n  é: [\n1,\n  2]\nb: \"x\"#\nc: 3\n";
        let value = read("test", text.as_bytes().to_vec(), &mut Vec::new())
            .1
            .unwrap();
        for (path, shown, line) in [
            ("a.é.0", "1", 3),
            ("a.é.1", "2", 4),
            ("b", "\"x\"", 5),
            ("c", "3", 6),
        ] {
            let origin = &value.get(path).unwrap().origin;
            assert_eq!(
                (&text[origin.range.clone()], origin.line()),
                (shown, line),
                "{path}"
            );
        }
    }

    #[test]
    fn a_range_ends_with_its_scalar() {
        let text =
            "a: \"x\"  # \"c\"\nb: 'y' # it's\nc: z  # c\nd: |\n  t\n\n# c\ne: 1\n\"f\" : 2\n";
        let value = read("test", text.as_bytes().to_vec(), &mut Vec::new())
            .1
            .unwrap();
        for (key, shown) in [
            ("a", "\"x\""),
            ("b", "'y'"),
            ("c", "z"),
            ("d", "t"),
            ("e", "1"),
            ("f", "2"),
        ] {
            assert_eq!(
                &text[value.get(key).unwrap().origin.range.clone()],
                shown,
                "{key}"
            );
        }
        assert_eq!(&text[value.get("f").unwrap().key.clone().unwrap()], "\"f\"");
    }

    #[test]
    fn broken_layout_in_blocks_stays_an_error() {
        for text in ["a:\n    b: 1\n  c: 2\n", "a: [1\nb: 2\n", "a: \"x\nb: 2\n"] {
            assert!(
                json(text).is_err_and(|message| message.starts_with("broken YAML")),
                "{text}"
            );
        }
        let endless = format!("a: [\n{}", "1,\n".repeat(300_000));
        assert!(json(&endless).is_err());
    }

    #[test]
    fn a_block_text_that_ends_with_the_file_has_no_line_break() {
        for (text, expected) in [
            ("a: |\n  x", r#"{"a":"x"}"#),
            ("a: >\n  x\n", r#"{"a":"x\n"}"#),
            ("a: |+\n  x\n\n", r#"{"a":"x\n\n"}"#),
            ("a: |-\n  x", r#"{"a":"x"}"#),
            ("a: |\n  x\n  ", r#"{"a":"x\n"}"#),
        ] {
            assert_eq!(json(text), Ok(expected.to_owned()), "{text:?}");
        }
    }
}
