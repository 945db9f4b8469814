//! What a run directory says, read leniently.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cairn_base::{FileError, FileErrorKind, files};
use serde_json::{Map, Value};

use super::EXPERIMENT_NAME;
use super::points::Points;
use crate::checkpoint::{self, Listing};
use crate::metrics::{METRICS_NAME, SAMPLES_NAME, Sample};

/// One setting of the experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// Dotted key.
    pub key: String,
    /// Its value, as a user would write it.
    pub value: String,
    /// Where it was decided, if known.
    pub origin: Option<String>,
}

/// Everything the page shows.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    pub dir: PathBuf,
    pub name: String,
    /// Group and user, when the experiment names them.
    pub owner: Vec<String>,
    /// The model's preset, when the experiment names it.
    pub model: Option<String>,
    columns: BTreeMap<String, Points>,
    pub damaged_lines: usize,
    pub samples: Vec<Sample>,
    pub settings: Vec<Setting>,
    pub checkpoints: Vec<Listing>,
}

impl Run {
    /// Reads a run directory. Only the metrics file must be there.
    pub(super) fn read(dir: &Path) -> Result<Self, FileError> {
        let mut run = Self {
            dir: dir.to_path_buf(),
            ..Self::default()
        };
        run.read_metrics(&files::read(&dir.join(METRICS_NAME))?);
        run.samples = read_optional(&dir.join(SAMPLES_NAME))?
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect();
        let experiment = read_optional(&dir.join(EXPERIMENT_NAME))?;
        let experiment = serde_json::from_slice(&experiment).unwrap_or(Value::Null);
        run.settings = settings(&experiment);
        run.name = find_text(&experiment, "exp_name").unwrap_or_else(|| {
            dir.file_name()
                .map_or_else(|| "run".into(), |name| name.to_string_lossy().into_owned())
        });
        run.owner = ["work_group", "user_name"]
            .iter()
            .filter_map(|key| find_text(&experiment, key))
            .collect();
        run.model = find_text(&experiment, "model");
        run.checkpoints = checkpoint::list(dir, false).unwrap_or_default();
        Ok(run)
    }

    /// Sorts the numbers of `metrics.jsonl` by key and step.
    fn read_metrics(&mut self, text: &[u8]) {
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            // A last line without an end is being written now, or was when the
            // run was killed.
            if line.trim_ascii().is_empty() || !line.ends_with(b"\n") {
                continue;
            }
            let object = serde_json::from_slice::<Map<String, Value>>(line).unwrap_or_default();
            let Some(step) = object.get("step").and_then(Value::as_u64) else {
                self.damaged_lines += 1;
                continue;
            };
            for (key, value) in object.into_iter().filter(|(key, _)| key != "step") {
                let points = self.columns.entry(key).or_default();
                points.push((step, value.as_f64().unwrap_or(f64::NAN)));
            }
        }
        for points in self.columns.values_mut() {
            points.sort_by_key(|(step, _)| *step);
        }
    }

    /// All values of one key, by step.
    pub(super) fn points(&self, key: &str) -> Points {
        self.columns.get(key).cloned().unwrap_or_default()
    }

    /// The value of the setting whose key ends in `name`.
    pub(super) fn setting(&self, name: &str) -> Option<&str> {
        let matches = |key: &str| {
            key == name
                || key
                    .strip_suffix(name)
                    .is_some_and(|head| head.ends_with('.'))
        };
        self.settings
            .iter()
            .find(|setting| matches(&setting.key))
            .map(|setting| setting.value.as_str())
    }
}

fn read_optional(path: &Path) -> Result<Vec<u8>, FileError> {
    match files::read(path) {
        Err(error) if error.kind == FileErrorKind::NotFound => Ok(Vec::new()),
        other => other,
    }
}

/// The settings of an experiment file: its `origins` list of key, value and
/// origin when it has one, else every leaf of the whole document.
fn settings(experiment: &Value) -> Vec<Setting> {
    let listed = experiment.get("origins").and_then(Value::as_array);
    let rows: Option<Vec<Setting>> =
        listed.map(|rows| rows.iter().filter_map(listed_setting).collect());
    match rows {
        Some(rows) if !rows.is_empty() => rows,
        _ => {
            let mut rows = Vec::new();
            flatten(String::new(), experiment, &mut rows);
            rows
        }
    }
}

fn listed_setting(row: &Value) -> Option<Setting> {
    Some(Setting {
        key: row.get("key")?.as_str()?.to_owned(),
        value: row.get("value").map(plain).unwrap_or_default(),
        origin: row.get("origin").map(plain),
    })
}

fn flatten(key: String, value: &Value, rows: &mut Vec<Setting>) {
    let below = |name: &str| {
        if key.is_empty() {
            name.to_owned()
        } else {
            format!("{key}.{name}")
        }
    };
    match value {
        Value::Object(map) if !map.is_empty() => {
            map.iter()
                .for_each(|(name, value)| flatten(below(name), value, rows));
        }
        Value::Array(items) if items.iter().any(|item| item.is_object()) => {
            items
                .iter()
                .enumerate()
                .for_each(|(i, item)| flatten(below(&i.to_string()), item, rows));
        }
        Value::Null if key.is_empty() => {}
        value => rows.push(Setting {
            key,
            value: plain(value),
            origin: None,
        }),
    }
}

/// A value as a user would write it: text without quotes.
fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// The first text under this key anywhere in a document, outermost first.
fn find_text(value: &Value, key: &str) -> Option<String> {
    let mut level = vec![value];
    while !level.is_empty() {
        let mut next = Vec::new();
        for value in level {
            if let Some(text) = value.get(key).and_then(Value::as_str) {
                return Some(text.to_owned());
            }
            match value {
                Value::Object(map) => next.extend(map.values()),
                Value::Array(items) => next.extend(items),
                _ => {}
            }
        }
        level = next;
    }
    None
}
