//! A module: module preset, module-level keys, model preset and overrides
//! merged into params, from low to high: model preset, module-level keys,
//! module preset, overrides.

use cairn_base::{Diagnostic, nearest};

use crate::load::Loader;
use crate::merge;
use crate::preset::{self, Folder};
use crate::resolved::Module;
use crate::value::{Kind, Map, Value};

/// Keys of a module that are not parameters.
const RESERVED_KEYS: [&str; 6] = [
    "name",
    "framework",
    "config",
    "model",
    "overrides",
    "params",
];

/// The error for something that must be a mapping.
pub(crate) fn not_a_mapping(name: &str, value: &Value) -> Diagnostic {
    let error = Diagnostic::error(
        "config::not-a-mapping",
        format!("`{name}` is a mapping, not {}", value.described()),
    );
    value
        .origin
        .mark(error, "")
        .hint("write `key: value` lines below it")
}

/// Frameworks whose names may be mistyped; any other name is passed on.
const FRAMEWORKS: &[&str] = &[
    "native",
    "megatron",
    "torchtitan",
    "maxtext",
    "megatron_bridge",
    "hummingbirdxt",
];

/// Assembles one module; `None` comes with an error.
pub(crate) fn assemble(loader: &mut Loader<'_>, name: &str, module: &Value) -> Option<Module> {
    if !name.contains("trainer") {
        let error = Diagnostic::error(
            "config::unknown-module",
            format!("the module `{name}` is of no known kind"),
        );
        let hint = match nearest(name, ["pre_trainer", "post_trainer"]) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "name it `pre_trainer` or `post_trainer`".to_owned(),
        };
        loader.push(module.origin.mark(error, "").hint(hint));
        return None;
    }
    let Kind::Map(keys) = &module.kind else {
        loader.push(not_a_mapping(&format!("modules.{name}"), module));
        return None;
    };
    let missing: Vec<&str> = ["framework", "config", "model"]
        .into_iter()
        .filter(|key| keys.get(*key).is_none_or(Value::is_null))
        .collect();
    if !missing.is_empty() {
        let error = Diagnostic::error(
            "config::missing-key",
            format!("the module `{name}` lacks {}", missing.join(", ")),
        );
        loader.push(module.origin.mark(error, "").hint(
            "add them: `framework: native`, `config: pre_trainer.yaml`, `model: llama_10M.yaml`",
        ));
        return None;
    }
    let (framework, config, model) = (
        keys.get("framework")?,
        keys.get("config")?,
        keys.get("model")?,
    );
    let Some(framework_name) = framework.as_str() else {
        let error = Diagnostic::error(
            "config::wrong-type",
            format!("`framework` is text, not {}", framework.described()),
        );
        loader.push(
            framework
                .origin
                .mark(error, "")
                .hint("write `framework: native`"),
        );
        return None;
    };
    let known = FRAMEWORKS.contains(&framework_name);
    if let Some(near) = nearest(framework_name, FRAMEWORKS.iter().copied()).filter(|_| !known) {
        let warning = Diagnostic::warning(
            "config::unknown-framework",
            format!("the framework `{framework_name}` is not known here"),
        );
        loader.push(
            framework
                .origin
                .mark(warning, "")
                .hint(format!("did you mean `{near}`?")),
        );
    }
    let preset = preset::load(loader, Folder::Modules(framework_name), config);
    let model_preset = preset::load(loader, Folder::Models(framework_name), model);
    let (mut params, model_preset) = (preset?, model_preset?);
    let map = params.as_map_mut()?;
    add_module_keys(loader, name, keys, map);
    add_model(loader, model, model_preset, map);
    if let Some(overrides) = keys.get("overrides").filter(|value| !value.is_null()) {
        let Kind::Map(overrides) = &overrides.kind else {
            loader.push(not_a_mapping(
                &format!("modules.{name}.overrides"),
                overrides,
            ));
            return None;
        };
        override_map(map, overrides.clone(), &mut loader.diagnostics);
    }
    if !map.contains_key("model") {
        map.insert("model".to_owned(), model.clone());
    }
    let framework = take_reserved(loader, name, map, framework);
    let shown_model = map.get("model")?.clone();
    let trainer_class = map.shift_remove("trainer_class");
    Some(Module {
        name: name.to_owned(),
        framework,
        model: shown_model,
        config: config.clone(),
        trainer_class,
        params,
        native: None,
    })
}

/// Adds the module's own keys where the preset has none of the name.
fn add_module_keys(loader: &mut Loader<'_>, name: &str, keys: &Map, params: &mut Map) {
    for (key, value) in keys {
        if key == "params" {
            let warning = Diagnostic::warning(
                "config::ignored-key",
                format!("`modules.{name}.params` has no effect"),
            );
            loader.push(
                value
                    .origin
                    .mark(warning, "ignored")
                    .hint("put the parameters under `overrides`"),
            );
        } else if RESERVED_KEYS.contains(&key.as_str()) {
        } else if let Some(kept) = params.get(key) {
            let warning = Diagnostic::warning(
                "config::ignored-key",
                format!("`modules.{name}.{key}` has no effect: the module preset sets it too"),
            );
            let warning = kept
                .origin
                .mark(value.origin.mark(warning, "ignored"), "this one counts");
            loader.push(warning.hint(format!("put `{key}` under `overrides`")));
        } else {
            params.insert(key.clone(), value.clone());
        }
    }
}

