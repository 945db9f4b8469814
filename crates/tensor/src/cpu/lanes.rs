//! Sums and maxima of rows in a fixed order: element `i` belongs to lane `i % LANES`,
//! lanes combine in pairs at the end.

use super::num::Acc;

/// Independent sums of a row: enough for two registers of 16 numbers.
pub(super) const LANES: usize = 32;

/// `sum of term(i)` for `i` in `0..len`.
#[inline(always)]
pub(super) fn sum<A: Acc>(len: usize, term: impl Fn(usize) -> A) -> A {
    let mut lanes = [A::ZERO; LANES];
    let whole = len / LANES * LANES;
    for start in (0..whole).step_by(LANES) {
        for (lane, sum) in lanes.iter_mut().enumerate() {
            *sum += term(start + lane);
        }
    }
    for (lane, i) in (whole..len).enumerate() {
        lanes[lane] += term(i);
    }
    fold(lanes, |a, b| a + b)
}

/// Two sums in one pass over a row.
#[inline(always)]
pub(super) fn sum2<A: Acc>(len: usize, term: impl Fn(usize) -> (A, A)) -> (A, A) {
    let mut lanes = [[A::ZERO; LANES]; 2];
    let whole = len / LANES * LANES;
    let [first, second] = &mut lanes;
    for start in (0..whole).step_by(LANES) {
        for lane in 0..LANES {
            let (a, b) = term(start + lane);
            first[lane] += a;
            second[lane] += b;
        }
    }
    for (lane, i) in (whole..len).enumerate() {
        let (a, b) = term(i);
        first[lane] += a;
        second[lane] += b;
    }
    let [first, second] = lanes;
    (fold(first, |a, b| a + b), fold(second, |a, b| a + b))
}

/// The largest `term(i)`; negative infinity of nothing, NaN where any is.
#[inline(always)]
pub(super) fn max<A: Acc>(len: usize, term: impl Fn(usize) -> A) -> A {
    let mut lanes = [A::NEG_INFINITY; LANES];
    let whole = len / LANES * LANES;
    for start in (0..whole).step_by(LANES) {
        for (lane, max) in lanes.iter_mut().enumerate() {
            *max = max.larger(term(start + lane));
        }
    }
    for (lane, i) in (whole..len).enumerate() {
        lanes[lane] = lanes[lane].larger(term(i));
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
