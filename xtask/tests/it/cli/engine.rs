//! The engine's commands, from training a tiny model to its report.

use std::path::Path;

use serde_json::Value;

use super::{outcome, xtask};

const TINY: &str = "configs/experiments/tiny_resume.yaml";

/// The objects of a run's metrics.jsonl.
fn metrics(run: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_tiny_run_trains_resumes_and_reports() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = format!("workspace={}", dir.path().display());
    let run = dir.path().join("local/me/tiny_resume");
    let run_dir = run.to_str().unwrap();
    let must = |words: &[&str]| {
        let (code, stdout, stderr) = outcome(&xtask(words));
        assert_eq!(code, Some(0), "{words:?}\n{stdout}\n{stderr}");
        stdout
    };

    must(&["train", "--exp", TINY, &workspace, "train_iters=10"]);
    let losses = |run: &Path| -> Vec<Value> {
        metrics(run)
            .into_iter()
            .filter(|object| object.get("loss").is_some())
            .collect()
    };
    let first = losses(&run);
    let steps: Vec<_> = first
        .iter()
        .map(|object| object["step"].as_u64().unwrap())
        .collect();
    assert_eq!(steps, (1..=10).collect::<Vec<_>>());
    for key in [
        "loss",
        "lr",
        "grad_norm",
        "tokens",
        "tokens_per_s",
        "step_ms",
        "mem_bytes",
    ] {
        assert!(
            first[0][key].as_f64().is_some_and(f64::is_finite),
            "{key} in {}",
            first[0]
        );
    }

    must(&[
        "train",
        "--exp",
        TINY,
        &workspace,
        "train_iters=10",
        "--resume",
    ]);
    assert_eq!(
        losses(&run).len(),
        10,
        "a resumed run that was done must train nothing more"
    );

    let listed = must(&["ckpt", "list", run_dir, "--format", "json"]);
    assert!(serde_json::from_str::<Value>(&listed).is_ok(), "{listed}");
    must(&["ckpt", "inspect", run_dir, "--verify"]);
    let exported = dir.path().join("exported");
    must(&[
        "ckpt",
        "export",
        run_dir,
        "--to",
        exported.to_str().unwrap(),
    ]);
    assert!(exported.join("config.json").is_file());

    must(&["report", run_dir]);
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.starts_with("<!") && page.contains("tiny_resume"));

    let estimate = must(&["plan", "estimate", "--exp", TINY, "--format", "json"]);
    assert!(
        serde_json::from_str::<Value>(&estimate)
            .unwrap()
            .is_object(),
        "{estimate}"
    );
}

#[test]
fn the_engine_refuses_what_is_not_there_with_2() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("no-run");
    let missing = missing.to_str().unwrap();
    let table: &[&[&str]] = &[
        &["report", missing],
        &["ckpt", "list", missing],
        &["ckpt", "inspect", missing],
        &["ckpt", "export", missing, "--to", missing],
        &["ckpt", "import", missing, "--exp", TINY],
        &["data", "inspect", missing],
    ];
    for words in table {
        let (code, _, stderr) = outcome(&xtask(words));
        assert_eq!(code, Some(2), "{words:?}\n{stderr}");
        assert!(stderr.contains("no-run"), "{words:?}\n{stderr}");
    }
    assert_eq!(
        std::fs::read_dir(dir.path()).unwrap().count(),
        0,
        "a refused command left something behind"
    );
}
