//! Operations on registers of 32 bits.

use cairn_codeobj::isa::Op;

use super::Modes;
use super::convert::{exp2, log2, norm16, sine};
use crate::float::{
    Round, add32, add32_rounded, div_fixup32, fma32, fma32_rounded, frexp_exp32, frexp_mant32,
    from_f16, is_nan32, ldexp32, max32, maximum32, med3_32, min32, minimum32, mul32, mul32_rounded,
    sub32, to_bf16, unary32,
};
use crate::wave::Lanes;

macro_rules! each {
    ($out:ident, |$lane:ident| $value:expr) => {{
        for $lane in 0..64 {
            $out[$lane] = $value;
        }
        true
    }};
}

fn f(x: u32) -> f32 {
    f32::from_bits(x)
}

const fn sext24(x: u32) -> i64 {
    ((x << 8) as i32 >> 8) as i64
}

const fn sext4(x: u32) -> i32 {
    (x << 28) as i32 >> 28
}

/// Does `op` if it is one of these.
#[inline(always)]
pub(super) fn run(op: Op, m: &Modes, a: &Lanes, b: &Lanes, c: &Lanes, out: &mut Lanes) -> bool {
    if m.round32 != Round::Nearest && rounded(op, m.round32, a, b, c, out) {
        return true;
    }
    float(op, m, a, b, c, out)
        || integer(op, a, b, c, out)
        || bits(op, a, b, c, out)
        || op == Op::V_PERM_B32 && permute(a, b, c, out)
        || packed_bytes(op, a, b, c, out)
        || cubes(op, a, b, c, out)
        || convert(op, m, a, b, out)
}

/// Arithmetic in a rounding mode other than the usual one.
fn rounded(op: Op, round: Round, a: &Lanes, b: &Lanes, c: &Lanes, out: &mut Lanes) -> bool {
    match op {
        Op::V_ADD_F32 => each!(out, |i| add32_rounded(a[i], b[i], round)),
        Op::V_SUB_F32 => each!(out, |i| add32_rounded(a[i], flip(b[i]), round)),
        Op::V_SUBREV_F32 => each!(out, |i| add32_rounded(b[i], flip(a[i]), round)),
        Op::V_MUL_F32 => each!(out, |i| mul32_rounded(a[i], b[i], round)),
        Op::V_FMA_F32 | Op::V_FMAC_F32 | Op::V_FMAMK_F32 | Op::V_FMAAK_F32 => {
            each!(out, |i| fma32_rounded(a[i], b[i], c[i], round))
        }
        Op::V_CVT_F32_I32 => {
            each!(out, |i| crate::float::round_to_f32(
                f64::from(a[i] as i32),
                round
            )
            .to_bits())
        }
        Op::V_CVT_F32_U32 => {
            each!(out, |i| crate::float::round_to_f32(f64::from(a[i]), round)
                .to_bits())
        }
        _ => false,
    }
}

/// The negative, and a NaN as it is.
fn flip(x: u32) -> u32 {
    if is_nan32(x) { x } else { x ^ 0x8000_0000 }
}

