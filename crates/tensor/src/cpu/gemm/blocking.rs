//! How a product is cut into chunks and blocks: by its shape alone.

use super::Gemm;
use super::tile::{Panels, Tile};

/// Terms of a sum that are added in one go; longer sums go through a buffer of partial
/// sums between blocks.
const K_BLOCK: usize = 4096;

/// Bytes of second-level cache for a block of `A`.
const A_BLOCK: usize = 768 << 10;

/// Multiplications in a chunk, unless it is a single tile: more would leave threads idle.
const CHUNK: usize = 1 << 27;

/// Chunks are balanced over this many threads.
const THREADS: usize = 4;

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
    pub(super) fn new<T: Tile>(gemm: &Gemm, in_place: bool) -> Self {
        let k_pad = gemm.k.next_multiple_of(T::KU);
        let kb = k_pad.min(K_BLOCK);
        let n_pad = gemm.n.next_multiple_of(T::NR);
        let (mb, nb) = choose::<T>(gemm, in_place);
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

/// The rows and columns of a chunk with the least estimated time.
fn choose<T: Tile>(gemm: &Gemm, in_place: bool) -> (usize, usize) {
    let (m, n, k) = (gemm.m.max(1), gemm.n.max(1), gemm.k.max(1));
    let row_panels = m.div_ceil(T::MR);
    let col_panels = n.div_ceil(T::NR);
    let mut best = (f64::INFINITY, T::MR, T::NR);
    for pieces in 1..=col_panels.min(32) {
        let nb = col_panels.div_ceil(pieces) * T::NR;
        for panels in 1..=row_panels.min(64) {
            let mb = panels * T::MR;
            let a_bytes = mb * k.min(K_BLOCK) * size_of::<T::Packed>();
            if panels > 1 && (a_bytes > A_BLOCK || mb * nb > CHUNK / k) {
                break;
            }
            let time = time::<T>(gemm, in_place, mb, nb);
            if time < best.0 {
                best = (time, mb, nb);
            }
        }
    }
    (best.1, best.2)
}

/// Cycles of a core for the whole product, idle threads counted in. The constants are
/// rough; only the order of the results matters.
fn time<T: Tile>(gemm: &Gemm, in_place: bool, mb: usize, nb: usize) -> f64 {
    const START: f64 = 2000.0;
    const BYTES_PER_CYCLE: f64 = 8.0;
    const PACKED_PER_CYCLE: f64 = 4.0;
    let (rows, cols) = (gemm.m.div_ceil(mb), gemm.n.div_ceil(nb));
    let chunks = rows * cols * gemm.batch.max(1);
    let terms = gemm.k as f64;
    let bytes = size_of::<T::Packed>() as f64;
    let products = (mb * nb) as f64 * terms / T::RATE;
    let traffic = (mb + nb) as f64 * terms * bytes / BYTES_PER_CYCLE;
    let packing = if in_place {
        0.0
    } else {
        mb as f64 * terms / PACKED_PER_CYCLE
    };
    let idle = chunks.next_multiple_of(THREADS) as f64;
    idle * (START + products + traffic + packing)
}
