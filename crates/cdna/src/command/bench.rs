//! The speed of the simulator, by products of square matrices.
//!
//! Two figures stand for each: the median by the clock, with all threads, and
//! what one core did at best in the time that threads were on it, which other
//! programs disturb less.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use cairn_launch::request::{SimBench, SimRun};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use super::{Answer, Failed, Session, arguments, wrong};
use crate::check::Checks;
use crate::exec::Route;
use crate::launch::Launch;
use crate::matrix::{Lanes, Mode, Sources};
use crate::program::Program;

/// The bf16 kernels.
const FORMS: [&str; 3] = ["gemm_bf16_nn", "gemm_bf16_nt", "gemm_bf16_tn"];
/// The bf16 tile of a workgroup has so many rows and columns.
const BF16_SIDE: u32 = 256;
/// The same in f32.
const F32_SIDE: u32 = 64;
/// How often matrix instructions are run alone, and for so many seconds each time.
const ALONE: (usize, f64) = (10, 0.02);

/// Seconds that the threads of this process were on a core.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// GFLOP/s: by the clock, and by a core.
#[derive(Clone, Copy)]
struct Speed {
    wall: f64,
    core: f64,
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// A product of square matrices, ready to run.
struct Product {
    session: Session,
    given: arguments::Given,
    grid: u32,
    workgroup: u32,
    flops: f64,
    decode_ms: f64,
}

impl Product {
    fn new(
        object: &Path,
        kernel: &str,
        dtype: &str,
        size: u32,
        side: u32,
        bench: &SimBench,
        threads: usize,
    ) -> Result<Self, Failed> {
        let count = u64::from(size) * u64::from(size);
        let matrix = |fill: &str| format!("{fill}:{dtype}:{count}");
        let mut texts = vec![matrix("random"), matrix("random"), matrix("blank")];
        texts.extend((0..6).map(|_| format!("u32:{size}")));
        let workgroup = if dtype == "f32" { 256 } else { 512 };
        let run = SimRun {
            object: object.to_owned(),
            kernel: Some(kernel.to_owned()),
            grid: [1; 3],
            workgroup: [workgroup, 1, 1],
            dynamic_lds: 0,
            arguments: Vec::new(),
            checks: "default".to_owned(),
            fast: false,
            seed: 0,
            repeats: 1,
            budget: u64::MAX,
        };
        let mut decode = Vec::new();
        let mut session = Session::new(&run, threads, 0)?;
        for _ in 0..bench.repeats {
            session = Session::new(&run, threads, 0)?;
            decode.push(session.decode_ms);
        }
        let given = arguments::build(&texts, &session.program.kernel, &mut session.memory)?;
        let tiles = size.div_ceil(side);
        Ok(Self {
            session,
            given,
            grid: tiles * tiles,
            workgroup,
            flops: 2.0 * f64::from(size).powi(3),
            decode_ms: median(decode),
        })
    }

    /// The median speed of some runs by the clock, and the best of a core.
    fn speed(&mut self, mode: Mode, checks: Checks, repeats: usize) -> Result<Speed, Failed> {
        let Session {
            memory,
            loaded,
            program,
            options,
            ..
        } = &mut self.session;
        options.matrix = mode;
        options.checks = checks;
        options.count_conflicts = checks != Checks::NONE;
        options.count_lines = options.count_conflicts;
        let launch = Launch {
            loaded,
            program,
            grid: [self.grid, 1, 1],
            workgroup: [self.workgroup, 1, 1],
            dynamic_lds: 0,
            arguments: &self.given.bytes,
        };
        let (mut wall, mut core) = (Vec::new(), Vec::new());
        for _ in 0..repeats {
            let (cpu, start) = (cpu_seconds(), Instant::now());
            let report = launch.run(memory, options).map_err(|error| {
                let hint = "measure with kernels of this checkout";
                wrong("sim::launch", error.to_string(), hint)
            })?;
            wall.push(start.elapsed().as_secs_f64());
            core.push(cpu_seconds() - cpu);
            if let Some(finding) = report.findings.first() {
                let hint = "a kernel with faults is not measured: see `cargo xtask sim run`";
                return Err(wrong("sim::finding", finding.to_string(), hint));
            }
        }
        Ok(Speed {
            wall: self.flops / median(wall) / 1e9,
            core: self.flops / core.into_iter().fold(f64::INFINITY, f64::min) / 1e9,
        })
    }
}

/// What a core reaches with nothing but the matrix instruction that a program
/// has most of.
fn alone(program: &Program, mode: Mode) -> f64 {
    let forms = program.steps.iter().filter_map(|step| match &step.route {
        Route::Matrix(form) => Some(&**form),
        _ => None,
    });
    let Some(form) = forms.max_by_key(|form| form.flops()) else {
        return 0.0;
    };
    // Numbers near 1.
    let registers = |count: usize| -> Vec<Lanes> {
        let word = |at: usize| 0x3f80_3f80 ^ (at as u32).wrapping_mul(0x9e37_79b9) & 0x807f_807f;
        (0..count)
            .map(|register| std::array::from_fn(|lane| word(64 * register + lane)))
            .collect()
    };
    let a = registers(form.a_layout().registers());
    let b = registers(form.b_layout().registers());
    let mut d = vec![[0; 64]; form.d_layout().registers()];
    let mut best = 0.0_f64;
    for _ in 0..ALONE.0 {
        let (start, mut runs, mut taken) = (cpu_seconds(), 0_u64, 0.0);
        while taken < ALONE.1 {
            for _ in 0..1000 {
                // The accumulator starts anew, so that it stays in range.
                d.fill([0; 64]);
                let sources = Sources::dense(&a, &b);
                let _ = form.accumulate(mode, black_box(&sources), black_box(&mut d));
            }
            runs += 1000;
            taken = cpu_seconds() - start;
        }
        best = best.max((runs * form.flops()) as f64 / taken / 1e9);
    }
    best
}

/// A line of the answer.
struct Line {
    kernel: &'static str,
    mode: Mode,
    checked: bool,
    speed: Speed,
    /// Of the speed of the matrix functions alone.
    fraction: Option<f64>,
}

impl Line {
    fn text(&self) -> String {
        let fraction = self.fraction.map_or(String::new(), |fraction| {
            format!("{:>9.0} %", 100.0 * fraction)
        });
        format!(
            "{:<14} {:<6} {:<8} {:>8.2} {:>8.2}{fraction}",
            self.kernel,
            mode_name(self.mode),
            checks_name(self.checked),
            self.speed.wall,
            self.speed.core,
        )
    }

