//! The platform: a preset with overrides, or the default one when the
//! experiment names none.

use cairn_base::Diagnostic;

use crate::load::Loader;
use crate::module;
use crate::preset::{self, Folder};
use crate::value::{Kind, Map, Value};

/// The platform of experiments that name none.
const DEFAULT_PRESET: &str = "platform_azure.yaml";
/// Keys that every platform has.
const REQUIRED_KEYS: [&str; 8] = [
    "name",
    "num_nodes_env_key",
    "node_rank_env_key",
    "master_addr_env_key",
    "master_port_env_key",
    "gpus_per_node_env_key",
    "master_sink_level",
    "workspace",
];

/// What stands for `platform` when an experiment lacks it.
pub(crate) fn default_platform() -> Value {
    let text = |value: &str| Value::builtin(Kind::Str(value.to_owned()), "default platform");
    let map = |entries: Vec<(&str, Value)>| {
        let entries: Map = entries
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect();
        Value::builtin(Kind::Map(entries), "default platform")
    };
    map(vec![
        ("config", text(DEFAULT_PRESET)),
        ("overrides", map(vec![("master_sink_level", text("INFO"))])),
    ])
}

/// Loads the preset that `platform` names and merges its overrides in. The
/// result keeps the preset's name as `config`; `None` comes with an error.
pub(crate) fn assemble(loader: &mut Loader<'_>, platform: &Value) -> Option<Value> {
    let Kind::Map(map) = &platform.kind else {
        let message = format!(
            "`platform` is a mapping with `config`, not {}",
            platform.described()
        );
        loader.push(platform.origin.mark(Diagnostic::error("config::bad-platform", message), "")
            .hint(format!("write `platform: {{config: {DEFAULT_PRESET}}}`, or remove the key for that default")));
        return None;
    };
    let Some(config) = map.get("config") else {
        let error = Diagnostic::error(
            "config::missing-key",
            "`platform` lacks `config`, the name of a platform preset",
        );
        loader.push(
            platform
                .origin
                .mark(error, "")
                .hint(format!("add `config: {DEFAULT_PRESET}`")),
        );
        return None;
    };
    let mut value = preset::load(loader, Folder::Platforms, config)?;
    let file = value.origin.clone();
    let entries = value.as_map_mut()?;
    entries.insert("config".to_owned(), config.clone());
    if let Some(overrides) = map.get("overrides").filter(|value| !value.is_null()) {
        let Kind::Map(overrides) = &overrides.kind else {
            loader.push(module::not_a_mapping("platform.overrides", overrides));
            return None;
        };
        module::override_map(entries, overrides.clone(), &mut loader.diagnostics);
    }
    for name in map
        .keys()
        .filter(|name| !matches!(name.as_str(), "config" | "overrides"))
    {
        let warning = Diagnostic::warning(
            "config::ignored-key",
            format!("`platform.{name}` has no effect"),
        );
        let place = map
            .get(name)
            .map_or(&platform.origin, |value| &value.origin);
        loader.diagnostics.push(
            place
                .mark(warning, "")
                .hint("put it under `platform.overrides`"),
        );
    }
    let missing: Vec<&str> = REQUIRED_KEYS
        .into_iter()
        .filter(|key| !entries.contains_key(*key))
        .collect();
    if missing.is_empty() {
        return Some(value);
    }
    let error = Diagnostic::error(
        "config::missing-key",
        format!("the platform lacks {}", missing.join(", ")),
    );
    loader.push(
        file.mark(error, "")
            .hint("add the keys to the platform preset, or under `platform.overrides`"),
    );
    None
}
