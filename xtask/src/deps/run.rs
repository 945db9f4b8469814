//! `train` with an external framework: which trees the run uses, their proof,
//! and fetching what is missing after asking.

use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;

use cairn_base::{Diagnostic, FileErrorKind, env, files};
use cairn_config::{Module, Resolved};
use cairn_deps::resolve::{self, Named, Used};
use cairn_deps::sync::{self, Options};
use cairn_deps::{Cache, DepsError, Entry, Manifest, Project};
use serde_json::json;

use crate::context::{Context, Failure, Result};
use crate::table;

/// What `train` is told about an external framework's source.
#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// External frameworks: the source tree to use before any other (also: `BACKEND_PATH`)
    #[arg(long = "backend_path", alias = "backend-path", value_name = "DIR")]
    backend_path: Option<PathBuf>,
    /// External frameworks: use a tree that is not as locked; the run records it
    #[arg(long)]
    allow_dirty: bool,
    /// External frameworks: fetch missing trees without asking (also: `CAIRN_AUTO_SYNC=1`)
    #[arg(long)]
    yes: bool,
}

/// True when the module's framework is one whose source the manifest has.
pub(crate) fn is_external(context: &Context, module: &Module) -> Result<bool> {
    if module.native.is_some() {
        return Ok(false);
    }
    match Manifest::read(&context.root) {
        Ok(manifest) => Ok(manifest.backend(module.framework_name()).is_some()),
        // Without a manifest there are no external frameworks.
        Err(DepsError::File(error)) if error.kind == FileErrorKind::NotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Resolves and verifies what a run of this module uses, and stores the proof with
/// the run. There is nothing here yet that could run it, which is said at the end.
pub(crate) fn external(
    args: &RunArgs,
    context: &Context,
    resolved: &Resolved,
    module: &Module,
    dry_run: bool,
) -> Result {
    let framework = module.framework_name();
    let project = Project::read(&context.root)?;
    let cache = Cache::locate(None, &context.cwd)?;
    let named = super::named(context, args.backend_path.as_ref());
    let entries = entries(context, &project, framework);
    let missing: Vec<&str> = entries
        .iter()
        .filter(|entry| {
            resolve::taken(&resolve::candidates(&project, &cache, entry, &named)).is_none()
                && project.lock.get(&entry.name).is_some()
        })
        .map(|entry| entry.name.as_str())
        .collect();
    if !missing.is_empty() {
        if dry_run {
            return print_missing(context, &missing);
        }
        fetch(args, &project, &cache, context, &missing)?;
    }
    tell_misses(context, &named, &project, &cache, &entries);
    let used = resolve::used(&project, &cache, &entries, &named, args.allow_dirty)
        .map_err(|errors| super::failures(&errors))?;
    let fingerprint = resolve::fingerprint(&used);
    if dry_run {
        return print(context, framework, &used, &fingerprint);
    }
    let record = json!({"framework": framework, "fingerprint": fingerprint, "allow_dirty": args.allow_dirty, "entries": used});
    let run_dir = context.cwd.join(resolved.run_dir());
    files::create_dir_all(&run_dir)?;
    files::write_atomic(
        &run_dir.join("third_party.json"),
        format!("{record:#}\n").as_bytes(),
    )?;
    let message = format!("the framework `{framework}` cannot be run here yet");
    let diagnostic = Diagnostic::error("train::framework", message);
    Err(Failure::wrong(
        module
            .framework
            .origin
            .mark(diagnostic, "asked for here")
            .hint(format!(
                "its source is verified (fingerprint {fingerprint}), recorded in {}",
                run_dir.join("third_party.json").display()
            ))
            .hint("`framework: native` is trained by Cairn's own engine"),
    ))
}

/// What the run uses. Companions that nobody locked are left out with a word.
fn entries<'a>(context: &Context, project: &'a Project, framework: &str) -> Vec<&'a Entry> {
    let (locked, unlocked): (Vec<&Entry>, Vec<&Entry>) = project
        .manifest
        .used_by(framework)
        .into_iter()
        .partition(|entry| {
            entry.backend.as_deref() == Some(framework) || project.lock.get(&entry.name).is_some()
        });
    for entry in unlocked {
        let message = format!("{} is not locked and is left out", entry.name);
        context.show(&[Diagnostic::warning("deps::not-locked", message)
            .hint(format!("lock it: cargo xtask deps lock {}", entry.name))]);
    }
    locked
}

