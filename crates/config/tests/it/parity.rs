//! Experiments of the reference resolve to what the reference resolves them
//! to. The data lies outside the project; without it the tests are skipped.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails the test")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cairn_base::Severity;
use cairn_config::{Env, Options, SystemFiles, resolve};
use serde_json::{Value as Json, json};

/// An environment in which nothing is set but what is given.
struct Only(BTreeMap<&'static str, &'static str>);

impl Env for Only {
    fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|value| (*value).to_owned())
    }
}

/// The reference data, if it is there.
fn data() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = cairn_base::env::get(&cairn_base::env::CAIRN_SHARED).map_or(beside, PathBuf::from);
    let data = shared.join("data/primus");
    if data.join("expected").is_dir() {
        return Some(data);
    }
    cairn_base::skip(&format!("no reference data in {}", data.display()));
    None
}

fn run(
    experiment: &Path,
    roots: &[PathBuf],
    env: &dyn Env,
    overrides: &[&str],
) -> (Option<Json>, Vec<cairn_base::Diagnostic>) {
    let overrides: Vec<String> = overrides.iter().map(|token| (*token).to_owned()).collect();
    let options = Options {
        files: &SystemFiles,
        env,
        roots,
        overrides: &overrides,
        module: "pre_trainer",
    };
    let (resolved, diagnostics) = resolve(experiment, &options);
    (resolved.map(|resolved| resolved.to_json()), diagnostics)
}

fn files_below(directory: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files_below(&path, out);
        } else {
            out.push(path);
        }
    }
}

/// Paths at which two JSON values differ, 1 and 1.0 being different.
fn differences(path: &str, found: &Json, expected: &Json, out: &mut Vec<String>) {
    match (found, expected) {
        (Json::Object(a), Json::Object(b)) => {
            for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => differences(&format!("{path}.{key}"), a, b, out),
                    (Some(a), None) => out.push(format!("{path}.{key}: {a} is not expected")),
                    (None, _) => out.push(format!("{path}.{key} is missing")),
                }
            }
        }
        (Json::Array(a), Json::Array(b)) if a.len() == b.len() => {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                differences(&format!("{path}[{index}]"), a, b, out);
            }
        }
        (a, b) if a == b => {}
        (a, b) => out.push(format!("{path}: {a} instead of {b}")),
    }
}

#[test]
fn a_difference_in_type_or_presence_is_found() {
    let found = json!({"a": 1, "b": [1, {"c": null}], "d": 1, "e": 0.5});
    let expected = json!({"a": 1.0, "b": [1, {"c": "null"}], "e": 0.5, "f": []});
    let mut out = Vec::new();
    differences("x", &found, &expected, &mut out);
    let wanted = [
        "x.a: 1 instead of 1.0",
        "x.b[1].c: null instead of \"null\"",
        "x.d: 1 is not expected",
        "x.f is missing",
    ];
    assert_eq!(out, wanted);
}

#[test]
fn all_reference_experiments_resolve_as_the_reference_does() {
    let Some(data) = data() else { return };
    let roots = [data.join("configs")];
    let mut experiments = Vec::new();
    files_below(&data.join("experiments"), &mut experiments);
    assert_eq!(experiments.len(), 58);
    let mut wrong = Vec::new();
    for experiment in &experiments {
        let name = experiment.strip_prefix(data.join("experiments")).unwrap();
        let expected =
            std::fs::read(data.join("expected").join(name).with_extension("json")).unwrap();
        let expected: Json = serde_json::from_slice(&expected).unwrap();
        let (found, diagnostics) = run(experiment, &roots, &Only(BTreeMap::new()), &[]);
        match found {
            Some(found) => differences(&name.display().to_string(), &found, &expected, &mut wrong),
            None => wrong.extend(diagnostics.iter().map(|d| d.render(false))),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differences:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The roots of the synthetic experiment, laid out as presets are.
fn toy(data: &Path) -> (tempfile::TempDir, Vec<PathBuf>, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    for folder in ["modules", "models"] {
        let to = root.path().join(folder).join("toy");
        std::fs::create_dir_all(&to).unwrap();
        let mut files = Vec::new();
        files_below(&data.join("toy").join(folder), &mut files);
        assert!(!files.is_empty());
        for file in files {
            std::fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
        }
    }
    let roots = vec![root.path().to_owned(), data.join("configs")];
    (root, roots, data.join("toy/exp.yaml"))
}

#[test]
fn the_synthetic_experiment_meets_every_merge_rule() {
    let Some(data) = data() else { return };
    let (_keep, roots, experiment) = toy(&data);
    let mut expected: Json =
        serde_json::from_slice(&std::fs::read(data.join("toy/expected.json")).unwrap()).unwrap();
    expected.as_object_mut().unwrap().remove("config_file");
    let (found, diagnostics) = run(&experiment, &roots, &Only([("RUN", "7")].into()), &[]);
    assert!(diagnostics.iter().all(|d| d.severity < Severity::Error));
    let mut wrong = Vec::new();
    differences("toy", &found.unwrap(), &expected, &mut wrong);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_synthetic_experiment_with_overrides() {
    let Some(data) = data() else { return };
    let (_keep, roots, experiment) = toy(&data);
    let tokens = [
        "train_iters=9",
        "--optim.wd",
        "0.3",
        "lr=1e-4",
        "lr2=1.0e-4",
        "x=null",
        "rope.scaling.factor=2",
        "--flag",
    ];
    let (found, _) = run(&experiment, &roots, &Only(BTreeMap::new()), &tokens);
    let params = &found.unwrap()["modules"][0]["params"];
    for (pointer, expected) in [
        ("/train_iters", json!(9)),
        ("/optim/wd", json!(0.3)),
        ("/optim/name", json!("adam")),
        ("/lr", json!("1e-4")),
        ("/lr2", json!(0.0001)),
        ("/x", json!("null")),
        ("/rope/scaling/factor", json!(2)),
        ("/rope/theta", json!(10000)),
        ("/flag", json!(true)),
    ] {
        assert_eq!(params.pointer(pointer), Some(&expected), "{pointer}");
    }
}
