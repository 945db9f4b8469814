//! One written value against its row: type, range and choice.

use cairn_base::{Diagnostic, nearest};
use serde_json::Value as Json;

use super::check::{a, list};
use super::entries::mark;
use super::layers;
use super::table::{Fallback, Field, FieldKind, Interval};
use crate::value::{Kind, Value, Via};

/// A value as JSON of the row's type, with a note if it was not written as
/// such; or the error.
pub(super) fn read(row: &Field, value: &Value) -> Result<(Json, Option<Diagnostic>), Diagnostic> {
    read_strictly(row, value).map_err(|error| {
        if error.hints.is_empty() {
            error.hint(advice(row))
        } else {
            error
        }
    })
}

/// What the parameter means, where the mistake itself does not tell what to
/// write.
fn advice(row: &Field) -> String {
    let default = match row.default_json() {
        Some(default) if !default.is_null() => format!("; the default is {}", yaml_text(&default)),
        _ => String::new(),
    };
    format!("`{}` means: {}{default}", row.key(), row.meaning())
}

/// JSON as YAML 1.1 reads it back: a floating-point number needs a point, and
/// a sign if it has an exponent.
pub(super) fn yaml_text(json: &Json) -> String {
    match json {
        Json::String(text) => text.clone(),
        Json::Number(number) if number.is_f64() => float_text(&number.to_string()),
        _ => json.to_string(),
    }
}

/// The spelling of a number that YAML 1.1 reads as a floating-point number.
fn float_text(text: &str) -> String {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    match exponent {
        None => format!("{mantissa}{point}"),
        Some(exponent) => {
            let sign = if exponent.starts_with(['+', '-']) {
                ""
            } else {
                "+"
            };
            format!("{mantissa}{point}e{sign}{exponent}")
        }
    }
}

fn read_strictly(row: &Field, value: &Value) -> Result<(Json, Option<Diagnostic>), Diagnostic> {
    if value.is_null() {
        return null(row, value).map(|json| (json, None));
    }
    if row.nullable() && value.as_str() == Some("null") {
        let note = mark(
            &value.origin,
            Diagnostic::note(
                "config::null-as-text",
                format!("the text \"null\" for `{}` is read as null", row.name),
            ),
            "",
        )
        .hint("write `null` without quotes in a file");
        return Ok((Json::Null, Some(note)));
    }
    match row.kind {
        FieldKind::Bool => match value.as_bool() {
            Some(flag) => Ok((flag.into(), None)),
            None => Err(wrong_type(row, value)),
        },
        FieldKind::Text => match value.as_str() {
            Some(text) => Ok((text.into(), None)),
            None => Err(text_wanted(row, value)),
        },
        FieldKind::Texts => texts(row, value),
        FieldKind::Choice(words) => choice(row, words, value),
        FieldKind::Int { min, max } => integer(row, min, max, value),
        FieldKind::Float(range) => number(row, range, value),
        FieldKind::LayerPattern => layers::read(row, value).map(|json| (json, None)),
        FieldKind::Object => Err(wrong_type(row, value)),
    }
}

/// What `null` means for this row.
fn null(row: &Field, value: &Value) -> Result<Json, Diagnostic> {
    if row.nullable() {
        return Ok(Json::Null);
    }
    if let FieldKind::Choice(words) = row.kind
        && words.contains(&"none")
    {
        return Ok("none".into());
    }
    let diagnostic = wrong_type(row, value);
    Err(match row.default_json() {
        Some(default) => diagnostic.hint(format!(
            "leave it out for the default, {}",
            yaml_text(&default)
        )),
        None => diagnostic,
    })
}

