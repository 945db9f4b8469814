//! Rules of the hosted checks: a workflow is well-formed, and each job of it is
//! one thin call of `cargo xtask` with a command line that exists.

use cairn_base::Diagnostic;
use cairn_config::yaml;
use clap::Command;
use serde_json::{Map, Value};

use super::{Fault, Source};
use crate::args;

const FOLDER: &str = ".github/workflows/";

/// What may be replaced in a command: `${{ matrix.NAME }}`.
const OPEN: &str = "${{";
const CLOSE: &str = "}}";

pub(super) fn check(sources: &[Source], definition: &Command) -> Vec<Fault> {
    let workflows = sources
        .iter()
        .filter(|source| source.path.starts_with(FOLDER));
    workflows
        .flat_map(|source| {
            let (_, problems) = read(source, definition);
            problems
                .into_iter()
                .map(|what| Fault::new("workflows", source.path.clone(), what))
        })
        .collect()
}

/// Every command line of a workflow, the matrix expanded, and what is wrong with it.
fn read(source: &Source, definition: &Command) -> (Vec<String>, Vec<String>) {
    let mut problems = Vec::new();
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    let bytes = source.text.clone().into_bytes();
    let (_, value) = yaml::read(&source.path, bytes, &mut diagnostics);
    problems.extend(diagnostics.into_iter().map(|found| found.message));
    let Some(Value::Object(workflow)) = value.map(|value| value.to_json()) else {
        problems.push("is no mapping".to_owned());
        return (Vec::new(), problems);
    };
    for key in ["name", "on", "jobs"] {
        if !workflow.contains_key(key) {
            problems.push(format!("has no `{key}`"));
        }
    }
    let mut commands = Vec::new();
    for (name, job) in workflow
        .get("jobs")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        match job
            .as_object()
            .ok_or("is no mapping".to_owned())
            .and_then(commands_of)
        {
            Ok(lines) => {
                problems.extend(lines.iter().filter_map(|line| {
                    let what = refusal(line, definition)?;
                    Some(format!("job `{name}`: `{line}`: {what}"))
                }));
                commands.extend(lines);
            }
            Err(what) => problems.push(format!("job `{name}` {what}")),
        }
    }
    if commands.is_empty() && problems.is_empty() {
        problems.push("runs nothing".to_owned());
    }
    (commands, problems)
}

/// The one command of a job, once for each point of its matrix.
fn commands_of(job: &Map<String, Value>) -> Result<Vec<String>, String> {
    if !job.get("runs-on").is_some_and(Value::is_string) {
        return Err("has no `runs-on`".to_owned());
    }
    let steps = job.get("steps").and_then(Value::as_array);
    let mut runs = Vec::new();
    for step in steps.ok_or("has no list of `steps`")? {
        match (step["uses"].as_str(), step["run"].as_str()) {
            (Some(action), None) if action.contains('@') => {}
            (Some(action), None) => return Err(format!("uses `{action}` of no version")),
            (None, Some(line)) => runs.push(line),
            _ => return Err("has a step that neither uses an action nor runs a command".to_owned()),
        }
    }
    let [line] = runs[..] else {
        return Err(format!(
            "runs {} commands: one thin call is all it may",
            runs.len()
        ));
    };
    let empty = Value::Object(Map::new());
    let matrix = job
        .get("strategy")
        .map_or(&empty, |strategy| &strategy["matrix"]);
    expand(line, matrix)
}

/// A command for each value of each part of the matrix that it names.
fn expand(line: &str, matrix: &Value) -> Result<Vec<String>, String> {
    let Some((before, rest)) = line.split_once(OPEN) else {
        return Ok(vec![line.to_owned()]);
    };
    let (expression, after) = rest
        .split_once(CLOSE)
        .ok_or_else(|| format!("leaves `{OPEN}` open"))?;
    let values = expression
        .trim()
        .strip_prefix("matrix.")
        .and_then(|name| matrix.get(name))
        .and_then(Value::as_array)
        .filter(|values| !values.is_empty())
        .ok_or_else(|| {
            format!(
                "names `{}`, which is no list of its matrix",
                expression.trim()
            )
        })?;
    let mut lines = Vec::new();
    for value in values {
        let text = value
            .as_str()
            .ok_or_else(|| format!("has {value} in its matrix, which is no text"))?;
        for after in expand(after, matrix)? {
            lines.push(format!("{before}{text}{after}"));
        }
    }
    Ok(lines)
}

