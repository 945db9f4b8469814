//! Attention with the S x S matrix written out.

use cairn_formats::DType;
use cairn_graph::ops::{Attention, AttentionGrad};
use cairn_graph::{Op, Shape};

use super::{Results, Values, attributes};

/// Sizes, options and the visible keys of each query.
struct Problem<'a> {
    q: &'a Values,
    k: &'a Values,
    v: &'a Values,
    scale: f64,
    causal: bool,
    start: i64,
}

impl<'a> Problem<'a> {
    fn new(inputs: &'a [Values], start: Option<&Values>, scale: f64, causal: bool) -> Self {
        let (q, k, v) = (&inputs[0], &inputs[1], &inputs[2]);
        let last = k.shape[1] as i64 - q.shape[1] as i64;
        Self {
            q,
            k,
            v,
            scale,
            causal,
            start: start.map_or(last, |start| start.scalar() as i64),
        }
    }

    /// One head of one position.
    fn head(values: &'a Values, batch: usize, position: usize, head: usize) -> &'a [f64] {
        let (heads, d) = (values.shape[2], values.shape[3]);
        let at = ((batch * values.shape[1] + position) * heads + head) * d;
        &values.data[at..at + d]
    }

    /// Number of keys query `i` sees.
    fn visible(&self, i: usize) -> usize {
        let all = self.k.shape[1];
        if !self.causal {
            return all;
        }
        usize::try_from(self.start + i as i64 + 1)
            .unwrap_or(0)
            .min(all)
    }

    fn key_head(&self, head: usize) -> usize {
        head / (self.q.shape[2] / self.k.shape[2])
    }

    fn scores(&self, batch: usize, head: usize, i: usize) -> Vec<f64> {
        let q = Self::head(self.q, batch, i, head);
        let score = |j| {
            let k = Self::head(self.k, batch, j, self.key_head(head));
            self.scale * q.iter().zip(k).map(|(q, k)| q * k).sum::<f64>()
        };
        (0..self.visible(i)).map(score).collect()
    }

    /// Every batch, head and query.
    fn queries(&self) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let (b, s, h) = (self.q.shape[0], self.q.shape[1], self.q.shape[2]);
        (0..b).flat_map(move |batch| {
            (0..h).flat_map(move |head| (0..s).map(move |i| (batch, head, i)))
        })
    }
}

pub(super) fn forward(
    op: &dyn Op,
    inputs: &[Values],
    shapes: &[Shape],
    _: &[DType],
) -> Option<Results> {
    let op = attributes::<Attention>(op)?;
    let problem = Problem::new(inputs, inputs.get(3), op.scale, op.causal);
    let (heads, dv) = (shapes[0][2], shapes[0][3]);
    let mut out = vec![0.0; shapes[0].num_elements()];
    let mut lse = Vec::new();
    for (batch, head, i) in problem.queries() {
        let scores = problem.scores(batch, head, i);
        let max = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = scores.iter().map(|score| (score - max).exp()).sum();
        lse.push(if scores.is_empty() {
            f64::NEG_INFINITY
        } else {
            max + sum.ln()
        });
        let at = ((batch * shapes[0][1] + i) * heads + head) * dv;
        for (j, score) in scores.iter().enumerate() {
            let p = (score - max).exp() / sum;
            let v = Problem::head(problem.v, batch, j, problem.key_head(head));
            for (slot, v) in out[at..at + dv].iter_mut().zip(v) {
                *slot += p * v;
            }
        }
    }
    Some(Ok(vec![out, lse]))
}

pub(super) fn backward(
    op: &dyn Op,
    inputs: &[Values],
    shapes: &[Shape],
    _: &[DType],
) -> Option<Results> {
    let op = attributes::<AttentionGrad>(op)?;
    let problem = Problem::new(inputs, inputs.get(6), op.scale, op.causal);
    let (out, lse, dout) = (&inputs[3], &inputs[4], &inputs[5]);
    let mut grads: Vec<Vec<f64>> = shapes
        .iter()
        .map(|shape| vec![0.0; shape.num_elements()])
        .collect();
    let offset = |shape: &Shape, batch: usize, position: usize, head: usize| {
        ((batch * shape[1] + position) * shape[2] + head) * shape[3]
    };
    for (batch, head, i) in problem.queries() {
        let scores = problem.scores(batch, head, i);
        let lse = lse.data[(batch * shapes[0][2] + head) * shapes[0][1] + i];
        let (o, d_o) = (
            Problem::head(out, batch, i, head),
            Problem::head(dout, batch, i, head),
        );
        let delta: f64 = o.iter().zip(d_o).map(|(o, d_o)| o * d_o).sum();
        let q = Problem::head(problem.q, batch, i, head);
        let kv = problem.key_head(head);
        for (j, score) in scores.iter().enumerate() {
            let p = (score - lse).exp();
            let (k, v) = (
                Problem::head(problem.k, batch, j, kv),
                Problem::head(problem.v, batch, j, kv),
            );
            let dp: f64 = d_o.iter().zip(v).map(|(d_o, v)| d_o * v).sum();
            let ds = p * (dp - delta) * op.scale;
            let (at_q, at_k, at_v) = (
                offset(&shapes[0], batch, i, head),
                offset(&shapes[1], batch, j, kv),
                offset(&shapes[2], batch, j, kv),
            );
            for index in 0..q.len() {
                grads[0][at_q + index] += ds * k[index];
                grads[1][at_k + index] += ds * q[index];
            }
            for (index, d_o) in d_o.iter().enumerate() {
                grads[2][at_v + index] += p * d_o;
            }
        }
    }
    Some(Ok(grads))
}