#[inline(always)]
fn float(op: Op, m: &Modes, a: &Lanes, b: &Lanes, c: &Lanes, out: &mut Lanes) -> bool {
    let ieee = m.ieee;
    match op {
        Op::V_ADD_F32 => each!(out, |i| add32(a[i], b[i])),
        Op::V_SUB_F32 => each!(out, |i| sub32(a[i], b[i])),
        Op::V_SUBREV_F32 => each!(out, |i| sub32(b[i], a[i])),
        Op::V_MUL_F32 => each!(out, |i| mul32(a[i], b[i])),
        Op::V_MUL_LEGACY_F32 => each!(out, |i| {
            let zero = a[i] << 1 == 0 || b[i] << 1 == 0;
            if zero { 0 } else { mul32(a[i], b[i]) }
        }),
        Op::V_FMA_F32 | Op::V_FMAC_F32 | Op::V_FMAMK_F32 | Op::V_FMAAK_F32 => {
            each!(out, |i| fma32(a[i], b[i], c[i]))
        }
        Op::V_MIN_F32 => each!(out, |i| min32(a[i], b[i], ieee)),
        Op::V_MAX_F32 => each!(out, |i| max32(a[i], b[i], ieee)),
        Op::V_MIN3_F32 => each!(out, |i| min32(min32(a[i], b[i], ieee), c[i], ieee)),
        Op::V_MAX3_F32 => each!(out, |i| max32(max32(a[i], b[i], ieee), c[i], ieee)),
        Op::V_MED3_F32 => each!(out, |i| med3_32(a[i], b[i], c[i], ieee)),
        Op::V_MINIMUM3_F32 => each!(out, |i| minimum32(minimum32(a[i], b[i]), c[i])),
        Op::V_MAXIMUM3_F32 => each!(out, |i| maximum32(maximum32(a[i], b[i]), c[i])),
        Op::V_TRUNC_F32 => each!(out, |i| unary32(a[i], f32::trunc)),
        Op::V_CEIL_F32 => each!(out, |i| unary32(a[i], f32::ceil)),
        Op::V_FLOOR_F32 => each!(out, |i| unary32(a[i], f32::floor)),
        Op::V_RNDNE_F32 => each!(out, |i| unary32(a[i], f32::round_ties_even)),
        Op::V_FRACT_F32 => each!(out, |i| unary32(a[i], |x| {
            (x - x.floor()).min(f32::from_bits(0x3f7f_ffff))
        })),
        Op::V_EXP_F32 => each!(out, |i| exp2(a[i])),
        Op::V_LOG_F32 => each!(out, |i| log2(a[i])),
        Op::V_RCP_F32 | Op::V_RCP_IFLAG_F32 => each!(out, |i| unary32(a[i], |x| 1.0 / x)),
        Op::V_RSQ_F32 => each!(out, |i| {
            unary32(a[i], |x| (1.0 / f64::from(x).sqrt()) as f32)
        }),
        Op::V_SQRT_F32 => each!(out, |i| unary32(a[i], f32::sqrt)),
        Op::V_SIN_F32 => each!(out, |i| sine(a[i], 0.0)),
        Op::V_COS_F32 => each!(out, |i| sine(a[i], 0.25)),
        Op::V_FREXP_MANT_F32 => each!(out, |i| frexp_mant32(a[i])),
        Op::V_FREXP_EXP_I32_F32 => each!(out, |i| frexp_exp32(a[i])),
        Op::V_LDEXP_F32 => each!(out, |i| ldexp32(a[i], b[i] as i32)),
        Op::V_DIV_FIXUP_F32 => each!(out, |i| div_fixup32(a[i], b[i], c[i])),
        _ => false,
    }
}

