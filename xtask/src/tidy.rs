//! `cargo xtask tidy`: the rules of docs/architecture.md that a program can
//! check. Each rule is a pure function from facts to faults, with a test that
//! makes it fail.

use std::path::PathBuf;

use cairn_base::{Diagnostic, Exec, files};
use clap::CommandFactory;

use crate::context::{Context, Failure, Result, lacks};
use crate::engine;

mod edges;
mod licences;
mod source;
mod text;
mod workflows;

/// Check the rules of the code base
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask tidy")]
pub(crate) struct Args {}

/// Something against a rule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The rule's name.
    rule: &'static str,
    /// Where: a path, with a line where one is to blame.
    place: String,
    /// What is wrong.
    what: String,
}

impl Fault {
    fn new(rule: &'static str, place: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            rule,
            place: place.into(),
            what: what.into(),
        }
    }
}

/// A file of the project.
#[derive(Debug)]
pub(crate) struct Source {
    /// Relative to the checkout, with slashes.
    pub(crate) path: String,
    /// Its text.
    pub(crate) text: String,
}

/// Files that must be there.
const REQUIRED: [&str; 9] = [
    "docs/architecture.md",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    ".config/nextest.toml",
    ".ci/run",
    ".github/workflows/ci.yml",
    "flake.nix",
    "flake.lock",
];

pub(crate) fn run(_: Args, context: &Context) -> Result {
    let faults = check(context)?;
    if context.json() {
        let list: Vec<_> = faults
            .iter()
            .map(|fault| serde_json::json!({"rule": fault.rule, "place": fault.place, "what": fault.what}))
            .collect();
        context.print_json(&list.into())?;
    } else {
        for fault in &faults {
            eprintln!("{}: {} [{}]", fault.place, fault.what, fault.rule);
        }
    }
    match faults.len() {
        0 if context.json() => Ok(()),
        0 => context.print("tidy: no faults"),
        count => {
            let message = format!(
                "{count} {} against the rules",
                if count == 1 { "fault" } else { "faults" }
            );
            Err(Failure::failed(Diagnostic::error("tidy::faults", message)))
        }
    }
}

fn check(context: &Context) -> Result<Vec<Fault>> {
    let metadata = metadata(context)?;
    let sources = sources(context)?;
    let mut faults = edges::check(&metadata);
    faults.extend(licences::check(&metadata));
    faults.extend(source::check(&sources));
    faults.extend(text::check(&sources));
    faults.extend(workflows::check(&sources, &definition()));
    for path in REQUIRED {
        if !context.root.join(path).is_file() {
            faults.push(Fault::new("required-files", path, "is missing"));
        }
    }
    faults.extend(unformatted(context)?);
    Ok(faults)
}

/// Every command line there is.
fn definition() -> clap::Command {
    let mut definition = crate::Cli::command();
    definition.build();
    definition
}

fn metadata(context: &Context) -> Result<cargo_metadata::Metadata> {
    let output = engine::cargo()
        .args(["metadata", "--format-version", "1", "--manifest-path"])
        .arg(context.root.join("Cargo.toml"))
        .output()?;
    serde_json::from_slice(&output.stdout).map_err(|error| {
        let message = format!("the output of `cargo metadata` cannot be read: {error}");
        Failure::failed(Diagnostic::error("tidy::metadata", message))
    })
}

/// The text files of the project: those git knows or would add.
fn sources(context: &Context) -> Result<Vec<Source>> {
    let listed = Exec::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .cwd(&context.root)
        .output()?;
    let mut sources = Vec::new();
    for path in listed
        .stdout
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
    {
        let path = String::from_utf8_lossy(path).into_owned();
        let full: PathBuf = context.root.join(&path);
        // Deleted but not yet committed, or no text: nothing to check.
        if let Ok(text) = files::read_text(&full) {
            sources.push(Source { path, text });
        }
    }
    Ok(sources)
}

fn unformatted(context: &Context) -> Result<Vec<Fault>> {
    if let Some(reason) = lacks("rustfmt") {
        let message = format!("the format is not checked: {reason}");
        let note = Diagnostic::note("tidy::skipped", message)
            .hint("`rustup component add rustfmt` installs it");
        context.show(&[note]);
        return Ok(Vec::new());
    }
    let (status, output) = engine::cargo()
        .args(["fmt", "--all", "--", "--check", "-l"])
        .cwd(&context.root)
        .capture()?;
    if status.success() {
        return Ok(Vec::new());
    }
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.stdout.is_empty() {
        return Ok(vec![Fault::new(
            "format",
            ".",
            format!("`cargo fmt` cannot check: {}", stderr.trim()),
        )]);
    }
    let root = format!("{}/", context.root.display());
    Ok(String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|path| {
            Fault::new(
                "format",
                path.trim_start_matches(&root),
                "is not formatted by rustfmt",
            )
        })
        .collect())
}
