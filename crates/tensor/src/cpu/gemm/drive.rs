//! Packing and the loop over chunks and tiles, for any kernel.

#![expect(
    unsafe_code,
    reason = "SIMD kernels and the disjoint parts of a result"
)]

use cairn_formats::DType;

use super::Gemm;
use super::blocking::Blocking;
use super::pack::{self, Source, View};
use super::store::{self, Target};
use super::tile::{Accumulators, Operands, PanelA, Panels, Tile};
use crate::threads::Pool;

/// Elements of packed `B` that make one chunk of packing.
const PACK_CHUNK: usize = 1 << 15;

/// A unit of scratch memory: one cache line.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub(super) struct Line([u8; 64]);

/// Lines that hold `n` elements of `T`.
pub(super) fn lines<T>(n: usize) -> usize {
    (n * size_of::<T>()).div_ceil(size_of::<Line>())
}

/// Lines one thread needs.
pub(super) fn worker_lines<T: Tile>(blocking: &Blocking) -> usize {
    lines::<T::Packed>(blocking.packed_a::<T>()) + lines::<T::Acc>(blocking.accumulators::<T>())
}

/// Packs every `B` of the batch.
///
/// # Safety
/// The processor has the instruction set of `T`; `b` has the elements `gemm` describes.
pub(super) unsafe fn pack_b<T: Tile, S: Source<T::Packed>>(
    gemm: &Gemm,
    blocking: &Blocking,
    b: &[S],
    packed: &mut [T::Packed],
    pool: &Pool,
) {
    let panel = T::NR * blocking.k_pad;
    if panel == 0 {
        return;
    }
    let panels = blocking.n_pad / T::NR;
    let group = (PACK_CHUNK / panel).max(1);
    let (outer_stride, k_stride) = if gemm.trans_b {
        (gemm.ldb, 1)
    } else {
        (1, gemm.ldb)
    };
    pool.chunks_mut(packed, panel * group, |chunk, out| {
        let mut index = chunk * group;
        let mut rest = out;
        while !rest.is_empty() {
            // A chunk may span matrices of the batch.
            let (batch, first) = (index / panels, index % panels);
            let count = (rest.len() / panel).min(panels - first);
            let (out, after) = rest.split_at_mut(count * panel);
            let view = View {
                data: b,
                start: batch * gemm.stride_b,
                outer_stride,
                k_stride,
                outer: gemm.n,
                k: gemm.k,
            };
            // SAFETY: by contract.
            unsafe { pack::panels::<S, T>(&view, first * T::NR, T::NR, panel, out) };
            rest = after;
            index += count;
        }
    });
}

/// A product about to be computed. Lengths were checked by the plan.
pub(super) struct Product<'a, T: Tile, S> {
    pub gemm: &'a Gemm,
    pub blocking: &'a Blocking,
    pub a: &'a [S],
    pub packed_b: &'a [T::Packed],
    pub bias: Option<&'a [T::Acc]>,
    /// `C`, from its first element on, aligned for its type.
    pub c: *mut u8,
    /// `C` is too large for the second-level cache: its lines are asked for ahead of
    /// the stores, which otherwise wait for them.
    pub far: bool,
    /// `worker_lines` for each thread of the pool.
    pub scratch: *mut Line,
}

// SAFETY: the pointers are to memory borrowed exclusively for the time of the product;
// a chunk writes only its own part of `C` and the scratch memory of its worker.
unsafe impl<T: Tile, S: Sync> Sync for Product<'_, T, S> {}

/// One chunk of `C`.
struct Chunk {
    batch: usize,
    row: usize,
    rows: usize,
    col: usize,
    cols: usize,
}