#[inline(always)]
fn integer(op: Op, a: &Lanes, b: &Lanes, c: &Lanes, out: &mut Lanes) -> bool {
    match op {
        Op::V_ADD_U32 | Op::V_ADD_I32 => each!(out, |i| a[i].wrapping_add(b[i])),
        Op::V_SUB_U32 | Op::V_SUB_I32 => each!(out, |i| a[i].wrapping_sub(b[i])),
        Op::V_SUBREV_U32 => each!(out, |i| b[i].wrapping_sub(a[i])),
        Op::V_MUL_LO_U32 => each!(out, |i| a[i].wrapping_mul(b[i])),
        Op::V_MUL_HI_U32 => each!(out, |i| (u64::from(a[i]) * u64::from(b[i]) >> 32) as u32),
        Op::V_MUL_HI_I32 => {
            each!(
                out,
                |i| (i64::from(a[i] as i32) * i64::from(b[i] as i32) >> 32) as u32
            )
        }
        Op::V_MUL_I32_I24 => each!(out, |i| (sext24(a[i]) * sext24(b[i])) as u32),
        Op::V_MUL_HI_I32_I24 => each!(out, |i| (sext24(a[i]) * sext24(b[i]) >> 32) as u32),
        Op::V_MUL_U32_U24 => {
            each!(out, |i| (a[i] & 0xff_ffff).wrapping_mul(b[i] & 0xff_ffff))
        }
        Op::V_MUL_HI_U32_U24 => each!(out, |i| {
            (u64::from(a[i] & 0xff_ffff) * u64::from(b[i] & 0xff_ffff) >> 32) as u32
        }),
        Op::V_MAD_I32_I24 => {
            each!(out, |i| ((sext24(a[i]) * sext24(b[i])) as u32)
                .wrapping_add(c[i]))
        }
        Op::V_MAD_U32_U24 => each!(out, |i| {
            (a[i] & 0xff_ffff)
                .wrapping_mul(b[i] & 0xff_ffff)
                .wrapping_add(c[i])
        }),
        Op::V_MIN_I32 => each!(out, |i| (a[i] as i32).min(b[i] as i32) as u32),
        Op::V_MAX_I32 => each!(out, |i| (a[i] as i32).max(b[i] as i32) as u32),
        Op::V_MIN_U32 => each!(out, |i| a[i].min(b[i])),
        Op::V_MAX_U32 => each!(out, |i| a[i].max(b[i])),
        Op::V_MIN3_I32 => each!(out, |i| (a[i] as i32).min(b[i] as i32).min(c[i] as i32)
            as u32),
        Op::V_MAX3_I32 => each!(out, |i| (a[i] as i32).max(b[i] as i32).max(c[i] as i32)
            as u32),
        Op::V_MIN3_U32 => each!(out, |i| a[i].min(b[i]).min(c[i])),
        Op::V_MAX3_U32 => each!(out, |i| a[i].max(b[i]).max(c[i])),
        Op::V_MED3_I32 => each!(out, |i| {
            let (x, y, z) = (a[i] as i32, b[i] as i32, c[i] as i32);
            x.min(y).max(x.max(y).min(z)) as u32
        }),
        Op::V_MED3_U32 => each!(out, |i| a[i].min(b[i]).max(a[i].max(b[i]).min(c[i]))),
        Op::V_ADD3_U32 => each!(out, |i| a[i].wrapping_add(b[i]).wrapping_add(c[i])),
        Op::V_LSHL_ADD_U32 => each!(out, |i| (a[i] << (b[i] & 31)).wrapping_add(c[i])),
        Op::V_ADD_LSHL_U32 => each!(out, |i| a[i].wrapping_add(b[i]) << (c[i] & 31)),
        Op::V_XAD_U32 => each!(out, |i| (a[i] ^ b[i]).wrapping_add(c[i])),
        Op::V_SAD_U32 => each!(out, |i| a[i].abs_diff(b[i]).wrapping_add(c[i])),
        Op::V_MAD_U32_U16 => {
            each!(out, |i| (a[i] & 0xffff)
                .wrapping_mul(b[i] & 0xffff)
                .wrapping_add(c[i]))
        }
        Op::V_MAD_I32_I16 => each!(out, |i| {
            let product = i32::from(a[i] as i16) * i32::from(b[i] as i16);
            (product as u32).wrapping_add(c[i])
        }),
        _ => false,
    }
}

