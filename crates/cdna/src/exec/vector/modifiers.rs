//! What modifiers do to sources and results.

use cairn_codeobj::isa::{Op, Sdwa};

use crate::float::{flush64, is_nan32, is_nan64};
use crate::wave::Lanes;

/// Absolute value, then negation.
#[inline(always)]
pub(super) const fn signs(x: u32, sign: u32, abs: bool, neg: bool) -> u32 {
    let x = if abs { x & !sign } else { x };
    if neg { x ^ sign } else { x }
}

pub(super) fn flush_pair(pair: &mut [Lanes; 2]) {
    for lane in 0..64 {
        let value = u64::from(pair[0][lane]) | u64::from(pair[1][lane]) << 32;
        let value = flush64(value);
        pair[0][lane] = value as u32;
        pair[1][lane] = (value >> 32) as u32;
    }
}

pub(super) fn clamp32(x: u32, dx10: bool) -> u32 {
    if is_nan32(x) {
        return if dx10 { 0 } else { x };
    }
    let x = f32::from_bits(x);
    if x > 0.0 { x.min(1.0).to_bits() } else { 0 }
}

pub(super) fn clamp16(x: u32, dx10: bool) -> u32 {
    if x & 0x7fff > 0x7c00 {
        return if dx10 { 0 } else { x };
    }
    if x & 0x8000 != 0 { 0 } else { x.min(0x3c00) }
}

pub(super) fn clamp_pair(pair: &mut [Lanes; 2], dx10: bool) {
    for lane in 0..64 {
        let bits = u64::from(pair[0][lane]) | u64::from(pair[1][lane]) << 32;
        let value = f64::from_bits(bits);
        let clamped = if is_nan64(bits) {
            if dx10 { 0 } else { bits }
        } else if value > 0.0 {
            value.min(1.0).to_bits()
        } else {
            0
        };
        pair[0][lane] = clamped as u32;
        pair[1][lane] = (clamped >> 32) as u32;
    }
}

/// A sum or difference that saturates.
pub(super) fn saturate(op: Op, a: u32, b: u32, wrapped: u32) -> u32 {
    let (i, j) = (a as i32, b as i32);
    let (h, g) = (a as i16, b as i16);
    match op {
        Op::V_ADD_U32 => a.saturating_add(b),
        Op::V_SUB_U32 => a.saturating_sub(b),
        Op::V_SUBREV_U32 => b.saturating_sub(a),
        Op::V_ADD_I32 => i.saturating_add(j) as u32,
        Op::V_SUB_I32 => i.saturating_sub(j) as u32,
        Op::V_ADD_U16 => (a as u16).saturating_add(b as u16).into(),
        Op::V_SUB_U16 => (a as u16).saturating_sub(b as u16).into(),
        Op::V_SUBREV_U16 => (b as u16).saturating_sub(a as u16).into(),
        Op::V_ADD_I16 => u32::from(h.saturating_add(g) as u16),
        Op::V_SUB_I16 => u32::from(h.saturating_sub(g) as u16),
        _ => wrapped,
    }
}

/// The part of a source that SDWA names.
pub(super) fn select_part(lanes: &mut Lanes, sdwa: Sdwa, at: usize) {
    let (shift, bits) = match sdwa.src_sel[at] {
        byte @ 0..=3 => (8 * u32::from(byte), 8),
        4 => (0, 16),
        5 => (16, 16),
        _ => return,
    };
    let signed = sdwa.sext[at];
    for_lanes(lanes, |x| {
        let part = x >> shift << (32 - bits);
        if signed {
            (part as i32 >> (32 - bits)) as u32
        } else {
            part >> (32 - bits)
        }
    });
}

/// Puts a result into the part that SDWA names.
pub(super) fn insert_part(old: u32, new: u32, sdwa: Sdwa) -> u32 {
    let (shift, bits) = match sdwa.dst_sel {
        byte @ 0..=3 => (8 * u32::from(byte), 8),
        4 => (0, 16),
        5 => (16, 16),
        _ => return new,
    };
    let mask = ((1u32 << bits) - 1) << shift;
    let part = new << shift & mask;
    match sdwa.dst_unused {
        2 => old & !mask | part,
        1 => {
            let extended = ((new << (32 - bits)) as i32 >> (32 - bits)) as u32;
            extended << shift
        }
        _ => part,
    }
}

pub(super) fn for_lanes(lanes: &mut Lanes, f: impl Fn(u32) -> u32) {
    for lane in lanes {
        *lane = f(*lane);
    }
}

/// An integer dot product that stops at the ends of its range.
pub(super) fn saturated_dot(a: u32, b: u32, c: u32, bits: u32, signed: bool) -> u32 {
    let element = |x: u32, at: u32| {
        let top = x << (32 - bits - bits * at);
        if signed {
            i64::from(top as i32 >> (32 - bits))
        } else {
            i64::from(top >> (32 - bits))
        }
    };
    let start = if signed {
        i64::from(c as i32)
    } else {
        i64::from(c)
    };
    let dot: i64 = (0..32 / bits)
        .map(|at| element(a, at) * element(b, at))
        .sum();
    if signed {
        (start + dot).clamp(i32::MIN.into(), i32::MAX.into()) as u32
    } else {
        (start + dot).min(u32::MAX.into()) as u32
    }
}
