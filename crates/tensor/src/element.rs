//! Rust types that are tensor elements.

use cairn_formats::{DType, bf16, bf16_from_f32, f16, f16_from_f32};

/// A type whose values are the elements of a tensor of one dtype.
pub trait Element: bytemuck::Pod + Send + Sync + PartialEq + std::fmt::Debug {
    /// The dtype.
    const DTYPE: DType;

    /// Exact for floats; integers beyond 2^53 round.
    fn to_f64(self) -> f64;

    /// Rounded to nearest even; integers truncate and saturate. Not named
    /// `from_f64`: `half`'s types have a method of that name, which would win
    /// over the trait's and rounds twice.
    fn rounded(value: f64) -> Self;
}

macro_rules! element {
    ($($ty:ty => $dtype:ident, $to:expr, $from:expr;)+) => {
        $(impl Element for $ty {
            const DTYPE: DType = DType::$dtype;
            fn to_f64(self) -> f64 {
                let to: fn($ty) -> f64 = $to;
                to(self)
            }
            fn rounded(value: f64) -> Self {
                let from: fn(f64) -> $ty = $from;
                from(value)
            }
        })+
    };
}

element! {
    f64 => F64, |x| x, |x| x;
    f32 => F32, |x| f64::from(x), |x| x as f32;
    f16 => F16, f64::from, |x| f16_from_f32(to_odd(x));
    bf16 => BF16, f64::from, |x| bf16_from_f32(to_odd(x));
    i64 => I64, |x| x as f64, |x| x as i64;
    i32 => I32, |x| f64::from(x), |x| x as i32;
    u32 => U32, |x| f64::from(x), |x| x as u32;
    u8 => U8, |x| f64::from(x), |x| x as u8;
}

/// `x` as f32, rounded to odd where it is inexact: a second rounding, to nearest
/// even in a shorter format, then gives what one rounding of `x` would
/// (Boldo and Melquiond, 2008). `half`'s own conversions from f64 drop the low
/// half of the significand and misjudge ties.
fn to_odd(x: f64) -> f32 {
    let nearest = x as f32;
    let exact = f64::from(nearest);
    if !nearest.is_finite() || exact == x {
        return nearest;
    }
    let towards_zero = nearest.to_bits() - u32::from(exact.abs() > x.abs());
    f32::from_bits(towards_zero | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_just_above_a_tie_rounds_up() {
        // Halfway between two bf16 values, and one f32 step above it.
        let tie = f32::from_bits(0x3f80_8000);
        let above = f32::from_bits(0x3f80_8001);
        assert_eq!(bf16::rounded(f64::from(tie)).to_bits(), 0x3f80);
        assert_eq!(bf16::rounded(f64::from(above)).to_bits(), 0x3f81);
        // The same in f16, with a difference only f64 can hold.
        let tie = 1.0 + f64::from(2.0_f32.powi(-11));
        assert_eq!(f16::rounded(tie).to_bits(), 0x3c00);
        assert_eq!(f16::rounded(tie + f64::EPSILON).to_bits(), 0x3c01);
        assert_eq!(f16::rounded(-tie - f64::EPSILON).to_bits(), 0xbc01);
    }

    #[test]
    fn host_tensors_round_as_the_trait_does() {
        let above = f64::from(f32::from_bits(0x3f80_8001));
        let ty = crate::TensorType::new(DType::BF16, [1]);
        let tensor = crate::HostTensor::from_f64(ty, &[above]).unwrap();
        assert_eq!(tensor.as_slice::<bf16>().unwrap()[0].to_bits(), 0x3f81);
    }

    #[test]
    fn narrowing_an_f32_by_way_of_f64_is_narrowing_it() {
        let mut bits = 1_u32;
        for _ in 0..200_000 {
            bits = bits.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            let x = f32::from_bits(bits);
            if x.is_nan() {
                continue;
            }
            let wide = f64::from(x);
            assert_eq!(bf16::rounded(wide), bf16_from_f32(x), "{x}");
            assert_eq!(f16::rounded(wide), f16_from_f32(x), "{x}");
        }
    }

    #[test]
    fn extremes_keep_their_meaning() {
        for x in [f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 0.0, -0.0] {
            let half = bf16::rounded(x).to_f64();
            let want = if x.abs() > 1e39 {
                x.signum() * f64::INFINITY
            } else {
                x
            };
            assert_eq!(half.to_bits(), want.to_bits(), "{x}");
        }
        assert!(f16::rounded(f64::NAN).to_f64().is_nan());
        assert_eq!(f16::rounded(1e-320).to_f64(), 0.0);
    }
}