/// Adds the model preset's keys where there are none of the name yet. The
/// merge is shallow: a map that is there already stays as it is.
fn add_model(loader: &mut Loader<'_>, named_by: &Value, preset: Value, params: &mut Map) {
    let Kind::Map(keys) = preset.kind else { return };
    for (key, value) in keys {
        if key == "bases" {
            let warning = Diagnostic::warning(
                "config::bases-key",
                "`bases` loads nothing; the key that does is `extends`",
            );
            loader.push(
                value
                    .origin
                    .mark(warning, "")
                    .hint("rename it to `extends`"),
            );
        }
        match params.get(&key) {
            None => {
                params.insert(key, value);
            }
            Some(kept) if *kept != value => {
                let warning = Diagnostic::warning(
                    "config::ignored-key",
                    format!("`{key}` of the model preset has no effect: the module preset wins"),
                );
                let warning = kept
                    .origin
                    .mark(value.origin.mark(warning, "ignored"), "this one counts");
                let warning = named_by
                    .origin
                    .mark(warning, "the model preset is named here");
                loader.push(warning.hint(format!("put `{key}` under `overrides`")));
            }
            Some(_) => {}
        }
    }
}

/// Merges overrides into a map. The text `null` means null, but only where the
/// map was there before: inside one that the overrides bring it stays text.
pub(crate) fn override_map(base: &mut Map, over: Map, diagnostics: &mut Vec<Diagnostic>) {
    for (key, mut value) in over {
        if value.as_str() == Some("null") {
            let note = Diagnostic::note(
                "config::null-text",
                format!("`{key}` is the text \"null\" and is read as null"),
            );
            diagnostics.push(
                value
                    .origin
                    .mark(note, "")
                    .hint("write null without quotes"),
            );
            value.kind = Kind::Null;
        }
        let inner = match (&value.kind, base.get_mut(&key)) {
            (
                Kind::Map(_),
                Some(Value {
                    kind: Kind::Map(inner),
                    ..
                }),
            ) => Some(inner),
            _ => None,
        };
        if let Some(inner) = inner {
            if let Kind::Map(entries) = value.kind {
                override_map(inner, entries, diagnostics);
            }
            continue;
        }
        keep_null_text(&key, &value, diagnostics);
        match base.get_mut(&key) {
            Some(old) => merge::replace(old, value),
            None => {
                base.insert(key, value);
            }
        }
    }
}

/// Warns of `"null"` in a map or list that is taken over as it is.
fn keep_null_text(path: &str, value: &Value, diagnostics: &mut Vec<Diagnostic>) {
    let mut inner = |name: String, value: &Value| {
        if value.as_str() == Some("null") {
            let warning = Diagnostic::warning(
                "config::null-text",
                format!(
                    "`{name}` stays the text \"null\": it stands in a value that is new as a whole"
                ),
            );
            diagnostics.push(
                value
                    .origin
                    .mark(warning, "")
                    .hint("write null without quotes if you mean null"),
            );
        } else {
            keep_null_text(&name, value, diagnostics);
        }
    };
    match &value.kind {
        Kind::Map(map) => map
            .iter()
            .for_each(|(key, value)| inner(format!("{path}.{key}"), value)),
        Kind::List(items) => items
            .iter()
            .enumerate()
            .for_each(|(i, value)| inner(format!("{path}.{i}"), value)),
        _ => {}
    }
}

/// Takes out of the parameters what frameworks are not handed: keys of the
/// module's own, and keys with a leading underscore. A `framework` among them
/// counts.
fn take_reserved(
    loader: &mut Loader<'_>,
    name: &str,
    params: &mut Map,
    framework: &Value,
) -> Value {
    let mut framework = framework.clone();
    let taken: Vec<String> = params
        .keys()
        .filter(|key| {
            key.starts_with('_')
                || (key.as_str() != "model" && RESERVED_KEYS[..4].contains(&key.as_str()))
                || key.as_str() == "params"
        })
        .cloned()
        .collect();
    for key in taken {
        let Some(value) = params.shift_remove(&key) else {
            continue;
        };
        let message = if key == "framework" {
            format!(
                "a preset or override of `{name}` changes the framework that the presets were chosen by"
            )
        } else {
            format!("the parameter `{key}` of `{name}` has no effect: the name is reserved")
        };
        let warning = value
            .origin
            .mark(Diagnostic::warning("config::ignored-key", message), "");
        loader.push(warning.hint("set it on the module itself, or rename it"));
        if key == "framework" && value.as_str().is_some() {
            merge::replace(&mut framework, value);
        }
    }
    framework
}
