//! Floating-point formats of at most 32 bits as data, with exact conversions.
//!
//! One encoder and one decoder serve every format: the widths of the fields, the bias and
//! the meaning of the top encodings are fields of [`FloatFormat`]. Both work in exact integer
//! arithmetic. They are the definition the faster paths are tested against.
//!
//! Sources: IEEE 754-2019; OCP 8-bit Floating Point Specification (OFP8) 1.0; OCP
//! Microscaling Formats (MX) 1.0; for FNUZ, the AMD Instinct MI300 instruction set.

use crate::dtype::DType;

/// What the encodings with the largest magnitudes mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Specials {
    /// As in IEEE 754: the largest exponent holds infinities and NaNs.
    Ieee,
    /// Only all ones below the sign is a NaN; no infinities (OCP E4M3).
    NanOnly,
    /// The encoding of negative zero is the only NaN; no infinities, no negative zero (FNUZ).
    Fnuz,
    /// Every encoding is finite (OCP fp6 and fp4).
    Finite,
    /// Unsigned powers of two without zero; all ones is a NaN (OCP E8M0).
    Scale,
}

/// How a value between two neighbours of the format is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearer neighbour, at a tie to the one with an even significand; where both are
    /// odd, as among the powers of two of E8M0, to the larger (IEEE 754-2019, 4.3.1).
    NearestEven,
    /// To the neighbour nearer to zero. For E8M0 this is the floor of the binary logarithm,
    /// which is how MX derives a scale.
    TowardZero,
    /// Away from zero with a probability equal to the distance from the neighbour nearer
    /// to zero, in units of the gap, truncated to 32 bits. The word must be uniform.
    Stochastic(u32),
}

/// What becomes of a value whose rounded magnitude exceeds the largest finite one.
///
/// Formats of which every encoding is finite always saturate. Infinities count as
/// exceeding it (OFP8 1.0, conversion table).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// The largest finite magnitude, with the sign.
    Saturate,
    /// An infinity if the format has one, otherwise a NaN.
    NonSaturate,
}

/// A floating-point format of at most 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FloatFormat {
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    specials: Specials,
}

impl FloatFormat {
    /// The format of a dtype; `None` for integers, truth values and f64.
    pub const fn of(dtype: DType) -> Option<Self> {
        let (exponent_bits, mantissa_bits, bias, specials) = match dtype {
            DType::F32 => (8, 23, 127, Specials::Ieee),
            DType::F16 => (5, 10, 15, Specials::Ieee),
            DType::BF16 => (8, 7, 127, Specials::Ieee),
            DType::F8E4M3Fnuz => (4, 3, 8, Specials::Fnuz),
            DType::F8E5M2Fnuz => (5, 2, 16, Specials::Fnuz),
            DType::F8E4M3 => (4, 3, 7, Specials::NanOnly),
            DType::F8E5M2 => (5, 2, 15, Specials::Ieee),
            DType::F6E2M3 => (2, 3, 1, Specials::Finite),
            DType::F6E3M2 => (3, 2, 3, Specials::Finite),
            DType::F4E2M1 => (2, 1, 1, Specials::Finite),
            DType::E8M0 => (8, 0, 127, Specials::Scale),
            DType::F64 | DType::I64 | DType::I32 | DType::U32 | DType::U8 | DType::Bool => {
                return None;
            }
        };
        Some(Self {
            exponent_bits,
            mantissa_bits,
            bias,
            specials,
        })
    }

    /// The width of the exponent field.
    pub const fn exponent_bits(&self) -> u32 {
        self.exponent_bits
    }

    /// The width of the mantissa field, without the implied leading one.
    pub const fn mantissa_bits(&self) -> u32 {
        self.mantissa_bits
    }

    /// What is subtracted from the exponent field.
    pub const fn bias(&self) -> i32 {
        self.bias
    }

    /// What the top encodings mean.
    pub const fn specials(&self) -> Specials {
        self.specials
    }

    /// The width of an encoding.
    pub const fn bits(&self) -> u32 {
        let sign = if self.has_sign() { 1 } else { 0 };
        sign + self.exponent_bits + self.mantissa_bits
    }

    /// Whether negative values exist.
    pub const fn has_sign(&self) -> bool {
        !matches!(self.specials, Specials::Scale)
    }

    /// Whether a NaN exists.
    pub const fn has_nan(&self) -> bool {
        !matches!(self.specials, Specials::Finite)
    }

    /// Whether infinities exist.
    pub const fn has_infinity(&self) -> bool {
        matches!(self.specials, Specials::Ieee)
    }