#[inline(always)]
fn bits(op: Op, a: &Lanes, b: &Lanes, c: &Lanes, out: &mut Lanes) -> bool {
    match op {
        Op::V_MOV_B32
        | Op::V_ACCVGPR_READ_B32
        | Op::V_ACCVGPR_WRITE_B32
        | Op::V_ACCVGPR_MOV_B32 => {
            out.copy_from_slice(a);
            true
        }
        Op::V_NOT_B32 => each!(out, |i| !a[i]),
        Op::V_AND_B32 => each!(out, |i| a[i] & b[i]),
        Op::V_OR_B32 => each!(out, |i| a[i] | b[i]),
        Op::V_XOR_B32 => each!(out, |i| a[i] ^ b[i]),
        Op::V_XNOR_B32 => each!(out, |i| !(a[i] ^ b[i])),
        Op::V_LSHRREV_B32 => each!(out, |i| b[i] >> (a[i] & 31)),
        Op::V_LSHLREV_B32 => each!(out, |i| b[i] << (a[i] & 31)),
        Op::V_ASHRREV_I32 => each!(out, |i| (b[i] as i32 >> (a[i] & 31)) as u32),
        Op::V_LSHL_OR_B32 => each!(out, |i| a[i] << (b[i] & 31) | c[i]),
        Op::V_AND_OR_B32 => each!(out, |i| a[i] & b[i] | c[i]),
        Op::V_OR3_B32 => each!(out, |i| a[i] | b[i] | c[i]),
        Op::V_BFE_U32 => each!(out, |i| {
            (a[i] >> (b[i] & 31)) & ((1u32 << (c[i] & 31)).wrapping_sub(1))
        }),
        Op::V_BFE_I32 => each!(out, |i| {
            let width = c[i] & 31;
            let shifted = a[i] >> (b[i] & 31);
            let sign = (1u32 << width) >> 1;
            let value = shifted & (1u32 << width).wrapping_sub(1);
            (value ^ sign).wrapping_sub(sign)
        }),
        Op::V_BFI_B32 => each!(out, |i| a[i] & b[i] | !a[i] & c[i]),
        Op::V_BFM_B32 => each!(out, |i| ((1u32 << (a[i] & 31)) - 1) << (b[i] & 31)),
        Op::V_BFREV_B32 => each!(out, |i| a[i].reverse_bits()),
        Op::V_FFBH_U32 => each!(out, |i| if a[i] == 0 {
            u32::MAX
        } else {
            a[i].leading_zeros()
        }),
        Op::V_FFBL_B32 => each!(out, |i| if a[i] == 0 {
            u32::MAX
        } else {
            a[i].trailing_zeros()
        }),
        Op::V_FFBH_I32 => each!(out, |i| {
            let folded = a[i] ^ (a[i] as i32 >> 31) as u32;
            if folded == 0 {
                u32::MAX
            } else {
                folded.leading_zeros()
            }
        }),
        Op::V_BCNT_U32_B32 => each!(out, |i| a[i].count_ones().wrapping_add(b[i])),
        Op::V_MBCNT_LO_U32_B32 => each!(out, |i| {
            let below = if i < 32 { (1u32 << i) - 1 } else { u32::MAX };
            (a[i] & below).count_ones().wrapping_add(b[i])
        }),
        Op::V_MBCNT_HI_U32_B32 => each!(out, |i| {
            let below = if i < 32 { 0 } else { (1u32 << (i - 32)) - 1 };
            (a[i] & below).count_ones().wrapping_add(b[i])
        }),
        Op::V_ALIGNBIT_B32 => each!(out, |i| {
            ((u64::from(a[i]) << 32 | u64::from(b[i])) >> (c[i] & 31)) as u32
        }),
        Op::V_ALIGNBYTE_B32 => each!(out, |i| {
            ((u64::from(a[i]) << 32 | u64::from(b[i])) >> (8 * (c[i] & 3))) as u32
        }),
        Op::V_PRNG_B32 => each!(out, |i| a[i] << 1 ^ if a[i] >> 31 != 0 { 197 } else { 0 }),
        _ => false,
    }
}

/// The bytes of two words as `v_perm_b32` picks them.
fn perm(high: u32, low: u32, selector: u32) -> u32 {
    let bytes = u64::from(high) << 32 | u64::from(low);
    let pick = |select: u32| match select {
        0..=7 => (bytes >> (8 * select)) as u32 & 255,
        8..=11 => {
            let sign = bytes >> (15 + 16 * (select - 8)) & 1;
            255 * sign as u32
        }
        12 => 0,
        _ => 255,
    };
    (0..4).fold(0, |out, at| {
        out | pick(selector >> (8 * at) & 255) << (8 * at)
    })
}

/// `v_perm_b32`. Mostly all lanes pick the same, and whole bytes.
#[inline(always)]
fn permute(high: &Lanes, low: &Lanes, selector: &Lanes, out: &mut Lanes) -> bool {
    let select = selector[0];
    let other = selector
        .iter()
        .fold(0, |other, lane| other | (lane ^ select));
    if other != 0 || select & 0xf8f8_f8f8 != 0 {
        return each!(out, |i| perm(high[i], low[i], selector[i]));
    }
    out.fill(0);
    for at in 0..4 {
        let byte = select >> (8 * at) & 7;
        let from = if byte < 4 { low } else { high };
        let down = 8 * (byte & 3);
        for lane in 0..64 {
            out[lane] |= (from[lane] >> down & 255) << (8 * at);
        }
    }
    true
}

/// Differences where the byte of `b` is not zero.
pub(super) fn masked_sum(a: u32, b: u32) -> u32 {
    let byte = |x: u32, at: u32| x >> (8 * at) & 255;
    let counts = |at: &u32| byte(b, *at) != 0;
    (0..4)
        .filter(counts)
        .map(|at| byte(a, at).abs_diff(byte(b, at)))
        .sum()
}

