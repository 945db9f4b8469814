//! Wrong input and failing media: one diagnostic with the next step, the right
//! exit code, and existing outputs as they were.

mod corpus;
mod media;
mod numbers;

use std::path::Path;

use cairn_launch::request::{
    CkptExport, CkptInspect, CkptList, Command, DataInspect, DataTarget, Report,
};
use cairn_train::checkpoint;
use serde_json::Value;

use crate::engine::{How, RESUME, Workspace, assert_same_checkpoint, contents, run};

/// Three checkpoints and then twelve more steps to go.
fn run_with_checkpoints() -> Workspace {
    let mut workspace = Workspace::tiny(&[
        "lr_decay_style=constant",
        "train_iters=12",
        "save_interval=4",
    ]);
    workspace.complete(How::default());
    workspace.change(&["train_iters=24"]);
    workspace
}

/// The same, left alone.
fn undisturbed() -> Workspace {
    let workspace = Workspace::tiny(&[
        "lr_decay_style=constant",
        "train_iters=24",
        "save_interval=4",
    ]);
    workspace.complete(How::default());
    workspace
}

fn steps(workspace: &Workspace) -> Vec<u64> {
    checkpoint::step_dirs(&workspace.checkpoints())
        .unwrap()
        .into_keys()
        .collect()
}

fn shard(workspace: &Workspace, step: u64) -> std::path::PathBuf {
    let dir = &checkpoint::step_dirs(&workspace.checkpoints()).unwrap()[&step];
    let is_shard =
        |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "safetensors");
    std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(is_shard)
        .unwrap()
}

fn truncate(path: &Path) {
    let length = std::fs::metadata(path).unwrap().len();
    std::fs::File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_len(length / 2)
        .unwrap();
}

/// Changes one bit, which only a hash can notice.
fn flip(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_run_with_checkpoints_is_not_overwritten() {
    let workspace = run_with_checkpoints();
    let before = contents(&workspace.run_dir());
    let ended = workspace.train(How::default());
    ended.expect_error(2, "train::run-exists", "up to step 12", "--resume");
    assert_eq!(contents(&workspace.run_dir()), before);
}

#[test]
fn a_damaged_checkpoint_is_passed_over_with_a_warning() {
    let want = undisturbed();
    let damages: [(&str, fn(&Path)); 2] = [("truncated shard", truncate), ("wrong hash", flip)];
    for (what, damage) in damages {
        let workspace = run_with_checkpoints();
        assert_eq!(steps(&workspace), [4, 8, 12]);
        damage(&shard(&workspace, 12));
        let inspect = CkptInspect {
            path: workspace.checkpoints().join("step-00000012"),
            verify: true,
        };
        let ended = run(&Command::CkptInspect(inspect), 0);
        ended.expect_error(
            2,
            "checkpoint::damaged",
            "step-00000012",
            "older checkpoint",
        );
        let whole_run = CkptInspect {
            path: workspace.run_dir(),
            verify: true,
        };
        let ended = run(&Command::CkptInspect(whole_run), 0);
        assert_eq!(ended.code, Some(2), "{what}: {}", ended.stderr);
        assert!(ended.stderr.contains("step-00000012"), "{}", ended.stderr);
        let described: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(described["step"], 8, "{what}");
        let list = CkptList {
            run_dir: workspace.run_dir(),
        };
        let ended = run(&Command::CkptList(list), 0);
        let rows: Value = serde_json::from_str(&ended.stdout).unwrap();
        let problems: Vec<bool> = rows
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["problem"].is_string())
            .collect();
        assert_eq!(problems, [false, false, true], "{what}: {rows}");
        let ended = workspace.complete(RESUME);
        assert!(
            ended.stderr.contains("checkpoint::damaged"),
            "{what}: {}",
            ended.stderr
        );
        assert!(
            ended.stderr.contains("resuming after step 8"),
            "{what}: {}",
            ended.stderr
        );
        assert_eq!(workspace.metrics(), want.metrics(), "{what}");
        assert_same_checkpoint(&workspace.newest(), &want.newest(), what);
    }
}

#[test]
fn a_run_whose_checkpoints_are_all_damaged_is_not_started_over() {
    let workspace = run_with_checkpoints();
    for step in steps(&workspace) {
        truncate(&shard(&workspace, step));
    }
    let before = contents(&workspace.run_dir());
    let ended = workspace.train(RESUME);
    ended.expect_error(
        2,
        "checkpoint::none",
        "no complete checkpoint",
        "without --resume",
    );
    assert_eq!(contents(&workspace.run_dir()), before);
}

