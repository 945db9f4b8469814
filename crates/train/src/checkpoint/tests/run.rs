//! The life of a checkpoints folder over a run: retention, replacement,
//! background writing, left-overs.

use std::fs;

use super::*;

fn keep(keep_last: usize, keep_every: u64) -> Options {
    Options {
        retention: Retention {
            keep_last,
            keep_every,
        },
        ..options()
    }
}

#[test]
fn retention_rules() {
    // keep_last, keep_every, present, completed, expired
    type Row = (usize, u64, &'static [u64], u64, &'static [u64]);
    let table: [Row; 8] = [
        (0, 0, &[10, 20, 30], 30, &[]),
        (1, 0, &[10, 20, 30], 30, &[20, 10]),
        (2, 0, &[10, 20, 30], 30, &[10]),
        (5, 0, &[10, 20, 30], 30, &[]),
        (1, 20, &[10, 20, 30, 40], 40, &[30, 10]),
        (0, 20, &[10, 20, 30], 30, &[]),
        // Above the completed step lies another course of the run.
        (1, 0, &[10, 20, 30, 90], 30, &[20, 10]),
        (2, 0, &[90], 30, &[]),
    ];
    for (keep_last, keep_every, present, completed, expired) in table {
        let retention = Retention {
            keep_last,
            keep_every,
        };
        assert_eq!(
            retention.expired(present, completed, |_| true),
            expired,
            "{retention:?} {present:?}"
        );
    }
}

#[test]
fn old_checkpoints_go_when_a_newer_one_is_complete() {
    let dir = tempfile::tempdir().unwrap();
    for step in [10, 20, 30, 40, 50] {
        save_now(dir.path(), &snapshot(step), &keep(2, 20)).unwrap();
    }
    assert_eq!(steps(dir.path()), [20, 40, 50]);
    assert_eq!(names(dir.path()).len(), 3, "nothing else is left behind");
}

#[test]
fn a_damaged_checkpoint_is_not_one_of_those_kept() {
    let dir = tempfile::tempdir().unwrap();
    saved(dir.path(), &[10, 20, 30]);
    let damaged = dir.path().join(step_dir_name(30));
    let shard = fs::read_dir(&damaged)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|end| end == "safetensors"))
        .unwrap();
    let mut bytes = fs::read(&shard).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&shard, bytes).unwrap();
    save_now(dir.path(), &snapshot(40), &keep(2, 0)).unwrap();
    // 40 and 20 are the two that a run could go on from.
    assert_eq!(steps(dir.path()), [20, 30, 40]);
    // Once two newer ones are whole, the damaged one goes like any other.
    save_now(dir.path(), &snapshot(50), &keep(2, 0)).unwrap();
    assert_eq!(steps(dir.path()), [40, 50]);
}

#[test]
fn a_snapshot_that_borrows_gives_the_same_bytes() {
    let (owned, borrowed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let by_value = snapshot(10);
    let records = by_value.records.iter().map(|record| TensorRecord {
        name: record.name.clone(),
        dtype: record.dtype,
        shape: record.shape.clone(),
        bytes: record.bytes.as_slice(),
    });
    let by_reference = Snapshot {
        step: 10,
        records: records.collect(),
        state: by_value.state.clone(),
        experiment: by_value.experiment.clone(),
    };
    save_now(owned.path(), &by_value, &options()).unwrap();
    let (mut writer, _) = CheckpointWriter::open(borrowed.path(), options()).unwrap();
    writer.save(snapshot(5)).unwrap();
    writer.save_here(&by_reference).unwrap();
    assert_eq!(steps(borrowed.path()), [5, 10]);
    assert_holds(&load(&borrowed.path().join(step_dir_name(10))).unwrap(), 10);
    for name in names(&owned.path().join(step_dir_name(10))) {
        let read = |dir: &Path| fs::read(dir.join(step_dir_name(10)).join(&name)).unwrap();
        assert_eq!(read(owned.path()), read(borrowed.path()), "{name}");
    }
}

#[test]
fn a_failed_save_deletes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    saved(dir.path(), &[10]);
    let bad = Snapshot {
        records: vec![TensorRecord {
            bytes: vec![],
            ..record("a", DType::U8, &[1], 1)
        }],
        ..snapshot(20)
    };
    save_now(dir.path(), &bad, &keep(1, 0)).unwrap_err();
    assert_eq!(steps(dir.path()), [10]);
}

#[test]
fn a_checkpoint_of_the_same_step_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    saved(dir.path(), &[10]);
    let changed = Snapshot {
        state: json!({"changed": true}),
        ..snapshot(10)
    };
    let path = save_now(dir.path(), &changed, &options()).unwrap();
    assert_eq!(load(&path).unwrap().state, changed.state);
    assert_eq!(names(dir.path()), ["step-00000010"]);
}

