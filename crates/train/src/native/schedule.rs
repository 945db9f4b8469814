//! Learning rates by step, as Megatron defines them.

use cairn_config::native::{LrDecayStyle, TrainingParams, WsdDecayStyle};

/// Learning rate of optimizer step `step`, counted from 1.
///
/// Linear warm-up from `lr_warmup_init` reaches `lr` at step `lr_warmup_iters`;
/// the decay then reaches `min_lr` at step `lr_decay_iters`.
#[must_use]
pub fn learning_rate(training: &TrainingParams, step: u64) -> f64 {
    let (lr, min_lr) = (training.lr, training.min_lr);
    let warmup = training.lr_warmup_iters;
    if warmup > 0 && step <= warmup {
        let start = training.lr_warmup_init;
        return start + (lr - start) * step as f64 / warmup as f64;
    }
    let end = training.lr_decay_iters.max(1);
    if training.lr_decay_style == LrDecayStyle::Constant {
        return lr;
    }
    if step > end {
        return min_lr;
    }
    let progress = (step - warmup) as f64 / end.saturating_sub(warmup).max(1) as f64;
    let factor = match training.lr_decay_style {
        LrDecayStyle::Constant => 1.0,
        LrDecayStyle::Linear => 1.0 - progress,
        LrDecayStyle::Cosine => 0.5 * (1.0 + (std::f64::consts::PI * progress).cos()),
        LrDecayStyle::Wsd => wsd(training, step, end),
    };
    min_lr + (lr - min_lr) * factor
}

/// 1 until the closing decay begins, then its shape.
fn wsd(training: &TrainingParams, step: u64, end: u64) -> f64 {
    let decay = training.lr_wsd_decay_iters;
    let begin = end.saturating_sub(decay);
    if decay == 0 || step <= begin {
        return 1.0;
    }
    let x = (step - begin) as f64 / decay as f64;
    match training.lr_wsd_decay_style {
        WsdDecayStyle::Linear => 1.0 - x,
        WsdDecayStyle::Cosine => 0.5 * (1.0 + (std::f64::consts::PI * x).cos()),
        WsdDecayStyle::Exponential => 2.0 * 0.5_f64.powf(x) - 1.0,
        WsdDecayStyle::MinusSqrt => 1.0 - x.sqrt(),
    }
}
