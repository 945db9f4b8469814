//! The CPU backend: instruction sets and fast kernels.
//!
//! One file per operator family, with the graph's file names. A kernel is built
//! for one operator on one signature and one instruction set; the bits of its
//! results depend on those, never on the number of threads.

pub mod gemm;
pub mod isa;

mod block;
mod fused_matmul;
mod gather;
mod kernel;
mod lanes;
mod math;
mod num;
mod parts;
mod scratch;
mod simd;

mod adamw;
mod assign;
mod attention;
mod cast;
mod cross_entropy;
mod dropout;
mod elementwise;
mod embedding;
mod glu;
mod layernorm;
mod matmul;
mod reduce;
mod rmsnorm;
mod rope;
mod shape;
mod softmax;

use cairn_graph::Op;

use crate::backend::{Backend, Kernel, Signature};
use isa::Isa;
use simd::Level;

/// What a kernel is built for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// Instruction set.
    pub(crate) isa: Isa,
    /// Most threads it will run with: working space is sized by it.
    pub(crate) threads: usize,
}

impl Target {
    /// What loops are compiled for.
    fn level(self) -> Level {
        Level::new(self.isa)
    }
}

type Build = fn(&dyn Op, &Signature, Target) -> Option<Box<dyn Kernel>>;

macro_rules! table {
    ($($name:literal => $build:path,)+) => {
        /// Names of the operators with a kernel here.
        pub const OPERATORS: &[&str] = &[$($name),+];

        /// Their constructors, in the same order.
        const BUILD: &[Build] = &[$($build),+];
    };
}

table! {
    "adamw" => adamw::build,
    "assign" => assign::build,
    "attention" => attention::build,
    "attention_grad" => attention::build_grad,
    "binary" => elementwise::build_binary,
    "broadcast" => shape::build_copy,
    "cache_write" => assign::build_cache_write,
    "cast" => cast::build,
    "concat" => shape::build_concat,
    "cross_entropy" => cross_entropy::build,
    "cross_entropy_grad" => cross_entropy::build_grad,
    "cross_entropy_with_grad" => cross_entropy::build_with_grad,
    "dropout" => dropout::build,
    "embedding" => embedding::build,
    "embedding_grad" => embedding::build_grad,
    "fill" => shape::build_fill,
    "fused_matmul" => fused_matmul::build,
    "glu" => glu::build,
    "glu_grad" => glu::build_grad,
    "iota" => shape::build_iota,
    "layernorm" => layernorm::build,
    "layernorm_grad" => layernorm::build_grad,
    "matmul" => matmul::build,
    "pad" => shape::build_pad,
    "reduce" => reduce::build,
    "reshape" => shape::build_copy,
    "rmsnorm" => rmsnorm::build,
    "rmsnorm_grad" => rmsnorm::build_grad,
    "rope" => rope::build,
    "rope_table" => rope::build_table,
    "select" => elementwise::build_select,
    "slice" => shape::build_copy,
    "softmax" => softmax::build,
    "softmax_grad" => softmax::build_grad,
    "sum_squares" => reduce::build_sum_squares,
    "transpose" => shape::build_copy,
    "unary" => elementwise::build_unary,
}

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
        OPERATORS.to_vec()
    }
}

impl Backend for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn kernel(&self, op: &dyn Op, signature: &Signature) -> Option<Box<dyn Kernel>> {
        let index = OPERATORS.iter().position(|name| *name == op.name())?;
        BUILD[index](op, signature, self.target)
    }
}

#[cfg(test)]
mod tests;
