//! Making one tree: fetch, check out, put submodules in their places, apply
//! patches, seal, and compare every hash with the lock where there is one.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use cairn_base::{Diagnostic, Progress};

use crate::cache::Cache;
use crate::checkout::{self, Checkout, Written};
use crate::error::{Answer, Attempt, DepsError};
use crate::git::{self, Fetched, Git, Store};
use crate::index::{Index, remove_tree};
use crate::lock::{Locked, LockedSubmodule};
use crate::manifest::{Submodules, Wanted, is_inner_path};
use crate::nar::{self, NarHash};
use crate::patch::{self, Patch};
use crate::tree;
use crate::url::{Scheme, Url};

/// What trees are made with.
#[derive(Debug)]
pub(crate) struct Workshop<'a> {
    pub(crate) git: &'a Git,
    pub(crate) cache: &'a Cache,
    /// Folders or addresses below which repositories are looked for first.
    pub(crate) mirrors: &'a [Url],
    /// No network.
    pub(crate) offline: bool,
    /// How often a source that cannot be reached is asked again.
    pub(crate) retries: u32,
    /// What to tell when all is done.
    pub(crate) notes: &'a Mutex<Vec<Diagnostic>>,
}

/// What to make.
#[derive(Debug)]
pub(crate) struct Order<'a> {
    pub(crate) name: &'a str,
    pub(crate) url: &'a Url,
    pub(crate) rev: &'a str,
    pub(crate) submodules: Pick<'a>,
    pub(crate) patches: &'a [Patch],
    /// The hashes it must have.
    pub(crate) expected: Option<&'a Locked>,
}

/// Which submodules come along.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pick<'a> {
    /// Those that were locked.
    Locked(&'a [LockedSubmodule]),
    /// Those that the manifest wants, as the tree names them.
    Wanted(&'a Submodules),
}

/// What was made.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) source_hash: NarHash,
    pub(crate) tree_hash: NarHash,
    pub(crate) submodules: Vec<LockedSubmodule>,
    pub(crate) commit_date: Option<String>,
    pub(crate) index: Index,
}

/// A tree that grows: what was written, and the submodules still empty.
struct Growing {
    written: BTreeMap<Vec<u8>, Written>,
    empty: BTreeMap<String, String>,
}

