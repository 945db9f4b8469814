//! Sums as the hardware rounds them, for a row of D at a time.
//!
//! Products are exact: significands of 10 fraction bits multiply to 20, and A's are taken
//! four bits up, so that a product has the 24 fraction bits at which it is cut. Eight
//! products below four fit a 32-bit lane. Where the accumulator joins, f64 holds
//! everything exactly: at most 31 fraction bits and a few above the point.
//!
//! Infinities, NaNs and products near the end of the range have exponents that stand out;
//! a group that meets one is computed again, one element at a time, by [`careful`].

use std::ops::Range;

use super::decode::{FRACTION, SPECIAL};
use super::rules::Rule;
use super::vector::{Any, Vector};

/// The significand bits that are cut off nothing.
const CUT: i32 = 24;

/// How far A's significands are taken up.
const UP: u32 = CUT as u32 - 2 * FRACTION;

/// The most lanes of a [`Vector`].
const MOST_LANES: usize = 16;

/// Exponents from here on may belong to sums that are no numbers.
const SUSPECT: i32 = 126;

/// The quiet NaN that every sum without a value becomes.
pub(super) const NAN: f32 = f32::from_bits(0x7fc0_0000);

/// The factors of a row of D: a row of A, of which the elements along k are `stride` apart
/// from `at` on, and for each the row of B it meets.
#[derive(Clone, Copy)]
pub(super) struct Factors<'a> {
    pub(super) significand: &'a [i32],
    pub(super) exponent: &'a [i32],
    pub(super) at: usize,
    pub(super) stride: usize,
    pub(super) row: &'a [u16],
}

impl Factors<'_> {
    /// Significand, exponent and row of the `k`th factor.
    #[inline(always)]
    fn get(&self, k: usize) -> (i32, i32, usize) {
        let at = self.at + k * self.stride;
        (
            self.significand[at],
            self.exponent[at],
            usize::from(self.row[k]),
        )
    }
}

/// Columns of B: each row's are at `at` and the following, `stride` apart.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    pub(super) significand: &'a [i32],
    pub(super) exponent: &'a [i32],
    pub(super) at: usize,
    pub(super) stride: usize,
}

/// Adds the products of a row of A to accumulators, group by group.
#[inline(always)]
pub(super) fn row<V: Vector>(
    v: V,
    rule: Rule,
    a: &Factors<'_>,
    b: &Columns<'_>,
    mut acc: V::Float,
) -> V::Float {
    let (size, split) = match rule {
        Rule::Fused(size) => (size, false),
        Rule::Split(size) => (size, true),
        Rule::Chain | Rule::Wrapping => return acc,
    };
    let k = a.row.len();
    for start in (0..k).step_by(size) {
        let end = (start + size).min(k);
        let (sum, exponent) = if split {
            let even = cut_sum(v, a, b, start, end, 2);
            merge(v, even, cut_sum(v, a, b, start + 1, end, 2))
        } else {
            let (sum, exponent) = cut_sum(v, a, b, start, end, 1);
            (v.double_of_int(sum), exponent)
        };
        let (joined, top) = join(v, sum, exponent, acc, split);
        acc = if v.largest(top) < SUSPECT {
            joined
        } else {
            let mut lanes = [0.0; MOST_LANES];
            v.store_floats(acc, &mut lanes);
            again(split, a, b, start..end, &mut lanes[..V::LANES]);
            v.floats(&lanes)
        };
    }
    acc
}

/// The sum of the products `start`, `start + step`, .. before `end`, and the largest
/// exponent: the products are cut toward zero at 24 bits below it.
#[inline(always)]
fn cut_sum<V: Vector>(
    v: V,
    a: &Factors<'_>,
    b: &Columns<'_>,
    start: usize,
    end: usize,
    step: usize,
) -> (V::Int, V::Int) {
    let mut largest = v.int(i32::MIN);
    for k in (start..end).step_by(step) {
        let (_, own, row) = a.get(k);
        let exponent = v.ints(&b.exponent[b.at + row * b.stride..]);
        largest = v.max(largest, v.add(v.int(own), exponent));
    }
    let mut sum = v.int(0);
    for k in (start..end).step_by(step) {
        let (factor, own, row) = a.get(k);
        let at = b.at + row * b.stride;
        let exponent = v.add(v.int(own), v.ints(&b.exponent[at..]));
        let product = v.mul(v.int(factor << UP), v.ints(&b.significand[at..]));
        sum = v.add(sum, v.cut(product, v.sub(largest, exponent)));
    }
    (sum, largest)
}

/// The sum of two sums: aligned to the larger exponent, rounded down at 24 fraction bits.
#[inline(always)]
fn merge<V: Vector>(v: V, one: (V::Int, V::Int), other: (V::Int, V::Int)) -> (V::Double, V::Int) {
    let exponent = v.max(one.1, other.1);
    let one = v.scale(v.double_of_int(one.0), v.sub(one.1, exponent));
    let other = v.scale(v.double_of_int(other.0), v.sub(other.1, exponent));
    (v.add_double(v.floor(one), v.floor(other)), exponent)
}

