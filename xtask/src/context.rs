//! What every subcommand is given, and what it gives back.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cairn_base::{Diagnostic, Exec, ExecError, FileError, env};
use cairn_launch::request::Format;

/// `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FormatArg {
    Text,
    Json,
}

impl From<FormatArg> for Format {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Text => Self::Text,
            FormatArg::Json => Self::Json,
        }
    }
}

/// What every subcommand is given.
#[derive(Debug)]
pub(crate) struct Context {
    /// The checkout.
    pub(crate) root: PathBuf,
    /// The folder the user is in.
    pub(crate) cwd: PathBuf,
    /// The form of answers and messages.
    pub(crate) format: FormatArg,
}

pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

/// Why a command does not end with status 0.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What to tell; empty when it was told already.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The exit code.
    pub(crate) code: u8,
}

impl Failure {
    /// The command was tried and failed: status 1.
    pub(crate) fn failed(diagnostic: Diagnostic) -> Self {
        Self {
            diagnostics: vec![diagnostic],
            code: 1,
        }
    }

    /// What was typed or the files it names are wrong: status 2.
    pub(crate) fn wrong_input(diagnostics: Vec<Diagnostic>) -> Self {
        Self {
            diagnostics,
            code: 2,
        }
    }

    /// As [`Failure::wrong_input`], with one message.
    pub(crate) fn wrong(diagnostic: Diagnostic) -> Self {
        Self::wrong_input(vec![diagnostic])
    }

    /// Failed, and the user knows.
    pub(crate) fn told() -> Self {
        Self {
            diagnostics: Vec::new(),
            code: 1,
        }
    }

    /// Shows the messages on stderr and gives the exit code.
    pub(crate) fn report(&self, format: FormatArg) -> ExitCode {
        show(&self.diagnostics, format);
        ExitCode::from(self.code)
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Self::failed(error.diagnostic())
    }
}

impl From<ExecError> for Failure {
    fn from(error: ExecError) -> Self {
        Self::failed(error.diagnostic())
    }
}

/// Shows messages on stderr: for people with snippets, for programs one JSON
/// object a line.
pub(crate) fn show(diagnostics: &[Diagnostic], format: FormatArg) {
    for diagnostic in diagnostics {
        match format {
            FormatArg::Text => eprintln!("{}", diagnostic.render(env::color_on_stderr())),
            FormatArg::Json => eprintln!("{}", diagnostic.to_json()),
        }
    }
}

impl Context {
    /// The checkout around the current folder, or around this program.
    pub(crate) fn new(format: FormatArg) -> Result<Self> {
        let cwd = std::env::current_dir().map_err(|error| {
            let message = format!("the current folder cannot be used: {error}");
            Failure::failed(
                Diagnostic::error("xtask::cwd", message).hint("change to a folder that exists"),
            )
        })?;
        let program = std::env::current_exe().unwrap_or_default();
        let root = find_root(&cwd)
            .or_else(|| find_root(&program))
            .ok_or_else(|| {
                let message = format!("{} is in no checkout of Cairn", cwd.display());
                Failure::wrong(
                    Diagnostic::error("xtask::root", message).hint("change to the checkout"),
                )
            })?;
        Ok(Self {
            root: root.to_path_buf(),
            cwd,
            format,
        })
    }

    /// True for `--format json`.
    pub(crate) fn json(&self) -> bool {
        self.format == FormatArg::Json
    }

    /// Shows messages that do not end the command.
    pub(crate) fn show(&self, diagnostics: &[Diagnostic]) {
        show(diagnostics, self.format);
    }

    /// Refuses a path that leads to nothing before an engine is built for it.
    pub(crate) fn must_exist(&self, what: &str, path: &Path) -> Result {
        if self.cwd.join(path).exists() {
            return Ok(());
        }
        let message = format!("there is no {what} {}", path.display());
        let diagnostic = Diagnostic::error("xtask::missing", message)
            .hint("check the path; it is relative to the current folder");
        Err(Failure::wrong(diagnostic))
    }

    /// Writes an answer to stdout. A reader that has seen enough, such as
    /// `head`, is no failure.
    pub(crate) fn print(&self, text: &str) -> Result {
        let mut stdout = std::io::stdout().lock();
        let end = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        match write!(stdout, "{text}{end}").and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(FileError::new("write", "standard output", error).into())
            }
            _ => Ok(()),
        }
    }

    /// Writes a JSON answer to stdout.
    pub(crate) fn print_json(&self, value: &serde_json::Value) -> Result {
        self.print(&format!("{value:#}"))
    }
}

/// Why what needs this program is skipped; `None` when the program can be used.
/// Rust's own tools are asked for their version, because rustup leaves a stand-in
/// for each one that is not installed.
pub(crate) fn lacks(program: &str) -> Option<String> {
    let found = Exec::new(program).arg("--version").output().is_ok();
    (!found).then(|| format!("no {program}"))
}

/// The folder at or above `start` that holds this workspace.
fn find_root(start: &Path) -> Option<&Path> {
    start
        .ancestors()
        .find(|dir| dir.join("xtask/Cargo.toml").is_file() && dir.join("crates/launch").is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_a_reason() {
        assert_eq!(lacks("rustc"), None);
        let program = "no-such-program-anywhere";
        assert_eq!(lacks(program), Some(format!("no {program}")));
    }

    #[test]
    fn the_checkout_is_found_from_below_only() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = here.parent().unwrap();
        assert_eq!(find_root(&here.join("src")), Some(root));
        assert_eq!(find_root(root.parent().unwrap()), None);
    }
}
