//! A kernel made ready to run: every instruction that can be reached, decoded
//! once, with what the executor wants to know about it.

use cairn_codeobj::isa::{self, Format, Inst, Op, Operand, Uses};
use cairn_codeobj::{Arch, CodeObject, Kernel};

use crate::exec::Route;
use crate::wave::{FIRST_AGPR, VECTOR_REGISTERS};

/// No step.
pub(crate) const NO_STEP: usize = usize::MAX;

/// An instruction and what is known about it beforehand.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) inst: Inst,
    pub(crate) uses: Uses,
    pub(crate) route: Route,
    /// Its address in the code object.
    pub(crate) pc: u64,
    /// The step after it.
    pub(crate) next: usize,
    /// The step a branch goes to.
    pub(crate) target: usize,
}

/// A kernel made ready.
#[derive(Debug)]
pub struct Program {
    /// The kernel.
    pub kernel: Kernel,
    /// What it is executed as.
    pub arch: Arch,
    pub(crate) steps: Vec<Step>,
    pub(crate) entry: usize,
    /// Step numbers by word of the segment.
    by_word: Vec<u32>,
    segment: u64,
    /// What workgroups may do in another order for every launch.
    pub(crate) order_matters: bool,
}

/// Why a kernel cannot be made ready.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// There is no such kernel.
    #[error("the code object has no kernel `{0}`")]
    NoKernel(String),
    /// The code object is for something the simulator does not run.
    #[error("the code object is for {0}; gfx942 and gfx950 are simulated")]
    Target(&'static str),
    /// The first instruction is not in the file.
    #[error("the code of kernel `{0}` is not in the file")]
    NoCode(String),
    /// It wants waves of 32 lanes.
    #[error("kernel `{0}` wants waves of 32 lanes; these processors have 64")]
    Wave32(String),
}

impl Program {
    /// Decodes a kernel.
    ///
    /// # Errors
    /// When the code object has no such kernel or none for these processors.
    /// Instructions that are none are errors once they are reached, not here.
    pub fn new(object: &CodeObject, name: &str) -> Result<Self, ProgramError> {
        let kernel = object
            .kernel(name)
            .ok_or_else(|| ProgramError::NoKernel(name.to_owned()))?;
        let arch = match object.target.arch {
            Arch::Gfx942 | Arch::Gfx94Generic => Arch::Gfx942,
            Arch::Gfx950 => Arch::Gfx950,
            other => return Err(ProgramError::Target(other.name())),
        };
        if kernel.descriptor.wave32 {
            return Err(ProgramError::Wave32(name.to_owned()));
        }
        let no_code = || ProgramError::NoCode(name.to_owned());
        let segment = object
            .segments
            .iter()
            .find(|segment| {
                segment.executable
                    && kernel.entry.wrapping_sub(segment.address) < segment.memory_bytes
            })
            .ok_or_else(no_code)?;
        let bytes = object.segment_bytes(segment);
        let mut program = Self {
            kernel: kernel.clone(),
            arch,
            steps: Vec::new(),
            entry: NO_STEP,
            by_word: vec![u32::MAX; bytes.len() / 4],
            segment: segment.address,
            order_matters: false,
        };
        // With preloaded arguments the code begins 256 bytes further; what is
        // before it loads them for hardware that does not, and need not lead there.
        let preloads = kernel.descriptor.preload_dwords > 0;
        let entry = kernel.entry.wrapping_add(if preloads { 256 } else { 0 });
        program.decode(bytes, entry);
        program.entry = program.step_at(entry).ok_or_else(no_code)?;
        let reached = program.steps.iter().any(|step| calls(step.inst.op));
        if reached {
            for symbol in object.symbols.iter().filter(|symbol| symbol.defined) {
                program.decode(bytes, symbol.address);
            }
        }
        program.link();
        program.order_matters = program.steps.iter().any(|step| orders(&step.inst));
        Ok(program)
    }

    /// Decodes what can be reached from an address.
    fn decode(&mut self, bytes: &[u8], from: u64) {
        let mut starts = vec![from];
        while let Some(mut pc) = starts.pop() {
            while let Some(word) = self.word_of(pc) {
                if self.by_word[word] != u32::MAX {
                    break;
                }
                let decoded = isa::decode(&bytes[word * 4..], self.arch);
                self.by_word[word] = self.steps.len() as u32;
                let step = match decoded {
                    Ok(inst) => self.step(inst, pc),
                    Err(error) => {
                        let nop = isa::decode(&[0, 0, 0x80, 0xbf], self.arch);
                        if let Ok(mut inst) = nop {
                            inst.size = 0;
                            let mut step = self.step(inst, pc);
                            step.route = Route::Invalid(error.to_string());
                            self.steps.push(step);
                        }
                        break;
                    }
                };
                let (size, op) = (u64::from(step.inst.size), step.inst.op);
                starts.extend(step.inst.branch_target(pc));
                self.steps.push(step);
                if matches!(op, Op::S_ENDPGM | Op::S_BRANCH | Op::S_SETPC_B64) {
                    break;
                }
                pc += size;
            }
        }
    }

