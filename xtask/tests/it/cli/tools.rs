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

#[test]
fn doctor_lists_simulated_devices() {
    // Cargo builds the library beside the tests of its crate.
    let built = std::env::current_exe().unwrap();
    let built = built.with_file_name("libcairn_cdna_hip.so");
    if !built.is_file() {
        return cairn_base::skip("the simulated HIP is built with the tests of all crates");
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("lib")).unwrap();
    std::os::unix::fs::symlink(built, dir.path().join("lib/libamdhip64.so")).unwrap();
    let doctor = |devices: &str| {
        let exec = xtask(&["doctor", "--format", "json"])
            .env("ROCM_HOME", dir.path())
            .env("CAIRN_SIM", devices)
            .env("CAIRN_SIM_MEMORY", "192G");
        let (code, stdout, stderr) = outcome(&exec);
        assert_eq!(code, Some(0), "{stderr}");
        let answer: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        (answer["hip"].clone(), stderr)
    };
    let (hip, stderr) = doctor("gfx950:8");
    assert_eq!(stderr, "");
    assert_eq!(hip["simulated"], true, "{hip}");
    let devices = hip["devices"].as_array().unwrap();
    assert_eq!(devices.len(), 8, "{hip}");
    assert_eq!(
        devices[7],
        "7: gfx950:sramecc+:xnack- AMD Instinct MI355X (simulated), 256 compute units, 192 GiB"
    );
    let (hip, stderr) = doctor("gfx941:8");
    assert_eq!(hip["simulated"], false, "{hip}");
    assert_eq!(hip["devices"].as_array().unwrap().len(), 0, "{hip}");
    assert!(
        stderr.contains("`gfx941` is not simulated") && stderr.contains("as in CAIRN_SIM=gfx942:8"),
        "{stderr}"
    );
}
