//! Slices of the formats of 8 bits and less, packed without gaps.
//!
//! Element `i` of a format of `b` bits occupies the bits `i * b ..` of the bytes read as
//! one little-endian number: two fp4 elements share a byte, the first in the low half, and
//! four fp6 elements share three bytes.

use thiserror::Error;

use crate::dtype::DType;
use crate::float_format::{FloatFormat, Overflow, Rounding};
use crate::nearest::NearestEncoder;

/// Why a slice cannot be packed or unpacked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PackError {
    /// The dtype is not a floating-point format of 8 bits or less.
    #[error("{dtype} is not a float format of 8 bits or less")]
    DType {
        /// The dtype asked for.
        dtype: DType,
    },
    /// There is not one random word per element.
    #[error("{n_elements} elements take as many random words, not {found}")]
    Random {
        /// The number of elements.
        n_elements: usize,
        /// The random words given.
        found: usize,
    },
    /// The bytes are more or fewer than the elements need.
    #[error("{n_elements} elements of {dtype} take {expected} bytes, not {found}")]
    Length {
        /// The dtype asked for.
        dtype: DType,
        /// The number of elements.
        n_elements: usize,
        /// The bytes they take.
        expected: usize,
        /// The bytes given.
        found: usize,
    },
}

/// Decodes packed elements of `dtype` to f32, exactly. NaN payloads are not kept.
///
/// # Errors
/// [`PackError::DType`], and [`PackError::Length`] unless `src.len()` is
/// `dtype.bytes(dst.len())`.
pub fn unpack_to_f32(dtype: DType, src: &[u8], dst: &mut [f32]) -> Result<(), PackError> {
    let format = check(dtype, src.len(), dst.len())?;
    let mut table = [0.0; 256];
    for (code, value) in (0..).zip(&mut table) {
        *value = format.decode_f32(code);
    }
    let bits = dtype.bits();
    if bits == 8 {
        for (value, code) in dst.iter_mut().zip(src) {
            *value = table[usize::from(*code)];
        }
        return Ok(());
    }
    let mask = (1 << bits) - 1;
    for (i, value) in dst.iter_mut().enumerate() {
        let (byte, shift) = place(i, bits);
        let high = src.get(byte + 1).copied().unwrap_or(0);
        let word = u16::from_le_bytes([src[byte], high]);
        *value = table[usize::from(word >> shift & mask)];
    }
    Ok(())
}

/// Encodes f32 values as packed elements of `dtype`, rounded to nearest with ties to even
/// as [`FloatFormat::encode`] does; unused bits of the last byte are zero.
///
/// # Errors
/// [`PackError::DType`], and [`PackError::Length`] unless `dst.len()` is
/// `dtype.bytes(src.len())`.
pub fn pack_from_f32(
    dtype: DType,
    src: &[f32],
    dst: &mut [u8],
    overflow: Overflow,
) -> Result<(), PackError> {
    let format = check(dtype, dst.len(), src.len())?;
    if let Some(encoder) = NearestEncoder::new(&format, overflow) {
        pack(dtype, src.iter().map(|x| encoder.encode(*x)), dst);
    } else {
        let encode = |x: &f32| format.encode_f32(*x, Rounding::NearestEven, overflow);
        pack(dtype, src.iter().map(encode), dst);
    }
    Ok(())
}

/// Encodes f32 values as packed elements of `dtype`, each rounded stochastically with its
/// own word of `random`, as [`Rounding::Stochastic`] describes.
///
/// # Errors
/// As [`pack_from_f32`], and [`PackError::Random`] unless there is one word per element.
pub fn pack_from_f32_stochastic(
    dtype: DType,
    src: &[f32],
    random: &[u32],
    dst: &mut [u8],
    overflow: Overflow,
) -> Result<(), PackError> {
    let format = check(dtype, dst.len(), src.len())?;
    if random.len() != src.len() {
        return Err(PackError::Random {
            n_elements: src.len(),
            found: random.len(),
        });
    }
    let codes = src
        .iter()
        .zip(random)
        .map(|(x, word)| format.encode_f32(*x, Rounding::Stochastic(*word), overflow));
    pack(dtype, codes, dst);
    Ok(())
}

/// Writes encodings one after the other.
#[inline(always)]
fn pack(dtype: DType, codes: impl Iterator<Item = u32>, dst: &mut [u8]) {
    let bits = dtype.bits();
    if bits == 8 {
        for (byte, code) in dst.iter_mut().zip(codes) {
            *byte = code as u8;
        }
        return;
    }
    dst.fill(0);
    for (i, code) in codes.enumerate() {
        let (byte, shift) = place(i, bits);
        let [low, high] = ((code as u16) << shift).to_le_bytes();
        dst[byte] |= low;
        if let Some(next) = dst.get_mut(byte + 1) {
            *next |= high;
        }
    }
}

