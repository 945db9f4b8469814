//! Files and variables that live in memory, and shorthands for resolving.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use cairn_base::Diagnostic;
use cairn_config::{Env, Files, Options, Resolved, resolve};

/// A file tree and environment in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) files: BTreeMap<PathBuf, Vec<u8>>,
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) roots: Vec<PathBuf>,
}

impl Files for World {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.files
            .get(path)
            .cloned()
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn exists(&self, path: &Path) -> bool {
        self.files.contains_key(path)
    }

    fn list(&self, directory: &Path) -> Vec<String> {
        let directory = directory.strip_prefix(".").unwrap_or(directory);
        let name = |path: &PathBuf| Some(path.file_name()?.to_string_lossy().into_owned());
        self.files
            .keys()
            .filter(|path| path.parent() == Some(directory))
            .filter_map(name)
            .collect()
    }
}

impl Env for World {
    fn get(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }
}

impl World {
    /// Adds a file.
    pub(crate) fn file(mut self, path: &str, text: impl Into<Vec<u8>>) -> Self {
        self.files.insert(path.into(), text.into());
        self
    }

    /// Sets a variable.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Resolves `exp.yaml` with override tokens.
    pub(crate) fn resolve(&self, overrides: &[&str]) -> (Option<Resolved>, Vec<Diagnostic>) {
        let overrides: Vec<String> = overrides.iter().map(|token| (*token).to_owned()).collect();
        let options = Options {
            files: self,
            env: self,
            roots: &self.roots,
            overrides: &overrides,
            module: "pre_trainer",
        };
        resolve(Path::new("exp.yaml"), &options)
    }
}
