//! What both directions need of blocks: their sizes, products and rows in memory.

use super::super::gemm::{Gemm, GemmArgs, GemmPlan, OperandB};
use super::super::isa::Isa;
use super::BLOCK;
use crate::error::KernelError;
use crate::threads::Pool;

/// A length cut into blocks, the last of which may be shorter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks {
    len: usize,
    size: usize,
}

impl Blocks {
    pub(super) fn new(len: usize) -> Self {
        Self {
            len,
            size: BLOCK.min(len.max(1)),
        }
    }

    /// Elements of a whole block.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn count(&self) -> usize {
        self.len.div_ceil(self.size)
    }

    /// First element and number of elements of a block.
    pub(super) fn at(&self, index: usize) -> (usize, usize) {
        let start = index * self.size;
        (start, self.size.min(self.len - start))
    }

    /// Sizes of whole blocks and of the last one.
    fn both(&self) -> [usize; 2] {
        let last = match self.len % self.size {
            0 => self.size,
            rest => rest,
        };
        [self.size, last]
    }

    /// 1 for a shorter last block.
    pub(super) fn tail(&self, len: usize) -> usize {
        usize::from(len != self.size)
    }
}

/// Plans of one product for every pair of block sizes: `[queries][keys]`.
#[derive(Debug)]
pub(super) struct Plans([[GemmPlan; 2]; 2]);

impl Plans {
    pub(super) fn new(
        queries: Blocks,
        keys: Blocks,
        isa: Isa,
        gemm: impl Fn(usize, usize) -> Gemm,
    ) -> Option<Self> {
        let plan = |q: usize, k: usize| GemmPlan::new(&gemm(q, k), isa, 1).ok();
        let [q0, q1] = queries.both();
        let [k0, k1] = keys.both();
        Some(Self([
            [plan(q0, k0)?, plan(q0, k1)?],
            [plan(q1, k0)?, plan(q1, k1)?],
        ]))
    }

    pub(super) fn get(&self, queries: usize, keys: usize) -> &GemmPlan {
        &self.0[queries][keys]
    }

    pub(super) fn packed_bytes(&self) -> usize {
        let bytes = self.0.iter().flatten().map(GemmPlan::packed_b_bytes);
        bytes.max().unwrap_or(0).next_multiple_of(64)
    }

    pub(super) fn scratch_bytes(&self) -> usize {
        let bytes = self.0.iter().flatten().map(GemmPlan::scratch_bytes_packed);
        bytes.max().unwrap_or(0).next_multiple_of(64)
    }
}

/// `c = a b` with a packed `b`.
pub(super) fn product(
    plan: &GemmPlan,
    (a, b, c): (&[u8], &[u8], &mut [u8]),
    scratch: &mut [u8],
    serial: &Pool,
) -> Result<(), KernelError> {
    let b = OperandB::Packed(b);
    plan.run(
        GemmArgs {
            a,
            b,
            c,
            bias: None,
            scratch,
        },
        serial,
    )
    .map_err(fault)
}

/// Packs the right operand of a product.
pub(super) fn pack(
    plan: &GemmPlan,
    b: &[u8],
    packed: &mut [u8],
    serial: &Pool,
) -> Result<(), KernelError> {
    plan.pack_b(b, packed, serial).map_err(fault)
}

fn fault(error: super::super::gemm::GemmError) -> KernelError {
    KernelError(error.to_string())
}