/// A tree that was named and does not count is worth a word.
fn tell_misses(
    context: &Context,
    named: &Named,
    project: &Project,
    cache: &Cache,
    entries: &[&Entry],
) {
    let Some(backend) = entries.iter().find(|entry| entry.backend.is_some()) else {
        return;
    };
    for candidate in resolve::candidates(project, cache, backend, named) {
        if candidate.taken {
            break;
        }
        let was_named = matches!(
            candidate.origin,
            resolve::Origin::Flag | resolve::Origin::Variable
        );
        if let (true, Some(path)) = (was_named, &candidate.path) {
            let message = format!(
                "{} does not count: {} {}",
                candidate.origin.text(),
                path.display(),
                candidate.reason
            );
            context.show(&[
                Diagnostic::warning("deps::backend-path", message).hint(format!(
                    "see every place: cargo xtask deps path {} --why",
                    backend.name
                )),
            ]);
        }
    }
}

/// Syncs what is missing, when the user wants that.
fn fetch(
    args: &RunArgs,
    project: &Project,
    cache: &Cache,
    context: &Context,
    missing: &[&str],
) -> Result {
    let auto = env::get(&env::CAIRN_AUTO_SYNC).is_some_and(|value| value == "1");
    if !(args.yes || auto || agreed(missing, cache)) {
        let message = format!("the run needs what is not here: {}", missing.join(", "));
        return Err(Failure::failed(
            Diagnostic::error("deps::missing", message)
                .hint(format!(
                    "fetch it: cargo xtask deps sync {}",
                    missing.join(" ")
                ))
                .hint("or let `train` do that: `--yes`, or CAIRN_AUTO_SYNC=1"),
        ));
    }
    let options = Options {
        names: missing.iter().map(|name| (*name).to_owned()).collect(),
        ..Options::default()
    };
    let report = sync::sync(project, cache, &options)?;
    context.show(&report.notes);
    super::sync::finish(&report)
}

/// Asks, where there is somebody to ask.
fn agreed(missing: &[&str], cache: &Cache) -> bool {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() || !std::io::stderr().is_terminal() {
        return false;
    }
    eprint!(
        "fetch {} into {}? [y/N] ",
        missing.join(", "),
        cache.dir().display()
    );
    // Nobody sees the question if this fails, and the answer is no.
    drop(std::io::stderr().flush());
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

fn print_missing(context: &Context, missing: &[&str]) -> Result {
    if context.json() {
        return context.print_json(&json!({"missing": missing, "fingerprint": null}));
    }
    context.print(&format!(
        "not here yet, would be fetched after asking: {}",
        missing.join(", ")
    ))
}

fn print(context: &Context, framework: &str, used: &[Used], fingerprint: &str) -> Result {
    if context.json() {
        return context.print_json(
            &json!({"framework": framework, "fingerprint": fingerprint, "entries": used}),
        );
    }
    let rows: Vec<Vec<String>> = used
        .iter()
        .map(|used| {
            let state = if used.dirty {
                "not as locked"
            } else {
                "as locked"
            };
            vec![
                used.name.clone(),
                used.origin.text().to_owned(),
                state.to_owned(),
                used.path.display().to_string(),
            ]
        })
        .collect();
    context.print(&format!(
        "framework: {framework}\nfingerprint: {fingerprint}\n{}",
        table::render_left(&rows)
    ))
}
