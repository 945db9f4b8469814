//! Answers as people read them.

use std::fmt::Write;

use crate::checkpoint::{Inspection, Listing};
use crate::data::report::SplitReport;
use crate::data::settings::SourceKind;
use crate::data::{InspectReport, PrepareReport};

/// `1.5 MB` and the like: powers of 1000.
#[must_use]
pub fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        if value < 1000.0 {
            return if unit == "B" {
                format!("{bytes} B")
            } else {
                format!("{value:.1} {unit}")
            };
        }
        value /= 1000.0;
    }
    format!("{value:.1} TB")
}

/// One line a checkpoint.
#[must_use]
pub fn listing(rows: &[Listing]) -> String {
    let line = |row: &Listing| {
        let state = row
            .problem
            .as_ref()
            .map_or_else(String::new, |problem| format!("  damaged: {problem}"));
        format!(
            "{:>8}  {:>10}  {}{state}",
            row.step,
            size(row.bytes),
            row.path.display()
        )
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Files, tensors and state of one checkpoint.
#[must_use]
pub fn inspection(found: &Inspection) -> String {
    let mut text = format!(
        "{}\nstep {}, {} tensors with {} elements, {}\n",
        found.path.display(),
        found.step,
        found.tensors.len(),
        found.elements,
        size(found.bytes),
    );
    for tensor in &found.tensors {
        let _ = writeln!(
            text,
            "  {:<56} {:<5} {:?}",
            tensor.name,
            tensor.dtype.to_string(),
            tensor.shape
        );
    }
    let _ = write!(text, "state {}", found.state);
    text
}

/// What a corpus holds.
#[must_use]
pub fn prepared(report: &PrepareReport) -> String {
    let mut text = String::new();
    let side = |text: &mut String, name: &str, side: &SplitReport| {
        let ratio = side.chars_per_token.map_or_else(String::new, |ratio| {
            format!(", {ratio:.3} characters a token")
        });
        let documents = match report.source {
            SourceKind::Mock => "made up".to_owned(),
            _ => format!("{} documents", side.stats.documents),
        };
        let _ = writeln!(
            text,
            "{name:<11} {documents}, {} tokens, {} sequences{ratio}",
            side.stats.tokens, side.sequences
        );
    };
    side(&mut text, "training", &report.train);
    if let Some(validation) = &report.validation {
        side(&mut text, "held out", validation);
    }
    if !report.held_out.is_empty() {
        let _ = writeln!(text, "crates held out: {}", report.held_out.join(", "));
    }
    if let Some(tokenizer) = &report.tokenizer {
        let _ = writeln!(
            text,
            "tokenizer   {}, {} entries",
            tokenizer.name, tokenizer.vocab_size
        );
    }
    match (&report.cache_dir, report.cache_hit) {
        (Some(dir), true) => {
            let _ = write!(text, "cache       {} (nothing to do)", dir.display());
        }
        (Some(dir), false) => {
            let _ = write!(
                text,
                "cache       {} (tokenizer {:.1} s, encoding {:.1} s)",
                dir.display(),
                report.seconds.tokenizer,
                report.seconds.encode
            );
        }
        (None, _) => text.push_str("cache       not needed"),
    }
    text
}

/// What a corpus holds, and its first sequences.
#[must_use]
pub fn inspected(report: &InspectReport) -> String {
    let mut text = prepared(&report.prepared);
    for (index, example) in report.examples.iter().enumerate() {
        let _ = write!(text, "\n\nsequence {index}: tokens {:?} ..", example.tokens);
        if let Some(decoded) = &example.text {
            let _ = write!(text, "\n{decoded}");
        }
    }
    text
}
