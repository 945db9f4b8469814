//! `third_party/third_party.toml`: which projects are wanted, at which revision,
//! with which patches, and who uses them. Edited by people; commands that
//! change it keep comments and order.

use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::sync::Arc;

use cairn_base::{SourceFile, files};
use toml_edit::{Array, ArrayOfTables, Item, Table, value};

use crate::error::DepsError;
use crate::toml::{self, Fields, Kind, OneOrMore, Placed, Wrong};
use crate::url::Url;

/// Its place in a checkout.
pub const PATH: &str = "third_party/third_party.toml";

const KIND: Kind = Kind {
    code: "deps::manifest",
    version: 1,
    repair: "resolve the conflict, then run `cargo xtask deps lock` for the projects it touched",
};

/// What is wanted.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The projects, in the order of the file.
    pub entries: Vec<Entry>,
    source: Arc<SourceFile>,
}

/// A project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name: that of its link in the cache and of its folder in a checkout.
    pub name: String,
    /// Where it comes from.
    pub url: Url,
    /// What is wanted of it.
    pub wanted: Wanted,
    /// Which submodules come with it.
    pub submodules: Submodules,
    /// File names in `third_party/patches/<name>/`, in the order they apply.
    pub patches: Vec<String>,
    /// Its licence as an SPDX expression, where known.
    pub licence: Option<String>,
    /// Folders of it that go onto Python's path.
    pub python: Vec<String>,
    /// Frameworks whose runs use it.
    pub frameworks: Vec<String>,
    /// The framework it is the source tree of.
    pub backend: Option<String>,
}

/// What is wanted of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// This revision.
    Rev(String),
    /// What this tag points to.
    Tag(String),
    /// The newest revision of this branch, as of when it was locked.
    Branch(String),
}

impl Wanted {
    /// Such as `tag v1`, for people and for the lock.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Rev(rev) => format!("rev {rev}"),
            Self::Tag(tag) => format!("tag {tag}"),
            Self::Branch(branch) => format!("branch {branch}"),
        }
    }
}

/// Which submodules come with a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Submodules {
    /// None: their folders stay empty.
    None,
    /// All, and theirs.
    All,
    /// Those at these paths.
    Only(Vec<String>),
}

impl Submodules {
    /// True when the submodule at this path comes along.
    #[must_use]
    pub fn takes(&self, path: &str) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Only(paths) => paths.iter().any(|known| known == path),
        }
    }
}

impl Manifest {
    /// Reads the manifest of a checkout.
    ///
    /// # Errors
    /// When it cannot be read or is wrong.
    pub fn read(project: &Path) -> Result<Self, DepsError> {
        let text = files::read_text(&project.join(PATH))?;
        Ok(Self::parse(SourceFile::new(PATH, text))?)
    }

    /// Reads a manifest from text.
    ///
    /// # Errors
    /// The first mistake, with its place.
    pub fn parse(source: Arc<SourceFile>) -> Result<Self, Wrong> {
        let document = toml::parse(KIND, &source)?;
        let mut entries: Vec<Entry> = Vec::new();
        let mut names = BTreeMap::new();
        for table in toml::entries(KIND, &source, &document)? {
            let mut fields = Fields::new(KIND, &source, table);
            let name = fields.needed("name")?;
            check_name(&fields, &name)?;
            // Folders of names that differ in case only are one on some systems.
            if let Some(other) = names.insert(name.value.to_lowercase(), name.value.clone()) {
                let message = format!("`{}` is there twice (as `{other}`)", name.value);
                return Err(fields.wrong(name.range, message));
            }
            let entry = entry(&mut fields, name.value)?;
            if let Some(backend) = &entry.backend
                && let Some(other) = entries.iter().find(|other| other.backend == entry.backend)
            {
                let message = format!(
                    "`{backend}` has two backends: {} and {}",
                    other.name, entry.name
                );
                return Err(fields.wrong(fields.place(), message));
            }
            fields.finish()?;
            entries.push(entry);
        }
        Ok(Self { entries, source })
    }

