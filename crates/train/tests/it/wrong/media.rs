//! Disks that are full or read-only while a checkpoint is to be written.

use std::process::{Command as Process, Stdio};

use super::{run_with_checkpoints, steps, undisturbed};
use crate::engine::{Ended, How, RESUME, Workspace, assert_same_checkpoint, contents, process};

/// Runs the training with `script` in front: it ends in `exec "$@"`.
fn train_under(shell: &[&str], script: &str, workspace: &Workspace, how: How) -> Ended {
    let engine = process(&workspace.train_command(how), 2);
    Process::new(shell[0])
        .args(&shell[1..])
        .args(["-c", script, "sh"])
        .arg(engine.get_program())
        .args(engine.get_args())
        .env("DIR", workspace.checkpoints())
        .stdin(Stdio::null())
        .output()
        .unwrap()
        .into()
}

/// Files of one MiB at most (512-byte blocks): a checkpoint needs more. The
/// signal is ignored so that the write itself fails.
const SMALL_FILES: &str = r#"trap "" XFSZ; ulimit -f 2048; exec "$@""#;

#[test]
fn a_full_disk_keeps_the_last_good_checkpoint() {
    let want = undisturbed();
    for background in ["async_save=true", "async_save=false"] {
        let mut workspace = run_with_checkpoints();
        workspace.change(&[background]);
        let before = contents(&workspace.checkpoints());
        let ended = train_under(&["sh"], SMALL_FILES, &workspace, RESUME);
        ended.expect_error(1, "checkpoint::disk-full", "step-00000016", "free space");
        ended.expect_error(1, "checkpoint::disk-full", "", "step-00000012");
        assert_eq!(contents(&workspace.checkpoints()), before, "{background}");
        workspace.complete(RESUME);
        assert_eq!(workspace.metrics(), want.metrics(), "{background}");
        assert_same_checkpoint(&workspace.newest(), &want.newest(), background);
    }
}

#[test]
fn a_full_disk_at_the_last_step_names_the_last_good_checkpoint() {
    let mut workspace = run_with_checkpoints();
    workspace.change(&["save_interval=0"]);
    let ended = train_under(&["sh"], SMALL_FILES, &workspace, RESUME);
    ended.expect_error(1, "checkpoint::disk-full", "step-00000024", "step-00000012");
    assert_eq!(steps(&workspace), [4, 8, 12]);
}

/// A run on text, whose tokens go to a cache.
fn on_text() -> Workspace {
    let mut workspace = Workspace::tiny(&[
        "data.source=text",
        "data.tokenizer.kind=bytes",
        "vocab_size=320",
        "train_iters=6",
    ]);
    let file = workspace.dir.path().join("corpus.txt");
    std::fs::write(&file, "a line of text that goes on\n".repeat(100_000)).unwrap();
    workspace.change(&[&format!("data.paths=['{}']", file.display())]);
    workspace
}

#[test]
fn a_full_disk_while_tokens_are_written_is_a_failure_not_wrong_input() {
    let workspace = on_text();
    let ended = train_under(&["sh"], SMALL_FILES, &workspace, How::default());
    ended.expect_error(1, "file::disk-full", "train.bin", "free some space");
    ended.expect_error(1, "file::disk-full", "", "data.cache_dir");
    assert!(!workspace.run_dir().exists());
}

#[test]
fn a_cache_that_cannot_be_written_is_a_failure_not_wrong_input() {
    if let Some(reason) = no_namespace() {
        return cairn_base::skip(&reason);
    }
    let mut workspace = on_text();
    let cache = workspace.dir.path().join("read-only");
    std::fs::create_dir(&cache).unwrap();
    workspace.change(&[&format!("data.cache_dir={}", cache.display())]);
    let script = r#"
        cache="$DIR/../../../../read-only"; mkdir -p "$DIR"
        mount --bind "$cache" "$cache" && mount -o remount,bind,ro "$cache" && exec "$@""#;
    let ended = train_under(NAMESPACE, script, &workspace, How::default());
    ended.expect_error(1, "file::read-only", "read-only", "data.cache_dir");
}

/// A shell in which file systems can be mounted without further rights.
const NAMESPACE: &[&str] = &["unshare", "--user", "--map-root-user", "--mount", "sh"];

fn no_namespace() -> Option<String> {
    let output = Process::new(NAMESPACE[0])
        .args(&NAMESPACE[1..])
        .args(["-c", "mount -t tmpfs tmpfs /mnt"])
        .output();
    match output {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(format!(
            "no tmpfs in a user namespace: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )),
        Err(error) => Some(format!("no unshare: {error}")),
    }
}

#[test]
fn a_disk_that_fills_up_is_named() {
    if let Some(reason) = no_namespace() {
        return cairn_base::skip(&reason);
    }
    let workspace = Workspace::tiny(&["train_iters=12", "save_interval=4", "keep_last=10"]);
    // Room for one checkpoint of 1.8 MB and a half; the run goes to a disk of
    // its own, and what is left there is looked at from inside.
    let script = r#"
        mkdir -p "$DIR" && mount -t tmpfs -o size=2700k tmpfs "$DIR" || exit 90
        "$@"; code=$?
        [ "$(ls "$DIR")" = step-00000004 ] || { ls -A "$DIR" >&2; exit 91; }
        [ "$(ls -A "$DIR" | grep -c partial)" = 0 ] || exit 92
        exit $code"#;
    let ended = train_under(NAMESPACE, script, &workspace, How::default());
    ended.expect_error(1, "checkpoint::disk-full", "step-00000008", "step-00000004");
}

#[test]
fn a_read_only_disk_is_named() {
    if let Some(reason) = no_namespace() {
        return cairn_base::skip(&reason);
    }
    let workspace = run_with_checkpoints();
    let before = contents(&workspace.run_dir());
    let script = r#"mount --bind "$DIR" "$DIR" && mount -o remount,bind,ro "$DIR" && exec "$@""#;
    let ended = train_under(NAMESPACE, script, &workspace, RESUME);
    ended.expect_error(1, "checkpoint::not-writable", "read-only", "workspace");
    assert_eq!(contents(&workspace.run_dir()), before);
}

#[test]
fn a_disk_that_becomes_read_only_is_named() {
    if let Some(reason) = no_namespace() {
        return cairn_base::skip(&reason);
    }
    let mut workspace = run_with_checkpoints();
    let before = contents(&workspace.checkpoints());
    // What is there turns read-only once the run has written its next metrics.
    // It is mounted over: a mount with files open for writing cannot be turned.
    let script = r#"
        cp -a "$DIR" "$DIR.same" && mount --bind "$DIR.same" "$DIR.same" || exit 90
        mount -o remount,bind,ro "$DIR.same" || exit 91
        "$@" & engine=$!
        until grep -q '"step":13,' "$DIR/../metrics.jsonl"; do kill -0 $engine || break; done
        mount --bind "$DIR.same" "$DIR" || { kill $engine; exit 92; }
        wait $engine"#;
    // The write comes thousands of steps after that.
    workspace.change(&["save_interval=2000", "train_iters=2000"]);
    let ended = train_under(NAMESPACE, script, &workspace, RESUME);
    ended.expect_error(
        1,
        "checkpoint::not-writable",
        "step-00002000",
        "step-00000012",
    );
    assert_eq!(contents(&workspace.checkpoints()), before);
}
