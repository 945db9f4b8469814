//! Scalar float arithmetic with the rules of the vector units: which NaN
//! results, how minima and maxima treat zeros, conversions, scaling. All of it
//! on bits, so that no NaN is changed on the way.

mod classes;
mod division;
mod rounded;

use cairn_formats::{f16, f16_from_f32, f16_to_f32};

pub(crate) use classes::{class16, class32, class64};
pub(crate) use division::{
    div_fixup16, div_fixup32, div_fixup64, div_fmas32, div_fmas64, div_scale32, div_scale64,
};
pub(crate) use rounded::{
    Round, add32_rounded, fma32_rounded, mul32_rounded, round_to_f16, round_to_f32,
};

use division::exponent64;
use rounded::odd_sum;

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