/// Why a command line is refused, if it is.
fn refusal(line: &str, definition: &Command) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || " -_./=:,".contains(c);
    let words = line
        .strip_prefix("cargo xtask ")
        .filter(|_| line.chars().all(plain));
    let Some(words) = words else {
        return Some("is no plain call of `cargo xtask`".to_owned());
    };
    let tokens = std::iter::once("xtask").chain(words.split_whitespace());
    let tokens = args::separate_overrides(definition, tokens.map(str::to_owned).collect());
    let error = definition.clone().try_get_matches_from(tokens).err()?;
    let message = error.to_string();
    let first = message.lines().next().unwrap_or_default();
    Some(first.trim_start_matches("error: ").to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn definition() -> Command {
        let mut definition = crate::Cli::command();
        definition.build();
        definition
    }

    fn workflow(text: &str) -> Source {
        Source {
            path: format!("{FOLDER}ci.yml"),
            text: text.to_owned(),
        }
    }

    #[test]
    fn the_hosted_checks_cover_each_architecture_with_cargo_and_with_nix() {
        let source = workflow(include_str!("../../../.github/workflows/ci.yml"));
        let (commands, problems) = read(&source, &definition());
        assert_eq!(problems, [""; 0]);
        let expected: Vec<_> = ["cargo xtask ci", "cargo xtask ci --nix"]
            .iter()
            .flat_map(|call| {
                ["cpu", "gfx942", "gfx950"].map(|arch| format!("{call} --arch {arch}"))
            })
            .collect();
        assert_eq!(commands, expected);
    }

    #[test]
    fn each_rule_can_fail() {
        let job = |rest: &str| {
            format!("name: a\n\"on\": push\njobs:\n  one:\n    runs-on: ubuntu-latest\n{rest}")
        };
        let run = |line: &str| job(&format!("    steps:\n      - run: {line}\n"));
        let table = [
            ("a: [", "broken YAML"),
            ("- a", "is no mapping"),
            ("name: a\non: push\njobs: {}", "has no `on`"),
            ("name: a\n\"on\": push\njobs: {}", "runs nothing"),
            (
                "name: a\n\"on\": push\njobs: {one: 1}",
                "`one` is no mapping",
            ),
            ("name: a\n\"on\": push\njobs: {one: {}}", "no `runs-on`"),
            (&job(""), "no list of `steps`"),
            (&job("    steps: []\n"), "runs 0 commands"),
            (&job("    steps: [{}]\n"), "neither uses"),
            (
                &job("    steps: [{uses: actions/checkout}]\n"),
                "of no version",
            ),
            (&run("cargo test"), "no plain call"),
            (&run("cargo xtask tidy && cargo xtask ci"), "no plain call"),
            (&run("cargo xtask nonsense"), "unrecognized subcommand"),
            (&run("cargo xtask ci --arch gfx90"), "invalid value"),
            (&run("cargo xtask ci --nonsense"), "unexpected argument"),
            (&run("cargo xtask ${{ matrix.a }}"), "no list of its matrix"),
            (&run("cargo xtask ${{ matrix.a"), "open"),
        ];
        for (text, expected) in table {
            let faults = check(&[workflow(text)], &definition());
            let said = faults.iter().any(|fault| fault.what.contains(expected));
            assert!(said, "{text}\n{expected}\n{faults:?}");
        }
        let matrix = "    strategy: {matrix: {a: [ci, nonsense]}}\n";
        let steps = "    steps: [{run: \"cargo xtask ${{ matrix.a }}\"}]\n";
        let faults = check(
            &[workflow(&job(&format!("{matrix}{steps}")))],
            &definition(),
        );
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert_eq!(
            check(&[workflow(&run("cargo xtask tidy"))], &definition()),
            []
        );
    }
}
