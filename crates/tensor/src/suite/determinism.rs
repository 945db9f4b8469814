//! The same bits for any number of threads, every time.

use cairn_formats::DType;

use super::accuracy::first_difference;
use super::report::{Case, Outcome, Report};
use super::run::Prepared;
use super::sample::Row;
use crate::backend::Backend;
use crate::host::HostTensor;
use crate::threads::Pool;

/// Runs every sample of the rows that `filter` keeps on each pair of backend
/// and pool, `repeats` times, and compares all results by bits with the first.
/// Build each backend for the threads of its pool.
pub fn determinism(
    pairs: &[(&dyn Backend, &Pool)],
    repeats: usize,
    rows: &[Row],
    filter: &dyn Fn(&str) -> bool,
) -> Report {
    let mut report = Report::default();
    for row in rows.iter().filter(|row| filter(row.op)) {
        for dtype in &row.dtypes {
            for sample in (row.samples)(*dtype) {
                let outcome = match Prepared::new(&sample) {
                    Ok(prepared) => repeat(&prepared, pairs, repeats),
                    Err(error) => failed("sample", error.to_string()),
                };
                report
                    .cases
                    .push(case(row.op, &sample.name, *dtype, outcome));
            }
        }
    }
    report.backend = pairs
        .first()
        .map(|(backend, _)| backend.name().to_owned())
        .unwrap_or_default();
    report
}

fn case(op: &'static str, sample: &str, dtype: DType, outcome: Outcome) -> Case {
    Case {
        op,
        sample: sample.to_owned(),
        dtype,
        outcome,
    }
}

fn failed(kernel: &str, message: String) -> Outcome {
    Outcome::Failed {
        kernel: kernel.to_owned(),
        message,
    }
}

fn repeat(prepared: &Prepared<'_>, pairs: &[(&dyn Backend, &Pool)], repeats: usize) -> Outcome {
    let mut first: Option<Vec<HostTensor>> = None;
    let mut name = String::new();
    for (backend, pool) in pairs {
        let Some((kernel, strided)) = prepared.kernel(*backend) else {
            return Outcome::Missing;
        };
        kernel.name().clone_into(&mut name);
        let memory = backend.memory();
        for round in 0..repeats {
            let results = match prepared.run(kernel.as_ref(), memory.as_ref(), strided, &[], pool) {
                Ok(results) => results,
                Err(error) => return failed(&name, error.to_string()),
            };
            let Some(first) = &first else {
                first = Some(results);
                continue;
            };
            if let Some(message) = first_difference(first, &results) {
                let threads = pool.threads();
                return failed(
                    &name,
                    format!("{message} (threads {threads}, repeat {round})"),
                );
            }
        }
    }
    Outcome::Ran {
        kernel: name,
        strided: false,
        measures: Vec::new(),
    }
}
