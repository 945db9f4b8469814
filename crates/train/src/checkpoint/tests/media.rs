//! Full and read-only media, and processes killed inside a write. Each test
//! runs itself again as a child process on a medium prepared for it; the
//! environment variable below tells the child what to do.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::*;

const CHILD: &str = "CAIRN_TEST_CHECKPOINT_DIR";

fn child_dir() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}

/// This test binary, to run one test of this module on `dir`.
fn child_args(test: &str) -> Vec<String> {
    let exe = std::env::current_exe().unwrap();
    let name = format!("checkpoint::tests::media::{test}");
    vec![
        exe.to_str().unwrap().into(),
        name,
        "--exact".into(),
        "--nocapture".into(),
    ]
}

/// Runs `script` with the child's command line as `"$@"` and `dir` as `$DIR`.
fn run_script(shell: &[&str], script: &str, test: &str, dir: &Path) -> (bool, String) {
    let output = Command::new(shell[0])
        .args(&shell[1..])
        .args(["-c", script, "sh"])
        .args(child_args(test))
        .env(CHILD, dir)
        .env("DIR", dir)
        .output();
    match output {
        Ok(output) => {
            let text = [output.stdout, output.stderr].concat();
            (
                output.status.success(),
                String::from_utf8_lossy(&text).into_owned(),
            )
        }
        Err(error) => (false, error.to_string()),
    }
}

const NAMESPACE: &[&str] = &["unshare", "--user", "--map-root-user", "--mount", "sh"];

