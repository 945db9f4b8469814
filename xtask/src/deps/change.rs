//! `cargo xtask deps lock`, `update`, `add`, `remove`: what changes the lock.

use cairn_base::Diagnostic;
use cairn_deps::manifest::{Submodules, Wanted, is_inner_path, is_reference, is_revision};
use cairn_deps::sync::Options;
use cairn_deps::url::Url;
use cairn_deps::{Entry, Locked, relock};
use serde_json::json;

use super::{CacheArgs, SourceArgs};
use crate::context::{Context, Failure, Result};
use crate::table;

/// Write the hashes of what the manifest wants into the lock
///
/// Without names: the projects that are not locked or no longer as the manifest wants.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask deps lock maxtext mamba")]
pub(super) struct LockArgs {
    /// Projects or frameworks to lock anew
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    cache: CacheArgs,
    #[command(flatten)]
    source: SourceArgs,
}

/// Move a project to another revision, or to what its branch or tag is now
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cargo xtask deps update torchtitan --rev 73a0e6979dd10b6b1904098eb3c8f62c18ab87ce"
)]
pub(super) struct UpdateArgs {
    /// The project
    name: String,
    /// The revision, in full
    #[arg(long)]
    rev: Option<String>,
    #[command(flatten)]
    cache: CacheArgs,
    #[command(flatten)]
    source: SourceArgs,
}

/// Add a project to manifest and lock
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cargo xtask deps add apex https://github.com/ROCm/apex.git --branch master --framework megatron"
)]
pub(super) struct AddArgs {
    /// Its name: that of its folder in the cache
    name: String,
    /// Where it comes from: https, ssh or file
    url: String,
    #[command(flatten)]
    wanted: WantedArgs,
    /// Submodules to take along: `all`, or a path; may be repeated
    #[arg(long = "submodule", value_name = "PATH")]
    submodules: Vec<String>,
    /// Its licence, as an SPDX expression
    #[arg(long, value_name = "SPDX")]
    licence: Option<String>,
    /// A folder of it that goes onto Python's path; may be repeated
    #[arg(long = "python", value_name = "PATH")]
    python: Vec<String>,
    /// A framework whose runs use it; may be repeated
    #[arg(long = "framework", value_name = "NAME")]
    frameworks: Vec<String>,
    #[command(flatten)]
    cache: CacheArgs,
    #[command(flatten)]
    source: SourceArgs,
}

/// What is wanted of a project.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct WantedArgs {
    /// This revision, in full
    #[arg(long)]
    rev: Option<String>,
    /// What this tag points to
    #[arg(long)]
    tag: Option<String>,
    /// The newest revision of this branch now
    #[arg(long)]
    branch: Option<String>,
}

/// Remove a project from manifest and lock
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask deps remove mamba")]
pub(super) struct RemoveArgs {
    /// The project
    name: String,
}

pub(super) fn lock(args: &LockArgs, context: &Context) -> Result {
    let project = super::project(context)?;
    let options = Options {
        names: args.names.clone(),
        ..args.source.options(context)?
    };
    let relocked = relock::lock(&project, &args.cache.cache(context)?, &options)?;
    context.show(&relocked.notes);
    let mut locked = Vec::new();
    let mut errors = Vec::new();
    for (_, result) in relocked.outcomes {
        match result {
            Ok(entry) => locked.push(entry),
            Err(error) => errors.push(error),
        }
    }
    if locked.is_empty() && errors.is_empty() && !context.json() {
        return context.print("nothing to lock: everything is as the manifest wants");
    }
    print(context, &locked)?;
    if errors.is_empty() {
        Ok(())
    } else {
        Err(super::failures(&errors))
    }
}

pub(super) fn update(args: &UpdateArgs, context: &Context) -> Result {
    let project = super::project(context)?;
    let cache = args.cache.cache(context)?;
    let options = args.source.options(context)?;
    let (locked, notes) =
        relock::update(&project, &cache, &args.name, args.rev.as_deref(), &options)?;
    context.show(&notes);
    print(context, &[locked])
}

pub(super) fn add(args: &AddArgs, context: &Context) -> Result {
    let project = super::project(context)?;
    let url = Url::parse(&args.url)
        .map_err(|error| wrong(format!("the address cannot be used: {error}")))?;
    let entry = Entry {
        name: args.name.clone(),
        url,
        wanted: wanted(&args.wanted)?,
        submodules: submodules(&args.submodules)?,
        patches: Vec::new(),
        licence: args.licence.clone(),
        python: args.python.clone(),
        frameworks: args.frameworks.clone(),
        backend: None,
    };
    let options = args.source.options(context)?;
    let (locked, notes) = relock::add(&project, &args.cache.cache(context)?, &entry, &options)?;
    context.show(&notes);
    print(context, &[locked])
}

pub(super) fn remove(args: &RemoveArgs, context: &Context) -> Result {
    relock::remove(&super::project(context)?, &args.name)?;
    if context.json() {
        context.print_json(&json!({"removed": args.name}))
    } else {
        context.print(&format!(
            "{} is no longer wanted; `deps gc` removes its tree",
            args.name
        ))
    }
}

fn wanted(args: &WantedArgs) -> Result<Wanted> {
    let reference = |name: &String| {
        if is_reference(name) {
            Ok(name.clone())
        } else {
            Err(wrong(format!("`{name}` is no name of a tag or branch")))
        }
    };
    match (&args.rev, &args.tag, &args.branch) {
        (Some(rev), _, _) if is_revision(rev) => Ok(Wanted::Rev(rev.clone())),
        (Some(rev), _, _) => Err(wrong(format!("`{rev}` is no full revision of 40 digits"))),
        (_, Some(tag), _) => Ok(Wanted::Tag(reference(tag)?)),
        (_, _, Some(branch)) => Ok(Wanted::Branch(reference(branch)?)),
        (None, None, None) => Err(wrong(
            "one of --rev, --tag and --branch is needed".to_owned(),
        )),
    }
}

fn submodules(words: &[String]) -> Result<Submodules> {
    match words {
        [] => Ok(Submodules::None),
        [word] if word == "all" => Ok(Submodules::All),
        paths => match paths.iter().find(|path| !is_inner_path(path)) {
            Some(path) => Err(wrong(format!("`{path}` is no path of a submodule"))),
            None => Ok(Submodules::Only(paths.to_vec())),
        },
    }
}

fn wrong(message: String) -> Failure {
    Failure::wrong(
        Diagnostic::error("deps::add", message)
            .hint("`cargo xtask deps add --help` has an example"),
    )
}

fn print(context: &Context, locked: &[Locked]) -> Result {
    if context.json() {
        let list = locked.iter().map(|locked| {
            json!({
                "name": locked.name, "rev": locked.rev, "source_hash": locked.source_hash.to_string(),
                "tree_hash": locked.tree_hash.to_string(), "size": locked.size,
            })
        });
        return context.print_json(&json!({"locked": list.collect::<Vec<_>>()}));
    }
    let rows: Vec<Vec<String>> = locked
        .iter()
        .map(|locked| {
            vec![
                locked.name.clone(),
                locked.rev.clone(),
                locked.tree_hash.to_string(),
            ]
        })
        .collect();
    context.print(&table::render_left(&rows))
}
