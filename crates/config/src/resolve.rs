//! From an experiment file to a [`Resolved`]: the pipeline in order.

use std::io;
use std::path::{Path, PathBuf};

use cairn_base::Diagnostic;

use crate::resolved::Resolved;

/// Reads files for the pipeline, which touches none itself.
pub trait Files {
    /// The bytes of a file.
    ///
    /// # Errors
    /// Whatever the system says; `NotFound` means there is none.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// The names in a directory, for suggestions; empty when unreadable.
    fn list(&self, directory: &Path) -> Vec<String>;
}

/// Reads environment variables for the pipeline.
pub trait Env {
    /// The value of a variable, `None` when unset.
    fn get(&self, name: &str) -> Option<String>;
}

/// What resolving depends on besides the experiment file.
pub struct Options<'a> {
    /// Where files come from.
    pub files: &'a dyn Files,
    /// Where variables come from.
    pub env: &'a dyn Env,
    /// Preset roots in order of search, see [`crate::preset_roots`].
    pub roots: &'a [PathBuf],
    /// Override tokens as typed.
    pub overrides: &'a [String],
    /// The module to run: `pre_trainer` or `post_trainer`.
    pub module: &'a str,
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("roots", &self.roots)
            .field("overrides", &self.overrides)
            .field("module", &self.module)
            .finish_non_exhaustive()
    }
}

/// Resolves the experiment at `path`. `None` comes with at least one error;
/// warnings and notes may come with either.
#[must_use]
pub fn resolve(path: &Path, options: &Options<'_>) -> (Option<Resolved>, Vec<Diagnostic>) {
    let _ = (path, options);
    (
        None,
        vec![Diagnostic::error(
            "config::unfinished",
            "resolving experiments is being written",
        )],
    )
}

/// Preset roots in order of search: `--configs` directories, those of the
/// variable `CAIRN_CONFIGS` (separated like `PATH`), the project's `configs`.
#[must_use]
pub fn preset_roots(arguments: &[PathBuf], env: &dyn Env, project: Option<&Path>) -> Vec<PathBuf> {
    let mut roots = arguments.to_vec();
    if let Some(list) = env.get("CAIRN_CONFIGS") {
        roots.extend(std::env::split_paths(&list).filter(|path| !path.as_os_str().is_empty()));
    }
    roots.extend(project.map(|path| path.join("configs")));
    roots
}
