//! Packing with AVX-512, in blocks of 16 x 16 lanes of 32 bits.
//!
//! A lane is one f32 or a pair of bf16 terms of the same row, so both element types
//! share the code. Edges are masked: lanes outside the matrix are zero and not read.

#![expect(unsafe_code, reason = "SIMD kernels")]

use std::arch::x86_64::*;

use super::pack::View;
use super::tile::Panels;

/// Lanes in a register, and registers in a block.
const LANES: usize = 16;

/// A block: register `i` holds 16 lanes.
type Block = [__m512i; LANES];

/// Packs `count` panels of `width` outer indices from `first` on, `panel` elements apart
/// in `out`. `BYTES` is the size of an element: 4 for f32, 2 for bf16.
///
/// # Safety
/// The processor has AVX-512 F, BW and VL. `P` has `BYTES` bytes. `width` is a multiple
/// of 16 for [`Panels::Pairs`]. Every element of `view` is inside its data.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(super) unsafe fn panels<P, const BYTES: usize>(
    view: &View<'_, P>,
    first: usize,
    width: usize,
    layout: Panels,
    panel: usize,
    out: &mut [P],
) {
    let terms = LANES * (4 / BYTES);
    let count = out.len() / panel;
    let blocks = view.k.div_ceil(terms);
    // Along the stored rows, so that memory is read in order.
    let along_k = view.k_stride == 1;
    let (outer_loop, inner_loop) = if along_k {
        (count, blocks)
    } else {
        (blocks, count)
    };
    for x in 0..outer_loop {
        for y in 0..inner_loop {
            let (p, block) = if along_k { (x, y) } else { (y, x) };
            let out = &mut out[p * panel..(p + 1) * panel];
            let start = first + p * width;
            let end = (start + width).min(view.outer);
            for part in 0..width.div_ceil(LANES) {
                let at = start + part * LANES;
                // SAFETY: by contract.
                let lanes = unsafe { k_major::<P, BYTES>(view, at, end, block * terms) };
                match layout {
                    Panels::Outer => {
                        let some = mask16(width - part * LANES);
                        let rows = out[block * LANES * width..]
                            .chunks_exact_mut(width)
                            .map(|row| row[part * LANES..].as_mut_ptr());
                        for (lanes, to) in lanes.iter().zip(rows) {
                            // SAFETY: the row has as many elements as the mask has bits.
                            unsafe { _mm512_mask_storeu_epi32(to.cast(), some, *lanes) };
                        }
                    }
                    Panels::Pairs => {
                        let tile = (block * (width / LANES) + part) * LANES * terms;
                        let to = out[tile..tile + LANES * terms].as_mut_ptr();
                        for (i, lanes) in lanes.iter().enumerate() {
                            // SAFETY: the tile has 16 rows of 64 bytes.
                            unsafe { _mm512_storeu_si512(to.add(i * terms).cast(), *lanes) };
                        }
                    }
                }
            }
        }
    }
}

/// Packs rows from `first` on, `stride` elements apart in `out`, each filled with zeros
/// up to a multiple of 64 bytes.
///
/// # Safety
/// As [`panels`]; `stride` is a multiple of 64 bytes and not below `view.k`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(super) unsafe fn rows<P, const BYTES: usize>(
    view: &View<'_, P>,
    first: usize,
    stride: usize,
    out: &mut [P],
) {
    let terms = LANES * (4 / BYTES);
    for block in 0..view.k.div_ceil(terms) {
        for (part, out) in out.chunks_mut(LANES * stride).enumerate() {
            let at = first + part * LANES;
            // SAFETY: by contract.
            let lanes = unsafe { outer_major::<P, BYTES>(view, at, view.outer, block * terms) };
            for (lanes, row) in lanes.iter().zip(out.chunks_exact_mut(stride)) {
                let to = row[block * terms..(block + 1) * terms].as_mut_ptr();
                // SAFETY: 64 bytes.
                unsafe { _mm512_storeu_si512(to.cast(), *lanes) };
            }
        }
    }
}

/// The block from `outer`, `k` on with one register for each term (or pair) of `k`.
///
/// # Safety
/// As [`panels`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
#[inline]
unsafe fn k_major<P, const BYTES: usize>(
    view: &View<'_, P>,
    outer: usize,
    end: usize,
    k: usize,
) -> Block {
    // SAFETY: by contract.
    unsafe {
        if view.k_stride == 1 {
            transpose(&along_k::<P, BYTES>(view, outer, end, k))
        } else {
            along_outer::<P, BYTES>(view, outer, end, k)
        }
    }
}