impl Workshop<'_> {
    /// Makes a tree in `staging`, which must not exist yet.
    pub(crate) fn make(
        &self,
        order: &Order<'_>,
        staging: &Path,
        bar: &Progress,
    ) -> Result<Made, DepsError> {
        checkout::fresh_dir(staging)?;
        let (store, checkout) = self.check_out(order.name, order.url, order.rev, staging, bar)?;
        let source_hash = checkout.hash;
        if let Some(expected) = order.expected {
            let part = format!("the source of {}", order.name);
            same(order.name, part, expected.source_hash, source_hash)?;
        }
        let commit_date = self.commit_date(&store, order)?;
        drop(store);
        let mut growing = Growing {
            written: BTreeMap::new(),
            empty: BTreeMap::new(),
        };
        growing.add("", checkout);
        let submodules = match order.submodules {
            Pick::Locked(locked) => {
                self.place_locked(order, locked, staging, &mut growing, bar)?;
                Vec::new()
            }
            Pick::Wanted(wanted) => self.place_wanted(order, wanted, staging, &mut growing, bar)?,
        };
        if !order.patches.is_empty() {
            bar.message("patching");
            patch::apply(self.git, order.name, staging, order.patches)?;
        }
        bar.message("sealing");
        let index = Index::seal(order.name, staging, &growing.written)?;
        let plain = order.patches.is_empty() && submodules.is_empty();
        let tree_hash = match order.submodules {
            Pick::Locked(locked) if !locked.is_empty() => nar::hash_path(staging)?,
            _ if plain => source_hash,
            _ => nar::hash_path(staging)?,
        };
        if let Some(expected) = order.expected {
            let part = format!("the tree of {}", order.name);
            same(order.name, part, expected.tree_hash, tree_hash)?;
        }
        Ok(Made {
            source_hash,
            tree_hash,
            submodules,
            commit_date,
            index,
        })
    }

    /// The submodules of a locked project, each checked against its hash.
    fn place_locked(
        &self,
        order: &Order<'_>,
        locked: &[LockedSubmodule],
        staging: &Path,
        growing: &mut Growing,
        bar: &Progress,
    ) -> Result<(), DepsError> {
        for submodule in locked {
            let found = self.place(order.name, submodule, staging, growing, bar)?;
            let part = format!("the submodule {} of {}", submodule.path, order.name);
            same(order.name, part, submodule.source_hash, found)?;
        }
        Ok(())
    }

    /// The submodules that the manifest wants, parents before theirs.
    fn place_wanted(
        &self,
        order: &Order<'_>,
        wanted: &Submodules,
        staging: &Path,
        growing: &mut Growing,
        bar: &Progress,
    ) -> Result<Vec<LockedSubmodule>, DepsError> {
        let mut placed: Vec<LockedSubmodule> = Vec::new();
        // Trees whose own list of submodules was not read yet.
        let mut parents = vec![(String::new(), order.url.clone())];
        while let Some((prefix, url)) = parents.pop() {
            for (path, address) in self.addresses(order.name, &staging.join(&prefix))? {
                let path = inside(&prefix, &path);
                let Some(rev) = growing.empty.get(&path).cloned() else {
                    // Listed, but not in the tree: git ignores those too.
                    continue;
                };
                if !wanted.takes(&path) {
                    continue;
                }
                let refused = |error: crate::url::UrlError| {
                    tree::hostile(order.name, path.as_bytes(), &error.to_string())
                };
                let mut submodule = LockedSubmodule {
                    url: url.submodule(&address).map_err(refused)?,
                    path,
                    rev,
                    source_hash: NarHash::new([0; 32]),
                };
                submodule.source_hash =
                    self.place(order.name, &submodule, staging, growing, bar)?;
                parents.push((submodule.path.clone(), submodule.url.clone()));
                placed.push(submodule);
            }
        }
        if let Submodules::Only(paths) = wanted
            && let Some(path) = paths
                .iter()
                .find(|path| !placed.iter().any(|submodule| submodule.path == **path))
        {
            let message = format!("{} has no submodule `{path}` at {}", order.name, order.rev);
            return Err(DepsError::Wrong(Box::new(
                Diagnostic::error("deps::submodule", message)
                    .hint("correct `submodules` in third_party/third_party.toml"),
            )));
        }
        Ok(placed)
    }

    /// Fills the empty folder of a submodule.
    fn place(
        &self,
        name: &str,
        submodule: &LockedSubmodule,
        staging: &Path,
        growing: &mut Growing,
        bar: &Progress,
    ) -> Result<NarHash, DepsError> {
        // Only folders that the parent's tree has for this: never through a link.
        if growing.empty.remove(&submodule.path).as_ref() != Some(&submodule.rev) {
            let reason = format!("is no submodule at revision {}", submodule.rev);
            return Err(tree::hostile(name, submodule.path.as_bytes(), &reason));
        }
        let label = format!("{name}/{}", submodule.path);
        let into = staging.join(&submodule.path);
        let (_, checkout) = self.check_out(&label, &submodule.url, &submodule.rev, &into, bar)?;
        let hash = checkout.hash;
        growing.add(&submodule.path, checkout);
        Ok(hash)
    }

    /// What a tree says about its submodules: paths and addresses.
    fn addresses(&self, name: &str, tree: &Path) -> Result<Vec<(String, String)>, DepsError> {
        let file = tree.join(".gitmodules");
        // A link could make git read anything.
        if !std::fs::symlink_metadata(&file).is_ok_and(|metadata| metadata.is_file()) {
            return Ok(Vec::new());
        }
        let exec = self
            .git
            .local()
            .args(["config", "--null", "--no-includes", "--file"])
            .arg(&file)
            .args(["--get-regexp", r"^submodule\..*\.(path|url)$"]);
        let (_, output) = self.git.capture(&exec)?;
        let mut found: BTreeMap<String, (Option<String>, Option<String>)> = BTreeMap::new();
        for line in String::from_utf8_lossy(&output.stdout).split('\0') {
            let Some((key, value)) = line.split_once('\n') else {
                continue;
            };
            if let Some(section) = key.strip_suffix(".path") {
                found.entry(section.to_owned()).or_default().0 = Some(value.to_owned());
            } else if let Some(section) = key.strip_suffix(".url") {
                found.entry(section.to_owned()).or_default().1 = Some(value.to_owned());
            }
        }
        let mut addresses = Vec::new();
        for pair in found.into_values() {
            if let (Some(path), Some(url)) = pair {
                if !is_inner_path(&path) {
                    return Err(tree::hostile(
                        name,
                        path.as_bytes(),
                        "is no path for a submodule",
                    ));
                }
                addresses.push((path, url));
            }
        }
        Ok(addresses)
    }

    /// Checks a revision out, fetching it first. A store that turns out to be
    /// damaged is made anew, once.
    fn check_out(
        &self,
        label: &str,
        url: &Url,
        rev: &str,
        into: &Path,
        bar: &Progress,
    ) -> Result<(Store, Checkout), DepsError> {
        let store = Store::open(self.git, &self.cache.store(url), rev)?;
        self.obtain(&store, label, url, rev, bar)?;
        let out = || {
            bar.message("checking out");
            checkout::checkout(self.git, &store, label, rev, into, &mut |done, total| {
                bar.set_total(total);
                bar.set(done);
            })
        };
        match out() {
            Err(DepsError::Store { path, reason }) => {
                let message = format!(
                    "the object store {} is damaged ({reason}); it is made anew",
                    path.display()
                );
                self.note(Diagnostic::warning("deps::store", message));
                for (_, path) in children(into)? {
                    remove_tree(&path)?;
                }
                store.reset(self.git)?;
                self.obtain(&store, label, url, rev, bar)?;
                let checkout = out()?;
                Ok((store, checkout))
            }
            other => Ok((store, other?)),
        }
    }

    /// Sees to it that the store has a revision.
    fn obtain(
        &self,
        store: &Store,
        label: &str,
        url: &Url,
        rev: &str,
        bar: &Progress,
    ) -> Result<(), DepsError> {
        if store.has(rev) {
            return Ok(());
        }
        bar.message("fetching");
        let mut tried = Vec::new();
        for source in self.sources(url) {
            match self.fetch_patiently(store, &source, rev, bar)? {
                Fetched::Done => {
                    for attempt in &tried {
                        self.note(skipped(label, attempt));
                    }
                    return Ok(());
                }
                Fetched::Failed(answer) => tried.push(Attempt {
                    from: source.to_string(),
                    answer,
                }),
            }
        }
        let (name, rev) = (label.to_owned(), rev.to_owned());
        Err(if self.offline {
            DepsError::Offline { name, rev, tried }
        } else {
            DepsError::Fetch { name, rev, tried }
        })
    }

    /// Asks again, a little later each time, where the network is to blame.
    fn fetch_patiently(
        &self,
        store: &Store,
        source: &Url,
        rev: &str,
        bar: &Progress,
    ) -> Result<Fetched, DepsError> {
        let mut wait = Duration::from_millis(500);
        for attempt in 0.. {
            let outcome = git::fetch(self.git, store, source, rev, &mut |done, total| {
                bar.set_total(total);
                bar.set(done);
            })?;
            match outcome {
                Fetched::Failed(Answer::Network(_)) if attempt < self.retries => {
                    bar.message(format!("fetching (attempt {})", attempt + 2));
                    std::thread::sleep(wait);
                    wait *= 2;
                }
                outcome => return Ok(outcome),
            }
        }
        // The loop has no end but those above.
        Ok(Fetched::Failed(Answer::Other("was not asked".to_owned())))
    }

    /// Where to look for a repository, in this order.
    pub(crate) fn sources(&self, url: &Url) -> Vec<Url> {
        let repository = url.repository();
        let mut sources = Vec::new();
        for mirror in self.mirrors {
            let bare = mirror.join(&format!("{repository}.git"));
            let plain = mirror.join(repository);
            let is_there = |url: &Url| {
                url.secret()
                    .strip_prefix("file://")
                    .is_some_and(|path| Path::new(path).is_dir())
            };
            if mirror.scheme() == Scheme::File && !is_there(&bare) && is_there(&plain) {
                sources.push(plain);
            } else {
                sources.push(bare);
            }
        }
        sources.push(url.clone());
        sources.retain(|source| !self.offline || source.scheme() == Scheme::File);
        sources
    }

    /// The revision that is wanted now, asking the first source that answers.
    pub(crate) fn resolve(
        &self,
        name: &str,
        url: &Url,
        wanted: &Wanted,
    ) -> Result<String, DepsError> {
        let mut tried = Vec::new();
        for source in self.sources(url) {
            match git::resolve_reference(self.git, &source, wanted)? {
                Ok(Some(rev)) => return Ok(rev),
                Ok(None) => tried.push(Attempt {
                    from: source.to_string(),
                    answer: Answer::Lacks,
                }),
                Err(answer) => tried.push(Attempt {
                    from: source.to_string(),
                    answer,
                }),
            }
        }
        if !tried.is_empty() && tried.iter().all(|attempt| attempt.answer == Answer::Lacks) {
            return Err(DepsError::NoReference {
                name: name.to_owned(),
                what: wanted.text(),
                url: url.to_string(),
            });
        }
        let (name, rev) = (name.to_owned(), wanted.text());
        Err(if self.offline {
            DepsError::Offline { name, rev, tried }
        } else {
            DepsError::Fetch { name, rev, tried }
        })
    }

    /// When the revision was committed; only asked for when a lock is written.
    fn commit_date(&self, store: &Store, order: &Order<'_>) -> Result<Option<String>, DepsError> {
        if order.expected.is_some() {
            return Ok(None);
        }
        let exec = store
            .local(self.git)
            .args(["show", "--no-patch", "--format=%cd"])
            .args(["--date=format-local:%Y-%m-%dT%H:%M:%SZ", order.rev]);
        Ok(Some(self.git.output(&exec)?.text()))
    }

    pub(crate) fn note(&self, note: Diagnostic) {
        if let Ok(mut notes) = self.notes.lock() {
            notes.push(note);
        }
    }
}

