//! The f32 kernel for AVX2 and FMA: 6 x 16.

#![expect(
    unsafe_code,
    reason = "SIMD kernels and the disjoint parts of a result"
)]

use std::arch::x86_64::*;

use super::tile::{Accumulators, Operands, Panels, Tile};

/// 6 x 16 accumulators in twelve registers, two for `B`, one for an element of `A`.
#[derive(Debug)]
pub(super) struct Avx2F32;

const MR: usize = 6;
const NR: usize = 16;

impl Tile for Avx2F32 {
    type Packed = f32;
    type Acc = f32;
    const NAME: &'static str = "avx2_f32";
    const MR: usize = MR;
    const NR: usize = NR;
    const KU: usize = 1;
    const PANELS: Panels = Panels::Outer;
    const IN_PLACE: bool = false;
    const RATE: f64 = 16.0;

    unsafe fn run(operands: Operands<f32>, acc: Accumulators<f32>) {
        // SAFETY: by the contract of `run`.
        unsafe { kernel(operands, acc) }
    }
}

/// # Safety
/// The processor has AVX2 and FMA; the rest as [`Tile::run`].
#[target_feature(enable = "avx2,fma")]
unsafe fn kernel(operands: Operands<f32>, acc: Accumulators<f32>) {
    let Operands { k, a, b, .. } = operands;
    let a = a.first;
    let Accumulators {
        first: acc,
        ld,
        load,
    } = acc;
    // SAFETY: row `i` of `acc` has 16 elements, `a` is `[k][6]`, `b` is `[k][16]`.
    unsafe {
        let mut sum = [[_mm256_setzero_ps(); 2]; MR];
        if load {
            for (i, sum) in sum.iter_mut().enumerate() {
                *sum = [0, 8].map(|j| _mm256_loadu_ps(acc.add(i * ld + j)));
            }
        }
        for p in 0..k {
            let b = [0, 8].map(|j| _mm256_loadu_ps(b.add(p * NR + j)));
            for (i, sum) in sum.iter_mut().enumerate() {
                let a = _mm256_broadcast_ss(&*a.add(p * MR + i));
                sum[0] = _mm256_fmadd_ps(a, b[0], sum[0]);
                sum[1] = _mm256_fmadd_ps(a, b[1], sum[1]);
            }
        }
        for (i, sum) in sum.iter().enumerate() {
            _mm256_storeu_ps(acc.add(i * ld), sum[0]);
            _mm256_storeu_ps(acc.add(i * ld + 8), sum[1]);
        }
    }
}
