//! What `config show` and `config diff` print: pure functions from resolved
//! experiments to text or JSON.

use serde_json::{Value as Json, json};

use crate::resolved::Resolved;
use crate::value::{Kind, Map, Value, Via};

mod emit;

/// Earlier values shown beside a value.
const MAX_REPLACED: usize = 3;

/// The experiment as YAML for people, in the shape of an experiment file with
/// everything merged. A YAML 1.1 reader gets the same values back.
#[must_use]
pub fn yaml(resolved: &Resolved) -> String {
    emit::document(&document(resolved), &|_| None)
}

/// [`yaml`] with the place of each value, and what it replaced, in a comment.
#[must_use]
pub fn yaml_with_origins(resolved: &Resolved) -> String {
    emit::document(&document(resolved), &|value| Some(origin_comment(value)))
}

/// Every value with its path and origin, as JSON: `path, value, file, line,
/// column, via` and the `replaced` values, newest first.
#[must_use]
pub fn origins_json(resolved: &Resolved) -> Json {
    let mut out = Vec::new();
    leaves("", &document(resolved), &mut |path, value| {
        let mut object = origin_json(value);
        if let Json::Object(object) = &mut object {
            object.shift_insert(0, "path".to_owned(), json!(path));
            let replaced: Vec<Json> = history(value).map(origin_json).collect();
            object.insert("replaced".to_owned(), Json::Array(replaced));
        }
        out.push(object);
    });
    Json::Array(out)
}

/// One difference between two experiments.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The dotted path, `modules.pre_trainer.params.lr`.
    pub path: String,
    /// The value in the first experiment, if it has one.
    pub a: Option<Value>,
    /// The value in the second experiment, if it has one.
    pub b: Option<Value>,
}

/// The values in which two experiments differ, in the order of the first, then
/// what only the second has. A list counts as one value.
#[must_use]
pub fn diff(a: &Resolved, b: &Resolved) -> Vec<Difference> {
    let (a, b) = (flat(a), flat(b));
    let changed = a.iter().filter_map(|(path, value)| {
        let other = b.get(path);
        let same = other.is_some_and(|other| other.kind == value.kind);
        (!same).then(|| Difference {
            path: path.clone(),
            a: Some(value.clone()),
            b: other.cloned(),
        })
    });
    let added = b.iter().filter(|(path, _)| !a.contains_key(*path));
    let added = added.map(|(path, value)| Difference {
        path: path.clone(),
        a: None,
        b: Some(value.clone()),
    });
    changed.chain(added).collect()
}

/// Differences as text: `~` changed, `-` only in the first, `+` only in the
/// second, each with the places. Empty when there are none.
#[must_use]
pub fn diff_text(differences: &[Difference]) -> String {
    let mut out = String::new();
    for Difference { path, a, b } in differences {
        let line = match (a, b) {
            (Some(a), Some(b)) => format!(
                "~ {path}: {} -> {}  # {} -> {}",
                emit::inline(a),
                emit::inline(b),
                a.origin.place(),
                b.origin.place()
            ),
            (Some(a), None) => format!("- {path}: {}  # {}", emit::inline(a), a.origin.place()),
            (None, Some(b)) => format!("+ {path}: {}  # {}", emit::inline(b), b.origin.place()),
            (None, None) => continue,
        };
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// Differences as JSON: `path` and, where present, `a` and `b` with value and
/// place.
#[must_use]
pub fn diff_json(differences: &[Difference]) -> Json {
    let rows = differences.iter().map(|Difference { path, a, b }| {
        let mut object = serde_json::Map::new();
        object.insert("path".to_owned(), json!(path));
        for (side, value) in [("a", a), ("b", b)] {
            if let Some(value) = value {
                object.insert(side.to_owned(), origin_json(value));
            }
        }
        Json::Object(object)
    });
    Json::Array(rows.collect())
}

/// The resolved experiment in the shape of an experiment file.
fn document(resolved: &Resolved) -> Value {
    let mut modules = Map::new();
    for module in &resolved.modules {
        let mut entries = Map::new();
        entries.insert("framework".to_owned(), module.framework.clone());
        entries.insert("config".to_owned(), module.config.clone());
        entries.insert("model".to_owned(), module.model.clone());
        if let Some(class) = &module.trainer_class {
            entries.insert("trainer_class".to_owned(), class.clone());
        }
        entries.insert("params".to_owned(), module.params.clone());
        modules.insert(
            module.name.clone(),
            Value::new(Kind::Map(entries), module.params.origin.clone()),
        );
    }
    let mut top = Map::new();
    for (key, value) in [
        ("work_group", &resolved.work_group),
        ("user_name", &resolved.user_name),
        ("exp_name", &resolved.exp_name),
        ("workspace", &resolved.workspace),
        ("platform", &resolved.platform),
        ("env", &resolved.env),
    ] {
        if key != "env" || value.as_map().is_some_and(|map| !map.is_empty()) {
            top.insert(key.to_owned(), value.clone());
        }
    }
    top.insert(
        "modules".to_owned(),
        Value::builtin(Kind::Map(modules), "modules"),
    );
    Value::builtin(Kind::Map(top), "experiment")
}

fn flat(resolved: &Resolved) -> Map {
    let mut out = Map::new();
    leaves("", &document(resolved), &mut |path, value| {
        out.insert(path.to_owned(), value.clone());
    });
    out
}

/// Calls `each` for everything but non-empty maps, with its dotted path.
fn leaves(path: &str, value: &Value, each: &mut dyn FnMut(&str, &Value)) {
    match &value.kind {
        Kind::Map(map) if !map.is_empty() => {
            for (key, inner) in map {
                let below = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                leaves(&below, inner, each);
            }
        }
        _ => each(path, value),
    }
}

/// The values that a value replaced, newest first.
fn history(value: &Value) -> impl Iterator<Item = &Value> {
    std::iter::successors(value.origin.replaced.as_deref(), |value| {
        value.origin.replaced.as_deref()
    })
}

fn origin_comment(value: &Value) -> String {
    let mut out = value.origin.place();
    if value.origin.via == Via::Environment {
        let written = value
            .origin
            .source
            .text
            .get(value.origin.range.clone())
            .unwrap_or_default();
        out.push_str(&format!(" from {}", emit::shorten(written)));
    }
    for (index, old) in history(value).enumerate() {
        if index == MAX_REPLACED {
            out.push_str(", ...");
            break;
        }
        out.push_str(&format!(
            ", replaces {} of {}",
            emit::shorten(&emit::inline(old)),
            old.origin.place()
        ));
    }
    out
}

fn origin_json(value: &Value) -> Json {
    let origin = &value.origin;
    let via = match origin.via {
        Via::Literal => "file",
        Via::Environment => "environment",
        Via::CommandLine => "command line",
        Via::Builtin => "default",
    };
    let (line, column) = origin.source.line_column(origin.range.start);
    json!({"value": value.to_json(), "file": origin.source.name, "line": line, "column": column, "via": via})
}