/// The faces of a cube that three coordinates point to, and where on them.
fn cube(op: Op, x: u32, y: u32, z: u32) -> Option<u32> {
    let size = |bits: u32| f(bits).abs();
    let below = |bits: u32| f(bits) < 0.0;
    let minus = |bits: u32| bits ^ 0x8000_0000;
    let pick = |bits: u32, negative: u32, other: u32| if below(bits) { negative } else { other };
    // Along z, along y, along x.
    let along = if size(z) >= size(x) && size(z) >= size(y) {
        2
    } else {
        usize::from(size(y) >= size(x))
    };
    let face = |number: u32| (number as f32).to_bits();
    Some(match op {
        Op::V_CUBEID_F32 => {
            let number = [pick(x, 1, 0), pick(y, 3, 2), pick(z, 5, 4)][along];
            face(number)
        }
        Op::V_CUBESC_F32 => [pick(x, z, minus(z)), x, pick(z, minus(x), x)][along],
        Op::V_CUBETC_F32 => [minus(y), pick(y, minus(z), z), minus(y)][along],
        Op::V_CUBEMA_F32 => mul32([x, y, z][along], 2f32.to_bits()),
        _ => return None,
    })
}

pub(super) fn byte_sum(a: u32, b: u32) -> u32 {
    let byte = |x: u32, at: u32| x >> (8 * at) & 255;
    (0..4).map(|at| byte(a, at).abs_diff(byte(b, at))).sum()
}

fn packed_bytes(op: Op, a: &Lanes, b: &Lanes, c: &Lanes, out: &mut Lanes) -> bool {
    let signed = |x: u32, at: u32| i32::from((x >> (8 * at)) as i8);
    let half = |x: u32, at: u32| x >> (16 * at) & 0xffff;
    match op {
        Op::V_LERP_U8 => each!(out, |i| {
            let byte = |x: u32, at: u32| x >> (8 * at) & 255;
            let mean = |at| (byte(a[i], at) + byte(b[i], at) + (c[i] >> (8 * at) & 1)) >> 1;
            (0..4).fold(0, |all, at| all | mean(at) << (8 * at))
        }),
        Op::V_MSAD_U8 => each!(out, |i| masked_sum(a[i], b[i]).wrapping_add(c[i])),
        Op::V_SAD_U8 => each!(out, |i| byte_sum(a[i], b[i]).wrapping_add(c[i])),
        Op::V_SAD_HI_U8 => each!(out, |i| (byte_sum(a[i], b[i]) << 16).wrapping_add(c[i])),
        Op::V_SAD_U16 => each!(out, |i| {
            let sum = |at| half(a[i], at).abs_diff(half(b[i], at));
            sum(0).wrapping_add(sum(1)).wrapping_add(c[i])
        }),
        Op::V_DOT4_I32_I8 | Op::V_DOT4C_I32_I8 => each!(out, |i| {
            let dot: i32 = (0..4).map(|at| signed(a[i], at) * signed(b[i], at)).sum();
            (dot as u32).wrapping_add(c[i])
        }),
        Op::V_DOT4_U32_U8 => each!(out, |i| {
            let dot: u32 = (0..4)
                .map(|at| (a[i] >> (8 * at) & 255) * (b[i] >> (8 * at) & 255))
                .sum();
            dot.wrapping_add(c[i])
        }),
        Op::V_DOT8_I32_I4 | Op::V_DOT8C_I32_I4 => each!(out, |i| {
            let dot: i32 = (0..8)
                .map(|at| sext4(a[i] >> (4 * at)) * sext4(b[i] >> (4 * at)))
                .sum();
            (dot as u32).wrapping_add(c[i])
        }),
        Op::V_DOT8_U32_U4 => each!(out, |i| {
            let dot: u32 = (0..8)
                .map(|at| (a[i] >> (4 * at) & 15) * (b[i] >> (4 * at) & 15))
                .sum();
            dot.wrapping_add(c[i])
        }),
        Op::V_DOT2_I32_I16 | Op::V_DOT2C_I32_I16 => each!(out, |i| {
            let product = |at| {
                i32::from(half(a[i], at) as i16).wrapping_mul(i32::from(half(b[i], at) as i16))
            };
            (product(0).wrapping_add(product(1)) as u32).wrapping_add(c[i])
        }),
        Op::V_DOT2_U32_U16 => each!(out, |i| {
            let product = |at| half(a[i], at).wrapping_mul(half(b[i], at));
            product(0).wrapping_add(product(1)).wrapping_add(c[i])
        }),
        Op::V_SAT_PK_U8_I16 => each!(out, |i| {
            let clamp = |at| i32::from(half(a[i], at) as i16).clamp(0, 255) as u32;
            clamp(0) | clamp(1) << 8
        }),
        _ => false,
    }
}

