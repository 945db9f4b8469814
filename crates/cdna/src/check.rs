//! What is looked for while a kernel runs, and how it is told.

use std::collections::BTreeMap;
use std::fmt;

/// Which faults are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Values that depend on registers, LDS or memory never written.
    pub uninitialised: bool,
    /// Registers and LDS used before the load into them was waited for.
    pub waits: bool,
    /// Waves of a workgroup that touch the same LDS without a barrier between.
    pub lds_races: bool,
    /// Barriers that not all lanes or waves of a workgroup reach.
    pub barriers: bool,
    /// Addresses that are no multiple of the size of what is there.
    pub alignment: bool,
    /// Workgroups that touch the same memory; the launch runs on one thread.
    pub global_races: bool,
}

impl Checks {
    /// All but races between workgroups, which have to be asked for.
    pub const DEFAULT: Self = Self {
        uninitialised: true,
        waits: true,
        lds_races: true,
        barriers: true,
        alignment: true,
        global_races: false,
    };

    /// Everything.
    pub const ALL: Self = Self {
        global_races: true,
        ..Self::DEFAULT
    };

    /// Nothing but what has no result: access outside of every allocation.
    pub const NONE: Self = Self {
        uninitialised: false,
        waits: false,
        lds_races: false,
        barriers: false,
        alignment: false,
        global_races: false,
    };
}

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// Access outside of every allocation.
    OutOfBounds,
    /// An address that is no multiple of the access size.
    Unaligned,
    /// LDS beyond what the workgroup has.
    LdsOutOfBounds,
    /// A result, address or branch depends on a register never written.
    UninitialisedRegister,
    /// LDS never written is read.
    UninitialisedLds,
    /// Memory never written is read.
    UninitialisedMemory,
    /// Two waves touch the same LDS without a barrier between.
    LdsRace,
    /// Two workgroups touch the same memory.
    GlobalRace,
    /// A register is used before the load into it was waited for.
    MissingWait,
    /// Not all lanes or waves reach a barrier.
    DivergentBarrier,
    /// More instructions than the budget.
    EndlessLoop,
    /// All waves wait for something that no wave will do.
    Deadlock,
    /// An instruction that is not supported, or that is none.
    Unsupported,
    /// A trap.
    Trap,
}

impl FindingKind {
    /// A short name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OutOfBounds => "out-of-bounds",
            Self::Unaligned => "unaligned",
            Self::LdsOutOfBounds => "lds-out-of-bounds",
            Self::UninitialisedRegister => "uninitialised-register",
            Self::UninitialisedLds => "uninitialised-lds",
            Self::UninitialisedMemory => "uninitialised-memory",
            Self::LdsRace => "lds-race",
            Self::GlobalRace => "global-race",
            Self::MissingWait => "missing-wait",
            Self::DivergentBarrier => "divergent-barrier",
            Self::EndlessLoop => "endless-loop",
            Self::Deadlock => "deadlock",
            Self::Unsupported => "unsupported",
            Self::Trap => "trap",
        }
    }
}

/// A fault: what, and where it was first met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which kind.
    pub kind: FindingKind,
    /// What happened.
    pub what: String,
    /// The kernel.
    pub kernel: String,
    /// The address of the instruction in the code object.
    pub pc: u64,
    /// The instruction.
    pub instruction: String,
    /// File and line, where the code object tells.
    pub source: Option<String>,
    /// The workgroup.
    pub workgroup: [u32; 3],
    /// The wave in it.
    pub wave: u32,
    /// The first lane, where lanes matter.
    pub lane: Option<u32>,
    /// How often it was met.
    pub count: u64,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.workgroup;
        write!(
            f,
            "{}: {}\n  kernel {} at {:#x}: {}\n  ",
            self.kind.name(),
            self.what,
            self.kernel,
            self.pc,
            self.instruction
        )?;
        if let Some(source) = &self.source {
            write!(f, "{source}, ")?;
        }
        write!(f, "workgroup ({x}, {y}, {z}), wave {}", self.wave)?;
        if let Some(lane) = self.lane {
            write!(f, ", lane {lane}")?;
        }
        if self.count > 1 {
            write!(f, "; met {} times", self.count)?;
        }
        Ok(())
    }
}

/// A fault before names are known.
#[derive(Clone, Debug)]
pub(crate) struct Raw {
    pub(crate) what: String,
    pub(crate) workgroup: [u32; 3],
    /// The workgroup's number in the order of the grid.
    pub(crate) order: u64,
    pub(crate) wave: u32,
    pub(crate) lane: Option<u32>,
    pub(crate) count: u64,
}

/// Faults by kind and instruction; the first one in the order of the grid is
/// the one that is told, whatever thread met it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    pub(crate) found: BTreeMap<(usize, FindingKind), Raw>,
}

impl Log {
    pub(crate) fn add(&mut self, step: usize, kind: FindingKind, raw: Raw) {
        match self.found.get_mut(&(step, kind)) {
            None => {
                self.found.insert((step, kind), raw);
            }
            Some(known) => {
                let count = known.count + raw.count;
                if (raw.order, raw.wave) < (known.order, known.wave) {
                    *known = raw;
                }
                known.count = count;
            }
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for ((step, kind), raw) in other.found {
            self.add(step, kind, raw);
        }
    }
}
