//! `cargo xtask test`: builds all tests, runs the suites asked for and closes
//! with a table of what ran, failed and was skipped, and why.

use std::time::Instant;

use cairn_base::{Diagnostic, nearest};
use serde_json::json;

use crate::context::{Context, Failure, Result};
use crate::table;

mod binaries;
mod doc;
mod nextest;
mod plain;
mod setup;
mod skips;
mod suites;

use suites::{SUITES, Suite};

/// Run tests
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask test --setup\n  cargo xtask test --suite unit --suite parity -k rope"
)]
pub(crate) struct Args {
    /// Run this suite only; may be repeated
    #[arg(long = "suite", value_name = "NAME")]
    suites: Vec<String>,
    /// Run tests with this in their name only
    #[arg(short = 'k', value_name = "PART", value_parser = name_part)]
    filter: Option<String>,
    /// List the tests of each suite and run none
    #[arg(long)]
    list: bool,
    /// Tests to run at a time
    #[arg(long, value_name = "N", value_parser = crate::args::at_least_one)]
    jobs: Option<usize>,
    /// First install what the suites need and this machine lacks: programs, and a Python with
    /// TensorBoard in the target folder. Suites that need PyTorch or transformers take the
    /// Python named in `CAIRN_PYTHON`
    #[arg(long)]
    setup: bool,
}

/// What came of a suite.
#[derive(Debug, Default)]
struct Outcome {
    passed: usize,
    failed: usize,
    /// Test and reason.
    skipped: Vec<(String, String)>,
    seconds: f64,
}

/// What runners are told.
#[derive(Debug)]
struct Options {
    filter: Option<String>,
    jobs: Option<usize>,
}

/// Letters, digits, `_` and `::` are all that test names are made of.
fn name_part(text: &str) -> std::result::Result<String, String> {
    let good = !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_:".contains(c));
    if good {
        Ok(text.to_owned())
    } else {
        Err("a part of a test's name is needed".to_owned())
    }
}

pub(crate) fn run(args: Args, context: &Context) -> Result {
    let suites = chosen(&args.suites)?;
    if args.setup {
        setup::run(context);
    }
    let options = Options {
        filter: args.filter,
        jobs: args.jobs,
    };
    let tests = binaries::build(context)?;
    if args.list {
        return list(context, &suites, &options, &tests);
    }
    let use_nextest = nextest::is_present();
    let mut outcomes = Vec::new();
    for suite in suites {
        let start = Instant::now();
        let log = skips::Log::start(context, suite.name)?;
        let selected = binaries::select(&tests, suite, options.filter.as_deref());
        let (passed, failed) = match suite.source {
            suites::Source::Doc => doc::run(context, &options, &log)?,
            _ if selected.is_empty() => (0, 0),
            _ if use_nextest => nextest::run(context, suite, &options, &log, &selected)?,
            _ => plain::run(&options, &log, &selected)?,
        };
        let skipped = log.read()?;
        let seconds = start.elapsed().as_secs_f64();
        let passed = passed.saturating_sub(skipped.len());
        outcomes.push((
            suite,
            Outcome {
                passed,
                failed,
                skipped,
                seconds,
            },
        ));
    }
    close(context, &outcomes)
}

/// The suites named, in the order of the table; all without a name.
fn chosen(names: &[String]) -> Result<Vec<&'static Suite>> {
    for name in names {
        if !SUITES.iter().any(|suite| suite.name == name) {
            let known = SUITES.iter().map(|suite| suite.name);
            let diagnostic =
                Diagnostic::error("test::suite", format!("there is no suite `{name}`"));
            let all = known.clone().collect::<Vec<_>>().join(", ");
            let hint = match nearest(name, known) {
                Some(near) => format!("did you mean `{near}`? The suites are {all}"),
                None => format!("the suites are {all}"),
            };
            return Err(Failure::wrong(diagnostic.hint(hint)));
        }
    }
    Ok(SUITES
        .iter()
        .filter(|suite| names.is_empty() || names.iter().any(|name| name == suite.name))
        .collect())
}

