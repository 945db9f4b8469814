//! A backend against the reference in f64.

use super::gates::measure;
use super::report::{Case, Outcome, Report};
use super::run::{Prepared, RunError};
use super::sample::{Row, Sample};
use crate::backend::{Backend, Kernel};
use crate::host::HostTensor;
use crate::threads::Pool;

/// Runs every sample of the rows that `filter` keeps (by operator name) on
/// `backend`, and each in place as well where operator and kernel allow it;
/// in place the bits must be the same. Only the backend's own kernels run:
/// nothing falls back to another.
pub fn check_backend(
    backend: &dyn Backend,
    pool: &Pool,
    rows: &[Row],
    filter: &dyn Fn(&str) -> bool,
) -> Report {
    let mut cases = Vec::new();
    for row in rows.iter().filter(|row| filter(row.op)) {
        for dtype in &row.dtypes {
            for sample in (row.samples)(*dtype) {
                let outcome = check(backend, pool, row, &sample);
                cases.push(Case {
                    op: row.op,
                    sample: sample.name,
                    dtype: *dtype,
                    outcome,
                });
            }
        }
    }
    Report {
        backend: backend.name().to_owned(),
        cases,
    }
}

fn check(backend: &dyn Backend, pool: &Pool, row: &Row, sample: &Sample) -> Outcome {
    let failed = |kernel: &str, message: String| Outcome::Failed {
        kernel: kernel.to_owned(),
        message,
    };
    let prepared = match Prepared::new(sample) {
        Ok(prepared) => prepared,
        Err(error) => return failed("sample", error.to_string()),
    };
    let Some((kernel, strided)) = prepared.kernel(backend) else {
        return Outcome::Missing;
    };
    if sample.op.name() != row.op {
        return failed(
            kernel.name(),
            format!("the sample is of `{}`", sample.op.name()),
        );
    }
    match compare(row, &prepared, kernel.as_ref(), backend, strided, pool) {
        Ok(outcome) => outcome,
        Err(error) => failed(kernel.name(), error.to_string()),
    }
}

fn compare(
    row: &Row,
    prepared: &Prepared<'_>,
    kernel: &dyn Kernel,
    backend: &dyn Backend,
    strided: bool,
    pool: &Pool,
) -> Result<Outcome, RunError> {
    let memory = backend.memory();
    let memory = memory.as_ref();
    let expected = (row.oracle)(prepared.sample.op.as_ref(), &prepared.seen())?;
    let found = prepared.run(kernel, memory, strided, &[], pool)?;
    for pair in in_place_pairs(prepared, kernel, strided) {
        let again = prepared.run(kernel, memory, strided, &[pair], pool)?;
        if let Some(message) = first_difference(&found, &again) {
            let (output, input) = pair;
            return Ok(Outcome::Failed {
                kernel: kernel.name().to_owned(),
                message: format!("output {output} in the place of input {input}: {message}"),
            });
        }
    }
    if expected.len() != found.len() {
        let message = format!("{} outputs, expected {}", found.len(), expected.len());
        let kernel = kernel.name().to_owned();
        return Ok(Outcome::Failed { kernel, message });
    }
    let operands = prepared.seen();
    let narrowest = operands
        .iter()
        .map(HostTensor::dtype)
        .filter(|d| d.is_float())
        .min_by_key(|d| d.bits());
    let mut measures = Vec::new();
    for (found, expected) in found.iter().zip(&expected) {
        let own = found.dtype();
        let judged = match narrowest {
            Some(narrow) if row.rounds_inside && own.is_float() && narrow.bits() < own.bits() => {
                narrow
            }
            _ => own,
        };
        // Rounding decides what is infinite, and what an integer is.
        let exact = HostTensor::from_f64(found.ty().clone(), expected)?.to_f64()?;
        let pairs = expected.iter().zip(&exact);
        let expected: Vec<f64> = pairs
            .map(|(wide, own)| {
                if found.dtype().is_float() && own.is_finite() {
                    *wide
                } else {
                    *own
                }
            })
            .collect();
        measures.push(measure(judged, &found.to_f64()?, &expected));
    }
    Ok(Outcome::Ran {
        kernel: kernel.name().to_owned(),
        strided,
        measures,
    })
}

/// What an executor may compute in place: allowed by operator and kernel, of
/// one size, and contiguous.
fn in_place_pairs(
    prepared: &Prepared<'_>,
    kernel: &dyn Kernel,
    strided: bool,
) -> Vec<(usize, usize)> {
    let aliases = prepared.sample.op.aliases();
    let allowed = |(output, input): &(usize, usize)| {
        let may = aliases.iter().any(|alias| {
            alias.kind == cairn_graph::AliasKind::May
                && (alias.output, alias.input) == (*output, *input)
        });
        let Some(operand) = prepared.operands.get(*input) else {
            return false;
        };
        let contiguous = !strided || operand.strides.is_none();
        may && contiguous && *operand.seen.ty() == prepared.outputs[*output]
    };
    kernel.in_place().into_iter().filter(allowed).collect()
}

/// Where two lists of tensors differ in bits.
pub(super) fn first_difference(a: &[HostTensor], b: &[HostTensor]) -> Option<String> {
    for (output, (a, b)) in a.iter().zip(b).enumerate() {
        if a.bytes() != b.bytes() {
            let (x, y) = (a.to_f64().ok()?, b.to_f64().ok()?);
            let size = (a.dtype().bits() / 8).max(1);
            let element = a
                .bytes()
                .chunks(size)
                .zip(b.bytes().chunks(size))
                .position(|(a, b)| a != b)?;
            return Some(format!(
                "output {output} differs in bits at {element}: {} and {}",
                x.get(element)?,
                y.get(element)?
            ));
        }
    }
    None
}
