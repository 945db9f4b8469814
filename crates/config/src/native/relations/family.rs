//! What each model family is, so that a preset cannot name one and describe
//! another.

use cairn_base::Diagnostic;

use super::contradiction;
use crate::native::entries::Entries;
use crate::native::values::yaml_text;

/// Reports flags and parts that the named family does not have.
pub(super) fn check(entries: &Entries, found: &mut Vec<Diagnostic>) {
    let Some(family) = entries.text("architecture") else {
        return;
    };
    let has_experts = matches!(
        family,
        "mixtral" | "qwen3_moe" | "deepseek_v2" | "deepseek_v3" | "gpt_oss"
    );
    let latent = matches!(family, "deepseek_v2" | "deepseek_v3");
    let wanted = [
        ("add_qkv_bias", family == "qwen2", family != "gpt_oss"),
        (
            "qk_layernorm",
            matches!(family, "qwen3" | "qwen3_moe"),
            !latent,
        ),
        ("add_bias_linear", family == "gpt_oss", true),
        ("multi_latent_attention", latent, true),
        (
            "moe_router_enable_expert_bias",
            family == "deepseek_v3",
            true,
        ),
    ];
    for (name, wanted, decided) in wanted {
        if decided && entries.json(name).is_some() && entries.flag(name) != wanted {
            let message = format!(
                "`architecture: {family}` does not go with `{name}: {}`",
                !wanted
            );
            let mut diagnostic = contradiction(entries, message, &[name, "architecture"])
                .hint(format!("write `{name}: {wanted}`"));
            if let Some(other) = family_with(name, !wanted) {
                diagnostic = diagnostic.hint(format!("or `architecture: {other}`"));
            }
            found.push(diagnostic);
        }
    }
    if entries.json("num_experts").is_some() && entries.is_set("num_experts") != has_experts {
        let (message, hint) = if has_experts {
            (
                format!("`architecture: {family}` needs experts"),
                "write `num_experts`",
            )
        } else {
            (
                format!("`architecture: {family}` has no experts"),
                "remove `num_experts`, or write `architecture: mixtral` or `qwen3_moe`",
            )
        };
        found.push(contradiction(entries, message, &["num_experts", "architecture"]).hint(hint));
    }
    belonging(entries, family, found);
    alone(entries, found);
}

/// What only one family has; another would be trained without it.
fn belonging(entries: &Entries, family: &str, found: &mut Vec<Diagnostic>) {
    let belongings = [
        (
            "window_size",
            entries.is_set("window_size"),
            "gpt_oss",
            "null",
        ),
        (
            "softmax_type",
            entries.text("softmax_type") == Some("learnable"),
            "gpt_oss",
            "vanilla",
        ),
        (
            "activation",
            entries.text("activation") == Some("swiglu_oai"),
            "gpt_oss",
            "swiglu",
        ),
        (
            "mtp_num_layers",
            entries.int("mtp_num_layers").is_some_and(|n| n > 0),
            "deepseek_v3",
            "0",
        ),
    ];
    for (name, used, owner, without) in belongings {
        if used && family != owner {
            let value = entries.json(name).map(yaml_text).unwrap_or_default();
            let message = format!("`architecture: {family}` does not go with `{name}: {value}`");
            found.push(
                contradiction(entries, message, &[name, "architecture"]).hint(format!(
                    "write `{name}: {without}`; only `{owner}` has such models"
                )),
            );
        }
    }
}

/// Parameters that say more about something that is not there.
fn alone(entries: &Entries, found: &mut Vec<Diagnostic>) {
    let details = [
        ("window_attn_skip_freq", "window_size"),
        ("moe_ffn_hidden_size", "num_experts"),
        ("moe_shared_expert_intermediate_size", "num_experts"),
        ("moe_router_num_groups", "num_experts"),
        ("moe_router_group_topk", "num_experts"),
        ("moe_router_topk_scaling_factor", "num_experts"),
    ];
    for (name, whole) in details {
        if entries.is_set(name) && entries.json(whole).is_some_and(serde_json::Value::is_null) {
            let message = format!("`{name}` has no meaning without `{whole}`");
            found.push(
                contradiction(entries, message, &[name, whole])
                    .hint(format!("write `{whole}` too, or remove `{name}`")),
            );
        }
    }
}

/// The dense family that a flag is the mark of.
fn family_with(name: &str, set: bool) -> Option<&'static str> {
    match (name, set) {
        ("add_qkv_bias", true) => Some("qwen2"),
        ("qk_layernorm", true) => Some("qwen3"),
        _ => None,
    }
}