    /// The largest finite value.
    pub const fn max(&self) -> f64 {
        self.decode(self.max_code())
    }

    /// The smallest positive value with a full mantissa.
    pub const fn min_normal(&self) -> f64 {
        pow2(self.min_exponent())
    }

    /// The smallest positive value.
    pub const fn min_positive(&self) -> f64 {
        pow2(self.min_exponent() - self.mantissa_bits as i32)
    }

    /// The distance from 1 to the next larger value.
    pub const fn epsilon(&self) -> f64 {
        pow2(-(self.mantissa_bits as i32))
    }

    /// The value of an encoding, exactly. Bits above the width of the format are ignored;
    /// a NaN keeps its sign and payload where the format has them.
    pub const fn decode(&self, code: u32) -> f64 {
        let m = self.mantissa_bits;
        let magnitude = code & self.magnitude_mask();
        let negative = self.has_sign() && code & self.sign_bit() != 0;
        let sign = if negative { 1_u64 << 63 } else { 0 };
        if self.is_nan_code(code) {
            let payload = match self.specials {
                Specials::Ieee => ((magnitude & self.mantissa_mask()) as u64) << (52 - m),
                _ => 0,
            };
            return f64::from_bits(sign | f64::NAN.to_bits() | payload);
        }
        if magnitude > self.max_code() {
            return f64::from_bits(sign | f64::INFINITY.to_bits());
        }
        let exponent = (magnitude >> m) as i32;
        let mantissa = magnitude & self.mantissa_mask();
        let value = if matches!(self.specials, Specials::Scale) {
            pow2(exponent - self.bias)
        } else if exponent == 0 {
            mantissa as f64 * pow2(self.min_exponent() - m as i32)
        } else {
            (mantissa | 1 << m) as f64 * pow2(exponent - self.bias - m as i32)
        };
        f64::from_bits(sign | value.to_bits())
    }

    /// The value of an encoding as f32: exact for every format.
    pub const fn decode_f32(&self, code: u32) -> f32 {
        self.decode(code) as f32
    }

    /// The encoding of a value.
    ///
    /// Rounding is done first, as if the exponent were unbounded above; then overflow is
    /// decided. A NaN becomes a NaN (with sign and leading payload bits where the format has
    /// them); where there is none, the largest positive value, so that it cannot pass for a
    /// small number (MX 1.0 leaves this to the implementation). In E8M0, zero and values
    /// below the smallest become the smallest, and negative values NaN.
    pub const fn encode(&self, x: f64, rounding: Rounding, overflow: Overflow) -> u32 {
        let negative = x.is_sign_negative();
        let sign = if negative && self.has_sign() {
            self.sign_bit()
        } else {
            0
        };
        if x.is_nan() {
            return self.nan_code(x.to_bits());
        }
        if matches!(self.specials, Specials::Scale) && x < 0.0 {
            return self.nan_code(f64::NAN.to_bits());
        }
        let magnitude = x.abs();
        let code = if magnitude.is_infinite() {
            self.max_code() + 1
        } else if matches!(self.specials, Specials::Scale) {
            self.encode_scale(magnitude, rounding)
        } else {
            self.encode_magnitude(magnitude, rounding)
        };
        if code > self.max_code() {
            return match (overflow, self.specials) {
                (Overflow::Saturate, _) | (_, Specials::Finite) => sign | self.max_code(),
                (Overflow::NonSaturate, Specials::Ieee) => sign | (self.max_code() + 1),
                (Overflow::NonSaturate, _) => {
                    let sign = if negative { 1 << 63 } else { 0 };
                    self.nan_code(sign | f64::NAN.to_bits())
                }
            };
        }
        match self.specials {
            // There is no negative zero: that encoding is the NaN.
            Specials::Fnuz if code == 0 => 0,
            _ => sign | code,
        }
    }

    /// The encoding of an f32; f32 to f64 is exact, so there is one rounding.
    pub const fn encode_f32(&self, x: f32, rounding: Rounding, overflow: Overflow) -> u32 {
        self.encode(x as f64, rounding, overflow)
    }

    /// Rounds a finite magnitude; the result may exceed the largest finite encoding.
    const fn encode_magnitude(&self, x: f64, rounding: Rounding) -> u32 {
        if x == 0.0 {
            return 0;
        }
        let m = self.mantissa_bits as i32;
        let (significand, exponent) = normalise(x);
        let normal = exponent >= self.min_exponent();
        let top = if normal {
            exponent
        } else {
            self.min_exponent()
        };
        // The gap between neighbours is 2^(top - m), the significand counts 2^(exponent - 52).
        let n = round_shift(significand, (top - m) - (exponent - 52), rounding);
        // A carry out of the mantissa moves to the next exponent by itself, also from the
        // subnormals to the normals.
        let field = (top + self.bias - 1) as i64;
        let code = (field << m) + n as i64;
        if code > self.max_code() as i64 {
            self.max_code() + 1
        } else {
            code as u32
        }
    }

