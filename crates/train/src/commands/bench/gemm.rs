//! Matrix products of given sizes.

use std::time::Instant;

use cairn_base::Diagnostic;
use cairn_formats::DType;
use cairn_tensor::cpu::gemm::{Gemm, GemmArgs, GemmPlan, OperandB};
use cairn_tensor::{HostTensor, Pool, TensorType};
use serde::Serialize;

use super::super::Context;
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
}

pub(super) fn run(
    context: &Context,
    repeats: usize,
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
            rows.push(measure(context, &pool, repeats, (*m, *n, *k), dtype)?);
        }
    }
    context.answer(&rows, |rows| {
        let line = |row: &Row| {
            let size = format!("{}x{}x{}", row.m, row.n, row.k);
            format!(
                "{size:<18} {:<5} {:<14} {:>9.3} ms  {:>8.1} GFLOP/s",
                row.dtype, row.kernel, row.best_ms, row.gflop_per_s
            )
        };
        rows.iter().map(line).collect::<Vec<_>>().join("\n")
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
    let best = times.iter().copied().fold(f64::INFINITY, f64::min);
    Ok(Row {
        m,
        n,
        k,
        dtype: dtype.to_string(),
        kernel: plan.kernel_name().to_owned(),
        best_ms: best,
        median_ms: super::median(&times),
        gflop_per_s: gemm.flops() as f64 / best / 1e6,
    })
}
