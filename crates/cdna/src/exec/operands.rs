//! Operands: fetching sources, writing results, and scalar instructions.

use cairn_codeobj::isa::{INLINE_FLOATS, Inst, Kind, Op, Operand};

use super::{Machine, Stop, scalar};
use crate::check::FindingKind;
use crate::launch::{PRIVATE_APERTURE, SHARED_APERTURE};
use crate::program::Step;
use crate::wave::{Lanes, Wave};

/// Operations that change some bits of their result register.
pub(super) const fn writes_bits(op: Op) -> bool {
    matches!(
        op,
        Op::S_CMOV_B32
            | Op::S_CMOV_B64
            | Op::S_BITSET0_B32
            | Op::S_BITSET0_B64
            | Op::S_BITSET1_B32
            | Op::S_BITSET1_B64
    )
}

/// The value of an inline constant or literal for an operand kind.
pub(super) fn constant(inst: &Inst, operand: Operand, kind: Kind) -> u64 {
    if let Some(value) = operand.inline_int() {
        let value = i64::from(value) as u64;
        return if kind.dwords() == 2 {
            value
        } else {
            value & 0xffff_ffff
        };
    }
    if let Some(at) = operand.inline_float() {
        let (f16, f32, f64, _) = INLINE_FLOATS[at];
        return match kind {
            Kind::F16 | Kind::I16 | Kind::PkF16 => f16.into(),
            Kind::F64 | Kind::B64 => f64,
            _ => f32.into(),
        };
    }
    if operand.is_literal() {
        let literal = u64::from(inst.literal);
        let signed = inst.info().upper.ends_with("I64");
        return match kind {
            Kind::F64 => literal << 32,
            Kind::B64 if signed => inst.literal as i32 as i64 as u64,
            _ => literal,
        };
    }
    match operand.0 {
        235 => SHARED_APERTURE,
        236 => SHARED_APERTURE + 0xffff_ffff,
        237 => PRIVATE_APERTURE,
        238 => PRIVATE_APERTURE + 0xffff_ffff,
        _ => 0,
    }
}

impl Wave {
    /// A scalar operand of 32 or 64 bits.
    #[inline]
    pub(super) fn scalar(&self, inst: &Inst, operand: Operand, kind: Kind) -> u64 {
        if let Some(index) = operand.scalar_index() {
            return if kind.dwords() >= 2 && index < 127 {
                self.pair(index)
            } else {
                self.s[index].into()
            };
        }
        match operand.0 {
            251 => u64::from(self.vcc() == 0),
            252 => u64::from(self.exec() == 0),
            253 => u64::from(self.scc),
            _ => constant(inst, operand, kind),
        }
    }

    /// Bits of a scalar operand that hold nothing.
    pub(super) fn scalar_undefined(&self, operand: Operand, kind: Kind) -> u64 {
        let undefined = &self.shadow.undefined;
        if let Some(index) = operand.scalar_index() {
            let high = if kind.dwords() >= 2 && index < 127 {
                undefined[index + 1]
            } else {
                0
            };
            return u64::from(undefined[index]) | u64::from(high) << 32;
        }
        match operand.0 {
            251 => u64::from(undefined[106] | undefined[107] != 0),
            253 => u64::from(self.shadow.scc_undefined),
            _ => 0,
        }
    }

    /// Writes a scalar register or two.
    pub(super) fn write_scalar(&mut self, operand: Operand, count: u8, value: u64, undefined: u64) {
        let Some(index) = operand.scalar_index() else {
            return;
        };
        self.s[index] = value as u32;
        self.shadow.undefined[index] = undefined as u32;
        if count >= 2 && index < 127 {
            self.s[index + 1] = (value >> 32) as u32;
            self.shadow.undefined[index + 1] = (undefined >> 32) as u32;
        }
    }

    /// One register of a vector source, spread over lanes if it is scalar.
    #[inline]
    pub(super) fn fetch(
        &self,
        inst: &Inst,
        operand: Operand,
        kind: Kind,
        dword: usize,
        out: &mut Lanes,
    ) {
        if let Some(index) = operand.vector_index() {
            out.copy_from_slice(&self.v[index + dword]);
        } else if operand.scalar_index().is_some() && kind.dwords() > 2 {
            let index = usize::from(operand.0) + dword;
            out.fill(self.s.get(index).copied().unwrap_or(0));
        } else {
            let value = self.scalar(inst, operand, kind);
            out.fill(if dword == 0 {
                value as u32
            } else {
                (value >> 32) as u32
            });
        }
    }

    /// Lanes of a vector source that hold something.
    #[inline]
    pub(super) fn defined(&self, operand: Operand, count: u8) -> u64 {
        if let Some(index) = operand.vector_index() {
            let run = &self.shadow.defined[index..index + usize::from(count)];
            return run.iter().fold(u64::MAX, |all, lanes| all & lanes);
        }
        let kind = if count >= 2 { Kind::B64 } else { Kind::B32 };
        if self.scalar_undefined(operand, kind) == 0 {
            u64::MAX
        } else {
            0
        }
    }

    /// Lanes in which one register of a pair holds something.
    pub(super) fn defined_word(&self, operand: Operand, word: usize) -> u64 {
        match operand.vector_index() {
            Some(index) => self.shadow.defined[index + word],
            None => self.defined(operand, 2),
        }
    }

