//! `--profile N`: spans of N steps, as a Chrome trace and as a table.

use std::collections::BTreeMap;
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
    started: Option<Instant>,
}

impl StepTrace {
    /// Traces `steps` steps after step `after`.
    #[must_use]
    pub fn new(after: u64, steps: u64) -> Self {
        Self {
            first: after + 1,
            steps,
            started: None,
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
    pub fn end(
        &mut self,
        step: u64,
        engine: &mut Engine,
        run_dir: &Path,
    ) -> Result<(), TrainError> {
        if step + 1 < self.first + self.steps {
            return Ok(());
        }
        let Some(started) = self.started.take() else {
            return Ok(());
        };
        let spans = engine.profile(false);
        let path = run_dir.join("trace.json");
        chrome_trace(&spans, started).write(&path)?;
        crate::console::line(&table(&spans, self.steps));
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
        let per_micro = |amount: u64| amount as f64 / span.micros / 1e3;
        let serde_json::Value::Object(args) = json!({
            "scope": span.scope, "operator": span.op, "flops": span.cost.flops, "bytes": span.cost.bytes,
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
            100.0 * micros / total,
            flops as f64 / micros / 1e3,
            bytes as f64 / micros / 1e3,
        );
    }
    text
}
