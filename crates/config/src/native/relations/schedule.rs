//! Relations between the parameters of the learning rate.

use cairn_base::Diagnostic;
use serde_json::Value as Json;

use super::{contradiction, marked};
use crate::native::entries::Entries;
use crate::native::values::yaml_text;

/// Fills in the steps of warm-up and decay and reports contradictions.
pub(super) fn check(entries: &mut Entries, found: &mut Vec<Diagnostic>) {
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
    if let (Some(lr), Some(start)) = (entries.float("lr"), entries.float("lr_warmup_init"))
        && start > lr
    {
        let message =
            format!("the warm-up starts at {start}, above the highest learning rate {lr}");
        found.push(
            contradiction(entries, message, &["lr_warmup_init", "lr"]).hint(format!(
                "write `lr_warmup_init: {}` or less",
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