    /// Notes which lanes of a result hold something.
    #[inline]
    pub(super) fn define(&mut self, index: usize, lanes: u64, defined: u64) {
        let known = &mut self.shadow.defined[index];
        *known = *known & !lanes | defined & lanes;
    }
}

impl Machine<'_> {
    /// SOP1, SOP2 and SOPC.
    pub(super) fn scalar(&mut self, wave: &mut Wave, step: &Step) -> Stop {
        let inst = &step.inst;
        if super::flow::jumps(inst.op) {
            return self.jump(wave, step);
        }
        if super::indexed::is_supported(inst.op) {
            return self.index(wave, step);
        }
        let sig = inst.info().sig;
        let kind = |at: usize| sig.source(at).unwrap_or(Kind::B32);
        let a = wave.scalar(inst, inst.src[0], kind(0));
        let b = if sig.sources() > 1 {
            wave.scalar(inst, inst.src[1], kind(1))
        } else {
            0
        };
        let ua = wave.scalar_undefined(inst.src[0], kind(0));
        let ub = if sig.sources() > 1 {
            wave.scalar_undefined(inst.src[1], kind(1))
        } else {
            0
        };
        let width = sig.result(0).map_or(0, Kind::dwords);
        if let Some(exec) = scalar::exec_logic(inst.op, a, wave.exec()) {
            self.write_exec_logic(wave, inst, (a, ua), exec);
        } else if writes_bits(inst.op) {
            write_bits(wave, inst, a, ua);
        } else if let Some((value, scc)) = scalar::run(inst.op, a, b, wave.scc) {
            let all = if width >= 2 { u64::MAX } else { 0xffff_ffff };
            let selects = matches!(inst.op, Op::S_CSELECT_B32 | Op::S_CSELECT_B64);
            let carries = matches!(inst.op, Op::S_ADDC_U32 | Op::S_SUBB_U32);
            let undefined = if selects {
                let chosen = if wave.scc { ua } else { ub };
                if wave.shadow.scc_undefined {
                    all
                } else {
                    chosen
                }
            } else if let Some(bits) = scalar::undefined_bits(inst.op, (a, ua), (b, ub)) {
                bits
            } else if ua != 0 || ub != 0 || carries && wave.shadow.scc_undefined {
                all
            } else {
                0
            };
            wave.write_scalar(inst.dst, width, value, undefined);
            if let Some(scc) = scc {
                wave.scc = scc;
                // A bit that is known to be set decides.
                let decided = width > 0 && value & !undefined != 0;
                wave.shadow.scc_undefined =
                    (undefined != 0 || width == 0 && (ua | ub) != 0) && !decided;
            }
            if inst.dst == Operand::EXEC || inst.dst.0 == 127 {
                self.check_exec(wave);
            }
        }
        wave.at = step.next;
        Stop::Turn
    }

    fn write_exec_logic(&mut self, wave: &mut Wave, inst: &Inst, source: (u64, u64), exec: u64) {
        let old = wave.exec();
        let undefined = match inst.op {
            Op::S_AND_SAVEEXEC_B64 => source.1 & old,
            Op::S_OR_SAVEEXEC_B64 => source.1 & !old,
            _ => source.1,
        };
        let wrexec = matches!(inst.op, Op::S_ANDN1_WREXEC_B64 | Op::S_ANDN2_WREXEC_B64);
        wave.set_pair(126, exec);
        wave.write_scalar(Operand::EXEC, 2, exec, undefined);
        wave.write_scalar(inst.dst, 2, if wrexec { exec } else { old }, 0);
        wave.scc = exec != 0;
        wave.shadow.scc_undefined = false;
        self.check_exec(wave);
    }

    /// EXEC decides who takes part: it must be known.
    pub(super) fn check_exec(&mut self, wave: &mut Wave) {
        let undefined =
            u64::from(wave.shadow.undefined[126]) | u64::from(wave.shadow.undefined[127]) << 32;
        let undefined = undefined & wave.launched;
        if undefined != 0 && self.checks.uninitialised {
            let lane = undefined.trailing_zeros();
            let what = "which lanes take part depends on a register that was never written";
            self.find(
                wave,
                FindingKind::UninitialisedRegister,
                Some(lane),
                what.to_owned(),
            );
        }
        wave.shadow.undefined[126] = 0;
        wave.shadow.undefined[127] = 0;
    }
}

fn write_bits(wave: &mut Wave, inst: &Inst, a: u64, ua: u64) {
    let wide = inst.info().sig.result(0).map_or(1, Kind::dwords) >= 2;
    let (count, kind) = if wide { (2, Kind::B64) } else { (1, Kind::B32) };
    let old = wave.scalar(inst, inst.dst, kind);
    let uold = wave.scalar_undefined(inst.dst, kind);
    let bit = 1u64 << (a & if wide { 63 } else { 31 });
    let all = if ua != 0 { u64::MAX } else { 0 };
    let (value, undefined) = match inst.op {
        Op::S_BITSET0_B32 | Op::S_BITSET0_B64 => (old & !bit, uold & !bit | all),
        Op::S_BITSET1_B32 | Op::S_BITSET1_B64 => (old | bit, uold & !bit | all),
        _ if wave.scc => (a, ua),
        _ => (old, uold),
    };
    wave.write_scalar(inst.dst, count, value, undefined);
}
