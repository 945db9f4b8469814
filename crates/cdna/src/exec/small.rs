//! Formats of 8 bits and fewer, stochastic rounding, and operations whose
//! modifier fields mean something of their own.

use cairn_codeobj::isa::{Inst, Kind, Op};
use cairn_formats::{FloatFormat, Overflow, Rounding};

use super::Machine;
use crate::float::{Round, add32, from_f16, mul32, round_to_f16, round_to_f32, to_bf16};
use crate::program::Step;
use crate::valu::Conversion;
use crate::wave::{Lanes, Wave};

pub(super) fn is_supported(inst: &Inst) -> bool {
    let name = inst.info().upper;
    if inst.dpp.is_some() || inst.mods.clamp || inst.mods.omod != 0 && !bitop(inst.op) {
        return false;
    }
    if name.starts_with("V_CVT_SCALEF32") {
        return Scaled::of(inst, true).is_some() && inst.mods.abs == 0 && inst.mods.neg == 0;
    }
    match inst.op {
        Op::V_CVT_F32_FP8 | Op::V_CVT_F32_BF8 | Op::V_CVT_PK_F32_FP8 | Op::V_CVT_PK_F32_BF8 => {
            inst.mods.op_sel == 0 && inst.mods.abs == 0 && inst.mods.neg == 0
        }
        Op::V_BITOP3_B32 | Op::V_BITOP3_B16 => true,
        Op::V_CVT_PK_FP8_F32
        | Op::V_CVT_PK_BF8_F32
        | Op::V_CVT_SR_FP8_F32
        | Op::V_CVT_SR_BF8_F32
        | Op::V_CVT_SR_F16_F32
        | Op::V_CVT_SR_BF16_F32
        | Op::V_ASHR_PK_I8_I32
        | Op::V_ASHR_PK_U8_I32 => inst.sdwa.is_none(),
        Op::V_DOT2_F32_F16 | Op::V_DOT2C_F32_F16 | Op::V_DOT2_F32_BF16 | Op::V_DOT2C_F32_BF16 => {
            inst.mods.neg == 0
                && inst.mods.neg_hi == 0
                && inst.mods.op_sel == 0
                && inst.sdwa.is_none()
        }
        _ => false,
    }
}

const fn bitop(op: Op) -> bool {
    matches!(op, Op::V_BITOP3_B32 | Op::V_BITOP3_B16)
}

/// `v_prng_b32`: the next random word.
const fn next_random(word: u32) -> u32 {
    word << 1 ^ if word >> 31 != 0 { 197 } else { 0 }
}

/// The wide side of a conversion.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wide {
    F32,
    F16,
    Bf16,
}

impl Wide {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "F32" => Self::F32,
            "F16" => Self::F16,
            "BF16" => Self::Bf16,
            _ => return None,
        })
    }

    fn decode(self, bits: u32) -> f64 {
        match self {
            Self::F32 => f64::from(f32::from_bits(bits)),
            Self::F16 => f64::from(from_f16(bits & 0xffff)),
            Self::Bf16 => f64::from(f32::from_bits(bits << 16)),
        }
    }

    fn encode(self, value: f64) -> u32 {
        match self {
            Self::F32 => round_to_f32(value, Round::Nearest).to_bits(),
            Self::F16 => round_to_f16(value, Round::Nearest),
            // A small format times a power of two has few bits: the first
            // rounding is exact wherever the second one is not.
            Self::Bf16 => to_bf16((value as f32).to_bits()),
        }
    }

    const fn bits(self) -> usize {
        match self {
            Self::F32 => 32,
            _ => 16,
        }
    }
}

/// A scaled conversion, as its name tells.
struct Scaled {
    random: bool,
    count: usize,
    /// Two sources that alternate.
    interleaved: bool,
    shrinks: bool,
    small: FloatFormat,
    wide: Wide,
}