    /// The project with this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn get(&self, name: &str) -> Result<&Entry, DepsError> {
        let found = self.entries.iter().find(|entry| entry.name == name);
        found.ok_or_else(|| DepsError::UnknownName {
            name: name.to_owned(),
            known: self
                .entries
                .iter()
                .map(|entry| entry.name.clone())
                .collect(),
        })
    }

    /// The project with this name, or the one that is this framework's source.
    ///
    /// # Errors
    /// When there is neither.
    pub fn get_or_backend(&self, name: &str) -> Result<&Entry, DepsError> {
        self.backend(name).map_or_else(|| self.get(name), Ok)
    }

    /// The source tree of a framework.
    #[must_use]
    pub fn backend(&self, framework: &str) -> Option<&Entry> {
        self.entries
            .iter()
            .find(|entry| entry.backend.as_deref() == Some(framework))
    }

    /// Everything a run of this framework uses: its own tree first.
    #[must_use]
    pub fn used_by(&self, framework: &str) -> Vec<&Entry> {
        let backend = self.backend(framework);
        let companions = self.entries.iter().filter(|entry| {
            entry.backend.as_deref() != Some(framework)
                && entry.frameworks.iter().any(|name| name == framework)
        });
        backend.into_iter().chain(companions).collect()
    }

    /// The text with another project at its end.
    ///
    /// # Errors
    /// When the name is taken or the result would be wrong.
    pub fn with(&self, entry: &Entry) -> Result<String, DepsError> {
        let mut document = toml::edit(KIND, &self.source)?;
        let mut table = Table::new();
        table.insert("name", value(&entry.name));
        table.insert("url", value(entry.url.secret()));
        let (key, text) = wanted_field(&entry.wanted);
        table.insert(key, value(text));
        match &entry.submodules {
            Submodules::None => {}
            Submodules::All => {
                table.insert("submodules", value("all"));
            }
            Submodules::Only(paths) => {
                table.insert("submodules", value(paths.iter().collect::<Array>()));
            }
        }
        if let Some(licence) = &entry.licence {
            table.insert("licence", value(licence));
        }
        for (key, texts) in [("python", &entry.python), ("frameworks", &entry.frameworks)] {
            if !texts.is_empty() {
                table.insert(key, value(texts.iter().collect::<Array>()));
            }
        }
        let list = document
            .entry("entry")
            .or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        if let Some(tables) = list.as_array_of_tables_mut() {
            table.decor_mut().set_prefix("\n");
            tables.push(table);
        }
        self.checked(document.to_string())
    }

    /// The text without a project.
    ///
    /// # Errors
    /// When there is no such project.
    pub fn without(&self, name: &str) -> Result<String, DepsError> {
        self.get(name)?;
        let mut document = toml::edit(KIND, &self.source)?;
        if let Some(tables) = document
            .get_mut("entry")
            .and_then(Item::as_array_of_tables_mut)
        {
            tables.retain(|table| table.get("name").and_then(Item::as_str) != Some(name));
        }
        self.checked(document.to_string())
    }

    /// The text with something else wanted of a project.
    ///
    /// # Errors
    /// When there is no such project.
    pub fn wanting(&self, name: &str, wanted: &Wanted) -> Result<String, DepsError> {
        self.get(name)?;
        let mut document = toml::edit(KIND, &self.source)?;
        let (key, text) = wanted_field(wanted);
        let tables = document
            .get_mut("entry")
            .and_then(Item::as_array_of_tables_mut);
        for table in tables.into_iter().flat_map(ArrayOfTables::iter_mut) {
            if table.get("name").and_then(Item::as_str) == Some(name) {
                for other in ["rev", "tag", "branch"] {
                    if other != key {
                        table.remove(other);
                    }
                }
                toml::set_text(table, key, text);
            }
        }
        self.checked(document.to_string())
    }

    /// An edited text that reads back.
    fn checked(&self, text: String) -> Result<String, DepsError> {
        Self::parse(SourceFile::new(self.source.name.clone(), text.clone()))?;
        Ok(text)
    }
}

fn wanted_field(wanted: &Wanted) -> (&'static str, &str) {
    match wanted {
        Wanted::Rev(rev) => ("rev", rev),
        Wanted::Tag(tag) => ("tag", tag),
        Wanted::Branch(branch) => ("branch", branch),
    }
}

fn entry(fields: &mut Fields<'_>, name: String) -> Result<Entry, Wrong> {
    let url = fields.needed("url")?;
    let url = Url::parse(&url.value)
        .map_err(|error| fields.wrong(url.range.clone(), error.to_string()))?;
    let wanted = wanted(fields)?;
    let submodules = submodules(fields)?;
    let mut patches = Vec::new();
    for patch in fields.texts("patches")? {
        let plain = is_plain_name(&patch.value) && patch.value.ends_with(".patch");
        if !plain || patches.contains(&patch.value) {
            let message =
                "a patch is the name of a `.patch` file in third_party/patches/<name>, listed once";
            return Err(fields.wrong(patch.range, message));
        }
        patches.push(patch.value);
    }
    let mut python = Vec::new();
    for root in fields.texts("python")? {
        if root.value != "." {
            check_path(fields, &root)?;
        }
        python.push(root.value);
    }
    let values = |texts: Vec<Placed<String>>| texts.into_iter().map(|text| text.value).collect();
    Ok(Entry {
        name,
        url,
        wanted,
        submodules,
        patches,
        licence: fields.text("licence")?.map(|licence| licence.value),
        python,
        frameworks: values(fields.texts("frameworks")?),
        backend: fields.text("backend")?.map(|backend| backend.value),
    })
}