fn list(
    context: &Context,
    suites: &[&Suite],
    options: &Options,
    tests: &[binaries::Binary],
) -> Result {
    let mut text = String::new();
    let mut answer = serde_json::Map::new();
    for suite in suites {
        let names: Vec<String> = match suite.source {
            suites::Source::Doc => doc::list(context, options)?,
            _ => binaries::select(tests, suite, options.filter.as_deref())
                .iter()
                .flat_map(|(binary, names)| {
                    names.iter().map(|name| format!("{} {name}", binary.id))
                })
                .collect(),
        };
        text.push_str(&format!(
            "{}: {}: {} tests\n",
            suite.name,
            suite.what,
            names.len()
        ));
        for name in &names {
            text.push_str(&format!("  {name}\n"));
        }
        answer.insert(suite.name.to_owned(), json!(names));
    }
    if context.json() {
        context.print_json(&answer.into())
    } else {
        context.print(&text)
    }
}

/// Prints the closing table; fails if a test did, or if none ran at all.
fn close(context: &Context, outcomes: &[(&Suite, Outcome)]) -> Result {
    let sum = |of: fn(&Outcome) -> usize| {
        outcomes
            .iter()
            .map(|(_, outcome)| of(outcome))
            .sum::<usize>()
    };
    let passed = sum(|outcome| outcome.passed);
    let failed = sum(|outcome| outcome.failed);
    let skipped = sum(|outcome| outcome.skipped.len());
    if context.json() {
        let suites: Vec<_> = outcomes
            .iter()
            .map(|(suite, outcome)| {
                let skips: Vec<_> = outcome
                    .skipped
                    .iter()
                    .map(|(test, reason)| json!({"test": test, "reason": reason}))
                    .collect();
                json!({
                    "suite": suite.name, "ran": outcome.passed + outcome.failed, "failed": outcome.failed,
                    "skipped": skips, "seconds": outcome.seconds,
                })
            })
            .collect();
        context.print_json(
            &json!({"suites": suites, "passed": passed, "failed": failed, "skipped": skipped}),
        )?;
    } else {
        context.print(&closing_text(outcomes, [passed, failed, skipped]))?;
    }
    if passed + failed + skipped == 0 {
        let diagnostic = Diagnostic::error("test::none", "no test has that in its name")
            .hint("`cargo xtask test --list` shows them");
        return Err(Failure::wrong(diagnostic));
    }
    if failed > 0 {
        Err(Failure::told())
    } else {
        Ok(())
    }
}

fn closing_text(outcomes: &[(&Suite, Outcome)], [passed, failed, skipped]: [usize; 3]) -> String {
    let rows: Vec<_> = outcomes
        .iter()
        .map(|(suite, outcome)| {
            vec![
                suite.name.to_owned(),
                (outcome.passed + outcome.failed).to_string(),
                outcome.failed.to_string(),
                outcome.skipped.len().to_string(),
                format!("{:.1}", outcome.seconds),
            ]
        })
        .collect();
    let mut text = table::render(&["suite", "ran", "failed", "skipped", "seconds"], &rows);
    if skipped > 0 {
        text.push_str("\nskipped:\n");
        for (test, reason) in outcomes.iter().flat_map(|(_, outcome)| &outcome.skipped) {
            text.push_str(&format!("  {test}: {reason}\n"));
        }
    }
    text.push_str(&format!(
        "\n{passed} passed, {failed} failed, {skipped} skipped\n"
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_text_counts_and_gives_reasons() {
        let skipped = vec![("parity::toy".to_owned(), "no reference data".to_owned())];
        let outcome = Outcome {
            passed: 3,
            failed: 1,
            skipped,
            seconds: 1.25,
        };
        let text = closing_text(&[(&SUITES[0], outcome)], [3, 1, 1]);
        assert_eq!(
            text,
            "suite  ran  failed  skipped  seconds\nunit     4       1        1      1.2\n\n\
             skipped:\n  parity::toy: no reference data\n\n3 passed, 1 failed, 1 skipped\n"
        );
    }

    #[test]
    fn an_unknown_suite_is_named_with_the_nearest() {
        let failure = chosen(&["party".to_owned()]).unwrap_err();
        assert_eq!(failure.code, 2);
        assert!(failure.diagnostics[0].hints[0].starts_with("did you mean `parity`"));
        assert_eq!(chosen(&[]).unwrap().len(), SUITES.len());
    }

    #[test]
    fn filters_are_parts_of_names() {
        assert!(name_part("rope::llama3_1").is_ok());
        for wrong in ["", "a b", "a|b", "^a"] {
            assert!(name_part(wrong).is_err(), "{wrong}");
        }
    }
}
