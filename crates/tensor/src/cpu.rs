//! The CPU backend: instruction sets and fast kernels.
//!
//! One file per operator family, with the graph's file names. A kernel is built
//! for one operator on one signature and one instruction set; the bits of its
//! results depend on those, never on the number of threads.

pub mod gemm;
pub mod isa;
mod matmul;

use cairn_graph::Op;

use crate::backend::{Backend, Kernel, Signature};
use isa::Isa;

/// What a kernel is built for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// Instruction set.
    pub(crate) isa: Isa,
    /// Most threads it will run with: working space is sized by it.
    pub(crate) threads: usize,
}

type Build = fn(&dyn Op, &Signature, Target) -> Option<Box<dyn Kernel>>;

/// Operators with a kernel here, by name.
const TABLE: &[(&str, Build)] = &[("matmul", matmul::build)];

/// The fast CPU backend.
#[derive(Clone, Copy, Debug)]
pub struct Cpu {
    target: Target,
}

impl Cpu {
    /// A backend for `isa` (or less, where the processor lacks it) and pools of up to
    /// `threads` threads.
    #[must_use]
    pub fn new(isa: Isa, threads: usize) -> Self {
        Self {
            target: Target {
                isa: isa.min(Isa::detect()),
                threads: threads.max(1),
            },
        }
    }

    /// The instruction set in use.
    #[must_use]
    pub fn isa(&self) -> Isa {
        self.target.isa
    }

    /// Names of the operators it has kernels for.
    #[must_use]
    pub fn operators() -> Vec<&'static str> {
        TABLE.iter().map(|(name, _)| *name).collect()
    }
}

impl Backend for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn kernel(&self, op: &dyn Op, signature: &Signature) -> Option<Box<dyn Kernel>> {
        let (_, build) = TABLE.iter().find(|(name, _)| *name == op.name())?;
        build(op, signature, self.target)
    }
}
