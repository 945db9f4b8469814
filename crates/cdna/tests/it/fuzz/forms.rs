//! Instructions in forms of their own: DPP, SDWA and packed halves. Lanes,
//! parts and halves are chosen here, one lane at a time.

use cairn_codeobj::isa::{Family, Info, Kind, OPERATIONS, Op, Operand};

use super::{Random, State};
use crate::oracle::{self, F16, F32};

fn float(kind: Kind) -> bool {
    matches!(kind, Kind::F32 | Kind::F16)
}

/// Whether DPP and SDWA can be put on it: registers of 32 bits, no masks.
pub(super) fn takes_forms(info: &Info) -> bool {
    let narrow =
        |kind: Option<Kind>| kind.is_some_and(|kind| kind.dwords() == 1 && kind != Kind::Mask);
    matches!(info.family, Family::Vop1 | Family::Vop2)
        && narrow(info.sig.result(0))
        && info.sig.result(1).is_none()
        && (0..info.sig.sources()).all(|at| narrow(info.sig.source(at)))
}

/// The first word of a VOP1 or VOP2 whose first source is in the next word.
fn short(info: &Info, to: usize, second: usize, form: u32) -> u32 {
    let (to, second) = (to as u32, second as u32);
    if info.family == Family::Vop1 {
        0b11_1111 << 25 | to << 17 | u32::from(info.code) << 9 | form
    } else {
        u32::from(info.code) << 25 | to << 17 | second << 9 | form
    }
}

/// The lane that a control reads; `None` beyond the end of its row or wave.
fn dpp_source(control: u32, lane: usize) -> Option<usize> {
    let (row, at) = (lane / 16 * 16, lane % 16);
    let count = (control & 15) as usize;
    match control {
        0..=0xff => Some(lane / 4 * 4 + (control >> (2 * (lane % 4)) & 3) as usize),
        0x101..=0x10f => (at + count < 16).then(|| lane + count),
        0x111..=0x11f => (at >= count).then(|| lane - count),
        0x121..=0x12f => Some(row + (at + 16 - count) % 16),
        0x130 => (lane < 63).then_some(lane + 1),
        0x134 => Some((lane + 1) % 64),
        0x138 => lane.checked_sub(1),
        0x13c => Some((lane + 63) % 64),
        0x140 => Some(row + 15 - at),
        0x141 => Some(lane / 8 * 8 + 7 - lane % 8),
        _ => Some(row + count),
    }
}

const CONTROLS: [u32; 12] = [
    0x1b, 0xe4, 0x101, 0x111, 0x121, 0x130, 0x134, 0x138, 0x13c, 0x140, 0x141, 0x150,
];

pub(super) fn dpp(random: &mut Random, info: &Info, state: &mut State) -> Vec<u32> {
    let control = match CONTROLS[random.below(12) as usize] {
        0x1b => random.below(256) as u32,
        shift @ (0x101 | 0x111 | 0x121) => shift + random.below(15) as u32,
        0x150 => 0x150 + random.below(16) as u32,
        other => other,
    };
    let (row_mask, bank_mask) = match random.below(3) {
        0 => (random.below(16) as u32, random.below(16) as u32),
        _ => (15, 15),
    };
    let zeroes = random.below(2) == 1;
    let [first, second, to] = [0; 3].map(|_| 1 + random.below(16) as usize);
    let kinds = [0, 1].map(|at| info.sig.source(at).unwrap_or(Kind::B32));
    let (mut abs, mut neg) = ([false; 2], [false; 2]);
    for at in 0..info.sig.sources().min(2) {
        if kinds[at] == Kind::F32 {
            (abs[at], neg[at]) = (random.below(4) == 0, random.below(4) == 0);
        }
    }
    let before = state.clone();
    for lane in 0..64 {
        let (row, bank) = (lane / 16, lane / 4 % 4);
        if row_mask >> row & 1 == 0 || bank_mask >> bank & 1 == 0 || before.exec >> lane & 1 == 0 {
            continue;
        }
        let source = dpp_source(control, lane).filter(|from| before.exec >> from & 1 == 1);
        let moved = match source {
            Some(from) => before.v[first][from],
            None if zeroes => 0,
            None => continue,
        };
        let change = |bits: u32, at: usize| {
            let bits = if abs[at] { bits & 0x7fff_ffff } else { bits };
            u64::from(if neg[at] { bits ^ 0x8000_0000 } else { bits })
        };
        let (a, b) = (change(moved, 0), change(before.v[second][lane], 1));
        let c = before.v[to][lane].into();
        let (value, _) = oracle::lane(info.op, a, b, c, false, lane as u32).unwrap();
        state.v[to][lane] = value as u32;
    }
    let bit = |on: bool, at: u32| u32::from(on) << at;
    let word = first as u32
        | control << 8
        | bit(zeroes, 19)
        | bit(neg[0], 20)
        | bit(abs[0], 21)
        | bit(neg[1], 22)
        | bit(abs[1], 23)
        | bank_mask << 24
        | row_mask << 28;
    vec![short(info, to, second, 0xfa), word]
}

