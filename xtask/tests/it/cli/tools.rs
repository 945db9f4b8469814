//! What a command does on a machine that lacks something.

use std::path::Path;

use super::{outcome, xtask};

/// A folder in which these programs can be found, and nothing else.
fn folder_of(programs: &[&str], bin: &Path) {
    for program in programs {
        let found = cairn_base::Exec::new("sh")
            .args(["-c", "command -v \"$0\"", program])
            .output()
            .unwrap();
        std::os::unix::fs::symlink(found.text(), bin.join(program)).unwrap();
    }
}

#[test]
fn a_folder_of_temporary_files_that_cannot_be_used_can_be_moved() {
    // `true` builds every engine at once, and none is started.
    let estimate = [
        "plan",
        "estimate",
        "--exp",
        "configs/experiments/tiny_resume.yaml",
    ];
    let exec = xtask(&estimate)
        .env("CARGO", "true")
        .env("TMPDIR", "/no/such");
    let (code, _, stderr) = outcome(&exec);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(
        stderr.contains("cannot write /no/such") && stderr.contains("TMPDIR names"),
        "{stderr}"
    );
}

#[test]
fn tidy_without_rustfmt_says_that_it_skips_the_format() {
    let dir = tempfile::tempdir().unwrap();
    folder_of(&["cargo", "rustc", "git"], dir.path());
    let (_, stdout, stderr) = outcome(&xtask(&["tidy"]).env("PATH", dir.path()));
    assert!(
        stderr.contains("the format is not checked: no rustfmt"),
        "{stdout}\n{stderr}"
    );
    assert!(!stderr.contains("[format]"), "{stderr}");
}
