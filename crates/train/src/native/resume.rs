//! Going on from a checkpoint: what must be as it was, and what may be another.

use std::path::Path;

use cairn_base::Diagnostic;
use serde_json::Value;

use super::state::Progress;
use crate::error::TrainError;
use crate::hugging_face;

/// What the new start brings, to be compared with a checkpoint's.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// State of a run of this experiment at step 0.
    pub fresh: &'a Progress,
    /// Where the checkpoint is.
    pub path: &'a Path,
}

/// Refuses to go on where another model, seed or data would give the
/// checkpoint another meaning.
///
/// # Errors
/// The first difference, with what to do about it.
pub fn check(start: &Start<'_>, found: &Progress) -> Result<(), TrainError> {
    let (fresh, path) = (start.fresh, start.path.display());
    let refuse = |code: &'static str, message: String, hint: String| -> Result<(), TrainError> {
        Err(Box::new(Diagnostic::error(code, message).hint(hint)).into())
    };
    let differences = hugging_face::differences(&found.model, &fresh.model);
    if !differences.is_empty() {
        return refuse(
            "train::other-model",
            format!("{path} is of another model: {}", differences.join("; ")),
            "bring back the model's settings, or choose another `exp_name`".to_owned(),
        );
    }
    if found.seed != fresh.seed {
        // The order of the data follows from it, and the position is one in it.
        return refuse(
            "train::other-seed",
            format!(
                "{path} was made with `seed` {}, not {}",
                found.seed, fresh.seed
            ),
            format!(
                "set `seed={}` again, or choose another `exp_name`",
                found.seed
            ),
        );
    }
    if found.data_fingerprint != fresh.data_fingerprint {
        return refuse(
            "train::other-data",
            format!("the data is not what {path} was trained on"),
            "bring back the same files and `data:` settings, or start another `exp_name`"
                .to_owned(),
        );
    }
    if found.seq_length != fresh.seq_length {
        return refuse(
            "train::other-seq-length",
            format!(
                "{path} counts its position in sequences of {} tokens, not {}",
                found.seq_length, fresh.seq_length
            ),
            format!(
                "set `seq_length={}` again, or choose another `exp_name`",
                found.seq_length
            ),
        );
    }
    Ok(())
}

/// A warning where steps so far ran on another instruction set or device.
#[must_use]
pub fn other_place(found: &Progress, place: &str) -> Option<Diagnostic> {
    (found.isa != place).then(|| {
        let message = format!(
            "steps so far ran on `{}`, from here on they run on `{place}`",
            found.isa
        );
        let told = Diagnostic::warning("train::other-isa", message)
            .hint("results differ in the last bits from an uninterrupted run");
        // Another device is a choice; another processor may be chance.
        if found.isa.starts_with("hip") || place.starts_with("hip") {
            return told;
        }
        told.hint(format!(
            "`CAIRN_CPU={}` keeps them where the processor allows it",
            found.isa
        ))
    })
}

/// One line for each parameter that two records of an experiment disagree in:
/// `key: old -> new`.
#[must_use]
pub fn changes(old: &Value, new: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    compare("", parameters(old), parameters(new), &mut lines);
    lines
}

/// The parameters of the module in a record; all of it where there is none.
fn parameters(record: &Value) -> &Value {
    let experiment = record.get("experiment").unwrap_or(record);
    let modules = experiment.get("modules").and_then(Value::as_array);
    modules
        .into_iter()
        .flatten()
        .find(|module| module.get("name").is_some_and(|name| name == "pre_trainer"))
        .and_then(|module| module.get("params"))
        .unwrap_or(experiment)
}

fn compare(key: &str, old: &Value, new: &Value, lines: &mut Vec<String>) {
    if old == new {
        return;
    }
    let (Value::Object(before), Value::Object(after)) = (old, new) else {
        lines.push(format!("{key}: {old} -> {new}"));
        return;
    };
    let added = after.keys().filter(|name| !before.contains_key(*name));
    for name in before.keys().chain(added) {
        let inner = match key {
            "" => name.clone(),
            _ => format!("{key}.{name}"),
        };
        let side = |map: &serde_json::Map<String, Value>| map.get(name).cloned();
        let (old, new) = (side(before), side(after));
        compare(
            &inner,
            &old.unwrap_or(Value::Null),
            &new.unwrap_or(Value::Null),
            lines,
        );
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_changed_parameter_is_one_line() {
        let record = |lr: f64, extra: Value| {
            json!({"origins": [lr], "experiment": {"exp_name": "e", "modules": [
                {"name": "other", "params": {"seed": lr}},
                {"name": "pre_trainer", "params": {"lr": lr, "data": {"paths": ["a"]}, "more": extra}},
            ]}})
        };
        let old = record(0.001, json!({"a": 1}));
        assert_eq!(changes(&old, &old), Vec::<String>::new());
        assert_eq!(
            changes(&old, &record(0.002, json!({"a": 1, "b": [2]}))),
            ["lr: 0.001 -> 0.002", "more.b: null -> [2]"]
        );
        assert_eq!(
            changes(&old, &record(0.001, json!(null))),
            [r#"more: {"a":1} -> null"#]
        );
    }
}
