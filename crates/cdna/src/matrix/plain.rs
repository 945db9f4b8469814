//! Rows of D without rounding rules of their own: chains of fused multiply-adds in f32, and
//! integers.

use super::exact::NAN;

/// Adds the products of `R` rows to their accumulators, k ascending. The rows of A begin
/// at `at`, one after the other; their elements along k are `stride` apart. `row` says
/// which row of B each meets.
#[inline(always)]
pub(super) fn chain<const R: usize, const N: usize>(
    (a, at, stride): (&[f32], usize, usize),
    row: &[u16],
    b: &[[f32; N]],
    acc: &mut [[f32; N]; R],
) {
    let mut sums = *acc;
    for (k, row) in row.iter().enumerate() {
        let b = &b[usize::from(*row)];
        let factors = &a[at + k * stride..][..R];
        for r in 0..R {
            for j in 0..N {
                sums[r][j] = factors[r].mul_add(b[j], sums[r][j]);
            }
        }
    }
    // Which NaN comes out of a processor's own instructions is up to that processor.
    for r in 0..R {
        for j in 0..N {
            acc[r][j] = if sums[r][j].is_nan() { NAN } else { sums[r][j] };
        }
    }
}

/// Adds the integer products of a row to its accumulators; sums wrap.
#[inline(always)]
pub(super) fn integers<const N: usize>(
    (a, at, stride): (&[i32], usize, usize),
    row: &[u16],
    b: &[[i32; N]],
    acc: &mut [i32; N],
) {
    let mut sums = *acc;
    for (k, row) in row.iter().enumerate() {
        let b = &b[usize::from(*row)];
        let factor = a[at + k * stride];
        for j in 0..N {
            sums[j] = sums[j].wrapping_add(factor * b[j]);
        }
    }
    *acc = sums;
}
