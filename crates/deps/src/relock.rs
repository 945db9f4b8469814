//! Commands that change manifest and lock: `lock`, `update`, `add`, `remove`. Files
//! change only after the tree was made, and what was made stays in the cache.

use std::sync::Mutex;

use cairn_base::progress::Group;
use cairn_base::{Diagnostic, SourceFile};

use crate::cache::Cache;
use crate::error::DepsError;
use crate::git::Git;
use crate::index::remove_tree;
use crate::lock::{Locked, LockedPatch};
use crate::make::{Order, Pick, Workshop};
use crate::manifest::{self, Entry, Manifest, Submodules, Wanted};
use crate::patch;
use crate::project::Project;
use crate::sync::{self, Options, in_parallel};

/// What came of locking.
#[derive(Debug)]
pub struct Relocked {
    /// Each project: what is locked now, or why nothing was.
    pub outcomes: Vec<(String, Result<Locked, DepsError>)>,
    /// What else there is to say.
    pub notes: Vec<Diagnostic>,
}

/// Locks projects: resolves what is wanted, makes the tree, writes its hashes.
/// Without names, those that are not locked or no longer as the manifest wants.
/// What can be locked is, whatever happens to the others.
///
/// # Errors
/// When nothing could be begun, or the lock cannot be written.
pub fn lock(project: &Project, cache: &Cache, options: &Options) -> Result<Relocked, DepsError> {
    let mut entries = Vec::new();
    for entry in project.select(&options.names)? {
        let patches = patch::read(&project.root, entry)?;
        let good = options.names.is_empty()
            && project
                .lock
                .get(&entry.name)
                .is_some_and(|locked| locked.outdated(entry, &patches).is_none());
        if !good {
            entries.push((entry, patches));
        }
    }
    let git = Git::new();
    let notes = Mutex::new(Vec::new());
    let workshop = Workshop {
        git: &git,
        cache,
        mirrors: &options.mirrors,
        offline: options.offline,
        retries: options.retries,
        notes: &notes,
    };
    let group = Group::new();
    let outcomes = in_parallel(&entries, options.jobs, |(entry, patches)| {
        (
            entry.name.clone(),
            one(
                &workshop,
                entry,
                patches,
                project.lock.get(&entry.name),
                &group,
            ),
        )
    });
    let changes: Vec<(&str, Option<&Locked>)> = outcomes
        .iter()
        .filter_map(|(name, result)| Some((name.as_str(), Some(result.as_ref().ok()?))))
        .collect();
    if !changes.is_empty() {
        // Another lock command may have written since; its projects stay.
        let now = crate::lock::Lock::read(&project.root)?;
        project.write_lock(&now.with(&changes)?)?;
    }
    Ok(Relocked {
        outcomes,
        notes: notes.into_inner().unwrap_or_default(),
    })
}

fn one(
    workshop: &Workshop<'_>,
    entry: &Entry,
    patches: &[patch::Patch],
    before: Option<&Locked>,
    group: &Group,
) -> Result<Locked, DepsError> {
    let (cache, name) = (workshop.cache, &entry.name);
    if cache.is_read_only() {
        return Err(DepsError::ReadOnly {
            dir: cache.dir().to_path_buf(),
            names: vec![format!("place to lock {name}")],
        });
    }
    let bar = group.add(name.clone(), 0);
    let _held = cache.lock(name, || {
        bar.println(format!("{name}: another process has it; waiting"));
    })?;
    cache.sweep(name)?;
    let rev = workshop.resolve(name, &entry.url, &entry.wanted)?;
    let order = Order {
        name,
        url: &entry.url,
        rev: &rev,
        submodules: Pick::Wanted(&entry.submodules),
        patches,
        expected: None,
    };
    let staging = cache.partial(name);
    let result = workshop.make(&order, &staging, &bar).and_then(|made| {
        let locked = Locked {
            name: name.clone(),
            url: entry.url.clone(),
            wanted: match &entry.wanted {
                Wanted::Rev(_) => None,
                other => Some(other.text()),
            },
            rev: rev.clone(),
            commit_date: made.commit_date,
            size: Some(made.index.size()),
            source_hash: made.source_hash,
            tree_hash: made.tree_hash,
            patches: patches
                .iter()
                .map(|patch| LockedPatch {
                    file: patch.file.clone(),
                    sha256: patch.sha256.clone(),
                })
                .collect(),
            all_submodules: entry.submodules == Submodules::All,
            submodules: made.submodules,
        };
        sync::install(cache, &locked, &staging, &made.index)?;
        cache.set_link(&locked)?;
        Ok(locked)
    });
    if result.is_err() {
        // The first error says what happened.
        drop(remove_tree(&staging));
    }
    let locked = result?;
    if let Some(before) = before
        && before.rev == locked.rev
        && before.source_hash != locked.source_hash
    {
        let message = format!(
            "the source of {name} at {rev} was locked with the hash {}, now it is {}",
            before.source_hash, locked.source_hash
        );
        workshop.note(
            Diagnostic::warning("deps::relocked", message)
                .hint("a revision never changes: one of the two sources is not what it says"),
        );
    }
    bar.finish();
    Ok(locked)
}