    fn json(&self) -> Value {
        json!({
            "kernel": self.kernel,
            "mode": mode_name(self.mode),
            "checks": checks_name(self.checked),
            "gflops": self.speed.wall,
            "gflops_of_a_core": self.speed.core,
            "of_matrix_functions": self.fraction,
        })
    }
}

const fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Fast => "fast",
        Mode::Exact => "exact",
    }
}

const fn checks_name(checked: bool) -> &'static str {
    if checked { "default" } else { "none" }
}

/// Measures.
pub(super) fn run(bench: &SimBench, threads: usize) -> Result<Answer, Failed> {
    let mut lines = Vec::new();
    let mut functions = Vec::new();
    let mut decode_ms: f64 = 0.0;
    let checks = |checked| {
        if checked {
            Checks::DEFAULT
        } else {
            Checks::NONE
        }
    };
    for kernel in FORMS {
        let (size, side) = (bench.size, BF16_SIDE);
        let mut product = Product::new(&bench.bf16, kernel, "bf16", size, side, bench, threads)?;
        decode_ms = decode_ms.max(product.decode_ms);
        for mode in [Mode::Fast, Mode::Exact] {
            let own = alone(&product.session.program, mode);
            if kernel == FORMS[0] {
                functions.push((mode, own));
            }
            for checked in [true, false] {
                let speed = product.speed(mode, checks(checked), bench.repeats)?;
                lines.push(Line {
                    kernel,
                    mode,
                    checked,
                    speed,
                    fraction: Some(speed.core / own),
                });
            }
        }
    }
    let kernel = "gemm_f32_nn";
    let (size, side) = (bench.size / 2, F32_SIDE);
    let mut product = Product::new(&bench.f32, kernel, "f32", size, side, bench, threads)?;
    decode_ms = decode_ms.max(product.decode_ms);
    for checked in [true, false] {
        lines.push(Line {
            kernel,
            mode: Mode::Exact,
            checked,
            speed: product.speed(Mode::Exact, checks(checked), bench.repeats)?,
            fraction: None,
        });
    }
    let mut text = format!(
        "GFLOP/s, {threads} threads, {} runs: median by the clock, best of a core\n{:<14} {:<6} {:<8} {:>8} {:>8}{:>11}\n",
        bench.repeats, "kernel", "mode", "checks", "clock", "a core", "of matrix"
    );
    for line in &lines {
        text.push_str(&line.text());
        text.push('\n');
    }
    for (mode, own) in &functions {
        let name = mode_name(*mode);
        text.push_str(&format!(
            "matrix functions alone, {name}: {own:.2} a core\n"
        ));
    }
    text.push_str(&format!("loaded and decoded in {decode_ms:.2} ms"));
    let json = json!({
        "threads": threads,
        "lines": lines.iter().map(Line::json).collect::<Vec<_>>(),
        "matrix_functions": functions
            .iter()
            .map(|(mode, own)| json!({"mode": mode_name(*mode), "gflops_of_a_core": own}))
            .collect::<Vec<_>>(),
        "decode_ms": decode_ms,
    });
    Ok(Answer {
        text,
        json,
        code: 0,
    })
}
