//! `cargo xtask bench roofline`: one layer of a model, forward and backward, on simulated
//! GPUs: the least time that the data sheet allows each kernel, and the time that the cycle
//! model gives it.

use std::path::PathBuf;

use cairn_base::{Diagnostic, env};
use cairn_kernels::{Arch, Product};
use cairn_launch::request::{self, Bench, BenchSubject, Experiment};
use serde::{Deserialize, Serialize};

use crate::context::{Context, Failure, Result};
use crate::engine::{self, Start};
use crate::experiment::{self, PRE_TRAINER, PresetArgs};
use crate::{table, train};

/// The layer that is taken where nothing else is said.
const EXPERIMENT: &str = "configs/experiments/roofline_8B.yaml";
/// Memory of the simulated device; only what is used is taken from this machine.
const MEMORY: &str = "64G";

/// Estimate one layer's kernels on MI300X and MI355X: a model, not a measurement
///
/// Each kernel is run on the simulator, some workgroups of each launch only, and timed by the
/// cycle model: what each unit of a processor would be busy with, no latencies, and an L2 cache
/// that keeps all it has seen.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask bench roofline --arch gfx942")]
pub(crate) struct RooflineArgs {
    /// The experiment whose model, sequence length, micro batch and precision count; without,
    /// one layer of Llama 3.1 8B on 8192 tokens
    #[arg(long, visible_alias = "config", value_name = "FILE")]
    exp: Option<PathBuf>,
    #[command(flatten)]
    presets: PresetArgs,
    /// An architecture; may be repeated
    #[arg(long = "arch", value_name = "ARCH", default_values = ["gfx942", "gfx950"], value_parser = ["gfx942", "gfx950"])]
    archs: Vec<String>,
    /// Most workgroups of a launch that are run
    #[arg(long, value_name = "N", default_value = "16", value_parser = crate::args::at_least_one)]
    sample: usize,
    /// Changes: `key=value`, as for `train`
    #[arg(last = true, value_name = "KEY=VALUE")]
    overrides: Vec<String>,
}

/// What the engine says of a node of the graph.
#[derive(Debug, Deserialize)]
struct Span {
    backward: bool,
    scope: String,
    op: String,
    kernel: String,
    flops: u64,
    bytes: u64,
    micros: f64,
}

/// A line of the table.
#[derive(Debug, Serialize)]
struct Row {
    /// `forward` or `backward`.
    stage: &'static str,
    scope: String,
    op: String,
    kernel: String,
    flops: u64,
    bytes: u64,
    /// Microseconds that FLOPs and bytes need at the peaks of the data sheet.
    bound_us: f64,
    /// What bounds it: `compute` or `memory`.
    bound: &'static str,
    /// Microseconds by the cycle model.
    model_us: f64,
}

#[derive(Debug, Serialize)]
struct Report {
    product: &'static str,
    arch: &'static str,
    /// That these are no measurements.
    label: &'static str,
    rows: Vec<Row>,
}

const LABEL: &str = "times are the cycle model's, not measurements: no latencies, an L2 cache that keeps all it has seen";

pub(crate) fn run(args: &RooflineArgs, context: &Context) -> Result {
    let file = args.exp.clone();
    let file = file.unwrap_or_else(|| context.root.join(EXPERIMENT));
    let (resolved, diagnostics) =
        args.presets
            .resolve(context, &file, &args.overrides, PRE_TRAINER)?;
    context.show(&diagnostics);
    let experiment = experiment::for_engine(&resolved)?;
    cairn_config::native::trainable(&experiment.native.model).map_err(Failure::wrong)?;
    let mut reports = Vec::new();
    for name in &args.archs {
        let arch = Arch::from_name(name).ok_or_else(|| broken(format!("no {name}")))?;
        reports.push(measure(arch, &experiment, args.sample, context)?);
    }
    if context.json() {
        let text = serde_json::to_string_pretty(&reports);
        return context.print(&text.map_err(|error| broken(error.to_string()))?);
    }
    let training = &experiment.native.training;
    let what = format!(
        "one layer, {} x {} tokens, {}",
        training.micro_batch_size,
        training.seq_length,
        format!("{:?}", training.precision).to_lowercase(),
    );
    let tables: Vec<String> = reports.iter().map(|report| text(report, &what)).collect();
    context.print(&tables.join("\n"))
}

fn broken(what: String) -> Failure {
    Failure::failed(Diagnostic::error("bench::roofline", what))
}

