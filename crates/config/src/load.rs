//! A file with everything it `extends`, merged: the part of the pipeline that
//! experiments, presets and platforms share.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cairn_base::{Diagnostic, SourceFile, nearest};
use indexmap::IndexMap;

use crate::resolve::{Env, Files};
use crate::value::{Kind, Map, Value};
use crate::{merge, substitute, yaml};

/// How long a chain of `extends` may be.
const MAX_CHAIN: usize = 64;
/// Files that one experiment may load; a file counts each time.
const MAX_LOADS: usize = 512;

/// Loads files for one experiment.
pub(crate) struct Loader<'a> {
    files: &'a dyn Files,
    env: &'a dyn Env,
    roots: &'a [PathBuf],
    /// Errors, warnings and notes so far.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Every file read, in order, once.
    pub(crate) sources: Vec<Arc<SourceFile>>,
    /// Finished files by path: presets share bases.
    finished: IndexMap<PathBuf, Option<Value>>,
    loads: usize,
}

impl<'a> Loader<'a> {
    pub(crate) fn new(files: &'a dyn Files, env: &'a dyn Env, roots: &'a [PathBuf]) -> Self {
        Self {
            files,
            env,
            roots,
            diagnostics: Vec::new(),
            sources: Vec::new(),
            finished: IndexMap::new(),
            loads: 0,
        }
    }