#[test]
fn a_checkpoint_of_another_architecture_is_refused() {
    for (change, difference) in [
        ("num_layers=3", "layers.2"),
        ("ffn_hidden_size=192", "the model wants"),
    ] {
        let mut workspace = run_with_checkpoints();
        let before = contents(&workspace.run_dir());
        workspace.change(&[change]);
        let ended = workspace.train(RESUME);
        ended.expect_error(
            2,
            "checkpoint::architecture",
            difference,
            "another `exp_name`",
        );
        assert_eq!(contents(&workspace.run_dir()), before, "{change}");
    }
}

#[test]
fn a_model_that_differs_in_numbers_only_is_refused_too() {
    // The same tensors, but another function of them.
    let mut workspace = run_with_checkpoints();
    let before = contents(&workspace.run_dir());
    workspace.change(&["rotary_base=500000.0"]);
    let ended = workspace.train(RESUME);
    ended.expect_error(2, "train::other-model", "rope_base", "another `exp_name`");
    assert_eq!(contents(&workspace.run_dir()), before);
}

#[test]
fn a_second_process_in_the_same_run_is_refused() {
    let mut workspace = Workspace::tiny(&[
        "train_iters=100000",
        "save_interval=1000000",
        "lr_decay_style=constant",
    ]);
    workspace.change(&["lr_warmup_iters=0"]);
    let mut first = workspace.start(How::default());
    let metrics = workspace.run_dir().join("metrics.jsonl");
    crate::engine::wait_for(&mut first, || {
        std::fs::metadata(&metrics).is_ok_and(|file| file.len() > 0)
    });
    for how in [How::default(), RESUME] {
        workspace
            .train(how)
            .expect_error(1, "checkpoint::in-use", "checkpoints", "exp_name");
    }
    crate::engine::signal(&first, "TERM");
    let ended: crate::engine::Ended = first.wait_with_output().unwrap().into();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    crate::engine::losses(&workspace.run_dir());
}

#[test]
fn checkpoint_commands_say_what_is_missing() {
    let workspace = Workspace::tiny(&[]);
    let inspect = |path: &Path| {
        run(
            &Command::CkptInspect(CkptInspect {
                path: path.to_path_buf(),
                verify: false,
            }),
            0,
        )
    };
    inspect(&workspace.run_dir()).expect_error(
        2,
        "checkpoint::read",
        "g/u/tiny_resume",
        "check the path",
    );
    inspect(workspace.dir.path()).expect_error(
        2,
        "checkpoint::none",
        "no complete checkpoint",
        "exp_name",
    );
    let ended = run(
        &Command::CkptList(CkptList {
            run_dir: workspace.dir.path().to_path_buf(),
        }),
        0,
    );
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(
        serde_json::from_str::<Value>(&ended.stdout).unwrap(),
        serde_json::json!([])
    );
}

#[test]
fn a_file_is_neither_a_checkpoint_nor_a_run_nor_a_folder() {
    let workspace = run_with_checkpoints();
    let file = workspace.run_dir().join("metrics.jsonl");
    let before = contents(&workspace.run_dir());
    let inspect = Command::CkptInspect(CkptInspect {
        path: file.clone(),
        verify: false,
    });
    let list = Command::CkptList(CkptList {
        run_dir: file.clone(),
    });
    for command in [inspect, list] {
        let ended = run(&command, 0);
        ended.expect_error(2, "checkpoint::not-a-folder", "is a file", "run directory");
    }
    let export = Command::CkptExport(CkptExport {
        path: workspace.run_dir(),
        to: file.clone(),
        dtype: "f32".to_owned(),
    });
    let ended = run(&export, 0);
    ended.expect_error(2, "ckpt::not-a-folder", "metrics.jsonl", "new folder");
    let report = Command::Report(Report {
        run_dir: workspace.dir.path().to_path_buf(),
        output: None,
    });
    let ended = run(&report, 0);
    ended.expect_error(2, "report::no-run", "metrics.jsonl", "exp_name");
    let data = Command::DataInspect(Box::new(DataInspect {
        target: DataTarget::Megatron(file),
        show: 1,
    }));
    let ended = run(&data, 0);
    ended.expect_error(2, "data::no-pair", "metrics.jsonl", "--exp");
    assert_eq!(contents(&workspace.run_dir()), before);
}

#[test]
fn a_file_in_the_way_of_the_run_directory_is_named() {
    let workspace = Workspace::tiny(&[]);
    let file = workspace.dir.path().join("g");
    std::fs::write(&file, "no folder").unwrap();
    for how in [How::default(), RESUME] {
        let ended = workspace.train(how);
        ended.expect_error(2, "train::file-in-the-way", "/g is a file", "workspace");
    }
    assert_eq!(contents(workspace.dir.path()).len(), 1);
}
