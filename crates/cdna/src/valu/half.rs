//! Operations on 16-bit values, given and returned in the low halves.

use cairn_codeobj::isa::Op;

use super::Modes;
use super::convert::norm16;
use crate::float::{
    Round, add16, div_fixup16, fma16, from_f16, is_nan32, key16, max16, med3_16, min16, mul16,
    round_to_f16, to_f16, unary16,
};
use crate::wave::Lanes;

macro_rules! each {
    ($out:ident, |$lane:ident| $value:expr) => {{
        for $lane in 0..64 {
            $out[$lane] = $value & 0xffff;
        }
        true
    }};
}

/// An f32 as f16; NaN keeps its sign and leading bits.
#[inline(always)]
pub(super) fn narrow(x: u32, round: Round) -> u32 {
    if round == Round::Nearest || is_nan32(x) {
        to_f16(f32::from_bits(x))
    } else {
        round_to_f16(f64::from(f32::from_bits(x)), round)
    }
}

/// The least or largest; a NaN wins over numbers, and -0 is below 0.
fn extreme(values: &[u32; 3], largest: bool) -> u32 {
    let pick = |a: u32, b: u32| {
        let nan = |x: u32| x & 0x7fff > 0x7c00;
        match (nan(a), nan(b)) {
            (true, _) => a | 0x200,
            (_, true) => b | 0x200,
            _ if (key16(b) > key16(a)) == largest => b,
            _ => a,
        }
    };
    pick(
        pick(values[0] & 0xffff, values[1] & 0xffff),
        values[2] & 0xffff,
    )
}

fn signed(x: u32) -> i32 {
    i32::from(x as i16)
}

/// Does `op` if it is one of these.
#[inline(always)]
pub(super) fn run(op: Op, m: &Modes, a: &Lanes, b: &Lanes, c: &Lanes, out: &mut Lanes) -> bool {
    integer(op, a, b, c, out) || float(op, m, a, b, c, out) || convert(op, m, a, out)
}

#[inline(always)]
fn integer(op: Op, a: &Lanes, b: &Lanes, c: &Lanes, out: &mut Lanes) -> bool {
    let low = |x: u32| x & 0xffff;
    match op {
        Op::V_ADD_U16 | Op::V_ADD_I16 => each!(out, |i| a[i].wrapping_add(b[i])),
        Op::V_SUB_U16 | Op::V_SUB_I16 => each!(out, |i| a[i].wrapping_sub(b[i])),
        Op::V_SUBREV_U16 => each!(out, |i| b[i].wrapping_sub(a[i])),
        Op::V_MUL_LO_U16 => each!(out, |i| a[i].wrapping_mul(b[i])),
        Op::V_MAD_U16 | Op::V_MAD_I16 | Op::V_MAD_LEGACY_U16 | Op::V_MAD_LEGACY_I16 => {
            each!(out, |i| a[i].wrapping_mul(b[i]).wrapping_add(c[i]))
        }
        Op::V_LSHLREV_B16 => each!(out, |i| b[i] << (a[i] & 15)),
        Op::V_LSHRREV_B16 => each!(out, |i| low(b[i]) >> (a[i] & 15)),
        Op::V_ASHRREV_I16 => each!(out, |i| (signed(b[i]) >> (a[i] & 15)) as u32),
        Op::V_MAX_U16 => each!(out, |i| low(a[i]).max(low(b[i]))),
        Op::V_MIN_U16 => each!(out, |i| low(a[i]).min(low(b[i]))),
        Op::V_MAX_I16 => each!(out, |i| signed(a[i]).max(signed(b[i])) as u32),
        Op::V_MIN_I16 => each!(out, |i| signed(a[i]).min(signed(b[i])) as u32),
        Op::V_MIN3_I16 => each!(out, |i| signed(a[i]).min(signed(b[i])).min(signed(c[i]))
            as u32),
        Op::V_MAX3_I16 => each!(out, |i| signed(a[i]).max(signed(b[i])).max(signed(c[i]))
            as u32),
        Op::V_MIN3_U16 => each!(out, |i| low(a[i]).min(low(b[i])).min(low(c[i]))),
        Op::V_MAX3_U16 => each!(out, |i| low(a[i]).max(low(b[i])).max(low(c[i]))),
        Op::V_MED3_I16 => each!(out, |i| {
            let (x, y, z) = (signed(a[i]), signed(b[i]), signed(c[i]));
            x.min(y).max(x.max(y).min(z)) as u32
        }),
        Op::V_MED3_U16 => each!(out, |i| {
            let (x, y, z) = (low(a[i]), low(b[i]), low(c[i]));
            x.min(y).max(x.max(y).min(z))
        }),
        _ => false,
    }
}