impl Scaled {
    fn of(inst: &Inst, ocp: bool) -> Option<Self> {
        let name = inst.info().upper.strip_prefix("V_CVT_SCALEF32_")?;
        let parts: Vec<_> = name.split('_').collect();
        let [how @ .., to, from] = parts.as_slice() else {
            return None;
        };
        let count = if how.contains(&"PK32") || how.contains(&"2XPK16") {
            32
        } else if how.contains(&"PK") {
            2
        } else {
            1
        };
        let shrinks = Wide::named(from).is_some();
        let (small, wide) = if shrinks { (to, from) } else { (from, to) };
        Some(Self {
            random: how.contains(&"SR"),
            count,
            interleaved: how.contains(&"2XPK16"),
            shrinks,
            small: Conversion::named(small, ocp)?.format,
            wide: Wide::named(wide)?,
        })
    }
}

/// Bits `at..at + count` of registers.
fn field(words: &[u32], at: usize, count: usize) -> u32 {
    let word = |index: usize| u64::from(words.get(index).copied().unwrap_or(0));
    let both = word(at / 32) | word(at / 32 + 1) << 32;
    (both >> (at % 32)) as u32 & ((1u64 << count) - 1) as u32
}

fn put(words: &mut [u32], at: usize, count: usize, value: u32) {
    for bit in 0..count {
        if let Some(word) = words.get_mut((at + bit) / 32) {
            let mask = 1 << ((at + bit) % 32);
            *word = if value >> bit & 1 != 0 {
                *word | mask
            } else {
                *word & !mask
            };
        }
    }
}

fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

