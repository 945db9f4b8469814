//! `cargo xtask deps sync`.

use cairn_base::Diagnostic;
use cairn_deps::sync::{self, Options, Outcome, Report};
use serde_json::{Value, json};

use super::{CacheArgs, SourceArgs};
use crate::context::{Context, Failure, Result};
use crate::table;

/// Have every locked tree in the cache, verified
///
/// A tree is made beside its place and put there when all its hashes are right. Several
/// syncs may run at once, on several machines that share the cache too.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask deps sync\n  cargo xtask deps sync megatron --mirror mirrors/ --offline"
)]
pub(super) struct Args {
    /// Projects or frameworks; all without
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// A project or framework to leave out; may be repeated
    #[arg(long, value_name = "NAME")]
    exclude: Vec<String>,
    #[command(flatten)]
    cache: CacheArgs,
    #[command(flatten)]
    source: SourceArgs,
    /// Take the lock as it is, without comparing the manifest with it
    #[arg(long)]
    frozen: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Result {
    let project = super::project(context)?;
    let cache = args.cache.cache(context)?;
    let options = Options {
        names: args.names.clone(),
        exclude: args.exclude.clone(),
        frozen: args.frozen,
        dry_run: args.dry_run,
        ..args.source.options(context)?
    };
    let report = sync::sync(&project, &cache, &options)?;
    context.show(&report.notes);
    if context.json() {
        let entries: Vec<Value> = report.outcomes.iter().map(describe).collect();
        context.print_json(&json!({"cache": cache.dir(), "entries": entries}))?;
    } else {
        let rows: Vec<Vec<String>> = report
            .outcomes
            .iter()
            .map(|(name, outcome)| {
                let (word, detail) = words(outcome);
                vec![name.clone(), word.to_owned(), detail]
            })
            .collect();
        context.print(&table::render_left(&rows))?;
    }
    finish(&report)
}

/// The exit code and the messages about what is missing.
pub(super) fn finish(report: &Report) -> Result {
    let mut diagnostics = Vec::new();
    for (name, outcome) in &report.outcomes {
        match outcome {
            Outcome::Failed(error) => diagnostics.push(error.diagnostic()),
            Outcome::Repaired(path, changes) => {
                let message = format!(
                    "{name} was not as locked and was made anew: {}",
                    path.display()
                );
                let warning = Diagnostic::warning("deps::repaired", message);
                diagnostics.push(changes.iter().take(5).fold(warning, Diagnostic::hint));
            }
            _ => {}
        }
    }
    let to_lock = report.to_lock();
    if !to_lock.is_empty() {
        let names = to_lock.join(" ");
        let message = format!(
            "not synced, because the lock does not have them as the manifest wants: {}",
            to_lock.join(", ")
        );
        diagnostics.push(
            Diagnostic::error("deps::not-locked", message)
                .hint(format!("lock them: cargo xtask deps lock {names}"))
                .hint("or leave them out: `--exclude NAME`"),
        );
    }
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(Failure {
            diagnostics,
            code: 1,
        });
    }
    // Warnings alone do not fail.
    for diagnostic in diagnostics {
        eprintln!("{}", diagnostic.render(cairn_base::env::color_on_stderr()));
    }
    Ok(())
}

fn words(outcome: &Outcome) -> (&'static str, String) {
    match outcome {
        Outcome::Fresh(path) => ("fresh", path.display().to_string()),
        Outcome::Verified(path) => ("verified", path.display().to_string()),
        Outcome::Synced(path) => ("synced", path.display().to_string()),
        Outcome::Repaired(path, _) => ("repaired", path.display().to_string()),
        Outcome::Would(path, sources) => (
            "would sync",
            format!("{} from {}", path.display(), sources.join(", else ")),
        ),
        Outcome::Unlocked => ("not locked", String::new()),
        Outcome::Outdated(reason) => ("outdated", reason.clone()),
        Outcome::Failed(_) => ("failed", String::new()),
    }
}

fn describe((name, outcome): &(String, Outcome)) -> Value {
    let (word, _) = words(outcome);
    let mut object = json!({"name": name, "outcome": word.replace(' ', "_")});
    match outcome {
        Outcome::Fresh(path) | Outcome::Verified(path) | Outcome::Synced(path) => {
            object["path"] = json!(path);
        }
        Outcome::Repaired(path, changes) => {
            object["path"] = json!(path);
            object["changes"] = json!(changes);
        }
        Outcome::Would(path, sources) => {
            object["path"] = json!(path);
            object["sources"] = json!(sources);
        }
        Outcome::Outdated(reason) => object["reason"] = json!(reason),
        Outcome::Failed(error) => object["reason"] = json!(error.to_string()),
        Outcome::Unlocked => {}
    }
    object
}
