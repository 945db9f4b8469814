//! `bench`: speed, beside a peer in the same run.

mod gemm;
mod roofline;
mod torch;
mod train;
mod whole;

use cairn_launch::request::{Bench, BenchSubject, Peer};

use super::Context;
use crate::error::TrainError;

/// Measures and prints.
///
/// # Errors
/// When the subject or the peer cannot run.
pub fn run(context: &Context, request: &Bench) -> Result<u8, TrainError> {
    let python = request
        .peer
        .as_ref()
        .map(|Peer::Torch { python }| python.as_path());
    match &request.subject {
        BenchSubject::Train {
            experiment,
            whole: true,
            ..
        } => whole::run(context, experiment, python)?,
        BenchSubject::Train {
            experiment, steps, ..
        } => train::run(context, request.repeats, python, &experiment.native, *steps)?,
        BenchSubject::Gemm { shapes, dtypes } => {
            gemm::run(context, request.repeats, python, shapes, dtypes)?;
        }
        BenchSubject::Roofline { experiment, device } => {
            roofline::run(context, &experiment.native, device)?;
        }
    }
    Ok(0)
}

/// The middle of some measurements.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The least of some measurements.
fn best(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}
