//! `--profile N`: spans of N steps, as a Chrome trace and as a table.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use cairn_tensor::program::Span;
use serde_json::json;

use crate::error::TrainError;
use crate::metrics::Trace;
use crate::native::Engine;

/// Which steps to trace, and when the first began.
#[derive(Debug)]
pub struct StepTrace {
    first: u64,
    steps: u64,
    traced: u64,
    started: Option<Instant>,
    written: bool,
}

/// The first steps touch memory for the first time: they are left out where
/// there are enough others.
const WARM_UP_STEPS: u64 = 2;

impl StepTrace {
    /// Traces `steps` steps of a run that has done `done` of `total`.
    #[must_use]
    pub fn new(done: u64, total: u64, steps: u64) -> Self {
        let spare = total.saturating_sub(done).saturating_sub(steps);
        Self {
            first: done + 1 + spare.min(WARM_UP_STEPS),
            steps,
            traced: 0,
            started: None,
            written: false,
        }
    }

    /// Called before a step.
    pub fn begin(&mut self, step: u64, engine: &mut Engine) {
        if self.steps > 0 && step == self.first {
            engine.profile(true);
            self.started = Some(Instant::now());
        }
    }

    /// Called after a step: writes `trace.json` after the last one.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn end(&mut self, engine: &mut Engine, run_dir: &Path) -> Result<(), TrainError> {
        self.traced += u64::from(self.started.is_some());
        if self.traced < self.steps {
            return Ok(());
        }
        self.write(engine, run_dir)
    }

    /// Called when no step follows, for whatever reason: writes what there is,
    /// or says that there is nothing.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish(&mut self, engine: &mut Engine, run_dir: &Path) -> Result<(), TrainError> {
        if self.steps == 0 || self.written {
            return Ok(());
        }
        if self.traced == 0 {
            crate::console::line(&format!(
                "trace: nothing was traced, as the run ended before the end of step {}",
                self.first
            ));
            return Ok(());
        }
        crate::console::line(&format!(
            "trace: only {} of {} steps, as the run ended",
            self.traced, self.steps
        ));
        self.write(engine, run_dir)
    }

    fn write(&mut self, engine: &mut Engine, run_dir: &Path) -> Result<(), TrainError> {
        let Some(started) = self.started.take() else {
            return Ok(());
        };
        self.written = true;
        let spans = engine.profile(false);
        let path = run_dir.join("trace.json");
        chrome_trace(&spans, started).write(&path)?;
        crate::console::line(&table(&spans, self.traced));
        crate::console::line(&format!(
            "trace: {} (open it in Perfetto or chrome://tracing)",
            path.display()
        ));
        Ok(())
    }
}

/// One span a kernel call; times in microseconds since `started`.
fn chrome_trace(spans: &[Span], started: Instant) -> Trace {
    let mut trace = Trace::new("cairn");
    for span in spans {
        let per_micro = |amount: u64| rate(amount, span.micros);
        let serde_json::Value::Object(args) = json!({
            "scope": span.scope, "operator": span.op, "flops": span.cost.flops, "bytes": span.cost.bytes,
            "clock": span.clock,
            "gflop_per_s": per_micro(span.cost.flops), "gb_per_s": per_micro(span.cost.bytes),
        }) else {
            continue;
        };
        let begin = span.start.duration_since(started).as_secs_f64() * 1e6;
        trace.event(
            span.kernel.clone(),
            span.op.clone(),
            begin,
            span.micros,
            args,
        );
    }
    trace
}

/// Time, FLOPs and bytes by kernel, largest time first.
fn table(spans: &[Span], steps: u64) -> String {
    let mut rows: BTreeMap<&str, (f64, u64, u64, u64)> = BTreeMap::new();
    for span in spans {
        let row = rows.entry(&span.kernel).or_default();
        row.0 += span.micros;
        row.1 += span.cost.flops;
        row.2 += span.cost.bytes;
        row.3 += 1;
    }
    let total: f64 = rows.values().map(|row| row.0).sum();
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
    let mut text = format!(
        "{:<32} {:>8} {:>9} {:>6} {:>9} {:>8}",
        "kernel", "calls", "ms/step", "%", "GFLOP/s", "GB/s"
    );
    for (kernel, (micros, flops, bytes, calls)) in rows {
        text += &format!(
            "\n{kernel:<32} {:>8} {:>9.2} {:>6.1} {:>9.1} {:>8.1}",
            calls / steps.max(1),
            micros / 1e3 / steps.max(1) as f64,
            100.0 * micros / total.max(f64::MIN_POSITIVE),
            rate(flops, micros),
            rate(bytes, micros),
        );
    }
    let clocks: BTreeSet<&str> = spans.iter().map(|span| span.clock).collect();
    let clocks: Vec<&str> = clocks.into_iter().collect();
    text + &format!("\ntimes by: {}", clocks.join(", "))
}

/// Thousands of millions a second; 0 for what took no time.
fn rate(amount: u64, micros: f64) -> f64 {
    if micros > 0.0 {
        amount as f64 / micros / 1e3
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warm_up_is_left_out_where_there_are_steps_enough() {
        let first = |done, total, steps| StepTrace::new(done, total, steps).first;
        assert_eq!(first(0, 100, 5), 3);
        assert_eq!(first(40, 100, 5), 43);
        assert_eq!(first(0, 6, 5), 2);
        assert_eq!(first(0, 5, 5), 1);
        assert_eq!(first(0, 3, 5), 1);
        assert_eq!(first(40, 40, 5), 41);
    }
}