    pub(crate) fn files(&self) -> &'a dyn Files {
        self.files
    }

    pub(crate) fn roots(&self) -> &'a [PathBuf] {
        self.roots
    }

    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// The merged mapping of a file; `None` comes with an error.
    pub(crate) fn load(&mut self, path: &Path) -> Option<Value> {
        self.load_chained(path, None, &mut Vec::new())
    }

    fn load_chained(
        &mut self,
        path: &Path,
        named_by: Option<&Value>,
        chain: &mut Vec<PathBuf>,
    ) -> Option<Value> {
        let path = normalize(path);
        self.loads += 1;
        if self.loads > MAX_LOADS {
            if self.loads == MAX_LOADS + 1 {
                let error = Diagnostic::error(
                    "config::too-many-files",
                    format!("`extends` loads more than {MAX_LOADS} files"),
                );
                self.push(
                    mark(error, named_by)
                        .hint("extend fewer files; each one counts every time it is named"),
                );
            }
            return None;
        }
        if let Some(at) = chain.iter().position(|open| *open == path) {
            let names: Vec<String> = chain[at..]
                .iter()
                .chain([&path])
                .map(|p| p.display().to_string())
                .collect();
            let error = Diagnostic::error(
                "config::extends-cycle",
                format!("`extends` goes in a circle: {}", names.join(" -> ")),
            );
            self.push(mark(error, named_by).hint("remove one of these `extends`"));
            return None;
        }
        if chain.len() >= MAX_CHAIN {
            let error = Diagnostic::error(
                "config::extends-cycle",
                format!("`extends` goes deeper than {MAX_CHAIN} files"),
            );
            self.push(mark(error, named_by).hint("merge some of the files"));
            return None;
        }
        if let Some(finished) = self.finished.get(&path) {
            return finished.clone();
        }
        chain.push(path.clone());
        let result = self.load_open(&path, named_by, chain);
        chain.pop();
        self.finished.insert(path, result.clone());
        result
    }

    /// Reads a file whose path is on the chain and merges it over its bases.
    fn load_open(
        &mut self,
        path: &Path,
        named_by: Option<&Value>,
        chain: &mut Vec<PathBuf>,
    ) -> Option<Value> {
        let bytes = self.read(path, named_by)?;
        let (source, value) = yaml::read(&path.display().to_string(), bytes, &mut self.diagnostics);
        self.sources.push(Arc::clone(&source));
        let mut value = value?;
        if value.is_null() {
            let error = Diagnostic::error(
                "config::empty-file",
                format!("{} is empty", source.name),
            )
            .at(&source, 0..0, "");
            self.push(error.hint("write at least one key, or remove the file"));
            return None;
        }
        let before = self.diagnostics.len();
        substitute::substitute(&mut value, self.env, &mut self.diagnostics);
        let failed = self.diagnostics[before..].iter().any(Diagnostic::is_error);
        let described = value.described();
        let Kind::Map(mut map) = value.kind else {
            let error = Diagnostic::error(
                "config::not-a-mapping",
                format!(
                    "{} holds {described} where a mapping is wanted",
                    source.name
                ),
            );
            self.push(
                value
                    .origin
                    .mark(error, "")
                    .hint("write `key: value` lines"),
            );
            return None;
        };
        let bases = map.shift_remove("extends");
        let merged = match bases {
            Some(bases) => self.extend(path, &bases, map, chain)?,
            None => map,
        };
        value.kind = Kind::Map(merged);
        (!failed).then_some(value)
    }

    /// Loads the bases in order, merges them and puts `own` on top. All of
    /// them are read even when one fails, so that all errors show at once.
    fn extend(
        &mut self,
        path: &Path,
        bases: &Value,
        own: Map,
        chain: &mut Vec<PathBuf>,
    ) -> Option<Map> {
        let entries = match &bases.kind {
            Kind::List(items) => items.iter().collect(),
            _ => vec![bases],
        };
        let directory = path.parent().unwrap_or(Path::new(""));
        let mut merged = Some(Map::new());
        for entry in entries {
            let Some(name) = entry.as_str() else {
                let message = format!(
                    "`extends` takes a file name or a list of them, not {}",
                    entry.described()
                );
                self.push(
                    entry
                        .origin
                        .mark(Diagnostic::error("config::bad-extends", message), "")
                        .hint("write `extends: base.yaml`, or remove the key"),
                );
                merged = None;
                continue;
            };
            let base = self.load_chained(&directory.join(name), Some(entry), chain);
            match (base.map(|value| value.kind), &mut merged) {
                (Some(Kind::Map(base)), Some(map)) => merge::merge_maps(map, base),
                _ => merged = None,
            }
        }
        let mut merged = merged?;
        merge::merge_maps(&mut merged, own);
        Some(merged)
    }

    /// The bytes of a file. A preset may extend one of another root: what is
    /// not beside it is looked for at the same place in the other roots.
    fn read(&mut self, path: &Path, named_by: Option<&Value>) -> Option<Vec<u8>> {
        let error = match self.files.read(path) {
            Ok(bytes) => return Some(bytes),
            Err(error) => error,
        };
        if error.kind() == ErrorKind::NotFound && named_by.is_some() {
            for root in self.roots.iter().map(|root| normalize(root)) {
                let Ok(inside) = path.strip_prefix(&root) else {
                    continue;
                };
                let elsewhere = self.roots.iter().map(|other| normalize(other).join(inside));
                for candidate in elsewhere.filter(|candidate| candidate != path) {
                    if let Ok(bytes) = self.files.read(&candidate) {
                        return Some(bytes);
                    }
                }
            }
        }
        let diagnostic = match error.kind() {
            ErrorKind::NotFound => {
                let error = Diagnostic::error(
                    "config::missing-file",
                    format!("there is no file {}", path.display()),
                );
                let known = self.files.list(
                    path.parent()
                        .filter(|p| !p.as_os_str().is_empty())
                        .unwrap_or(Path::new(".")),
                );
                let name = path
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned())
                    .unwrap_or_default();
                let hint = match nearest(&name, known.iter().map(String::as_str)) {
                    Some(found) => format!("did you mean {}?", path.with_file_name(found).display()),
                    None => "check the path; it is relative to the current directory, in `extends` to the file that names it".to_owned(),
                };
                mark(error, named_by).hint(hint)
            }
            ErrorKind::IsADirectory => {
                let error = Diagnostic::error(
                    "config::unreadable-file",
                    format!("{} is a directory", path.display()),
                );
                mark(error, named_by).hint("name a file in it")
            }
            _ => {
                let error = Diagnostic::error(
                    "config::unreadable-file",
                    format!("cannot read {}: {error}", path.display()),
                );
                mark(error, named_by).hint("check the file's permissions")
            }
        };
        self.push(diagnostic);
        None
    }
}

/// Marks the value that names a file, if one does.
fn mark(diagnostic: Diagnostic, named_by: Option<&Value>) -> Diagnostic {
    match named_by {
        Some(value) => value.origin.mark(diagnostic, "named here"),
        None => diagnostic,
    }
}

/// A path without `.` and with `..` taken back, by its text alone.
pub(crate) fn normalize(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => match out.components().next_back() {
                Some(Component::Normal(_)) => {
                    out.pop();
                }
                Some(Component::RootDir | Component::Prefix(_)) => {}
                _ => out.push(".."),
            },
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalized_by_text() {
        for (path, expected) in [
            ("a/./b/../c", "a/c"),
            ("../a", "../a"),
            ("a/../../b", "../b"),
            ("/../a", "/a"),
            ("./a", "a"),
            ("..", ".."),
        ] {
            assert_eq!(normalize(Path::new(path)), Path::new(expected), "{path}");
        }
    }
}
