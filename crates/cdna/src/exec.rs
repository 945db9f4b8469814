//! Executes the instructions of a wave.

mod cross;
mod ds;
mod flow;
mod indexed;
mod matrix_ops;
mod memory_access;
mod operands;
pub(crate) mod scalar;
mod small;
mod smem;
mod vector;
mod vmem;

use cairn_codeobj::Arch;
use cairn_codeobj::isa::{Family, Format, Inst, Op};

use crate::check::{Checks, FindingKind, Log, Raw};
use crate::counters::Counters;
use crate::launch::Environment;
use crate::lds::Lds;
use crate::matrix::Mfma;
use crate::program::{NO_STEP, Program, Step};
use crate::valu::{Level, Modes};
use crate::wave::{Lanes, State, Wave};

pub(crate) use cross::DppPlan;
pub(crate) use ds::Pattern;
pub(crate) use vector::VectorPlan;

/// Who does an instruction.
#[derive(Debug)]
pub(crate) enum Route {
    Scalar,
    ScalarConstant,
    Flow,
    Smem,
    Vector(Box<VectorPlan>),
    Compare(Option<Box<DppPlan>>),
    Cross,
    Small,
    Matrix(Box<Mfma>),
    Ds(ds::Action),
    Vmem,
    /// Known, and not supported.
    Unsupported,
    /// No instruction, or one with operands it cannot have.
    Invalid(String),
}

impl Route {
    pub(crate) fn of(inst: &Inst, arch: Arch) -> Self {
        let supported = match inst.format {
            Format::Sop1 | Format::Sop2 | Format::Sopc => {
                flow::jumps(inst.op)
                    || indexed::is_supported(inst.op)
                    || scalar::exec_logic(inst.op, 0, 0).is_some()
                    || operands::writes_bits(inst.op)
                    || scalar::run(inst.op, 0, 0, false).is_some()
            }
            .then_some(Self::Scalar),
            Format::Sopk => flow::sopk_is_supported(inst).then_some(Self::ScalarConstant),
            Format::Sopp => flow::is_supported(inst.op).then_some(Self::Flow),
            Format::Smem => smem::is_supported(inst.op).then_some(Self::Smem),
            Format::Ds => ds::plan(inst).map(Self::Ds),
            Format::Flat | Format::Global | Format::Scratch | Format::Mubuf => {
                vmem::is_supported(inst).then_some(Self::Vmem)
            }
            Format::Mai if inst.matrix_form() => return matrix_ops::route(inst, arch),
            _ if inst.info().family == Family::Vopc => Some(Self::Compare(DppPlan::of(inst))),
            _ if cross::is_supported(inst) => Some(Self::Cross),
            _ if small::is_supported(inst) => Some(Self::Small),
            _ => VectorPlan::of(inst).map(|plan| Self::Vector(Box::new(plan))),
        };
        supported.unwrap_or(Self::Unsupported)
    }
}

impl Route {
    /// Operations of a matrix instruction; 0 for others.
    pub(crate) fn matrix_flops(&self) -> u64 {
        match self {
            Self::Matrix(form) => form.flops(),
            _ => 0,
        }
    }
}

/// Whether an instruction multiplies matrices.
trait MatrixForm {
    fn matrix_form(&self) -> bool;
}

impl MatrixForm for Inst {
    fn matrix_form(&self) -> bool {
        !matches!(self.op, Op::V_ACCVGPR_READ_B32 | Op::V_ACCVGPR_WRITE_B32)
    }
}

/// Registers that an instruction works in.
#[derive(Debug)]
pub(crate) struct Scratch {
    pub(crate) src: [[Lanes; 2]; 3],
    pub(crate) out: [Lanes; 2],
    pub(crate) aux: [Lanes; 4],
    pub(crate) address: [u64; 64],
}

impl Scratch {
    fn new() -> Box<Self> {
        Box::new(Self {
            src: [[[0; 64]; 2]; 3],
            out: [[0; 64]; 2],
            aux: [[0; 64]; 4],
            address: [0; 64],
        })
    }
}

/// Why the executor returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The wave waits or has ended, or its turn is over.
    Turn,
    /// The launch cannot go on.
    Fatal,
}

/// What executes the waves of one workgroup after the other.
pub(crate) struct Machine<'a> {
    pub(crate) program: &'a Program,
    pub(crate) environment: &'a Environment<'a>,
    pub(crate) checks: Checks,
    pub(crate) level: Level,
    pub(crate) lds: Lds,
    /// Scratch memory of the wave that runs: words by wave and lane.
    pub(crate) private: Vec<u32>,
    pub(crate) scratch: Box<Scratch>,
    pub(crate) log: Log,
    pub(crate) counters: Counters,
    pub(crate) workgroup: [u32; 3],
    pub(crate) order: u64,
    /// The allocation that was used last.
    pub(crate) hint: usize,
    pub(crate) modes: Modes,
    /// Which bytes of each word of scratch were written.
    pub(crate) private_written: Vec<u8>,
    /// The step that runs.
    pub(crate) current: usize,
    /// The last LDS accesses of each step.
    pub(crate) patterns: Vec<Vec<Pattern>>,
    /// Copies of operands of matrix instructions.
    pub(crate) matrix_buffers: [Vec<Lanes>; 4],
}

