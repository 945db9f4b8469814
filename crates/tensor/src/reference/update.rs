//! Updates of states.

use cairn_formats::DType;
use cairn_graph::ops::{AdamW, Assign, CacheWrite};
use cairn_graph::{Op, Shape};

use super::{Results, Values, attributes};
use crate::error::KernelError;

pub(super) fn assign(op: &dyn Op, inputs: &[Values], _: &[Shape], _: &[DType]) -> Option<Results> {
    attributes::<Assign>(op)?;
    Some(Ok(vec![inputs[1].data.clone()]))
}

pub(super) fn cache_write(
    op: &dyn Op,
    inputs: &[Values],
    _: &[Shape],
    _: &[DType],
) -> Option<Results> {
    attributes::<CacheWrite>(op)?;
    let (cache, new, position) = (&inputs[0], &inputs[1], inputs[2].scalar());
    let (max, len) = (cache.shape[1], new.shape[1]);
    if position < 0.0 || position as usize + len > max {
        let message =
            format!("position {position} with {len} new entries exceeds the cache of {max}");
        return Some(Err(KernelError(message)));
    }
    let entry = cache.shape[2] * cache.shape[3];
    let mut out = cache.data.clone();
    for (batch, new) in new.data.chunks_exact((len * entry).max(1)).enumerate() {
        let at = (batch * max + position as usize) * entry;
        out[at..at + new.len()].copy_from_slice(new);
    }
    Some(Ok(vec![out]))
}

pub(super) fn adamw(op: &dyn Op, inputs: &[Values], _: &[Shape], _: &[DType]) -> Option<Results> {
    let op = attributes::<AdamW>(op)?;
    let schedule = &inputs[4].data;
    let (lr, bias1, bias2) = (schedule[0], schedule[1], schedule[2]);
    let (scale, apply) = (inputs[5].scalar(), inputs[6].scalar() != 0.0);
    let (mut param, mut m, mut v) = (
        inputs[0].data.clone(),
        inputs[2].data.clone(),
        inputs[3].data.clone(),
    );
    for index in 0..if apply { param.len() } else { 0 } {
        let g = inputs[1].data[index] * scale;
        m[index] = op.beta1 * m[index] + (1.0 - op.beta1) * g;
        v[index] = op.beta2 * v[index] + (1.0 - op.beta2) * g * g;
        let step = m[index] / bias1 / ((v[index] / bias2).sqrt() + op.eps);
        param[index] -= lr * (step + op.weight_decay * param[index]);
    }
    let mut results = vec![param.clone(), m, v];
    if op.copy {
        // The copy is rounded from the stored parameter, which is rounded itself.
        results.push(if apply { param } else { inputs[7].data.clone() });
    }
    Some(Ok(results))
}
