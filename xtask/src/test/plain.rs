//! Runs a suite without cargo-nextest: each binary with the names of the
//! tests wanted, one binary after the other.

use cairn_base::Exec;

use super::Options;
use super::binaries::Selection;
use super::skips::Log;
use crate::context::Result;

/// Runs the selected tests; passed and failed.
pub(super) fn run(
    options: &Options,
    log: &Log,
    selection: &Selection<'_>,
) -> Result<(usize, usize)> {
    let mut total = (0, 0);
    for (binary, tests) in selection {
        eprintln!("{}: {} tests", binary.id, tests.len());
        let mut exec = Exec::new(&binary.program)
            .arg("--exact")
            .args(tests)
            .env("CARGO_MANIFEST_DIR", &binary.dir)
            .cwd(&binary.dir);
        if let Some(jobs) = options.jobs {
            exec = exec.arg("--test-threads").arg(jobs.to_string());
        }
        let mut counted = (0, 0);
        log.given_to(exec).lines(|line| {
            eprintln!("{line}");
            if let Some((passed, failed)) = result_line(line) {
                counted = (counted.0 + passed, counted.1 + failed);
            }
        })?;
        // What a crash kept from being counted has not passed.
        let lost = tests.len().saturating_sub(counted.0 + counted.1);
        total = (total.0 + counted.0, total.1 + counted.1 + lost);
    }
    Ok(total)
}

/// Passed and failed from `test result: ok. 3 passed; 0 failed; ...`.
pub(super) fn result_line(line: &str) -> Option<(usize, usize)> {
    let counts = line.strip_prefix("test result: ")?.split_once(". ")?.1;
    let count = |what: &str| {
        counts
            .split(';')
            .find_map(|part| part.trim().strip_suffix(what)?.trim().parse::<usize>().ok())
    };
    Some((count("passed")?, count("failed")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::binaries::Binary;

    #[test]
    fn result_lines_are_counted() {
        let line = "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 9 filtered out; finished in 0s";
        assert_eq!(result_line(line), Some((3, 1)));
        assert_eq!(result_line("test a ... ok"), None);
    }

    #[test]
    fn tests_lost_in_a_crash_have_failed() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("it");
        std::fs::write(&program, "#!/bin/sh\nkill -9 $$\n").unwrap();
        Exec::new("chmod").arg("+x").arg(&program).run().unwrap();
        let binary = Binary {
            id: "crashes".to_owned(),
            program,
            dir: dir.path().to_path_buf(),
            integration: true,
            tests: Vec::new(),
        };
        let log = Log::at(dir.path().join("log"));
        let options = Options {
            filter: None,
            jobs: None,
        };
        assert_eq!(
            run(&options, &log, &vec![(&binary, vec!["a", "b"])]).unwrap(),
            (0, 2)
        );
    }
}
