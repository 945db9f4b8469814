//! Launches: what a kernel is given, who runs when, and what came of it.

mod abi;
mod lines;
mod load;
mod workgroup;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::check::{Checks, Finding, Log};
use crate::counters::Counters;
use crate::exec::Machine;
use crate::matrix::Mode;
use crate::memory::{Memory, MemoryError};
use crate::program::Program;
use crate::race::Races;
use crate::source::SourceLines;
use crate::valu::Level;

pub(crate) use lines::Lines;
pub use load::{LoadError, Loaded};
pub(crate) use workgroup::Workgroup;

/// Flat addresses with this high half are LDS.
pub(crate) const SHARED_APERTURE: u64 = 0x0001_0000_0000_0000;
/// Flat addresses with this high half are scratch.
pub(crate) const PRIVATE_APERTURE: u64 = 0x0002_0000_0000_0000;

/// How a launch is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What is looked for.
    pub checks: Checks,
    /// How matrix instructions compute.
    pub matrix: Mode,
    /// Most instructions of a wave.
    pub budget: u64,
    /// Decides the order of workgroups and waves, and what registers and LDS
    /// hold before they are written.
    pub seed: u64,
    /// Threads that run workgroups.
    pub threads: usize,
    /// Count LDS bank conflicts, and lines of memory.
    pub count_conflicts: bool,
    /// Count the lines of memory that are touched, which the cycle model needs.
    pub count_lines: bool,
    /// Most workgroups that are run, spread over the grid; the counts are scaled to
    /// all of it. 0: all run. What the others would write stays unwritten.
    pub sample: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            checks: Checks::DEFAULT,
            matrix: Mode::Exact,
            budget: 50_000_000,
            seed: 0,
            threads: 1,
            count_conflicts: true,
            count_lines: true,
            sample: 0,
        }
    }
}

/// A kernel and what it is started with.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The code object, loaded.
    pub loaded: &'a Loaded,
    /// The kernel of it, made ready.
    pub program: &'a Program,
    /// Workgroups in x, y and z.
    pub grid: [u32; 3],
    /// Work-items of a workgroup.
    pub workgroup: [u32; 3],
    /// LDS beside what the kernel declares.
    pub dynamic_lds: u32,
    /// The explicit arguments, laid out as the metadata says.
    pub arguments: &'a [u8],
}

/// Why a kernel cannot be launched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// A workgroup or grid of nothing, or of too much.
    #[error("a {what} of {given:?}: {limit}")]
    Size {
        /// Which.
        what: &'static str,
        /// What was asked for.
        given: [u32; 3],
        /// What is allowed.
        limit: String,
    },
    /// More LDS than there is.
    #[error("{asked} bytes of LDS, and {arch} has {limit} for a workgroup")]
    Lds {
        /// What the kernel declares, and what is asked for beside.
        asked: u64,
        /// The processor.
        arch: &'static str,
        /// What it has.
        limit: u32,
    },
    /// More memory for each lane, or for arguments, than a device gives.
    #[error("{asked} bytes of {what}, and {limit} are the most; is the code object damaged?")]
    Needs {
        /// What it is for.
        what: &'static str,
        /// What the kernel declares.
        asked: u64,
        /// The most.
        limit: u64,
    },
    /// Arguments of another size.
    #[error("{given} bytes of arguments, and the kernel takes {expected}")]
    Arguments {
        /// Bytes given.
        given: usize,
        /// Bytes the kernel takes.
        expected: usize,
    },
    /// No memory for arguments.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// What came of a launch.
#[derive(Clone, Debug)]
pub struct Report {
    /// The faults, in the order of instructions.
    pub findings: Vec<Finding>,
    /// The counts.
    pub counters: Counters,
    /// Set when a matrix instruction follows the rules of another architecture.
    pub label: Option<&'static str>,
}

/// What all workgroups of a launch share.
pub(crate) struct Environment<'a> {
    pub(crate) memory: &'a Memory,
    pub(crate) options: Options,
    pub(crate) level: Level,
    pub(crate) object_base: u64,
    /// Words of scratch a lane has.
    pub(crate) private_words: u32,
    pub(crate) races: Option<Races>,
    pub(crate) lines: Lines,
    pub(crate) wide_atomics: Mutex<()>,
    pub(crate) kernarg: u64,
    pub(crate) packet: u64,
    pub(crate) lds_bytes: u32,
    pub(crate) arguments: Vec<u8>,
}

