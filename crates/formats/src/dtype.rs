//! The element types a tensor may have: their names, sizes in bits and classes.
//!
//! Sizes are counted in bits because fp4 and fp6 elements are smaller than a byte;
//! [`DType::bytes`] is the one place where bits become bytes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The element type of a tensor.
///
/// The order is that of the declaration; it carries no meaning beyond being fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DType {
    /// IEEE 754 binary64.
    F64,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary16.
    F16,
    /// bfloat16: the upper half of a binary32.
    BF16,
    /// 8-bit float of gfx942, 4 exponent and 3 mantissa bits, bias 8, one NaN (0x80), no infinity.
    F8E4M3Fnuz,
    /// 8-bit float of gfx942, 5 exponent and 2 mantissa bits, bias 16, one NaN (0x80), no infinity.
    F8E5M2Fnuz,
    /// OCP 8-bit float E4M3: bias 7, largest value 448, no infinity.
    F8E4M3,
    /// OCP 8-bit float E5M2: bias 15, largest value 57344, infinities as in IEEE 754.
    F8E5M2,
    /// OCP MX 6-bit float E2M3: bias 1, largest value 7.5, every encoding finite.
    F6E2M3,
    /// OCP MX 6-bit float E3M2: bias 3, largest value 28, every encoding finite.
    F6E3M2,
    /// OCP MX 4-bit float E2M1: bias 1, largest value 6, every encoding finite.
    F4E2M1,
    /// OCP MX scale: an unsigned power of two, bias 127, one NaN (0xff).
    E8M0,
    /// Signed 64-bit integer.
    I64,
    /// Signed 32-bit integer.
    I32,
    /// Unsigned 32-bit integer.
    U32,
    /// Unsigned 8-bit integer.
    U8,
    /// Truth value, stored as one byte holding 0 or 1.
    Bool,
}

/// A text that names no [`DType`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown dtype `{name}`")]
pub struct UnknownDType {
    /// The text as given.
    pub name: String,
}

impl DType {
    /// Every element type, in declaration order.
    pub const ALL: [Self; 17] = [
        Self::F64,
        Self::F32,
        Self::F16,
        Self::BF16,
        Self::F8E4M3Fnuz,
        Self::F8E5M2Fnuz,
        Self::F8E4M3,
        Self::F8E5M2,
        Self::F6E2M3,
        Self::F6E3M2,
        Self::F4E2M1,
        Self::E8M0,
        Self::I64,
        Self::I32,
        Self::U32,
        Self::U8,
        Self::Bool,
    ];

    /// The lower-case name used in files and messages, such as `bf16`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::F8E4M3Fnuz => "f8e4m3fnuz",
            Self::F8E5M2Fnuz => "f8e5m2fnuz",
            Self::F8E4M3 => "f8e4m3",
            Self::F8E5M2 => "f8e5m2",
            Self::F6E2M3 => "f6e2m3",
            Self::F6E3M2 => "f6e3m2",
            Self::F4E2M1 => "f4e2m1",
            Self::E8M0 => "e8m0",
            Self::I64 => "i64",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::U8 => "u8",
            Self::Bool => "bool",
        }
    }

    /// The size of one element in bits.
    pub const fn bits(self) -> usize {
        match self {
            Self::F64 | Self::I64 => 64,
            Self::F32 | Self::I32 | Self::U32 => 32,
            Self::F16 | Self::BF16 => 16,
            Self::F8E4M3Fnuz
            | Self::F8E5M2Fnuz
            | Self::F8E4M3
            | Self::F8E5M2
            | Self::E8M0
            | Self::U8
            | Self::Bool => 8,
            Self::F6E2M3 | Self::F6E3M2 => 6,
            Self::F4E2M1 => 4,
        }
    }

    /// The bytes that `n_elements` contiguous elements occupy, packed without gaps and
    /// rounded up to a whole byte. Saturates at `usize::MAX`, which no allocation reaches.
    pub const fn bytes(self, n_elements: usize) -> usize {
        let bits = n_elements as u128 * self.bits() as u128;
        let bytes = bits.div_ceil(8);
        if bytes > usize::MAX as u128 {
            usize::MAX
        } else {
            bytes as usize
        }
    }

    /// Whether values are floating point, the 8-bit power-of-two scale [`DType::E8M0`] included.
    pub const fn is_float(self) -> bool {
        !matches!(
            self,
            Self::I64 | Self::I32 | Self::U32 | Self::U8 | Self::Bool
        )
    }

    /// Whether values are integers; [`DType::Bool`] is neither float nor integer.
    pub const fn is_int(self) -> bool {
        matches!(self, Self::I64 | Self::I32 | Self::U32 | Self::U8)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for DType {
    type Err = UnknownDType;

    fn from_str(name: &str) -> Result<Self, UnknownDType> {
        Self::ALL
            .into_iter()
            .find(|dtype| dtype.name() == name)
            .ok_or_else(|| UnknownDType {
                name: name.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let table = [
            (DType::F64, 3, 24),
            (DType::BF16, 3, 6),
            (DType::F8E4M3, 3, 3),
            (DType::F6E2M3, 1, 1),
            (DType::F6E2M3, 4, 3),
            (DType::F6E3M2, 5, 4),
            (DType::F4E2M1, 1, 1),
            (DType::F4E2M1, 2, 1),
            (DType::F4E2M1, 3, 2),
            (DType::Bool, 9, 9),
            (DType::F32, 0, 0),
            (DType::F64, usize::MAX, usize::MAX),
            (DType::F4E2M1, usize::MAX, usize::MAX / 2 + 1),
        ];
        for (dtype, n, bytes) in table {
            assert_eq!(dtype.bytes(n), bytes, "{n} elements of {dtype}");
        }
    }

    #[test]
    fn names_round_trip_in_text_and_serde() {
        for (i, dtype) in DType::ALL.into_iter().enumerate() {
            assert_eq!(dtype as usize, i, "ALL follows the declaration");
            assert_eq!(dtype.to_string().parse(), Ok(dtype));
            assert_eq!(serde_json::to_value(dtype).unwrap(), dtype.name());
            assert_eq!(
                serde_json::from_value::<DType>(dtype.name().into()).unwrap(),
                dtype
            );
        }
        assert_eq!(
            "BF16".parse::<DType>(),
            Err(UnknownDType {
                name: "BF16".to_owned()
            })
        );
    }
}