/// The byte in which element `i` begins, and at which of its bits.
///
/// Counts groups of eight elements, which fill whole bytes, so that nothing overflows.
fn place(i: usize, bits: usize) -> (usize, usize) {
    let bit = i % 8 * bits;
    (i / 8 * bits + bit / 8, bit % 8)
}

fn check(dtype: DType, n_bytes: usize, n_elements: usize) -> Result<FloatFormat, PackError> {
    let format = FloatFormat::of(dtype)
        .filter(|format| format.bits() <= 8)
        .ok_or(PackError::DType { dtype })?;
    let expected = dtype.bytes(n_elements);
    if n_bytes == expected {
        Ok(format)
    } else {
        Err(PackError::Length {
            dtype,
            n_elements,
            expected,
            found: n_bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> impl Iterator<Item = DType> {
        DType::ALL
            .into_iter()
            .filter(|d| d.is_float() && d.bits() <= 8)
    }

    #[test]
    fn bits_lie_in_little_endian_order() {
        // fp4: 0.5 is code 1, -6 is code 15. fp6 E3M2: 0.0625 is code 1, -28 is code 63.
        let mut bytes = [0xff; 2];
        let values = [0.5, -6.0, 1.0];
        pack_from_f32(DType::F4E2M1, &values, &mut bytes, Overflow::Saturate).unwrap();
        assert_eq!(bytes, [0xf1, 0x02]);
        let mut bytes = [0xff; 3];
        let values = [0.0625, -28.0, 0.0, 0.125];
        pack_from_f32(DType::F6E3M2, &values, &mut bytes, Overflow::Saturate).unwrap();
        assert_eq!(bytes, [0b1100_0001, 0b0000_1111, 0b0000_1000]);
    }

    #[test]
    fn every_encoding_survives_unpacking_and_packing() {
        assert_eq!(small().count(), 8);
        for dtype in small() {
            // Every code and every alignment: an odd stride through all codes, any length.
            for n in [0, 1, 2, 3, 5, 255, 256] {
                let format = FloatFormat::of(dtype).unwrap();
                let codes: Vec<u32> = (0..n).map(|i| i * 5 % (1 << dtype.bits())).collect();
                let values: Vec<f32> = codes.iter().map(|c| format.decode_f32(*c)).collect();
                let mut bytes = vec![0; dtype.bytes(values.len())];
                pack_from_f32(dtype, &values, &mut bytes, Overflow::NonSaturate).unwrap();
                let mut back = vec![0.0; values.len()];
                unpack_to_f32(dtype, &bytes, &mut back).unwrap();
                for (a, b) in values.iter().zip(&back) {
                    let same = a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
                    assert!(same, "{dtype}: {a} became {b}");
                }
            }
        }
    }

    #[test]
    fn wrong_dtypes_and_lengths_are_refused() {
        let mut out = [0.0; 3];
        for dtype in [DType::F16, DType::U8, DType::F64, DType::Bool] {
            let error = unpack_to_f32(dtype, &[0; 3], &mut out).unwrap_err();
            assert_eq!(error, PackError::DType { dtype });
        }
        let error = unpack_to_f32(DType::F4E2M1, &[0; 3], &mut out).unwrap_err();
        assert_eq!(
            error.to_string(),
            "3 elements of f4e2m1 take 2 bytes, not 3"
        );
        let mut bytes = [0; 1];
        let error = pack_from_f32(DType::F6E2M3, &out, &mut bytes, Overflow::Saturate).unwrap_err();
        assert_eq!(
            error.to_string(),
            "3 elements of f6e2m3 take 3 bytes, not 1"
        );
    }

    #[test]
    fn each_element_has_its_own_random_word() {
        // 2.5 lies midway between 2 and 3 in E2M1.
        let mut bytes = [0; 1];
        let (dtype, words) = (DType::F4E2M1, [0, 1 << 31]);
        pack_from_f32_stochastic(dtype, &[2.5; 2], &words, &mut bytes, Overflow::Saturate).unwrap();
        let mut out = [0.0; 2];
        unpack_to_f32(dtype, &bytes, &mut out).unwrap();
        assert_eq!(out, [2.0, 3.0]);
        let error = pack_from_f32_stochastic(
            dtype,
            &[2.5; 2],
            &words[1..],
            &mut bytes,
            Overflow::Saturate,
        );
        let expected = PackError::Random {
            n_elements: 2,
            found: 1,
        };
        assert_eq!(error, Err(expected));
    }
}