/// Why file systems cannot be mounted here without further rights, if so.
fn no_namespace() -> Option<String> {
    let output = Command::new(NAMESPACE[0])
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

fn large(step: u64) -> Snapshot {
    Snapshot {
        records: vec![record("large", DType::U8, &[3 << 20], step)],
        ..snapshot(step)
    }
}

/// The child's part: a small checkpoint fits, a large one does not; the small
/// one is intact and nothing else is left.
fn expect_no_room(dir: &Path) {
    saved(dir, &[1]);
    let error = save_now(dir, &large(2), &options()).unwrap_err();
    assert!(error.is_full(), "{error:?}");
    let diagnostic = error.diagnostic(find_latest(dir).unwrap().path.as_deref());
    assert_eq!(diagnostic.code, "checkpoint::disk-full");
    assert!(
        diagnostic.message.contains("no space left"),
        "{}",
        diagnostic.message
    );
    assert!(
        diagnostic
            .hints
            .iter()
            .any(|hint| hint.contains("step-00000001")),
        "{:?}",
        diagnostic.hints
    );
    assert_eq!(names(dir), ["step-00000001"]);
    assert_holds(&load_latest(dir).unwrap().0.unwrap(), 1);
    // Room again: the next one is written.
    saved(dir, &[3]);
    println!("no room, as wanted");
}

#[test]
fn a_full_disk_leaves_the_last_good_checkpoint() {
    if let Some(dir) = child_dir() {
        return expect_no_room(&dir);
    }
    if let Some(reason) = no_namespace() {
        return cairn_base::skip(&reason);
    }
    let dir = tempfile::tempdir().unwrap();
    let script = r#"mount -t tmpfs -o size=1m tmpfs "$DIR" && exec "$@""#;
    let (ok, text) = run_script(
        NAMESPACE,
        script,
        "a_full_disk_leaves_the_last_good_checkpoint",
        dir.path(),
    );
    assert!(ok && text.contains("no room, as wanted"), "{text}");
}

#[test]
fn a_file_size_limit_leaves_the_last_good_checkpoint() {
    if let Some(dir) = child_dir() {
        return expect_no_room(&dir);
    }
    let dir = tempfile::tempdir().unwrap();
    // 512-byte blocks; the signal is ignored so that the write itself fails.
    let script = r#"trap "" XFSZ; ulimit -f 2048; exec "$@""#;
    let (ok, text) = run_script(
        &["sh"],
        script,
        "a_file_size_limit_leaves_the_last_good_checkpoint",
        dir.path(),
    );
    assert!(ok && text.contains("no room, as wanted"), "{text}");
}

#[test]
fn a_read_only_disk_is_named() {
    if let Some(dir) = child_dir() {
        let error = save_now(&dir, &snapshot(2), &options()).unwrap_err();
        let diagnostic = error.diagnostic(None);
        assert_eq!(diagnostic.code, "checkpoint::not-writable");
        assert!(
            diagnostic.message.contains("read-only"),
            "{}",
            diagnostic.message
        );
        assert!(CheckpointWriter::open(&dir.join("new"), options()).is_err());
        assert_holds(&load_latest(&dir).unwrap().0.unwrap(), 1);
        println!("read-only, as wanted");
        return;
    }
    if let Some(reason) = no_namespace() {
        return cairn_base::skip(&reason);
    }
    let dir = tempfile::tempdir().unwrap();
    saved(dir.path(), &[1]);
    let script = r#"mount --bind "$DIR" "$DIR" && mount -o remount,bind,ro "$DIR" && exec "$@""#;
    let (ok, text) = run_script(NAMESPACE, script, "a_read_only_disk_is_named", dir.path());
    assert!(ok && text.contains("read-only, as wanted"), "{text}");
}

#[test]
fn a_file_in_the_place_of_the_folder_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("checkpoints");
    std::fs::write(&file, "mine").unwrap();
    for path in [file.clone(), file.join("below")] {
        let error = CheckpointWriter::open(&path, options()).unwrap_err();
        assert!(
            error.to_string().contains(file.to_str().unwrap()),
            "{error}"
        );
        assert!(error.diagnostic(None).hints[0].contains("--resume"));
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}

/// What the killed process writes, for ever.
fn write_for_ever(dir: &Path) -> ! {
    let (mut writer, _) = CheckpointWriter::open(dir, killed_options()).unwrap();
    let first = load_latest(dir).unwrap().0.map_or(0, |found| found.step);
    for step in first + 1.. {
        let records = (0..8)
            .map(|i| record(&format!("t{i}"), DType::U8, &[1 << 16], step + i))
            .collect();
        writer
            .save(Snapshot {
                records,
                ..snapshot(step)
            })
            .unwrap();
    }
    unreachable!("the loop has no end")
}

fn killed_options() -> Options {
    Options {
        shard_bytes: 1 << 16,
        retention: Retention {
            keep_last: 2,
            keep_every: 0,
        },
    }
}

#[test]
fn kills_inside_a_write_never_cost_a_complete_checkpoint() {
    if let Some(dir) = child_dir() {
        write_for_ever(&dir);
    }
    let dir = tempfile::tempdir().unwrap();
    let args = child_args("kills_inside_a_write_never_cost_a_complete_checkpoint");
    let (mut inside, mut newest) = (0, 0);
    // A kill counts when the partial directory it interrupted is there.
    for round in 0.. {
        let mut child = Command::new(&args[0])
            .args(&args[1..])
            .env(CHILD, dir.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let wanted = 1 + round % 8;
        let in_write = || {
            let shards = |p: &PathBuf| std::fs::read_dir(p).map_or(0, Iterator::count);
            step_dirs(dir.path()).is_ok_and(|found| found.keys().any(|step| *step > newest))
                && partials(dir.path()).is_ok_and(|found| found.iter().any(|p| shards(p) >= wanted))
        };
        while !in_write() {
            assert!(
                child.try_wait().unwrap().is_none(),
                "the child ended by itself"
            );
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        inside += partials(dir.path()).unwrap().len();

        let (found, warnings) = load_latest(dir.path()).unwrap();
        assert!(
            warnings.is_empty(),
            "a step directory was not whole: {warnings:?}"
        );
        let found = found.unwrap();
        assert!(found.step > newest);
        newest = found.step;
        for (i, tensor) in found.records.iter().enumerate() {
            assert_eq!(tensor.bytes, bytes(newest + i as u64, 1 << 16));
        }
        if inside >= 8 {
            return;
        }
        assert!(
            round < 200,
            "only {inside} kills of {round} fell inside a write"
        );
    }
}
