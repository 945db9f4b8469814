//! What the text of an override is read as: truth values, numbers, Python
//! literals of lists, tuples and dictionaries; anything else is text.

use crate::value::{Kind, Map, Origin, Value};
use crate::yaml::{MAX_DEPTH, scalar};

/// The value of an override's text. A dot decides between float and integer;
/// what has neither form stays text, so `1e-4` and `null` do too.
pub(super) fn typed(text: &str, origin: &Origin) -> Kind {
    if text.eq_ignore_ascii_case("true") {
        return Kind::Bool(true);
    }
    if text.eq_ignore_ascii_case("false") {
        return Kind::Bool(false);
    }
    if text == "None" {
        return Kind::Null;
    }
    if text.starts_with(['[', '(', '{']) {
        let mut reader = Reader {
            text,
            at: 0,
            origin,
            depth: 0,
        };
        let value = reader.value();
        reader.blank();
        return match value {
            Some(value) if reader.at == text.len() => value.kind,
            _ => Kind::Str(text.to_owned()),
        };
    }
    let number = if text.contains('.') {
        float(text.trim())
    } else {
        integer(text.trim())
    };
    number.unwrap_or_else(|| Kind::Str(text.to_owned()))
}

/// Python's `int()` of decimal text: a sign, digits, single underscores
/// between them.
fn integer(text: &str) -> Option<Kind> {
    let (negative, digits) = sign(text);
    let digits = joined(digits)?;
    scalar::decimal_integer(&if negative {
        format!("-{digits}")
    } else {
        digits
    })
}

/// Python's `float()` of decimal text.
fn float(text: &str) -> Option<Kind> {
    let (negative, body) = sign(text);
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(at) => (&body[..at], Some(&body[at + 1..])),
        None => (body, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let part = |text: &str| {
        if text.is_empty() {
            Some(String::new())
        } else {
            joined(text)
        }
    };
    let mut plain = format!("{}.{}", part(whole)?, part(fraction)?);
    if let Some(exponent) = exponent {
        let (negative, digits) = sign(exponent);
        plain.push_str(if negative { "e-" } else { "e" });
        plain.push_str(&joined(digits)?);
    }
    let value: f64 = plain.parse().ok()?;
    Some(Kind::Float(if negative { -value } else { value }))
}

fn sign(text: &str) -> (bool, &str) {
    (
        text.starts_with('-'),
        text.strip_prefix(['-', '+']).unwrap_or(text),
    )
}

/// Digits without the single underscores between them.
fn joined(text: &str) -> Option<String> {
    let ok = !text.is_empty()
        && text
            .split('_')
            .all(|run| !run.is_empty() && run.bytes().all(|b| b.is_ascii_digit()));
    ok.then(|| text.replace('_', ""))
}

/// Reads Python literals; `None` means the text is none.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    origin: &'a Origin,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let found = self.peek()?;
        self.at += found.len_utf8();
        Some(found)
    }

    fn take(&mut self, wanted: char) -> bool {
        self.blank();
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn blank(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.next();
        }
    }

    fn make(&self, kind: Kind) -> Value {
        Value::new(kind, self.origin.clone())
    }

    fn value(&mut self) -> Option<Value> {
        self.blank();
        if self.depth >= MAX_DEPTH / 4 {
            return None;
        }
        self.depth += 1;
        let kind = match self.peek()? {
            '[' => self.sequence(']').map(|(items, _)| Kind::List(items)),
            '(' => self.tuple(),
            '{' => self.dictionary(),
            '\'' | '"' => self.strings(),
            _ => self.word(),
        };
        self.depth -= 1;
        Some(self.make(kind?))
    }

    /// Items up to the closing bracket, and whether a comma ended them.
    fn sequence(&mut self, close: char) -> Option<(Vec<Value>, bool)> {
        self.next();
        let mut items = Vec::new();
        let mut comma = false;
        while !self.take(close) {
            if !items.is_empty() && !comma {
                return None;
            }
            items.push(self.value()?);
            comma = self.take(',');
        }
        Some((items, comma))
    }

    /// A tuple reads as a list; parentheses around one value are no tuple.
    fn tuple(&mut self) -> Option<Kind> {
        let (mut items, comma) = self.sequence(')')?;
        if items.len() == 1 && !comma {
            items.pop().map(|value| value.kind)
        } else {
            Some(Kind::List(items))
        }
    }

    /// A dictionary; a set reads as a list.
    fn dictionary(&mut self) -> Option<Kind> {
        self.next();
        let mut map = Map::new();
        let mut set = Vec::new();
        let mut comma = true;
        while !self.take('}') {
            if !comma {
                return None;
            }
            let key = self.value()?;
            if self.take(':') {
                let value = self.value()?;
                map.insert(key_name(key)?, value);
            } else {
                set.push(key);
            }
            comma = self.take(',');
        }
        match (map.is_empty(), set.is_empty()) {
            (_, true) => Some(Kind::Map(map)),
            (true, false) => Some(Kind::List(set)),
            (false, false) => None,
        }
    }

    /// One or more adjacent string literals.
    fn strings(&mut self) -> Option<Kind> {
        let mut out = String::new();
        while let Some(quote @ ('\'' | '"')) = self.peek() {
            self.next();
            loop {
                match self.next()? {
                    end if end == quote => break,
                    '\\' => self.escape(&mut out)?,
                    other => out.push(other),
                }
            }
            self.blank();
        }
        Some(Kind::Str(out))
    }

    fn escape(&mut self, out: &mut String) -> Option<()> {
        match self.next()? {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            '0' => out.push('\0'),
            '\n' => {}
            quoted @ ('\\' | '\'' | '"') => out.push(quoted),
            code @ ('x' | 'u' | 'U') => {
                let digits = match code {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                let hex = self.text.get(self.at..self.at + digits)?;
                out.push(char::from_u32(u32::from_str_radix(hex, 16).ok()?)?);
                self.at += digits;
            }
            other => {
                out.push('\\');
                out.push(other);
            }
        }
        Some(())
    }

    /// A name or number up to the next delimiter.
    fn word(&mut self) -> Option<Kind> {
        let rest = self.text.get(self.at..)?;
        let end = rest
            .find(|c: char| c.is_whitespace() || ",:[](){}'\"".contains(c))
            .unwrap_or(rest.len());
        let word = rest.get(..end)?;
        self.at += end;
        match word {
            "True" => Some(Kind::Bool(true)),
            "False" => Some(Kind::Bool(false)),
            "None" => Some(Kind::Null),
            _ => number(word),
        }
    }
}

