//! Parameters against each other: derived values, and the contradictions that
//! no single row can show. A relation is skipped where one of its parameters
//! already has an error.

use cairn_base::Diagnostic;
use serde_json::Value as Json;

use super::entries::Entries;
use super::layers;
use super::values::yaml_text;

mod data;
mod family;
mod model;
mod schedule;

/// Fills in derived values and reports contradictions.
pub(super) fn check(entries: &mut Entries, ranks: usize, found: &mut Vec<Diagnostic>) {
    model::check(entries, found);
    batch(entries, ranks, found);
    schedule::check(entries, found);
    evaluation(entries, found);
    data::check(entries, found);
    scaling(entries, found);
    dropout(entries, found);
    checkpoints(entries, found);
    expand_layers(entries);
}

/// A contradiction between parameters, marked where each was written.
pub(super) fn contradiction(entries: &Entries, message: String, names: &[&str]) -> Diagnostic {
    marked(
        entries,
        Diagnostic::error("config::contradiction", message),
        names,
    )
}

fn marked(entries: &Entries, mut diagnostic: Diagnostic, names: &[&str]) -> Diagnostic {
    for name in names {
        diagnostic = entries.mark(name, diagnostic, "");
    }
    diagnostic
}

fn batch(entries: &mut Entries, ranks: usize, found: &mut Vec<Diagnostic>) {
    let Some(micro) = entries.int("micro_batch_size") else {
        return;
    };
    let unit = micro.saturating_mul(ranks.max(1) as u64);
    if !entries.is_set("global_batch_size") && entries.json("global_batch_size").is_some() {
        entries.supply("global_batch_size", unit);
    }
    let Some(global) = entries.int("global_batch_size") else {
        return;
    };
    if global % unit != 0 {
        let of = if ranks > 1 {
            format!(" times {ranks} ranks")
        } else {
            String::new()
        };
        let message = format!(
            "the global batch of {global} sequences is not a multiple of the micro batch of {micro}{of}"
        );
        let (below, above) = (global / unit * unit, (global / unit + 1) * unit);
        let hint = if below > 0 {
            format!("write `global_batch_size: {below}` or `{above}`")
        } else {
            format!("write `global_batch_size: {above}`, or a smaller `micro_batch_size`")
        };
        found.push(
            contradiction(entries, message, &["global_batch_size", "micro_batch_size"]).hint(hint),
        );
    }
    if let (Some(length), Some(longest)) = (
        entries.int("seq_length"),
        entries.int("max_position_embeddings"),
    ) && length > longest
    {
        let message =
            format!("sequences of {length} tokens are longer than the model's {longest} positions");
        found.push(
            contradiction(entries, message, &["seq_length", "max_position_embeddings"]).hint(
                format!(
                    "write `seq_length: {longest}` or less, or raise `max_position_embeddings`"
                ),
            ),
        );
    }
}

fn evaluation(entries: &Entries, found: &mut Vec<Diagnostic>) {
    let (Some(interval), Some(length)) = (entries.int("eval_interval"), entries.int("eval_iters"))
    else {
        return;
    };
    if interval == 0 {
        return;
    }
    if length == 0 {
        let message =
            format!("an evaluation every {interval} steps reads nothing: `eval_iters` is 0");
        found.push(
            contradiction(entries, message, &["eval_iters", "eval_interval"])
                .hint("write `eval_interval: 0` to never evaluate, or `eval_iters: 10`"),
        );
        return;
    }
    let source = entries.text("data.source");
    if entries.float("data.validation_fraction") == Some(0.0) && source.is_some_and(|s| s != "mock")
    {
        let message = format!("nothing is held out for the evaluation every {interval} steps");
        found.push(
            contradiction(entries, message, &["data.validation_fraction", "eval_interval"])
                .hint("write `eval_interval: 0` to never evaluate, or `validation_fraction: 0.05` in `data`"),
        );
    }
}

/// The fused attention never holds the probabilities that would be dropped.
fn dropout(entries: &Entries, found: &mut Vec<Diagnostic>) {
    if entries
        .float("attention_dropout")
        .is_some_and(|probability| probability > 0.0)
    {
        let message = "the native engine drops no attention weights";
        found.push(
            marked(
                entries,
                Diagnostic::error("config::unsupported", message),
                &["attention_dropout"],
            )
            .hint("write `attention_dropout: 0.0`; `hidden_dropout` is there"),
        );
    }
}

fn scaling(entries: &Entries, found: &mut Vec<Diagnostic>) {
    let Some(precision) = entries.text("precision") else {
        return;
    };
    if precision != "f16" && entries.is_set("loss_scale") {
        let message = format!("`loss_scale` has no effect with `precision: {precision}`");
        found.push(
            marked(
                entries,
                Diagnostic::warning("config::without-effect", message),
                &["loss_scale", "precision"],
            )
            .hint("only `precision: f16` scales the loss"),
        );
    }
    if let (Some(first), Some(least)) = (
        entries.float("initial_loss_scale"),
        entries.float("min_loss_scale"),
    ) && precision == "f16"
        && first < least
    {
        let message = format!("the first loss scale {first} is below the lowest, {least}");
        found.push(
            contradiction(entries, message, &["initial_loss_scale", "min_loss_scale"]).hint(
                format!(
                    "write `min_loss_scale: {}` or less",
                    yaml_text(&Json::from(first))
                ),
            ),
        );
    }
}

fn checkpoints(entries: &Entries, found: &mut Vec<Diagnostic>) {
    let (Some(every), Some(interval)) = (entries.int("keep_every"), entries.int("save_interval"))
    else {
        return;
    };
    if every > 0 && (interval == 0 || every % interval != 0) {
        let message = format!(
            "`keep_every: {every}` keeps nothing at most of its steps: checkpoints are written every {interval} steps"
        );
        let hint = if interval == 0 {
            format!("write `save_interval: {every}`")
        } else {
            format!("write a multiple of {interval}")
        };
        found.push(
            marked(
                entries,
                Diagnostic::warning("config::without-effect", message),
                &["keep_every", "save_interval"],
            )
            .hint(hint),
        );
    }
}

/// One truth value a layer in place of the pattern.
fn expand_layers(entries: &mut Entries) {
    let (Some(pattern), Some(number)) = (
        entries.json("moe_layer_freq").cloned(),
        entries.int("num_layers"),
    ) else {
        return;
    };
    let number = usize::try_from(number).unwrap_or(0);
    let flags = if entries.is_set("num_experts") {
        layers::expand(&pattern, number)
    } else {
        Vec::new()
    };
    entries.supply("moe_layer_freq", flags);
}
