//! The log in which the tests of a suite record that they were skipped.

use std::path::PathBuf;

use cairn_base::{Exec, FileErrorKind, env, files, skip};

use super::setup;
use crate::context::{Context, Result};
use crate::engine;

/// The log of one suite's run.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    /// The Python of the tests, where `CAIRN_PYTHON` names none.
    python: Option<PathBuf>,
}

impl Log {
    /// An empty log.
    pub(super) fn start(context: &Context, suite: &str) -> Result<Self> {
        let dir = engine::target_dir(context).join("cairn-test");
        files::create_dir_all(&dir)?;
        let mut log = Self::at(dir.join(format!("{suite}.skips")));
        log.python = setup::python(context);
        files::write_atomic(&log.path, b"")?;
        Ok(log)
    }

    /// A log at this place.
    pub(super) fn at(path: PathBuf) -> Self {
        Self { path, python: None }
    }

    /// The process with this log as the place where its tests record skips,
    /// and with the Python that spares it some of them.
    pub(super) fn given_to(&self, exec: Exec) -> Exec {
        let exec = exec.env(env::CAIRN_SKIP_LOG.name, &self.path);
        match &self.python {
            Some(python) => exec.env(env::CAIRN_PYTHON.name, python),
            None => exec,
        }
    }

    /// Test and reason of each skip, each once, by name.
    pub(super) fn read(&self) -> Result<Vec<(String, String)>> {
        let text = match files::read_text(&self.path) {
            Err(error) if error.kind == FileErrorKind::NotFound => String::new(),
            other => other?,
        };
        let mut skips: Vec<_> = text
            .lines()
            .filter_map(skip::parse_line)
            .map(|(test, reason)| (test.to_owned(), reason.to_owned()))
            .collect();
        skips.sort();
        // A test that skips twice is one skipped test.
        skips.dedup_by(|a, b| a.0 == b.0);
        Ok(skips)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_given_the_log_and_the_python() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::at(dir.path().join("log"));
        let show = |log: &Log| {
            let exec = Exec::new("sh")
                .args(["-c", "echo $CAIRN_SKIP_LOG $CAIRN_PYTHON"])
                .env_remove("CAIRN_PYTHON");
            log.given_to(exec).output().unwrap().text()
        };
        assert_eq!(show(&log), log.path.display().to_string());
        log.python = Some("/venv/python".into());
        assert_eq!(show(&log), format!("{} /venv/python", log.path.display()));
    }

    #[test]
    fn skips_are_read_once_each_and_sorted() {
        let dir = tempfile::tempdir().unwrap();
        let log = Log::at(dir.path().join("log"));
        assert!(log.read().unwrap().is_empty());
        std::fs::write(
            &log.path,
            "cairn-skip: b: none\nnoise\ncairn-skip: a: no\ncairn-skip: b: none\n",
        )
        .unwrap();
        let skips = log.read().unwrap();
        assert_eq!(
            skips,
            [
                ("a".to_owned(), "no".to_owned()),
                ("b".to_owned(), "none".to_owned())
            ]
        );
    }
}
