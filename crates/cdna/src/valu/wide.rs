//! Operations with operands or results of 64 bits.

use cairn_codeobj::isa::Op;

use super::single::{byte_sum, masked_sum};
use super::{Modes, Pair};
use crate::float::{
    Round, add64, div_fixup64, fma64, frexp_exp64, frexp_mant64, ldexp64, max64, min64, mul64,
    round_to_f32, unary32, unary64,
};
use crate::wave::Lanes;

#[inline(always)]
fn at(pair: Pair<'_>, lane: usize) -> u64 {
    u64::from(pair[0][lane]) | u64::from(pair[1][lane]) << 32
}

macro_rules! each {
    ($out:ident, |$lane:ident| $value:expr) => {{
        for $lane in 0..64 {
            let value: u64 = $value;
            $out[0][$lane] = value as u32;
            $out[1][$lane] = (value >> 32) as u32;
        }
        true
    }};
}

fn f(x: u64) -> f64 {
    f64::from_bits(x)
}

/// Does `op` if it is one of these. Operations on f64 round to nearest; other
/// modes are refused by the caller.
#[inline(always)]
pub(super) fn run(
    op: Op,
    m: &Modes,
    a: Pair<'_>,
    b: Pair<'_>,
    c: Pair<'_>,
    out: &mut [Lanes; 2],
) -> bool {
    integer(op, a, b, c, out) || float(op, m, a, b, c, out) || convert(op, m, a, out)
}

#[inline(always)]
fn integer(op: Op, a: Pair<'_>, b: Pair<'_>, c: Pair<'_>, out: &mut [Lanes; 2]) -> bool {
    match op {
        Op::V_MOV_B64 => each!(out, |i| at(a, i)),
        Op::V_LSHLREV_B64 => each!(out, |i| at(b, i) << (a[0][i] & 63)),
        Op::V_LSHRREV_B64 => each!(out, |i| at(b, i) >> (a[0][i] & 63)),
        Op::V_ASHRREV_I64 => each!(out, |i| (at(b, i) as i64 >> (a[0][i] & 63)) as u64),
        Op::V_LSHL_ADD_U64 => each!(out, |i| {
            // Shifts of more than 4 are not defined.
            (at(a, i) << (b[0][i] & 7)).wrapping_add(at(c, i))
        }),
        Op::V_QSAD_PK_U16_U8 | Op::V_MQSAD_PK_U16_U8 => each!(out, |i| {
            let sum = if op == Op::V_QSAD_PK_U16_U8 {
                byte_sum
            } else {
                masked_sum
            };
            (0..4).fold(0, |all, part| {
                let bytes = (at(a, i) >> (8 * part)) as u32;
                let start = at(c, i) >> (16 * part);
                let total = start.wrapping_add(sum(bytes, b[0][i]).into()) & 0xffff;
                all | total << (16 * part)
            })
        }),
        _ => false,
    }
}

#[inline(always)]
fn float(op: Op, m: &Modes, a: Pair<'_>, b: Pair<'_>, c: Pair<'_>, out: &mut [Lanes; 2]) -> bool {
    let ieee = m.ieee;
    match op {
        Op::V_ADD_F64 => each!(out, |i| add64(at(a, i), at(b, i))),
        Op::V_MUL_F64 => each!(out, |i| mul64(at(a, i), at(b, i))),
        Op::V_FMA_F64 | Op::V_FMAC_F64 => each!(out, |i| fma64(at(a, i), at(b, i), at(c, i))),
        Op::V_MIN_F64 => each!(out, |i| min64(at(a, i), at(b, i), ieee)),
        Op::V_MAX_F64 => each!(out, |i| max64(at(a, i), at(b, i), ieee)),
        Op::V_TRUNC_F64 => each!(out, |i| unary64(at(a, i), f64::trunc)),
        Op::V_CEIL_F64 => each!(out, |i| unary64(at(a, i), f64::ceil)),
        Op::V_FLOOR_F64 => each!(out, |i| unary64(at(a, i), f64::floor)),
        Op::V_RNDNE_F64 => each!(out, |i| unary64(at(a, i), f64::round_ties_even)),
        Op::V_FRACT_F64 => each!(out, |i| unary64(at(a, i), |x| {
            (x - x.floor()).min(f64::from_bits(0x3fef_ffff_ffff_ffff))
        })),
        Op::V_RCP_F64 => each!(out, |i| unary64(at(a, i), |x| 1.0 / x)),
        Op::V_RSQ_F64 => each!(out, |i| unary64(at(a, i), |x| 1.0 / x.sqrt())),
        Op::V_SQRT_F64 => each!(out, |i| unary64(at(a, i), f64::sqrt)),
        Op::V_LDEXP_F64 => each!(out, |i| ldexp64(at(a, i), b[0][i] as i32)),
        Op::V_FREXP_MANT_F64 => each!(out, |i| frexp_mant64(at(a, i))),
        Op::V_DIV_FIXUP_F64 => each!(out, |i| div_fixup64(at(a, i), at(b, i), at(c, i))),
        _ => false,
    }
}

#[inline(always)]
fn convert(op: Op, m: &Modes, a: Pair<'_>, out: &mut [Lanes; 2]) -> bool {
    match op {
        Op::V_CVT_F64_I32 => each!(out, |i| f64::from(a[0][i] as i32).to_bits()),
        Op::V_CVT_F64_U32 => each!(out, |i| f64::from(a[0][i]).to_bits()),
        Op::V_CVT_F64_F32 => each!(out, |i| widen(a[0][i])),
        Op::V_CVT_I32_F64 => each!(out, |i| u64::from(f(at(a, i)) as i32 as u32)),
        Op::V_CVT_U32_F64 => each!(out, |i| u64::from(f(at(a, i)) as u32)),
        Op::V_CVT_F32_F64 => each!(out, |i| u64::from(narrow(at(a, i), m.round32))),
        Op::V_FREXP_EXP_I32_F64 => each!(out, |i| u64::from(frexp_exp64(at(a, i)))),
        _ => false,
    }
}

fn widen(x: u32) -> u64 {
    let quiet = unary32(x, |x| x);
    if crate::float::is_nan32(x) {
        let sign = u64::from(quiet >> 31) << 63;
        return sign | 0x7ff0_0000_0000_0000 | u64::from(quiet & 0x007f_ffff) << 29;
    }
    f64::from(f32::from_bits(x)).to_bits()
}

fn narrow(x: u64, round: Round) -> u32 {
    if crate::float::is_nan64(x) {
        return (x >> 32) as u32 & 0x8000_0000 | 0x7fc0_0000 | (x >> 29) as u32 & 0x003f_ffff;
    }
    round_to_f32(f64::from_bits(x), round).to_bits()
}
