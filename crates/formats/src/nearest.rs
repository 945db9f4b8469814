//! Rounding f32 to the small formats, to nearest, without branches.
//!
//! [`FloatFormat::encode`] defines the result; this is the form for loops over slices.

use crate::float_format::{FloatFormat, Overflow, Rounding, Specials};

const F32_SIGN: u32 = 0x8000_0000;
const F32_INF: u32 = 0x7f80_0000;

/// The constants of one format under one overflow rule.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NearestEncoder {
    /// How far the f32 sign moves right.
    sign_shift: u32,
    /// f32 mantissa bits that are dropped.
    dropped: u32,
    /// What turns an f32 exponent field into one of the format, at the mantissa's place.
    rebias: u32,
    /// The bits of the smallest normal value as f32.
    min_normal: u32,
    /// An f32 whose unit in the last place is the smallest positive value of the format.
    magic: f32,
    max_code: u32,
    /// The encodings of too large positive and negative values and of NaNs.
    overflow: [u32; 2],
    nan: [u32; 2],
    /// The payload bits that a NaN keeps.
    nan_payload: u32,
    /// The sign bit of a zero: none where that encoding is the NaN.
    zero_sign: u32,
}

impl NearestEncoder {
    /// `None` for E8M0, which has no mantissa, and for formats of more than 8 bits.
    pub(crate) fn new(format: &FloatFormat, overflow: Overflow) -> Option<Self> {
        if format.bits() > 8 || format.specials() == Specials::Scale {
            return None;
        }
        let m = format.mantissa_bits();
        let infinity = |x| format.encode(x, Rounding::NearestEven, overflow);
        let ieee = format.specials() == Specials::Ieee;
        let fnuz = format.specials() == Specials::Fnuz;
        Some(Self {
            sign_shift: 32 - format.bits(),
            dropped: 23 - m,
            rebias: (127 - format.bias() as u32) << m,
            min_normal: (format.min_normal() as f32).to_bits(),
            magic: format.min_positive() as f32 * (1 << 23) as f32,
            max_code: format.max_code(),
            overflow: [infinity(f64::INFINITY), infinity(f64::NEG_INFINITY)],
            nan: [
                format.nan_code(f64::NAN.to_bits()),
                format.nan_code(f64::NAN.to_bits() | 1 << 63),
            ],
            nan_payload: if ieee { (1 << m) - 1 } else { 0 },
            zero_sign: if fnuz { 0 } else { format.sign_bit() },
        })
    }

    #[inline(always)]
    pub(crate) fn encode(&self, x: f32) -> u32 {
        let bits = x.to_bits();
        let magnitude = bits & !F32_SIGN;
        let is_negative = bits & F32_SIGN != 0;
        let choose = |pair: [u32; 2]| if is_negative { pair[1] } else { pair[0] };
        // Just under half a unit, or half a unit if the kept part is odd, carries exactly
        // where the value rounds up.
        let half = (1 << (self.dropped - 1)) - 1 + ((magnitude >> self.dropped) & 1);
        let normal = (magnitude.wrapping_add(half) >> self.dropped).wrapping_sub(self.rebias);
        // Below the normals the addition itself rounds to a multiple of the smallest value.
        let sum = f32::from_bits(magnitude) + self.magic;
        let subnormal = sum.to_bits().wrapping_sub(self.magic.to_bits());
        let is_normal = magnitude >= self.min_normal;
        let code = if is_normal { normal } else { subnormal };

        let sign = (bits & F32_SIGN) >> self.sign_shift;
        let signed = code
            | if code == 0 {
                sign & self.zero_sign
            } else {
                sign
            };
        let is_over = magnitude >= self.min_normal && code > self.max_code;
        let out = if is_over {
            choose(self.overflow)
        } else {
            signed
        };
        let nan = choose(self.nan) | ((magnitude >> self.dropped) & self.nan_payload);
        if magnitude > F32_INF { nan } else { out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;

    #[test]
    fn agrees_with_the_definition() {
        // Every upper half of an f32 with lower halves around the ties, and a stride through
        // all of them.
        let tails = [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff];
        let prefixes = (0..=0xffff_u32).flat_map(move |p| tails.map(|t| (p << 16) | t));
        let patterns: Vec<u32> = prefixes.chain((0..=u32::MAX).step_by(4093)).collect();
        let mut n_formats = 0;
        for dtype in DType::ALL {
            for overflow in [Overflow::Saturate, Overflow::NonSaturate] {
                let Some(format) = FloatFormat::of(dtype) else {
                    continue;
                };
                let Some(fast) = NearestEncoder::new(&format, overflow) else {
                    continue;
                };
                n_formats += 1;
                for bits in &patterns {
                    let x = f32::from_bits(*bits);
                    let expected = format.encode_f32(x, Rounding::NearestEven, overflow);
                    assert_eq!(
                        fast.encode(x),
                        expected,
                        "{dtype} of {bits:#010x}, {overflow:?}"
                    );
                }
            }
        }
        assert_eq!(n_formats, 2 * 7);
    }
}
