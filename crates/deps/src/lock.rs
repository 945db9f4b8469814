//! `third_party/third_party.lock`: what the manifest resolved to. Written by
//! tools only, read by Nix too; every hash is a NAR hash in SRI form.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use cairn_base::{FileErrorKind, SourceFile, files};
use toml_edit::{ArrayOfTables, Item, Table, value};

use crate::error::DepsError;
use crate::manifest::{Entry, Submodules, Wanted, is_inner_path, is_plain_name, is_revision};
use crate::nar::NarHash;
use crate::patch::Patch;
use crate::toml::{self, Fields, Kind, Placed, Wrong};
use crate::url::Url;

/// Its place in a checkout.
pub const PATH: &str = "third_party/third_party.lock";

const KIND: Kind = Kind {
    code: "deps::lock",
    version: 1,
    repair: "take either side of the conflict, then run `cargo xtask deps lock` for the projects it touched",
};

const EMPTY: &str = "# Written by `cargo xtask deps lock`; read by `cargo xtask deps sync` and by flake.nix.\nversion = 1\n";

/// What the manifest resolved to.
#[derive(Clone, Debug)]
pub struct Lock {
    /// The locked projects, in the order of the file.
    pub entries: Vec<Locked>,
    source: Arc<SourceFile>,
}

/// A locked project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locked {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub url: Url,
    /// The tag or branch it was resolved from, as [`Wanted::text`] says it.
    pub wanted: Option<String>,
    /// The exact revision.
    pub rev: String,
    /// When the revision was committed, in UTC.
    pub commit_date: Option<String>,
    /// The bytes in all files of the patched tree.
    pub size: Option<u64>,
    /// Hash of the checked-out tree, without `.git` and before patches.
    pub source_hash: NarHash,
    /// Hash of the whole tree: submodules in their places, patches applied.
    pub tree_hash: NarHash,
    /// The patches, in the order they apply.
    pub patches: Vec<LockedPatch>,
    /// All submodules were wanted, whichever there are.
    pub all_submodules: bool,
    /// The submodules that come along, parents before theirs.
    pub submodules: Vec<LockedSubmodule>,
}

/// A patch as it was when the project was locked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedPatch {
    /// Its file name.
    pub file: String,
    /// SHA-256 of the file, in hex.
    pub sha256: String,
}

/// A locked submodule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedSubmodule {
    /// Its path in the project.
    pub path: String,
    /// Where it comes from.
    pub url: Url,
    /// The exact revision.
    pub rev: String,
    /// Hash of its checked-out tree.
    pub source_hash: NarHash,
}

impl Locked {
    /// The name of its tree in the cache and in the Nix store: the project, the
    /// beginning of the revision and of the tree's hash.
    #[must_use]
    pub fn tree_name(&self) -> String {
        let rev = self.rev.get(..12).unwrap_or(&self.rev);
        let hash = self.tree_hash.hex();
        format!("{}-{rev}-{}", self.name, hash.get(..8).unwrap_or(&hash))
    }

    /// Why this is not what the manifest asks for, if it is not.
    #[must_use]
    pub fn outdated(&self, entry: &Entry, patches: &[Patch]) -> Option<String> {
        if self.url != entry.url {
            return Some("the address changed".to_owned());
        }
        match &entry.wanted {
            Wanted::Rev(rev) if *rev != self.rev => {
                return Some(format!("the manifest wants revision {rev}"));
            }
            Wanted::Rev(_) => {}
            other if self.wanted.as_ref() != Some(&other.text()) => {
                return Some(format!("the manifest wants {}", other.text()));
            }
            _ => {}
        }
        let same_submodules = match &entry.submodules {
            Submodules::None => self.submodules.is_empty() && !self.all_submodules,
            Submodules::All => self.all_submodules,
            Submodules::Only(paths) => {
                let locked: Vec<_> = self.submodules.iter().map(|sub| &sub.path).collect();
                !self.all_submodules
                    && paths.iter().all(|path| locked.contains(&path))
                    && locked.len() == paths.len()
            }
        };
        if !same_submodules {
            return Some("the manifest wants other submodules".to_owned());
        }
        let now: Vec<_> = patches
            .iter()
            .map(|patch| (&patch.file, &patch.sha256))
            .collect();
        let then: Vec<_> = self
            .patches
            .iter()
            .map(|patch| (&patch.file, &patch.sha256))
            .collect();
        (now != then).then(|| "its patches changed".to_owned())
    }
}

