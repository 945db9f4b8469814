//! A simple cycle model: how long each resource of a processor would be busy,
//! and which one would be the bottleneck. No latencies, and an L2 cache that keeps
//! all it has seen: a bound from below, as in a roofline.

use cairn_codeobj::isa::Inst;
use cairn_codeobj::{Arch, Product};

use crate::counters::{Class, Counters, LINE};
use crate::launch::Launch;
use crate::program::Program;

/// An estimate for a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The device.
    pub device: &'static str,
    /// Seconds that each resource is busy, with its name.
    pub busy: Vec<(&'static str, f64)>,
    /// The longest of them, times the imbalance of workgroups over compute units.
    pub seconds: f64,
    /// Its name.
    pub bottleneck: &'static str,
    /// Waves a SIMD unit holds.
    pub occupancy: u32,
}

/// Matrix operations a SIMD unit does in a cycle.
fn matrix_rate(name: &str, arch: Arch) -> f64 {
    let new = arch == Arch::Gfx950;
    if name.contains("_F64") {
        return if new { 32.0 } else { 64.0 };
    }
    if name.contains("XF32") {
        return 256.0;
    }
    if name.ends_with("_F32") {
        return 64.0;
    }
    let base = Product::of(arch).matrix_16 as f64;
    let small = ["FP8", "BF8", "I8", "F8F6F4"]
        .iter()
        .any(|part| name.contains(part));
    if small { 2.0 * base } else { base }
}

/// Cycles an instruction takes on its SIMD unit.
fn cycles(inst: &Inst, arch: Arch, matrix_flops: u64) -> f64 {
    let name = inst.info().upper;
    match Class::of(inst) {
        Class::Matrix => matrix_flops as f64 / matrix_rate(name, arch),
        Class::Transcendental => 16.0,
        Class::Vector if name.contains("_F64") => 8.0,
        Class::Vector if name.contains("MUL_LO_U32") || name.contains("MUL_HI_U32") => 16.0,
        Class::Vector => 4.0,
        Class::Scalar | Class::Control | Class::ScalarMemory => 1.0,
        Class::Lds | Class::Load | Class::Store => 4.0,
    }
}

/// Estimates a launch from its counts.
#[must_use]
pub fn estimate(launch: &Launch<'_>, counters: &Counters) -> Estimate {
    let program: &Program = launch.program;
    let (arch, device) = (program.arch, Product::of(program.arch));
    let (mut vector, mut matrix, mut scalar) = (0.0, 0.0, 0.0);
    for (step, count) in program.steps.iter().zip(&counters.steps) {
        let time = *count as f64 * cycles(&step.inst, arch, step.route.matrix_flops());
        match Class::of(&step.inst) {
            Class::Matrix => matrix += time,
            Class::Scalar | Class::Control | Class::ScalarMemory => scalar += time,
            _ => vector += time,
        }
    }
    let simds = (device.units * u64::from(Arch::SIMDS)) as f64;
    let groups: u64 = launch.grid.iter().map(|size| u64::from(*size)).product();
    let rounds = groups.div_ceil(device.units) as f64;
    let imbalance = rounds * device.units as f64 / groups.max(1) as f64;
    let lds = (counters.lds_read + counters.lds_written) as f64 / device.lds_bytes as f64
        + counters.lds_conflicts as f64;
    let unit = device.units as f64 * device.clock;
    let cache = (counters.global_read + counters.global_written) as f64 / device.cache_bandwidth();
    let memory = (counters.distinct_lines * LINE) as f64 / device.bandwidth;
    let busy = vec![
        ("vector units", vector / simds / device.clock * imbalance),
        ("matrix units", matrix / simds / device.clock * imbalance),
        ("scalar units", scalar / simds / device.clock * imbalance),
        ("LDS", lds / unit * imbalance),
        ("L2 cache", cache),
        ("memory", memory),
    ];
    let (bottleneck, seconds) = busy.iter().fold(("vector units", 0.0), |most, part| {
        if part.1 > most.1 { *part } else { most }
    });
    let lanes: u32 = launch.workgroup.iter().product();
    let descriptor = &program.kernel.descriptor;
    let lds_bytes = descriptor.group_segment_bytes + launch.dynamic_lds;
    let occupancy = arch.occupancy(descriptor.rsrc1.vgprs(), lds_bytes, lanes);
    Estimate {
        device: device.name,
        busy,
        seconds,
        bottleneck,
        occupancy: occupancy.waves(),
    }
}
