//! `${NAME}` and `${NAME:default}` in text values, and what the result is
//! read as. One pass: what a variable holds is not looked into again.

use cairn_base::Diagnostic;

use crate::resolve::Env;
use crate::value::{Kind, Value, Via};
use crate::yaml::scalar;

/// Bytes of text that substitution may produce in one file.
pub const MAX_TEXT_BYTES: usize = 64 << 20;

/// Replaces every reference in every text of the tree; keys are left alone.
/// All variables that are missing are reported, each where it is used.
pub fn substitute(root: &mut Value, env: &dyn Env, diagnostics: &mut Vec<Diagnostic>) {
    let mut pass = Pass {
        env,
        diagnostics,
        bytes: 0,
    };
    pass.walk(root);
}

struct Pass<'a> {
    env: &'a dyn Env,
    diagnostics: &'a mut Vec<Diagnostic>,
    bytes: usize,
}

impl Pass<'_> {
    fn walk(&mut self, value: &mut Value) {
        match &mut value.kind {
            Kind::List(items) => items.iter_mut().for_each(|item| self.walk(item)),
            Kind::Map(map) => map.values_mut().for_each(|value| self.walk(value)),
            Kind::Str(text) if text.contains("${") => {
                let text = std::mem::take(text);
                self.text(value, text);
            }
            _ => {}
        }
    }

    fn text(&mut self, value: &mut Value, text: String) {
        let mut missing = Vec::new();
        let mut out = String::new();
        let mut rest = text.as_str();
        while let Some(found) = next_reference(rest) {
            out.push_str(&rest[..found.start]);
            match (self.env.get(found.name), found.default) {
                (Some(set), _) => out.push_str(&set),
                (None, Some(default)) => {
                    self.doubt(value, found.name, default);
                    out.push_str(default);
                }
                (None, None) => missing.push(found.name.to_owned()),
            }
            rest = &rest[found.end..];
            if self.bytes.saturating_add(out.len()) > MAX_TEXT_BYTES {
                self.too_large(value);
                return;
            }
        }
        out.push_str(rest);
        self.bytes += out.len();
        for name in missing {
            let name = scalar::shorten(&name);
            let error = Diagnostic::error(
                "config::missing-variable",
                format!("the environment variable `{name}` is not set"),
            );
            self.diagnostics.push(
                value
                    .origin
                    .mark(error, "needed here")
                    .hint(format!("set it, or give a default: `${{{name}:default}}`")),
            );
        }
        value.kind = if out == text {
            Kind::Str(text)
        } else {
            value.origin.via = Via::Environment;
            coerce(out)
        };
    }

    /// Warns where a default is not what its writer probably meant.
    fn doubt(&mut self, value: &Value, name: &str, default: &str) {
        let (code, message, hint) = if default.contains("${") {
            (
                "config::nested-default",
                format!(
                    "the default of `{name}` ends at the first `}}`; a `${{...}}` inside it is not replaced"
                ),
                "give a default without `${`",
            )
        } else if matches!(default, "\"\"" | "''") {
            (
                "config::quoted-default",
                format!("the default of `{name}` is two quote characters, not empty text"),
                "write `${NAME:}` for empty text",
            )
        } else if default.starts_with('-') {
            (
                "config::bash-default",
                format!(
                    "the default of `{name}` is `{}`: the minus sign of a shell's `:-` has no meaning here and stays",
                    scalar::shorten(default)
                ),
                "write `${NAME:default}`",
            )
        } else {
            return;
        };
        self.diagnostics.push(
            value
                .origin
                .mark(Diagnostic::warning(code, message), "")
                .hint(hint),
        );
    }

    fn too_large(&mut self, value: &mut Value) {
        let message =
            format!("environment variables expand to more than {MAX_TEXT_BYTES} bytes of text");
        self.diagnostics.push(
            value
                .origin
                .mark(
                    Diagnostic::error("config::too-large", message),
                    "the limit is passed here",
                )
                .hint("shorten the variable"),
        );
        // What follows would fail the same way: one message is enough.
        self.bytes = 0;
        value.kind = Kind::Null;
    }
}

/// A reference in a text: byte range, name and default.
struct Reference<'a> {
    start: usize,
    end: usize,
    name: &'a str,
    default: Option<&'a str>,
}

/// The first `${name}` or `${name:default}`: a name has at least one character
/// and none of `:{}`; a default reaches to the next `}`.
fn next_reference(text: &str) -> Option<Reference<'_>> {
    // Without a closing brace to the right nothing can match: this keeps the
    // search linear.
    let last = text.rfind('}')?;
    let mut from = 0;
    while let Some(at) = text.get(from..last).and_then(|part| part.find("${")) {
        let start = from + at;
        let body = start + 2;
        let stop = body + text[body..].find([':', '{', '}'])?;
        let named = stop > body;
        match text.as_bytes().get(stop) {
            Some(b'}') if named => {
                return Some(Reference {
                    start,
                    end: stop + 1,
                    name: &text[body..stop],
                    default: None,
                });
            }
            Some(b':') if named => {
                let end = stop + 1 + text[stop + 1..].find('}')?;
                return Some(Reference {
                    start,
                    end: end + 1,
                    name: &text[body..stop],
                    default: Some(&text[stop + 1..end]),
                });
            }
            _ => from = body,
        }
    }
    None
}

