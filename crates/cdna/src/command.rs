//! The commands of `cairn-sim`: run, profile, and what is not supported.

mod arguments;
mod bench;

use std::path::Path;
use std::time::Instant;

use cairn_base::{Diagnostic, env, files, hash, nearest};
use cairn_codeobj::{Arch, CodeObjectError};
use cairn_launch::request::{Command, Format, Request, SimProfile, SimRun, SimUnsupported};

use crate::check::{Checks, Finding};
use crate::launch::{Launch, LaunchError, LoadError, Loaded, Options, Report};
use crate::matrix::Mode;
use crate::memory::Memory;
use crate::model::{self, Estimate};
use crate::profile::Listing;
use crate::program::Program;

/// Memory of the simulated device.
const MEMORY: u64 = 8 << 30;

/// A command that does not end with status 0: what to tell, and the status.
#[derive(Debug)]
pub struct Failed {
    /// What to tell.
    pub diagnostic: Box<Diagnostic>,
    /// 1 failed, 2 wrong input.
    pub code: u8,
}

fn wrong(code: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Failed {
    Failed {
        diagnostic: Box::new(Diagnostic::error(code, message).hint(hint)),
        code: 2,
    }
}

/// An answer on stdout: as text, and as JSON.
#[derive(Debug)]
pub struct Answer {
    /// For people.
    pub text: String,
    /// For programs.
    pub json: serde_json::Value,
    /// Exit code: 1 when something was found.
    pub code: u8,
}

/// Does what a request says.
///
/// # Errors
/// When it cannot be done.
pub fn run(request: Request) -> Result<Answer, Failed> {
    let threads = match request.threads {
        Some(threads) => threads,
        None => threads_of_environment()?,
    };
    match request.command {
        Command::SimRun(run) => sim_run(&run, threads),
        Command::SimProfile(profile) => sim_profile(&profile, threads, request.format),
        Command::SimUnsupported(list) => unsupported(&list),
        Command::SimBench(bench) => bench::run(&bench, threads),
        _ => Err(wrong(
            "sim::request",
            "a request for another engine",
            "`cargo xtask` starts the right one by itself",
        )),
    }
}

fn threads_of_environment() -> Result<usize, Failed> {
    let Some(text) = env::get(&env::CAIRN_THREADS) else {
        return Ok(std::thread::available_parallelism().map_or(1, usize::from));
    };
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| {
        wrong(
            "sim::threads",
            format!("CAIRN_THREADS is `{text}`, which is no number of threads"),
            "set it to the number of cores to use, or unset it",
        )
    })
}

/// A kernel that is ready, and what it was started with.
struct Session {
    memory: Memory,
    loaded: Loaded,
    program: Program,
    options: Options,
    decode_ms: f64,
}

impl Session {
    fn new(run: &SimRun, threads: usize, seed: u64) -> Result<Self, Failed> {
        let bytes = files::read(&run.object).map_err(|error| Failed {
            diagnostic: Box::new(error.diagnostic()),
            code: 2,
        })?;
        let started = Instant::now();
        let mut memory = Memory::new(MEMORY, seed);
        let in_object = |code, error: &dyn std::error::Error, hint: &str| {
            wrong(code, format!("{}: {error}", run.object.display()), hint)
        };
        let loaded = Loaded::new(&bytes, &mut memory)
            .map_err(|error| in_object("sim::object", &error, object_hint(&error)))?;
        let name = kernel_name(run, &loaded)?;
        let program = Program::new(&loaded.object, &name)
            .map_err(|error| in_object("sim::kernel", &error, REBUILD))?;
        let decode_ms = started.elapsed().as_secs_f64() * 1e3;
        let checks = match run.checks.as_str() {
            "all" => Checks::ALL,
            "none" => Checks::NONE,
            _ => Checks::DEFAULT,
        };
        let options = Options {
            checks,
            matrix: if run.fast { Mode::Fast } else { Mode::Exact },
            budget: run.budget,
            seed,
            threads,
            count_conflicts: run.checks != "none",
            ..Options::default()
        };
        Ok(Self {
            memory,
            loaded,
            program,
            options,
            decode_ms,
        })
    }
}

/// The next step where a code object is for something that is not simulated.
const REBUILD: &str =
    "build it for gfx942 or gfx950, as `cargo xtask kernels build --arch \"gfx942;gfx950\"` does";

