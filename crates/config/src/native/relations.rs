//! Parameters against each other: derived values, and the contradictions that
//! no single row can show. A relation is skipped where one of its parameters
//! already has an error.

use cairn_base::Diagnostic;
use serde_json::Value as Json;

use super::entries::Entries;
use super::values::yaml_text;
use super::{layers, relations_model};

/// Fills in derived values and reports contradictions.
pub(super) fn check(entries: &mut Entries, ranks: usize, found: &mut Vec<Diagnostic>) {
    relations_model::check(entries, found);
    batch(entries, ranks, found);
    schedule(entries, found);
    evaluation(entries, found);
    data(entries, found);
    tokenizer(entries, found);
    sample(entries, found);
    scaling(entries, found);
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

fn schedule(entries: &mut Entries, found: &mut Vec<Diagnostic>) {
    if let (Some(lr), Some(min)) = (entries.float("lr"), entries.float("min_lr"))
        && min > lr
    {
        let message = format!("the lowest learning rate {min} is above the highest, {lr}");
        found.push(
            contradiction(entries, message, &["min_lr", "lr"]).hint(format!(
                "write `min_lr: {}` or less",
                yaml_text(&Json::from(lr))
            )),
        );
    }
    let iters = entries.int("train_iters");
    if !entries.is_set("lr_decay_iters")
        && entries.json("lr_decay_iters").is_some()
        && let Some(iters) = iters
    {
        entries.supply("lr_decay_iters", iters);
    }
    warmup(entries, found);
    wsd(entries, found);
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share below 1 of a step count, rounded to whole steps"
)]
fn warmup(entries: &mut Entries, found: &mut Vec<Diagnostic>) {
    let (Some(steps), Some(decay)) = (
        entries.int("lr_warmup_iters"),
        entries.int("lr_decay_iters"),
    ) else {
        return;
    };
    let fraction = entries.float("lr_warmup_fraction");
    if steps > 0 && fraction.is_some() {
        let message = "the warm-up is given twice, in steps and as a share".to_owned();
        found.push(
            contradiction(entries, message, &["lr_warmup_iters", "lr_warmup_fraction"])
                .hint("keep `lr_warmup_iters` or `lr_warmup_fraction`, not both"),
        );
        return;
    }
    if let Some(fraction) = fraction {
        entries.supply("lr_warmup_iters", (fraction * decay as f64).round() as u64);
        return;
    }
    let (limit, what) = match entries.int("train_iters") {
        Some(iters) if iters < decay => (iters, "the training"),
        _ if entries.origin("lr_decay_iters").is_some() => (decay, "the decay"),
        _ => (decay, "the training"),
    };
    // The last step has to come after the warm-up, or the peak is never used.
    if steps >= limit {
        let message =
            format!("the warm-up of {steps} steps is not shorter than {what} of {limit} steps");
        let other = if what == "the decay" {
            "lr_decay_iters"
        } else {
            "train_iters"
        };
        found.push(
            contradiction(entries, message, &["lr_warmup_iters", other])
                .hint(format!("write `lr_warmup_iters: {}` or less", limit / 10)),
        );
    }
}

