//! Scalar float arithmetic with the rules of the vector units: which NaN
//! results, how minima and maxima treat zeros, conversions, scaling. All of it
//! on bits, so that no NaN is changed on the way.

use cairn_formats::{f16, f16_from_f32, f16_to_f32};

/// The NaN that an operation without a NaN operand makes.
pub(crate) const NAN32: u32 = 0x7fc0_0000;
const QUIET32: u32 = 0x0040_0000;
pub(crate) const NAN64: u64 = 0x7ff8_0000_0000_0000;
const QUIET64: u64 = 0x0008_0000_0000_0000;

#[inline(always)]
pub(crate) const fn is_nan32(x: u32) -> bool {
    x & 0x7fff_ffff > 0x7f80_0000
}

#[inline(always)]
pub(crate) const fn is_nan64(x: u64) -> bool {
    x & 0x7fff_ffff_ffff_ffff > 0x7ff0_0000_0000_0000
}

const fn is_signalling32(x: u32) -> bool {
    is_nan32(x) && x & QUIET32 == 0
}

const fn is_signalling64(x: u64) -> bool {
    is_nan64(x) && x & QUIET64 == 0
}

/// The result, unless an operand is NaN: then the first such, made quiet.
#[inline(always)]
fn nan_rule32(result: f32, operands: [u32; 3]) -> u32 {
    let bits = result.to_bits();
    let mut out = if is_nan32(bits) { NAN32 } else { bits };
    for x in operands.into_iter().rev() {
        out = if is_nan32(x) { x | QUIET32 } else { out };
    }
    out
}

#[inline(always)]
fn nan_rule64(result: f64, operands: [u64; 3]) -> u64 {
    let bits = result.to_bits();
    let mut out = if is_nan64(bits) { NAN64 } else { bits };
    for x in operands.into_iter().rev() {
        out = if is_nan64(x) { x | QUIET64 } else { out };
    }
    out
}

#[inline(always)]
pub(crate) fn add32(a: u32, b: u32) -> u32 {
    nan_rule32(f32::from_bits(a) + f32::from_bits(b), [a, b, 0])
}

#[inline(always)]
pub(crate) fn sub32(a: u32, b: u32) -> u32 {
    // The NaN keeps its sign, which a negated operand would not.
    nan_rule32(f32::from_bits(a) - f32::from_bits(b), [a, b, 0])
}

#[inline(always)]
pub(crate) fn mul32(a: u32, b: u32) -> u32 {
    nan_rule32(f32::from_bits(a) * f32::from_bits(b), [a, b, 0])
}

#[inline(always)]
pub(crate) fn fma32(a: u32, b: u32, c: u32) -> u32 {
    let result = f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c));
    nan_rule32(result, [a, b, c])
}

#[inline(always)]
pub(crate) fn add64(a: u64, b: u64) -> u64 {
    nan_rule64(f64::from_bits(a) + f64::from_bits(b), [a, b, 0])
}

#[inline(always)]
pub(crate) fn mul64(a: u64, b: u64) -> u64 {
    nan_rule64(f64::from_bits(a) * f64::from_bits(b), [a, b, 0])
}

#[inline(always)]
pub(crate) fn fma64(a: u64, b: u64, c: u64) -> u64 {
    let result = f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c));
    nan_rule64(result, [a, b, c])
}

/// A function of one operand that passes NaN on.
#[inline(always)]
pub(crate) fn unary32(x: u32, f: impl Fn(f32) -> f32) -> u32 {
    nan_rule32(f(f32::from_bits(x)), [x, 0, 0])
}

#[inline(always)]
pub(crate) fn unary64(x: u64, f: impl Fn(f64) -> f64) -> u64 {
    nan_rule64(f(f64::from_bits(x)), [x, 0, 0])
}

/// Order of two floats that are not NaN, with -0 below +0.
#[inline(always)]
const fn key32(x: u32) -> i32 {
    let x = x as i32;
    x ^ ((x >> 31) as u32 >> 1) as i32
}

#[inline(always)]
const fn key64(x: u64) -> i64 {
    let x = x as i64;
    x ^ ((x >> 63) as u64 >> 1) as i64
}

#[inline(always)]
pub(crate) fn min32(a: u32, b: u32, ieee: bool) -> u32 {
    pick32(a, b, key32(b) < key32(a), ieee)
}