impl Machine<'_> {
    pub(super) fn small(&mut self, wave: &mut Wave, step: &Step) {
        let inst = &step.inst;
        let sig = inst.info().sig;
        let mask = wave.exec();
        let Some(to) = inst.dst.vector_index() else {
            return;
        };
        let results = usize::from(sig.result(0).map_or(1, Kind::dwords));
        let sources = sig.sources();
        let mut defined = u64::MAX;
        let mut words: [Vec<Lanes>; 3] = Default::default();
        for at in 0..sources {
            let kind = inst.source_kind(at).unwrap_or(Kind::B32);
            for dword in 0..usize::from(kind.dwords()) {
                let mut lanes = [0; 64];
                wave.fetch(inst, inst.src[at], kind, dword, &mut lanes);
                words[at].push(lanes);
            }
            defined &= wave.defined(inst.src[at], kind.dwords());
        }
        let keeps = inst.info().reads_result;
        if keeps {
            defined &= partial(inst.op, wave.shadow.defined[to]);
        }
        let scaled = Scaled::of(inst, self.modes.ocp);
        for lane in super::vmem::lanes(mask) {
            let source = |at: usize| {
                words[at]
                    .iter()
                    .map(|lanes| lanes[lane])
                    .collect::<Vec<_>>()
            };
            let mut out: Vec<u32> = (0..results)
                .map(|at| if keeps { wave.v[to + at][lane] } else { 0 })
                .collect();
            let given = [source(0), source(1), source(2)];
            match &scaled {
                Some(scaled) => self.scaled(inst, scaled, &given, sources, &mut out),
                None => self.one(inst, &given, &mut out),
            }
            for (at, word) in out.into_iter().enumerate() {
                wave.v[to + at][lane] = word;
            }
        }
        for at in 0..results {
            wave.define(to + at, mask, defined);
        }
    }

    fn overflow(&self) -> Overflow {
        if self.modes.overflow_clamps {
            Overflow::Saturate
        } else {
            Overflow::NonSaturate
        }
    }

    fn scaled(
        &self,
        inst: &Inst,
        scaled: &Scaled,
        given: &[Vec<u32>; 3],
        sources: usize,
        out: &mut [u32],
    ) {
        let first = |at: usize| given[at].first().copied().unwrap_or(0);
        let exponent = (first(sources - 1) >> 23 & 255) as i32 - 127;
        let sel = usize::from(inst.mods.op_sel);
        let bits = scaled.small.bits() as usize;
        let step = if bits == 4 && scaled.count == 2 {
            4
        } else {
            bits
        };
        let mut random = first(1);
        // Where the small values are: a byte or word of a register, or a run.
        let narrow = |sel: usize| match (scaled.count, bits) {
            (32, _) => 0,
            (2, 8) => (sel & 1) * 16,
            _ => (sel & 3) * 8,
        };
        for at in 0..scaled.count {
            if scaled.shrinks {
                let wide = scaled.wide.bits();
                let high = scaled.count == 1 && wide == 16 && sel & 1 != 0;
                let value = if scaled.interleaved {
                    field(&given[at % 2], at / 2 * 32, 32)
                } else if scaled.count == 2 && given[0].len() == 1 && wide == 32 {
                    first(at)
                } else {
                    field(&given[0], at * wide + 16 * usize::from(high), wide)
                };
                let value = scaled.wide.decode(value) * power(-exponent);
                let rounding = if scaled.random {
                    Rounding::Stochastic(random)
                } else {
                    Rounding::NearestEven
                };
                let code = scaled.small.encode(value, rounding, self.overflow());
                random = next_random(random);
                let sel = if scaled.count == 2 && bits == 8 {
                    sel >> 3
                } else {
                    sel >> 2
                };
                put(out, narrow(sel) + at * step, bits, code);
            } else {
                let code = field(&given[0], narrow(sel) + at * step, bits);
                let value = scaled.small.decode(code) * power(exponent);
                let wide = scaled.wide.bits();
                let high = scaled.count == 1 && wide == 16 && sel & 8 != 0;
                put(
                    out,
                    at * wide + 16 * usize::from(high),
                    wide,
                    scaled.wide.encode(value),
                );
            }
        }
    }

    fn one(&self, inst: &Inst, given: &[Vec<u32>; 3], out: &mut [u32]) {
        let mods = &inst.mods;
        let raw = |at: usize| given[at].first().copied().unwrap_or(0);
        let float = |at: usize| {
            let x = raw(at);
            let x = if mods.abs >> at & 1 != 0 {
                x & 0x7fff_ffff
            } else {
                x
            };
            if mods.neg >> at & 1 != 0 {
                x ^ 0x8000_0000
            } else {
                x
            }
        };
        let name = inst.info().upper;
        let format = ["FP8", "BF8"].into_iter().find(|part| name.contains(part));
        let format = format
            .and_then(|name| Conversion::named(name, self.modes.ocp))
            .map(|found| found.format);
        let part = inst.sdwa.map_or(6, |sdwa| usize::from(sdwa.src_sel[0]));
        let sel = usize::from(mods.op_sel);
        match (inst.op, format) {
            (Op::V_CVT_F32_FP8 | Op::V_CVT_F32_BF8, Some(format)) => {
                let shift = if part < 4 {
                    8 * part
                } else if part == 5 {
                    16
                } else {
                    0
                };
                out[0] = (format.decode(raw(0) >> shift & 255) as f32).to_bits();
            }
            (Op::V_CVT_PK_F32_FP8 | Op::V_CVT_PK_F32_BF8, Some(format)) => {
                let word = if part == 5 { raw(0) >> 16 } else { raw(0) };
                out[0] = (format.decode(word & 255) as f32).to_bits();
                out[1] = (format.decode(word >> 8 & 255) as f32).to_bits();
            }
            (Op::V_CVT_PK_FP8_F32 | Op::V_CVT_PK_BF8_F32, Some(format)) => {
                for at in 0..2 {
                    let value = f64::from(f32::from_bits(float(at)));
                    let code = format.encode(value, Rounding::NearestEven, self.overflow());
                    put(out, (sel >> 3) * 16 + 8 * at, 8, code);
                }
            }
            (Op::V_CVT_SR_FP8_F32 | Op::V_CVT_SR_BF8_F32, Some(format)) => {
                let value = f64::from(f32::from_bits(float(0)));
                let code = format.encode(value, Rounding::Stochastic(raw(1)), self.overflow());
                put(out, (sel >> 2) * 8, 8, code);
            }
            _ => other(inst.op, mods, raw, float, sel, out),
        }
    }
}