impl Growing {
    /// Adds what was checked out below `prefix`.
    fn add(&mut self, prefix: &str, checkout: Checkout) {
        let within = |path: &[u8]| {
            if prefix.is_empty() {
                path.to_vec()
            } else {
                [prefix.as_bytes(), path].join(&b'/')
            }
        };
        let written = checkout.written.into_iter();
        self.written
            .extend(written.map(|(path, written)| (within(&path), written)));
        for (path, rev) in checkout.submodules {
            // One whose path is no text cannot be named in the manifest either.
            if let Ok(path) = String::from_utf8(within(&path)) {
                self.empty.insert(path, rev);
            }
        }
    }
}

fn inside(prefix: &str, path: &str) -> String {
    if prefix.is_empty() {
        path.to_owned()
    } else {
        format!("{prefix}/{path}")
    }
}

fn children(dir: &Path) -> Result<Vec<(std::ffi::OsString, std::path::PathBuf)>, DepsError> {
    let entries = nar::sorted_entries(dir)?.into_iter();
    Ok(entries
        .map(|(name, _)| {
            let path = dir.join(OsStr::from_bytes(name.as_bytes()));
            (name, path)
        })
        .collect())
}

fn same(name: &str, part: String, expected: NarHash, found: NarHash) -> Result<(), DepsError> {
    if expected == found {
        return Ok(());
    }
    Err(DepsError::Hash {
        part,
        name: name.to_owned(),
        expected,
        found,
    })
}

/// A source that did not deliver where a later one did.
fn skipped(label: &str, attempt: &Attempt) -> Diagnostic {
    let message = format!(
        "{label} was not had from {}: {}",
        attempt.from,
        attempt.answer.text()
    );
    Diagnostic::warning("deps::mirror", message)
        .hint("bring the mirror up to date: git -C MIRROR remote update")
}