#[inline(always)]
pub(crate) fn max32(a: u32, b: u32, ieee: bool) -> u32 {
    pick32(a, b, key32(b) > key32(a), ieee)
}

#[inline(always)]
fn pick32(a: u32, b: u32, second: bool, ieee: bool) -> u32 {
    let mut out = if second { b } else { a };
    out = if is_nan32(b) { a } else { out };
    out = if is_nan32(a) { b } else { out };
    if ieee {
        out = if is_signalling32(b) { b | QUIET32 } else { out };
        out = if is_signalling32(a) { a | QUIET32 } else { out };
    }
    out
}

pub(crate) fn min64(a: u64, b: u64, ieee: bool) -> u64 {
    pick64(a, b, key64(b) < key64(a), ieee)
}

pub(crate) fn max64(a: u64, b: u64, ieee: bool) -> u64 {
    pick64(a, b, key64(b) > key64(a), ieee)
}

fn pick64(a: u64, b: u64, second: bool, ieee: bool) -> u64 {
    if ieee && is_signalling64(a) {
        return a | QUIET64;
    }
    if ieee && is_signalling64(b) {
        return b | QUIET64;
    }
    if is_nan64(a) {
        return b;
    }
    if is_nan64(b) || !second { a } else { b }
}

/// The middle one of three; with a NaN the least.
#[inline(always)]
pub(crate) fn med3_32(a: u32, b: u32, c: u32, ieee: bool) -> u32 {
    if is_nan32(a) || is_nan32(b) || is_nan32(c) {
        return min32(min32(a, b, ieee), c, ieee);
    }
    let low = min32(a, b, false);
    let high = max32(a, b, false);
    max32(low, min32(high, c, false), false)
}

/// IEEE 754-2019 maximum: NaN wins.
#[inline(always)]
pub(crate) fn maximum32(a: u32, b: u32) -> u32 {
    let out = if key32(b) > key32(a) { b } else { a };
    let out = if is_nan32(b) { b | QUIET32 } else { out };
    if is_nan32(a) { a | QUIET32 } else { out }
}

#[inline(always)]
pub(crate) fn minimum32(a: u32, b: u32) -> u32 {
    let out = if key32(b) < key32(a) { b } else { a };
    let out = if is_nan32(b) { b | QUIET32 } else { out };
    if is_nan32(a) { a | QUIET32 } else { out }
}

/// Zero of the same sign for a denormal.
#[inline(always)]
pub(crate) const fn flush32(x: u32) -> u32 {
    if x & 0x7f80_0000 == 0 {
        x & 0x8000_0000
    } else {
        x
    }
}

#[inline(always)]
pub(crate) const fn flush64(x: u64) -> u64 {
    if x & 0x7ff0_0000_0000_0000 == 0 {
        x & 0x8000_0000_0000_0000
    } else {
        x
    }
}

#[inline(always)]
pub(crate) const fn flush16(x: u32) -> u32 {
    if x & 0x7c00 == 0 {
        x & 0x8000
    } else {
        x & 0xffff
    }
}

/// `x * 2^n`, rounded once.
pub(crate) fn ldexp32(x: u32, n: i32) -> u32 {
    let scale = f64::from_bits(((n.clamp(-400, 400) + 1023) as u64) << 52);
    unary32(x, |x| (f64::from(x) * scale) as f32)
}

/// `x * 2^n`, rounded once.
pub(crate) fn ldexp64(x: u64, n: i32) -> u64 {
    unary64(x, |x| scale64(x, n))
}

fn scale64(x: f64, n: i32) -> f64 {
    let power = |n: i32| f64::from_bits(((n + 1023) as u64) << 52);
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let (normal, shift) = if x.is_subnormal() {
        (x * power(64), -64)
    } else {
        (x, 0)
    };
    let bits = normal.to_bits();
    let exponent = exponent64(bits) - 1023 + shift + n.clamp(-5000, 5000);
    let mantissa = f64::from_bits(bits & 0x800f_ffff_ffff_ffff | 1023 << 52);
    if exponent > 1023 {
        return mantissa * power(1023) * 2.0;
    }
    if exponent >= -1022 {
        return mantissa * power(exponent);
    }
    // Exact down to where the second product, the only one that rounds, gives zero.
    mantissa * power((exponent + 1022).max(-100)) * power(-1022)
}