/// The accumulator joins a sum with 24 fraction bits: the f32 nearest to both together,
/// and the exponent at which they met.
#[inline(always)]
fn join<V: Vector>(
    v: V,
    sum: V::Double,
    exponent: V::Int,
    acc: V::Float,
    drops_small: bool,
) -> (V::Float, V::Int) {
    let own = v.exponent(acc);
    let top = v.max(exponent, own);
    // 31 fraction bits for the sum, 24 for the accumulator.
    let down = v.sub(v.add(exponent, v.int(31 - CUT)), top);
    let sum = v.floor(v.scale(sum, down));
    let kept = v.floor(v.scale(v.double_of_float(acc), v.sub(v.int(CUT), top)));
    let kept = v.scale(kept, v.int(31 - CUT));
    let kept = if drops_small {
        v.unless_less(own, v.sub(top, v.int(25)), kept)
    } else {
        kept
    };
    let total = v.scale(v.add_double(sum, kept), v.sub(top, v.int(31)));
    (v.nearest(total), top)
}

/// Computes a group again, where numbers are not all plain.
#[cold]
#[inline(never)]
fn again(split: bool, a: &Factors<'_>, b: &Columns<'_>, group: Range<usize>, acc: &mut [f32]) {
    let mut terms = Vec::with_capacity(group.len());
    for (j, acc) in acc.iter_mut().enumerate() {
        terms.clear();
        terms.extend(group.clone().map(|k| {
            let (significand, exponent, row) = a.get(k);
            let at = b.at + row * b.stride + j;
            Term {
                a: (significand, exponent),
                b: (b.significand[at], b.exponent[at]),
            }
        }));
        *acc = careful(split, &terms, *acc);
    }
}

/// A product: significand and exponent of both factors.
struct Term {
    a: (i32, i32),
    b: (i32, i32),
}

impl Term {
    fn exponent(&self) -> i32 {
        self.a.1 + self.b.1
    }

    /// The significand, with 24 fraction bits.
    fn product(&self) -> i64 {
        (i64::from(self.a.0) * i64::from(self.b.0)) << UP
    }

    fn is_nan(&self) -> bool {
        let nan = |part: (i32, i32)| part.0 == 0 && part.1 == SPECIAL;
        let infinite_zero = self.is_infinite() && (self.a.0 == 0 || self.b.0 == 0);
        nan(self.a) || nan(self.b) || infinite_zero
    }

    fn is_infinite(&self) -> bool {
        self.a.1 == SPECIAL || self.b.1 == SPECIAL
    }

    /// Whether the product of two finite factors has a magnitude of 2^128 or more.
    fn overflows(&self) -> bool {
        let product = self.product().unsigned_abs();
        product != 0 && self.exponent() + product.ilog2() as i32 - CUT >= 128
    }
}

/// One element's group sum under any circumstances.
fn careful(split: bool, terms: &[Term], acc: f32) -> f32 {
    // The exact sum, where it is no number: NaN, or an infinity.
    let mut signs = [false; 2];
    if acc.is_infinite() {
        signs[usize::from(acc < 0.0)] = true;
    }
    if acc.is_nan() || terms.iter().any(Term::is_nan) {
        return NAN;
    }
    for term in terms.iter().filter(|term| term.is_infinite()) {
        signs[usize::from(term.product() < 0)] = true;
    }
    if let Some(value) = infinity(signs) {
        return value;
    }
    // Products out of range.
    for term in terms.iter().filter(|term| term.overflows()) {
        signs[usize::from(term.product() < 0)] = true;
    }
    if let Some(value) = infinity(signs) {
        return value;
    }
    let one = Any::<1>;
    let (sum, exponent) = if split {
        let half = |first| cut_terms(terms.iter().skip(first).step_by(2));
        merge(one, half(0), half(1))
    } else {
        let (sum, exponent) = cut_terms(terms.iter());
        (one.double_of_int(sum), exponent)
    };
    join(one, sum, exponent, [acc], split).0[0]
}

/// What infinities of these signs (plus, minus) add up to.
fn infinity(signs: [bool; 2]) -> Option<f32> {
    match signs {
        [false, false] => None,
        [true, false] => Some(f32::INFINITY),
        [false, true] => Some(f32::NEG_INFINITY),
        [true, true] => Some(NAN),
    }
}

fn cut_terms<'a>(terms: impl Iterator<Item = &'a Term> + Clone) -> ([i32; 1], [i32; 1]) {
    let exponent = terms.clone().map(Term::exponent).max().unwrap_or(0);
    let cut = |term: &Term| {
        let down = (exponent - term.exponent()).min(63);
        let magnitude = term.product().unsigned_abs() >> down;
        magnitude as i32 * term.product().signum() as i32
    };
    ([terms.map(cut).sum()], [exponent])
}