impl Lock {
    /// Reads the lock of a checkout; without one, nothing is locked.
    ///
    /// # Errors
    /// When it cannot be read or is wrong.
    pub fn read(project: &Path) -> Result<Self, DepsError> {
        let text = match files::read_text(&project.join(PATH)) {
            Ok(text) => text,
            Err(error) if error.kind == FileErrorKind::NotFound => EMPTY.to_owned(),
            Err(error) => return Err(error.into()),
        };
        Ok(Self::parse(SourceFile::new(PATH, text))?)
    }

    /// Reads a lock from text.
    ///
    /// # Errors
    /// The first mistake, with its place.
    pub fn parse(source: Arc<SourceFile>) -> Result<Self, Wrong> {
        let document = toml::parse(KIND, &source)?;
        let mut entries = Vec::new();
        let mut names = BTreeMap::new();
        for table in toml::entries(KIND, &source, &document)? {
            let mut fields = Fields::new(KIND, &source, table);
            let name = fields.needed("name")?;
            if !is_plain_name(&name.value) {
                return Err(fields.wrong(name.range, "this is no name"));
            }
            if names.insert(name.value.to_lowercase(), ()).is_some() {
                return Err(fields.wrong(name.range, format!("`{}` is there twice", name.value)));
            }
            let locked = locked(&mut fields, &source, name.value)?;
            fields.finish()?;
            entries.push(locked);
        }
        Ok(Self { entries, source })
    }

    /// The locked project with this name, if it is locked.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Locked> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The text of the lock with these projects in it anew, or without them.
    ///
    /// # Errors
    /// When the result would be wrong.
    pub fn with(&self, changes: &[(&str, Option<&Locked>)]) -> Result<String, DepsError> {
        let mut document = toml::edit(KIND, &self.source)?;
        let list = document
            .entry("entry")
            .or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        if let Some(tables) = list.as_array_of_tables_mut() {
            for (name, locked) in changes {
                let named = |table: &Table| table.get("name").and_then(Item::as_str) == Some(name);
                match locked {
                    None => tables.retain(|table| !named(table)),
                    Some(locked) => {
                        if !tables.iter().any(named) {
                            let mut table = Table::new();
                            table.decor_mut().set_prefix("\n");
                            table.insert("name", value(*name));
                            tables.push(table);
                        }
                        if let Some(table) = tables.iter_mut().find(|table| named(table)) {
                            fill(table, locked);
                        }
                    }
                }
            }
        }
        let text = document.to_string();
        Self::parse(SourceFile::new(self.source.name.clone(), text.clone()))?;
        Ok(text)
    }
}

fn locked(
    fields: &mut Fields<'_>,
    source: &Arc<SourceFile>,
    name: String,
) -> Result<Locked, Wrong> {
    let url = fields.needed("url")?;
    let rev = fields.needed("rev")?;
    let source_hash = fields.needed("source_hash")?;
    let tree_hash = fields.needed("tree_hash")?;
    let mut patches = Vec::new();
    for table in fields.tables("patch")? {
        let mut patch = Fields::new(KIND, source, table);
        let file = patch.needed("file")?;
        if !is_plain_name(&file.value) {
            return Err(patch.wrong(file.range, "this is no file name"));
        }
        let sha256 = patch.needed("sha256")?;
        if sha256.value.len() != 64 || !is_revision(&sha256.value) {
            return Err(patch.wrong(sha256.range, "a SHA-256 is 64 digits of lower-case hex"));
        }
        patch.finish()?;
        patches.push(LockedPatch {
            file: file.value,
            sha256: sha256.value,
        });
    }
    let mut submodules = Vec::new();
    for table in fields.tables("submodule")? {
        let mut submodule = Fields::new(KIND, source, table);
        let path = submodule.needed("path")?;
        if !is_inner_path(&path.value) {
            return Err(submodule.wrong(path.range, "this is no path inside the tree"));
        }
        let url = submodule.needed("url")?;
        let rev = submodule.needed("rev")?;
        let source_hash = submodule.needed("source_hash")?;
        submodules.push(LockedSubmodule {
            path: path.value,
            url: address(&submodule, &url)?,
            rev: revision(&submodule, rev)?,
            source_hash: hash(&submodule, &source_hash)?,
        });
        submodule.finish()?;
    }
    let all_submodules = match fields.text("submodules")? {
        None => false,
        Some(word) if word.value == "all" => true,
        Some(word) => return Err(fields.wrong(word.range, "`submodules` is \"all\" or absent")),
    };
    Ok(Locked {
        name,
        url: address(fields, &url)?,
        wanted: fields.text("wanted")?.map(|wanted| wanted.value),
        rev: revision(fields, rev)?,
        commit_date: fields.text("commit_date")?.map(|date| date.value),
        size: fields.count("size")?,
        source_hash: hash(fields, &source_hash)?,
        tree_hash: hash(fields, &tree_hash)?,
        patches,
        all_submodules,
        submodules,
    })
}

