//! Relations between source, tokenizer and model.

use cairn_base::Diagnostic;
use serde_json::Value as Json;

use super::{contradiction, marked};
use crate::native::entries::Entries;

/// Reports contradictions and gives a trained tokenizer the model's size.
pub(super) fn check(entries: &mut Entries, found: &mut Vec<Diagnostic>) {
    data(entries, found);
    tokenizer(entries, found);
    sample(entries, found);
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
