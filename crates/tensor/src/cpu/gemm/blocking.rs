//! How a product is cut into chunks and blocks: by its shape alone.

use super::Gemm;
use super::tile::{Panels, Tile};

/// Terms of a sum that are added in one go; longer sums go through a buffer of partial
/// sums between blocks.
const K_BLOCK: usize = 4096;

/// The blocks of a product. Sizes are in elements unless named otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Blocking {
    /// Rows of `C` in a chunk, a multiple of `MR`.
    pub mb: usize,
    /// Columns of `C` in a chunk, a multiple of `NR`.
    pub nb: usize,
    /// `k` rounded up to `KU`.
    pub k_pad: usize,
    /// Terms in a block, a multiple of `KU`.
    pub kb: usize,
    /// Elements from one packed row of `A` to the next, for [`Panels::Pairs`].
    pub a_stride: usize,
    /// Columns of `C` rounded up to `NR`.
    pub n_pad: usize,
    /// Row chunks, column chunks.
    pub grid: (usize, usize),
}

impl Blocking {
    pub(super) fn new<T: Tile>(gemm: &Gemm) -> Self {
        let k_pad = gemm.k.next_multiple_of(T::KU);
        let kb = k_pad.min(K_BLOCK);
        let n_pad = gemm.n.next_multiple_of(T::NR);
        // A chunk is small enough that a dozen threads share one product of a small
        // model, and large enough to pay for packing its rows of `A`.
        let flops = (gemm.flops() / 16).clamp(1 << 21, 1 << 28);
        let area = (flops / (2 * gemm.k.max(1)) as u64) as usize;
        let rows = if area >= 256 * 512 { 256 } else { 128 };
        let mb = rows.min(gemm.m.max(1)).next_multiple_of(T::MR).max(T::MR);
        let nb = (area / mb)
            .clamp(T::NR, n_pad.max(T::NR))
            .next_multiple_of(T::NR);
        let a_stride = match T::PANELS {
            Panels::Outer => 0,
            // A cache line more than the block, so that the rows of a tile do not fall
            // into the same cache set.
            Panels::Pairs => kb + 32,
        };
        Self {
            mb,
            nb,
            k_pad,
            kb,
            a_stride,
            n_pad,
            grid: (gemm.m.div_ceil(mb), gemm.n.div_ceil(nb)),
        }
    }

    /// Blocks of `k`; one even when `k` is zero, so that `C` is written.
    pub(super) fn k_blocks(&self) -> usize {
        self.k_pad.div_ceil(self.kb.max(1)).max(1)
    }

    /// Elements of one packed `B`.
    pub(super) fn packed_b(&self) -> usize {
        self.n_pad * self.k_pad
    }

    /// Elements of the packed block of `A`.
    pub(super) fn packed_a<T: Tile>(&self) -> usize {
        match T::PANELS {
            Panels::Outer => self.mb * self.kb,
            Panels::Pairs => self.mb * self.a_stride,
        }
    }

    /// Accumulators a thread keeps: one tile, or a chunk when sums go through blocks.
    pub(super) fn accumulators<T: Tile>(&self) -> usize {
        if self.k_blocks() > 1 {
            self.mb * self.nb
        } else {
            T::MR * T::NR
        }
    }
}
