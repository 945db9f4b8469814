//! Names of other programs: Megatron's spellings are understood, with a note
//! that tells the native one; everybody else's get an error that does.

use cairn_base::Diagnostic;
use serde_json::Value as Json;

use super::check::a;
use super::entries::{Entries, mark_key};
use super::table::{Field, field};
use super::values;
use crate::value::{Kind, Map, Origin, Value, Via};

/// What a name of another program means here.
#[derive(Clone, Copy, Debug)]
pub(super) enum Alias {
    /// Another name for the same value.
    Renamed(&'static str),
    /// `true` chooses this word for a parameter; `false` says nothing.
    Chooses(&'static str, &'static str),
    /// The parameter is this truth value's opposite.
    Opposite(&'static str),
    /// Always so in the native framework: this value is accepted, others are not.
    Only(Fixed),
    /// Not understood; what to write instead.
    Instead(&'static str),
}

/// The only value a foreign parameter may have.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fixed {
    One,
    True,
    False,
    Null,
    Rope,
}

impl Fixed {
    fn matches(self, value: &Value) -> bool {
        match self {
            Self::One => value.kind == Kind::Int(1),
            Self::True => value.as_bool() == Some(true),
            Self::False => value.as_bool() == Some(false),
            Self::Null => value.is_null() || value.as_bool() == Some(false),
            Self::Rope => value.as_str() == Some("rope"),
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::One => "1",
            Self::True => "true",
            Self::False => "false",
            Self::Null => "null",
            Self::Rope => "rope",
        }
    }
}

use Alias::{Chooses, Instead, Only, Opposite, Renamed};

/// Foreign names at the top of the parameters.
#[rustfmt::skip]
const ALIASES: &[(&str, Alias)] = &[
    // Megatron
    ("layernorm_epsilon", Renamed("norm_epsilon")),
    ("swiglu", Chooses("activation", "swiglu")),
    ("bf16", Chooses("precision", "bf16")),
    ("fp16", Chooses("precision", "f16")),
    ("mock_data", Chooses("data.source", "mock")),
    ("disable_bias_linear", Opposite("add_bias_linear")),
    ("position_embedding_type", Only(Fixed::Rope)),
    ("use_rotary_position_embeddings", Only(Fixed::True)),
    ("group_query_attention", Instead("write `num_query_groups`, the number of key and value heads; it alone decides")),
    ("use_rope_scaling", Instead("write `rope_scaling: {type: llama3, factor: 8.0, original_max_position_embeddings: 8192}`")),
    ("rope_scaling_factor", Instead("write `factor` inside `rope_scaling`")),
    ("tensor_model_parallel_size", Only(Fixed::One)),
    ("pipeline_model_parallel_size", Only(Fixed::One)),
    ("context_parallel_size", Only(Fixed::One)),
    ("expert_model_parallel_size", Only(Fixed::One)),
    ("sequence_parallel", Only(Fixed::False)),
    ("fp8", Only(Fixed::Null)),
    ("fp4", Only(Fixed::Null)),
    ("data_path", Instead("write `data: {source: megatron, paths: [PREFIX]}`")),
    ("train_data_path", Instead("write `data: {source: megatron, paths: [PREFIX]}`")),
    ("split", Instead("write `validation_fraction` inside `data`")),
    ("tokenizer_type", Instead("write `data: {tokenizer: {kind: file, path: PATH}}` or `kind: bpe`")),
    ("tokenizer_model", Instead("write `data: {tokenizer: {kind: file, path: PATH}}`")),
    ("train_samples", Instead("write `train_iters`, the number of optimizer steps")),
    ("lr_warmup_samples", Instead("write `lr_warmup_iters` or `lr_warmup_fraction`")),
    ("recompute_method", Instead("`recompute_granularity` alone decides: `none`, `selective` or `full`")),
    ("recompute_num_layers", Instead("`recompute_granularity` alone decides: `none`, `selective` or `full`")),
    ("save", Instead("checkpoints go into the run directory; set `workspace` to move it")),
    ("load", Instead("pass `--resume` to go on from the newest checkpoint of the run directory")),
    ("tensorboard_dir", Instead("write `tensorboard: true`; the files go into the run directory")),
    // Hugging Face
    ("num_hidden_layers", Instead("write `num_layers`")),
    ("intermediate_size", Instead("write `ffn_hidden_size`")),
    ("moe_intermediate_size", Instead("write `moe_ffn_hidden_size`")),
    ("num_key_value_heads", Instead("write `num_query_groups`")),
    ("head_dim", Instead("write `kv_channels`")),
    ("rope_theta", Instead("write `rotary_base`")),
    ("rms_norm_eps", Instead("write `norm_epsilon`")),
    ("hidden_act", Instead("write `activation`: `swiglu` is silu with a gate, `geglu` is gelu with one")),
    ("tie_word_embeddings", Instead("write `untie_embeddings_and_output_weights` with the opposite value")),
    ("attention_bias", Instead("write `add_qkv_bias`")),
    ("initializer_range", Instead("write `init_method_std`")),
    ("num_local_experts", Instead("write `num_experts`")),
    ("num_experts_per_tok", Instead("write `moe_router_topk`")),
    ("sliding_window", Instead("write `window_size`")),
    ("learning_rate", Instead("write `lr`")),
    ("max_steps", Instead("write `train_iters`")),
    ("warmup_steps", Instead("write `lr_warmup_iters`")),
    ("max_grad_norm", Instead("write `clip_grad`")),
    ("lr_scheduler_type", Instead("write `lr_decay_style`")),
    // Others
    ("dim", Instead("write `hidden_size`")),
    ("n_layers", Instead("write `num_layers`")),
    ("n_heads", Instead("write `num_attention_heads`")),
    ("n_kv_heads", Instead("write `num_query_groups`")),
    ("steps", Instead("write `train_iters`")),
    ("max_iters", Instead("write `train_iters`")),
    ("batch_size", Instead("write `micro_batch_size` and `global_batch_size`")),
    ("seq_len", Instead("write `seq_length`")),
    ("sequence_length", Instead("write `seq_length`")),
    ("dtype", Instead("write `precision`")),
    ("scheduler", Instead("write `lr_decay_style`")),
    ("grad_clip", Instead("write `clip_grad`")),
    ("dropout", Instead("write `hidden_dropout` and `attention_dropout`")),
    ("gradient_accumulation_steps", Instead("write `global_batch_size`, a multiple of `micro_batch_size` times ranks")),
];

/// The meaning of a foreign name.
pub(super) fn alias(name: &str) -> Option<Alias> {
    ALIASES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, alias)| *alias)
}