pub(crate) fn frexp_exp32(x: u32) -> u32 {
    let x = f32::from_bits(x);
    if !x.is_finite() || x == 0.0 {
        return 0;
    }
    let bits = f64::from(x).to_bits();
    ((bits >> 52 & 0x7ff) as i32 - 1022) as u32
}

pub(crate) fn frexp_mant32(x: u32) -> u32 {
    let value = f32::from_bits(x);
    if !value.is_finite() || value == 0.0 {
        return unary32(x, |x| x);
    }
    let bits = f64::from(value).to_bits();
    let mantissa = bits & 0x800f_ffff_ffff_ffff | 1022 << 52;
    (f64::from_bits(mantissa) as f32).to_bits()
}

pub(crate) fn frexp_exp64(x: u64) -> u32 {
    let value = f64::from_bits(x);
    if !value.is_finite() || value == 0.0 {
        return 0;
    }
    let exponent = (x >> 52 & 0x7ff) as i32;
    if exponent == 0 {
        let scaled = (value * f64::from_bits((1023 + 64) << 52)).to_bits();
        return ((scaled >> 52 & 0x7ff) as i32 - 1022 - 64) as u32;
    }
    (exponent - 1022) as u32
}

pub(crate) fn frexp_mant64(x: u64) -> u64 {
    let value = f64::from_bits(x);
    if !value.is_finite() || value == 0.0 {
        return unary64(x, |x| x);
    }
    let normal = if x >> 52 & 0x7ff == 0 {
        (value * f64::from_bits((1023 + 64) << 52)).to_bits()
    } else {
        x
    };
    normal & 0x800f_ffff_ffff_ffff | 1022 << 52
}

/// The biased exponent.
const fn exponent32(x: u32) -> i32 {
    (x >> 23 & 255) as i32
}

const fn exponent64(x: u64) -> i32 {
    (x >> 52 & 2047) as i32
}

fn is_denormal32(x: f32) -> bool {
    x.is_subnormal()
}

/// `v_div_scale_f32`: an operand scaled so that the division neither overflows
/// nor loses bits on the way, and whether the result has to be scaled back.
pub(crate) fn div_scale32(s0: u32, denominator: u32, numerator: u32) -> (u32, bool) {
    let (d, n) = (f32::from_bits(denominator), f32::from_bits(numerator));
    if d == 0.0 || n == 0.0 {
        return (NAN32, false);
    }
    // 1/d of an f32 is never a denormal f64; what is meant is the f32.
    let inverse = is_denormal32((1.0 / f64::from(d)) as f32);
    let quotient = is_denormal32((f64::from(n) / f64::from(d)) as f32);
    if exponent32(numerator) - exponent32(denominator) >= 96 {
        let scaled = if s0 == denominator {
            ldexp32(s0, 64)
        } else {
            s0
        };
        return (scaled, true);
    }
    if is_denormal32(d) {
        return (ldexp32(s0, 64), false);
    }
    if inverse && quotient {
        let scaled = if s0 == denominator {
            ldexp32(s0, 64)
        } else {
            s0
        };
        return (scaled, true);
    }
    if inverse {
        return (ldexp32(s0, -64), false);
    }
    if quotient {
        let scaled = if s0 == numerator { ldexp32(s0, 64) } else { s0 };
        return (scaled, true);
    }
    if exponent32(numerator) <= 23 {
        return (ldexp32(s0, 64), false);
    }
    (s0, false)
}

/// `v_div_scale_f64`.
pub(crate) fn div_scale64(s0: u64, denominator: u64, numerator: u64) -> (u64, bool) {
    let (d, n) = (f64::from_bits(denominator), f64::from_bits(numerator));
    if d == 0.0 || n == 0.0 {
        return (NAN64, false);
    }
    let inverse = (1.0 / d).is_subnormal();
    let quotient = (n / d).is_subnormal();
    if exponent64(numerator) - exponent64(denominator) >= 768 {
        let scaled = if s0 == denominator {
            ldexp64(s0, 128)
        } else {
            s0
        };
        return (scaled, true);
    }
    if d.is_subnormal() {
        return (ldexp64(s0, 128), false);
    }
    if inverse && quotient {
        let scaled = if s0 == denominator {
            ldexp64(s0, 128)
        } else {
            s0
        };
        return (scaled, true);
    }
    if inverse {
        return (ldexp64(s0, -128), false);
    }
    if quotient {
        let scaled = if s0 == numerator {
            ldexp64(s0, 128)
        } else {
            s0
        };
        return (scaled, true);
    }
    if exponent64(numerator) <= 53 {
        return (ldexp64(s0, 128), false);
    }
    (s0, false)
}

