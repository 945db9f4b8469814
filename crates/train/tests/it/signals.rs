//! Signals before the first step, close together, and what is said at once.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Child;

use crate::engine::{Ended, How, RESUME, Workspace, contents, signal, wait_for};

/// A corpus whose preparation takes a while, and the experiment on it.
fn on_a_large_corpus() -> Workspace {
    let mut workspace = Workspace::tiny(&[
        "data.source=text",
        "data.tokenizer.kind=bpe",
        "data.tokenizer.vocab_size=2000",
        "vocab_size=2000",
        "train_iters=100000",
        "save_interval=0",
    ]);
    let file = workspace.dir.path().join("corpus.txt");
    let mut text = String::new();
    for line in 0..300_000u64 {
        let word = line.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        text.push_str(&format!("{word:x} {:o} {line}\n", word >> 20));
    }
    std::fs::write(&file, text).unwrap();
    workspace.change(&[&format!("data.paths=['{}']", file.display())]);
    workspace
}

/// Whether the cache has the lock that is taken before data is made.
fn is_preparing(workspace: &Path) -> bool {
    let entries = std::fs::read_dir(workspace.join("cache/tokens"));
    entries.into_iter().flatten().any(|entry| {
        let name = entry.unwrap().file_name();
        Path::new(&name)
            .extension()
            .is_some_and(|end| end == "lock")
    })
}

#[test]
fn a_signal_while_data_is_prepared_ends_the_run_with_nothing_lost() {
    let workspace = on_a_large_corpus();
    let mut child = workspace.start(How::default());
    wait_for(&mut child, || is_preparing(workspace.dir.path()));
    signal(&child, "INT");
    let ended: Ended = child.wait_with_output().unwrap().into();
    assert!(
        ended
            .stderr
            .contains("SIGINT: stopping; no step is done yet"),
        "{}",
        ended.stderr
    );
    ended.expect_error(1, "train::stopped", "before the first step", "starts again");
    assert!(
        !workspace.run_dir().exists(),
        "a refused run leaves nothing"
    );
}

#[test]
fn a_resumed_run_that_is_stopped_before_its_first_step_can_still_be_resumed() {
    let mut workspace = Workspace::tiny(&["train_iters=6"]);
    workspace.complete(How::default());
    let checkpoints = contents(&workspace.checkpoints());
    let large = on_a_large_corpus();
    let file = large.dir.path().join("corpus.txt");
    workspace.change(&[
        "data.source=text",
        "data.tokenizer.kind=bpe",
        "data.tokenizer.vocab_size=2000",
        "vocab_size=2000",
        "train_iters=12",
        &format!("data.paths=['{}']", file.display()),
    ]);
    let mut child = workspace.start(RESUME);
    wait_for(&mut child, || is_preparing(workspace.dir.path()));
    signal(&child, "TERM");
    let ended: Ended = child.wait_with_output().unwrap().into();
    ended.expect_error(3, "train::stopped", "before the first step", "--resume");
    assert_eq!(contents(&workspace.checkpoints()), checkpoints);
}

/// Reads what a process says until a line has `text` in it.
fn read_until(
    child: &mut Child,
    text: &str,
) -> (Vec<String>, BufReader<std::process::ChildStderr>) {
    let mut reader = BufReader::new(child.stderr.take().unwrap());
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        let read = reader.read_line(&mut line).unwrap();
        assert!(read > 0, "ended before `{text}`: {lines:?}");
        let found = line.contains(text);
        lines.push(line);
        if found {
            return (lines, reader);
        }
    }
}

#[test]
fn signals_that_come_together_write_a_checkpoint_and_are_answered_at_once() {
    let workspace = Workspace::tiny(&[
        "lr_decay_style=constant",
        "train_iters=1000000",
        "save_interval=0",
    ]);
    let mut child = workspace.start(How::default());
    let metrics = workspace.run_dir().join("metrics.jsonl");
    wait_for(&mut child, || {
        std::fs::metadata(&metrics).is_ok_and(|file| file.len() > 0)
    });
    // In one go, so that both are pending before the process can end.
    let line = format!("kill -s INT {0}; kill -s TERM {0}", child.id());
    let status = std::process::Command::new("sh")
        .args(["-c", &line])
        .status();
    assert!(status.unwrap().success());
    let (_, reader) = read_until(
        &mut child,
        "stopping after this step; a checkpoint is written",
    );
    let rest: Vec<String> = reader.lines().map(Result::unwrap).collect();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(3), "{rest:?}");
    assert!(workspace.newest().step > 0);
}