impl<'a> Machine<'a> {
    pub(crate) fn new(program: &'a Program, environment: &'a Environment<'a>) -> Self {
        Self {
            program,
            environment,
            checks: environment.options.checks,
            level: environment.level,
            lds: Lds::default(),
            private: Vec::new(),
            scratch: Scratch::new(),
            log: Log::default(),
            counters: Counters::new(program.steps.len()),
            workgroup: [0; 3],
            order: 0,
            hint: 0,
            modes: Modes::new(0, false),
            private_written: Vec::new(),
            current: 0,
            patterns: program.steps.iter().map(|_| Vec::new()).collect(),
            matrix_buffers: Default::default(),
        }
    }

    pub(crate) fn find(&mut self, wave: &Wave, kind: FindingKind, lane: Option<u32>, what: String) {
        self.log.add(
            wave.at,
            kind,
            Raw {
                what,
                workgroup: self.workgroup,
                order: self.order,
                wave: wave.id,
                lane,
                count: 1,
            },
        );
    }

    pub(crate) fn set_modes(&mut self, wave: &Wave) {
        let ocp = self.program.arch == Arch::Gfx950;
        self.modes = Modes::new(wave.mode, ocp);
    }

    /// Runs a wave until it waits, ends, or has done `turn` instructions.
    pub(crate) fn run(&mut self, wave: &mut Wave, turn: u64) -> Stop {
        self.set_modes(wave);
        let budget = self.environment.options.budget;
        let last = wave.executed.saturating_add(turn);
        let program = self.program;
        while wave.state == State::Running {
            if wave.executed >= last {
                return Stop::Turn;
            }
            if wave.executed >= budget {
                let what = format!("more than {budget} instructions in one wave");
                self.find(wave, FindingKind::EndlessLoop, None, what);
                return Stop::Fatal;
            }
            let Some(step) = program.steps.get(wave.at) else {
                let what = "the wave leaves the code of the kernel".to_owned();
                self.find(wave, FindingKind::Unsupported, None, what);
                return Stop::Fatal;
            };
            let moved;
            let step = if indexed::is_on(wave) {
                moved = self.indexed(wave, step);
                &moved
            } else {
                step
            };
            wave.executed += 1;
            self.current = wave.at;
            self.counters.steps[wave.at] += 1;
            if self.checks.waits && !wave.shadow.queue.is_empty() {
                self.check_pending(wave, step);
            }
            if self.step(wave, step) == Stop::Fatal {
                return Stop::Fatal;
            }
        }
        Stop::Turn
    }

    fn step(&mut self, wave: &mut Wave, step: &Step) -> Stop {
        match &step.route {
            Route::Scalar => return self.scalar(wave, step),
            Route::Flow => return self.flow(wave, step),
            Route::ScalarConstant => return self.sopk(wave, step),
            Route::Vector(plan) => self.vector(wave, step, plan),
            Route::Compare(dpp) => self.compare(wave, step, dpp.as_deref()),
            Route::Cross => self.cross(wave, step),
            Route::Small => self.small(wave, step),
            Route::Matrix(form) => {
                if !self.matrix(wave, step, form) {
                    return Stop::Fatal;
                }
            }
            Route::Smem => self.smem(wave, step),
            Route::Ds(action) => self.ds(wave, step, *action),
            Route::Vmem => {
                if !self.vmem(wave, step) {
                    return Stop::Fatal;
                }
            }
            Route::Unsupported => {
                let what = format!("{} is not supported", step.inst.mnemonic());
                self.find(wave, FindingKind::Unsupported, None, what);
                return Stop::Fatal;
            }
            Route::Invalid(what) => {
                self.find(wave, FindingKind::Unsupported, None, what.clone());
                return Stop::Fatal;
            }
        }
        wave.at = step.next;
        Stop::Turn
    }

    /// Registers that a load is still on its way into.
    fn check_pending(&mut self, wave: &Wave, step: &Step) {
        let inst = &step.inst;
        let shadow = &wave.shadow;
        let loads = matches!(
            inst.format,
            Format::Smem
                | Format::Ds
                | Format::Flat
                | Format::Global
                | Format::Scratch
                | Format::Mubuf
        );
        let written = step.uses.writes().iter().filter(|_| !loads);
        for (operand, count) in step.uses.reads().iter().chain(written) {
            // A load into half of a register keeps the other half by itself.
            if loads && *operand == inst.dst {
                continue;
            }
            let count = usize::from(*count);
            let pending = if let Some(first) = operand.vector_index() {
                shadow.is_waited_for(first, count)
            } else if let Some(first) = operand.scalar_index() {
                let loads = shadow.scalar_pending.iter().skip(first).take(count);
                loads.into_iter().any(|loads| *loads > 0)
            } else {
                false
            };
            if pending {
                let what = format!("{operand:?} is used before the load into it was waited for");
                self.find(wave, FindingKind::MissingWait, None, what);
                return;
            }
        }
    }

    /// Tells of lanes whose value was never written.
    pub(crate) fn need_defined(&mut self, wave: &Wave, lanes: u64, defined: u64, what: &str) {
        let missing = lanes & !defined;
        if missing != 0 && self.checks.uninitialised {
            let lane = missing.trailing_zeros();
            let what = format!("{what} depends on a register that was never written");
            self.find(wave, FindingKind::UninitialisedRegister, Some(lane), what);
        }
    }
}

/// The step after the last one.
pub(crate) const fn is_end(step: usize) -> bool {
    step == NO_STEP
}