/// `v_div_fixup_f32`: the special cases of a division.
pub(crate) fn div_fixup32(s0: u32, denominator: u32, numerator: u32) -> u32 {
    let sign = (denominator ^ numerator) & 0x8000_0000;
    let (d, n) = (f32::from_bits(denominator), f32::from_bits(numerator));
    if n.is_nan() {
        return numerator | QUIET32;
    }
    if d.is_nan() {
        return denominator | QUIET32;
    }
    if d == 0.0 && n == 0.0 || d.is_infinite() && n.is_infinite() {
        return 0xffc0_0000;
    }
    if d == 0.0 || n.is_infinite() {
        return sign | 0x7f80_0000;
    }
    if d.is_infinite() || n == 0.0 {
        return sign;
    }
    if exponent32(numerator) - exponent32(denominator) < -150 {
        return sign;
    }
    if exponent32(denominator) == 255 {
        return sign | 0x7f80_0000;
    }
    // A quotient too large for the steps before left NaN.
    if is_nan32(s0) {
        return sign | 0x7f80_0000;
    }
    sign | s0 & 0x7fff_ffff
}

/// `v_div_fmas_f32` of a lane whose operands `v_div_scale` scaled: the result
/// is scaled back and rounded once. CDNA3's document has a factor of 2^32 here,
/// which undoes neither scaling; this is what the factors of `v_div_scale` need.
pub(crate) fn div_fmas32(a: u32, b: u32, c: u32) -> u32 {
    let product = f64::from(f32::from_bits(a)) * f64::from(f32::from_bits(b));
    let sum = odd_sum(product, f64::from(f32::from_bits(c)));
    let power = if exponent32(c) > 127 { 64 } else { -64 };
    let scale = f64::from_bits(((power + 1023) as u64) << 52);
    nan_rule32((sum * scale) as f32, [a, b, c])
}

/// `v_div_fmas_f64`, likewise; a denormal result is rounded twice.
pub(crate) fn div_fmas64(a: u64, b: u64, c: u64) -> u64 {
    let power = if exponent64(c) > 1023 { 128 } else { -128 };
    ldexp64(fma64(a, b, c), power)
}

/// `v_div_fixup_f64`.
pub(crate) fn div_fixup64(s0: u64, denominator: u64, numerator: u64) -> u64 {
    let sign = (denominator ^ numerator) & 1 << 63;
    let (d, n) = (f64::from_bits(denominator), f64::from_bits(numerator));
    if n.is_nan() {
        return numerator | QUIET64;
    }
    if d.is_nan() {
        return denominator | QUIET64;
    }
    if d == 0.0 && n == 0.0 || d.is_infinite() && n.is_infinite() {
        return 0xfff8_0000_0000_0000;
    }
    if d == 0.0 || n.is_infinite() {
        return sign | 0x7ff0_0000_0000_0000;
    }
    if d.is_infinite() || n == 0.0 {
        return sign;
    }
    if exponent64(numerator) - exponent64(denominator) < -1075 {
        return sign;
    }
    if exponent64(denominator) == 2047 {
        return sign | 0x7ff0_0000_0000_0000;
    }
    if is_nan64(s0) {
        return sign | 0x7ff0_0000_0000_0000;
    }
    sign | s0 & !(1 << 63)
}

/// `v_div_fixup_f16`.
pub(crate) fn div_fixup16(s0: u32, denominator: u32, numerator: u32) -> u32 {
    let sign = (denominator ^ numerator) & 0x8000;
    let (d, n) = (denominator & 0x7fff, numerator & 0x7fff);
    if n > 0x7c00 {
        return numerator & 0xffff | 0x200;
    }
    if d > 0x7c00 {
        return denominator & 0xffff | 0x200;
    }
    if d == 0 && n == 0 || d == 0x7c00 && n == 0x7c00 {
        return 0xfe00;
    }
    if d == 0 || n == 0x7c00 {
        return sign | 0x7c00;
    }
    if d == 0x7c00 || n == 0 {
        return sign;
    }
    sign | s0 & 0x7fff
}

/// An f16 as f32; exact.
#[inline(always)]
pub(crate) fn from_f16(x: u32) -> f32 {
    f16_to_f32(f16::from_bits(x as u16))
}