/// A number as Python's source writes it.
fn number(word: &str) -> Option<Kind> {
    let (_, body) = sign(word);
    if ["0x", "0X", "0o", "0O", "0b", "0B"]
        .iter()
        .any(|prefix| body.starts_with(prefix))
    {
        let base = match body.as_bytes().get(1)? {
            b'x' | b'X' => 16,
            b'o' | b'O' => 8,
            _ => 2,
        };
        let value = i64::from_str_radix(&body[2..].replace('_', ""), base).ok()?;
        return Some(Kind::Int(if word.starts_with('-') {
            -value
        } else {
            value
        }));
    }
    if body.contains(['.', 'e', 'E']) {
        return float(word);
    }
    // Python's source has no integers with leading zeros but zero itself.
    if body.len() > 1 && body.starts_with('0') && body.bytes().any(|b| matches!(b, b'1'..=b'9')) {
        return None;
    }
    integer(word)
}

/// A key as text, the way YAML keys are read.
fn key_name(key: Value) -> Option<String> {
    match key.kind {
        Kind::Str(text) => Some(text),
        Kind::List(_) | Kind::Map(_) => None,
        _ => Some(key.to_json().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_read_by_the_documented_rules() {
        let origin = Origin::builtin("test");
        for (text, expected) in [
            ("1e-4", json!("1e-4")),
            ("1.0e-4", json!(1.0e-4)),
            ("1.5e-3", json!(0.0015)),
            ("1.", json!(1.0)),
            (".5", json!(0.5)),
            ("-3", json!(-3)),
            ("+5", json!(5)),
            ("1_000", json!(1000)),
            ("1__0", json!("1__0")),
            ("007", json!(7)),
            ("0x10", json!("0x10")),
            ("FALSE", json!(false)),
            ("true", json!(true)),
            ("None", json!(null)),
            ("null", json!("null")),
            ("yes", json!("yes")),
            ("\"q\"", json!("\"q\"")),
            ("", json!("")),
            ("inf", json!("inf")),
            (".", json!(".")),
            ("1.2.3", json!("1.2.3")),
            ("a.yaml", json!("a.yaml")),
            (" 7 ", json!(7)),
            ("1 2", json!("1 2")),
            ("nan.", json!("nan.")),
            ("[1,2]", json!([1, 2])),
            ("(1,2)", json!([1, 2])),
            ("(1)", json!(1)),
            ("(1,)", json!([1])),
            ("()", json!([])),
            ("[1,", json!("[1,")),
            ("[1,,2]", json!("[1,,2]")),
            ("[1 2]", json!("[1 2]")),
            ("[a]", json!("[a]")),
            (
                "[1, 2.5, 'a', \"b\", None, True, [ ]]",
                json!([1, 2.5, "a", "b", null, true, []]),
            ),
            (
                "{\"x\": 1, 'y': {'z': (1e3, -2)}}",
                json!({"x": 1, "y": {"z": [1000.0, -2]}}),
            ),
            ("{1: 2}", json!({"1": 2})),
            ("{}", json!({})),
            ("{1, 2}", json!([1, 2])),
            ("{a: 1}", json!("{a: 1}")),
            ("['a' 'b']", json!(["ab"])),
            ("['\\x41\\n\\q']", json!(["A\n\\q"])),
            ("[0x10, 0b11, 0o7]", json!([16, 3, 7])),
            ("[01]", json!("[01]")),
            ("[00]", json!([0])),
            ("[1]x", json!("[1]x")),
            ("['é", json!("['é")),
            ("['\\u00e", json!("['\\u00e")),
        ] {
            assert_eq!(
                Value::new(typed(text, &origin), origin.clone()).to_json(),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn brackets_without_end_are_text() {
        let text = "[".repeat(100_000);
        assert_eq!(typed(&text, &Origin::builtin("test")), Kind::Str(text));
    }
}