/// A result of which only a part is written keeps what holds nothing.
fn partial(op: Op, defined: u64) -> u64 {
    // The compiler gives these an undefined register when the other part is
    // written next; what is stored in the end is whole.
    match op {
        Op::V_DOT2C_F32_F16 | Op::V_DOT2C_F32_BF16 => defined,
        _ => u64::MAX,
    }
}

fn other(
    op: Op,
    mods: &cairn_codeobj::isa::VectorMods,
    raw: impl Fn(usize) -> u32,
    float: impl Fn(usize) -> u32,
    sel: usize,
    out: &mut [u32],
) {
    let dot = |widen: &dyn Fn(u32) -> u32, start: u32| {
        let product = |shift: u32| {
            mul32(
                widen(raw(0) >> shift & 0xffff),
                widen(raw(1) >> shift & 0xffff),
            )
        };
        add32(add32(start, product(0)), product(16))
    };
    let wide16 = |x: u32| from_f16(x).to_bits();
    let wide_bf = |x: u32| x << 16;
    match op {
        Op::V_BITOP3_B32 | Op::V_BITOP3_B16 => {
            let table =
                u32::from(mods.omod) << 6 | u32::from(mods.abs & 7) << 3 | u32::from(mods.neg & 7);
            let half = op == Op::V_BITOP3_B16;
            let raw = |at: usize| {
                let high = half && sel >> at & 1 != 0;
                raw(at) >> (16 * u32::from(high))
            };
            let bits = (0..8)
                .filter(|row| table >> row & 1 != 0)
                .fold(0, |bits, row| {
                    let pick = |at: u32| {
                        if row >> (2 - at) & 1 != 0 {
                            raw(at as usize)
                        } else {
                            !raw(at as usize)
                        }
                    };
                    bits | pick(0) & pick(1) & pick(2)
                });
            if half {
                put(out, (sel >> 3) * 16, 16, bits & 0xffff);
            } else {
                out[0] = bits;
            }
        }
        Op::V_ASHR_PK_I8_I32 | Op::V_ASHR_PK_U8_I32 => {
            let (low, high) = if op == Op::V_ASHR_PK_I8_I32 {
                (-128, 127)
            } else {
                (0, 255)
            };
            for at in 0..2 {
                let value = (raw(at) as i32 >> (raw(2) & 31)).clamp(low, high);
                put(out, (sel >> 3) * 16 + 8 * at, 8, value as u32 & 255);
            }
        }
        Op::V_CVT_SR_F16_F32 => {
            let value = f64::from(f32::from_bits(float(0)));
            let format = FloatFormat::of(cairn_formats::DType::F16);
            let code = format.map_or(0, |format| {
                format.encode(value, Rounding::Stochastic(raw(1)), Overflow::NonSaturate)
            });
            put(out, (sel >> 3) * 16, 16, code);
        }
        Op::V_CVT_SR_BF16_F32 => {
            let value = f64::from(f32::from_bits(float(0)));
            let format = FloatFormat::of(cairn_formats::DType::BF16);
            let code = format.map_or(0, |format| {
                format.encode(value, Rounding::Stochastic(raw(1)), Overflow::NonSaturate)
            });
            put(out, (sel >> 3) * 16, 16, code);
        }
        Op::V_DOT2_F32_F16 => out[0] = dot(&wide16, raw(2)),
        Op::V_DOT2C_F32_F16 => out[0] = dot(&wide16, out[0]),
        Op::V_DOT2C_F32_BF16 => out[0] = dot(&wide_bf, out[0]),
        Op::V_DOT2_F32_BF16 => {
            let product = |shift: u32| {
                mul32(
                    wide_bf(raw(0) >> shift & 0xffff),
                    wide_bf(raw(1) >> shift & 0xffff),
                )
            };
            out[0] = add32(add32(product(0), product(16)), raw(2));
        }
        _ => {}
    }
}
