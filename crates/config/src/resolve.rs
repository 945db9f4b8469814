//! From an experiment file to a [`Resolved`]: the pipeline in order.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_base::{Diagnostic, Severity, nearest};

use crate::load::Loader;
use crate::native::{self, ExperimentMeta};
use crate::resolved::{Module, Resolved};
use crate::value::{Map, Origin, Value, Via};
use crate::yaml::scalar;
use crate::{environment, merge, module, overrides, platform, traps};

/// The framework that is Cairn's own engine.
pub const NATIVE: &str = "native";

/// Reads files for the pipeline, which touches none itself.
pub trait Files {
    /// The bytes of a file.
    ///
    /// # Errors
    /// Whatever the system says; `NotFound` means there is none.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// True when there is a file at the path.
    fn exists(&self, path: &Path) -> bool;

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
    let mut loader = Loader::new(options.files, options.env, options.roots);
    let resolved = run(path, options, &mut loader);
    let diagnostics = loader.diagnostics;
    let failed = diagnostics.iter().any(Diagnostic::is_error);
    (resolved.filter(|_| !failed), diagnostics)
}

/// The pipeline. It goes on after an error as far as the next stage can say
/// something of its own.
fn run(path: &Path, options: &Options<'_>, loader: &mut Loader<'_>) -> Option<Resolved> {
    let overrides = overrides::parse(options.overrides, &mut loader.diagnostics);
    let mut experiment = loader.load(path)?;
    let file = Arc::clone(&experiment.origin.source);
    let origin = experiment.origin.clone();
    let map = experiment.as_map_mut()?;
    if overrides.experiment.contains_key("platform") && !map.contains_key("platform") {
        map.insert("platform".to_owned(), platform::default_platform());
    }
    merge::merge_maps(map, overrides.experiment);
    unknown_keys(map, &mut loader.diagnostics);
    let names = Names::take(map, &origin, &mut loader.diagnostics);
    let platform = map
        .get("platform")
        .cloned()
        .unwrap_or_else(platform::default_platform);
    let platform = platform::assemble(loader, &platform);
    let env = environment::assemble(
        map.shift_remove("env"),
        options.env,
        &mut loader.diagnostics,
    );
    let modules = modules(loader, map, &origin);
    let mut modules = modules?;
    let selected = select(loader, &modules, options.module, &origin)?;
    apply(loader, modules.get_mut(selected)?, overrides.params);
    let (names, platform) = (names?, platform?);
    let mut resolved = Resolved {
        file,
        sources: std::mem::take(&mut loader.sources),
        work_group: names.work_group,
        user_name: names.user_name,
        exp_name: names.exp_name,
        workspace: names.workspace,
        platform,
        env,
        modules,
        selected,
    };
    if resolved
        .module()
        .is_some_and(|module| module.framework_name() == NATIVE)
    {
        // Where Cairn itself writes, a name does not choose another place.
        for diagnostic in &mut loader.diagnostics {
            if diagnostic.code == RUN_DIR_ESCAPE {
                diagnostic.severity = Severity::Error;
            }
        }
    }
    check(&mut resolved, &mut loader.diagnostics);
    Some(resolved)
}

/// A name that is a path to elsewhere: a warning for frameworks that allow it.
const RUN_DIR_ESCAPE: &str = "config::run-dir-escape";

/// The four texts that name a run.
struct Names {
    work_group: Value,
    user_name: Value,
    exp_name: Value,
    workspace: Value,
}

impl Names {
    /// Takes them out of the experiment; all that is wrong is reported.
    fn take(map: &mut Map, origin: &Origin, diagnostics: &mut Vec<Diagnostic>) -> Option<Self> {
        let mut text = |key: &str| {
            let Some(value) = map.shift_remove(key) else {
                let error = Diagnostic::error(
                    "config::missing-key",
                    format!("the experiment lacks `{key}`"),
                );
                diagnostics.push(
                    at_start(origin, error)
                        .hint(format!("add a line `{key}: ...` at the top of the file")),
                );
                return None;
            };
            if value.as_str().is_none_or(str::is_empty) {
                let message = match value.as_str() {
                    Some(_) => format!("`{key}` is empty"),
                    None => format!(
                        "`{key}` must be text, and this is read as {}",
                        value.described()
                    ),
                };
                let empty = value.as_str().is_some();
                let hint = match value.origin.via {
                    _ if empty => "give it a text, such as `run-1`",
                    Via::Environment => {
                        "give it a text that is no number or truth value, such as `run-1`"
                    }
                    _ => "put it in quotes",
                };
                diagnostics.push(
                    value
                        .origin
                        .mark(Diagnostic::error("config::wrong-type", message), "")
                        .hint(hint),
                );
                return None;
            }
            if key != "workspace" && value.as_str().is_some_and(leaves_workspace) {
                let warning = Diagnostic::warning(
                    RUN_DIR_ESCAPE,
                    format!("`{key}` leads out of the workspace"),
                );
                diagnostics.push(
                    value
                        .origin
                        .mark(warning, "")
                        .hint("set `workspace` to put runs elsewhere"),
                );
            }
            Some(value)
        };
        let (work_group, user_name) = (text("work_group"), text("user_name"));
        let (exp_name, workspace) = (text("exp_name"), text("workspace"));
        Some(Self {
            work_group: work_group?,
            user_name: user_name?,
            exp_name: exp_name?,
            workspace: workspace?,
        })
    }
}

