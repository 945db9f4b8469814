//! `deps sync`: every locked tree in the cache, verified before it can be seen.
//! Trees are made beside their place and renamed into it, one process at a time
//! for each project, so that being killed leaves nothing that looks finished.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cairn_base::progress::Group;
use cairn_base::{Diagnostic, FileError, Progress, files};
use rustix::fs::syncfs;

use crate::cache::{Cache, Standing, is_real_dir};
use crate::error::DepsError;
use crate::git::Git;
use crate::index::{Index, remove_tree};
use crate::lock::Locked;
use crate::make::{Order, Pick, Workshop};
use crate::patch::{self, Patch};
use crate::project::Project;
use crate::url::Url;

/// What to sync, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// These projects or frameworks only; all when empty.
    pub names: Vec<String>,
    /// Not these.
    pub exclude: Vec<String>,
    /// Trees made at the same time.
    pub jobs: usize,
    /// No network.
    pub offline: bool,
    /// The lock alone counts; the manifest is not compared with it.
    pub frozen: bool,
    /// Where repositories are looked for first.
    pub mirrors: Vec<Url>,
    /// How often a source that cannot be reached is asked again.
    pub retries: u32,
    /// Say what would be done.
    pub dry_run: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            names: Vec::new(),
            exclude: Vec::new(),
            jobs: 4,
            offline: false,
            frozen: false,
            mirrors: Vec::new(),
            retries: 3,
            dry_run: false,
        }
    }
}

/// What came of one project.
#[derive(Debug)]
pub enum Outcome {
    /// It was there.
    Fresh(PathBuf),
    /// Its content was hashed anew and is as locked.
    Verified(PathBuf),
    /// It was made.
    Synced(PathBuf),
    /// It was there with other content and was made anew.
    Repaired(PathBuf, Vec<String>),
    /// It would be made, from the first of these sources that has it.
    Would(PathBuf, Vec<String>),
    /// The manifest has it, the lock does not.
    Unlocked,
    /// The lock has something else than the manifest wants.
    Outdated(String),
    /// It could not be had.
    Failed(DepsError),
}

/// What came of a sync.
#[derive(Debug)]
pub struct Report {
    /// Each project, in the order of the manifest.
    pub outcomes: Vec<(String, Outcome)>,
    /// What else there is to say.
    pub notes: Vec<Diagnostic>,
}

impl Report {
    /// The projects that have to be locked before they can be synced.
    #[must_use]
    pub fn to_lock(&self) -> Vec<&str> {
        let waiting = self
            .outcomes
            .iter()
            .filter(|(_, outcome)| matches!(outcome, Outcome::Unlocked | Outcome::Outdated(_)));
        waiting.map(|(name, _)| name.as_str()).collect()
    }
}

/// A tree to have in the cache.
struct Task<'a> {
    locked: &'a Locked,
    patches: Vec<Patch>,
}

/// Syncs. What happens to one project does not keep the others from being synced.
///
/// # Errors
/// When nothing could be begun: a name is unknown, a patch cannot be read.
pub fn sync(project: &Project, cache: &Cache, options: &Options) -> Result<Report, DepsError> {
    let (tasks, mut outcomes, order) = plan(project, options)?;
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
    let done = in_parallel(&tasks, options.jobs, |task| {
        let name = task.locked.name.clone();
        let outcome = if options.dry_run {
            would(&workshop, task)
        } else {
            one(&workshop, task, &group).unwrap_or_else(Outcome::Failed)
        };
        (name, outcome)
    });
    outcomes.extend(done);
    let mut in_order = Vec::new();
    for name in order {
        if let Some(outcome) = outcomes.remove(&name) {
            in_order.push((name, outcome));
        }
    }
    Ok(Report {
        outcomes: in_order,
        notes: notes.into_inner().unwrap_or_default(),
    })
}

type Planned<'a> = (Vec<Task<'a>>, BTreeMap<String, Outcome>, Vec<String>);

fn plan<'a>(project: &'a Project, options: &Options) -> Result<Planned<'a>, DepsError> {
    let mut tasks = Vec::new();
    let mut outcomes = BTreeMap::new();
    let mut order = Vec::new();
    let excluded = project.select(&options.exclude)?;
    for entry in project.select(&options.names)? {
        if !options.exclude.is_empty() && excluded.contains(&entry) {
            continue;
        }
        order.push(entry.name.clone());
        let patches = patch::read(&project.root, entry)?;
        match project.lock.get(&entry.name) {
            None if options.frozen => {}
            None => {
                outcomes.insert(entry.name.clone(), Outcome::Unlocked);
            }
            Some(locked) => match locked.outdated(entry, &patches) {
                Some(reason) if !options.frozen => {
                    outcomes.insert(entry.name.clone(), Outcome::Outdated(reason));
                }
                _ => tasks.push(Task { locked, patches }),
            },
        }
    }
    Ok((tasks, outcomes, order))
}

/// Runs `work` on every item with at most `jobs` threads; results in order.
pub(crate) fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { break };
                    let result = work(item);
                    if let Ok(mut results) = results.lock() {
                        results.insert(at, result);
                    }
                }
            });
        }
    });
    let results = results.into_inner().unwrap_or_default();
    results.into_values().collect()
}