/// A byte, a half or all of a register.
fn part(bits: u32, select: u32, extends: bool) -> u32 {
    let (bits, width) = match select {
        0..=3 => (bits >> (8 * select) & 0xff, 8),
        4 | 5 => (bits >> (16 * (select - 4)) & 0xffff, 16),
        _ => return bits,
    };
    if extends && bits >> (width - 1) & 1 == 1 {
        bits | u32::MAX << width
    } else {
        bits
    }
}

pub(super) fn sdwa(random: &mut Random, info: &Info, state: &mut State) -> Vec<u32> {
    let [first, second, to] = [0; 3].map(|_| 1 + random.below(16) as usize);
    let select = [0; 2].map(|_| random.below(7) as u32);
    let (to_select, unused) = (random.below(7) as u32, random.below(3) as u32);
    let kinds = [0, 1].map(|at| info.sig.source(at).unwrap_or(Kind::B32));
    let (mut extends, mut abs, mut neg) = ([false; 2], [false; 2], [false; 2]);
    for at in 0..info.sig.sources() {
        if float(kinds[at]) {
            (abs[at], neg[at]) = (random.below(4) == 0, random.below(4) == 0);
        } else {
            extends[at] = random.below(2) == 0;
        }
    }
    let before = state.clone();
    for lane in (0..64).filter(|lane| before.exec >> lane & 1 == 1) {
        let given = |register: usize, at: usize| {
            let sign = if kinds[at] == Kind::F16 {
                0x8000
            } else {
                0x8000_0000
            };
            let bits = part(before.v[register][lane], select[at], extends[at]);
            let bits = if abs[at] { bits & !sign } else { bits };
            u64::from(if neg[at] { bits ^ sign } else { bits })
        };
        let (a, b) = (given(first, 0), given(second, 1));
        let (value, _) = oracle::lane(info.op, a, b, 0, false, lane as u32).unwrap();
        let (value, old) = (value as u32, before.v[to][lane]);
        let (shift, width) = match to_select {
            0..=3 => (8 * to_select, 8),
            4 | 5 => (16 * (to_select - 4), 16),
            _ => {
                state.v[to][lane] = value;
                continue;
            }
        };
        let mask = ((1u32 << width) - 1) << shift;
        let placed = value << shift & mask;
        let above = u64::from(u32::MAX) << (shift + width);
        state.v[to][lane] = placed
            | match unused {
                0 => 0,
                1 if value >> (width - 1) & 1 == 1 => above as u32,
                1 => 0,
                _ => old & !mask,
            };
    }
    let bit = |on: bool, at: u32| u32::from(on) << at;
    let word = first as u32
        | to_select << 8
        | unused << 11
        | select[0] << 16
        | bit(extends[0], 19)
        | bit(neg[0], 20)
        | bit(abs[0], 21)
        | select[1] << 24
        | bit(extends[1], 27)
        | bit(neg[1], 28)
        | bit(abs[1], 29);
    vec![short(info, to, second, 0xf9), word]
}

