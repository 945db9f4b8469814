//! `cargo xtask deps status`, `verify`, `path`, `fingerprint`, `pythonpath`, `sbom`:
//! what is there, and what it proves. None of them changes anything.

use std::path::PathBuf;

use cairn_base::Diagnostic;
use cairn_deps::cache::Standing;
use cairn_deps::manifest::Wanted;
use cairn_deps::resolve::{self, Candidate, Named, Used};
use cairn_deps::{DepsError, Entry, Project, patch, sbom};
use serde_json::json;

use super::CacheArgs;
use crate::context::{Context, Failure, Result};
use crate::table;

/// Show what is wanted, locked and in the cache
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask deps status")]
pub(super) struct StatusArgs {
    #[command(flatten)]
    cache: CacheArgs,
}

/// Hash the content of trees and compare it with the lock
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask deps verify torchtitan")]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    which: WhichArgs,
}

/// Print where a project's tree is
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask deps path megatron --why")]
pub(super) struct PathArgs {
    /// A project or framework
    name: String,
    /// Print every place that was looked at, and why it counts or not
    #[arg(long)]
    why: bool,
    /// A backend's tree that counts before any other
    #[arg(long = "backend_path", alias = "backend-path", value_name = "DIR")]
    backend_path: Option<PathBuf>,
    #[command(flatten)]
    cache: CacheArgs,
}

/// Print one digest over the trees that are really there
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask deps fingerprint torchtitan")]
pub(super) struct FingerprintArgs {
    #[command(flatten)]
    which: WhichArgs,
}

/// Print the folders for Python's path
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(cargo xtask deps pythonpath megatron) python3 train.py"
)]
pub(super) struct PythonpathArgs {
    #[command(flatten)]
    which: WhichArgs,
}

/// Print the locked projects as a bill of materials, in JSON
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask deps sbom --standard cyclonedx")]
pub(super) struct SbomArgs {
    /// Which form
    #[arg(long, value_enum, default_value = "spdx")]
    standard: Standard,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Standard {
    /// SPDX 2.3
    Spdx,
    /// `CycloneDX` 1.5
    Cyclonedx,
}

/// Some projects, in a cache.
#[derive(Debug, clap::Args)]
struct WhichArgs {
    /// Projects or frameworks; all that are locked without
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    cache: CacheArgs,
}

impl WhichArgs {
    /// The projects asked for: a framework stands for everything its runs use.
    fn entries<'a>(&self, project: &'a Project) -> Result<Vec<&'a Entry>> {
        if self.names.is_empty() {
            let entries = project.manifest.entries.iter();
            return Ok(entries
                .filter(|entry| project.lock.get(&entry.name).is_some())
                .collect());
        }
        let mut entries: Vec<&Entry> = Vec::new();
        for name in &self.names {
            let used = project.manifest.used_by(name);
            let more = if project.manifest.backend(name).is_some() {
                let locked = used.into_iter().filter(|entry| {
                    entry.backend.as_deref() == Some(name)
                        || project.lock.get(&entry.name).is_some()
                });
                locked.collect()
            } else {
                vec![project.manifest.get(name)?]
            };
            for entry in more {
                if !entries.contains(&entry) {
                    entries.push(entry);
                }
            }
        }
        Ok(entries)
    }

    /// The trees that are really there, hashed.
    fn used(&self, context: &Context) -> Result<Vec<Used>> {
        let project = super::project(context)?;
        let cache = self.cache.cache(context)?;
        let entries = self.entries(&project)?;
        let named = super::named(context, None);
        resolve::used(&project, &cache, &entries, &named, false)
            .map_err(|errors| super::failures(&errors))
    }
}

pub(super) fn status(args: &StatusArgs, context: &Context) -> Result {
    let project = super::project(context)?;
    let cache = args.cache.cache(context)?;
    let mut rows = Vec::new();
    let mut list = Vec::new();
    for entry in &project.manifest.entries {
        let locked = project.lock.get(&entry.name);
        let patches = patch::read(&project.root, entry)?;
        let state = match locked {
            None => "not locked".to_owned(),
            Some(locked) => match locked.outdated(entry, &patches) {
                Some(reason) => format!("outdated: {reason}"),
                None => match cache.standing(locked) {
                    Standing::Absent => "not synced".to_owned(),
                    Standing::Fresh if cache.is_linked(locked) => "synced".to_owned(),
                    Standing::Fresh => "synced, without its link".to_owned(),
                    Standing::Unsure => "touched since it was verified".to_owned(),
                },
            },
        };
        let rev = match (locked, &entry.wanted) {
            (Some(locked), _) => locked.rev.clone(),
            (None, Wanted::Rev(rev)) => rev.clone(),
            (None, other) => other.text(),
        };
        list.push(json!({
            "name": entry.name, "state": state, "rev": locked.map(|locked| &locked.rev),
            "tree": locked.map(|locked| cache.tree(locked)), "frameworks": entry.frameworks,
        }));
        let short: String = rev.chars().take(12).collect();
        rows.push(vec![entry.name.clone(), short, state]);
    }
    if context.json() {
        return context.print_json(&json!({"cache": cache.dir(), "entries": list}));
    }
    context.print(&format!(
        "cache: {}\n{}",
        cache.dir().display(),
        table::render_left(&rows)
    ))
}

