//! What is wrong with a command line or with what it names ends with status 2
//! and a message, and changes nothing.

use super::{outcome, xtask};

const QUICKSTART: &str = "configs/experiments/quickstart.yaml";

#[test]
fn wrong_use_and_wrong_input_end_with_2_and_say_why() {
    let dir = tempfile::tempdir().unwrap();
    let broken = dir.path().join("broken.yaml");
    std::fs::write(&broken, "modules: [\n").unwrap();
    let foreign = dir.path().join("foreign.yaml");
    let text = "work_group: g\nuser_name: u\nexp_name: e\nworkspace: ./output\nmodules:\n  pre_trainer:\n    \
                framework: some_other\n    config: m.yaml\n    model: m.yaml\n";
    std::fs::write(&foreign, text).unwrap();
    for kind in ["models", "modules"] {
        let preset = dir.path().join(kind).join("some_other");
        std::fs::create_dir_all(&preset).unwrap();
        std::fs::write(preset.join("m.yaml"), "a: 1\n").unwrap();
    }
    let (broken, foreign) = (broken.to_str().unwrap(), foreign.to_str().unwrap());
    let presets = dir.path().to_str().unwrap();
    let table: &[(&[&str], &str)] = &[
        (&["nonsense"], "unrecognized subcommand"),
        (&["train"], "--exp"),
        (&["train", "--exp", "no/such.yaml"], "no/such.yaml"),
        (&["train", "--exp", broken], "broken.yaml"),
        (&["train", "--exp", "configs"], "configs"),
        (
            &["train", "--exp", foreign, "--configs", presets],
            "some_other",
        ),
        (
            &["train", "--exp", QUICKSTART, "--resum"],
            "did you mean the flag `--resume`",
        ),
        (
            &["train", "--exp", QUICKSTART, "train_iters=0"],
            "train_iters",
        ),
        (
            &["train", "--exp", QUICKSTART, "train_iter=5"],
            "train_iters",
        ),
        (
            &["train", "--exp", QUICKSTART, "--threads", "0"],
            "at least 1",
        ),
        (
            &["train", "--exp", QUICKSTART, "--profile", "0"],
            "--profile",
        ),
        (
            &["train", "--exp", QUICKSTART, "--device", "abacus"],
            "abacus",
        ),
        (
            &["train", "posttrain", "--exp", QUICKSTART],
            "post-training",
        ),
        (&["config", "show", "--exp", "no/such.yaml"], "no/such.yaml"),
        (
            &[
                "config",
                "show",
                "--exp",
                QUICKSTART,
                "--configs",
                "no/such",
            ],
            "there is no folder no/such",
        ),
        (
            &[
                "config",
                "show",
                "--exp",
                QUICKSTART,
                "--configs",
                QUICKSTART,
            ],
            "there is no folder",
        ),
        (
            &["config", "diff", QUICKSTART, "no/such.yaml"],
            "no/such.yaml",
        ),
        (&["data", "inspect"], "PATH"),
        (&["data", "inspect", "x.idx", "lr=1"], "lr=1"),
        (&["bench", "gemm", "--shape", "1x2"], "three sizes"),
        (&["bench", "gemm", "--peer", "torch"], "--python"),
        (
            &["bench", "train", "--exp", QUICKSTART, "--whole"],
            "--peer",
        ),
        (&["test", "--suite", "party"], "did you mean `parity`"),
        (&["test", "-k", "a|b"], "part of a test's name"),
        (&["completions", "teletype"], "teletype"),
    ];
    for (words, expected) in table {
        let (code, stdout, stderr) = outcome(&xtask(words));
        assert_eq!(code, Some(2), "{words:?}\n{stderr}");
        assert_eq!(stdout, "", "{words:?}");
        assert!(
            stderr.contains(expected),
            "{words:?} does not say {expected:?}:\n{stderr}"
        );
    }
}

#[test]
fn diagnostics_are_json_when_asked_for() {
    let (code, stdout, stderr) = outcome(&xtask(&[
        "config", "check", "--format", "json", "--exp", "no.yaml",
    ]));
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    for line in stderr.lines() {
        let message: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(message["severity"], "error", "{message}");
        assert!(
            message["code"].as_str().unwrap().starts_with("config::"),
            "{message}"
        );
    }
}

#[test]
fn answers_are_json_when_asked_for() {
    let table: &[&[&str]] = &[
        &["config", "show", "--exp", QUICKSTART],
        &["config", "show", "--exp", QUICKSTART, "--origin"],
        &["config", "check", "--exp", QUICKSTART],
        &[
            "config",
            "diff",
            QUICKSTART,
            "configs/experiments/tiny_resume.yaml",
        ],
        &["config", "schema"],
        &["train", "--exp", QUICKSTART, "--dry-run"],
        &["doctor"],
    ];
    for words in table {
        let (code, stdout, stderr) = outcome(&xtask(&[*words, &["--format", "json"]].concat()));
        assert_eq!(code, Some(0), "{words:?}\n{stderr}");
        let answer: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert!(answer.is_object() || answer.is_array(), "{words:?}");
    }
}

#[test]
fn commands_work_from_any_folder_of_the_checkout() {
    let exec = xtask(&[
        "config",
        "check",
        "--exp",
        "../../configs/experiments/quickstart.yaml",
    ]);
    let (code, stdout, stderr) = outcome(&exec.cwd(super::root().join("xtask/src")));
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("pre_trainer (native)"), "{stdout}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let script = "\"$0\" completions bash | head -n 1 >/dev/null; echo \"${PIPESTATUS[0]}\"";
    let exec = cairn_base::Exec::new("bash")
        .args(["-c", script, env!("CARGO_BIN_EXE_xtask")])
        .cwd(super::root());
    assert_eq!(exec.output().unwrap().text(), "0");
}

#[test]
fn help_offers_what_there_is() {
    let (code, help, _) = outcome(&xtask(&["train", "--help"]));
    assert_eq!(code, Some(0));
    assert!(
        help.contains("pretrain") && !help.contains("posttrain"),
        "{help}"
    );
    assert!(help.contains("--config]"), "{help}");
}

#[test]
fn a_dry_run_creates_nothing_and_needs_no_engine() {
    let dir = tempfile::tempdir().unwrap();
    // A build folder of its own: no engine in it, and no cargo to build one.
    let release = dir.path().join("release");
    std::fs::create_dir(&release).unwrap();
    let program = release.join("xtask");
    std::fs::copy(env!("CARGO_BIN_EXE_xtask"), &program).unwrap();
    let workspace = format!("workspace={}", dir.path().join("output").display());
    let words = ["train", "--exp", QUICKSTART, &workspace];
    let alone = |words: &[&str]| {
        let exec = cairn_base::Exec::new(&program).args(words);
        outcome(&exec.cwd(super::root()).env("CARGO", "false"))
    };
    let (code, stdout, stderr) = alone(&[&words[..], &["--dry-run"]].concat());
    assert_eq!(code, Some(0), "{stderr}");
    let engine = release.join("cairn-train");
    assert!(
        stdout.starts_with("#!/bin/sh\n")
            && stdout.contains(&format!("{} --request", engine.display())),
        "{stdout}"
    );
    // The same without `--dry-run` wants the engine that is not there.
    let (code, _, stderr) = alone(&words);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("the engine cannot be built"), "{stderr}");
    let names = |path: &std::path::Path| std::fs::read_dir(path).unwrap().count();
    assert_eq!((names(dir.path()), names(&release)), (1, 1));
}
