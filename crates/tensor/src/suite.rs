//! The operator table: one row per operator, walked by every numeric suite.
//!
//! A [`Row`] gives samples: an operator and operands of a certain type, memory
//! order and content. [`check_backend`] compares a backend's kernels with the
//! reference in f64, [`determinism()`] compares bits between thread counts, and
//! [`gradients()`] compares gradient rules with finite differences. A crate
//! outside adds rows of its own for its own operators.

mod accuracy;
mod attention;
mod determinism;
mod elementwise;
mod gates;
mod gradients;
mod movement;
mod normalise;
mod product;
mod report;
mod run;
mod sample;
mod update;

pub use accuracy::check_backend;
pub use determinism::determinism;
pub use gates::{Measure, measure};
pub use gradients::{GradientCheck, gradients};
pub use report::{Case, Outcome, Report};
pub use sample::{Content, Oracle, Order, Row, Sample, SampleInput, Samples};

/// Every operator Cairn ships that computes something, in the order of its names.
#[must_use]
pub fn rows() -> Vec<Row> {
    let mut rows = elementwise::rows();
    rows.extend(movement::rows());
    rows.extend(normalise::rows());
    rows.extend(product::rows());
    rows.extend(attention::rows());
    rows.extend(update::rows());
    rows.sort_by_key(|row| row.op);
    rows
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use cairn_graph::{Shape, TensorType};

    use super::*;

    /// What a kernel meets: each memory order, tensors without elements, dims of
    /// size 1.
    #[test]
    fn every_operator_has_every_kind_of_sample() {
        let mut operators: BTreeMap<&str, Vec<Sample>> = BTreeMap::new();
        for row in rows() {
            let samples = (row.samples)(row.dtypes[0]);
            operators.entry(row.op).or_default().extend(samples);
        }
        let mut missing = Vec::new();
        for (op, samples) in operators {
            let inputs = || samples.iter().flat_map(|sample| &sample.inputs);
            for order in [
                Order::Contiguous,
                Order::Transposed,
                Order::Sliced,
                Order::Broadcast,
            ] {
                let possible = inputs().any(|input| input.clone().ordered(order).order == order);
                if possible && !inputs().any(|input| input.order == order) {
                    missing.push(format!("{op}: {order:?}"));
                }
            }
            let shapes: Vec<Shape> = samples.iter().flat_map(shapes_of).collect();
            if !shapes.iter().any(|shape| shape.num_elements() == 0) {
                missing.push(format!("{op}: no elements"));
            }
            if !shapes.iter().any(|shape| shape.contains(&1)) {
                missing.push(format!("{op}: size 1"));
            }
        }
        assert!(missing.is_empty(), "{missing:#?}");
    }

    fn shapes_of(sample: &Sample) -> Vec<Shape> {
        let types: Vec<&TensorType> = sample.inputs.iter().map(|input| &input.ty).collect();
        let outputs = sample.op.infer(&types).unwrap_or_else(|error| {
            panic!("{}: {error}", sample.name);
        });
        let types = types.into_iter().chain(&outputs);
        types.map(|ty| ty.shape.clone()).collect()
    }
}
