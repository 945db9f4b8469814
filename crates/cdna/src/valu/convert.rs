//! Functions and conversions that are done lane by lane: exponentials, sines,
//! normalised integers, and formats of 8 bits and fewer.

use cairn_formats::{DType, FloatFormat};

use crate::float::{flush32, unary32};

/// 2^x. The unit flushes denormal results.
pub(super) fn exp2(x: u32) -> u32 {
    flush32(unary32(flush32(x), |x| f64::from(x).exp2() as f32))
}

/// The binary logarithm. The unit takes denormals for zero.
pub(super) fn log2(x: u32) -> u32 {
    unary32(flush32(x), |x| f64::from(x).log2() as f32)
}

/// The sine of `x` turns, plus `phase` turns.
pub(super) fn sine(x: u32, phase: f64) -> u32 {
    unary32(x, |x| {
        if x.is_infinite() {
            return f32::NAN;
        }
        let turns = f64::from(x);
        let part = turns - turns.floor() + phase;
        // A quarter of a turn at a time, so that multiples of it are exact.
        let quarter = (part * 4.0).round();
        let rest = (part - quarter / 4.0) * std::f64::consts::TAU;
        let value = match quarter as i64 & 3 {
            0 => rest.sin(),
            1 => rest.cos(),
            2 => -rest.sin(),
            _ => -rest.cos(),
        };
        if value == 0.0 && phase == 0.0 {
            0.0f32.copysign(x)
        } else {
            value as f32
        }
    })
}

/// A value of -1..1 or 0..1 as a 16-bit integer.
pub(super) fn norm16(x: f64, signed: bool) -> u32 {
    if x.is_nan() {
        return 0;
    }
    if signed {
        ((x.clamp(-1.0, 1.0) * 32767.0).round_ties_even() as i32) as u32 & 0xffff
    } else {
        (x.clamp(0.0, 1.0) * 65535.0).round_ties_even() as u32
    }
}

/// The formats of 8 bits and fewer of an architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conversion {
    /// The format.
    pub(crate) format: FloatFormat,
}

impl Conversion {
    /// The format that a part of an operation's name stands for.
    pub(crate) fn named(name: &str, ocp: bool) -> Option<Self> {
        let dtype = match (name, ocp) {
            ("FP8", true) => DType::F8E4M3,
            ("FP8", false) => DType::F8E4M3Fnuz,
            ("BF8", true) => DType::F8E5M2,
            ("BF8", false) => DType::F8E5M2Fnuz,
            ("FP6", _) => DType::F6E2M3,
            ("BF6", _) => DType::F6E3M2,
            ("FP4", _) => DType::F4E2M1,
            _ => return None,
        };
        FloatFormat::of(dtype).map(|format| Self { format })
    }
}