/// The nearest f16.
#[inline(always)]
pub(crate) fn to_f16(x: f32) -> u32 {
    u32::from(f16_from_f32(x).to_bits())
}

/// How a result is rounded, as MODE numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    Nearest,
    Up,
    Down,
    Zero,
}

impl Round {
    pub(crate) const fn from_mode(bits: u32) -> Self {
        match bits & 3 {
            0 => Self::Nearest,
            1 => Self::Up,
            2 => Self::Down,
            _ => Self::Zero,
        }
    }
}

/// A sum in f64 whose last bit tells whether it was cut: with 53 bits, a
/// second rounding to 24 bits or fewer is then exact.
fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    if error == 0.0 || sum.to_bits() & 1 != 0 {
        return sum;
    }
    // An even sum that was rounded: the odd neighbour on the side of the error.
    let away = (error > 0.0) == (sum > 0.0);
    let bits = sum.to_bits();
    f64::from_bits(if away { bits + 1 } else { bits - 1 })
}

/// `x` rounded to f32 in a direction.
pub(crate) fn round_to_f32(x: f64, round: Round) -> f32 {
    let nearest = x as f32;
    let wide = f64::from(nearest);
    if x.is_nan() || wide == x || round == Round::Nearest {
        return nearest;
    }
    let up = match round {
        Round::Up => true,
        Round::Down => false,
        _ => x < 0.0,
    };
    if x.is_infinite() || (wide > x) == up {
        return nearest;
    }
    if up {
        nearest.next_up()
    } else {
        nearest.next_down()
    }
}

/// `a * b + c` in f32 with one rounding.
pub(crate) fn fma32_rounded(a: u32, b: u32, c: u32, round: Round) -> u32 {
    let product = f64::from(f32::from_bits(a)) * f64::from(f32::from_bits(b));
    let addend = f64::from(f32::from_bits(c));
    let mut sum = odd_sum(product, addend);
    if sum == 0.0
        && round == Round::Down
        && !(product.is_sign_positive() && addend.is_sign_positive())
    {
        sum = -0.0;
    }
    nan_rule32(round_to_f32(sum, round), [a, b, c])
}

/// `a + b` in f32, rounded in a direction.
pub(crate) fn add32_rounded(a: u32, b: u32, round: Round) -> u32 {
    let (x, y) = (f64::from(f32::from_bits(a)), f64::from(f32::from_bits(b)));
    let mut sum = odd_sum(x, y);
    if sum == 0.0 && round == Round::Down && !(x.is_sign_positive() && y.is_sign_positive()) {
        sum = -0.0;
    }
    nan_rule32(round_to_f32(sum, round), [a, b, 0])
}

/// `a * b` in f32, rounded in a direction.
pub(crate) fn mul32_rounded(a: u32, b: u32, round: Round) -> u32 {
    let product = f64::from(f32::from_bits(a)) * f64::from(f32::from_bits(b));
    nan_rule32(round_to_f32(product, round), [a, b, 0])
}

/// An f64 rounded to f16 in a direction.
pub(crate) fn round_to_f16(x: f64, round: Round) -> u32 {
    if x.is_nan() {
        return 0x7e00;
    }
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    let size = x.abs();
    if size == 0.0 {
        return sign;
    }
    let exponent = ((size.to_bits() >> 52) as i32 - 1023).max(-14);
    // The last place of the result, and how many of it there are.
    let steps = size * f64::from_bits(((10 - exponent + 1023) as u64) << 52);
    let toward_zero = match round {
        Round::Nearest => None,
        Round::Up => Some(sign != 0),
        Round::Down => Some(sign == 0),
        Round::Zero => Some(true),
    };
    let whole = match toward_zero {
        None => steps.round_ties_even(),
        Some(true) => steps.floor(),
        Some(false) => steps.ceil(),
    };
    if size.is_infinite() {
        return sign | 0x7c00;
    }
    // One more than the last mantissa carries into the exponent by itself.
    let code = (exponent + 14) as u32 * 1024 + whole as u32;
    if exponent > 15 || code >= 0x7c00 {
        let largest = toward_zero == Some(true);
        return sign | if largest { 0x7bff } else { 0x7c00 };
    }
    sign | code
}