    /// As [`Self::encode_magnitude`] for E8M0, which has neither zero nor mantissa.
    const fn encode_scale(&self, x: f64, rounding: Rounding) -> u32 {
        if x < self.decode(0) {
            return 0;
        }
        let (significand, exponent) = normalise(x);
        if exponent > self.bias {
            return self.max_code() + 1;
        }
        // The count of powers of two is 1, or 2 after a carry; 1 is odd, so ties go up.
        let n = round_shift(significand, 52, rounding) as i32;
        (exponent + self.bias + n - 1) as u32
    }

    const fn min_exponent(&self) -> i32 {
        match self.specials {
            Specials::Scale => -self.bias,
            _ => 1 - self.bias,
        }
    }

    const fn mantissa_mask(&self) -> u32 {
        (1 << self.mantissa_bits) - 1
    }

    const fn magnitude_mask(&self) -> u32 {
        (1 << (self.exponent_bits + self.mantissa_bits)) - 1
    }

    pub(crate) const fn sign_bit(&self) -> u32 {
        1 << (self.exponent_bits + self.mantissa_bits)
    }

    /// The encoding of the largest finite value.
    pub(crate) const fn max_code(&self) -> u32 {
        match self.specials {
            Specials::Ieee => self.magnitude_mask() - self.mantissa_mask() - 1,
            Specials::NanOnly | Specials::Scale => self.magnitude_mask() - 1,
            Specials::Fnuz | Specials::Finite => self.magnitude_mask(),
        }
    }

    const fn is_nan_code(&self, code: u32) -> bool {
        let magnitude = code & self.magnitude_mask();
        match self.specials {
            Specials::Ieee => magnitude > self.max_code() + 1,
            Specials::NanOnly | Specials::Scale => magnitude == self.magnitude_mask(),
            Specials::Fnuz => magnitude == 0 && code & self.sign_bit() != 0,
            Specials::Finite => false,
        }
    }

    /// The encoding of a NaN that is given as the bits of an f64.
    pub(crate) const fn nan_code(&self, bits: u64) -> u32 {
        let sign = if bits >> 63 == 1 { self.sign_bit() } else { 0 };
        match self.specials {
            Specials::Ieee => {
                let payload = (bits >> (52 - self.mantissa_bits)) as u32 & self.mantissa_mask();
                let quiet = 1 << (self.mantissa_bits - 1);
                sign | (self.max_code() + 1) | quiet | payload
            }
            Specials::NanOnly => sign | self.magnitude_mask(),
            Specials::Scale => self.magnitude_mask(),
            Specials::Fnuz => self.sign_bit(),
            Specials::Finite => self.max_code(),
        }
    }
}

/// 2^exponent for the exponents of normal f64 numbers.
const fn pow2(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The significand in [2^52, 2^53) and the exponent of the leading one of a positive
/// finite number: x = significand * 2^(exponent - 52).
const fn normalise(x: f64) -> (u64, i32) {
    let bits = x.to_bits();
    let field = (bits >> 52) as i32;
    let fraction = bits & ((1 << 52) - 1);
    if field == 0 {
        let shift = fraction.leading_zeros() as i32 - 11;
        (fraction << shift, -1022 - shift)
    } else {
        (fraction | 1 << 52, field - 1023)
    }
}

/// `value / 2^shift`, rounded to an integer. `shift` must not be negative.
const fn round_shift(value: u64, shift: i32, rounding: Rounding) -> u64 {
    const HALF: u64 = 1 << 63;
    // Fixed point with 64 bits after the point. Bits beyond those are lost only when the
    // leading one of the 53 is far below the half, so that no tie is mistaken.
    let fixed = if shift < 128 {
        ((value as u128) << 64) >> shift
    } else {
        0
    };
    let (whole, fraction) = ((fixed >> 64) as u64, fixed as u64);
    let up = match rounding {
        Rounding::NearestEven => fraction > HALF || (fraction == HALF && whole & 1 == 1),
        Rounding::TowardZero => false,
        // A carry out of adding the random word to the fraction, as hardware does it.
        Rounding::Stochastic(random) => (fraction >> 32) + random as u64 > u32::MAX as u64,
    };
    whole + up as u64
}

#[cfg(test)]
mod tests;
