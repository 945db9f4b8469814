//! The kernels for AVX-512: f32, and pairs of bf16 with `vdpbf16ps`; both 12 x 32.

#![expect(
    unsafe_code,
    reason = "SIMD kernels and the disjoint parts of a result"
)]

use std::arch::x86_64::*;

use cairn_formats::DType;

use super::pack::View;
use super::pack_avx512;
use super::store::{self, Target};
use super::tile::{Accumulators, Operands, Panels, Tile};

const MR: usize = 12;
const NR: usize = 32;

/// Terms between reading a row of a panel and asking for it.
const AHEAD: usize = 16;

/// f32: 24 registers of accumulators, two for `B`, one for an element of `A`.
#[derive(Debug)]
pub(super) struct Avx512F32;

impl Tile for Avx512F32 {
    type Packed = f32;
    type Acc = f32;
    const NAME: &'static str = "avx512_f32";
    const MR: usize = MR;
    const NR: usize = NR;
    const KU: usize = 1;
    const PANELS: Panels = Panels::Outer;
    const IN_PLACE: bool = true;
    const RATE: f64 = 32.0;

    unsafe fn pack_panels(
        view: &View<'_, f32>,
        first: usize,
        width: usize,
        panel: usize,
        out: &mut [f32],
    ) -> bool {
        // SAFETY: by contract; AVX512_BF16 and AMX include AVX-512 F, BW and VL.
        unsafe { pack_avx512::panels::<_, 4>(view, first, width, Self::PANELS, panel, out) };
        true
    }

    unsafe fn run(operands: Operands<f32>, acc: Accumulators<f32>) {
        // SAFETY: by the contract of `run`.
        unsafe { kernel_f32(operands, acc) }
    }

    fn expect(target: &Target<'_, f32>) {
        expect_lines(target);
    }
}

/// bf16: as for f32, with a pair of terms in each 32-bit lane. `vdpbf16ps` multiplies
/// exactly, rounds each sum to nearest even and takes denormal numbers as zero.
#[derive(Debug)]
pub(super) struct Avx512Bf16;

impl Tile for Avx512Bf16 {
    type Packed = u16;
    type Acc = f32;
    const NAME: &'static str = "avx512_bf16";
    const MR: usize = MR;
    const NR: usize = NR;
    const KU: usize = 32;
    const PANELS: Panels = Panels::Pairs;
    const IN_PLACE: bool = true;
    const RATE: f64 = 64.0;

    unsafe fn pack_panels(
        view: &View<'_, u16>,
        first: usize,
        width: usize,
        panel: usize,
        out: &mut [u16],
    ) -> bool {
        // SAFETY: by contract; AVX512_BF16 and AMX include AVX-512 F, BW and VL.
        unsafe { pack_avx512::panels::<_, 2>(view, first, width, Self::PANELS, panel, out) };
        true
    }

    unsafe fn pack_rows(
        view: &View<'_, u16>,
        first: usize,
        stride: usize,
        out: &mut [u16],
    ) -> bool {
        // SAFETY: by contract; AVX512_BF16 and AMX include AVX-512 F, BW and VL.
        unsafe { pack_avx512::rows::<_, 2>(view, first, stride, out) };
        true
    }

    unsafe fn store(target: &Target<'_, f32>, acc: &[f32]) {
        // SAFETY: by contract.
        unsafe {
            if target.dtype == DType::BF16 {
                store_bf16(target, acc);
            } else {
                store::store(target, acc, Self::NR);
            }
        }
    }

    unsafe fn run(operands: Operands<u16>, acc: Accumulators<f32>) {
        // SAFETY: by the contract of `run`.
        unsafe { kernel_bf16(operands, acc) }
    }

    fn expect(target: &Target<'_, f32>) {
        expect_lines(target);
    }
}

type Sums = [[__m512; 2]; MR];

/// Asks for the lines of `C` a tile is written to.
pub(super) fn expect_lines(target: &Target<'_, f32>) {
    let size = target.dtype.bytes(1);
    for i in 0..target.rows {
        let row = target.c.wrapping_add(i * target.ldc * size);
        for line in (0..target.cols * size).step_by(64) {
            // SAFETY: prefetching is part of x86-64, and has no effect that a program
            // can observe.
            unsafe { _mm_prefetch::<_MM_HINT_ET0>(row.wrapping_add(line).cast()) };
        }
    }
}

/// # Safety
/// The processor has AVX-512; rows of `acc` have 32 elements when it is loaded.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn start(acc: Accumulators<f32>) -> Sums {
    let mut sum = [[_mm512_setzero_ps(); 2]; MR];
    if acc.load {
        for (i, sum) in sum.iter_mut().enumerate() {
            // SAFETY: by contract.
            *sum = [0, 16].map(|j| unsafe { _mm512_loadu_ps(acc.first.add(i * acc.ld + j)) });
        }
    }
    sum
}

