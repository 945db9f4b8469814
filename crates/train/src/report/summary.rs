//! The numbers at the head of the page.

use std::fmt::Write;

use super::format::{bytes, decimals, duration, escape, grouped, short, significant};
use super::points::Points;
use super::run::Run;

/// One number at the head of the page.
struct Tile {
    name: &'static str,
    value: String,
    note: String,
}

/// Writes the numbers, or that there are none yet.
pub(super) fn tiles(out: &mut String, run: &Run) {
    let tiles = summary(run);
    if tiles.is_empty() {
        out.push_str("<p class=\"warning\">No step is on record yet.</p>");
        return;
    }
    out.push_str("<dl class=\"tiles\">");
    for tile in tiles {
        let _ = write!(
            out,
            "<div><dt>{}</dt><dd>{}</dd><dd class=\"note\">{}</dd></div>",
            tile.name,
            escape(&tile.value),
            escape(&tile.note)
        );
    }
    out.push_str("</dl>");
}

fn summary(run: &Run) -> Vec<Tile> {
    let mut tiles = Vec::new();
    let mut push = |name, value: String, note: String| tiles.push(Tile { name, value, note });
    let last = |key: &str| run.points(key).last().copied();
    let finite = |key: &str| -> Vec<f64> {
        run.points(key)
            .iter()
            .map(|(_, value)| *value)
            .filter(|value| value.is_finite())
            .collect()
    };
    if let Some((step, loss)) = last("loss") {
        let total = run
            .setting("train_iters")
            .and_then(|total| total.parse().ok());
        let of = total
            .map(|total| format!("of {}", grouped(total)))
            .unwrap_or_default();
        push("Steps", grouped(step), of);
        let mean = run
            .points("loss")
            .iter()
            .rev()
            .take(10)
            .map(|(_, l)| *l)
            .collect::<Vec<_>>();
        let mean = mean.iter().sum::<f64>() / mean.len() as f64;
        push(
            "Training loss",
            decimals(mean),
            format!("last 10 steps; last {}", decimals(loss)),
        );
    }
    let best = |points: Points| {
        points
            .into_iter()
            .filter(|p| p.1.is_finite())
            .min_by(|a, b| a.1.total_cmp(&b.1))
    };
    if let Some((step, loss)) = best(run.points("val_loss")) {
        push(
            "Validation loss",
            decimals(loss),
            format!("best, at step {}", grouped(step)),
        );
    }
    if let Some((step, bits)) = best(run.points("val_bits_per_char")) {
        push(
            "Bits per character",
            decimals(bits),
            format!("held out, at step {}", grouped(step)),
        );
    }
    if let Some((_, tokens)) = last("tokens").filter(|(_, tokens)| tokens.is_finite()) {
        push(
            "Tokens",
            short(tokens),
            format!("{} exactly", grouped(tokens as u64)),
        );
    }
    let mut rates = finite("tokens_per_s");
    rates.sort_by(f64::total_cmp);
    if let Some(median) = rates.get(rates.len() / 2) {
        push(
            "Tokens per second",
            short(*median),
            "median over steps".into(),
        );
    }
    let times = finite("step_ms");
    if !times.is_empty() {
        let total: f64 = times.iter().sum();
        let mean = total / times.len() as f64;
        push(
            "Time in steps",
            duration(total / 1e3),
            format!("{} ms a step", significant(mean, 3)),
        );
    }
    if let Some(peak) = finite("mem_bytes").into_iter().max_by(f64::total_cmp) {
        push("Peak memory", bytes(peak), "highest on record".into());
    }
    tiles
}
