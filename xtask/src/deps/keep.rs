//! `cargo xtask deps gc`, `bundle`, `import`: what the cache holds, and moving it.

use std::path::PathBuf;

use cairn_base::Diagnostic;
use cairn_deps::{Locked, bundle as bundles, gc as garbage};
use serde_json::json;

use super::CacheArgs;
use crate::context::{Context, Failure, Result};

/// Remove from the cache what the lock no longer names
///
/// Another checkout that shares the cache and has another lock fetches its trees again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask deps gc --dry-run")]
pub(super) struct GcArgs {
    /// Say what would be removed
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    cache: CacheArgs,
}

/// Write trees into one file, for machines without a network
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask deps bundle -o third_party.tar")]
pub(super) struct BundleArgs {
    /// Projects or frameworks; all that are locked without
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    cache: CacheArgs,
}

/// Take trees out of a bundle into the cache, checked against the lock
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask deps import third_party.tar")]
pub(super) struct ImportArgs {
    /// The bundle
    file: PathBuf,
    #[command(flatten)]
    cache: CacheArgs,
}

pub(super) fn gc(args: &GcArgs, context: &Context) -> Result {
    let project = super::project(context)?;
    let cache = args.cache.cache(context)?;
    let removed = garbage::gc(&project, &cache, args.dry_run)?;
    if context.json() {
        return context.print_json(&json!({"removed": removed, "dry_run": args.dry_run}));
    }
    let word = if args.dry_run {
        "would remove"
    } else {
        "removed"
    };
    let lines: Vec<String> = removed
        .iter()
        .map(|path| format!("{word} {}", path.display()))
        .collect();
    context.print(&if lines.is_empty() {
        "nothing to remove".to_owned()
    } else {
        lines.join("\n")
    })
}

pub(super) fn bundle(args: &BundleArgs, context: &Context) -> Result {
    let project = super::project(context)?;
    let cache = args.cache.cache(context)?;
    let locked: Vec<&Locked> = if args.names.is_empty() {
        project.lock.entries.iter().collect()
    } else {
        let locked = args.names.iter().map(|name| Ok(project.locked(name)?.1));
        locked.collect::<Result<_>>()?
    };
    let file = context.cwd.join(&args.output);
    bundles::bundle(&cache, &locked, &file)?;
    let names: Vec<&str> = locked.iter().map(|locked| locked.name.as_str()).collect();
    if context.json() {
        return context.print_json(&json!({"bundle": file, "entries": names}));
    }
    context.print(&format!("{}: {}", args.output.display(), names.join(", ")))
}

pub(super) fn import(args: &ImportArgs, context: &Context) -> Result {
    let project = super::project(context)?;
    let cache = args.cache.cache(context)?;
    let done = bundles::import(&project, &cache, &context.cwd.join(&args.file))?;
    let mut notes = Vec::new();
    for tree in &done.ignored {
        let message = format!("{tree} is in the bundle and not in the lock: it was left out");
        notes.push(Diagnostic::warning("deps::import", message));
    }
    if !done.lacking.is_empty() {
        let message = format!("still not in the cache: {}", done.lacking.join(", "));
        notes.push(Diagnostic::warning("deps::import", message));
    }
    context.show(&notes);
    if context.json() {
        context.print_json(&json!({
            "imported": done.imported, "present": done.present, "ignored": done.ignored, "lacking": done.lacking,
        }))?;
    } else {
        for name in &done.imported {
            context.print(&format!("{name}: imported"))?;
        }
        for name in &done.present {
            context.print(&format!("{name}: was there"))?;
        }
    }
    if done.imported.is_empty() && done.present.is_empty() {
        let message = format!("{} holds no tree that the lock names", args.file.display());
        return Err(Failure::failed(
            Diagnostic::error("deps::import", message)
                .hint("make it from a checkout with the same third_party.lock"),
        ));
    }
    Ok(())
}
