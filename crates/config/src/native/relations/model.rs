//! Relations between the parameters of the model.

use cairn_base::Diagnostic;

use super::{contradiction, family};
use crate::native::entries::Entries;
use crate::native::layers;

/// Fills in derived sizes and reports contradictions.
pub(super) fn check(entries: &mut Entries, found: &mut Vec<Diagnostic>) {
    heads(entries, found);
    family::check(entries, found);
    rope(entries, found);
    latent(entries, found);
    experts(entries, found);
}

fn heads(entries: &mut Entries, found: &mut Vec<Diagnostic>) {
    let Some(heads) = entries.int("num_attention_heads") else {
        return;
    };
    if !entries.is_set("num_query_groups") && entries.json("num_query_groups").is_some() {
        entries.supply("num_query_groups", heads);
    }
    if let Some(groups) = entries.int("num_query_groups")
        && heads % groups != 0
    {
        let message = format!("{heads} attention heads cannot share {groups} query groups evenly");
        let below = (1..=groups.min(heads))
            .rev()
            .find(|groups| heads % groups == 0)
            .unwrap_or(1);
        found.push(
            contradiction(
                entries,
                message,
                &["num_query_groups", "num_attention_heads"],
            )
            .hint(format!(
                "write `num_query_groups: {below}`, or another divisor of {heads}"
            )),
        );
    }
    if entries.flag("multi_latent_attention") {
        // Latent attention has its own head sizes; the general one is unused.
        if !entries.is_set("kv_channels") && entries.json("kv_channels").is_some() {
            let size = entries.int("v_head_dim").unwrap_or(1);
            entries.supply("kv_channels", size);
        }
        return;
    }
    let Some(hidden) = entries.int("hidden_size") else {
        return;
    };
    if !entries.is_set("kv_channels") && entries.json("kv_channels").is_some() {
        if hidden % heads != 0 {
            let message =
                format!("a hidden size of {hidden} cannot be split over {heads} heads evenly");
            let (below, above) = (hidden / heads * heads, (hidden / heads + 1) * heads);
            let size = if below > 0 {
                format!("{below}` or `{above}")
            } else {
                above.to_string()
            };
            found.push(
                contradiction(entries, message, &["hidden_size", "num_attention_heads"]).hint(
                    format!(
                        "write `hidden_size: {size}`, or give the size of a head as `kv_channels`"
                    ),
                ),
            );
            return;
        }
        entries.supply("kv_channels", hidden / heads);
    }
    if let Some(size) = entries.int("kv_channels")
        && size % 2 != 0
    {
        let message = format!("a head of {size} elements cannot be rotated in pairs");
        found.push(
            contradiction(
                entries,
                message,
                &["kv_channels", "hidden_size", "num_attention_heads"],
            )
            .hint("rotary positions need an even `kv_channels`"),
        );
    }
}

fn rope(entries: &Entries, found: &mut Vec<Diagnostic>) {
    let (Some("llama3"), Some(low), Some(high)) = (
        entries.text("rope_scaling.type"),
        entries.float("rope_scaling.low_freq_factor"),
        entries.float("rope_scaling.high_freq_factor"),
    ) else {
        return;
    };
    if low >= high {
        let message = format!("`low_freq_factor` {low} is not below `high_freq_factor` {high}");
        let names = [
            "rope_scaling.low_freq_factor",
            "rope_scaling.high_freq_factor",
        ];
        found.push(contradiction(entries, message, &names).hint("Llama 3.1 has 1.0 and 4.0"));
    }
}

fn latent(entries: &Entries, found: &mut Vec<Diagnostic>) {
    let sizes = [
        "kv_lora_rank",
        "qk_head_dim",
        "qk_pos_emb_head_dim",
        "v_head_dim",
    ];
    if entries.flag("multi_latent_attention") {
        for name in sizes {
            if entries.json(name).is_some() && !entries.is_set(name) {
                let message = format!("`multi_latent_attention` needs `{name}`");
                found.push(
                    contradiction(entries, message, &["multi_latent_attention"]).hint(format!(
                        "write `{name}`; DeepSeek-V3 has 512, 128, 64 and 128 for the four sizes"
                    )),
                );
            }
        }
        return;
    }
    for name in sizes.into_iter().chain(["q_lora_rank"]) {
        if entries.is_set(name) {
            let message = format!("`{name}` is part of latent attention, which is off");
            found.push(
                contradiction(entries, message, &[name, "multi_latent_attention"])
                    .hint("write `multi_latent_attention: true`, or remove it"),
            );
        }
    }
}

fn experts(entries: &Entries, found: &mut Vec<Diagnostic>) {
    let Some(number) = entries.int("num_experts") else {
        return;
    };
    if let Some(visited) = entries.int("moe_router_topk")
        && visited > number
    {
        let message = format!("a token cannot visit {visited} of {number} experts");
        found.push(
            contradiction(entries, message, &["moe_router_topk", "num_experts"])
                .hint(format!("write `moe_router_topk: {number}` or less")),
        );
    }
    if let Some(groups) = entries.int("moe_router_num_groups") {
        if number % groups != 0 {
            let message = format!("{number} experts cannot form {groups} equal groups");
            found.push(
                contradiction(entries, message, &["moe_router_num_groups", "num_experts"])
                    .hint(format!("write a divisor of {number}")),
            );
        }
        if let Some(visited) = entries.int("moe_router_group_topk")
            && visited > groups
        {
            let message = format!("a token cannot visit {visited} of {groups} groups");
            found.push(
                contradiction(
                    entries,
                    message,
                    &["moe_router_group_topk", "moe_router_num_groups"],
                )
                .hint(format!("write `moe_router_group_topk: {groups}` or less")),
            );
        }
    }
    let (Some(pattern), Some(layers)) = (entries.json("moe_layer_freq"), entries.int("num_layers"))
    else {
        return;
    };
    let length = layers::expand(pattern, usize::try_from(layers).unwrap_or(0)).len();
    if length as u64 != layers {
        let message =
            format!("the layer pattern has {length} entries and the model {layers} layers");
        found.push(
            contradiction(entries, message, &["moe_layer_freq", "num_layers"])
                .hint(format!("give one entry to each of the {layers} layers")),
        );
    }
}