/// Moves a project to another revision, or to what its branch or tag is now.
///
/// # Errors
/// When it cannot be made there; manifest and lock are as before then.
pub fn update(
    project: &Project,
    cache: &Cache,
    name: &str,
    rev: Option<&str>,
    options: &Options,
) -> Result<(Locked, Vec<Diagnostic>), DepsError> {
    let entry = project.manifest.get(name)?;
    let text = match (rev, &entry.wanted) {
        (Some(rev), _) => {
            if !manifest::is_revision(rev) {
                let message = format!("`{rev}` is no full revision");
                return Err(wrong(
                    message,
                    "name all 40 digits: git rev-parse REV prints them",
                ));
            }
            Some(
                project
                    .manifest
                    .wanting(name, &Wanted::Rev(rev.to_owned()))?,
            )
        }
        (None, Wanted::Rev(_)) => {
            let message = format!("{name} is pinned to a revision");
            let hint = format!("name another: cargo xtask deps update {name} --rev REV");
            return Err(wrong(message, &hint));
        }
        (None, _) => None,
    };
    change(project, cache, name, text, options)
}

/// Adds a project and locks it.
///
/// # Errors
/// When the name is taken or the tree cannot be made; nothing is written then.
pub fn add(
    project: &Project,
    cache: &Cache,
    entry: &Entry,
    options: &Options,
) -> Result<(Locked, Vec<Diagnostic>), DepsError> {
    let text = project.manifest.with(entry)?;
    change(project, cache, &entry.name, Some(text), options)
}

/// Removes a project from manifest and lock. Its tree stays until `gc`.
///
/// # Errors
/// When there is no such project or a file cannot be written.
pub fn remove(project: &Project, name: &str) -> Result<(), DepsError> {
    let manifest = project.manifest.without(name)?;
    let lock = project.lock.with(&[(name, None)])?;
    project.write_manifest(&manifest)?;
    project.write_lock(&lock)
}

/// Locks one project under a changed manifest, and writes both or none.
fn change(
    project: &Project,
    cache: &Cache,
    name: &str,
    text: Option<String>,
    options: &Options,
) -> Result<(Locked, Vec<Diagnostic>), DepsError> {
    let mut changed = project.clone();
    if let Some(text) = &text {
        changed.manifest = Manifest::parse(SourceFile::new(manifest::PATH, text.clone()))?;
    }
    let options = Options {
        names: vec![name.to_owned()],
        ..options.clone()
    };
    let relocked = lock(&changed, cache, &options)?;
    let mut outcomes = relocked.outcomes.into_iter();
    let locked = match outcomes.next() {
        Some((_, result)) => result?,
        None => {
            return Err(DepsError::NotLocked {
                name: name.to_owned(),
            });
        }
    };
    if let Some(text) = text {
        project.write_manifest(&text)?;
    }
    Ok((locked, relocked.notes))
}

fn wrong(message: String, hint: &str) -> DepsError {
    DepsError::Wrong(Box::new(
        Diagnostic::error("deps::update", message).hint(hint),
    ))
}
