//! What is refused leaves a run that has outputs as it was, and a run that has
//! none without a folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{outcome, xtask};

const QUICKSTART: &str = "configs/experiments/quickstart.yaml";

/// Every file and folder below `dir`, files with their bytes.
fn contents(dir: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(contents(&path));
            all.insert(path, None);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            all.insert(path, Some(bytes));
        }
    }
    all
}

#[test]
fn wrong_input_leaves_outputs_as_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let quickstart = std::fs::read_to_string(super::root().join(QUICKSTART)).unwrap();
    let broken = file("broken.yaml", &format!("{quickstart}\n  ]: ["));
    let preset = |name: &str, file_name: &str| {
        assert!(quickstart.contains("llama_10M.yaml"));
        file(file_name, &quickstart.replace("llama_10M.yaml", name))
    };
    let unknown = preset("llama_11M.yaml", "unknown.yaml");
    let escape = preset("../../../secret.yaml", "escape.yaml");
    let workspace = dir.path().join("output");
    // A run with outputs of every kind; only a training could tell them from real ones.
    let run = workspace.join("local/me/quickstart");
    let checkpoint = run.join("checkpoints/step-00000200");
    std::fs::create_dir_all(&checkpoint).unwrap();
    for path in [
        run.join("metrics.jsonl"),
        run.join("experiment.json"),
        run.join("report.html"),
        checkpoint.join("manifest.json"),
    ] {
        std::fs::write(path, "{}\n").unwrap();
    }
    let before = contents(dir.path());
    let at = format!("workspace={}", workspace.display());
    let table: &[(&[&str], &str)] = &[
        (&[QUICKSTART, &at, "train_iters=0"], "train_iters"),
        (&["no/such.yaml", &at], "no/such.yaml"),
        (&[&unknown, &at], "llama_11M.yaml"),
        (&[&broken, &at], "broken.yaml"),
        (&[&escape, &at], "secret.yaml"),
        (
            &[QUICKSTART, &at, "exp_name=../../x"],
            "leads out of the workspace",
        ),
        (&[QUICKSTART, &at, "exp_name="], "`exp_name` is empty"),
    ];
    for (words, expected) in table {
        for resume in [&["--resume"][..], &[]] {
            let words = [&["train", "--exp", words[0]], resume, &words[1..]].concat();
            let (code, _, stderr) = outcome(&xtask(&words));
            assert_eq!(code, Some(2), "{words:?}\n{stderr}");
            assert!(stderr.contains(expected), "{words:?}\n{stderr}");
            assert_eq!(contents(dir.path()), before, "{words:?}");
        }
    }
}
