//! The one helper that starts processes: where, with what environment, and an
//! error that shows the command line and the end of what it said.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use crate::Diagnostic;

/// A process to start.
#[derive(Clone, Debug)]
pub struct Exec {
    program: OsString,
    args: Vec<OsString>,
    cwd: Option<PathBuf>,
    env: BTreeMap<OsString, Option<OsString>>,
    stdin: Option<Vec<u8>>,
}

/// What a process that succeeded wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
}

impl Output {
    /// Standard output as text, without the line end at its end.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end().to_owned()
    }
}

/// A process that could not be started or failed.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The program could not be started.
    #[error("cannot start `{command}`: {source}")]
    Start {
        /// The command line, as for a shell.
        command: String,
        /// What the system said.
        source: io::Error,
    },
    /// It ended with another status than 0.
    #[error("`{command}` failed ({status}){}", tail(stderr))]
    Failed {
        /// The command line, as for a shell.
        command: String,
        /// How it ended.
        status: ExitStatus,
        /// What it wrote to stderr, when that was captured.
        stderr: String,
    },
}

impl ExecError {
    /// True when the program does not exist.
    #[must_use]
    pub fn is_missing_program(&self) -> bool {
        matches!(self, Self::Start { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// The form a user is shown.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        let code = match self {
            Self::Start { .. } => "exec::start",
            Self::Failed { .. } => "exec::failed",
        };
        let diagnostic = Diagnostic::error(code, self.to_string());
        if self.is_missing_program() {
            return diagnostic.hint("install the program, or put the folder it is in on PATH");
        }
        diagnostic
    }
}

impl From<ExecError> for Diagnostic {
    fn from(error: ExecError) -> Self {
        error.diagnostic()
    }
}

/// The last lines of a captured stderr, indented below the message.
fn tail(stderr: &str) -> String {
    const LINES: usize = 20;
    let lines: Vec<_> = stderr.trim_end().lines().collect();
    let shown = &lines[lines.len().saturating_sub(LINES)..];
    shown.iter().map(|line| format!("\n  {line}")).collect()
}

impl Exec {
    /// A process of this program, found on `PATH` unless it holds a slash.
    #[must_use]
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            cwd: None,
            env: BTreeMap::new(),
            stdin: None,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Starts it in this folder.
    #[must_use]
    pub fn cwd(mut self, dir: impl AsRef<Path>) -> Self {
        self.cwd = Some(dir.as_ref().to_path_buf());
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env
            .insert(name.as_ref().to_owned(), Some(value.as_ref().to_owned()));
        self
    }

    /// Removes a variable.
    #[must_use]
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.env.insert(name.as_ref().to_owned(), None);
        self
    }

    /// Gives it these bytes as standard input; without, it has none when
    /// captured and ours when not.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// The command line, quoted for a shell.
    #[must_use]
    pub fn command_line(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.args);
        words
            .map(|word| shell_quote(&word.to_string_lossy()))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Runs it with our standard streams; the status may be anything.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn status(&self) -> Result<ExitStatus, ExecError> {
        let mut command = self.command();
        if self.stdin.is_some() {
            command.stdin(Stdio::piped());
        }
        let mut child = command.spawn().map_err(|source| self.start_error(source))?;
        let feeder = feed(child.stdin.take(), self.stdin.clone());
        let status = child.wait().map_err(|source| self.start_error(source));
        finish(feeder);
        status
    }

    /// Runs it with our standard streams.
    ///
    /// # Errors
    /// When it cannot be started or does not end with status 0.
    pub fn run(&self) -> Result<(), ExecError> {
        let status = self.status()?;
        if status.success() {
            return Ok(());
        }
        Err(ExecError::Failed {
            command: self.command_line(),
            status,
            stderr: String::new(),
        })
    }

    /// Runs it and captures what it writes, whatever its status.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn capture(&self) -> Result<(ExitStatus, Output), ExecError> {
        let mut command = self.command();
        command.stdin(if self.stdin.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|source| self.start_error(source))?;
        let feeder = feed(child.stdin.take(), self.stdin.clone());
        let output = child
            .wait_with_output()
            .map_err(|source| self.start_error(source));
        finish(feeder);
        let output = output?;
        Ok((
            output.status,
            Output {
                stdout: output.stdout,
                stderr: output.stderr,
            },
        ))
    }

    /// Runs it and captures what it writes.
    ///
    /// # Errors
    /// When it cannot be started or does not end with status 0; the error
    /// shows the end of its stderr.
    pub fn output(&self) -> Result<Output, ExecError> {
        let (status, output) = self.capture()?;
        if status.success() {
            return Ok(output);
        }
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(ExecError::Failed {
            command: self.command_line(),
            status,
            stderr,
        })
    }

    /// Runs it and hands over each line of its standard output as it comes,
    /// whatever its status; its standard error is ours.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn lines(&self, take: impl FnMut(&str)) -> Result<ExitStatus, ExecError> {
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|source| self.start_error(source))?;
        each_line(child.stdout.take(), take);
        child.wait().map_err(|source| self.start_error(source))
    }

    /// As [`Exec::lines`], for its standard error; its standard output is ours.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn error_lines(&self, take: impl FnMut(&str)) -> Result<ExitStatus, ExecError> {
        let mut command = self.command();
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|source| self.start_error(source))?;
        each_line(child.stderr.take(), take);
        child.wait().map_err(|source| self.start_error(source))
    }

    /// Becomes this process; returns only when that fails. Signals and the
    /// exit status are the new program's from here on.
    #[must_use]
    pub fn replace(&self) -> ExecError {
        use std::os::unix::process::CommandExt;
        let source = self.command().exec();
        self.start_error(source)
    }

    /// The process for the standard library, for callers that stream its input
    /// or output; [`Exec::stdin`] is theirs to give then.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    fn start_error(&self, source: io::Error) -> ExecError {
        ExecError::Start {
            command: self.command_line(),
            source,
        }
    }
}