/// The next step where a code object cannot be loaded.
fn object_hint(error: &LoadError) -> &'static str {
    match error {
        LoadError::Object(CodeObjectError::UnsupportedProcessor { .. }) => REBUILD,
        LoadError::Object(_) => {
            "compile it with `--offload-device-only --no-gpu-bundle-output`, or build it again"
        }
        LoadError::Memory(_) => "its variables take more than the simulated device has",
        LoadError::Undefined(_) => "link it with what it refers to",
    }
}

/// Why a kernel is not launched, and what to type instead.
fn launch_failed(error: &LaunchError, kernel: &str) -> Failed {
    let hint = match error {
        LaunchError::Size {
            what: "workgroup", ..
        } => "give another --workgroup; `cargo xtask kernels inspect` shows a kernel's limits",
        LaunchError::Size { .. } => "give another --grid",
        LaunchError::Lds { .. } => "give a smaller --lds",
        LaunchError::Needs { .. } => "build the kernel anew",
        LaunchError::Arguments { .. } => "give the arguments that the kernel takes",
        LaunchError::Memory(_) => "give smaller arguments",
    };
    wrong("sim::launch", format!("kernel `{kernel}`: {error}"), hint)
}

fn kernel_name(run: &SimRun, loaded: &Loaded) -> Result<String, Failed> {
    let names: Vec<_> = loaded
        .object
        .kernels
        .iter()
        .map(|kernel| kernel.name.as_str())
        .collect();
    match &run.kernel {
        Some(name) if names.contains(&name.as_str()) => Ok(name.clone()),
        Some(name) => {
            let hint = match nearest(name, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it has {}", names.join(", ")),
            };
            let message = format!("{} has no kernel `{name}`", run.object.display());
            Err(wrong("sim::kernel", message, hint))
        }
        None => match names.as_slice() {
            [name] => Ok((*name).to_owned()),
            _ => {
                let message = format!("{} has {} kernels", run.object.display(), names.len());
                let hint = format!("choose one with --kernel: {}", names.join(", "));
                Err(wrong("sim::kernel", message, hint))
            }
        },
    }
}

/// One run: what was found and counted, and a hash of each memory argument.
struct Done {
    report: Report,
    hashes: Vec<String>,
    seconds: f64,
    decode_ms: f64,
    estimate: Estimate,
    listing: Option<Listing>,
}

fn one(run: &SimRun, threads: usize, seed: u64, list: bool) -> Result<Done, Failed> {
    let mut session = Session::new(run, threads, seed)?;
    let kernel = &session.program.kernel;
    let given = arguments::build(&run.arguments, kernel, &mut session.memory)?;
    let launch = Launch {
        loaded: &session.loaded,
        program: &session.program,
        grid: run.grid,
        workgroup: run.workgroup,
        dynamic_lds: run.dynamic_lds,
        arguments: &given.bytes,
    };
    let started = Instant::now();
    let report = launch
        .run(&mut session.memory, &session.options)
        .map_err(|error| launch_failed(&error, &session.program.kernel.name))?;
    let seconds = started.elapsed().as_secs_f64();
    let estimate = model::estimate(&launch, &report.counters);
    let listing = list.then(|| Listing::new(&launch, &report.counters, &estimate));
    let hashes = given
        .buffers
        .iter()
        .map(|(address, bytes)| {
            let content = session.memory.read(*address, *bytes).unwrap_or_default();
            hash::blake3(&content)
        })
        .collect();
    Ok(Done {
        report,
        hashes,
        seconds,
        decode_ms: session.decode_ms,
        estimate,
        listing,
    })
}