fn integer(
    row: &Field,
    min: i64,
    max: i64,
    value: &Value,
) -> Result<(Json, Option<Diagnostic>), Diagnostic> {
    match &value.kind {
        Kind::Int(found) if (min..=max).contains(found) => Ok((Json::from(*found), None)),
        Kind::Int(found) => Err(out_of_range(
            row,
            value,
            &found.to_string(),
            &bounds(min, max),
        )),
        // Too large for any bound that would be left out.
        Kind::BigInt(digits) => Err(out_of_range(
            row,
            value,
            digits,
            &format!("from {min} to {max}"),
        )),
        Kind::Str(text) => match plain_number(text).and_then(whole) {
            Some(found) if (min..=max).contains(&found) => {
                let note = read_as_number(row, value, text, &found.to_string(), &found.to_string());
                Ok((Json::from(found), Some(note)))
            }
            Some(found) => Err(out_of_range(
                row,
                value,
                &found.to_string(),
                &bounds(min, max),
            )),
            None => Err(number_wanted(row, value)),
        },
        Kind::Float(found) => {
            let diagnostic = wrong_type(row, value);
            Err(match whole(*found) {
                Some(found) => diagnostic.hint(format!("write `{}: {found}`", row.key())),
                None => diagnostic,
            })
        }
        _ => Err(number_wanted(row, value)),
    }
}

fn number(
    row: &Field,
    range: Interval,
    value: &Value,
) -> Result<(Json, Option<Diagnostic>), Diagnostic> {
    let (found, note) = match &value.kind {
        Kind::Str(text) => match plain_number(text) {
            Some(found) => {
                let number = format!("{found:?}");
                (
                    found,
                    Some(read_as_number(row, value, text, &number, &float_text(text))),
                )
            }
            None => return Err(number_wanted(row, value)),
        },
        _ => match value.as_f64() {
            Some(found) => (found, None),
            None => return Err(number_wanted(row, value)),
        },
    };
    if range.contains(found) {
        Ok((Json::from(found), note))
    } else {
        Err(out_of_range(
            row,
            value,
            &format!("{found:?}"),
            &interval(range),
        ))
    }
}

fn choice(
    row: &Field,
    words: &[&str],
    value: &Value,
) -> Result<(Json, Option<Diagnostic>), Diagnostic> {
    let Some(found) = value.as_str() else {
        return Err(wrong_type(row, value).hint(format!("write one of {}", list(words))));
    };
    if words.contains(&found) {
        return Ok((found.into(), None));
    }
    let message = format!("`{}` cannot be `{found}`", row.name);
    let mut diagnostic = mark(
        &value.origin,
        Diagnostic::error("config::unknown-choice", message),
        "",
    );
    if let Some(same) = same_meaning(row.name, found) {
        diagnostic = diagnostic.hint(format!("write `{same}`, which means the same"));
    } else if let Some(near) = nearest(found, words.iter().copied()) {
        diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
    }
    Err(diagnostic.hint(match words {
        [only] => format!("`{only}` is the only choice"),
        _ => format!("write one of {}", list(words)),
    }))
}

/// Words of other programs for what is meant.
fn same_meaning(name: &str, word: &str) -> Option<&'static str> {
    let same = match (name, word.to_lowercase().as_str()) {
        ("precision", "bfloat16") => "bf16",
        ("precision", "fp16" | "float16" | "half") => "f16",
        ("precision", "fp32" | "float32" | "float") => "f32",
        ("precision", "fp64" | "float64" | "double") => "f64",
        ("optimizer", "adam") => "adamw",
        ("data.tokenizer.kind", "huggingfacetokenizer" | "huggingface" | "hf") => "file",
        ("activation", "silu") => "swiglu",
        ("activation", "gelu") => "geglu",
        _ => return None,
    };
    Some(same)
}

fn texts(row: &Field, value: &Value) -> Result<(Json, Option<Diagnostic>), Diagnostic> {
    if let Some(text) = value.as_str() {
        return Err(wrong_type(row, value).hint(list_wanted(row, value, text)));
    }
    let Some(items) = value.as_list() else {
        return Err(wrong_type(row, value));
    };
    let mut found = Vec::with_capacity(items.len());
    for item in items {
        match item.as_str() {
            Some(text) => found.push(Json::from(text)),
            None => return Err(text_wanted(row, item)),
        }
    }
    Ok((Json::Array(found), None))
}

/// A number that YAML 1.1 keeps as text, such as `1e-4`: digits, a point, an
/// exponent and a sign, nothing else.
pub(super) fn plain_number(text: &str) -> Option<f64> {
    let allowed = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    if text.is_empty() || !text.chars().all(allowed) || !text.contains(|c: char| c.is_ascii_digit())
    {
        return None;
    }
    text.parse().ok()
}

/// The whole number that a floating-point number is, if exactly one.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the range is checked first"
)]
fn whole(value: f64) -> Option<i64> {
    // 2^53: beyond it not every integer has a floating-point number.
    (value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0).then_some(value as i64)
}