fn would(workshop: &Workshop<'_>, task: &Task<'_>) -> Outcome {
    let tree = workshop.cache.tree(task.locked);
    match workshop.cache.standing(task.locked) {
        Standing::Fresh => Outcome::Fresh(tree),
        _ => {
            let sources = workshop.sources(&task.locked.url);
            Outcome::Would(tree, sources.iter().map(Url::to_string).collect())
        }
    }
}

fn one(workshop: &Workshop<'_>, task: &Task<'_>, group: &Group) -> Result<Outcome, DepsError> {
    let (cache, locked) = (workshop.cache, task.locked);
    let tree = cache.tree(locked);
    if cache.is_read_only() {
        if !is_real_dir(&tree) {
            return Err(DepsError::ReadOnly {
                dir: cache.dir().to_path_buf(),
                names: vec![locked.name.clone()],
            });
        }
        cache.verify(locked, &tree)?;
        return Ok(Outcome::Verified(tree));
    }
    if cache.standing(locked) == Standing::Fresh && cache.is_linked(locked) {
        return Ok(Outcome::Fresh(tree));
    }
    let name = &locked.name;
    let bar = group.add(name.clone(), 0);
    let waiting = || bar.println(format!("{name}: another process syncs it; waiting"));
    let _held = cache.lock(name, waiting)?;
    cache.sweep(name)?;
    let mut changes = None;
    let mut outcome = Outcome::Fresh(tree.clone());
    match cache.standing(locked) {
        Standing::Fresh => {}
        Standing::Unsure => {
            bar.message("verifying");
            match cache.verify(locked, &tree) {
                Ok(()) => {
                    let index = Index::seal(name, &tree, &BTreeMap::new())?;
                    index.write(&cache.index_path(locked), &locked.tree_hash)?;
                    outcome = Outcome::Verified(tree.clone());
                }
                Err(DepsError::Changed { changes: found, .. }) => changes = Some(found),
                Err(error) => return Err(error),
            }
        }
        Standing::Absent => changes = Some(Vec::new()),
    }
    if let Some(changes) = changes {
        let repaired = is_real_dir(&tree);
        make(workshop, task, &bar)?;
        outcome = if repaired {
            Outcome::Repaired(tree, changes)
        } else {
            Outcome::Synced(tree)
        };
    }
    cache.set_link(locked)?;
    bar.finish();
    Ok(outcome)
}

fn make(workshop: &Workshop<'_>, task: &Task<'_>, bar: &Progress) -> Result<(), DepsError> {
    let locked = task.locked;
    check_patches(locked, &task.patches)?;
    let order = Order {
        name: &locked.name,
        url: &locked.url,
        rev: &locked.rev,
        submodules: Pick::Locked(&locked.submodules),
        patches: &task.patches,
        expected: Some(locked),
    };
    let staging = workshop.cache.partial(&locked.name);
    let made = workshop.make(&order, &staging, bar);
    let installed = made.and_then(|made| install(workshop.cache, locked, &staging, &made.index));
    if installed.is_err() {
        // The first error says what happened; what cannot be removed now, the next
        // sync sweeps.
        drop(remove_tree(&staging));
    }
    installed
}

/// A frozen sync takes the lock as it is, but patches come from the checkout.
fn check_patches(locked: &Locked, patches: &[Patch]) -> Result<(), DepsError> {
    let then = locked.patches.iter().map(|patch| &patch.sha256);
    if then.eq(patches.iter().map(|patch| &patch.sha256)) {
        return Ok(());
    }
    let message = format!(
        "the patches of {} are not those that were locked",
        locked.name
    );
    Err(DepsError::Wrong(Box::new(
        Diagnostic::error("deps::patches", message)
            .hint(format!("lock them: cargo xtask deps lock {}", locked.name)),
    )))
}

/// Puts a finished tree in its place: its states, one sync, one rename.
pub(crate) fn install(
    cache: &Cache,
    locked: &Locked,
    staging: &Path,
    index: &Index,
) -> Result<(), DepsError> {
    let tree = cache.tree(locked);
    index.write(&cache.index_path(locked), &locked.tree_hash)?;
    let synced = File::open(staging).and_then(|dir| Ok(syncfs(&dir)?));
    synced.map_err(|error| FileError::new("sync", staging, error))?;
    let failed = |error| FileError::new("rename", staging, error);
    if is_real_dir(&tree) {
        let old = cache.dir().join(format!(".partial-{}-old", locked.name));
        remove_tree(&old)?;
        fs::rename(&tree, &old).map_err(failed)?;
        fs::rename(staging, &tree).map_err(failed)?;
        remove_tree(&old)?;
    } else {
        fs::rename(staging, &tree).map_err(failed)?;
    }
    Ok(files::sync_dir(cache.dir())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_in_parallel_comes_back_in_order() {
        let items: Vec<usize> = (0..100).collect();
        for jobs in [0, 1, 3, 200] {
            let doubled = in_parallel(&items, jobs, |item| item * 2);
            assert!(doubled.iter().copied().eq((0..100).map(|item| item * 2)));
        }
        assert!(in_parallel(&[0usize; 0], 4, |item| *item).is_empty());
    }
}