pub(super) fn verify(args: &VerifyArgs, context: &Context) -> Result {
    let used = args.which.used(context)?;
    if context.json() {
        return context.print_json(&json!({"verified": used}));
    }
    let rows: Vec<Vec<String>> = used
        .iter()
        .map(|used| {
            vec![
                used.name.clone(),
                "as locked".to_owned(),
                used.path.display().to_string(),
            ]
        })
        .collect();
    context.print(&table::render_left(&rows))
}

pub(super) fn path(args: &PathArgs, context: &Context) -> Result {
    let project = super::project(context)?;
    let cache = args.cache.cache(context)?;
    let entry = project.manifest.get_or_backend(&args.name)?;
    let named = super::named(context, args.backend_path.as_ref());
    let candidates = resolve::candidates(&project, &cache, entry, &named);
    let taken = resolve::taken(&candidates).map(|(_, path)| path.to_path_buf());
    if context.json() {
        context
            .print_json(&json!({"name": entry.name, "path": taken, "candidates": candidates}))?;
    } else if args.why {
        context.print(&explain(&candidates))?;
    } else if let Some(path) = &taken {
        context.print(&path.display().to_string())?;
    }
    if taken.is_some() {
        return Ok(());
    }
    Err(match project.lock.get(&entry.name) {
        Some(_) => DepsError::Missing {
            name: entry.name.clone(),
        },
        None => DepsError::NotLocked {
            name: entry.name.clone(),
        },
    }
    .into())
}

/// A line for each place, the one that counts marked.
pub(super) fn explain(candidates: &[Candidate]) -> String {
    let rows: Vec<Vec<String>> = candidates
        .iter()
        .map(|candidate| {
            let mark = if candidate.taken { "*" } else { " " };
            let path = candidate.path.as_ref();
            vec![
                format!("{mark} {}", candidate.origin.text()),
                path.map_or_else(|| "-".to_owned(), |path| path.display().to_string()),
                candidate.reason.clone(),
            ]
        })
        .collect();
    table::render_left(&rows)
}

pub(super) fn fingerprint(args: &FingerprintArgs, context: &Context) -> Result {
    let used = args.which.used(context)?;
    let fingerprint = resolve::fingerprint(&used);
    if context.json() {
        return context.print_json(&json!({"fingerprint": fingerprint, "entries": used}));
    }
    context.print(&fingerprint)
}

pub(super) fn pythonpath(args: &PythonpathArgs, context: &Context) -> Result {
    let project = super::project(context)?;
    let cache = args.which.cache.cache(context)?;
    let named: Named = super::named(context, None);
    let mut roots = Vec::new();
    for entry in args.which.entries(&project)? {
        let candidates = resolve::candidates(&project, &cache, entry, &named);
        let Some((_, tree)) = resolve::taken(&candidates) else {
            return Err(DepsError::Missing {
                name: entry.name.clone(),
            }
            .into());
        };
        roots.extend(resolve::python_roots(entry, tree));
    }
    if context.json() {
        return context.print_json(&json!({"pythonpath": roots}));
    }
    let texts: Vec<String> = roots
        .iter()
        .map(|root| root.display().to_string())
        .collect();
    if let Some(text) = texts.iter().find(|text| text.contains(':')) {
        let message = format!("Python's path cannot hold `{text}`: it has a colon");
        return Err(Failure::failed(
            Diagnostic::error("deps::pythonpath", message)
                .hint("choose another cache with `--dir DIR`"),
        ));
    }
    context.print(&texts.join(":"))
}

pub(super) fn sbom(args: &SbomArgs, context: &Context) -> Result {
    let project = super::project(context)?;
    context.print_json(&match args.standard {
        Standard::Spdx => sbom::spdx(&project),
        Standard::Cyclonedx => sbom::cyclonedx(&project),
    })
}
