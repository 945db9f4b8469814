//! Sums as the hardware rounds them, for a row of D at a time.
//!
//! Products are exact: significands of 10 fraction bits multiply to 20, and A's are taken
//! four bits up, so that a product has the 24 fraction bits at which it is cut. Eight
//! products below four fit a 32-bit lane. Where the accumulator joins, f64 holds
//! everything exactly: at most 31 fraction bits and a few above the point.
//!
//! Infinities, NaNs and products near the end of the range have exponents that stand out;
//! a group that meets one is computed again, one element at a time, by [`careful`].

use super::decode::{FRACTION, SPECIAL};
use super::rules::Rule;

/// The significand bits that are cut off nothing.
const CUT: i32 = 24;

/// How far A's significands are taken up.
const UP: u32 = CUT as u32 - 2 * FRACTION;

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

/// The rows of B.
pub(super) struct Rows<'a, const N: usize> {
    pub(super) significand: &'a [[i32; N]],
    pub(super) exponent: &'a [[i32; N]],
}

/// Adds the products of a row to its accumulators, group by group.
#[inline(always)]
pub(super) fn row<const N: usize>(
    rule: Rule,
    a: &Factors<'_>,
    b: &Rows<'_, N>,
    acc: &mut [f32; N],
) {
    let k = a.row.len();
    match rule {
        Rule::Fused(size) => {
            for start in (0..k).step_by(size) {
                let end = (start + size).min(k);
                let (sum, exponent) = cut_sum(a, b, start, end, 1);
                let before = *acc;
                let mut largest = 0;
                for j in 0..N {
                    let joined = join(f64::from(sum[j]), exponent[j], acc[j], false);
                    acc[j] = joined.0;
                    largest = largest.max(joined.1);
                }
                if largest >= SUSPECT {
                    *acc = again(rule, a, b, start, end, &before);
                }
            }
        }
        Rule::Split(size) => {
            for start in (0..k).step_by(size) {
                let end = (start + size).min(k);
                let (even, even_exponent) = cut_sum(a, b, start, end, 2);
                let (odd, odd_exponent) = cut_sum(a, b, start + 1, end, 2);
                let before = *acc;
                let mut largest = 0;
                for j in 0..N {
                    let halves = [(even[j], even_exponent[j]), (odd[j], odd_exponent[j])];
                    let (sum, exponent) = merge(halves);
                    let joined = join(sum, exponent, acc[j], true);
                    acc[j] = joined.0;
                    largest = largest.max(joined.1);
                }
                if largest >= SUSPECT {
                    *acc = again(rule, a, b, start, end, &before);
                }
            }
        }
        Rule::Chain | Rule::Wrapping => {}
    }
}

/// The sum of the products `start`, `start + step`, .. before `end`: the largest exponent
/// of each column, and the products cut toward zero at 24 bits below it.
#[inline(always)]
fn cut_sum<const N: usize>(
    a: &Factors<'_>,
    b: &Rows<'_, N>,
    start: usize,
    end: usize,
    step: usize,
) -> ([i32; N], [i32; N]) {
    let mut largest = [i32::MIN; N];
    for k in (start..end).step_by(step) {
        let (_, own, row) = a.get(k);
        let exponent = &b.exponent[row];
        for j in 0..N {
            largest[j] = largest[j].max(own + exponent[j]);
        }
    }
    let mut sum = [0; N];
    for k in (start..end).step_by(step) {
        let (factor, own, row) = a.get(k);
        let (significand, exponent) = (&b.significand[row], &b.exponent[row]);
        let up = factor << UP;
        for j in 0..N {
            let down = (largest[j] - (own + exponent[j])) as u32;
            let product = up * significand[j];
            let cut = if down < 32 {
                product.unsigned_abs() >> down
            } else {
                0
            } as i32;
            sum[j] += if product < 0 { -cut } else { cut };
        }
    }
    (sum, largest)
}

/// The sum of two sums: aligned to the larger exponent, rounded down at 24 fraction bits.
#[inline(always)]
fn merge(halves: [(i32, i32); 2]) -> (f64, i32) {
    let exponent = halves[0].1.max(halves[1].1);
    let aligned = halves.map(|(sum, own)| (f64::from(sum) * pow2(own - exponent)).floor());
    (aligned[0] + aligned[1], exponent)
}

/// The accumulator joins a sum with 24 fraction bits: the f32 nearest to both together,
/// and the exponent at which they met.
#[inline(always)]
fn join(sum: f64, exponent: i32, acc: f32, drops_small: bool) -> (f32, i32) {
    let field = (acc.to_bits() >> 23 & 0xff) as i32;
    let own = field.max(1) - 127;
    let top = exponent.max(own);
    // 31 fraction bits for the sum, 24 for the accumulator.
    let sum = (sum * pow2(31 - CUT - (top - exponent))).floor();
    let kept = if drops_small && own < top - 25 {
        0.0
    } else {
        (f64::from(acc) * pow2(CUT - top)).floor() * pow2(31 - CUT)
    };
    (((sum + kept) * pow2(top - 31)) as f32, top)
}

/// 2^exponent, for exponents of normal f64 numbers; anything for others.
#[inline(always)]
fn pow2(exponent: i32) -> f64 {
    f64::from_bits((i64::from(exponent + 1023) << 52) as u64)
}

/// Computes a group again, where numbers are not all plain.
#[cold]
#[inline(never)]
fn again<const N: usize>(
    rule: Rule,
    a: &Factors<'_>,
    b: &Rows<'_, N>,
    start: usize,
    end: usize,
    acc: &[f32; N],
) -> [f32; N] {
    let mut out = *acc;
    let mut terms = Vec::with_capacity(end - start);
    for j in 0..N {
        terms.clear();
        terms.extend((start..end).map(|k| {
            let (significand, exponent, row) = a.get(k);
            Term {
                a: (significand, exponent),
                b: (b.significand[row][j], b.exponent[row][j]),
            }
        }));
        out[j] = careful(rule, &terms, acc[j]);
    }
    out
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
fn careful(rule: Rule, terms: &[Term], acc: f32) -> f32 {
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
    match rule {
        Rule::Split(_) => {
            let halves = [0, 1].map(|first| cut_terms(terms.iter().skip(first).step_by(2)));
            let (sum, exponent) = merge(halves);
            join(sum, exponent, acc, true).0
        }
        _ => {
            let (sum, exponent) = cut_terms(terms.iter());
            join(f64::from(sum), exponent, acc, false).0
        }
    }
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

fn cut_terms<'a>(terms: impl Iterator<Item = &'a Term> + Clone) -> (i32, i32) {
    let exponent = terms.clone().map(Term::exponent).max().unwrap_or(0);
    let cut = |term: &Term| {
        let down = (exponent - term.exponent()).min(63);
        let magnitude = term.product().unsigned_abs() >> down;
        magnitude as i32 * term.product().signum() as i32
    };
    (terms.map(cut).sum(), exponent)
}
