//! Stopped by a signal and resumed: nothing in the result tells that it was.

use std::path::Path;

use cairn_train::checkpoint;

use crate::engine::{
    Ended, How, RESUME, Workspace, assert_same_checkpoint, losses, signal, wait_for,
};

/// A run with all that a checkpoint has to hold: accumulation, dropout, warm-up,
/// decay, evaluation. It has no end of its own: where it ends is decided after
/// it was stopped, so that nothing depends on how fast it is.
const ENDLESS: [&str; 6] = [
    "hidden_dropout=0.1",
    "eval_interval=7",
    "save_interval=1000000",
    "tensorboard=false",
    "lr_decay_iters=200",
    "train_iters=1000000",
];

fn lines_of(run_dir: &Path) -> usize {
    std::fs::read_to_string(run_dir.join("metrics.jsonl")).map_or(0, |text| text.lines().count())
}

/// Starts a training and stops it once it has done some steps. Gives the step
/// it stopped after.
fn start_and_stop(workspace: &Workspace, how: How, name: &str) -> u64 {
    let run_dir = workspace.run_dir();
    let before = lines_of(&run_dir);
    let mut child = workspace.start(how);
    wait_for(&mut child, || lines_of(&run_dir) > before + 20);
    signal(&child, name);
    let ended: Ended = child.wait_with_output().unwrap().into();
    assert_eq!(ended.code, Some(3), "{name}: {}", ended.stderr);
    let step = workspace.newest().step;
    let told = format!("stopped by a signal after step {step};");
    assert!(ended.stderr.contains(&told), "{}", ended.stderr);
    assert_eq!(losses(&run_dir).len() as u64, step);
    step
}

/// Ends a stopped run 30 steps later and compares it with one that was not.
fn end_and_compare(mut workspace: Workspace, stopped: u64, overrides: &[&str]) {
    let end = format!("train_iters={}", stopped + 30);
    workspace.change(&[&end]);
    workspace.complete(RESUME);
    let mut want = Workspace::new("tiny_resume", overrides);
    want.change(&[&end]);
    want.complete(How::default());
    assert_same_run(&workspace, &want, &format!("{overrides:?}"));
}

fn assert_same_run(got: &Workspace, want: &Workspace, what: &str) {
    assert_eq!(losses(&got.run_dir()), losses(&want.run_dir()), "{what}");
    assert_eq!(got.metrics(), want.metrics(), "{what}");
    assert_same_checkpoint(&got.newest(), &want.newest(), what);
}

#[test]
fn a_run_stopped_by_each_signal_ends_with_the_same_bits() {
    for precision in ["f32", "bf16", "f16"] {
        for name in ["TERM", "INT"] {
            let precision = format!("precision={precision}");
            let overrides = [&ENDLESS[..], &[&precision, "loss_scale_window=20"]].concat();
            let workspace = Workspace::new("tiny_resume", &overrides);
            let first = start_and_stop(&workspace, How::default(), name);
            let second = start_and_stop(&workspace, RESUME, name);
            assert!(second > first, "{second} after {first}");
            end_and_compare(workspace, second, &overrides);
        }
    }
}

#[test]
fn sigusr1_writes_a_checkpoint_and_goes_on() {
    let workspace = Workspace::new("tiny_resume", &ENDLESS);
    let mut child = workspace.start(How::default());
    let (run_dir, checkpoints) = (workspace.run_dir(), workspace.checkpoints());
    let steps = || {
        checkpoint::step_dirs(&checkpoints)
            .unwrap_or_default()
            .into_keys()
            .collect::<Vec<u64>>()
    };
    wait_for(&mut child, || lines_of(&run_dir) > 5);
    signal(&child, "USR1");
    wait_for(&mut child, || !steps().is_empty());
    let lines = lines_of(&run_dir);
    wait_for(&mut child, || lines_of(&run_dir) > lines + 2);
    signal(&child, "TERM");
    let ended: Ended = child.wait_with_output().unwrap().into();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let steps = steps();
    assert_eq!(steps.len(), 2, "{steps:?}");
    end_and_compare(workspace, steps[1], &ENDLESS);
}

