//! Rows of D without rounding rules of their own: chains of fused multiply-adds in f32, and
//! integers.

use super::exact::NAN;
use super::vector::Vector;

/// A part of a plane: what belongs to one k is at `at` and the following, `stride` apart.
#[derive(Clone, Copy)]
pub(super) struct Part<'a, T> {
    pub(super) plane: &'a [T],
    pub(super) at: usize,
    pub(super) stride: usize,
}

impl<T> Part<'_, T> {
    #[inline(always)]
    fn from(&self, k: usize) -> &[T] {
        &self.plane[self.at + k * self.stride..]
    }
}

/// Adds the products of `R` rows of A and `C` vectors of columns of B to accumulators, k
/// ascending. `row` says which row of B each column of A meets.
#[inline(always)]
pub(super) fn chain<V: Vector, const R: usize, const C: usize>(
    v: V,
    a: Part<'_, f32>,
    row: &[u16],
    b: Part<'_, f32>,
    acc: &mut [[V::Float; C]; R],
) {
    let mut sums = *acc;
    for (k, row) in row.iter().enumerate() {
        let factors = &a.from(k)[..R];
        let columns = &b.from(usize::from(*row))[..C * V::LANES];
        for c in 0..C {
            let columns = v.floats(&columns[c * V::LANES..]);
            for r in 0..R {
                sums[r][c] = v.fma(v.float(factors[r]), columns, sums[r][c]);
            }
        }
    }
    // Which NaN comes out of a processor's own instructions is up to that processor.
    for r in 0..R {
        for c in 0..C {
            acc[r][c] = v.plain(sums[r][c], v.float(NAN));
        }
    }
}

/// Adds the integer products of `R` rows of A and a vector of columns of B to
/// accumulators; sums wrap.
#[inline(always)]
pub(super) fn integers<V: Vector, const R: usize>(
    v: V,
    a: Part<'_, i32>,
    row: &[u16],
    b: Part<'_, i32>,
    acc: &mut [V::Int; R],
) {
    for (k, row) in row.iter().enumerate() {
        let factors = &a.from(k)[..R];
        let columns = v.ints(b.from(usize::from(*row)));
        for r in 0..R {
            acc[r] = v.add(acc[r], v.mul(v.int(factors[r]), columns));
        }
    }
}