#[inline(always)]
fn float(op: Op, m: &Modes, a: &Lanes, b: &Lanes, c: &Lanes, out: &mut Lanes) -> bool {
    let (round, ieee) = (m.round16_64, m.ieee);
    let flip = |x: u32| if x & 0x7fff > 0x7c00 { x } else { x ^ 0x8000 };
    match op {
        Op::V_ADD_F16 => each!(out, |i| add16(a[i], b[i], round)),
        Op::V_SUB_F16 => each!(out, |i| add16(a[i], flip(b[i]), round)),
        Op::V_SUBREV_F16 => each!(out, |i| add16(b[i], flip(a[i]), round)),
        Op::V_MUL_F16 => each!(out, |i| mul16(a[i], b[i], round)),
        Op::V_FMA_F16 | Op::V_FMA_LEGACY_F16 | Op::V_PK_FMAC_F16 => {
            each!(out, |i| fma16(a[i], b[i], c[i], round))
        }
        Op::V_MAC_F16
        | Op::V_MADMK_F16
        | Op::V_MADAK_F16
        | Op::V_MAD_F16
        | Op::V_MAD_LEGACY_F16 => {
            // Not fused: the product is rounded before the sum.
            each!(out, |i| add16(mul16(a[i], b[i], round), c[i], round))
        }
        Op::V_MIN_F16 => each!(out, |i| min16(a[i], b[i], ieee)),
        Op::V_MAX_F16 => each!(out, |i| max16(a[i], b[i], ieee)),
        Op::V_MIN3_F16 => each!(out, |i| min16(min16(a[i], b[i], ieee), c[i], ieee)),
        Op::V_MAX3_F16 => each!(out, |i| max16(max16(a[i], b[i], ieee), c[i], ieee)),
        Op::V_PK_MINIMUM3_F16 => each!(out, |i| extreme(&[a[i], b[i], c[i]], false)),
        Op::V_PK_MAXIMUM3_F16 => each!(out, |i| extreme(&[a[i], b[i], c[i]], true)),
        Op::V_MED3_F16 => each!(out, |i| med3_16(a[i], b[i], c[i], ieee)),
        Op::V_DIV_FIXUP_F16 | Op::V_DIV_FIXUP_LEGACY_F16 => {
            each!(out, |i| div_fixup16(a[i], b[i], c[i]))
        }
        Op::V_RCP_F16 => each!(out, |i| unary16(a[i], round, |x| 1.0 / x)),
        Op::V_SQRT_F16 => each!(out, |i| unary16(a[i], round, f64::sqrt)),
        Op::V_RSQ_F16 => each!(out, |i| unary16(a[i], round, |x| 1.0 / x.sqrt())),
        Op::V_LOG_F16 => each!(out, |i| unary16(a[i], round, f64::log2)),
        Op::V_EXP_F16 => each!(out, |i| unary16(a[i], round, f64::exp2)),
        Op::V_FLOOR_F16 => each!(out, |i| unary16(a[i], round, f64::floor)),
        Op::V_CEIL_F16 => each!(out, |i| unary16(a[i], round, f64::ceil)),
        Op::V_TRUNC_F16 => each!(out, |i| unary16(a[i], round, f64::trunc)),
        Op::V_RNDNE_F16 => each!(out, |i| unary16(a[i], round, f64::round_ties_even)),
        Op::V_FRACT_F16 => each!(out, |i| unary16(a[i], Round::Nearest, |x| {
            (x - x.floor()).min(f64::from(from_f16(0x3bff)))
        })),
        Op::V_LDEXP_F16 => each!(out, |i| unary16(a[i], round, |x| {
            x * f64::from(signed(b[i]).clamp(-60, 60)).exp2()
        })),
        Op::V_FREXP_MANT_F16 => each!(out, |i| {
            let x = from_f16(a[i]);
            if x == 0.0 || !x.is_finite() {
                unary16(a[i], round, |x| x)
            } else {
                to_f16(f32::from_bits(crate::float::frexp_mant32(x.to_bits())))
            }
        }),
        Op::V_FREXP_EXP_I16_F16 => {
            each!(out, |i| crate::float::frexp_exp32(from_f16(a[i]).to_bits()))
        }
        _ => false,
    }
}

#[inline(always)]
fn convert(op: Op, m: &Modes, a: &Lanes, out: &mut Lanes) -> bool {
    let round = m.round16_64;
    match op {
        Op::V_CVT_F16_F32 => each!(out, |i| narrow(a[i], round)),
        Op::V_CVT_F16_U16 => each!(out, |i| round_to_f16(f64::from(a[i] & 0xffff), round)),
        Op::V_CVT_F16_I16 => each!(out, |i| round_to_f16(f64::from(signed(a[i])), round)),
        Op::V_CVT_U16_F16 => each!(out, |i| u32::from(from_f16(a[i]) as u16)),
        Op::V_CVT_I16_F16 => each!(out, |i| from_f16(a[i]) as i16 as u32),
        Op::V_CVT_NORM_I16_F16 => each!(out, |i| norm16(f64::from(from_f16(a[i])), true)),
        Op::V_CVT_NORM_U16_F16 => each!(out, |i| norm16(f64::from(from_f16(a[i])), false)),
        _ => false,
    }
}
