//! Comparisons: a bit a lane. The opcode holds type and relation.

use super::Pair;
use crate::float::{class16, class32, class64, from_f16};

#[inline(always)]
fn wide(pair: Pair<'_>, lane: usize) -> u64 {
    u64::from(pair[0][lane]) | u64::from(pair[1][lane]) << 32
}

#[inline(always)]
fn collect(test: impl Fn(usize) -> bool) -> u64 {
    let mut halves = [0u32; 2];
    for (half, bits) in halves.iter_mut().enumerate() {
        for lane in 0..32 {
            *bits |= u32::from(test(32 * half + lane)) << lane;
        }
    }
    u64::from(halves[0]) | u64::from(halves[1]) << 32
}

macro_rules! floats {
    ($relation:expr, $value:expr, $a:expr, $b:expr) => {{
        // Bits of the relation: less 1, equal 2, greater 4, unordered 8.
        let relation = $relation;
        let value = $value;
        collect(|lane| {
            let (x, y) = (value($a, lane), value($b, lane));
            let met = u8::from(x < y)
                | u8::from(x == y) << 1
                | u8::from(x > y) << 2
                | u8::from(x.is_nan() || y.is_nan()) << 3;
            relation & met != 0
        })
    }};
}

macro_rules! ints {
    ($relation:expr, $value:expr, $a:expr, $b:expr) => {{
        let relation = $relation & 7;
        let value = $value;
        collect(|lane| {
            let (x, y) = (value($a, lane), value($b, lane));
            let met = u8::from(x < y) | u8::from(x == y) << 1 | u8::from(x > y) << 2;
            relation & met != 0
        })
    }};
}

/// The lanes for which the relation `code` names holds.
#[inline(always)]
pub(super) fn run(code: u8, a: Pair<'_>, b: Pair<'_>) -> u64 {
    let relation = code & 15;
    match code {
        0x10 | 0x11 => collect(|i| class32(a[0][i]) & b[0][i] != 0),
        0x12 | 0x13 => collect(|i| class64(wide(a, i)) & b[0][i] != 0),
        0x14 | 0x15 => collect(|i| class16(a[0][i]) & b[0][i] != 0),
        0x20..=0x3f => floats!(relation, |p: Pair<'_>, i: usize| from_f16(p[0][i]), a, b),
        0x40..=0x5f => floats!(
            relation,
            |p: Pair<'_>, i: usize| f32::from_bits(p[0][i]),
            a,
            b
        ),
        0x60..=0x7f => floats!(
            relation,
            |p: Pair<'_>, i: usize| f64::from_bits(wide(p, i)),
            a,
            b
        ),
        _ => match (code >> 5, code & 8) {
            (5, 0) => ints!(relation, |p: Pair<'_>, i: usize| p[0][i] as i16, a, b),
            (5, _) => ints!(relation, |p: Pair<'_>, i: usize| p[0][i] as u16, a, b),
            (6, 0) => ints!(relation, |p: Pair<'_>, i: usize| p[0][i] as i32, a, b),
            (6, _) => ints!(relation, |p: Pair<'_>, i: usize| p[0][i], a, b),
            (_, 0) => ints!(relation, |p: Pair<'_>, i: usize| wide(p, i) as i64, a, b),
            _ => ints!(relation, wide, a, b),
        },
    }
}