/// Packed operations: what they do to a half, and whether halves are floats.
/// Registers of 32 bits are halves of a pair.
fn packed_half(op: Op, a: u64, b: u64, c: u64) -> Option<u64> {
    let (i, j) = (i64::from(a as i16), i64::from(b as i16));
    let (u, v, w) = (a as i64 & 0xffff, b as i64 & 0xffff, c as i64 & 0xffff);
    let half = |value: i64| Some(value as u64 & 0xffff);
    match op {
        Op::V_PK_MAD_I16 | Op::V_PK_MAD_U16 => half(u * v + w),
        Op::V_PK_MUL_LO_U16 => half(u * v),
        Op::V_PK_ADD_I16 | Op::V_PK_ADD_U16 => half(u + v),
        Op::V_PK_SUB_I16 | Op::V_PK_SUB_U16 => half(u - v),
        Op::V_PK_LSHLREV_B16 => half(v << (u & 15)),
        Op::V_PK_LSHRREV_B16 => half(v >> (u & 15)),
        Op::V_PK_ASHRREV_I16 => half(j >> (u & 15)),
        Op::V_PK_MAX_I16 => half(i.max(j)),
        Op::V_PK_MIN_I16 => half(i.min(j)),
        Op::V_PK_MAX_U16 => half(u.max(v)),
        Op::V_PK_MIN_U16 => half(u.min(v)),
        Op::V_PK_FMA_F16 => Some(F16.fma(a, b, c)),
        Op::V_PK_ADD_F16 => Some(F16.add(a, b)),
        Op::V_PK_MUL_F16 => Some(F16.mul(a, b)),
        Op::V_PK_MIN_F16 => Some(F16.extreme(a, b, false)),
        Op::V_PK_MAX_F16 => Some(F16.extreme(a, b, true)),
        Op::V_PK_FMA_F32 => Some(F32.fma(a, b, c)),
        Op::V_PK_MUL_F32 => Some(F32.mul(a, b)),
        Op::V_PK_ADD_F32 => Some(F32.add(a, b)),
        _ => None,
    }
}

pub(super) fn packed_operations() -> Vec<&'static Info> {
    let known = |info: &&Info| packed_half(info.op, 0, 0, 0).is_some();
    OPERATIONS.iter().filter(known).collect()
}

pub(super) fn packed(random: &mut Random, info: &Info, state: &mut State) -> Vec<u32> {
    let pairs = info.upper.ends_with("F32");
    let count = info.sig.sources();
    let floats = pairs || info.upper.ends_with("F16");
    let register = |random: &mut Random| {
        if pairs {
            2 + 2 * random.below(7) as usize
        } else {
            1 + random.below(16) as usize
        }
    };
    let mut sources = [0; 3].map(|_| Operand::vgpr(register(random) as u16));
    if !pairs && random.below(4) == 0 {
        sources[0] = Operand(16 + random.below(16) as u16);
    }
    let to = register(random);
    // One bit a source: which half for the low and the high result, and signs.
    let mut bits = || random.below(1 << count) as u32;
    let (select, select_high) = (bits(), bits());
    let (neg, neg_high) = if floats { (bits(), bits()) } else { (0, 0) };
    let before = state.clone();
    for lane in (0..64).filter(|lane| before.exec >> lane & 1 == 1) {
        let half = |select: u32, neg: u32| {
            let mut given = [0u64; 3];
            for at in 0..count {
                let high = (select >> at & 1) as usize;
                given[at] = match sources[at].vector_index() {
                    Some(index) if pairs => before.v[index + high][lane].into(),
                    Some(index) => u64::from(before.v[index][lane] >> (16 * high) & 0xffff),
                    None => u64::from(before.s[usize::from(sources[at].0)] >> (16 * high) & 0xffff),
                };
                given[at] ^= u64::from(neg >> at & 1) << if pairs { 31 } else { 15 };
            }
            packed_half(info.op, given[0], given[1], given[2]).unwrap() as u32
        };
        let (low, high) = (half(select, neg), half(select_high, neg_high));
        if pairs {
            state.v[to][lane] = low;
            state.v[to + 1][lane] = high;
        } else {
            state.v[to][lane] = low | high << 16;
        }
    }
    let field = |at: usize| {
        if at < count {
            u32::from(sources[at].0) << (9 * at)
        } else {
            0
        }
    };
    let first = 0b1_1010_0111 << 23
        | u32::from(info.code) << 16
        | (select_high >> 2 & 1) << 14
        | select << 11
        | neg_high << 8
        | to as u32;
    let second = field(0) | field(1) | field(2) | (select_high & 3) << 27 | neg << 29;
    vec![first, second]
}