#[test]
fn resuming_a_complete_run_changes_nothing_that_counts() {
    let workspace = Workspace::tiny(&["train_iters=10"]);
    workspace.complete(How::default());
    let (metrics, newest) = (workspace.metrics(), workspace.newest());
    workspace.complete(RESUME);
    assert_eq!(workspace.metrics(), metrics);
    assert_same_checkpoint(&workspace.newest(), &newest, "resumed when complete");
}

#[test]
fn a_longer_run_goes_on_from_a_shorter_one() {
    let long = ["lr_decay_style=constant", "train_iters=20"];
    let want = Workspace::tiny(&long);
    want.complete(How::default());
    let mut workspace = Workspace::tiny(&["lr_decay_style=constant", "train_iters=12"]);
    workspace.complete(How::default());
    workspace.change(&["train_iters=20"]);
    workspace.complete(RESUME);
    assert_same_run(&workspace, &want, "12 steps, then 8");
}

/// A run of six steps, finished.
fn finished() -> Workspace {
    let workspace = Workspace::tiny(&["train_iters=6", "lr_decay_style=constant"]);
    workspace.complete(How::default());
    workspace
}

#[test]
fn a_resume_without_metrics_is_warned_of() {
    let mut workspace = finished();
    std::fs::remove_file(workspace.run_dir().join("metrics.jsonl")).unwrap();
    workspace.change(&["train_iters=8"]);
    let ended = workspace.complete(RESUME);
    assert!(
        ended.stderr.contains("train::no-metrics")
            && ended.stderr.contains("steps 1 to 6 are not on record"),
        "{}",
        ended.stderr
    );
    let ended = workspace.complete(RESUME);
    assert!(!ended.stderr.contains("no-metrics"), "{}", ended.stderr);
}

#[test]
fn a_resume_says_what_is_not_as_it_was() {
    let mut workspace = finished();
    workspace.change(&[
        "train_iters=8",
        "lr=0.002",
        "weight_decay=0.25",
        "global_batch_size=2",
    ]);
    let ended = workspace.complete(RESUME);
    let said: Vec<&str> = ended
        .stderr
        .lines()
        .filter_map(|line| line.strip_prefix("changed since then: "))
        .collect();
    assert_eq!(said.len(), 4, "{}", ended.stderr);
    for line in [
        "train_iters: 6 -> 8",
        "lr: 0.001 -> 0.002",
        "weight_decay: 0.1 -> 0.25",
        "global_batch_size: 4 -> 2",
    ] {
        assert!(said.contains(&line), "{line}: {said:?}");
    }
    let ended = workspace.complete(RESUME);
    assert!(!ended.stderr.contains("changed since"), "{}", ended.stderr);
}

#[test]
fn another_seed_is_refused_by_name() {
    let mut workspace = finished();
    let before = crate::engine::contents(&workspace.run_dir());
    workspace.change(&["train_iters=8", "seed=8"]);
    let ended = workspace.train(RESUME);
    ended.expect_error(2, "train::other-seed", "`seed` 7, not 8", "seed=7");
    assert_eq!(crate::engine::contents(&workspace.run_dir()), before);
}

#[test]
fn a_resume_to_an_earlier_step_does_nothing() {
    let mut workspace = finished();
    let before = crate::engine::contents(&workspace.run_dir());
    workspace.change(&["train_iters=3", "lr_warmup_iters=0"]);
    let ended = workspace.complete(RESUME);
    assert!(
        ended.stderr.contains("nothing to do: 6 steps are done"),
        "{}",
        ended.stderr
    );
    assert_eq!(crate::engine::contents(&workspace.run_dir()), before);
}