fn cubes(op: Op, a: &Lanes, b: &Lanes, c: &Lanes, out: &mut Lanes) -> bool {
    for i in 0..64 {
        let Some(value) = cube(op, a[i], b[i], c[i]) else {
            return false;
        };
        out[i] = value;
    }
    true
}

#[inline(always)]
fn convert(op: Op, m: &Modes, a: &Lanes, b: &Lanes, out: &mut Lanes) -> bool {
    let round16 = m.round16_64;
    match op {
        Op::V_CVT_F32_I32 => each!(out, |i| (a[i] as i32 as f32).to_bits()),
        Op::V_CVT_F32_U32 => each!(out, |i| (a[i] as f32).to_bits()),
        Op::V_CVT_U32_F32 => each!(out, |i| f(a[i]) as u32),
        Op::V_CVT_I32_F32 => each!(out, |i| f(a[i]) as i32 as u32),
        Op::V_CVT_RPI_I32_F32 => each!(out, |i| (f64::from(f(a[i])) + 0.5).floor() as i32 as u32),
        Op::V_CVT_FLR_I32_F32 => each!(out, |i| f(a[i]).floor() as i32 as u32),
        Op::V_CVT_OFF_F32_I4 => each!(out, |i| (sext4(a[i]) as f32 / 16.0).to_bits()),
        Op::V_CVT_F32_UBYTE0 => each!(out, |i| ((a[i] & 255) as f32).to_bits()),
        Op::V_CVT_F32_UBYTE1 => each!(out, |i| ((a[i] >> 8 & 255) as f32).to_bits()),
        Op::V_CVT_F32_UBYTE2 => each!(out, |i| ((a[i] >> 16 & 255) as f32).to_bits()),
        Op::V_CVT_F32_UBYTE3 => each!(out, |i| ((a[i] >> 24) as f32).to_bits()),
        Op::V_CVT_F32_F16 => each!(out, |i| from_f16(a[i]).to_bits()),
        Op::V_CVT_F32_BF16 => each!(out, |i| unary32(a[i] << 16, |x| x)),
        Op::V_CVT_PK_BF16_F32 => each!(out, |i| to_bf16(a[i]) | to_bf16(b[i]) << 16),
        Op::V_CVT_PK_F16_F32 => each!(out, |i| {
            let one = |x| super::half::narrow(x, round16);
            one(a[i]) | one(b[i]) << 16
        }),
        Op::V_CVT_PKRTZ_F16_F32 => each!(out, |i| {
            let one = |x| super::half::narrow(x, Round::Zero);
            one(a[i]) | one(b[i]) << 16
        }),
        Op::V_CVT_PKNORM_I16_F32 => each!(out, |i| {
            norm16(f64::from(f(a[i])), true) | norm16(f64::from(f(b[i])), true) << 16
        }),
        Op::V_CVT_PKNORM_U16_F32 => each!(out, |i| {
            norm16(f64::from(f(a[i])), false) | norm16(f64::from(f(b[i])), false) << 16
        }),
        Op::V_CVT_PKNORM_I16_F16 => each!(out, |i| {
            let one = |x| norm16(f64::from(from_f16(x)), true);
            one(a[i]) | one(b[i]) << 16
        }),
        Op::V_CVT_PKNORM_U16_F16 => each!(out, |i| {
            let one = |x| norm16(f64::from(from_f16(x)), false);
            one(a[i]) | one(b[i]) << 16
        }),
        Op::V_CVT_PK_U16_U32 => each!(out, |i| a[i].min(0xffff) | b[i].min(0xffff) << 16),
        Op::V_CVT_PK_I16_I32 => each!(out, |i| {
            let one = |x: u32| (x as i32).clamp(-32768, 32767) as u32 & 0xffff;
            one(a[i]) | one(b[i]) << 16
        }),
        Op::V_PACK_B32_F16 => each!(out, |i| a[i] & 0xffff | b[i] << 16),
        _ => false,
    }
}
