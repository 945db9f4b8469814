//! The arguments that name an experiment, and its resolution.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cairn_base::Diagnostic;
use cairn_config::{Module, Options, Resolved, SystemEnv, SystemFiles, Value, preset_roots};
use cairn_launch::request::{Experiment, KeyOrigin};

use crate::context::{Context, Failure, Result};

/// The module that `train` and everything about training looks at.
pub(crate) const PRE_TRAINER: &str = "pre_trainer";
/// The module that `train posttrain` looks at.
pub(crate) const POST_TRAINER: &str = "post_trainer";

/// An experiment file, where its presets are, and what to change in it.
#[derive(Debug, clap::Args)]
pub(crate) struct ExperimentArgs {
    /// The experiment file
    #[arg(long, visible_alias = "config", value_name = "FILE")]
    pub(crate) exp: PathBuf,
    #[command(flatten)]
    pub(crate) presets: PresetArgs,
    /// Changes: `key=value`, `--key value`; dots reach into sections. `workspace`, `exp_name`,
    /// `user_name`, `work_group`, `platform` and `env` address the experiment, all other keys the module
    #[arg(last = true, value_name = "KEY=VALUE")]
    pub(crate) overrides: Vec<String>,
}

/// Where presets are looked for.
#[derive(Debug, clap::Args)]
pub(crate) struct PresetArgs {
    /// A further folder with presets, searched first; may be repeated (also: `CAIRN_CONFIGS`)
    #[arg(long = "configs", value_name = "DIR")]
    pub(crate) configs: Vec<PathBuf>,
}

impl PresetArgs {
    /// Resolves one experiment file; warnings and notes come with it.
    pub(crate) fn resolve(
        &self,
        context: &Context,
        file: &Path,
        overrides: &[String],
        module: &str,
    ) -> Result<(Resolved, Vec<Diagnostic>)> {
        for root in &self.configs {
            if !context.cwd.join(root).is_dir() {
                let message = format!("there is no folder {}", root.display());
                let diagnostic = Diagnostic::error("xtask::configs", message).hint(
                    "`--configs` takes a folder that holds `models/` and `modules/`, relative to the current folder",
                );
                return Err(Failure::wrong(diagnostic));
            }
        }
        // From the top of the checkout, its presets are named as a user would.
        let project = if context.cwd == context.root {
            Path::new("")
        } else {
            &context.root
        };
        let roots = preset_roots(&self.configs, &SystemEnv, Some(project));
        let options = Options {
            files: &SystemFiles,
            env: &SystemEnv,
            roots: &roots,
            overrides,
            module,
        };
        match cairn_config::resolve(file, &options) {
            (Some(resolved), diagnostics) if !diagnostics.iter().any(Diagnostic::is_error) => {
                Ok((resolved, diagnostics))
            }
            (_, diagnostics) => Err(Failure::wrong_input(diagnostics)),
        }
    }
}

impl ExperimentArgs {
    /// Resolves the experiment and shows its warnings.
    pub(crate) fn resolve(&self, context: &Context, module: &str) -> Result<Resolved> {
        let (resolved, diagnostics) =
            self.presets
                .resolve(context, &self.exp, &self.overrides, module)?;
        context.show(&diagnostics);
        Ok(resolved)
    }

    /// Resolves an experiment that the engine is to run.
    pub(crate) fn native(&self, context: &Context) -> Result<(Experiment, Resolved)> {
        let resolved = self.resolve(context, PRE_TRAINER)?;
        Ok((for_engine(&resolved)?, resolved))
    }
}

/// The experiment as the engine takes it, or why no engine here can run it.
pub(crate) fn for_engine(resolved: &Resolved) -> Result<Experiment> {
    let module = resolved.module().ok_or_else(|| {
        Failure::wrong(Diagnostic::error(
            "train::no-module",
            "the experiment has no module to run",
        ))
    })?;
    let native = module
        .native
        .as_ref()
        .ok_or_else(|| Failure::wrong(unsupported(module)))?;
    let mut origins = Vec::new();
    list_origins("", &module.params, &mut origins);
    Ok(Experiment {
        native: native.as_ref().clone(),
        record: resolved.to_record(),
        origins,
    })
}

fn unsupported(module: &Module) -> Diagnostic {
    let framework = module.framework_name();
    let message = format!("the framework `{framework}` cannot be run here");
    let diagnostic = Diagnostic::error("train::framework", message);
    module
        .framework
        .origin
        .mark(diagnostic, "asked for here")
        .hint("`framework: native` is trained by Cairn's own engine")
        .hint("`cargo xtask config show` prints what the experiment resolves to")
}

fn list_origins(prefix: &str, value: &Value, into: &mut Vec<KeyOrigin>) {
    match value.as_map() {
        Some(map) if !map.is_empty() => {
            for (key, value) in map {
                let key = if prefix.is_empty() {
                    key.clone()
                } else {
                    format!("{prefix}.{key}")
                };
                list_origins(&key, value, into);
            }
        }
        _ => into.push(KeyOrigin {
            key: prefix.to_owned(),
            value: value.to_json(),
            origin: value.origin.place(),
        }),
    }
}

/// The variables of the experiment's `env` section.
pub(crate) fn environment(resolved: &Resolved) -> Result<BTreeMap<String, String>> {
    let mut variables = BTreeMap::new();
    let mut wrong = Vec::new();
    for (name, value) in resolved.env.as_map().into_iter().flatten() {
        let text = match value.to_json() {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        };
        let first = name
            .chars()
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        let good = first && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if good && !text.contains('\0') {
            variables.insert(name.clone(), text);
        } else {
            let message = format!("`{name}` cannot be set as an environment variable");
            let diagnostic = Diagnostic::error("train::env", message);
            wrong.push(
                value
                    .origin
                    .mark(diagnostic, "")
                    .hint("names are letters, digits and underscores; values hold no NUL"),
            );
        }
    }
    if wrong.is_empty() {
        Ok(variables)
    } else {
        Err(Failure::wrong_input(wrong))
    }
}