/// What a substituted text is read as: `true` and `false` in any case, decimal
/// integers, and floats; anything else stays text.
#[must_use]
pub fn coerce(text: String) -> Kind {
    if text.eq_ignore_ascii_case("true") {
        return Kind::Bool(true);
    }
    if text.eq_ignore_ascii_case("false") {
        return Kind::Bool(false);
    }
    let body = text.strip_prefix('-').unwrap_or(&text);
    if !body.is_empty() && body.bytes().all(|b| b.is_ascii_digit()) {
        return scalar::decimal_integer(&text).unwrap_or(Kind::Str(text));
    }
    if is_float(body)
        && let Ok(value) = text.parse()
    {
        return Kind::Float(value);
    }
    Kind::Str(text)
}

/// Digits with a point, an exponent or both.
fn is_float(body: &str) -> bool {
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(at) => (&body[..at], Some(&body[at + 1..])),
        None => (body, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    digits(whole)
        && digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|e| {
            let e = e.strip_prefix(['-', '+']).unwrap_or(e);
            !e.is_empty() && digits(e)
        })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::value::Origin;

    impl Env for BTreeMap<&str, &str> {
        fn get(&self, name: &str) -> Option<String> {
            BTreeMap::get(self, name).map(|value| (*value).to_owned())
        }
    }

    fn run(text: &str, env: &[(&'static str, &'static str)]) -> (Kind, Vec<&'static str>) {
        let env: BTreeMap<&str, &str> = env.iter().copied().collect();
        let mut value = Value::new(Kind::Str(text.to_owned()), Origin::builtin("test"));
        let mut diagnostics = Vec::new();
        substitute(&mut value, &env, &mut diagnostics);
        (value.kind, diagnostics.iter().map(|d| d.code).collect())
    }

    fn text(text: &str) -> Kind {
        Kind::Str(text.to_owned())
    }

    /// The rows are those of the reference's table.
    #[test]
    fn references_are_replaced_once_and_by_the_documented_rules() {
        let set = [
            ("A", "v"),
            ("N", "42"),
            ("E", ""),
            ("B", "b"),
            ("R", "${A}"),
        ];
        let quiet: Vec<&str> = Vec::new();
        for (input, expected, codes) in [
            ("${X}", text(""), vec!["config::missing-variable"]),
            ("${X:def}", text("def"), quiet.clone()),
            ("${E:def}", text(""), quiet.clone()),
            ("${X:}", text(""), quiet.clone()),
            ("${X:-5}", Kind::Int(-5), vec!["config::bash-default"]),
            ("${X:${B}}", text("${B}"), vec!["config::nested-default"]),
            ("${A:x}", text("v"), quiet.clone()),
            ("$A", text("$A"), quiet.clone()),
            ("${}", text("${}"), quiet.clone()),
            ("${:x}", text("${:x}"), quiet.clone()),
            ("$${A}", text("$v"), quiet.clone()),
            ("${X:\"\"}", text("\"\""), vec!["config::quoted-default"]),
            ("${N}${N}", Kind::Int(4242), quiet.clone()),
            ("pre${A}/x", text("prev/x"), quiet.clone()),
            ("${R}", text("${A}"), quiet.clone()),
            ("${{A}}", text("${{A}}"), quiet.clone()),
            ("${A", text("${A"), quiet.clone()),
            ("${A:b", text("${A:b"), quiet.clone()),
            ("${ ${A}", text("${ v"), quiet.clone()),
            ("42", text("42"), quiet.clone()),
            ("é${A}é", text("évé"), quiet),
        ] {
            assert_eq!(run(input, &set), (expected, codes), "{input}");
        }
    }

    #[test]
    fn the_result_is_read_as_a_truth_value_or_number_where_it_has_that_form() {
        for (input, expected) in [
            ("True", Kind::Bool(true)),
            ("FALSE", Kind::Bool(false)),
            ("007", Kind::Int(7)),
            ("-3", Kind::Int(-3)),
            (
                "123456789012345678901234567890",
                Kind::BigInt("123456789012345678901234567890".to_owned()),
            ),
            ("1.", Kind::Float(1.0)),
            (".5", Kind::Float(0.5)),
            ("1e5", Kind::Float(1e5)),
            ("-1.5e-3", Kind::Float(-1.5e-3)),
        ] {
            assert_eq!(coerce(input.to_owned()), expected, "{input}");
        }
        for same in [
            "null", "none", "", "+5", "0x10", "1_000", " 42 ", "inf", "nan", "[1,2]", "{a: 1}",
            ".", "e5", "1e", "-", "yes",
        ] {
            assert_eq!(coerce(same.to_owned()), text(same), "{same}");
        }
    }

    #[test]
    fn a_search_without_end_stays_linear() {
        let long = "${a:".repeat(2_000_000);
        assert_eq!(run(&long, &[]).0, text(&long));
        let long = format!("{}}}", "${".repeat(2_000_000));
        assert_eq!(run(&long, &[]).0, text(&long));
    }

    #[test]
    fn expansion_is_bounded() {
        struct Large;
        impl Env for Large {
            fn get(&self, _: &str) -> Option<String> {
                Some("x".repeat(1 << 20))
            }
        }
        let mut value = Value::new(text(&"${A}".repeat(1000)), Origin::builtin("test"));
        let mut diagnostics = Vec::new();
        substitute(&mut value, &Large, &mut diagnostics);
        assert_eq!(
            diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(),
            ["config::too-large"]
        );
    }
}
