//! The JSON schema of an experiment file, from the rows of the table.

use serde_json::{Map as JsonMap, Value as Json, json};

use super::table::{Fallback, Field, FieldKind, Interval, fields};

/// The JSON schema (draft 2020-12) of experiment files. Parameters of
/// `framework: native` are described in full; those of other frameworks are
/// open. `#/$defs/params` alone describes a preset.
#[must_use]
pub fn schema() -> Json {
    let text = || json!({"type": ["string", "number", "boolean"]});
    let file = json!({"type": "string", "description": "Name of a preset file."});
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Cairn experiment",
        "type": "object",
        "properties": {
            "extends": {
                "description": "Files this one is merged over.",
                "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
            },
            "work_group": text(),
            "user_name": text(),
            "exp_name": text(),
            "workspace": text(),
            "platform": {
                "type": "object",
                "properties": {"config": file, "overrides": {"type": "object"}},
                "required": ["config"],
            },
            "env": {"type": "object", "description": "Environment variables of the run."},
            "modules": {
                "type": "object",
                "additionalProperties": {"$ref": "#/$defs/module"},
            },
        },
        "required": ["work_group", "user_name", "exp_name", "workspace", "modules"],
        "$defs": {
            "module": {
                "type": "object",
                "properties": {
                    "framework": {"type": "string"},
                    "config": file,
                    "model": file,
                    "overrides": {"type": "object"},
                },
                "required": ["framework"],
                "if": {"properties": {"framework": {"const": "native"}}},
                "then": {
                    "properties": {"overrides": {"$ref": "#/$defs/params"}},
                    "required": ["framework", "config", "model"],
                },
            },
            "params": object(""),
            "substitution": {
                "type": "string",
                "pattern": r"\$\{[^:{}]+(:[^}]*)?\}",
                "description": "${VARIABLE} or ${VARIABLE:default}",
            },
        },
    })
}

/// The schema of a mapping by its dotted name.
fn object(parent: &str) -> Json {
    let mut properties = JsonMap::new();
    for row in fields().filter(|row| row.parent() == parent) {
        properties.insert(row.key().to_owned(), property(row));
    }
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn property(row: &Field) -> Json {
    let mut forms = match row.kind {
        FieldKind::Bool => vec![json!({"type": "boolean"})],
        FieldKind::Int { min, max } => vec![integer(min, max)],
        FieldKind::Float(range) => vec![number(range)],
        FieldKind::Text => vec![json!({"type": "string"})],
        FieldKind::Texts => vec![json!({"type": "array", "items": {"type": "string"}})],
        FieldKind::Choice(words) => vec![json!({"enum": words})],
        FieldKind::LayerPattern => vec![
            json!({"type": "integer", "minimum": 1}),
            json!({"type": "array", "items": {"enum": [0, 1]}}),
            json!({"type": "string", "pattern": r"^\(?\[[01, ]+\]"}),
        ],
        FieldKind::Object => vec![object(row.name)],
    };
    if row.nullable() || matches!(row.kind, FieldKind::Choice(words) if words.contains(&"none")) {
        forms.push(json!({"type": "null"}));
    }
    // Any value may come from the environment; text already allows it.
    if !matches!(row.kind, FieldKind::Text | FieldKind::Object) {
        forms.push(json!({"$ref": "#/$defs/substitution"}));
    }
    let mut property = JsonMap::new();
    let mut doc = row.doc.to_owned();
    if !row.unit.is_empty() {
        doc.push_str(&format!(" Unit: {}.", row.unit));
    }
    if let Fallback::Derived(rule) = row.default {
        doc.push_str(&format!(" Default: {rule}."));
    }
    property.insert("description".to_owned(), doc.into());
    match <[Json; 1]>::try_from(forms) {
        Ok([Json::Object(only)]) => property.extend(only),
        Ok([only]) => drop(property.insert("const".to_owned(), only)),
        Err(forms) => drop(property.insert("anyOf".to_owned(), Json::Array(forms))),
    }
    if let Some(default) = row.default_json() {
        property.insert("default".to_owned(), default);
    }
    Json::Object(property)
}

fn integer(min: i64, max: i64) -> Json {
    let mut form = json!({"type": "integer", "minimum": min});
    if max != i64::MAX {
        form["maximum"] = max.into();
    }
    form
}

fn number(range: Interval) -> Json {
    let low = if range.min_allowed {
        "minimum"
    } else {
        "exclusiveMinimum"
    };
    let mut form = json!({"type": "number", low: range.min});
    if range.max.is_finite() {
        form[if range.max_allowed {
            "maximum"
        } else {
            "exclusiveMaximum"
        }] = range.max.into();
    }
    form
}