/// True when a part of a run directory's path is absolute or climbs.
fn leaves_workspace(part: &str) -> bool {
    part.starts_with('/') || part.split('/').any(|piece| piece == "..")
}

/// Marks the start of a file, where a key is missing as a whole.
fn at_start(origin: &Origin, diagnostic: Diagnostic) -> Diagnostic {
    let first = origin.source.text.lines().next().map_or(0, str::len);
    diagnostic.at(&origin.source, 0..first, "")
}

/// Warns of top-level keys that mean nothing.
fn unknown_keys(map: &Map, diagnostics: &mut Vec<Diagnostic>) {
    let known = || overrides::EXPERIMENT_KEYS.into_iter().chain(["modules"]);
    for (key, value) in map
        .iter()
        .filter(|(key, _)| !known().any(|name| name == key.as_str()))
    {
        let warning = Diagnostic::warning(
            "config::unknown-key",
            format!(
                "`{}` is no key of an experiment and has no effect",
                scalar::shorten(key)
            ),
        );
        let range = value
            .key
            .clone()
            .unwrap_or_else(|| value.origin.range.clone());
        let hint = match nearest(key, known()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("known keys: {}", known().collect::<Vec<_>>().join(", ")),
        };
        diagnostics.push(warning.at(&value.origin.source, range, "").hint(hint));
    }
}

/// Assembles every module; `None` when one of them failed.
fn modules(loader: &mut Loader<'_>, map: &Map, origin: &Origin) -> Option<Vec<Module>> {
    let Some(modules) = map.get("modules") else {
        let error = Diagnostic::error("config::missing-key", "the experiment lacks `modules`");
        loader.push(at_start(origin, error).hint("add `modules:` with a `pre_trainer:` below it"));
        return None;
    };
    let Some(entries) = modules.as_map() else {
        loader.push(module::not_a_mapping("modules", modules));
        return None;
    };
    // All modules are assembled even when one fails: their errors show at once.
    let assembled: Vec<Option<Module>> = entries
        .iter()
        .map(|(name, value)| module::assemble(loader, name, value))
        .collect();
    if assembled.is_empty() {
        let error = Diagnostic::error("config::missing-key", "`modules` is empty");
        loader.push(
            modules
                .origin
                .mark(error, "")
                .hint("add a `pre_trainer:` below it"),
        );
        return None;
    }
    assembled.into_iter().collect()
}

/// The position of the module to run: the one asked for, or the only one.
fn select(
    loader: &mut Loader<'_>,
    modules: &[Module],
    wanted: &str,
    origin: &Origin,
) -> Option<usize> {
    let found = modules.iter().position(|module| module.name == wanted);
    if found.is_some() {
        return found;
    }
    if modules.len() == 1 {
        return Some(0);
    }
    let names: Vec<&str> = modules.iter().map(|module| module.name.as_str()).collect();
    let error = Diagnostic::error(
        "config::unknown-module",
        format!("the experiment has no module `{wanted}`"),
    );
    loader.push(at_start(origin, error).hint(format!("it has {}", names.join(", "))));
    None
}

/// Merges the overrides of the command line into a module's params.
fn apply(loader: &mut Loader<'_>, module: &mut Module, overrides: Map) {
    let name = module.name.clone();
    let foreign = module.framework_name() != NATIVE;
    let Some(params) = module.params.as_map_mut() else {
        return;
    };
    if let Some(model) = overrides
        .get("model")
        .filter(|model| model.as_str().is_some())
    {
        let warning = Diagnostic::warning(
            "config::model-override",
            "this changes the parameter `model`, not the model preset",
        );
        loader.push(
            model
                .origin
                .mark(warning, "")
                .hint(format!("set `modules.{name}.model` in the experiment")),
        );
    }
    if let Some(modules) = overrides.get("modules") {
        let warning = Diagnostic::warning(
            "config::unknown-override",
            format!("overrides address the params of `{name}`: this sets a parameter `modules`"),
        );
        loader.push(
            modules
                .origin
                .mark(warning, "")
                .hint("leave the prefix out: `seed=1`"),
        );
    }
    if foreign {
        traps::unknown_overrides("", &overrides, params, &mut loader.diagnostics);
    }
    merge::merge_maps(params, overrides);
}

/// Checks each module by what its framework knows: the native one against its
/// schema, any other for values that are not what they seem.
fn check(resolved: &mut Resolved, diagnostics: &mut Vec<Diagnostic>) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let meta = ExperimentMeta {
        work_group: text(&resolved.work_group),
        user_name: text(&resolved.user_name),
        exp_name: text(&resolved.exp_name),
        workspace: text(&resolved.workspace),
        run_dir: resolved.root_path(),
        world_size: 1,
    };
    for module in &mut resolved.modules {
        if module.framework_name() == NATIVE {
            module.native = native::check(&module.params, meta.clone(), diagnostics).map(Arc::new);
        } else {
            traps::params(&module.params, diagnostics);
        }
    }
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
