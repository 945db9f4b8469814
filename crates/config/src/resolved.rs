//! The resolved experiment: everything decided, every value with its origin.

use std::path::PathBuf;
use std::sync::Arc;

use cairn_base::SourceFile;
use serde_json::{Value as Json, json};

use crate::value::Value;

/// One experiment after every rule was applied. Nothing changes it afterwards.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The experiment file.
    pub file: Arc<SourceFile>,
    /// Every file that was read, in order; the experiment itself comes first.
    pub sources: Vec<Arc<SourceFile>>,
    /// The team; text.
    pub work_group: Value,
    /// The person; text.
    pub user_name: Value,
    /// The experiment's name; text.
    pub exp_name: Value,
    /// The directory that holds all runs; text.
    pub workspace: Value,
    /// The platform: a map that includes `config`, the preset's file name.
    pub platform: Value,
    /// Variables to set for the run: a map from name to text.
    pub env: Value,
    /// The modules in the order of the file.
    pub modules: Vec<Module>,
    /// The position in `modules` of the one that overrides went to and that is
    /// to run.
    pub selected: usize,
}

/// One module of an experiment, such as `pre_trainer`.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its name in the experiment.
    pub name: String,
    /// The framework that runs it; text such as `native` or `megatron`.
    pub framework: Value,
    /// The model: the preset's name as written, or the preset's own `model`.
    pub model: Value,
    /// The name of the module preset; text.
    pub config: Value,
    /// A trainer named at module level.
    pub trainer_class: Option<Value>,
    /// The parameters: presets, module, overrides and command line merged.
    pub params: Value,
    /// The experiment of `framework: native` in types, once checked.
    pub native: Option<Arc<crate::native::NativeExperiment>>,
}

impl Module {
    /// The framework's name, empty if it is no text.
    #[must_use]
    pub fn framework_name(&self) -> &str {
        self.framework.as_str().unwrap_or_default()
    }
}

impl Resolved {
    /// `<workspace>/<work_group>/<user_name>/<exp_name>`, joined as paths are:
    /// an absolute part starts anew.
    #[must_use]
    pub fn root_path(&self) -> String {
        let mut path = String::new();
        for part in [
            &self.workspace,
            &self.work_group,
            &self.user_name,
            &self.exp_name,
        ] {
            let part = part.as_str().unwrap_or_default();
            if part.starts_with('/') {
                path.clear();
            } else if !path.is_empty() && !path.ends_with('/') {
                path.push('/');
            }
            path.push_str(part);
        }
        path
    }

    /// The run directory; nothing is created here.
    #[must_use]
    pub fn run_dir(&self) -> PathBuf {
        PathBuf::from(self.root_path())
    }

    /// The module that is to run.
    #[must_use]
    pub fn module(&self) -> Option<&Module> {
        self.modules.get(self.selected)
    }

    /// The module with this name.
    #[must_use]
    pub fn module_named(&self, name: &str) -> Option<&Module> {
        self.modules.iter().find(|module| module.name == name)
    }

    /// The normalised experiment, in the shape that frameworks are handed.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let platform = self.platform.to_json();
        let modules: Vec<Json> = self
            .modules
            .iter()
            .map(|module| {
                let mut object = serde_json::Map::new();
                object.insert("name".to_owned(), json!(module.name));
                object.insert("framework".to_owned(), module.framework.to_json());
                if let Some(class) = &module.trainer_class {
                    object.insert("trainer_class".to_owned(), class.to_json());
                }
                object.insert("model".to_owned(), module.model.to_json());
                object.insert("params".to_owned(), module.params.to_json());
                Json::Object(object)
            })
            .collect();
        json!({
            "name": "PrimusConfig",
            "exp_root_path": self.root_path(),
            "exp_meta_info": {
                "work_group": self.work_group.to_json(),
                "user_name": self.user_name.to_json(),
                "exp_name": self.exp_name.to_json(),
            },
            "platform_config": platform,
            "platform": platform,
            "modules": modules,
        })
    }

    /// The normalised experiment together with `env` and the names of the
    /// files it was read from: what a run keeps beside its results.
    #[must_use]
    pub fn to_record(&self) -> Json {
        let mut record = self.to_json();
        if let Json::Object(object) = &mut record {
            object.insert("env".to_owned(), self.env.to_json());
            let files: Vec<_> = self
                .sources
                .iter()
                .map(|source| json!(source.name))
                .collect();
            object.insert("config_files".to_owned(), Json::Array(files));
        }
        record
    }
}