fn wanted(fields: &mut Fields<'_>) -> Result<Wanted, Wrong> {
    let rev = fields.text("rev")?;
    let tag = fields.text("tag")?;
    let branch = fields.text("branch")?;
    match (rev, tag, branch) {
        (Some(rev), None, None) => {
            if !is_revision(&rev.value) {
                let message = "a revision is 40 (or 64) digits of lower-case hex";
                return Err(fields.wrong(rev.range, message));
            }
            Ok(Wanted::Rev(rev.value))
        }
        (None, Some(tag), None) => {
            check_reference(fields, &tag)?;
            Ok(Wanted::Tag(tag.value))
        }
        (None, None, Some(branch)) => {
            check_reference(fields, &branch)?;
            Ok(Wanted::Branch(branch.value))
        }
        _ => {
            let message = "one of `rev`, `tag` and `branch` is needed";
            Err(fields.wrong(fields.place(), message))
        }
    }
}

fn submodules(fields: &mut Fields<'_>) -> Result<Submodules, Wrong> {
    let Some(placed) = fields.text_or_texts("submodules")? else {
        return Ok(Submodules::None);
    };
    match placed.value {
        OneOrMore::One(word) if word == "none" => Ok(Submodules::None),
        OneOrMore::One(word) if word == "all" => Ok(Submodules::All),
        OneOrMore::One(_) => {
            let message = "`submodules` is \"none\", \"all\" or a list of paths";
            Err(fields.wrong(placed.range, message))
        }
        OneOrMore::More(paths) => {
            for path in &paths {
                let path = Placed {
                    value: path.clone(),
                    range: placed.range.clone(),
                };
                check_path(fields, &path)?;
            }
            Ok(Submodules::Only(paths))
        }
    }
}

