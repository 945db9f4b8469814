//! What a walk over the table found.

use std::collections::BTreeMap;
use std::fmt;

use cairn_formats::DType;

use super::gates::Measure;

/// What came of one sample in one dtype.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The backend has no kernel for it.
    Missing,
    /// A kernel ran; one measure an output.
    Ran {
        /// Its name.
        kernel: String,
        /// It read strided operands as they lie.
        strided: bool,
        /// One an output.
        measures: Vec<Measure>,
    },
    /// The kernel or the comparison failed in another way than by accuracy.
    Failed {
        /// Its name.
        kernel: String,
        /// How.
        message: String,
    },
}

/// One sample in one dtype.
#[derive(Clone, Debug)]
pub struct Case {
    /// Operator name.
    pub op: &'static str,
    /// Sample name.
    pub sample: String,
    /// dtype of the sample.
    pub dtype: DType,
    /// What came of it.
    pub outcome: Outcome,
}

impl Case {
    /// Whether a kernel ran and every gate holds.
    #[must_use]
    pub fn passed(&self) -> bool {
        matches!(&self.outcome, Outcome::Ran { measures, .. } if measures.iter().all(|m| m.pass))
    }

    /// Whether the backend has no kernel.
    #[must_use]
    pub fn missing(&self) -> bool {
        matches!(self.outcome, Outcome::Missing)
    }
}

/// All cases of a walk over the table.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Name of the backend.
    pub backend: String,
    /// In the order of the table.
    pub cases: Vec<Case>,
}

impl Report {
    /// Cases that ran and failed.
    pub fn failures(&self) -> impl Iterator<Item = &Case> + '_ {
        self.cases
            .iter()
            .filter(|case| !case.passed() && !case.missing())
    }

    /// Operators with a dtype that no sample of theirs has a kernel for.
    #[must_use]
    pub fn missing(&self) -> Vec<(&'static str, DType)> {
        let mut any: BTreeMap<(&'static str, DType), bool> = BTreeMap::new();
        for case in &self.cases {
            *any.entry((case.op, case.dtype)).or_default() |= !case.missing();
        }
        any.into_iter()
            .filter(|(_, ran)| !ran)
            .map(|(key, _)| key)
            .collect()
    }

    /// The failures, one a line, for the message of a failing test.
    #[must_use]
    pub fn describe_failures(&self) -> String {
        self.failures()
            .map(|case| format!("{}\n", Line(case)))
            .collect()
    }
}

struct Line<'a>(&'a Case);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case {
            op,
            sample,
            dtype,
            outcome,
        } = self.0;
        write!(f, "{op} {dtype} [{sample}] ")?;
        match outcome {
            Outcome::Missing => write!(f, "no kernel"),
            Outcome::Failed { kernel, message } => write!(f, "{kernel}: {message}"),
            Outcome::Ran {
                kernel, measures, ..
            } => {
                write!(f, "{kernel}:")?;
                for (output, m) in measures.iter().enumerate().filter(|(_, m)| !m.pass) {
                    write!(
                        f,
                        " output {output} has {:.1} dB, largest error {:.3e}, {} instead of {} at {}",
                        m.snr_db, m.max_error, m.found, m.expected, m.position
                    )?;
                }
                Ok(())
            }
        }
    }
}

/// A table of operator, dtype, kernels that ran, samples and the worst ratio.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut groups: BTreeMap<(&str, DType), Vec<&Case>> = BTreeMap::new();
        for case in &self.cases {
            groups.entry((case.op, case.dtype)).or_default().push(case);
        }
        writeln!(f, "backend {}", self.backend)?;
        writeln!(
            f,
            "{:<24} {:<5} {:>7} {:>6} {:>7} {:>9}  kernels",
            "operator", "dtype", "samples", "failed", "strided", "least dB"
        )?;
        for ((op, dtype), cases) in groups {
            let (mut kernels, mut least, mut as_they_lie) = (Vec::new(), f64::INFINITY, 0);
            for case in &cases {
                let name = match &case.outcome {
                    Outcome::Missing => "(none)",
                    Outcome::Failed { kernel, .. } => kernel,
                    Outcome::Ran {
                        kernel,
                        measures,
                        strided,
                    } => {
                        as_they_lie += usize::from(*strided);
                        least = measures.iter().map(|m| m.snr_db).fold(least, f64::min);
                        kernel
                    }
                };
                if !kernels.contains(&name) {
                    kernels.push(name);
                }
            }
            let failed = cases.iter().filter(|c| !c.passed() && !c.missing()).count();
            let row = format!(
                "{op:<24} {:<5} {:>7} {failed:>6} {as_they_lie:>7}",
                dtype.to_string(),
                cases.len()
            );
            writeln!(f, "{row} {least:>9.1}  {}", kernels.join(", "))?;
        }
        Ok(())
    }
}