/// The block from `outer`, `k` on with one register for each outer index.
///
/// # Safety
/// As [`panels`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
#[inline]
unsafe fn outer_major<P, const BYTES: usize>(
    view: &View<'_, P>,
    outer: usize,
    end: usize,
    k: usize,
) -> Block {
    // SAFETY: by contract.
    unsafe {
        if view.k_stride == 1 {
            along_k::<P, BYTES>(view, outer, end, k)
        } else {
            transpose(&along_outer::<P, BYTES>(view, outer, end, k))
        }
    }
}

/// Rows that are contiguous in `k`: register `i` is outer index `outer + i`.
///
/// # Safety
/// As [`panels`]; `view.k_stride` is 1.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
#[inline]
unsafe fn along_k<P, const BYTES: usize>(
    view: &View<'_, P>,
    outer: usize,
    end: usize,
    k: usize,
) -> Block {
    let some = mask64((view.k - k) * BYTES);
    let base = view.data.as_ptr().wrapping_add(view.start + k);
    let mut block = [_mm512_setzero_si512(); LANES];
    for (i, lanes) in block.iter_mut().enumerate() {
        if outer + i < end {
            let row = base.wrapping_add((outer + i) * view.outer_stride);
            // SAFETY: the mask ends the read at the last term of a row of the view.
            *lanes = unsafe { _mm512_maskz_loadu_epi8(some, row.cast()) };
        }
    }
    block
}

/// Rows that are contiguous in the outer index: register `i` is term (or pair) `i`.
///
/// # Safety
/// As [`panels`]; `view.outer_stride` is 1.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
#[inline]
unsafe fn along_outer<P, const BYTES: usize>(
    view: &View<'_, P>,
    outer: usize,
    end: usize,
    k: usize,
) -> Block {
    let some = mask64(end.saturating_sub(outer) * BYTES);
    let base = view.data.as_ptr().wrapping_add(view.start + outer);
    let row = |k: usize| base.wrapping_add(k * view.k_stride);
    let mut block = [_mm512_setzero_si512(); LANES];
    for (i, lanes) in block.iter_mut().enumerate() {
        // SAFETY: the masks end each read at the last outer index of a row of the view,
        // and only rows of the view are read.
        unsafe {
            if BYTES == 4 {
                if k + i < view.k {
                    *lanes = _mm512_maskz_loadu_epi8(some, row(k + i).cast());
                }
            } else {
                let half = |k: usize| {
                    if k < view.k {
                        let x = _mm256_maskz_loadu_epi8(some as u32, row(k).cast());
                        _mm512_cvtepu16_epi32(x)
                    } else {
                        _mm512_setzero_si512()
                    }
                };
                let (even, odd) = (half(k + 2 * i), half(k + 2 * i + 1));
                *lanes = _mm512_or_si512(even, _mm512_slli_epi32::<16>(odd));
            }
        }
    }
    block
}

/// A mask of the lowest `n` bits.
fn mask64(n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// A mask of the lowest `n` bits.
fn mask16(n: usize) -> u16 {
    if n >= 16 { u16::MAX } else { (1 << n) - 1 }
}

/// Transposes 16 x 16 lanes: pairs, quarters, then halves of the registers.
#[target_feature(enable = "avx512f")]
#[inline]
fn transpose(r: &Block) -> Block {
    let mut a = *r;
    for i in 0..8 {
        a[2 * i] = _mm512_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
        a[2 * i + 1] = _mm512_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
    }
    let mut b = a;
    for i in 0..4 {
        b[4 * i] = _mm512_unpacklo_epi64(a[4 * i], a[4 * i + 2]);
        b[4 * i + 1] = _mm512_unpackhi_epi64(a[4 * i], a[4 * i + 2]);
        b[4 * i + 2] = _mm512_unpacklo_epi64(a[4 * i + 1], a[4 * i + 3]);
        b[4 * i + 3] = _mm512_unpackhi_epi64(a[4 * i + 1], a[4 * i + 3]);
    }
    // Register `4 g + j` now holds, in its quarter `q`, column `4 q + j` of rows `4 g..`.
    for j in 0..4 {
        a[j] = _mm512_shuffle_i32x4::<0x88>(b[j], b[4 + j]);
        a[4 + j] = _mm512_shuffle_i32x4::<0xdd>(b[j], b[4 + j]);
        a[8 + j] = _mm512_shuffle_i32x4::<0x88>(b[8 + j], b[12 + j]);
        a[12 + j] = _mm512_shuffle_i32x4::<0xdd>(b[8 + j], b[12 + j]);
    }
    for j in 0..4 {
        b[j] = _mm512_shuffle_i32x4::<0x88>(a[j], a[8 + j]);
        b[8 + j] = _mm512_shuffle_i32x4::<0xdd>(a[j], a[8 + j]);
        b[4 + j] = _mm512_shuffle_i32x4::<0x88>(a[4 + j], a[12 + j]);
        b[12 + j] = _mm512_shuffle_i32x4::<0xdd>(a[4 + j], a[12 + j]);
    }
    b
}