fn measure(
    arch: Arch,
    experiment: &Experiment,
    sample: usize,
    context: &Context,
) -> Result<Report> {
    let device = train::hip::simulate(arch, context)?;
    let bench = Bench {
        subject: BenchSubject::Roofline {
            experiment: Box::new(experiment.clone()),
            device,
        },
        repeats: 1,
        peer: None,
    };
    let variables = [
        (&env::CAIRN_SIM, format!("{}:1", arch.name())),
        (&env::CAIRN_SIM_MEMORY, MEMORY.to_owned()),
        (&env::CAIRN_SIM_SAMPLE, sample.to_string()),
    ];
    let start = Start {
        threads: None,
        env: variables
            .into_iter()
            .map(|(variable, value)| (variable.name.to_owned(), value))
            .collect(),
    };
    let command = request::Command::Bench(Box::new(bench));
    let answer = engine::ask(context, "bench", command, start)?;
    let spans: Vec<Span> =
        serde_json::from_str(&answer).map_err(|error| broken(error.to_string()))?;
    let product = Product::of(arch);
    Ok(Report {
        product: product.name,
        arch: arch.name(),
        label: LABEL,
        rows: spans.into_iter().map(|span| row(span, &product)).collect(),
    })
}

fn row(span: Span, product: &Product) -> Row {
    let on_matrix_units = span.kernel.contains("bf16")
        && (span.op.ends_with("matmul") || span.op.starts_with("attention"));
    let peak = if on_matrix_units {
        product.peak_matrix_16()
    } else {
        product.peak_vector_32()
    };
    // Of a sample the model knows fewer lines of memory than all workgroups touch.
    let compute = span.flops as f64 / peak * 1e6;
    let memory = span.bytes as f64 / product.bandwidth * 1e6;
    Row {
        stage: if span.backward { "backward" } else { "forward" },
        bound_us: compute.max(memory),
        bound: if compute > memory {
            "compute"
        } else {
            "memory"
        },
        scope: span.scope,
        op: span.op,
        kernel: span.kernel,
        flops: span.flops,
        bytes: span.bytes,
        model_us: span.micros.max(memory),
    }
}

fn text(report: &Report, what: &str) -> String {
    let header = [
        "scope", "operator", "GFLOP", "MB", "bound by", "least us", "model us", "of least",
        "kernel",
    ];
    let mut lines: Vec<Vec<String>> = Vec::new();
    for stage in ["forward", "backward"] {
        let rows = report.rows.iter().filter(|row| row.stage == stage);
        lines.extend(rows.clone().map(line));
        lines.push(sum(stage, rows));
    }
    lines.push(sum("all", report.rows.iter()));
    format!(
        "{} ({}): {what}\n{}{}\n",
        report.product,
        report.arch,
        table::render(&header, &lines),
        report.label
    )
}

fn line(row: &Row) -> Vec<String> {
    let mut cells = vec![row.scope.clone(), row.op.clone()];
    cells.extend(amounts(row.flops, row.bytes));
    cells.push(row.bound.to_owned());
    cells.extend(times(row.bound_us, row.model_us));
    cells.push(row.kernel.clone());
    cells
}

fn sum<'a>(name: &str, rows: impl Iterator<Item = &'a Row> + Clone) -> Vec<String> {
    let mut cells = vec![name.to_owned(), "sum".to_owned()];
    cells.extend(amounts(
        rows.clone().map(|row| row.flops).sum(),
        rows.clone().map(|row| row.bytes).sum(),
    ));
    cells.push(String::new());
    cells.extend(times(
        rows.clone().map(|row| row.bound_us).sum(),
        rows.map(|row| row.model_us).sum(),
    ));
    cells
}

fn amounts(flops: u64, bytes: u64) -> [String; 2] {
    [
        format!("{:.2}", flops as f64 / 1e9),
        format!("{:.1}", bytes as f64 / 1e6),
    ]
}

fn times(bound: f64, model: f64) -> [String; 3] {
    [
        format!("{bound:.1}"),
        format!("{model:.1}"),
        format!("{:.2}x", model / bound),
    ]
}

#[cfg(test)]
mod tests {
    use cairn_kernels::product::MI300X;

    use super::*;

    fn span(op: &str, kernel: &str, flops: u64, bytes: u64) -> Span {
        Span {
            backward: false,
            scope: String::new(),
            op: op.to_owned(),
            kernel: kernel.to_owned(),
            flops,
            bytes,
            micros: 1.0,
        }
    }

    #[test]
    fn what_takes_longer_is_the_bound() {
        // 1307.4 TFLOP/s, 163.4 TFLOP/s, 5.3 TB/s.
        let product = row(
            span("matmul", "gemm_bf16_nt", 13_074_000_000, 5_300_000),
            &MI300X,
        );
        assert_eq!(product.bound, "compute");
        assert!((product.bound_us - 10.0).abs() < 0.01, "{product:?}");
        let norm = row(
            span("rmsnorm", "rmsnorm_bf16", 163_400_000, 53_000_000),
            &MI300X,
        );
        assert_eq!(norm.bound, "memory");
        assert!((norm.bound_us - 10.0).abs() < 1e-9, "{norm:?}");
    }
}
