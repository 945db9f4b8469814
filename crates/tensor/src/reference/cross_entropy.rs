//! Cross entropy with all logits of one token at a time.

use cairn_formats::DType;
use cairn_graph::ops::cross_entropy::CrossEntropyConfig;
use cairn_graph::ops::{CrossEntropy, CrossEntropyGrad, CrossEntropyWithGrad};
use cairn_graph::{Op, Shape};

use super::movement::row;
use super::{Results, Values, attributes};
use crate::error::KernelError;

/// One token that counts: its row, its logits' logarithmic sum, its target.
struct Token {
    position: usize,
    target: usize,
    logits: Vec<f64>,
    lse: f64,
}

fn tokens(inputs: &[Values]) -> Result<Vec<Token>, KernelError> {
    let (h, w) = (&inputs[0], &inputs[1]);
    let mut all = Vec::new();
    for (position, target) in inputs[2].data.iter().enumerate() {
        if *target < 0.0 {
            continue;
        }
        let target = row(*target, position, w.shape[0], "target")?;
        let d = h.shape.last();
        let h = &h.data[position * d..(position + 1) * d];
        let logits: Vec<f64> = w
            .rows()
            .map(|w| w.iter().zip(h).map(|(w, h)| w * h).sum())
            .collect();
        let max = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let lse = max + logits.iter().map(|x| (x - max).exp()).sum::<f64>().ln();
        all.push(Token {
            position,
            target,
            logits,
            lse,
        });
    }
    Ok(all)
}

fn loss(config: &CrossEntropyConfig, tokens: &[Token]) -> Vec<Vec<f64>> {
    let one = |token: &Token| {
        token.lse - token.logits[token.target] + config.z_loss * token.lse * token.lse
    };
    vec![
        vec![tokens.iter().map(one).sum()],
        vec![tokens.len() as f64],
    ]
}

fn gradients(config: &CrossEntropyConfig, tokens: &[Token], inputs: &[Values]) -> Vec<Vec<f64>> {
    let (h, w, dloss) = (&inputs[0].data, &inputs[1].data, inputs[3].scalar());
    let d = inputs[0].shape.last();
    let (mut dh, mut dw) = (vec![0.0; h.len()], vec![0.0; w.len()]);
    for token in tokens {
        let at = token.position * d;
        for (index, logit) in token.logits.iter().enumerate() {
            let p = (logit - token.lse).exp() * (1.0 + 2.0 * config.z_loss * token.lse);
            let dlogit = dloss * (p - f64::from(u8::from(index == token.target)));
            for column in 0..d {
                dh[at + column] += dlogit * w[index * d + column];
                dw[index * d + column] += dlogit * h[at + column];
            }
        }
    }
    vec![dh, dw]
}

pub(super) fn forward(op: &dyn Op, inputs: &[Values], _: &[Shape], _: &[DType]) -> Option<Results> {
    let config = attributes::<CrossEntropy>(op)?.config;
    Some(tokens(inputs).map(|tokens| loss(&config, &tokens)))
}

pub(super) fn backward(
    op: &dyn Op,
    inputs: &[Values],
    _: &[Shape],
    _: &[DType],
) -> Option<Results> {
    let config = attributes::<CrossEntropyGrad>(op)?.config;
    Some(tokens(inputs).map(|tokens| gradients(&config, &tokens, inputs)))
}

pub(super) fn both(op: &dyn Op, inputs: &[Values], _: &[Shape], _: &[DType]) -> Option<Results> {
    let config = attributes::<CrossEntropyWithGrad>(op)?.config;
    Some(tokens(inputs).map(|tokens| {
        let mut results = loss(&config, &tokens);
        results.extend(gradients(&config, &tokens, inputs));
        results
    }))
}