/// Hands over each line of a stream as it comes, until it ends.
fn each_line(stream: Option<impl io::Read>, mut take: impl FnMut(&str)) {
    let Some(stream) = stream else { return };
    let mut stream = io::BufReader::new(stream);
    let mut line = Vec::new();
    while stream
        .read_until(b'\n', &mut line)
        .is_ok_and(|length| length > 0)
    {
        take(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']));
        line.clear();
    }
}

/// Writes standard input from a thread of its own, so that a process which
/// writes before it has read everything cannot block us.
fn feed(
    pipe: Option<std::process::ChildStdin>,
    bytes: Option<Vec<u8>>,
) -> Option<std::thread::JoinHandle<()>> {
    let (mut pipe, bytes) = (pipe?, bytes?);
    // A process that ends without reading everything closes the pipe: its own
    // status tells whether that was wrong.
    Some(std::thread::spawn(move || drop(pipe.write_all(&bytes))))
}

fn finish(feeder: Option<std::thread::JoinHandle<()>>) {
    if let Some(feeder) = feeder {
        // The closure cannot panic, and has nothing to return.
        drop(feeder.join());
    }
}

/// One word for a POSIX shell: unchanged when it is harmless, else in single quotes.
#[must_use]
pub fn shell_quote(word: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(harmless) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Exec {
        Exec::new("sh").args(["-c", script])
    }

    #[test]
    fn runs_in_a_folder_with_an_environment_and_input() {
        let dir = tempfile::tempdir().unwrap();
        let output = sh("pwd; echo \"$A-${HOME-none}\"; cat")
            .cwd(dir.path())
            .env("A", "b c")
            .env_remove("HOME")
            .stdin("in")
            .output()
            .unwrap();
        let real = dir.path().canonicalize().unwrap();
        assert_eq!(output.text(), format!("{}\nb c-none\nin", real.display()));
    }

    #[test]
    fn a_failure_shows_command_status_and_stderr() {
        let error = sh("echo lost >&2; echo found; exit 3")
            .output()
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "`sh -c 'echo lost >&2; echo found; exit 3'` failed (exit status: 3)\n  lost"
        );
        assert!(!error.is_missing_program());
        assert!(sh("exit 1").run().is_err());
        assert_eq!(sh("exit 4").status().unwrap().code(), Some(4));
    }

    #[test]
    fn only_the_end_of_a_long_stderr_is_shown() {
        let error = sh("for i in $(seq 100); do echo line$i >&2; done; exit 1")
            .output()
            .unwrap_err();
        let text = error.to_string();
        assert!(text.ends_with("line100") && text.contains("line81") && !text.contains("line80\n"));
    }

    #[test]
    fn a_missing_program_is_told_apart() {
        let error = Exec::new("no-such-program-anywhere").output().unwrap_err();
        assert!(error.is_missing_program());
        assert_eq!(error.diagnostic().hints.len(), 1);
    }

    #[test]
    fn input_that_nobody_reads_does_not_block() {
        assert_eq!(
            sh("exit 0")
                .stdin(vec![b'x'; 1 << 20])
                .output()
                .unwrap()
                .text(),
            ""
        );
    }

    #[test]
    fn lines_come_one_by_one_with_the_last_unfinished_one() {
        let mut lines = Vec::new();
        let status = sh("echo a; echo; printf b; exit 2")
            .lines(|line| lines.push(line.to_owned()))
            .unwrap();
        assert_eq!(lines, ["a", "", "b"]);
        assert_eq!(status.code(), Some(2));
        let mut lines = Vec::new();
        let status = sh("echo a >&2; exit 3")
            .error_lines(|line| lines.push(line.to_owned()))
            .unwrap();
        assert_eq!((lines, status.code()), (vec!["a".to_owned()], Some(3)));
    }

    #[test]
    fn quoting_survives_a_real_shell() {
        for word in [
            "plain", "", "a b", "it's", "$HOME", "a\nb", "*", "a=b:c,d", "\\", "\"q\"",
        ] {
            let echoed = sh(&format!("printf %s {}", shell_quote(word)))
                .output()
                .unwrap();
            assert_eq!(String::from_utf8(echoed.stdout).unwrap(), word);
        }
    }
}