impl Launch<'_> {
    /// Runs the kernel over its grid.
    ///
    /// # Errors
    /// When it is over the limits of the processor, or its arguments do not
    /// fit. Faults of the kernel are findings of the report.
    pub fn run(&self, memory: &mut Memory, options: &Options) -> Result<Report, LaunchError> {
        self.check()?;
        let arguments = self.kernarg();
        let kernarg = memory.allocate(arguments.len() as u64, "arguments")?;
        let packet = memory.allocate(64, "dispatch packet")?;
        let done = self.run_with(memory, options, arguments, kernarg, packet);
        memory.free(packet)?;
        memory.free(kernarg)?;
        done
    }

    fn run_with(
        &self,
        memory: &Memory,
        options: &Options,
        arguments: Vec<u8>,
        kernarg: u64,
        packet: u64,
    ) -> Result<Report, LaunchError> {
        memory.write(kernarg, &arguments)?;
        memory.write(packet, &self.packet(kernarg))?;
        let descriptor = &self.program.kernel.descriptor;
        let private = if descriptor.uses_dynamic_stack {
            descriptor.private_segment_bytes.max(16 << 10)
        } else {
            descriptor.private_segment_bytes
        };
        let races = options
            .checks
            .global_races
            .then(|| Races::new(memory.allocations()));
        let environment = Environment {
            memory,
            options: *options,
            level: Level::detect(),
            object_base: self.loaded.base,
            private_words: private.div_ceil(4),
            races,
            lines: Lines::new(if options.count_lines {
                memory.allocations().len()
            } else {
                0
            }),
            wide_atomics: Mutex::new(()),
            kernarg,
            packet,
            lds_bytes: descriptor.group_segment_bytes + self.dynamic_lds,
            arguments,
        };
        let ordered = self.program.order_matters || options.checks.global_races;
        let threads = if ordered { 1 } else { options.threads.max(1) };
        let (log, counters) = self.run_workgroups(&environment, threads);
        Ok(self.report(log, counters))
    }

    fn run_workgroups(&self, environment: &Environment<'_>, threads: usize) -> (Log, Counters) {
        let count: u64 = self.grid.iter().map(|size| u64::from(*size)).product();
        let order = workgroup::order(count, &environment.options);
        let next = AtomicU64::new(0);
        let stop = AtomicBool::new(false);
        let work = || {
            let mut machine = Machine::new(self.program, environment);
            let mut group = Workgroup::default();
            while !stop.load(Relaxed) {
                let at = next.fetch_add(1, Relaxed);
                let Some(number) = order.get(at) else {
                    break;
                };
                if !group.run(self, &mut machine, number) {
                    stop.store(true, Relaxed);
                }
            }
            (machine.log, machine.counters)
        };
        let mut log = Log::default();
        let mut counters = Counters::new(self.program.steps.len());
        let mut collect = |(found, counted): (Log, Counters)| {
            log.merge(found);
            counters.merge(&counted);
        };
        if threads == 1 || count == 1 {
            collect(work());
        } else {
            std::thread::scope(|scope| {
                let workers: Vec<_> = (0..threads.min(count as usize))
                    .map(|_| scope.spawn(work))
                    .collect();
                for worker in workers {
                    match worker.join() {
                        Ok(done) => collect(done),
                        Err(panic) => std::panic::resume_unwind(panic),
                    }
                }
            });
        }
        if order.len() < count {
            counters.scale(count, order.len());
        }
        counters.distinct_lines = environment.lines.count();
        (log, counters)
    }

    fn report(&self, log: Log, counters: Counters) -> Report {
        let lines = if log.found.is_empty() {
            SourceLines::default()
        } else {
            SourceLines::read(&self.loaded.object)
        };
        let mut findings = Vec::new();
        for ((step, kind), raw) in log.found {
            let step = self.program.steps.get(step);
            let pc = step.map_or(0, |step| step.pc);
            findings.push(Finding {
                kind,
                what: raw.what,
                kernel: self.program.kernel.name.clone(),
                pc,
                instruction: step.map_or_else(String::new, |step| step.inst.to_string()),
                source: lines.at(pc),
                workgroup: raw.workgroup,
                wave: raw.wave,
                lane: raw.lane,
                count: raw.count,
            });
        }
        findings.sort_by_key(|finding| (finding.pc, finding.kind));
        Report {
            findings,
            counters,
            label: self.program.label(),
        }
    }
}
