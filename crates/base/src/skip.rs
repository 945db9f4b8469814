//! The one way for a test to say that it could not run here. `cargo xtask
//! test` counts what is recorded; a skipped test still ends as passed for the
//! test runner, which knows no third outcome.

use std::io::Write;

use crate::env;

/// Records that the running test cannot run here, and why. Return from the
/// test afterwards:
///
/// ```
/// # let peer = Some(1);
/// let Some(peer) = peer else { return cairn_base::skip("no peer installed") };
/// ```
///
/// Writes `cairn-skip: <test>: <reason>` to stderr and, when `CAIRN_SKIP_LOG`
/// names a file, appends the same line to it.
pub fn skip(reason: &str) {
    let thread = std::thread::current();
    let line = skip_line(&test_name(thread.name(), std::env::args().skip(1)), reason);
    eprint!("{line}");
    if let Some(path) = env::get(&env::CAIRN_SKIP_LOG) {
        let written = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|mut log| log.write_all(line.as_bytes()));
        if let Err(error) = written {
            // A lost record would turn a skip into a pass.
            panic!("cannot record a skipped test in {path}: {error}");
        }
    }
}

/// The harness names the thread of a test after it, or runs it on the main
/// thread when it runs one at a time; a runner with a process a test names it
/// on the command line then.
fn test_name(thread: Option<&str>, mut args: impl Iterator<Item = String>) -> String {
    match thread {
        Some(name) if name != "main" => name.to_owned(),
        _ => args
            .find(|arg| !arg.starts_with('-'))
            .unwrap_or_else(|| "unnamed test".to_owned()),
    }
}

/// One line, whatever the reason holds.
fn skip_line(test: &str, reason: &str) -> String {
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("cairn-skip: {test}: {reason}\n")
}

/// Test and reason of one recorded line; `None` for any other line.
#[must_use]
pub fn parse_line(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("cairn-skip: ")?.split_once(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_named_by_its_thread_or_its_arguments() {
        let args = || {
            ["--exact", "a::b", "--nocapture"]
                .into_iter()
                .map(str::to_owned)
        };
        assert_eq!(test_name(Some("c::d"), args()), "c::d");
        assert_eq!(test_name(Some("main"), args()), "a::b");
        assert_eq!(test_name(None, std::iter::empty()), "unnamed test");
    }

    #[test]
    fn a_line_reads_back() {
        let line = skip_line("parity::toy", "no ../shared\nbeside: the checkout");
        assert_eq!(line.lines().count(), 1);
        assert_eq!(
            parse_line(line.trim_end()),
            Some(("parity::toy", "no ../shared beside: the checkout"))
        );
        assert_eq!(parse_line("running 3 tests"), None);
    }
}
