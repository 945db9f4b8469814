//! Conversions between f32 and the 16-bit floats, one value or a slice at a time.
//!
//! Every function is straight-line integer and float arithmetic with selects instead of
//! branches, so that loops over slices become vector code, also where a caller inlines
//! them into code for a wider instruction set. Rounding is to nearest, ties to even.
//! NaNs stay NaNs: the sign and the leading payload bits are kept and the quiet bit is set.

use half::{bf16, f16};

const SIGN: u32 = 0x8000_0000;
const F32_INF: u32 = 0x7f80_0000;

/// Rounds to bfloat16; magnitudes beyond its largest value become infinite.
#[inline(always)]
pub fn bf16_from_f32(x: f32) -> bf16 {
    let bits = x.to_bits();
    let nan = (bits >> 16) | 0x0040;
    // Adding just under half a unit, or exactly half if the kept part is odd, carries
    // into the kept part exactly when the value rounds away from zero.
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16;
    let is_nan = (bits & !SIGN) > F32_INF;
    bf16::from_bits(if is_nan { nan } else { rounded } as u16)
}

/// Rounds stochastically to bfloat16: away from zero with a probability equal to the
/// discarded fraction, if the low 16 bits of `random` are uniform. Infinities and values
/// that are already representable stay as they are.
#[inline(always)]
pub fn bf16_from_f32_stochastic(x: f32, random: u32) -> bf16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(random & 0xffff) >> 16;
    let kept = bits >> 16;
    let magnitude = bits & !SIGN;
    let special = if magnitude > F32_INF {
        kept | 0x0040
    } else {
        kept
    };
    let is_special = magnitude >= F32_INF;
    bf16::from_bits(if is_special { special } else { rounded } as u16)
}

/// The f32 with the value of `x`: exact. A NaN becomes quiet.
#[inline(always)]
pub fn bf16_to_f32(x: bf16) -> f32 {
    let bits = u32::from(x.to_bits()) << 16;
    let quiet = if (bits & !SIGN) > F32_INF {
        0x0040_0000
    } else {
        0
    };
    f32::from_bits(bits | quiet)
}

/// Rounds to IEEE binary16; magnitudes of 65520 and above become infinite.
#[inline(always)]
pub fn f16_from_f32(x: f32) -> f16 {
    /// 2^-14, the smallest normal binary16.
    const MIN_NORMAL: u32 = (127 - 14) << 23;
    /// 2^16, beyond the largest binary16 under any rounding.
    const OVERFLOW: u32 = (127 + 16) << 23;
    /// 0.5: its unit in the last place, 2^-24, is the smallest binary16.
    const HALF: u32 = 126 << 23;

    let bits = x.to_bits();
    let sign = (bits & SIGN) >> 16;
    let magnitude = bits & !SIGN;
    // As in bf16_from_f32, with the exponent bias changed from 127 to 15 on the way.
    let odd = (magnitude >> 13) & 1;
    let normal = magnitude
        .wrapping_sub((127 - 15) << 23)
        .wrapping_add(0xfff + odd)
        >> 13;
    // The addition itself rounds to a multiple of the smallest binary16.
    let subnormal = (f32::from_bits(magnitude) + f32::from_bits(HALF))
        .to_bits()
        .wrapping_sub(HALF);
    let nan = 0x7e00 | ((magnitude >> 13) & 0x03ff);
    let mut out = if magnitude < MIN_NORMAL {
        subnormal
    } else {
        normal
    };
    out = if magnitude >= OVERFLOW { 0x7c00 } else { out };
    out = if magnitude > F32_INF { nan } else { out };
    f16::from_bits((sign | out) as u16)
}

/// The f32 with the value of `x`: exact. A NaN becomes quiet.
#[inline(always)]
pub fn f16_to_f32(x: f16) -> f32 {
    /// 2^112 moves the exponent bias from 15 to 127 and normalises subnormals.
    const SCALE: f32 = f32::from_bits((127 + 112) << 23);

    let bits = u32::from(x.to_bits());
    let sign = (bits & 0x8000) << 16;
    let magnitude = bits & 0x7fff;
    let finite = (f32::from_bits(magnitude << 13) * SCALE).to_bits();
    let quiet = if magnitude > 0x7c00 { 0x0040_0000 } else { 0 };
    let special = F32_INF | (magnitude << 13) | quiet;
    let out = if magnitude >= 0x7c00 { special } else { finite };
    f32::from_bits(sign | out)
}

