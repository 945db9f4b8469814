//! `cargo xtask doctor`: what this machine has for Cairn to use.

use serde_json::{Map, Value, json};

use cairn_base::env;

use crate::context::{Context, Result};

mod amd;
mod facts;

/// Print what this machine has: CPU, memory, disk, programs, GPUs and variables
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask doctor --format json")]
pub(crate) struct Args {}

pub(crate) fn run(_: Args, context: &Context) -> Result {
    let sections = [
        ("cpu", facts::cpu()),
        ("memory", facts::memory()),
        ("disk", facts::disk(context)),
        ("programs", facts::programs()),
        ("gpu", amd::driver()),
        ("compilers", amd::compilers()),
        ("hip", amd::hip(context)),
        ("rccl", amd::rccl(context)),
    ];
    let variables: Vec<_> = env::REGISTRY
        .iter()
        .map(|var| json!({"name": var.name, "value": env::get(var), "default": var.default, "meaning": var.meaning}))
        .collect();
    if context.json() {
        let mut answer: Map<String, Value> = sections
            .into_iter()
            .map(|(name, facts)| (name.to_owned(), Value::Object(facts)))
            .collect();
        answer.insert("environment".to_owned(), variables.into());
        return context.print_json(&answer.into());
    }
    let mut text = String::new();
    for (name, facts) in &sections {
        text.push_str(&format!("{name}\n"));
        for (key, value) in facts {
            text.push_str(&format!(
                "  {:<12} {}\n",
                key.replace('_', " "),
                plain(value)
            ));
        }
    }
    text.push_str("environment variables\n");
    for var in env::REGISTRY {
        let value = env::get(var).unwrap_or_else(|| format!("unset: {}", var.default));
        text.push_str(&format!(
            "  {} = {value}\n      {}\n",
            var.name, var.meaning
        ));
    }
    context.print(&text)
}

/// A fact for people.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(" "),
        Value::Object(_) | Value::Number(_) => value.to_string(),
    }
}
