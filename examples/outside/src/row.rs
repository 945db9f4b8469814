//! The operator's row in the table that Cairn's suites walk.

use cairn_graph::Op;
use cairn_tensor::suite::{Content, Order, Row, Sample, SampleInput};
use cairn_tensor::{DType, HostTensor, KernelError};

use crate::Softplus;

/// Samples of [`Softplus`] in every float dtype, judged by the formula as written.
#[must_use]
pub fn row() -> Row {
    let mut row = Row::new("softplus", samples).gradient(&[0]);
    row.oracle = Box::new(oracle);
    row
}

fn samples(dtype: DType) -> Vec<Sample> {
    let mut samples = Vec::new();
    for beta in [0.5, 1.0, 4.0] {
        for shape in [&[][..], &[1], &[127], &[0, 5], &[3, 129], &[5, 1031]] {
            let input = SampleInput::new(dtype, shape, Content::Normal(3.0));
            let name = format!("beta={beta} {shape:?}");
            samples.push(Sample::new(name, Softplus { beta }, vec![input]));
        }
        let input = SampleInput::new(dtype, [3, 65], Content::Uniform(-8.0, 8.0));
        let sample = Sample::new(format!("beta={beta}"), Softplus { beta }, vec![input]);
        let orders = [Order::Transposed, Order::Sliced, Order::Broadcast];
        samples.extend(orders.map(|order| sample.ordered(order)));
    }
    samples
}

fn oracle(op: &dyn Op, inputs: &[HostTensor]) -> Result<Vec<Vec<f64>>, KernelError> {
    let (Some(op), [x]) = (op.as_any().downcast_ref::<Softplus>(), inputs) else {
        return Err(KernelError("not softplus of one tensor".to_owned()));
    };
    let x = x.to_f64().map_err(|error| KernelError(error.to_string()))?;
    let y = x.iter().map(|x| (op.beta * x).exp().ln_1p() / op.beta);
    Ok(vec![y.collect()])
}