    pub(crate) fn step(&self, inst: Inst, pc: u64) -> Step {
        let uses = inst.uses();
        let mut route = Route::of(&inst, self.arch);
        if let Some(what) = self.outside(&uses) {
            route = Route::Invalid(what);
        }
        Step {
            inst,
            uses,
            route,
            pc,
            next: NO_STEP,
            target: NO_STEP,
        }
    }

    /// Registers the kernel does not have.
    fn outside(&self, uses: &Uses) -> Option<String> {
        let descriptor = &self.kernel.descriptor;
        let total = descriptor.rsrc1.vgprs() as usize;
        let vgprs = self.kernel.arch_vgprs() as usize;
        let agprs = total - vgprs;
        for (operand, count) in uses.reads().iter().chain(uses.writes()) {
            let count = usize::from(*count);
            if let Some(index) = operand.vector_index() {
                let (first, limit) = if index < FIRST_AGPR {
                    (0, vgprs)
                } else {
                    (FIRST_AGPR, FIRST_AGPR + agprs)
                };
                let end = index + count;
                if end > limit || end > VECTOR_REGISTERS || index < first {
                    return Some(format!(
                        "it uses {operand:?} and {count} in all, and the kernel has {vgprs} VGPRs and {agprs} AGPRs"
                    ));
                }
            } else if operand
                .scalar_index()
                .is_some_and(|index| index + count > 128)
            {
                return Some(format!("{operand:?} and {count} in all are no registers"));
            }
        }
        None
    }

    fn word_of(&self, pc: u64) -> Option<usize> {
        let offset = pc.wrapping_sub(self.segment);
        let word = usize::try_from(offset / 4).ok()?;
        (offset.is_multiple_of(4) && word < self.by_word.len()).then_some(word)
    }

    /// The step at an address in the code object.
    pub(crate) fn step_at(&self, pc: u64) -> Option<usize> {
        let step = self.by_word[self.word_of(pc)?];
        (step != u32::MAX).then_some(step as usize)
    }

    fn link(&mut self) {
        for at in 0..self.steps.len() {
            let step = &self.steps[at];
            let next = self.step_at(step.pc + u64::from(step.inst.size));
            let target = step.inst.branch_target(step.pc);
            let target = target.and_then(|target| self.step_at(target));
            let step = &mut self.steps[at];
            step.next = next.unwrap_or(NO_STEP);
            step.target = target.unwrap_or(NO_STEP);
        }
    }

    /// Set when a matrix instruction follows another architecture's rules.
    pub(crate) fn label(&self) -> Option<&'static str> {
        self.steps.iter().find_map(|step| match &step.route {
            Route::Matrix(form) => form.label(),
            _ => None,
        })
    }

    /// The instructions in the order of their addresses, with their addresses.
    #[must_use]
    pub fn listing(&self) -> Vec<(u64, &Inst)> {
        let mut listing: Vec<_> = self
            .steps
            .iter()
            .map(|step| (step.pc, &step.inst))
            .collect();
        listing.sort_by_key(|(pc, _)| *pc);
        listing
    }

    /// Instructions that can be reached and cannot be executed, with the reason.
    #[must_use]
    pub fn unsupported(&self) -> Vec<(u64, String)> {
        let mut list: Vec<_> = self
            .steps
            .iter()
            .filter_map(|step| match &step.route {
                Route::Invalid(what) => Some((step.pc, what.clone())),
                Route::Unsupported => Some((step.pc, step.inst.mnemonic())),
                _ => None,
            })
            .collect();
        list.sort();
        list
    }
}

const fn calls(op: Op) -> bool {
    matches!(op, Op::S_SWAPPC_B64 | Op::S_SETPC_B64 | Op::S_CALL_B64)
}

/// True for what gives other bits in another order of workgroups: atomics that
/// return what was there, and those on floats.
fn orders(inst: &Inst) -> bool {
    let memory = matches!(inst.format, Format::Flat | Format::Global | Format::Mubuf);
    let name = inst.info().upper;
    memory
        && name.starts_with("ATOMIC")
        && (inst.dst != Operand::NONE || name.contains("_F") || name.contains("SWAP"))
}