macro_rules! slice_conversion {
    ($(#[$doc:meta])* $name:ident, $from:ty, $to:ty, $convert:path) => {
        $(#[$doc])*
        ///
        /// # Panics
        /// If the slices differ in length.
        #[inline]
        pub fn $name(src: &[$from], dst: &mut [$to]) {
            assert_eq!(src.len(), dst.len(), "source and destination differ in length");
            for (d, s) in dst.iter_mut().zip(src) {
                *d = $convert(*s);
            }
        }
    };
}

slice_conversion! {
    /// [`bf16_from_f32`] for each element.
    bf16_slice_from_f32, f32, bf16, bf16_from_f32
}
slice_conversion! {
    /// [`bf16_to_f32`] for each element.
    bf16_slice_to_f32, bf16, f32, bf16_to_f32
}
slice_conversion! {
    /// [`f16_from_f32`] for each element.
    f16_slice_from_f32, f32, f16, f16_from_f32
}
slice_conversion! {
    /// [`f16_to_f32`] for each element.
    f16_slice_to_f32, f16, f32, f16_to_f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit patterns of f32 that decide roundings: every 16-bit prefix followed by each
    /// lower half near a tie, and a stride that is coprime to all powers of two.
    fn patterns() -> impl Iterator<Item = u32> {
        let tails = [
            0, 1, 0x0fff, 0x1000, 0x1001, 0x2fff, 0x3000, 0x3001, 0x7fff, 0x8000, 0x8001, 0xffff,
        ];
        let prefixes = (0..=0xffff_u32).flat_map(move |p| tails.map(|t| (p << 16) | t));
        prefixes.chain((0..=u32::MAX).step_by(1021))
    }

    #[test]
    fn narrowing_agrees_with_the_scalar_library() {
        for bits in patterns() {
            let x = f32::from_bits(bits);
            let bf = bf16_from_f32(x).to_bits();
            assert_eq!(bf, bf16::from_f32(x).to_bits(), "bf16 of {bits:#010x}");
            let h = f16_from_f32(x).to_bits();
            assert_eq!(h, f16::from_f32(x).to_bits(), "f16 of {bits:#010x}");
        }
    }

    #[test]
    fn widening_is_exact_for_every_encoding() {
        for bits in 0..=u16::MAX {
            let (bf, h) = (bf16::from_bits(bits), f16::from_bits(bits));
            assert_eq!(bf16_to_f32(bf).to_bits(), bf.to_f32().to_bits());
            assert_eq!(f16_to_f32(h).to_bits(), h.to_f32().to_bits());
            // Back again: the identity, except that signalling NaNs become quiet.
            let quiet_bf = if bf.is_nan() { bits | 0x0040 } else { bits };
            assert_eq!(bf16_from_f32(bf16_to_f32(bf)).to_bits(), quiet_bf);
            let quiet_h = if h.is_nan() { bits | 0x0200 } else { bits };
            assert_eq!(f16_from_f32(f16_to_f32(h)).to_bits(), quiet_h);
        }
    }

    #[test]
    fn stochastic_rounding_counts_the_discarded_fraction() {
        // Three eighths of the way from 1 to the next bfloat16, in both signs.
        for sign in [0, SIGN] {
            let x = f32::from_bits(sign | 0x3f80_6000);
            let up = (0..=0xffff).filter(|r| bf16_from_f32_stochastic(x, *r).to_bits() & 1 == 1);
            assert_eq!(up.count(), 0x6000);
        }
        for bits in 0..=u16::MAX {
            let x = bf16::from_bits(bits);
            let quiet = if x.is_nan() { bits | 0x0040 } else { bits };
            let back = bf16_from_f32_stochastic(bf16_to_f32(x), u32::MAX);
            assert_eq!(back.to_bits(), quiet, "representable values stay");
        }
        // A NaN whose payload is in the discarded half must not become an infinity.
        let low_nan = f32::from_bits(F32_INF | 1);
        assert!(bf16_from_f32_stochastic(low_nan, 0).is_nan());
        assert!(bf16_from_f32(low_nan).is_nan());
    }

    #[test]
    fn slices_convert_each_element() {
        let src: Vec<f32> = (0..1003).map(|i| (i as f32 - 500.0) * 1.7e-3).collect();
        let mut bf = vec![bf16::ZERO; src.len()];
        let mut h = vec![f16::ZERO; src.len()];
        bf16_slice_from_f32(&src, &mut bf);
        f16_slice_from_f32(&src, &mut h);
        let mut back_bf = vec![0.0; src.len()];
        let mut back_h = vec![0.0; src.len()];
        bf16_slice_to_f32(&bf, &mut back_bf);
        f16_slice_to_f32(&h, &mut back_h);
        for (i, x) in src.iter().enumerate() {
            assert_eq!(back_bf[i], bf16::from_f32(*x).to_f32());
            assert_eq!(back_h[i], f16::from_f32(*x).to_f32());
        }
    }
}
