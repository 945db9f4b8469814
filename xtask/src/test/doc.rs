//! The suite of examples in documentation comments: only `cargo test` runs them.

use cairn_base::{Diagnostic, Exec};

use super::Options;
use super::plain::result_line;
use super::skips::Log;
use crate::context::{Context, Failure, Result};
use crate::engine;

/// Runs them; passed and failed.
pub(super) fn run(context: &Context, options: &Options, log: &Log) -> Result<(usize, usize)> {
    let (mut passed, mut failed) = (0, 0);
    let exec = log.given_to(cargo(context, options));
    let status = exec.lines(|line| {
        eprintln!("{line}");
        // Lines of this kind inside a failure's output are indented.
        if let Some(counts) = result_line(line) {
            passed += counts.0;
            failed += counts.1;
        }
    })?;
    if failed == 0 && !status.success() {
        let message = format!("the documentation tests failed to run ({status})");
        return Err(Failure::failed(Diagnostic::error("test::doc", message)));
    }
    Ok((passed, failed))
}

/// Their names.
pub(super) fn list(context: &Context, options: &Options) -> Result<Vec<String>> {
    let output = cargo(context, options).arg("--list").output()?;
    Ok(output
        .text()
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .map(str::to_owned)
        .collect())
}

fn cargo(context: &Context, options: &Options) -> Exec {
    let mut exec = engine::cargo()
        .args([
            "test",
            "--quiet",
            "--release",
            "--workspace",
            "--doc",
            "--no-fail-fast",
            "--target-dir",
        ])
        .arg(engine::target_dir(context))
        .cwd(&context.root)
        .arg("--");
    if let Some(part) = &options.filter {
        exec = exec.arg(part);
    }
    if let Some(jobs) = options.jobs {
        exec = exec.arg("--test-threads").arg(jobs.to_string());
    }
    exec
}
