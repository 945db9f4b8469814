//! Sums and maxima of rows in a fixed order: element `i` belongs to lane `i % LANES`,
//! lanes combine in pairs at the end.
//!
//! Whole groups of lanes come as chunks of known length, without which the compiler
//! would check each index and not use vectors.

use super::num::Acc;

/// Independent sums of a row: enough for two registers of 16 numbers.
const LANES: usize = 32;

/// The sum of `term` over a row.
#[inline(always)]
pub(super) fn sum<T: Copy, A: Acc>(x: &[T], term: impl Fn(T) -> A) -> A {
    let mut lanes = [A::ZERO; LANES];
    let groups = x.chunks_exact(LANES);
    let rest = groups.remainder();
    for x in groups {
        for (sum, x) in lanes.iter_mut().zip(x) {
            *sum += term(*x);
        }
    }
    for (sum, x) in lanes.iter_mut().zip(rest) {
        *sum += term(*x);
    }
    fold(lanes, |a, b| a + b)
}

/// The sum of `term` over the pairs of two rows of one length.
#[inline(always)]
pub(super) fn sum_pairs<T: Copy, U: Copy, A: Acc>(x: &[T], y: &[U], term: impl Fn(T, U) -> A) -> A {
    let mut lanes = [A::ZERO; LANES];
    let (xs, ys) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let rest = xs.remainder().iter().zip(ys.remainder());
    for (x, y) in xs.zip(ys) {
        for (sum, (x, y)) in lanes.iter_mut().zip(x.iter().zip(y)) {
            *sum += term(*x, *y);
        }
    }
    for (sum, (x, y)) in lanes.iter_mut().zip(rest) {
        *sum += term(*x, *y);
    }
    fold(lanes, |a, b| a + b)
}

/// Replaces each element of a row and gives the sum of the new ones.
#[inline(always)]
pub(super) fn map_sum<A: Acc>(x: &mut [A], map: impl Fn(A) -> A) -> A {
    let mut lanes = [A::ZERO; LANES];
    let mut groups = x.chunks_exact_mut(LANES);
    for x in &mut groups {
        for (sum, x) in lanes.iter_mut().zip(x) {
            *x = map(*x);
            *sum += *x;
        }
    }
    for (sum, x) in lanes.iter_mut().zip(groups.into_remainder()) {
        *x = map(*x);
        *sum += *x;
    }
    fold(lanes, |a, b| a + b)
}

/// The sum of `term` over the triples of three rows of one length.
#[inline(always)]
pub(super) fn sum_triples<T: Copy, A: Acc>(
    x: &[T],
    y: &[T],
    z: &[A],
    term: impl Fn(T, T, A) -> A,
) -> A {
    let mut lanes = [A::ZERO; LANES];
    let (xs, ys, zs) = (
        x.chunks_exact(LANES),
        y.chunks_exact(LANES),
        z.chunks_exact(LANES),
    );
    let rest = xs
        .remainder()
        .iter()
        .zip(ys.remainder())
        .zip(zs.remainder());
    for ((x, y), z) in xs.zip(ys).zip(zs) {
        for (sum, ((x, y), z)) in lanes.iter_mut().zip(x.iter().zip(y).zip(z)) {
            *sum += term(*x, *y, *z);
        }
    }
    for (sum, ((x, y), z)) in lanes.iter_mut().zip(rest) {
        *sum += term(*x, *y, *z);
    }
    fold(lanes, |a, b| a + b)
}

/// Two sums over the triples of three rows of one length.
#[inline(always)]
pub(super) fn sums_of_triples<T: Copy, A: Acc>(
    x: &[T],
    y: &[T],
    z: &[A],
    term: impl Fn(T, T, A) -> (A, A),
) -> (A, A) {
    let mut first = [A::ZERO; LANES];
    let mut second = [A::ZERO; LANES];
    let (xs, ys, zs) = (
        x.chunks_exact(LANES),
        y.chunks_exact(LANES),
        z.chunks_exact(LANES),
    );
    let rest = xs
        .remainder()
        .iter()
        .zip(ys.remainder())
        .zip(zs.remainder());
    for ((x, y), z) in xs.zip(ys).zip(zs) {
        let sums = first.iter_mut().zip(second.iter_mut());
        for ((a, b), ((x, y), z)) in sums.zip(x.iter().zip(y).zip(z)) {
            let (to_a, to_b) = term(*x, *y, *z);
            *a += to_a;
            *b += to_b;
        }
    }
    for ((a, b), ((x, y), z)) in first.iter_mut().zip(second.iter_mut()).zip(rest) {
        let (to_a, to_b) = term(*x, *y, *z);
        *a += to_a;
        *b += to_b;
    }
    (fold(first, |a, b| a + b), fold(second, |a, b| a + b))
}

/// The largest `term` of a row; negative infinity of nothing, NaN where any is.
#[inline(always)]
pub(super) fn max<T: Copy, A: Acc>(x: &[T], term: impl Fn(T) -> A) -> A {
    let mut lanes = [A::NEG_INFINITY; LANES];
    let groups = x.chunks_exact(LANES);
    let rest = groups.remainder();
    for x in groups {
        for (max, x) in lanes.iter_mut().zip(x) {
            *max = max.larger(term(*x));
        }
    }
    for (max, x) in lanes.iter_mut().zip(rest) {
        *max = max.larger(term(*x));
    }
    fold(lanes, A::larger)
}

#[inline(always)]
fn fold<A: Acc>(mut lanes: [A; LANES], combine: impl Fn(A, A) -> A) -> A {
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] = combine(lanes[lane], lanes[lane + width]);
        }
        width /= 2;
    }
    lanes[0]
}
