//! The test binaries: building all of them at once, and the tests in each.

use std::path::PathBuf;

use cairn_base::{Diagnostic, Exec};
use serde_json::Value;

use super::suites::{self, Suite};
use crate::context::{Context, Failure, Result};
use crate::engine;

/// A test binary and its tests.
#[derive(Debug)]
pub(super) struct Binary {
    /// Package and target, such as `cairn-config::it`.
    pub(super) id: String,
    pub(super) program: PathBuf,
    /// The package's folder, in which its tests run.
    pub(super) dir: PathBuf,
    /// From a crate's `tests` folder.
    pub(super) integration: bool,
    pub(super) tests: Vec<String>,
}

/// The tests of some binaries.
pub(super) type Selection<'a> = Vec<(&'a Binary, Vec<&'a str>)>;

/// Builds all tests of the workspace and lists them. The compiler's messages
/// go to stderr.
pub(super) fn build(context: &Context) -> Result<Vec<Binary>> {
    let cargo = engine::cargo()
        .args([
            "test",
            "--release",
            "--workspace",
            "--lib",
            "--bins",
            "--tests",
            "--no-run",
        ])
        .args(["--message-format", "json-render-diagnostics"])
        .arg("--target-dir")
        .arg(engine::target_dir(context))
        .cwd(&context.root);
    let mut binaries = Vec::new();
    let status = cargo
        .lines(|line| binaries.extend(serde_json::from_str(line).ok().and_then(|m| binary(&m))))?;
    if !status.success() {
        let diagnostic = Diagnostic::error("test::build", "the tests do not compile");
        return Err(Failure::failed(
            diagnostic.hint("the compiler's messages are above"),
        ));
    }
    for binary in &mut binaries {
        let listed = Exec::new(&binary.program)
            .args(["--list", "--format", "terse"])
            .cwd(&binary.dir)
            .output()?;
        let text = listed.text();
        binary.tests = text
            .lines()
            .filter_map(|line| line.strip_suffix(": test"))
            .map(str::to_owned)
            .collect();
    }
    binaries.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(binaries)
}

/// The binary in one of cargo's messages, if it is about one.
fn binary(message: &Value) -> Option<Binary> {
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let program = PathBuf::from(message["executable"].as_str()?);
    let dir = PathBuf::from(message["manifest_path"].as_str()?)
        .parent()?
        .to_path_buf();
    let package = message["package_id"].as_str()?;
    // `path+file:///.../crates/base#cairn-base@0.1.0`, or without the name
    // where the folder has it.
    let named = package.rsplit_once('#').map_or("", |(_, rest)| rest);
    let package = match named.split_once('@') {
        Some((name, _)) => name.to_owned(),
        None => dir.file_name()?.to_str()?.to_owned(),
    };
    let kind = message["target"]["kind"][0].as_str()?;
    let target = message["target"]["name"].as_str()?;
    let id = if kind == "lib" {
        package
    } else {
        format!("{package}::{target}")
    };
    Some(Binary {
        id,
        program,
        dir,
        integration: kind == "test",
        tests: Vec::new(),
    })
}

/// The tests of a suite with `filter` in their name.
pub(super) fn select<'a>(
    binaries: &'a [Binary],
    suite: &Suite,
    filter: Option<&str>,
) -> Selection<'a> {
    let wanted = |binary: &Binary, test: &str| {
        suites::suite_of(binary.integration, test) == suite.name
            && filter.is_none_or(|part| test.contains(part))
    };
    let selected = binaries.iter().map(|binary| {
        let tests: Vec<_> = binary
            .tests
            .iter()
            .map(String::as_str)
            .filter(|test| wanted(binary, test))
            .collect();
        (binary, tests)
    });
    selected.filter(|(_, tests)| !tests.is_empty()).collect()
}

/// How many tests are selected.
pub(super) fn count(selection: &Selection<'_>) -> usize {
    selection.iter().map(|(_, tests)| tests.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_messages_name_binaries() {
        let message = |kind: &str, id: &str| {
            serde_json::json!({
                "reason": "compiler-artifact", "package_id": id, "manifest_path": "/p/crates/base/Cargo.toml",
                "target": {"kind": [kind], "name": "it"}, "profile": {"test": true}, "executable": "/t/it-0",
            })
        };
        let of =
            |kind, id| binary(&message(kind, id)).map(|binary| (binary.id, binary.integration));
        assert_eq!(
            of("test", "path+file:///p/crates/base#cairn-base@0.1.0"),
            Some(("cairn-base::it".into(), true))
        );
        assert_eq!(
            of("lib", "path+file:///p/crates/base#0.1.0"),
            Some(("base".into(), false))
        );
        assert!(binary(&serde_json::json!({"reason": "build-finished"})).is_none());
    }

    #[test]
    fn each_test_is_selected_by_one_suite() {
        let binary = |integration, tests: &[&str]| Binary {
            id: String::new(),
            program: PathBuf::new(),
            dir: PathBuf::new(),
            integration,
            tests: tests.iter().map(|test| (*test).to_owned()).collect(),
        };
        let all = [
            binary(true, &["parity::a", "resume::b", "c"]),
            binary(false, &["parity::d"]),
        ];
        let counts: Vec<_> = suites::SUITES
            .iter()
            .map(|suite| count(&select(&all, suite, None)))
            .collect();
        assert_eq!(counts.iter().sum::<usize>(), 4, "{counts:?}");
        assert_eq!(counts[0], 3);
        assert_eq!(count(&select(&all, &suites::SUITES[0], Some("resume"))), 1);
    }
}