/// Takes the foreign names among the parameters.
pub(super) fn apply(map: &Map, entries: &mut Entries, found: &mut Vec<Diagnostic>) {
    for (key, value) in map {
        if field(key).is_some() {
            continue;
        }
        match alias(key) {
            None => {}
            Some(Instead(hint)) => found.push(
                mark_key(
                    value,
                    unknown(key),
                    "the native framework has another name for it",
                )
                .hint(hint),
            ),
            Some(Only(fixed)) if fixed.matches(value) => {}
            Some(Only(fixed)) => found.push(not_here(key, fixed, value)),
            Some(Renamed(name)) => {
                let Some(row) = field(name) else { continue };
                match values::read(row, value) {
                    Ok((json, note)) => {
                        found.extend(note);
                        take(row, json, key, value, entries, found);
                    }
                    Err(diagnostic) => {
                        entries.refuse(row);
                        found.push(diagnostic);
                    }
                }
            }
            Some(Chooses(name, word)) => {
                let (Some(row), Some(chosen)) = (field(name), flag(key, value, found)) else {
                    continue;
                };
                if chosen {
                    take(row, word.into(), key, value, entries, found);
                }
            }
            Some(Opposite(name)) => {
                let (Some(row), Some(opposite)) = (field(name), flag(key, value, found)) else {
                    continue;
                };
                take(row, (!opposite).into(), key, value, entries, found);
            }
        }
    }
}

/// Sets a parameter from a foreign name. The native name wins when it stands on
/// the command line; where both were set on purpose and differ, which one is
/// meant is unknown.
fn take(
    row: &'static Field,
    json: Json,
    key: &str,
    value: &Value,
    entries: &mut Entries,
    found: &mut Vec<Diagnostic>,
) {
    if let Some(native) = entries.origin(row.name)
        && entries.json(row.name) != Some(&json)
    {
        let typed = |origin: &Origin| origin.via == Via::CommandLine;
        let on_purpose = native.source == value.origin.source || native.replaced.is_some();
        match (typed(native), typed(&value.origin)) {
            (true, false) => return,
            (false, true) => {}
            _ if on_purpose => {
                let message = format!("`{key}` and `{}` contradict each other", row.name);
                let error = Diagnostic::error("config::contradiction", message);
                let error = entries.mark(row.name, mark_key(value, error, ""), "");
                found.push(error.hint(format!("keep `{}` alone", row.name)));
                return;
            }
            _ => {}
        }
    }
    let message = format!(
        "`{key}` is read as `{}: {}`",
        row.name,
        values::yaml_text(&json)
    );
    found.push(
        mark_key(
            value,
            Diagnostic::note("config::foreign-name", message),
            "Megatron's name",
        )
        .hint(format!(
            "write `{}: {}`",
            row.name,
            values::yaml_text(&json)
        )),
    );
    // `mock_data` may be all that is said about data.
    if let Some(parent) = field(row.parent())
        && !entries.is_written(parent.name)
    {
        entries.accept(parent, Json::Object(serde_json::Map::new()), &value.origin);
    }
    entries.accept(row, json, &value.origin);
}

fn flag(key: &str, value: &Value, found: &mut Vec<Diagnostic>) -> Option<bool> {
    if value.is_null() {
        return Some(false);
    }
    let flag = value.as_bool();
    if flag.is_none() {
        let message = format!(
            "`{key}` must be `true` or `false`, not {}",
            a(value.type_name())
        );
        found.push(mark_key(
            value,
            Diagnostic::error("config::wrong-type", message),
            "",
        ));
    }
    flag
}

fn unknown(key: &str) -> Diagnostic {
    Diagnostic::error("config::unknown-key", format!("unknown parameter `{key}`"))
}

fn not_here(key: &str, fixed: Fixed, value: &Value) -> Diagnostic {
    let message = format!(
        "the native framework has no `{key}` other than {}",
        fixed.text()
    );
    mark_key(value, Diagnostic::error("config::unsupported", message), "")
        .hint(format!("remove it, or write `{key}: {}`", fixed.text()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn foreign_names_are_foreign_and_lead_to_native_ones() {
        let mut seen = BTreeSet::new();
        for (name, alias) in ALIASES {
            assert!(seen.insert(name), "{name} twice");
            assert!(field(name).is_none(), "{name} is native");
            match alias {
                Renamed(target) | Chooses(target, _) | Opposite(target) => {
                    assert!(field(target).is_some(), "{name} leads to {target}");
                }
                Only(_) | Instead(_) => {}
            }
        }
    }
}
