//! The steps of a division: scaling, fused steps, special cases.

use super::rounded::odd_sum;
use super::*;

/// The biased exponent.
const fn exponent32(x: u32) -> i32 {
    (x >> 23 & 255) as i32
}

pub(super) const fn exponent64(x: u64) -> i32 {
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
