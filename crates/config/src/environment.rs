//! The `env` block: variables that a run sets, as text.

use cairn_base::Diagnostic;

use crate::module::not_a_mapping;
use crate::resolve::Env;
use crate::value::{Kind, Map, Value, float_text};

/// The variables of the `env` block as a map of texts; `$NAME` and `${NAME}`
/// that are set are replaced, others stay.
pub(crate) fn assemble(
    block: Option<Value>,
    env: &dyn Env,
    diagnostics: &mut Vec<Diagnostic>,
) -> Value {
    let empty = || Value::builtin(Kind::Map(Map::new()), "no environment");
    let Some(mut block) = block.filter(|block| !block.is_null()) else {
        return empty();
    };
    let Kind::Map(entries) = &mut block.kind else {
        diagnostics.push(not_a_mapping("env", &block));
        return empty();
    };
    for (name, value) in entries.iter_mut() {
        if name.is_empty() || name.contains(['=', '\0']) {
            let error = Diagnostic::error(
                "config::bad-variable",
                format!(
                    "`{}` is no name of an environment variable",
                    name.escape_debug()
                ),
            );
            diagnostics.push(
                value
                    .origin
                    .mark(error, "")
                    .hint("use letters, digits and underscores"),
            );
        }
        let Some(text) = python_text(&value.kind) else {
            let error = Diagnostic::error(
                "config::wrong-type",
                format!(
                    "`env.{name}` is {} and cannot be an environment variable",
                    value.described()
                ),
            );
            diagnostics.push(
                value
                    .origin
                    .mark(error, "")
                    .hint("write it as text, in quotes"),
            );
            continue;
        };
        if matches!(value.kind, Kind::Bool(_) | Kind::Null) {
            let warning = Diagnostic::warning(
                "config::odd-variable",
                format!(
                    "`env.{name}` is {} and is exported as the text `{text}`",
                    value.described()
                ),
            );
            diagnostics.push(
                value
                    .origin
                    .mark(warning, "")
                    .hint("put the text you mean in quotes"),
            );
        }
        value.kind = Kind::Str(expand(&text, env));
    }
    block
}

/// A scalar as Python's `str` writes it.
fn python_text(kind: &Kind) -> Option<String> {
    match kind {
        Kind::Null => Some("None".to_owned()),
        Kind::Bool(true) => Some("True".to_owned()),
        Kind::Bool(false) => Some("False".to_owned()),
        Kind::Int(value) => Some(value.to_string()),
        Kind::Float(value) if value.is_finite() => Some(float_text(*value)),
        Kind::Float(value) => Some(float_text(*value).replace('.', "")),
        Kind::BigInt(text) | Kind::Str(text) | Kind::Date(text) => Some(text.clone()),
        Kind::List(_) | Kind::Map(_) => None,
    }
}

/// `$NAME` and `${NAME}` replaced where the variable is set.
fn expand(text: &str, env: &dyn Env) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let (name, used) = match after.strip_prefix('{') {
            Some(body) => match body.find('}') {
                Some(end) => (&body[..end], end + 2),
                None => ("", 0),
            },
            None => {
                let end = after
                    .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                    .unwrap_or(after.len());
                (&after[..end], end)
            }
        };
        match Some(name)
            .filter(|name| !name.is_empty())
            .and_then(|name| env.get(name))
        {
            Some(value) => out.push_str(&value),
            None => out.push_str(&rest[at..at + 1 + used]),
        }
        rest = &after[used..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn variables_that_are_set_are_expanded() {
        let env: BTreeMap<&str, &str> = [("A", "x"), ("B1", "$A")].into();
        for (text, expected) in [
            ("$A/y", "x/y"),
            ("${A}y", "xy"),
            ("$B1", "$A"),
            ("$C", "$C"),
            ("${C}", "${C}"),
            ("${A", "${A"),
            ("$", "$"),
            ("$$A", "$x"),
            ("é$Aé", "éxé"),
        ] {
            assert_eq!(expand(text, &env), expected, "{text}");
        }
    }
}