/// A NaN among f16 operands, made quiet, or the result.
fn nan_rule16(result: u32, operands: [u32; 3]) -> u32 {
    for x in operands {
        if x & 0x7fff > 0x7c00 {
            return x & 0xffff | 0x200;
        }
    }
    result
}

pub(crate) fn add16(a: u32, b: u32, round: Round) -> u32 {
    let sum = f64::from(from_f16(a)) + f64::from(from_f16(b));
    nan_rule16(round_to_f16(sum, round), [a, b, 0])
}

pub(crate) fn mul16(a: u32, b: u32, round: Round) -> u32 {
    let product = f64::from(from_f16(a)) * f64::from(from_f16(b));
    nan_rule16(round_to_f16(product, round), [a, b, 0])
}

pub(crate) fn fma16(a: u32, b: u32, c: u32, round: Round) -> u32 {
    let product = f64::from(from_f16(a)) * f64::from(from_f16(b));
    let sum = odd_sum(product, f64::from(from_f16(c)));
    nan_rule16(round_to_f16(sum, round), [a, b, c])
}

pub(crate) fn unary16(x: u32, round: Round, f: impl Fn(f64) -> f64) -> u32 {
    nan_rule16(round_to_f16(f(f64::from(from_f16(x))), round), [x, 0, 0])
}

pub(crate) const fn key16(x: u32) -> i32 {
    let x = x as i16 as i32;
    x ^ ((x >> 31) as u32 >> 17) as i32
}

pub(crate) fn min16(a: u32, b: u32, ieee: bool) -> u32 {
    pick16(a, b, key16(b) < key16(a), ieee)
}

pub(crate) fn max16(a: u32, b: u32, ieee: bool) -> u32 {
    pick16(a, b, key16(b) > key16(a), ieee)
}

fn pick16(a: u32, b: u32, second: bool, ieee: bool) -> u32 {
    let (a, b) = (a & 0xffff, b & 0xffff);
    let nan = |x: u32| x & 0x7fff > 0x7c00;
    for x in [a, b] {
        if ieee && nan(x) && x & 0x200 == 0 {
            return x | 0x200;
        }
    }
    if nan(a) {
        return b;
    }
    if nan(b) || !second { a } else { b }
}

pub(crate) fn med3_16(a: u32, b: u32, c: u32, ieee: bool) -> u32 {
    let nan = |x: u32| x & 0x7fff > 0x7c00;
    if nan(a) || nan(b) || nan(c) {
        return min16(min16(a, b, ieee), c, ieee);
    }
    max16(
        min16(a, b, false),
        min16(max16(a, b, false), c, false),
        false,
    )
}

/// f32 to bf16, to nearest even.
#[inline(always)]
pub(crate) fn to_bf16(x: u32) -> u32 {
    if is_nan32(x) {
        return x >> 16 | 0x40;
    }
    (x + 0x7fff + (x >> 16 & 1)) >> 16
}

/// Classes of floats: signalling and quiet NaN, negative infinity, normal,
/// denormal and zero, then the positive ones upwards.
pub(crate) fn class32(x: u32) -> u32 {
    class(
        is_nan32(x),
        x & QUIET32 != 0,
        x >> 31 != 0,
        x & 0x7fff_ffff == 0x7f80_0000,
        x & 0x7f80_0000 == 0,
        x & 0x7fff_ffff == 0,
    )
}

pub(crate) fn class64(x: u64) -> u32 {
    class(
        is_nan64(x),
        x & QUIET64 != 0,
        x >> 63 != 0,
        x << 1 == 0xffe0_0000_0000_0000,
        x & 0x7ff0_0000_0000_0000 == 0,
        x << 1 == 0,
    )
}

pub(crate) fn class16(x: u32) -> u32 {
    class(
        x & 0x7fff > 0x7c00,
        x & 0x200 != 0,
        x & 0x8000 != 0,
        x & 0x7fff == 0x7c00,
        x & 0x7c00 == 0,
        x & 0x7fff == 0,
    )
}

/// The bit of `v_cmp_class`.
const fn class(
    nan: bool,
    quiet: bool,
    negative: bool,
    infinite: bool,
    small: bool,
    zero: bool,
) -> u32 {
    if nan {
        return if quiet { 2 } else { 1 };
    }
    let size = if infinite {
        0
    } else if zero {
        3
    } else if small {
        2
    } else {
        1
    };
    if negative { 4 << size } else { 0x200 >> size }
}