#[test]
fn what_a_kill_leaves_is_cleared_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    saved(dir.path(), &[10, 20]);
    // Killed inside a write, twice; then killed while replacing step 20.
    fs::create_dir(dir.path().join(".step-00000030.partial-77")).unwrap();
    fs::write(dir.path().join(".step-00000030.partial-77/shard"), "half").unwrap();
    fs::create_dir(dir.path().join(".step-00000040.partial-78")).unwrap();
    fs::rename(
        dir.path().join("step-00000020"),
        dir.path().join(".step-00000020.replaced-78"),
    )
    .unwrap();
    // Not ours.
    fs::write(dir.path().join(".step-notes.partial-x"), "").unwrap();
    fs::write(dir.path().join("step-12"), "").unwrap();
    assert_eq!(partials(dir.path()).unwrap().len(), 2);

    let (writer, notes) = CheckpointWriter::open(dir.path(), options()).unwrap();
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert_eq!(
        notes
            .iter()
            .filter(|note| note.code == "checkpoint::partial")
            .count(),
        2
    );
    assert_eq!(
        partials(dir.path()).unwrap(),
        Vec::<std::path::PathBuf>::new()
    );
    assert_eq!(
        names(dir.path()),
        [
            ".step-notes.partial-x",
            "step-00000010",
            "step-00000020",
            "step-12"
        ]
    );
    assert_holds(&load(&writer.last_good().unwrap()).unwrap(), 20);
}

#[test]
fn a_replaced_checkpoint_does_not_come_back_over_its_replacement() {
    let dir = tempfile::tempdir().unwrap();
    saved(dir.path(), &[10]);
    fs::create_dir(dir.path().join(".step-00000010.replaced-78")).unwrap();
    assert!(recover(dir.path()).unwrap().is_empty());
    assert_eq!(names(dir.path()), ["step-00000010"]);
    assert_holds(&load(&dir.path().join("step-00000010")).unwrap(), 10);
}

#[test]
fn background_saves_are_one_at_a_time_and_complete() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("run/checkpoints");
    let (mut writer, notes) = CheckpointWriter::open(&dir, keep(2, 0)).unwrap();
    assert!(notes.is_empty());
    assert_eq!(writer.wait().unwrap(), None);
    for step in 1..=5 {
        writer.save(snapshot(step)).unwrap();
        // The one before is complete as soon as the next is accepted.
        if step > 1 {
            assert_holds(&load(&dir.join(step_dir_name(step - 1))).unwrap(), step - 1);
        }
    }
    assert_eq!(
        writer.wait().unwrap(),
        Some(dir.join("step-00000005").as_path())
    );
    assert_eq!(writer.finish().unwrap(), Some(dir.join("step-00000005")));
    assert_eq!(steps(&dir), [4, 5]);
}

#[test]
fn dropping_the_writer_completes_what_was_begun() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = CheckpointWriter::open(dir.path(), options()).unwrap();
    writer.save(snapshot(1)).unwrap();
    drop(writer);
    assert_eq!(steps(dir.path()), [1]);
}

#[test]
fn a_background_failure_is_reported_by_the_next_call() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("checkpoints");
    let (mut writer, _) = CheckpointWriter::open(&dir, options()).unwrap();
    writer.save(snapshot(1)).unwrap();
    writer.wait().unwrap();
    // The folder is taken away and a file stands in its place.
    fs::rename(&dir, root.path().join("moved")).unwrap();
    fs::write(&dir, "").unwrap();
    writer.save(snapshot(2)).unwrap();
    let error = writer.save(snapshot(3)).unwrap_err();
    assert!(error.to_string().contains("step-00000002"), "{error}");
    let error = writer.finish().unwrap_err();
    assert!(error.to_string().contains("step-00000003"), "{error}");
    assert_holds(&load(&root.path().join("moved/step-00000001")).unwrap(), 1);
}

#[test]
fn an_older_checkpoint_that_cannot_be_deleted_does_not_hide_the_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = CheckpointWriter::open(dir.path(), keep(1, 0)).unwrap();
    writer.save(snapshot(1)).unwrap();
    writer.wait().unwrap();
    // Deleting renames first; a folder already in that place refuses it.
    let blocked = dir
        .path()
        .join(format!(".step-00000001.partial-{}", std::process::id()));
    fs::create_dir(&blocked).unwrap();
    fs::write(blocked.join("x"), "").unwrap();
    writer.save(snapshot(2)).unwrap();
    assert_eq!(
        writer.wait().unwrap(),
        Some(dir.path().join("step-00000002").as_path())
    );
    let warnings = writer.take_warnings();
    assert_eq!(warnings.len(), 1);
    assert_eq!(
        (warnings[0].code, warnings[0].is_error()),
        ("checkpoint::purge", false)
    );
    assert_holds(&load(&writer.last_good().unwrap()).unwrap(), 2);
    // Out of the way again, the next save deletes both.
    fs::remove_dir_all(blocked).unwrap();
    writer.save(snapshot(3)).unwrap();
    writer.wait().unwrap();
    assert!(writer.take_warnings().is_empty());
    assert_eq!(steps(dir.path()), [3]);
}

#[test]
fn a_second_run_in_the_same_folder_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (writer, _) = CheckpointWriter::open(dir.path(), options()).unwrap();
    let partial = dir.path().join(".step-00000030.partial-77");
    fs::create_dir(&partial).unwrap();
    let error = CheckpointWriter::open(dir.path(), options()).unwrap_err();
    assert_eq!(error.diagnostic(None).code, "checkpoint::in-use");
    assert!(
        error.to_string().contains("another process holds it"),
        "{error}"
    );
    assert!(partial.exists(), "what the first is writing stays");
    drop(writer);
    let (_, notes) = CheckpointWriter::open(dir.path(), options()).unwrap();
    assert_eq!(notes.len(), 1);
}
