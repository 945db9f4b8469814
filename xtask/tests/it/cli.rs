//! The suite `cli`.

use std::path::{Path, PathBuf};

mod deps;
mod engine;
mod exit_codes;
#[path = "../../../crates/deps/tests/it/fixture.rs"]
#[expect(
    dead_code,
    reason = "shared with the tests of the crate, which use all of it"
)]
mod fixture;
mod kernels;
mod manual;
mod outputs;
mod tools;

/// The checkout.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
        .unwrap()
}

/// `cargo xtask` in the checkout, whatever the user's environment says.
fn xtask(words: &[&str]) -> cairn_base::Exec {
    let mut exec = cairn_base::Exec::new(env!("CARGO_BIN_EXE_xtask"))
        .args(words)
        .cwd(root())
        .env("USER", "me");
    for variable in [
        "CAIRN_CONFIGS",
        "CAIRN_TEAM",
        "CAIRN_THREADS",
        "CAIRN_PYTHON",
    ] {
        exec = exec.env_remove(variable);
    }
    exec
}

/// Runs a command: exit code, stdout, stderr.
fn outcome(exec: &cairn_base::Exec) -> (Option<i32>, String, String) {
    let (status, output) = exec.capture().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(output.stdout), text(output.stderr))
}