impl<T: Tile, S: Source<T::Packed>> Product<'_, T, S> {
    /// Computes the product.
    ///
    /// # Safety
    /// The processor has the instruction set of `T`; `c` and `scratch` point to what
    /// the plan asks for and are used by nobody else.
    pub(super) unsafe fn run(&self, pool: &Pool) {
        let (rows, cols) = self.blocking.grid;
        pool.run_with_worker(self.gemm.batch * rows * cols, |worker, index| {
            let (index, col) = (index / cols, index % cols * self.blocking.nb);
            let (batch, row) = (index / rows, index % rows * self.blocking.mb);
            let chunk = Chunk {
                batch,
                row,
                rows: self.blocking.mb.min(self.gemm.m - row),
                col,
                cols: self.blocking.nb.min(self.gemm.n - col),
            };
            // SAFETY: by contract, and the pool runs one chunk at a time per worker.
            unsafe {
                T::begin();
                self.chunk(worker, &chunk);
                T::end();
            }
        });
    }

    /// # Safety
    /// As `run`; nobody else uses the scratch memory of `worker` or this part of `C`.
    unsafe fn chunk(&self, worker: usize, chunk: &Chunk) {
        let blocking = self.blocking;
        let size = worker_lines::<T>(blocking);
        let a_lines = lines::<T::Packed>(blocking.packed_a::<T>());
        // SAFETY: the plan has `size` lines for each worker; every bit pattern is a
        // number, and a line is aligned for each element type.
        let (a_area, acc) = unsafe {
            let base = self.scratch.add(worker * size);
            (
                std::slice::from_raw_parts_mut(base.cast::<T::Packed>(), blocking.packed_a::<T>()),
                std::slice::from_raw_parts_mut(
                    base.add(a_lines).cast::<T::Acc>(),
                    blocking.accumulators::<T>(),
                ),
            )
        };
        for block in 0..blocking.k_blocks() {
            // SAFETY: as this function.
            unsafe { self.block(chunk, block, a_area, acc) };
        }
    }

    /// Adds one block of `k` to one chunk.
    ///
    /// # Safety
    /// As `chunk`.
    unsafe fn block(
        &self,
        chunk: &Chunk,
        block: usize,
        a_area: &mut [T::Packed],
        acc: &mut [T::Acc],
    ) {
        let (gemm, blocking) = (self.gemm, self.blocking);
        let k0 = block * blocking.kb;
        let k_pad = blocking.kb.min(blocking.k_pad - k0);
        let (outer_stride, k_stride) = if gemm.trans_a {
            (1, gemm.lda)
        } else {
            (gemm.lda, 1)
        };
        let view = View {
            data: self.a,
            start: chunk.batch * gemm.stride_a + k0 * k_stride,
            outer_stride,
            k_stride,
            outer: chunk.row + chunk.rows,
            k: k_pad.min(gemm.k - k0),
        };
        let panels = chunk.rows.div_ceil(T::MR);
        let a_panel = a_area.len() / (blocking.mb / T::MR);
        let in_place = self.panels_in_place(&view, chunk.rows);
        let out = &mut a_area[in_place * a_panel..panels * a_panel];
        if !out.is_empty() && view.k > 0 {
            let first = chunk.row + in_place * T::MR;
            // SAFETY: by contract.
            unsafe {
                match T::PANELS {
                    Panels::Outer => pack::panels::<S, T>(&view, first, T::MR, a_panel, out),
                    Panels::Pairs => pack::rows::<S, T>(&view, first, blocking.a_stride, out),
                }
            }
        }
        let b_batch = if gemm.stride_b == 0 { 0 } else { chunk.batch };
        let b = &self.packed_b[b_batch * blocking.packed_b() + k0 * T::NR..];
        let panel_a = |ip: usize| {
            if ip < in_place {
                let row = chunk.row + ip * T::MR;
                PanelA {
                    first: (&raw const self.a[view.start + row * outer_stride]).cast::<T::Packed>(),
                    outer_stride,
                    k_stride: 1,
                }
            } else {
                let (outer_stride, k_stride) = match T::PANELS {
                    Panels::Outer => (1, T::MR),
                    Panels::Pairs => (blocking.a_stride, 1),
                };
                PanelA {
                    first: a_area[ip * a_panel..].as_ptr(),
                    outer_stride,
                    k_stride,
                }
            }
        };
        let panel_b = |jp: usize| (chunk.col + jp * T::NR) * blocking.k_pad;
        let columns = chunk.cols.div_ceil(T::NR);
        for jp in 0..columns {
            let b_now = b[panel_b(jp)..][..k_pad * T::NR].as_ptr();
            for ip in 0..panels {
                // The first pass over `A` reads it from afar; later passes find it in
                // the second-level cache and only the next panel of `B` is afar.
                let ahead = if jp == 0 && ip + 1 < panels {
                    Some(panel_a(ip + 1).first)
                } else if ip + 1 == panels && jp + 1 < columns {
                    Some(b[panel_b(jp + 1)..].as_ptr())
                } else {
                    None
                };
                let operands = Operands {
                    k: k_pad,
                    a: panel_a(ip),
                    b: b_now,
                    ahead,
                };
                let tile = Position { ip, jp, block };
                // SAFETY: `a` and `b` are panels of `k_pad` terms as packed above or in
                // place; the rest by contract.
                unsafe { self.tile(chunk, &tile, operands, acc) };
            }
        }
    }

    /// How many of the first panels of a chunk of `A` are read where they are.
    fn panels_in_place(&self, view: &View<'_, S>, rows: usize) -> usize {
        let fit = T::IN_PLACE && S::SAME && view.k_stride == 1 && view.k.is_multiple_of(T::KU);
        if fit && view.k > 0 { rows / T::MR } else { 0 }
    }

    /// Computes one tile and, after the last block of `k`, writes it.
    ///
    /// # Safety
    /// As `chunk`, and the operands are panels of this block.
    unsafe fn tile(
        &self,
        chunk: &Chunk,
        at: &Position,
        operands: Operands<T::Packed>,
        acc: &mut [T::Acc],
    ) {
        let gemm = self.gemm;
        let (row, col) = (at.ip * T::MR, at.jp * T::NR);
        let first = chunk.batch * gemm.stride_c + (chunk.row + row) * gemm.ldc + chunk.col + col;
        let target = Target {
            // SAFETY: row and column are inside `C`.
            c: unsafe { self.c.add(gemm.out_dtype.bytes(first)) },
            ldc: gemm.ldc,
            rows: T::MR.min(chunk.rows - row),
            cols: T::NR.min(chunk.cols - col),
            dtype: gemm.out_dtype,
            bias: self.bias.map(|bias| &bias[chunk.col + col..]),
        };
        let blocks = self.blocking.k_blocks();
        let whole = target.rows == T::MR && target.cols == T::NR;
        let same = size_of::<T::Acc>() == 4 && gemm.out_dtype == DType::F32
            || size_of::<T::Acc>() == 8 && gemm.out_dtype == DType::F64;
        let last = at.block + 1 == blocks;
        if last && self.far {
            T::expect(&target);
        }
        if whole && same && blocks == 1 && target.bias.is_none() {
            let c = Accumulators {
                first: target.c.cast::<T::Acc>(),
                ld: gemm.ldc,
                load: gemm.accumulate,
            };
            // SAFETY: the tile is inside `C`, whose elements are accumulators.
            unsafe { T::run(operands, c) };
            return;
        }
        let size = T::MR * T::NR;
        let index = if blocks > 1 {
            at.jp * (self.blocking.mb / T::MR) + at.ip
        } else {
            0
        };
        let acc = &mut acc[index * size..(index + 1) * size];
        let from_c = gemm.accumulate && at.block == 0;
        if from_c {
            // SAFETY: the tile is inside `C` and belongs to this chunk.
            unsafe { store::load(&target, acc, T::NR) };
        }
        let tile = Accumulators {
            first: acc.as_mut_ptr(),
            ld: T::NR,
            load: from_c || at.block > 0,
        };
        // SAFETY: by contract; `acc` is a tile.
        unsafe { T::run(operands, tile) };
        if last {
            // SAFETY: the tile is inside `C` and belongs to this chunk.
            unsafe { T::store(&target, acc) };
        }
    }
}

/// A tile of a chunk and the block of `k`.
struct Position {
    ip: usize,
    jp: usize,
    block: usize,
}