fn wsd(entries: &mut Entries, found: &mut Vec<Diagnostic>) {
    let is_wsd = entries.text("lr_decay_style") == Some("WSD");
    match (is_wsd, entries.int("lr_wsd_decay_iters")) {
        (true, None) if entries.json("lr_wsd_decay_iters").is_some() => {
            let fifth = entries
                .int("lr_decay_iters")
                .map_or(1, |decay| (decay / 5).max(1));
            let message = "WSD needs the length of its closing decay".to_owned();
            found.push(
                contradiction(entries, message, &["lr_decay_style"])
                    .hint(format!("write `lr_wsd_decay_iters`, for example {fifth}")),
            );
        }
        (true, Some(closing)) => {
            let (Some(decay), Some(warmup)) = (
                entries.int("lr_decay_iters"),
                entries.int("lr_warmup_iters"),
            ) else {
                return;
            };
            let room = decay.saturating_sub(warmup);
            if closing > room {
                let message = format!(
                    "the closing decay of {closing} steps does not fit into the {room} steps after warm-up"
                );
                found.push(
                    contradiction(entries, message, &["lr_wsd_decay_iters", "lr_decay_iters"])
                        .hint(format!("write `lr_wsd_decay_iters: {room}` or less")),
                );
            }
        }
        (false, Some(_)) => found.push(
            marked(
                entries,
                Diagnostic::warning(
                    "config::without-effect",
                    "`lr_wsd_decay_iters` has no effect without `lr_decay_style: WSD`",
                ),
                &["lr_wsd_decay_iters", "lr_decay_style"],
            )
            .hint("write `lr_decay_style: WSD`, or remove it"),
        ),
        (_, None) => {}
    }
    if !entries.is_set("lr_wsd_decay_iters") {
        entries.supply("lr_wsd_decay_iters", 0);
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

fn data(entries: &Entries, found: &mut Vec<Diagnostic>) {
    let Some(source) = entries.text("data.source") else {
        return;
    };
    let paths = entries
        .json("data.paths")
        .and_then(Json::as_array)
        .map(Vec::len);
    match (source, paths) {
        ("mock", Some(number)) if number > 0 => found.push(
            marked(
                entries,
                Diagnostic::warning("config::without-effect", "`source: mock` reads no `paths`"),
                &["data.paths", "data.source"],
            )
            .hint("write `source: text` to read them, or remove them"),
        ),
        ("text" | "jsonl" | "megatron", Some(0)) => {
            let message = format!("`source: {source}` has no `paths` to read");
            let hint = match source {
                "text" => {
                    "write `paths: [\"corpus/**/*.txt\"]` in `data`, or `paths: [cargo-registry]`"
                }
                "jsonl" => "write `paths: [\"corpus/*.jsonl\"]` in `data`",
                _ => "write `paths: [tokens]` in `data` for the pair tokens.bin and tokens.idx",
            };
            found.push(contradiction(entries, message, &["data.source"]).hint(hint));
        }
        _ => {}
    }
    if matches!(source, "text" | "jsonl")
        && entries.json("data.tokenizer").is_some_and(Json::is_null)
    {
        let message = format!("`source: {source}` needs a tokenizer");
        found.push(
            contradiction(entries, message, &["data.source", "data.tokenizer"])
                .hint("write `tokenizer: {kind: bpe}` in `data` to train one on the corpus")
                .hint("or `tokenizer: {kind: file, path: tokenizer.json}` for one that exists"),
        );
    }
}

/// Tokens of the byte tokenizer: the bytes and the end of text.
const BYTE_TOKENS: u64 = 257;
/// A byte-level BPE begins with the bytes and the end of text.
const SMALLEST_BPE: u64 = 257;

fn tokenizer(entries: &mut Entries, found: &mut Vec<Diagnostic>) {
    let Some(kind) = entries.text("data.tokenizer.kind").map(str::to_owned) else {
        return;
    };
    match kind.as_str() {
        "bpe" => trained_tokenizer(entries, found),
        "bytes" => byte_tokenizer(entries, found),
        _ => {
            same_vocabulary(entries, found);
            if entries
                .json("data.tokenizer.path")
                .is_some_and(Json::is_null)
            {
                let message = "`kind: file` does not say which file".to_owned();
                found.push(
                    contradiction(entries, message, &["data.tokenizer.kind"])
                        .hint("write `tokenizer: {kind: file, path: tokenizer.json}`"),
                );
            }
        }
    }
    if kind != "file" && entries.is_set("data.tokenizer.path") {
        let message = format!("`kind: {kind}` reads no `path`");
        found.push(
            contradiction(
                entries,
                message,
                &["data.tokenizer.path", "data.tokenizer.kind"],
            )
            .hint("write `kind: file` to use it, or remove it"),
        );
    }
}

fn trained_tokenizer(entries: &mut Entries, found: &mut Vec<Diagnostic>) {
    if !entries.is_set("data.tokenizer.vocab_size")
        && entries.json("data.tokenizer.vocab_size").is_some()
        && let Some(model) = entries.int("vocab_size")
    {
        entries.supply("data.tokenizer.vocab_size", model);
    }
    if same_vocabulary(entries, found)
        && let Some(size) = entries
            .int("data.tokenizer.vocab_size")
            .filter(|size| *size < SMALLEST_BPE)
    {
        let message = format!(
            "a byte-level BPE of {size} tokens cannot hold the 256 bytes and the end of text"
        );
        found.push(
            contradiction(
                entries,
                message,
                &["data.tokenizer.vocab_size", "vocab_size"],
            )
            .hint(format!(
                "write `vocab_size: {SMALLEST_BPE}` or more, for model and tokenizer"
            )),
        );
    }
}

/// False if tokenizer and model are of different sizes.
fn same_vocabulary(entries: &Entries, found: &mut Vec<Diagnostic>) -> bool {
    let (Some(size), Some(model)) = (
        entries.int("data.tokenizer.vocab_size"),
        entries.int("vocab_size"),
    ) else {
        return true;
    };
    if size == model {
        return true;
    }
    let message = format!("the tokenizer has {size} tokens and the model {model}");
    found.push(
        contradiction(
            entries,
            message,
            &["data.tokenizer.vocab_size", "vocab_size"],
        )
        .hint(format!(
            "write `vocab_size: {size}` in `overrides` to fit the model to the tokenizer"
        ))
        .hint(format!(
            "or `vocab_size: {model}` in `tokenizer` to fit the tokenizer to the model"
        )),
    );
    false
}

fn byte_tokenizer(entries: &Entries, found: &mut Vec<Diagnostic>) {
    if entries.is_set("data.tokenizer.vocab_size") {
        let message = format!("the byte tokenizer always has {BYTE_TOKENS} tokens");
        found.push(
            contradiction(
                entries,
                message,
                &["data.tokenizer.vocab_size", "data.tokenizer.kind"],
            )
            .hint("remove `vocab_size` from `tokenizer`, or write `kind: bpe`"),
        );
    }
    if let Some(model) = entries
        .int("vocab_size")
        .filter(|model| *model < BYTE_TOKENS)
    {
        let message = format!("the byte tokenizer has {BYTE_TOKENS} tokens and the model {model}");
        found.push(
            contradiction(entries, message, &["data.tokenizer.kind", "vocab_size"])
                .hint(format!("write `vocab_size: {BYTE_TOKENS}` in `overrides`")),
        );
    }
}

fn sample(entries: &Entries, found: &mut Vec<Diagnostic>) {
    if entries.is_set("sample")
        && entries.json("data.tokenizer").is_some_and(Json::is_null)
        && matches!(entries.text("data.source"), Some("mock" | "megatron"))
    {
        let message = "a sample of text needs a tokenizer".to_owned();
        found.push(
            contradiction(entries, message, &["sample", "data.source"])
                .hint("write `sample: null`, or `tokenizer: {kind: file, path: tokenizer.json}` in `data`"),
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
