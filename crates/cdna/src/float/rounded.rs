//! Results rounded in a direction that MODE names.

use super::*;

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
pub(super) fn odd_sum(a: f64, b: f64) -> f64 {
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
