//! Where text comes from: files named by globs, JSON lines, and the Rust code
//! of this workspace's packages. Listing is apart from loading, so that a
//! corpus whose tokens are in the cache is hashed but never held in memory.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cairn_base::files;
use cairn_base::hash::Fingerprint;

use super::settings::{CARGO_REGISTRY, Settings, SourceKind};
use super::split::Item;
use super::{DataError, settings};

mod jsonl;
mod registry;

/// One file of the corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Where it is.
    pub path: PathBuf,
    /// The crate it belongs to, for `cargo-registry`.
    pub group: Option<String>,
}

/// One document: what an end-of-text token ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The crate it belongs to, for `cargo-registry`.
    pub group: Option<String>,
    /// Never empty.
    pub text: String,
}

impl Document {
    /// What splitting needs to know.
    #[must_use]
    pub fn item(&self) -> Item<'_> {
        Item {
            group: self.group.as_deref(),
            size: self.text.len() as u64,
        }
    }
}

/// The files of a `text` or `jsonl` corpus in their fixed order, each once.
///
/// # Errors
/// A pattern that is no glob or matches nothing; packages that cannot be listed.
pub fn list(settings: &Settings) -> Result<Vec<Input>, DataError> {
    let mut inputs = Vec::new();
    let mut seen = BTreeSet::new();
    for pattern in &settings.paths {
        if pattern == CARGO_REGISTRY && settings.source == settings::SourceKind::Text {
            inputs.extend(registry::list(settings.workspace_root.as_deref())?);
            continue;
        }
        for path in expand(pattern)? {
            if seen.insert(path.clone()) {
                inputs.push(Input { path, group: None });
            }
        }
    }
    Ok(inputs)
}

/// The files a pattern names, in the order of their names.
///
/// # Errors
/// A pattern that is no glob, a folder that cannot be read, no match at all.
pub fn expand(pattern: &str) -> Result<Vec<PathBuf>, DataError> {
    if !pattern.contains(['*', '?', '[']) {
        let path = PathBuf::from(pattern);
        files::open(&path)?;
        return Ok(vec![path]);
    }
    let matches = glob::glob(pattern).map_err(|error| DataError::BadGlob {
        pattern: pattern.to_owned(),
        reason: error.to_string(),
    })?;
    let mut paths = Vec::new();
    for path in matches {
        let path = path.map_err(|error| {
            let path = error.path().to_path_buf();
            cairn_base::FileError::new("read", path, error.into())
        })?;
        if !path.is_dir() {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() {
        return Err(DataError::NoMatch {
            pattern: pattern.to_owned(),
        });
    }
    Ok(paths)
}

/// Adds to a fingerprint all that decides the documents: kind, contents,
/// groups and order, but not where the files are.
///
/// # Errors
/// A file that cannot be read.
pub fn fingerprint(
    settings: &Settings,
    inputs: &[Input],
    print: &mut Fingerprint,
) -> Result<(), DataError> {
    match settings.source {
        SourceKind::Jsonl => print.part("jsonl").part(&settings.text_key),
        _ => print.part("text"),
    };
    for input in inputs {
        print.part(input.group.as_deref().unwrap_or(""));
        print.part(cairn_base::hash::blake3_file(&input.path)?);
    }
    Ok(())
}

/// The documents of these files, in order; empty ones are left out.
///
/// # Errors
/// A file that cannot be read or is not what the source says; no text at all.
pub fn load(settings: &Settings, inputs: &[Input]) -> Result<Vec<Document>, DataError> {
    let mut documents = Vec::new();
    for input in inputs {
        if settings.source == SourceKind::Jsonl {
            jsonl::load(&input.path, &settings.text_key, &mut documents)?;
        } else {
            documents.push(Document {
                group: input.group.clone(),
                text: files::read_text(&input.path)?,
            });
        }
    }
    documents.retain(|document| !document.text.is_empty());
    if documents.is_empty() {
        return Err(DataError::EmptyCorpus {
            files: inputs.len(),
        });
    }
    Ok(documents)
}

/// A path without what tells machines apart, for reports.
#[must_use]
pub fn short_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dataset::tests::settings;

    fn folder(names: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in names {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        dir
    }

    fn listed(dir: &tempfile::TempDir, patterns: &[&str]) -> Result<Vec<String>, DataError> {
        let mut settings = settings();
        settings.paths = patterns
            .iter()
            .map(|p| format!("{}/{p}", dir.path().display()))
            .collect();
        Ok(list(&settings)?
            .iter()
            .map(|input| short_name(&input.path))
            .collect())
    }

    #[test]
    fn globs_are_sorted_and_each_file_comes_once() {
        let dir = folder(&[
            ("b.txt", "b"),
            ("a.txt", "a"),
            ("sub/c.txt", "c"),
            ("d.md", "d"),
        ]);
        assert_eq!(listed(&dir, &["*.txt"]).unwrap(), ["a.txt", "b.txt"]);
        assert_eq!(
            listed(&dir, &["b.txt", "**/*.txt"]).unwrap(),
            ["b.txt", "a.txt", "c.txt"]
        );
    }

    #[test]
    fn wrong_patterns_are_told_apart() {
        let dir = folder(&[("a.txt", "a"), ("bad.txt", "")]);
        assert_eq!(listed(&dir, &["[a"]).unwrap_err().code(), "data::bad-glob");
        assert_eq!(listed(&dir, &["a**"]).unwrap_err().code(), "data::bad-glob");
        assert_eq!(
            listed(&dir, &["*.rs"]).unwrap_err().code(),
            "data::no-match"
        );
        assert_eq!(
            listed(&dir, &["none.txt"]).unwrap_err().diagnostic().code,
            "file::not-found"
        );
        assert!(
            listed(&dir, &["."])
                .unwrap_err()
                .to_string()
                .contains("folder")
        );
    }

    #[test]
    fn empty_and_foreign_files_are_refused() {
        let dir = folder(&[("a.txt", ""), ("b.txt", "")]);
        let inputs = |name: &str| {
            vec![Input {
                path: dir.path().join(name),
                group: None,
            }]
        };
        let empty = load(&settings(), &[inputs("a.txt"), inputs("b.txt")].concat()).unwrap_err();
        assert_eq!(
            empty.to_string(),
            "the corpus is empty: no text in 2 file(s)"
        );
        std::fs::write(dir.path().join("c"), [b'a', 0xff]).unwrap();
        let foreign = load(&settings(), &inputs("c")).unwrap_err();
        assert!(
            foreign.to_string().ends_with("not UTF-8 text (byte 1)"),
            "{foreign}"
        );
    }

    #[test]
    fn the_fingerprint_follows_content_and_order_not_place() {
        let of = |dir: &tempfile::TempDir, names: &[&str]| {
            let inputs: Vec<_> = names
                .iter()
                .map(|name| Input {
                    path: dir.path().join(name),
                    group: None,
                })
                .collect();
            let mut print = Fingerprint::new();
            fingerprint(&settings(), &inputs, &mut print).unwrap();
            print.finish()
        };
        let one = folder(&[("a", "text"), ("b", "more")]);
        let two = folder(&[("x", "text"), ("y", "more"), ("z", "mor")]);
        assert_eq!(of(&one, &["a", "b"]), of(&two, &["x", "y"]));
        assert_ne!(of(&one, &["a", "b"]), of(&one, &["b", "a"]));
        assert_ne!(of(&two, &["x", "y"]), of(&two, &["x", "z"]));
    }
}
