//! The estimate of a model that the native engine cannot build: what follows
//! from its parameter count alone, and a word on what does not.

use std::fmt;

use cairn_config::native::{ModelParams, NativeExperiment, TrainingParams, parameters};
use serde::Serialize;

use super::{gib, grouped};
use crate::native::convert;

/// What can be said without a graph.
#[derive(Clone, Debug, Serialize)]
pub struct Counted {
    /// False: there is no graph, and so no memory plan.
    pub planned: bool,
    /// The model family.
    pub architecture: &'static str,
    /// Learned elements, without MTP layers.
    pub parameters: u64,
    /// Those a token passes through.
    pub active_parameters: u64,
    /// Those of the MTP layers; in none of the numbers below.
    pub mtp_parameters: u64,
    /// Tokens of an optimizer step.
    pub tokens_per_step: u64,
    /// FLOPs of forward and backward for a token, nothing recomputed.
    pub flops_per_token: u64,
    /// The same for all tokens of an optimizer step.
    pub flops_per_step: u64,
    /// Bytes that follow from the count.
    pub memory: CountedMemory,
    /// What is not in `memory`, and why.
    pub not_planned: String,
}

/// Bytes of what is kept between steps.
#[derive(Clone, Debug, Serialize)]
pub struct CountedMemory {
    /// Master weights.
    pub parameters: u64,
    /// Copies of the matrices in the compute dtype.
    pub copies: u64,
    /// Gradients.
    pub gradients: u64,
    /// Optimizer moments.
    pub moments: u64,
    /// The sum.
    pub states: u64,
}

impl Counted {
    /// Counts; `why` is what the engine lacks.
    #[must_use]
    pub fn new(experiment: &NativeExperiment, why: &str) -> Self {
        let (model, training) = (&experiment.model, &experiment.training);
        let count = parameters(model);
        let precision = convert::precision(training.precision);
        let master = precision.master().bytes(1) as u64;
        let copy = match precision.has_copies() {
            true => precision.compute().bytes(1) as u64,
            false => 0,
        };
        let copies = copy * count.matrices;
        let flops_per_token = flops_per_token(model, training);
        let tokens_per_step = training.tokens_per_step() as u64;
        Self {
            planned: false,
            architecture: model.architecture.name(),
            parameters: count.total,
            active_parameters: count.active,
            mtp_parameters: count.mtp,
            tokens_per_step,
            flops_per_token,
            flops_per_step: flops_per_token * tokens_per_step,
            memory: CountedMemory {
                parameters: master * count.total,
                copies,
                gradients: master * count.total,
                moments: 2 * master * count.total,
                states: 4 * master * count.total + copies,
            },
            not_planned: format!("activations and working space: {why}"),
        }
    }
}

/// Two FLOPs for each weight that a token meets, four more backward; attention
/// counts the visible pairs of query and key, with two products forward and
/// five backward, since scores are computed again there.
#[must_use]
pub fn flops_per_token(model: &ModelParams, training: &TrainingParams) -> u64 {
    let count = parameters(model);
    // A lookup multiplies nothing; a tied table is the output projection too.
    let lookup = if count.output > 0 { count.embedding } else { 0 };
    let norms: u64 = count.layers.iter().map(|layer| layer.norms).sum();
    let products = count.active - lookup - norms - count.final_norm;
    let size = |value: Option<usize>| value.unwrap_or(0) as u64;
    let (query, value) = if model.multi_latent_attention {
        let query = size(model.qk_head_dim) + size(model.qk_pos_emb_head_dim);
        (query, size(model.v_head_dim))
    } else {
        (model.kv_channels as u64, model.kv_channels as u64)
    };
    let forward_and_backward = 2 * (4 * query + 3 * value);
    let heads = model.num_attention_heads as u64;
    let pairs: u64 = (0..model.num_layers)
        .map(|layer| visible_pairs(training.seq_length as u64, window(model, layer)))
        .sum();
    6 * products + heads * forward_and_backward * pairs / (training.seq_length as u64).max(1)
}

/// The window of a layer, if it has one.
fn window(model: &ModelParams, layer: usize) -> Option<u64> {
    let full = model
        .window_attn_skip_freq
        .is_some_and(|every| every > 0 && (layer + 1).is_multiple_of(every));
    model.window_size.filter(|_| !full).map(|size| size as u64)
}

/// Pairs of a query and a key at or before it, at most `window` keys for each.
fn visible_pairs(tokens: u64, window: Option<u64>) -> u64 {
    let window = window.unwrap_or(tokens).min(tokens);
    window * (window + 1) / 2 + (tokens - window) * window
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "parameters           {}", grouped(self.parameters))?;
        if self.active_parameters < self.parameters {
            writeln!(
                f,
                "  active in a token  {}",
                grouped(self.active_parameters)
            )?;
        }
        if self.mtp_parameters > 0 {
            writeln!(f, "  MTP layers, apart  {}", grouped(self.mtp_parameters))?;
        }
        writeln!(f, "tokens a step        {}", grouped(self.tokens_per_step))?;
        let tera = |flops: u64| flops as f64 / 1e12;
        writeln!(
            f,
            "work a token         {:.6} TFLOP",
            tera(self.flops_per_token)
        )?;
        writeln!(
            f,
            "work a step          {:.3} TFLOP",
            tera(self.flops_per_step)
        )?;
        let m = &self.memory;
        writeln!(f, "states of a process  {}", gib(m.states))?;
        for (name, bytes) in [
            ("master weights", m.parameters),
            ("compute copies", m.copies),
            ("gradients", m.gradients),
            ("moments", m.moments),
        ] {
            writeln!(f, "  {name:<18} {}", gib(bytes))?;
        }
        write!(f, "not planned          {}", self.not_planned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_those_at_or_before_a_token_within_the_window() {
        for (tokens, window) in [
            (1, None),
            (9, None),
            (9, Some(1)),
            (9, Some(4)),
            (9, Some(50)),
        ] {
            let mut pairs = 0;
            for query in 0..tokens {
                for key in 0..=query {
                    pairs += u64::from(query - key < window.unwrap_or(u64::MAX));
                }
            }
            assert_eq!(visible_pairs(tokens, window), pairs, "{tokens} {window:?}");
        }
    }
}