fn sim_run(run: &SimRun, threads: usize) -> Result<Answer, Failed> {
    let first = one(run, threads, run.seed, false)?;
    let mut findings = first.report.findings.clone();
    let mut other = None;
    for repeat in 1..u64::from(run.repeats) {
        let again = one(run, threads, run.seed.wrapping_add(repeat), false)?;
        if again.hashes != first.hashes && other.is_none() {
            other = Some(run.seed.wrapping_add(repeat));
        }
        for finding in again.report.findings {
            if !findings
                .iter()
                .any(|known| (known.pc, known.kind) == (finding.pc, finding.kind))
            {
                findings.push(finding);
            }
        }
    }
    let flops = first.report.counters.matrix_flops;
    let mut text = findings
        .iter()
        .fold(String::new(), |text, finding| format!("{text}{finding}\n"));
    if let Some(seed) = other {
        text.push_str(&format!(
            "other bits with seed {seed} than with seed {}\n",
            run.seed
        ));
    }
    let count = findings.len();
    text.push_str(&format!(
        "{count} {}, {} instructions in {:.1} ms, decoded in {:.2} ms",
        if count == 1 { "finding" } else { "findings" },
        first.report.counters.instructions(),
        first.seconds * 1e3,
        first.decode_ms
    ));
    if flops > 0 {
        text.push_str(&format!(
            ", {:.2} GFLOP/s by matrix instructions",
            flops as f64 / first.seconds / 1e9
        ));
    }
    for (at, hash) in first.hashes.iter().enumerate() {
        text.push_str(&format!("\nbuffer {at}: {hash}"));
    }
    if let Some(label) = first.report.label {
        text.push_str(&format!("\nmatrix results: {label}"));
    }
    let json = serde_json::json!({
        "findings": findings.iter().map(finding_json).collect::<Vec<_>>(),
        "same_bits": other.is_none(),
        "buffers": first.hashes,
        "instructions": first.report.counters.instructions(),
        "matrix_flops": flops,
        "label": first.report.label,
        "seconds": first.seconds,
        "decode_ms": first.decode_ms,
        "estimate": estimate_json(&first.estimate),
        "lds_conflicts": first.report.counters.lds_conflicts,
    });
    let code = u8::from(count > 0 || other.is_some());
    Ok(Answer { text, json, code })
}

fn finding_json(finding: &Finding) -> serde_json::Value {
    serde_json::json!({
        "kind": finding.kind.name(),
        "what": finding.what,
        "kernel": finding.kernel,
        "pc": finding.pc,
        "instruction": finding.instruction,
        "source": finding.source,
        "workgroup": finding.workgroup,
        "wave": finding.wave,
        "lane": finding.lane,
        "count": finding.count,
    })
}

fn estimate_json(estimate: &Estimate) -> serde_json::Value {
    serde_json::json!({
        "device": estimate.device,
        "seconds": estimate.seconds,
        "bottleneck": estimate.bottleneck,
        "occupancy": estimate.occupancy,
    })
}

fn sim_profile(profile: &SimProfile, threads: usize, format: Format) -> Result<Answer, Failed> {
    let done = one(&profile.run, threads, profile.run.seed, true)?;
    let Some(listing) = done.listing else {
        return Err(wrong(
            "sim::profile",
            "there is no listing",
            "run the command again",
        ));
    };
    let write = |path: &Path, text: &str| {
        files::write_atomic(path, text.as_bytes()).map_err(|error| Failed {
            diagnostic: Box::new(error.diagnostic()),
            code: 1,
        })
    };
    let mut text = String::new();
    if let Some(path) = &profile.text {
        write(path, &listing.text())?;
        text.push_str(&format!("{}\n", path.display()));
    }
    if let Some(path) = &profile.html {
        write(path, &listing.html())?;
        text.push_str(&format!("{}\n", path.display()));
    }
    if text.is_empty() && format == Format::Text {
        text = listing.text();
    }
    let json = serde_json::json!({
        "text": profile.text,
        "html": profile.html,
        "findings": done.report.findings.iter().map(finding_json).collect::<Vec<_>>(),
        "matrix_flops": done.report.counters.matrix_flops,
        "lds_passes": done.report.counters.lds_passes,
        "lds_conflicts": done.report.counters.lds_conflicts,
        "estimate": estimate_json(&done.estimate),
        "instructions": listing.json(),
    });
    Ok(Answer {
        text: text.trim_end().to_owned(),
        json,
        code: 0,
    })
}

fn unsupported(list: &SimUnsupported) -> Result<Answer, Failed> {
    let arch =
        Arch::from_name(&list.arch).filter(|arch| matches!(arch, Arch::Gfx942 | Arch::Gfx950));
    let Some(arch) = arch else {
        let message = format!("`{}` is not simulated", list.arch);
        return Err(wrong("sim::arch", message, "gfx942 and gfx950 are"));
    };
    let (known, names) = crate::support::unsupported(arch);
    let mut text = names.join("\n");
    text.push_str(&format!(
        "\n{} of {known} operations of {} are not executed",
        names.len(),
        arch.name()
    ));
    let json = serde_json::json!({"arch": arch.name(), "known": known, "unsupported": names});
    Ok(Answer {
        text,
        json,
        code: 0,
    })
}