fn read_as_number(
    row: &Field,
    value: &Value,
    text: &str,
    number: &str,
    spelling: &str,
) -> Diagnostic {
    let message = format!(
        "`{text}` for `{}` is text in YAML 1.1 and is read as the number {number}",
        row.name
    );
    mark(
        &value.origin,
        Diagnostic::note("config::number-as-text", message),
        "",
    )
    .hint(format!(
        "write `{spelling}`, which is a number in every YAML"
    ))
}

fn wrong_type(row: &Field, value: &Value) -> Diagnostic {
    let wanted = match row.kind {
        FieldKind::Bool => "`true` or `false`",
        FieldKind::Int { .. } => "an integer",
        FieldKind::Float(_) => "a number",
        FieldKind::Text => "text",
        FieldKind::Texts => "a list of texts",
        FieldKind::Choice(_) => "one of several words",
        FieldKind::LayerPattern => {
            "an integer, a list of 0 and 1, or text such as \"[0]*3+[1]*58\""
        }
        FieldKind::Object => "a mapping",
    };
    let message = format!(
        "`{}` must be {wanted}, not {}",
        row.name,
        a(value.type_name())
    );
    mark(
        &value.origin,
        Diagnostic::error("config::wrong-type", message),
        "",
    )
}

/// How the list is written that a text was given for: on a command line, what
/// looks like one without quotes is read as text.
fn list_wanted(row: &Field, value: &Value, text: &str) -> String {
    let inner = text.trim().trim_start_matches('[').trim_end_matches(']');
    let quoted: Vec<String> = inner
        .split(',')
        .map(|item| item.trim().trim_matches(['\'', '"']))
        .filter(|item| !item.is_empty())
        .map(|item| format!("'{item}'"))
        .collect();
    let items = quoted.join(", ");
    match value.origin.via {
        Via::CommandLine => format!("quote what is in the list: `\"{}=[{items}]\"`", row.name),
        _ => format!("write `{}: [{inner}]`", row.key()),
    }
}

/// Something else where a number is wanted: shows one.
fn number_wanted(row: &Field, value: &Value) -> Diagnostic {
    let example = match (row.default_json(), row.kind) {
        (Some(default), _) if default.is_number() => yaml_text(&default),
        (_, FieldKind::Int { min, max }) => 64.clamp(min, max).to_string(),
        (_, FieldKind::Float(range)) if range.contains(1e-3) => "1.0e-3".to_owned(),
        (_, FieldKind::Float(range)) => float_text(&format!("{:?}", range.min)),
        _ => return wrong_type(row, value),
    };
    let hint = format!("write a number, as in `{}: {example}`", row.key());
    wrong_type(row, value).hint(hint).hint(advice(row))
}

/// A number or the like where text is wanted: quotes help.
fn text_wanted(row: &Field, value: &Value) -> Diagnostic {
    let diagnostic = wrong_type(row, value);
    match &value.kind {
        Kind::Int(_) | Kind::BigInt(_) | Kind::Float(_) | Kind::Bool(_) | Kind::Date(_) => {
            diagnostic.hint("put it in quotes if it is meant as text")
        }
        _ => diagnostic,
    }
}

fn out_of_range(row: &Field, value: &Value, found: &str, wanted: &str) -> Diagnostic {
    let message = format!("`{}` is {found}, but must be {wanted}", row.name);
    let diagnostic = mark(
        &value.origin,
        Diagnostic::error("config::out-of-range", message),
        "",
    );
    diagnostic.hint(match row.default {
        Fallback::Null => "write `null` to switch it off".to_owned(),
        Fallback::Derived(rule) => format!("leave it out to take {rule}"),
        _ => advice(row),
    })
}

fn bounds(min: i64, max: i64) -> String {
    if max == i64::MAX {
        format!("at least {min}")
    } else {
        format!("from {min} to {max}")
    }
}

fn interval(range: Interval) -> String {
    let low = if range.min_allowed {
        "at least"
    } else {
        "above"
    };
    if range.max.is_infinite() {
        return format!("finite and {low} {}", range.min);
    }
    let high = if range.max_allowed {
        "at most"
    } else {
        "below"
    };
    format!("{low} {} and {high} {}", range.min, range.max)
}
