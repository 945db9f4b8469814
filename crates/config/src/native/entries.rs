//! Checked parameters on their way to the typed experiment: JSON values by
//! dotted name, each with the place it was written.

use std::collections::BTreeMap;

use cairn_base::Diagnostic;
use serde_json::{Map as JsonMap, Value as Json};

use super::table::{Fallback, Field, Section, field};
use crate::value::{Origin, Value, Via};

/// Adds the place of a value to a diagnostic, unless no file or command line
/// holds it.
pub(super) fn mark(origin: &Origin, diagnostic: Diagnostic, text: &str) -> Diagnostic {
    if origin.via == Via::Builtin || origin.source.text.is_empty() {
        return diagnostic;
    }
    origin.mark(diagnostic, text)
}

/// Adds the place of a value's key, or of the value if the key has none.
pub(super) fn mark_key(value: &Value, diagnostic: Diagnostic, text: &str) -> Diagnostic {
    match &value.key {
        Some(range) if value.origin.via != Via::Builtin => {
            diagnostic.at(&value.origin.source, range.clone(), text)
        }
        _ => mark(&value.origin, diagnostic, text),
    }
}

/// One accepted parameter.
#[derive(Clone, Debug)]
struct Entry {
    json: Json,
    origin: Option<Origin>,
}

/// The accepted parameters by dotted name, and which names are lost to errors.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    accepted: BTreeMap<&'static str, Entry>,
    refused: Vec<&'static str>,
}

impl Entries {
    /// Takes a value that was written somewhere.
    pub(super) fn accept(&mut self, field: &'static Field, json: Json, origin: &Origin) {
        self.accepted.insert(
            field.name,
            Entry {
                json,
                origin: Some(origin.clone()),
            },
        );
    }

    /// Takes a computed or default value. Keeps the place of a `null` that
    /// asked for it.
    pub(super) fn supply(&mut self, name: &'static str, json: impl Into<Json>) {
        let origin = self.accepted.remove(name).and_then(|entry| entry.origin);
        self.accepted.insert(
            name,
            Entry {
                json: json.into(),
                origin,
            },
        );
    }

    /// Marks a parameter whose value has an error, so that no second message
    /// follows from it.
    pub(super) fn refuse(&mut self, field: &'static Field) {
        self.accepted.remove(field.name);
        self.refused.push(field.name);
    }

    /// True if somebody wrote it, rightly or wrongly.
    pub(super) fn is_written(&self, name: &str) -> bool {
        self.accepted.contains_key(name) || self.is_refused(name)
    }

    /// True if it was written wrongly.
    pub(super) fn is_refused(&self, name: &str) -> bool {
        self.refused.contains(&name)
    }

    /// True if it was written and is not `null`.
    pub(super) fn is_set(&self, name: &str) -> bool {
        self.json(name).is_some_and(|json| !json.is_null())
    }

    /// The value, if there is a right one.
    pub(super) fn json(&self, name: &str) -> Option<&Json> {
        self.accepted.get(name).map(|entry| &entry.json)
    }

    /// A whole number.
    pub(super) fn int(&self, name: &str) -> Option<u64> {
        self.json(name)?.as_u64()
    }

    /// A number.
    pub(super) fn float(&self, name: &str) -> Option<f64> {
        self.json(name)?.as_f64()
    }

    /// A text or choice.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.json(name)?.as_str()
    }

    /// A truth value; false where there is none.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.json(name).and_then(Json::as_bool).unwrap_or(false)
    }

    /// Where it was written, if it was.
    pub(super) fn origin(&self, name: &str) -> Option<&Origin> {
        self.accepted.get(name)?.origin.as_ref()
    }

    /// Adds the place where a parameter was written to a diagnostic.
    pub(super) fn mark(&self, name: &str, diagnostic: Diagnostic, text: &str) -> Diagnostic {
        match self.origin(name) {
            Some(origin) => mark(origin, diagnostic, text),
            None => diagnostic,
        }
    }

    /// Gives every parameter that nobody wrote its default. Entries of a
    /// mapping that is `null` or refused get none.
    pub(super) fn fill_defaults(&mut self) {
        for (_, rows) in Section::ALL {
            for row in rows {
                let parent_exists = match field(row.parent()) {
                    None => true,
                    Some(parent) if self.is_refused(parent.name) => false,
                    Some(parent) if parent.default == Fallback::Entries => true,
                    Some(parent) => self.is_set(parent.name),
                };
                if let Some(default) = row.default_json()
                    && parent_exists
                    && !self.is_written(row.name)
                {
                    self.supply(row.name, default);
                }
            }
        }
    }

    /// The three sections as nested JSON, in the shape of `NativeExperiment`.
    pub(super) fn into_sections(self) -> JsonMap<String, Json> {
        let mut sections = JsonMap::new();
        for (section, rows) in Section::ALL {
            let mut object = JsonMap::new();
            for row in rows {
                if let Some(json) = self.json(row.name) {
                    // `data.paths` is `paths` of the section `data`.
                    let name = match section {
                        Section::Data => row.name.strip_prefix("data.").unwrap_or_default(),
                        Section::Model | Section::Training => row.name,
                    };
                    insert(&mut object, name, json.clone());
                }
            }
            sections.insert(section.name().to_owned(), Json::Object(object));
        }
        sections
    }
}

/// Puts a value at a dotted name. A mapping's own row only says whether it is
/// there, so it never replaces its entries.
fn insert(object: &mut JsonMap<String, Json>, name: &str, json: Json) {
    match name.split_once('.') {
        Some((first, rest)) => {
            let inner = object
                .entry(first)
                .or_insert_with(|| Json::Object(JsonMap::new()));
            if let Json::Object(inner) = inner {
                insert(inner, rest, json);
            }
        }
        None if name.is_empty() => {}
        None => {
            object.entry(name).or_insert(json);
        }
    }
}
