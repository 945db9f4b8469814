//! The strict check: each parameter against its row, then the rows against
//! each other, and a typed experiment if nothing is wrong. Every error of an
//! experiment is reported at once.

use cairn_base::{Diagnostic, nearest};
use serde_json::Value as Json;

use super::aliases::{self, alias};
use super::entries::{Entries, mark, mark_key};
use super::experiment::{ExperimentMeta, NativeExperiment};
use super::relations;
use super::table::{Fallback, Field, FieldKind, field, fields};
use super::values;
use crate::value::{Map, Value};

/// Checks the merged parameters of a module with `framework: native`. `None`
/// comes with at least one error in `diagnostics`; notes and warnings may come
/// with either.
pub fn check(
    params: &Value,
    meta: ExperimentMeta,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<NativeExperiment> {
    let mut found = Vec::new();
    let mut entries = Entries::default();
    match params.as_map() {
        Some(map) => walk(map, "", &mut entries, &mut found),
        None => found.push(mark(
            &params.origin,
            Diagnostic::error(
                "config::wrong-type",
                format!("the parameters are {}", a(params.type_name())),
            )
            .hint("write them as `name: value`, one a line"),
            "a mapping is wanted here",
        )),
    }
    if let Some(map) = params.as_map() {
        aliases::apply(map, &mut entries, &mut found);
    }
    missing(params, &entries, &mut found);
    entries.fill_defaults();
    relations::check(&mut entries, meta.world_size, &mut found);
    let failed = found.iter().any(Diagnostic::is_error);
    diagnostics.append(&mut found);
    if failed {
        return None;
    }
    let mut sections = entries.into_sections();
    sections.insert("meta".to_owned(), serde_json::to_value(&meta).ok()?);
    match serde_json::from_value(Json::Object(sections)) {
        Ok(experiment) => Some(experiment),
        Err(error) => {
            // The rows and the types disagree: a fault of this program.
            diagnostics.push(
                Diagnostic::error(
                    "config::internal",
                    format!("the checked parameters do not fit: {error}"),
                )
                .hint("please report this together with the experiment file"),
            );
            None
        }
    }
}

/// Checks the entries of one mapping; `prefix` is its dotted name and a dot.
fn walk(map: &Map, prefix: &str, entries: &mut Entries, found: &mut Vec<Diagnostic>) {
    for (key, value) in map {
        let name = format!("{prefix}{key}");
        // A key with a dot in it names nothing: mappings are written as such.
        match field(&name).filter(|_| !key.contains('.')) {
            Some(row) if row.kind == FieldKind::Object => object(row, value, entries, found),
            Some(row) => scalar(row, value, entries, found),
            // The preset's own file name stands beside the parameters.
            None if name == "model" && value.as_str().is_some() => {}
            None if prefix.is_empty() && alias(key).is_some() => {}
            None => found.push(unknown(&name, prefix, value)),
        }
    }
}

fn object(row: &'static Field, value: &Value, entries: &mut Entries, found: &mut Vec<Diagnostic>) {
    if let Some(map) = value.as_map() {
        entries.accept(row, Json::Object(serde_json::Map::new()), &value.origin);
        walk(map, &format!("{}.", row.name), entries, found);
    } else if value.is_null() && row.nullable() {
        entries.accept(row, Json::Null, &value.origin);
    } else {
        let message = format!(
            "`{}` must be a mapping, not {}",
            row.name,
            a(value.type_name())
        );
        let null = row.nullable()
            && value
                .as_str()
                .is_some_and(|text| text.eq_ignore_ascii_case("null") || text == "~");
        let names: Vec<&str> = fields()
            .filter(|entry| entry.parent() == row.name)
            .map(Field::key)
            .collect();
        found.push(
            mark(
                &value.origin,
                Diagnostic::error("config::wrong-type", message),
                "",
            )
            .hint(if null {
                format!(
                    "to switch it off, write `{}=None` on the command line, or `null` without quotes in a file",
                    row.name
                )
            } else {
                format!("write `{}: {{...}}` with {}", row.key(), list(&names))
            }),
        );
        entries.refuse(row);
    }
}

fn scalar(row: &'static Field, value: &Value, entries: &mut Entries, found: &mut Vec<Diagnostic>) {
    match values::read(row, value) {
        Ok((json, note)) => {
            entries.accept(row, json, &value.origin);
            found.extend(note);
        }
        Err(diagnostic) => {
            entries.refuse(row);
            found.push(diagnostic);
        }
    }
}

/// A key that no row has, with the nearest name that one has.
fn unknown(name: &str, prefix: &str, value: &Value) -> Diagnostic {
    let message = format!("unknown parameter `{name}`");
    let diagnostic = mark_key(
        value,
        Diagnostic::error("config::unknown-key", message),
        "the native framework has no such parameter",
    );
    let key = name.strip_prefix(prefix).unwrap_or(name);
    // A key may stand one level too high or too low, so all levels are asked,
    // its own first.
    let here: Vec<&str> = fields()
        .filter(|row| row.parent() == prefix.trim_end_matches('.'))
        .map(Field::key)
        .collect();
    if let Some(near) = nearest(key, here) {
        return diagnostic.hint(format!("did you mean `{prefix}{near}`?"));
    }
    let same_key = fields().find(|row| row.key() == key);
    if let Some(row) = field(key).or(same_key) {
        return diagnostic.hint(match row.parent() {
            "" => format!("write `{key}` at the top of `overrides`, not in a mapping"),
            parent => format!("write `{}` inside `{parent}`", row.key()),
        });
    }
    diagnostic.hint("`cargo xtask config schema` lists every parameter")
}

/// Required parameters that nobody wrote.
fn missing(params: &Value, entries: &Entries, found: &mut Vec<Diagnostic>) {
    for row in fields().filter(|row| row.default == Fallback::Required) {
        let wanted = match field(row.parent()) {
            None => true,
            Some(parent) if entries.is_refused(parent.name) => false,
            Some(parent) => parent.default == Fallback::Entries || entries.is_set(parent.name),
        };
        if !wanted || entries.is_written(row.name) {
            continue;
        }
        let mut diagnostic =
            Diagnostic::error("config::missing-key", format!("`{}` is missing", row.name));
        let parent = params
            .get(row.parent())
            .filter(|_| !row.parent().is_empty());
        if let Some(value) = parent {
            diagnostic = mark_key(value, diagnostic, &format!("needs `{}`", row.key()));
        }
        let example = match row.kind {
            FieldKind::Choice(words) => list(words),
            _ => row.meaning(),
        };
        let place = match (
            row.parent(),
            super::table::MODEL
                .iter()
                .any(|model| model.name == row.name),
        ) {
            ("", true) => "to the model preset or to `overrides`".to_owned(),
            ("", false) => "to `overrides`".to_owned(),
            (parent, _) => format!("to `{parent}`"),
        };
        found.push(diagnostic.hint(format!("add `{}:` {place}: {example}", row.key())));
    }
}

/// `an integer`, `a list`, `null`, `text`: a type name as a noun phrase.
pub(super) fn a(type_name: &str) -> String {
    match type_name {
        "null" | "text" => type_name.to_owned(),
        "integer" => format!("an {type_name}"),
        _ => format!("a {type_name}"),
    }
}

/// `a`, `b` or `c`, in backquotes.
pub(super) fn list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}
