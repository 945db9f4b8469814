//! Runs a suite with cargo-nextest: a process a test, timeouts, clear output.

use cairn_base::{Diagnostic, Exec, files};

use super::Options;
use super::binaries::{self, Selection};
use super::skips::Log;
use super::suites::{self, Suite};
use crate::context::{Context, Failure, Result};
use crate::engine;

/// True when cargo-nextest can be used.
pub(super) fn is_present() -> bool {
    Exec::new("cargo-nextest")
        .args(["nextest", "--version"])
        .output()
        .is_ok()
}

/// Runs the tests of a suite; passed and failed.
pub(super) fn run(
    context: &Context,
    suite: &Suite,
    options: &Options,
    log: &Log,
    selection: &Selection<'_>,
) -> Result<(usize, usize)> {
    let target = engine::target_dir(context);
    // Where `.config/nextest.toml` has the default profile write it: below the
    // checkout, wherever cargo's target folder is.
    let results = context.root.join("target/nextest/default/junit.xml");
    // An old one must not be taken for this run's; there may be none.
    drop(std::fs::remove_file(&results));
    let mut cargo = engine::cargo()
        .args([
            "nextest",
            "run",
            "--release",
            "--workspace",
            "--lib",
            "--bins",
            "--tests",
            "--no-fail-fast",
        ])
        .args([
            "--cargo-quiet",
            "--filterset",
            &suites::nextest_filter(suite, options.filter.as_deref()),
        ])
        .arg("--target-dir")
        .arg(&target)
        .cwd(&context.root);
    if let Some(jobs) = options.jobs {
        cargo = cargo.arg("--test-threads").arg(jobs.to_string());
    }
    let status = log.given_to(cargo).status()?;
    let text = files::read_text(&results)?;
    let broken = |what: String| Failure::failed(Diagnostic::error("test::nextest", what));
    let (ran, failed) = counts(&text)
        .ok_or_else(|| broken(format!("{} holds no counts of tests", results.display())))?;
    let expected = binaries::count(selection);
    if ran != expected {
        return Err(broken(format!(
            "{expected} tests were to run in suite {}, and {ran} did",
            suite.name
        )));
    }
    if failed == 0 && !status.success() {
        return Err(broken(format!(
            "nextest failed ({status}) though no test did"
        )));
    }
    Ok((ran - failed, failed))
}

/// Tests and failures from the root element of a `JUnit` file.
fn counts(xml: &str) -> Option<(usize, usize)> {
    let root = xml.split_once("<testsuites ")?.1.split_once('>')?.0;
    let attribute = |name: &str| {
        let value = root.split_once(&format!("{name}=\""))?.1.split_once('"')?.0;
        value.parse::<usize>().ok()
    };
    Some((
        attribute(" tests")?,
        attribute(" failures")? + attribute(" errors")?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_element_has_the_counts() {
        let xml = "<?xml version=\"1.0\"?>\n<testsuites name=\"r\" tests=\"12\" failures=\"2\" errors=\"1\" \
                   uuid=\"x\">\n<testsuite name=\"a\" tests=\"5\" failures=\"0\" errors=\"0\">";
        assert_eq!(counts(xml), Some((12, 3)));
        assert_eq!(counts("<testsuites name=\"r\">"), None);
        assert_eq!(counts(""), None);
    }
}