/// A name becomes a file name: letters, digits, `.`, `_`, `-`.
pub(crate) fn is_plain_name(name: &str) -> bool {
    name.chars()
        .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// Full revisions only: an abbreviation could become ambiguous.
#[must_use]
pub fn is_revision(text: &str) -> bool {
    [40, 64].contains(&text.len())
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Tags and branches that git takes for nothing else.
#[must_use]
pub fn is_reference(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(['-', '/', '.', '+'])
        && !text.ends_with(['/', '.'])
        && !["..", "//", "@{", ".lock"]
            .iter()
            .any(|bad| text.contains(bad))
        && text
            .chars()
            .all(|c| !c.is_whitespace() && !c.is_control() && !"~^:?*[\\".contains(c))
}

/// A path inside a tree.
#[must_use]
pub fn is_inner_path(text: &str) -> bool {
    !text.is_empty()
        && !text.contains("//")
        && !text.ends_with('/')
        && Path::new(text).components().all(
            |part| matches!(part, Component::Normal(name) if !name.eq_ignore_ascii_case(".git")),
        )
}

fn check_name(fields: &Fields<'_>, name: &Placed<String>) -> Result<(), Wrong> {
    if is_plain_name(&name.value) {
        return Ok(());
    }
    let message = format!(
        "`{}` is no name: letters, digits, `.`, `_` and `-`",
        name.value
    );
    Err(fields.wrong(name.range.clone(), message))
}

fn check_reference(fields: &Fields<'_>, name: &Placed<String>) -> Result<(), Wrong> {
    if is_reference(&name.value) {
        return Ok(());
    }
    let message = format!("`{}` is no name of a tag or branch", name.value);
    Err(fields.wrong(name.range.clone(), message))
}

fn check_path(fields: &Fields<'_>, path: &Placed<String>) -> Result<(), Wrong> {
    if is_inner_path(&path.value) {
        return Ok(());
    }
    let message = format!("`{}` is no path inside the tree", path.value);
    Err(fields.wrong(path.range.clone(), message))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REV: &str = "0123456789abcdef0123456789abcdef01234567";

    fn parse(text: &str) -> Result<Manifest, Wrong> {
        Manifest::parse(SourceFile::new(PATH, text))
    }

    fn one(fields: &str) -> String {
        format!("version = 1\n\n[[entry]]\nname = \"a\"\nurl = \"https://h/a\"\n{fields}\n")
    }

    #[test]
    fn every_field_is_read() {
        let text = one(&format!(
            "rev = \"{REV}\"\nsubmodules = [\"b/c\"]\npatches = [\"1.patch\"]\nlicence = \"MIT\"\n\
             python = [\".\", \"src\"]\nframeworks = [\"f\", \"g\"]\nbackend = \"f\""
        ));
        let manifest = parse(&text).unwrap();
        let entry = manifest.get("a").unwrap();
        assert_eq!(entry.wanted, Wanted::Rev(REV.to_owned()));
        assert_eq!(entry.submodules, Submodules::Only(vec!["b/c".to_owned()]));
        assert_eq!(entry.patches, ["1.patch"]);
        assert_eq!(entry.licence.as_deref(), Some("MIT"));
        assert_eq!(entry.python, [".", "src"]);
        assert_eq!(manifest.get_or_backend("f").unwrap().name, "a");
        assert_eq!(manifest.used_by("g").len(), 1);
        assert!(manifest.get("b").is_err());
    }

    #[test]
    fn each_mistake_is_told_with_its_place() {
        let rev = format!("rev = \"{REV}\"");
        let with = |field: &str| one(&format!("{rev}\n{field}"));
        let table = [
            ("version = 2".to_owned(), "version 2"),
            (String::new(), "no `version`"),
            ("version = 1\nentri = 1".to_owned(), "unknown field `entri`"),
            ("version = 1\nentry = 1".to_owned(), "a list of tables"),
            ("version = 1\n<<<<<<< ours".to_owned(), "conflict marker"),
            ("version = ".to_owned(), "string values must be quoted"),
            (with("sub = 1"), "unknown field `sub`"),
            (with("submodules = \"some\""), "\"none\", \"all\" or a list"),
            (with("submodules = [\"../x\"]"), "no path inside"),
            (with("submodules = 1"), "a list of texts"),
            (with("patches = [\"../x.patch\"]"), "a patch is"),
            (with("patches = [\"x.patch\", \"x.patch\"]"), "listed once"),
            (with("python = [\"/x\"]"), "no path inside"),
            (with("tag = \"v1\""), "one of `rev`"),
            (one(""), "one of `rev`"),
            (one("rev = \"abc\""), "40 (or 64) digits"),
            (one("branch = \"-x\""), "no name of a tag or branch"),
            (one("tag = 1"), "is a text, not an integer"),
            (
                with("").replace("https://h/a", "ext::sh"),
                "would run a program",
            ),
            (
                with("").replace("https://h/a", "https://u:p@h/a"),
                "credentials",
            ),
            (
                with("").replace("name = \"a\"", "name = \"../a\""),
                "is no name",
            ),
            (with("").replace("name = \"a\"", ""), "`name` is missing"),
            (
                format!(
                    "{0}\n[[entry]]\nname = \"A\"\nurl = \"https://h/b\"\n{rev}\n",
                    with("")
                ),
                "twice",
            ),
        ];
        for (text, want) in table {
            let wrong = parse(&text).unwrap_err();
            assert!(wrong.message.contains(want), "{text}\n{}", wrong.message);
            assert_eq!(wrong.code, "deps::manifest");
            assert!(!wrong.labels.is_empty(), "{text}");
        }
    }

    #[test]
    fn edits_keep_comments_and_order() {
        let text = format!(
            "# On top.\nversion = 1\n\n# The first.\n[[entry]]\nname = \"a\" # its name\nurl = \"https://h/a\"\n\
             branch = \"main\" # for now\n\n[[entry]]\n# The second.\nname = \"b\"\nurl = \"https://h/b\"\nrev = \"{REV}\"\n"
        );
        let manifest = parse(&text).unwrap();
        let tagged = manifest.wanting("b", &Wanted::Rev("f".repeat(40))).unwrap();
        assert_eq!(tagged, text.replace(REV, &"f".repeat(40)));
        let other = manifest
            .wanting("a", &Wanted::Branch("next".to_owned()))
            .unwrap();
        assert_eq!(other, text.replace("\"main\"", "\"next\""));
        let entry = Entry {
            name: "c".to_owned(),
            ..manifest.entries[0].clone()
        };
        let added = manifest.with(&entry).unwrap();
        assert!(added.starts_with(&text), "{added}");
        assert_eq!(parse(&added).unwrap().entries.len(), 3);
        let removed = parse(&added).unwrap().without("c").unwrap();
        assert_eq!(removed.trim_end(), text.trim_end());
        assert!(manifest.with(&manifest.entries[0]).is_err());
        assert!(manifest.without("c").is_err());
    }
}
