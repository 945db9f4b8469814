//! Values as YAML text that YAML 1.1 and 1.2 readers understand alike: text
//! that either would take for something else is quoted, and floats carry a
//! point and a signed exponent.

use crate::value::{Kind, Value, float_text};
use crate::yaml::scalar;

/// Characters of a key that readers find without its being marked as one; YAML
/// says 1024.
const MAX_SIMPLE_KEY: usize = 1000;

/// What comment a value gets.
pub(super) type Comment<'a> = dyn Fn(&Value) -> Option<String> + 'a;

/// A tree in block style.
pub(super) fn document(value: &Value, comment: &Comment<'_>) -> String {
    let mut out = String::new();
    match &value.kind {
        Kind::Map(map) if !map.is_empty() => block(value, 0, comment, &mut out),
        Kind::List(items) if !items.iter().all(is_leaf) => block(value, 0, comment, &mut out),
        _ => line(value, comment, &mut out),
    }
    out
}

/// A value on one line, lists and maps in flow style.
pub(super) fn inline(value: &Value) -> String {
    match &value.kind {
        Kind::Null => "null".to_owned(),
        Kind::Bool(flag) => flag.to_string(),
        Kind::Int(number) => number.to_string(),
        Kind::BigInt(text) | Kind::Date(text) => text.clone(),
        Kind::Float(number) => float(*number),
        Kind::Str(text) => string(text),
        Kind::List(items) => format!(
            "[{}]",
            items.iter().map(inline).collect::<Vec<_>>().join(", ")
        ),
        Kind::Map(map) => {
            let entries = map
                .iter()
                .map(|(key, value)| format!("{}: {}", string(key), inline(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

/// The start of a text, on one line.
pub(super) fn shorten(text: &str) -> String {
    scalar::shorten(&text.replace(['\n', '\r'], " "))
}

fn is_leaf(value: &Value) -> bool {
    match &value.kind {
        Kind::List(items) => items.is_empty(),
        Kind::Map(map) => map.is_empty(),
        _ => true,
    }
}

fn block(value: &Value, indent: usize, comment: &Comment<'_>, out: &mut String) {
    let mut entry = |start: String, value: &Value| {
        out.push_str(&" ".repeat(indent));
        out.push_str(&start);
        let nested = match &value.kind {
            Kind::Map(map) => !map.is_empty(),
            Kind::List(items) => !items.iter().all(is_leaf),
            _ => false,
        };
        if nested {
            out.push('\n');
            block(value, indent + 2, comment, out);
        } else {
            out.push(' ');
            line(value, comment, out);
        }
    };
    match &value.kind {
        Kind::Map(map) => {
            for (key, value) in map {
                let key = string(key);
                if key.chars().count() > MAX_SIMPLE_KEY {
                    entry(format!("? {key}\n{}:", " ".repeat(indent)), value);
                } else {
                    entry(format!("{key}:"), value);
                }
            }
        }
        Kind::List(items) => items.iter().for_each(|value| entry("-".to_owned(), value)),
        _ => {}
    }
}

fn line(value: &Value, comment: &Comment<'_>, out: &mut String) {
    out.push_str(&inline(value));
    if let Some(comment) = comment(value) {
        out.push_str("  # ");
        out.push_str(&comment);
    }
    out.push('\n');
}

/// A float in the form that YAML 1.1 reads as one: `1.0e-5`.
fn float(number: f64) -> String {
    let text = float_text(number);
    let Some((mantissa, exponent)) = text.split_once('e') else {
        return text;
    };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}

/// Text, plain where every reader takes it for this text.
fn string(text: &str) -> String {
    if is_plain(text) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

fn is_plain(text: &str) -> bool {
    let body = text.strip_prefix(['-', '+', '.']).unwrap_or(text);
    let numeric = body.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let word = matches!(
        text.to_ascii_lowercase().as_str(),
        "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n" | "~" | ""
    );
    // What starts like a number is plain only if it cannot be one: versions
    // and file names.
    let could_be_number = numeric
        && text
            .bytes()
            .all(|b| b.is_ascii_hexdigit() || b"._-+:xob TtZz".contains(&b));
    !word
        && !could_be_number
        && text
            .chars()
            .all(|c| matches!(c, '!'..='~' | ' ' | '\u{a1}'..='\u{d7ff}'))
        && !text.starts_with(|c: char| " -?:,[]{}#&*!|>'\"%@`=<~".contains(c))
        && !text.ends_with([' ', ':'])
        // Before the `]` of a list these would begin a scalar of their own.
        && !text.ends_with(" -")
        && !text.ends_with(" ?")
        && !text.contains([',', '[', ']', '{', '}'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.contains(['\u{2028}', '\u{2029}', '\u{200b}'])
}

/// Text in double quotes with escapes.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ' '..='~' | '\u{a1}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}' => out.push(c),
            c if u32::from(c) <= 0xffff => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::value::{Map, Origin};

    fn value(kind: Kind) -> Value {
        Value::new(kind, Origin::builtin("test"))
    }

    fn read_back(value: &Value) -> Value {
        let text = document(value, &|_| Some("a comment: [x".to_owned()));
        let mut diagnostics = Vec::new();
        let (_, read) = crate::yaml::read("test", text.clone().into_bytes(), &mut diagnostics);
        assert!(
            diagnostics.is_empty(),
            "{text}\n{}",
            diagnostics[0].render(false)
        );
        read.unwrap()
    }

    #[test]
    fn text_that_looks_like_something_else_is_quoted() {
        for text in [
            "yes",
            "No",
            "1e-4",
            "012",
            "1.0",
            "12:30",
            "2026-01-01",
            "",
            " a",
            "a: b",
            "a #b",
            "- a",
            "null",
            "~",
            "0x1",
            "=",
            "<<",
            "a:",
            "[a",
            ".5",
            "-.inf",
            "1e5",
        ] {
            assert_eq!(
                inline(&value(Kind::Str(text.to_owned()))),
                quoted(text),
                "{text}"
            );
        }
        for text in [
            "llama3.1_8B",
            "./output",
            "amd",
            "a b",
            "http://x/y",
            "platform_azure.yaml",
            "deepseek-ai/DeepSeek-V3",
            "é",
        ] {
            assert_eq!(inline(&value(Kind::Str(text.to_owned()))), text);
        }
    }

    #[test]
    fn floats_are_written_so_that_yaml_1_1_reads_floats() {
        for (number, text) in [
            (1.0e-5, "1.0e-5"),
            (1e300, "1.0e+300"),
            (1.5, "1.5"),
            (2.0, "2.0"),
            (-0.0, "-0.0"),
            (f64::INFINITY, ".inf"),
            (f64::NEG_INFINITY, "-.inf"),
        ] {
            assert_eq!(inline(&value(Kind::Float(number))), text);
        }
    }

    #[test]
    fn an_indicator_at_the_end_of_a_text_in_a_list_is_quoted() {
        for text in ["a -", "TZ  -", "a ?"] {
            let tree = value(Kind::List(vec![value(Kind::Str(text.to_owned()))]));
            assert_eq!(read_back(&tree), tree, "{text}");
        }
    }

    #[test]
    fn a_long_key_reads_back() {
        let key = "\u{1}".repeat(400);
        let map: Map = [
            (key, value(Kind::Int(1))),
            ("b".to_owned(), value(Kind::Int(2))),
        ]
        .into();
        let outer: Map = [("x".repeat(2000), value(Kind::Map(map)))].into();
        let tree = value(Kind::Map(outer));
        assert_eq!(read_back(&tree), tree);
    }

    fn tree() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Kind::Null),
            any::<bool>().prop_map(Kind::Bool),
            any::<i64>().prop_map(Kind::Int),
            any::<f64>()
                .prop_filter("equal to itself", |f| !f.is_nan())
                .prop_map(Kind::Float),
            ".{0,12}".prop_map(Kind::Str),
            "[-+.0-9_eEx:a-fTZ ]{0,10}".prop_map(Kind::Str),
            any::<String>().prop_map(Kind::Str),
        ];
        leaf.prop_map(value).prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4)
                    .prop_map(|items| value(Kind::List(items))),
                proptest::collection::vec((".{0,6}", inner), 0..4)
                    .prop_map(|entries| value(Kind::Map(entries.into_iter().collect::<Map>()))),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_the_same(tree in tree()) {
            prop_assert_eq!(read_back(&tree), tree);
        }
    }
}
