//! Matrix products of given sizes.

use std::path::Path;
use std::time::Instant;

use cairn_base::Diagnostic;
use cairn_formats::DType;
use cairn_tensor::cpu::gemm::{Gemm, GemmArgs, GemmPlan, OperandB};
use cairn_tensor::{HostTensor, Pool, TensorType};
use serde::{Deserialize, Serialize};

use super::super::Context;
use super::{best, torch};
use crate::error::TrainError;

#[derive(Serialize)]
struct Row {
    m: usize,
    n: usize,
    k: usize,
    dtype: String,
    kernel: String,
    best_ms: f64,
    median_ms: f64,
    gflop_per_s: f64,
    /// The same product by the peer.
    peer: Option<PeerRow>,
}

/// One product by the peer.
#[derive(Serialize, Deserialize)]
struct PeerRow {
    best_ms: f64,
    median_ms: f64,
}

/// What `ci/peers/torch_ops.py` prints.
#[derive(Deserialize)]
struct PeerReport {
    cases: Vec<PeerRow>,
}

pub(super) fn run(
    context: &Context,
    repeats: usize,
    python: Option<&Path>,
    shapes: &[[usize; 3]],
    dtypes: &[String],
) -> Result<(), TrainError> {
    let pool =
        Pool::new(context.threads).map_err(|error| TrainError::Internal(error.to_string()))?;
    let mut rows = Vec::new();
    for dtype in dtypes {
        let unknown = || {
            Diagnostic::error("bench::dtype", format!("`{dtype}` is no element type"))
                .hint("use f32, bf16, f16 or f64")
        };
        let dtype: DType = dtype.parse().map_err(|_| Box::new(unknown()))?;
        for [m, n, k] in shapes {
            let mut row = measure(context, &pool, repeats, (*m, *n, *k), dtype)?;
            if let Some(python) = python {
                row.peer = Some(peer(context, python, repeats, &row)?);
            }
            rows.push(row);
        }
    }
    context.answer(&rows, |rows| {
        let line = |row: &Row| {
            let size = format!("{}x{}x{}", row.m, row.n, row.k);
            format!(
                "{size:<18} {:<5} {:<14} best {:>9.3} ms  median {:>9.3} ms  {:>8.1} GFLOP/s{}",
                row.dtype,
                row.kernel,
                row.best_ms,
                row.median_ms,
                row.gflop_per_s,
                row.peer
                    .as_ref()
                    .map_or_else(String::new, |peer| beside(row, peer))
            )
        };
        rows.iter().map(line).collect::<Vec<_>>().join("\n")
    })
}

/// The peer's times, and Cairn's speed as a multiple of the peer's.
fn beside(row: &Row, peer: &PeerRow) -> String {
    format!(
        "  torch best {:>9.3} ms  median {:>9.3} ms  {:.2}x and {:.2}x of its speed",
        peer.best_ms,
        peer.median_ms,
        peer.best_ms / row.best_ms,
        peer.median_ms / row.median_ms
    )
}

/// The same product by `PyTorch`.
fn peer(
    context: &Context,
    python: &Path,
    repeats: usize,
    row: &Row,
) -> Result<PeerRow, TrainError> {
    let exec = torch::script(context, python, "torch_ops.py")?
        .arg("--gemm")
        .arg(format!("{}x{}x{}", row.m, row.n, row.k))
        .args(["--dtype", &row.dtype, "--seconds", "0", "--runs"])
        .arg(repeats.max(1).to_string());
    let report: PeerReport = torch::answer(&exec)?;
    let first = report.cases.into_iter().next();
    first.ok_or_else(|| {
        torch::refuse(
            "the peer measured nothing",
            "ci/peers/README.md says what ci/peers/torch_ops.py prints",
        )
    })
}

fn measure(
    context: &Context,
    pool: &Pool,
    repeats: usize,
    (m, n, k): (usize, usize, usize),
    dtype: DType,
) -> Result<Row, TrainError> {
    let engine = |error: cairn_tensor::cpu::gemm::GemmError| {
        TrainError::from(Box::new(
            Diagnostic::error("bench::gemm", error.to_string())
                .hint("choose smaller sizes, or another dtype"),
        ))
    };
    let gemm = Gemm::nt(m, n, k, dtype, dtype);
    let plan = GemmPlan::new(&gemm, context.isa, context.threads).map_err(engine)?;
    let filled = |shape: [usize; 2]| {
        let values: Vec<f64> = (0..shape[0] * shape[1])
            .map(|index| ((index * 37 % 101) as f64 - 50.0) / 50.0)
            .collect();
        HostTensor::from_f64(TensorType::new(dtype, shape), &values)
    };
    let (a, b) = (filled([m, k])?, filled([n, k])?);
    let mut c = HostTensor::zeros(TensorType::new(dtype, [m, n]))?;
    let mut scratch = HostTensor::zeros(TensorType::new(DType::U8, [plan.scratch_bytes()]))?;
    let mut times = Vec::new();
    // The first call touches memory for the first time and does not count.
    for repeat in 0..=repeats.max(1) {
        let started = Instant::now();
        let args = GemmArgs {
            a: a.bytes(),
            b: OperandB::Plain(b.bytes()),
            c: c.bytes_mut(),
            bias: None,
            scratch: scratch.bytes_mut(),
        };
        plan.run(args, pool).map_err(engine)?;
        if repeat > 0 {
            times.push(started.elapsed().as_secs_f64() * 1e3);
        }
    }
    let best = best(&times);
    Ok(Row {
        m,
        n,
        k,
        dtype: dtype.to_string(),
        kernel: plan.kernel_name().to_owned(),
        best_ms: best,
        median_ms: super::median(&times),
        gflop_per_s: gemm.flops() as f64 / best / 1e6,
        peer: None,
    })
}
