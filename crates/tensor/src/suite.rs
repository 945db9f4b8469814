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
