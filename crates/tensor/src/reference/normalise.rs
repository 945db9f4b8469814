//! Softmax and norms over the innermost dim, and their gradients.

use cairn_formats::DType;
use cairn_graph::ops::{LayerNorm, LayerNormGrad, RmsNorm, RmsNormGrad, Softmax, SoftmaxGrad};
use cairn_graph::{Op, Shape};

use super::{Results, Values, attributes};

pub(super) fn softmax(op: &dyn Op, inputs: &[Values], _: &[Shape], _: &[DType]) -> Option<Results> {
    let log = attributes::<Softmax>(op)?.log;
    let mut out = Vec::new();
    for row in inputs[0].rows() {
        let max = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = row.iter().map(|x| (x - max).exp()).sum();
        out.extend(row.iter().map(|x| {
            if log {
                x - max - sum.ln()
            } else {
                (x - max).exp() / sum
            }
        }));
    }
    Some(Ok(vec![out]))
}

pub(super) fn softmax_grad(
    op: &dyn Op,
    inputs: &[Values],
    _: &[Shape],
    _: &[DType],
) -> Option<Results> {
    let log = attributes::<SoftmaxGrad>(op)?.log;
    let mut out = Vec::new();
    for (y, dy) in inputs[0].rows().zip(inputs[1].rows()) {
        if log {
            let sum: f64 = dy.iter().sum();
            out.extend(y.iter().zip(dy).map(|(y, dy)| dy - y.exp() * sum));
        } else {
            let dot: f64 = y.iter().zip(dy).map(|(y, dy)| y * dy).sum();
            out.extend(y.iter().zip(dy).map(|(y, dy)| y * (dy - dot)));
        }
    }
    Some(Ok(vec![out]))
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

pub(super) fn rmsnorm(op: &dyn Op, inputs: &[Values], _: &[Shape], _: &[DType]) -> Option<Results> {
    let eps = attributes::<RmsNorm>(op)?.eps;
    let (mut y, mut statistics) = (Vec::new(), Vec::new());
    for row in inputs[0].rows() {
        let rstd = 1.0 / (mean(row.iter().map(|x| x * x)) + eps).sqrt();
        y.extend(
            row.iter()
                .zip(&inputs[1].data)
                .map(|(x, weight)| x * rstd * weight),
        );
        statistics.push(rstd);
    }
    Some(Ok(vec![y, statistics]))
}

pub(super) fn rmsnorm_grad(
    op: &dyn Op,
    inputs: &[Values],
    _: &[Shape],
    _: &[DType],
) -> Option<Results> {
    attributes::<RmsNormGrad>(op)?;
    let (x, weight, rstd, dy) = (&inputs[0], &inputs[1].data, &inputs[2].data, &inputs[3]);
    let (mut dx, mut dweight) = (Vec::new(), vec![0.0; weight.len()]);
    for ((x, dy), rstd) in x.rows().zip(dy.rows()).zip(rstd) {
        let dot = mean((0..x.len()).map(|i| dy[i] * weight[i] * x[i] * rstd));
        for i in 0..x.len() {
            dx.push(rstd * (dy[i] * weight[i] - x[i] * rstd * dot));
            dweight[i] += dy[i] * x[i] * rstd;
        }
    }
    if let Some(residual) = inputs.get(4) {
        for (dx, residual) in dx.iter_mut().zip(&residual.data) {
            *dx += residual;
        }
    }
    Some(Ok(vec![dx, dweight]))
}

pub(super) fn layernorm(
    op: &dyn Op,
    inputs: &[Values],
    _: &[Shape],
    _: &[DType],
) -> Option<Results> {
    let eps = attributes::<LayerNorm>(op)?.eps;
    let (weight, bias) = (&inputs[1].data, &inputs[2].data);
    let (mut y, mut means, mut rstds) = (Vec::new(), Vec::new(), Vec::new());
    for row in inputs[0].rows() {
        let center = mean(row.iter().copied());
        let rstd = 1.0 / (mean(row.iter().map(|x| (x - center).powi(2))) + eps).sqrt();
        y.extend((0..row.len()).map(|i| (row[i] - center) * rstd * weight[i] + bias[i]));
        means.push(center);
        rstds.push(rstd);
    }
    Some(Ok(vec![y, means, rstds]))
}

pub(super) fn layernorm_grad(
    op: &dyn Op,
    inputs: &[Values],
    _: &[Shape],
    _: &[DType],
) -> Option<Results> {
    attributes::<LayerNormGrad>(op)?;
    let weight = &inputs[1].data;
    let (mut dx, mut dweight, mut dbias) =
        (Vec::new(), vec![0.0; weight.len()], vec![0.0; weight.len()]);
    for (row, (x, dy)) in inputs[0].rows().zip(inputs[4].rows()).enumerate() {
        let (center, rstd) = (inputs[2].data[row], inputs[3].data[row]);
        let unit: Vec<f64> = x.iter().map(|x| (x - center) * rstd).collect();
        let mean_g = mean((0..x.len()).map(|i| dy[i] * weight[i]));
        let mean_gx = mean((0..x.len()).map(|i| dy[i] * weight[i] * unit[i]));
        for i in 0..x.len() {
            dx.push(rstd * (dy[i] * weight[i] - mean_g - unit[i] * mean_gx));
            dweight[i] += dy[i] * unit[i];
            dbias[i] += dy[i];
        }
    }
    Some(Ok(vec![dx, dweight, dbias]))
}