/// # Safety
/// The processor has AVX-512; rows of `acc` have 32 elements.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn finish(sum: &Sums, acc: Accumulators<f32>) {
    for (i, sum) in sum.iter().enumerate() {
        // SAFETY: by contract.
        unsafe {
            _mm512_storeu_ps(acc.first.add(i * acc.ld), sum[0]);
            _mm512_storeu_ps(acc.first.add(i * acc.ld + 16), sum[1]);
        }
    }
}

/// # Safety
/// The processor has AVX-512; the rest as [`Tile::run`].
#[target_feature(enable = "avx512f")]
unsafe fn kernel_f32(operands: Operands<f32>, acc: Accumulators<f32>) {
    let Operands { k, a, b, .. } = operands;
    // SAFETY: `a` covers 12 rows of `k`, `b` is `[k][32]`; `acc` by contract.
    unsafe {
        let mut sum = start(acc);
        // Four bases, so that each row is a base plus nought, one or two strides.
        let bases: [*const f32; 4] = std::array::from_fn(|i| a.first.add(3 * i * a.outer_stride));
        for p in 0..k {
            // Panels come from the second-level cache, whose latency this hides.
            for line in [0, 16] {
                _mm_prefetch::<_MM_HINT_T0>(b.wrapping_add((AHEAD + p) * NR + line).cast());
            }
            let b = [0, 16].map(|j| _mm512_loadu_ps(b.add(p * NR + j)));
            for (i, sum) in sum.iter_mut().enumerate() {
                let a = bases[i / 3].add(i % 3 * a.outer_stride + p * a.k_stride);
                let a = _mm512_set1_ps(*a);
                sum[0] = _mm512_fmadd_ps(a, b[0], sum[0]);
                sum[1] = _mm512_fmadd_ps(a, b[1], sum[1]);
            }
        }
        finish(&sum, acc);
    }
}

/// # Safety
/// The processor has `AVX512_BF16`; the rest as [`Tile::run`].
#[target_feature(enable = "avx512f,avx512bf16")]
unsafe fn kernel_bf16(operands: Operands<u16>, acc: Accumulators<f32>) {
    let Operands { k, a, b, .. } = operands;
    // SAFETY: row `i` of `a` has `k` elements, and each block of 32 terms of `b` is two
    // tiles of 16 rows of 16 pairs; `acc` by contract.
    unsafe {
        let mut sum = start(acc);
        let bases: [*const u16; 4] = std::array::from_fn(|i| a.first.add(3 * i * a.outer_stride));
        for block in 0..k / 32 {
            let b = b.add(block * 1024);
            for pair in 0..16 {
                let b =
                    [0, 512].map(|tile| bits(_mm512_loadu_si512(b.add(tile + pair * 32).cast())));
                for (i, sum) in sum.iter_mut().enumerate() {
                    let a = bases[i / 3].add(i % 3 * a.outer_stride + block * 32 + pair * 2);
                    let a = bits(_mm512_set1_epi32(a.cast::<i32>().read_unaligned()));
                    sum[0] = _mm512_dpbf16_ps(sum[0], a, b[0]);
                    sum[1] = _mm512_dpbf16_ps(sum[1], a, b[1]);
                }
            }
        }
        finish(&sum, acc);
    }
}

/// The same register seen as bf16.
#[target_feature(enable = "avx512f")]
#[inline]
fn bits(x: __m512i) -> __m512bh {
    // SAFETY: both types are 512 bits without invalid patterns.
    unsafe { std::mem::transmute::<__m512i, __m512bh>(x) }
}

/// Rounds a tile with rows of 32 to bf16 and writes it.
///
/// # Safety
/// The processor has `AVX512_BF16`; the rest as [`Tile::store`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
pub(super) unsafe fn store_bf16(target: &Target<'_, f32>, acc: &[f32]) {
    let some = u32::MAX >> (NR - target.cols.min(NR));
    let mut bias = [_mm512_setzero_ps(); 2];
    if let Some(row) = target.bias {
        for (j, bias) in bias.iter_mut().enumerate() {
            let from = row.as_ptr().wrapping_add(16 * j);
            // SAFETY: the mask ends the read with the columns of the target, and the
            // bias has as many.
            *bias = unsafe { _mm512_maskz_loadu_ps((some >> (16 * j)) as u16, from) };
        }
    }
    for (i, row) in acc.chunks_exact(NR).take(target.rows).enumerate() {
        // SAFETY: `row` has 32 elements, and the mask ends the write with the columns of
        // the target.
        unsafe {
            let low = _mm512_add_ps(_mm512_loadu_ps(row.as_ptr()), bias[0]);
            let high = _mm512_add_ps(_mm512_loadu_ps(row.as_ptr().add(16)), bias[1]);
            let rounded = _mm512_cvtne2ps_pbh(high, low);
            let to = target.c.cast::<i16>().add(i * target.ldc);
            _mm512_mask_storeu_epi16(to, some, std::mem::transmute::<__m512bh, __m512i>(rounded));
        }
    }
}
