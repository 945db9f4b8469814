//! `--profile N`: there is a trace, or a word on why there is none.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::engine::{Ended, How, RESUME, Workspace, signal, wait_for};

fn profiled(steps: u32) -> How {
    How {
        profile: steps,
        ..How::default()
    }
}

/// How often the update ran in a trace: once a step.
fn traced_steps(workspace: &Workspace) -> usize {
    let path = workspace.run_dir().join("trace.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{error}"));
    let trace: Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let updates = events
        .iter()
        .filter(|event| event["args"]["operator"] == "sum_squares");
    assert!(events.len() > 100, "{} events", events.len());
    let starts: BTreeSet<String> = updates.map(|event| event["ts"].to_string()).collect();
    starts.len()
}

#[test]
fn a_run_of_any_length_is_traced() {
    for (train_iters, wanted, traced) in [(6, 2, 2), (3, 2, 2), (2, 2, 2), (2, 5, 2)] {
        let workspace =
            Workspace::tiny(&["lr_warmup_iters=0", &format!("train_iters={train_iters}")]);
        let ended = workspace.complete(profiled(wanted));
        assert_eq!(traced_steps(&workspace), traced, "{}", ended.stderr);
        let cut_short = ended.stderr.contains(&format!("only 2 of {wanted} steps"));
        assert_eq!(cut_short, traced < wanted as usize, "{}", ended.stderr);
    }
}

#[test]
fn a_run_that_is_stopped_writes_what_was_traced() {
    let workspace = Workspace::tiny(&[
        "lr_decay_style=constant",
        "train_iters=1000000",
        "save_interval=0",
    ]);
    let mut child = workspace.start(profiled(900_000));
    let metrics = workspace.run_dir().join("metrics.jsonl");
    wait_for(&mut child, || {
        std::fs::read_to_string(&metrics).is_ok_and(|text| text.lines().count() > 5)
    });
    signal(&child, "TERM");
    let ended: Ended = child.wait_with_output().unwrap().into();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("of 900000 steps"), "{}", ended.stderr);
    let done = workspace.newest().step as usize;
    assert_eq!(traced_steps(&workspace), done - 2, "{}", ended.stderr);
}

#[test]
fn nothing_to_trace_is_said() {
    let workspace = Workspace::tiny(&["train_iters=6"]);
    workspace.complete(How::default());
    let ended = workspace.complete(How {
        profile: 3,
        ..RESUME
    });
    assert!(
        ended.stderr.contains("nothing was traced"),
        "{}",
        ended.stderr
    );
    assert!(!workspace.run_dir().join("trace.json").exists());
}
