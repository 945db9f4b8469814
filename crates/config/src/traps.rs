//! Warnings for values that are read otherwise than their writer probably
//! meant. The values stay as they are.

use cairn_base::{Diagnostic, nearest};

use crate::value::{Kind, Map, Value, Via};
use crate::yaml::scalar;

/// Warnings about one module.
const MAX_WARNINGS: usize = 30;

/// Warnings about the params of a module of another framework, which no schema
/// checks.
pub(crate) fn params(params: &Value, diagnostics: &mut Vec<Diagnostic>) {
    let mut found = Vec::new();
    walk("", params, &mut found);
    found.truncate(MAX_WARNINGS);
    diagnostics.append(&mut found);
}

fn walk(path: &str, value: &Value, found: &mut Vec<Diagnostic>) {
    let below = |key: &str| {
        if path.is_empty() {
            key.to_owned()
        } else {
            format!("{path}.{key}")
        }
    };
    match &value.kind {
        Kind::Map(map) => {
            for (key, inner) in map {
                if key == "extends" {
                    let warning = Diagnostic::warning(
                        "config::inner-extends",
                        format!(
                            "`{}` loads nothing: `extends` counts at the top of a file only",
                            below(key)
                        ),
                    );
                    found.push(
                        inner
                            .origin
                            .mark(warning, "")
                            .hint("move it to the top of the file"),
                    );
                }
                if found.len() < MAX_WARNINGS {
                    walk(&below(key), inner, found);
                }
            }
        }
        Kind::List(items) => {
            for (index, inner) in items.iter().enumerate() {
                if found.len() < MAX_WARNINGS {
                    walk(&below(&index.to_string()), inner, found);
                }
            }
        }
        _ => found.extend(leaf(path, value)),
    }
}

/// The warning about one value, if its text is not what was read.
fn leaf(path: &str, value: &Value) -> Option<Diagnostic> {
    if !matches!(value.origin.via, Via::Literal | Via::CommandLine) {
        return None;
    }
    let written = value.origin.source.text.get(value.origin.range.clone())?;
    let mark =
        |diagnostic: Diagnostic, hint: String| Some(value.origin.mark(diagnostic, "").hint(hint));
    match &value.kind {
        Kind::Str(text) if text == written && looks_like_a_number(text) => {
            let message = format!("`{path}` is read as the text \"{text}\", not as a number");
            let hint = match text.split_once(['e', 'E']) {
                Some((mantissa, exponent)) => {
                    let point = if mantissa.contains('.') { "" } else { ".0" };
                    let sign = if exponent.starts_with(['-', '+']) {
                        ""
                    } else {
                        "+"
                    };
                    format!("write {mantissa}{point}e{sign}{exponent}")
                }
                None => "write it in decimal digits, with a digit before the point".to_owned(),
            };
            mark(Diagnostic::warning("config::number-as-text", message), hint)
        }
        Kind::Str(text)
            if value.origin.via == Via::CommandLine && matches!(text.as_str(), "null" | "~") =>
        {
            let message = format!("`{path}` is read as the text \"{text}\", not as null");
            mark(
                Diagnostic::warning("config::null-text", message),
                "write None".to_owned(),
            )
        }
        Kind::Int(number) if octal_or_sexagesimal(written) => {
            let message = format!("`{path}` is written {written} and read as {number}");
            mark(
                Diagnostic::warning("config::odd-number", message),
                "write it in decimal, or in quotes if it is text".to_owned(),
            )
        }
        Kind::Float(number) if written.contains(':') => {
            let message = format!("`{path}` is written {written} and read as {number}");
            mark(
                Diagnostic::warning("config::odd-number", message),
                "write it in decimal, or in quotes if it is text".to_owned(),
            )
        }
        Kind::Bool(flag)
            if scalar::boolean(written).is_some()
                && !written.eq_ignore_ascii_case("true")
                && !written.eq_ignore_ascii_case("false") =>
        {
            let message = format!("`{path}` is written {written} and read as {flag}");
            mark(
                Diagnostic::note("config::odd-boolean", message),
                format!("write {flag}, or put it in quotes if it is text"),
            )
        }
        _ => None,
    }
}

/// Text that other readers take for a number: `1e-4`, `1.0e12`, `-.5`, `08`.
fn looks_like_a_number(text: &str) -> bool {
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    body.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && body.bytes().any(|b| b.is_ascii_digit())
        && body
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'-' | b'+'))
        && text.parse::<f64>().is_ok()
}

fn octal_or_sexagesimal(written: &str) -> bool {
    let body = written.strip_prefix(['-', '+']).unwrap_or(written);
    let octal = body.len() > 1
        && body.starts_with('0')
        && body.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    (octal && body.bytes().any(|b| matches!(b, b'1'..=b'9'))) || body.contains(':')
}

/// Warnings about overrides that name nothing known, before they are merged.
pub(crate) fn unknown_overrides(
    prefix: &str,
    overrides: &Map,
    params: &Map,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for (key, value) in overrides {
        let name = format!("{prefix}{key}");
        match params.get(key) {
            Some(Value {
                kind: Kind::Map(inner),
                ..
            }) => {
                if let Kind::Map(entries) = &value.kind {
                    unknown_overrides(&format!("{name}."), entries, inner, diagnostics);
                }
            }
            Some(_) => {}
            None => {
                let Some(meant) = nearest(key, params.keys().map(String::as_str)) else {
                    continue;
                };
                let warning = Diagnostic::warning(
                    "config::unknown-override",
                    format!("`{name}` is a new parameter: no preset has it"),
                );
                diagnostics.push(
                    value
                        .origin
                        .mark(warning, "")
                        .hint(format!("did you mean `{prefix}{meant}`?")),
                );
            }
        }
    }
}