fn address(fields: &Fields<'_>, url: &Placed<String>) -> Result<Url, Wrong> {
    Url::parse(&url.value).map_err(|error| fields.wrong(url.range.clone(), error.to_string()))
}

fn revision(fields: &Fields<'_>, rev: Placed<String>) -> Result<String, Wrong> {
    if is_revision(&rev.value) {
        Ok(rev.value)
    } else {
        Err(fields.wrong(
            rev.range,
            "a revision is 40 (or 64) digits of lower-case hex",
        ))
    }
}

fn hash(fields: &Fields<'_>, hash: &Placed<String>) -> Result<NarHash, Wrong> {
    let parsed = hash.value.parse::<NarHash>();
    parsed.map_err(|error| fields.wrong(hash.range.clone(), error.to_string()))
}

/// Writes a project over what the table holds.
fn fill(table: &mut Table, locked: &Locked) {
    let mut text = |key: &str, text: Option<&str>| match text {
        Some(text) => toml::set_text(table, key, text),
        None => {
            table.remove(key);
        }
    };
    text("name", Some(&locked.name));
    text("url", Some(locked.url.secret()));
    text("wanted", locked.wanted.as_deref());
    text("rev", Some(&locked.rev));
    text("commit_date", locked.commit_date.as_deref());
    match locked.size.and_then(|size| i64::try_from(size).ok()) {
        Some(size) => {
            table.insert("size", value(size));
        }
        None => {
            table.remove("size");
        }
    }
    toml::set_text(table, "source_hash", &locked.source_hash.to_string());
    toml::set_text(table, "tree_hash", &locked.tree_hash.to_string());
    if locked.all_submodules {
        toml::set_text(table, "submodules", "all");
    } else {
        table.remove("submodules");
    }
    let mut patches = ArrayOfTables::new();
    for patch in &locked.patches {
        let mut inner = Table::new();
        inner.insert("file", value(&patch.file));
        inner.insert("sha256", value(&patch.sha256));
        patches.push(inner);
    }
    let mut submodules = ArrayOfTables::new();
    for submodule in &locked.submodules {
        let mut inner = Table::new();
        inner.insert("path", value(&submodule.path));
        inner.insert("url", value(submodule.url.secret()));
        inner.insert("rev", value(&submodule.rev));
        inner.insert("source_hash", value(submodule.source_hash.to_string()));
        submodules.push(inner);
    }
    for (key, tables) in [("patch", patches), ("submodule", submodules)] {
        table.remove(key);
        if !tables.is_empty() {
            table.insert(key, Item::ArrayOfTables(tables));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Lock, Wrong> {
        Lock::parse(SourceFile::new(PATH, text))
    }

    fn example(name: &str) -> Locked {
        Locked {
            name: name.to_owned(),
            url: Url::parse("https://h/a").unwrap(),
            wanted: Some("branch main".to_owned()),
            rev: "a".repeat(40),
            commit_date: Some("2026-01-02T03:04:05Z".to_owned()),
            size: Some(7),
            source_hash: NarHash::new([1; 32]),
            tree_hash: NarHash::new([0xab; 32]),
            patches: vec![LockedPatch {
                file: "1.patch".to_owned(),
                sha256: "0".repeat(64),
            }],
            all_submodules: true,
            submodules: vec![LockedSubmodule {
                path: "sub/x".to_owned(),
                url: Url::parse("https://h/x").unwrap(),
                rev: "b".repeat(40),
                source_hash: NarHash::new([3; 32]),
            }],
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        let empty = parse(EMPTY).unwrap();
        let (a, b) = (example("a"), example("b"));
        let text = empty.with(&[("a", Some(&a)), ("b", Some(&b))]).unwrap();
        let lock = parse(&text).unwrap();
        assert_eq!(lock.entries, [a.clone(), b]);
        assert_eq!(a.tree_name(), "a-aaaaaaaaaaaa-abababab");
        assert_eq!(lock.with(&[]).unwrap(), text);
        // Comments stay; what is no longer known goes.
        let commented = format!("# mine\n{text}").replace("size = 7", "size = 7 # bytes");
        let plain = Locked {
            wanted: None,
            patches: Vec::new(),
            ..a
        };
        let changed = parse(&commented)
            .unwrap()
            .with(&[("a", Some(&plain)), ("b", None)])
            .unwrap();
        assert!(changed.starts_with("# mine\n"), "{changed}");
        assert_eq!(parse(&changed).unwrap().entries, [plain]);
    }

    #[test]
    fn each_mistake_is_told_with_its_place() {
        let text = parse(EMPTY)
            .unwrap()
            .with(&[("a", Some(&example("a")))])
            .unwrap();
        let table = [
            ("version = 1", "version = 9", "version 9"),
            ("name = \"a\"", "name = \"a/b\"", "no name"),
            ("rev = \"a", "rev = \"A", "a revision is"),
            (
                "tree_hash = \"sha256-",
                "tree_hash = \"sha512-",
                "44 characters",
            ),
            ("size = 7", "size = -7", "a whole number"),
            ("size = 7", "sise = 7", "unknown field `sise`"),
            ("submodules = \"all\"", "submodules = \"no\"", "or absent"),
            ("path = \"sub/x\"", "path = \"../x\"", "no path inside"),
            (
                "file = \"1.patch\"",
                "file = \"../1.patch\"",
                "no file name",
            ),
            ("sha256 = \"0", "sha256 = \"", "64 digits"),
            ("https://h/x", "ext::x", "would run a program"),
            ("version = 1", "version = 1\n=======", "conflict marker"),
        ];
        for (from, to, want) in table {
            assert!(text.contains(from), "{from}");
            let wrong = parse(&text.replacen(from, to, 1)).unwrap_err();
            assert!(wrong.message.contains(want), "{to}: {}", wrong.message);
            assert_eq!(wrong.code, "deps::lock");
        }
    }

    #[test]
    fn a_lock_that_the_manifest_left_behind_is_noticed() {
        let locked = example("a");
        let entry = Entry {
            name: "a".to_owned(),
            url: Url::parse("https://h/a").unwrap(),
            wanted: Wanted::Branch("main".to_owned()),
            submodules: Submodules::All,
            patches: vec!["1.patch".to_owned()],
            licence: None,
            python: Vec::new(),
            frameworks: Vec::new(),
            backend: None,
        };
        let patches = [Patch {
            file: "1.patch".to_owned(),
            sha256: "0".repeat(64),
            bytes: Vec::new(),
        }];
        assert_eq!(locked.outdated(&entry, &patches), None);
        assert!(locked.outdated(&entry, &[]).is_some());
        let change = |change: fn(&mut Entry)| {
            let mut entry = entry.clone();
            change(&mut entry);
            locked.outdated(&entry, &patches)
        };
        assert!(change(|entry| entry.wanted = Wanted::Branch("next".to_owned())).is_some());
        assert!(change(|entry| entry.wanted = Wanted::Rev("c".repeat(40))).is_some());
        assert!(change(|entry| entry.wanted = Wanted::Rev("a".repeat(40))).is_none());
        assert!(change(|entry| entry.submodules = Submodules::None).is_some());
        assert!(
            change(|entry| entry.submodules = Submodules::Only(vec!["y".to_owned()])).is_some()
        );
        assert!(change(|entry| entry.url = Url::parse("https://h/b").unwrap()).is_some());
    }
}
