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

/// The factors of rows of D: rows of A that follow each other. Their elements of one k are
/// at `at` and the following, `stride` apart; `row` says which row of B each k meets.
#[derive(Clone, Copy)]
pub(super) struct Factors<'a> {
    pub(super) significand: &'a [i32],
    pub(super) exponent: &'a [i32],
    pub(super) at: usize,
    pub(super) stride: usize,
    pub(super) row: &'a [u16],
}

impl Factors<'_> {
    /// Significands and exponents of the `k`th factors of `R` rows, and the row of B.
    #[inline(always)]
    fn get<const R: usize>(&self, k: usize) -> (&[i32], &[i32], usize) {
        let at = self.at + k * self.stride;
        (
            &self.significand[at..][..R],
            &self.exponent[at..][..R],
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

/// Adds the products of `R` rows of A to accumulators, group by group.
#[inline(always)]
pub(super) fn rows<V: Vector, const R: usize>(
    v: V,
    rule: Rule,
    a: &Factors<'_>,
    b: &Columns<'_>,
    acc: &mut [V::Float; R],
) {
    let (size, split) = match rule {
        Rule::Fused(size) => (size, false),
        Rule::Split(size) => (size, true),
        Rule::Chain | Rule::Wrapping => return,
    };
    let k = a.row.len();
    for start in (0..k).step_by(size) {
        let end = (start + size).min(k);
        let before = *acc;
        let mut highest = v.int(0);
        let even = cut_sum::<V, R>(v, a, b, start, end, if split { 2 } else { 1 });
        let odd = if split {
            cut_sum::<V, R>(v, a, b, start + 1, end, 2)
        } else {
            even
        };
        for r in 0..R {
            let (sum, exponent) = if split {
                merge(v, even[r], odd[r])
            } else {
                (v.double_of_int(even[r].0), even[r].1)
            };
            let (joined, top) = join(v, sum, exponent, acc[r], split);
            acc[r] = joined;
            highest = v.max(highest, top);
        }
        if v.largest(highest) >= SUSPECT {
            for r in 0..R {
                let mut lanes = [0.0; MOST_LANES];
                v.store_floats(before[r], &mut lanes);
                let a = Factors { at: a.at + r, ..*a };
                again(split, &a, b, start..end, &mut lanes[..V::LANES]);
                acc[r] = v.floats(&lanes);
            }
        }
    }
}

/// For each row the sum of the products `start`, `start + step`, .. before `end`, and the
/// largest exponent: the products are cut toward zero at 24 bits below it.
#[inline(always)]
fn cut_sum<V: Vector, const R: usize>(
    v: V,
    a: &Factors<'_>,
    b: &Columns<'_>,
    start: usize,
    end: usize,
    step: usize,
) -> [(V::Int, V::Int); R] {
    // Sum and largest exponent.
    let mut out = [(v.int(0), v.int(i32::MIN)); R];
    for k in (start..end).step_by(step) {
        let (_, own, row) = a.get::<R>(k);
        let exponent = v.ints(&b.exponent[b.at + row * b.stride..]);
        for r in 0..R {
            out[r].1 = v.max(out[r].1, v.add(v.int(own[r]), exponent));
        }
    }
    for k in (start..end).step_by(step) {
        let (factor, own, row) = a.get::<R>(k);
        let at = b.at + row * b.stride;
        let exponent = v.ints(&b.exponent[at..]);
        let significand = v.ints(&b.significand[at..]);
        for r in 0..R {
            let (sum, largest) = out[r];
            let product = v.mul(v.int(factor[r] << UP), significand);
            let down = v.sub(v.sub(largest, exponent), v.int(own[r]));
            out[r].0 = v.add(sum, v.cut(product, down));
        }
    }
    out
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
            let (significand, exponent, row) = a.get::<1>(k);
            let at = b.at + row * b.stride + j;
            Term {
                a: (significand[0], exponent[0]),
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
