//! Vector arithmetic: gathers operands, applies modifiers, calls the function
//! that computes, and writes the lanes that take part.

mod compare;
mod modifiers;
mod packed;
mod plan;

use cairn_codeobj::isa::{Inst, Kind, Op, Operand};

use super::{Machine, Scratch};
use crate::check::FindingKind;
use crate::float::{Round, flush16, flush32};
use crate::program::Step;
use crate::valu::Unit;
use crate::wave::Wave;

use modifiers::{
    clamp_pair, clamp16, clamp32, flush_pair, for_lanes, insert_part, saturate, saturated_dot,
    select_part, signs,
};
pub(crate) use plan::VectorPlan;
use plan::{Packed, dot_of};

impl Machine<'_> {
    pub(super) fn vector(&mut self, wave: &mut Wave, step: &Step, plan: &VectorPlan) {
        let inst = &step.inst;
        let mut mask = wave.exec();
        if inst.dst.is_some() && plan.packed == Packed::Mixed {
            return self.mixed(wave, inst, plan);
        }
        let mut defined = self.gather(wave, inst, plan);
        if let Some(dpp) = &plan.dpp {
            mask &= dpp.enabled;
            let invalid = dpp.permute(
                &mut self.scratch.src[0],
                plan.kinds[0],
                wave.exec(),
                &mut defined.0,
                defined.1,
            );
            if !dpp.zeroes {
                mask &= !invalid;
            }
        }
        let mut defined = defined.0;
        let count = if inst.mods.clamp || !plan.plain || self.flushes() {
            self.modify(inst, plan);
            true
        } else {
            false
        };
        let carry = match plan.packed {
            Packed::No => self.compute(wave, inst, plan, &mut defined),
            Packed::Halves => {
                self.halves(inst, plan);
                None
            }
            _ => {
                self.registers(plan, inst);
                None
            }
        };
        if count && plan.packed != Packed::Halves {
            self.finish(inst, plan);
        }
        self.write(wave, inst, plan, mask, defined);
        if let (Some(made), true) = (carry, inst.sdst.is_some()) {
            self.write_mask(wave, inst.sdst, made, mask, defined);
        }
    }

    /// Denormals are flushed or rounding is unusual.
    fn flushes(&self) -> bool {
        let modes = &self.modes;
        modes.flush_in32 || modes.flush_out32 || modes.flush_in16_64 || modes.flush_out16_64
    }

    /// Fetches the sources; lanes in which they hold something, in all and
    /// without the first one.
    fn gather(&mut self, wave: &Wave, inst: &Inst, plan: &VectorPlan) -> (u64, u64) {
        let src = &mut self.scratch.src;
        let track = self.checks.uninitialised;
        let (mut first, mut others) = (u64::MAX, u64::MAX);
        for at in 0..plan.sources {
            let kind = plan.kinds[at];
            if kind == Kind::Mask {
                continue;
            }
            let operand = inst.src[at];
            wave.fetch(inst, operand, kind, 0, &mut src[at][0]);
            if kind.dwords() == 2 {
                wave.fetch(inst, operand, kind, 1, &mut src[at][1]);
            }
            if track {
                // A pair of which one register is taken twice may lack the other.
                let picks = [inst.mods.op_sel, inst.mods.op_sel_hi].map(|select| select >> at & 1);
                let defined = if kind == Kind::PkF32 && picks[0] == picks[1] {
                    wave.defined_word(operand, picks[0].into())
                } else {
                    wave.defined(operand, kind.dwords())
                };
                if at == 0 {
                    first = defined;
                } else {
                    others &= defined;
                }
            }
        }
        if plan.accumulates {
            wave.fetch(inst, inst.dst, plan.result, 0, &mut src[2][0]);
            if plan.result.dwords() == 2 {
                wave.fetch(inst, inst.dst, plan.result, 1, &mut src[2][1]);
            }
            if track {
                others &= wave.defined(inst.dst, plan.result.dwords());
            }
        }
        (first & others, others)
    }

    /// Source modifiers: parts of registers, halves, signs, denormals.
    fn modify(&mut self, inst: &Inst, plan: &VectorPlan) {
        let modes = self.modes;
        let sources = plan.sources + usize::from(plan.accumulates);
        for at in 0..sources {
            let kind = if at < plan.sources {
                plan.kinds[at]
            } else {
                plan.result
            };
            let pair = &mut self.scratch.src[at];
            if let (Some(sdwa), true) = (inst.sdwa, at < 2 && at < plan.sources) {
                select_part(&mut pair[0], sdwa, at);
            }
            let (abs, neg) = (inst.mods.abs >> at & 1 != 0, inst.mods.neg >> at & 1 != 0);
            let packed = plan.packed != Packed::No;
            match kind {
                Kind::F16 | Kind::I16 => {
                    if inst.sdwa.is_none() && inst.mods.op_sel >> at & 1 != 0 {
                        for_lanes(&mut pair[0], |x| x >> 16);
                    }
                    if kind == Kind::F16 {
                        for_lanes(&mut pair[0], |x| signs(x, 0x8000, abs, neg));
                        if modes.flush_in16_64 {
                            for_lanes(&mut pair[0], flush16);
                        }
                    }
                }
                Kind::F32 | Kind::B32 | Kind::Literal => {
                    if abs || neg {
                        for_lanes(&mut pair[0], |x| signs(x, 0x8000_0000, abs, neg));
                    }
                    if kind == Kind::F32 && modes.flush_in32 {
                        for_lanes(&mut pair[0], flush32);
                    }
                }
                Kind::F64 => {
                    if abs || neg {
                        for_lanes(&mut pair[1], |x| signs(x, 0x8000_0000, abs, neg));
                    }
                    if modes.flush_in16_64 {
                        flush_pair(pair);
                    }
                }
                Kind::PkF32 if packed && modes.flush_in32 => {
                    for_lanes(&mut pair[0], flush32);
                    for_lanes(&mut pair[1], flush32);
                }
                _ => {}
            }
        }
    }

    /// Calls the function that computes; the mask it makes, if any.
    fn compute(
        &mut self,
        wave: &Wave,
        inst: &Inst,
        plan: &VectorPlan,
        defined: &mut u64,
    ) -> Option<u64> {
        let Scratch { src, out, .. } = &mut *self.scratch;
        let [a, b, c] = &*src;
        let modes = &self.modes;
        let level = self.level;
        if plan.unit == Unit::Wide
            && matches!(plan.result, Kind::F64)
            && modes.round16_64 != Round::Nearest
        {
            let what = format!(
                "{} in a rounding mode other than to nearest",
                inst.mnemonic()
            );
            let unsupported = FindingKind::Unsupported;
            self.find(wave, unsupported, None, what);
            return None;
        }
        match plan.unit {
            Unit::Single => {
                level.single(plan.op, modes, &a[0], &b[0], &c[0], &mut out[0]);
            }
            Unit::Half => {
                level.half(plan.op, modes, &a[0], &b[0], &c[0], &mut out[0]);
            }
            Unit::Wide => {
                level.wide(
                    plan.op,
                    modes,
                    [&a[0], &a[1]],
                    [&b[0], &b[1]],
                    [&c[0], &c[1]],
                    out,
                );
            }
            Unit::Masked => {
                let mask = wave.scalar(inst, inst.src[2], Kind::Mask);
                let made = level.masked(plan.op, &a[0], &b[0], mask, &mut out[0]);
                let unknown = wave.scalar_undefined(inst.src[2], Kind::Mask);
                if inst.src[2].is_some() {
                    if plan.op == Op::V_CNDMASK_B32 && inst.dpp.is_none() {
                        // Only the source that is taken matters.
                        let first = wave.defined(inst.src[0], 1);
                        let second = wave.defined(inst.src[1], 1);
                        *defined = second & mask | first & !mask;
                    }
                    *defined &= !unknown;
                }
                return made;
            }
        }
        None
    }

    /// Result modifiers: scaling, clamping, denormals.
    fn finish(&mut self, inst: &Inst, plan: &VectorPlan) {
        let modes = self.modes;
        let Scratch { src, out, .. } = &mut *self.scratch;
        let mods = &inst.mods;
        // Scaling needs a mode without denormals and IEEE rules.
        let scaled = mods.omod != 0 && modes.flush_out32 && !modes.ieee;
        match plan.result {
            Kind::F32 | Kind::PkF32 => {
                let count = usize::from(plan.result.dwords());
                for lanes in &mut out[..count] {
                    if scaled {
                        let scale = [1.0, 2.0, 4.0, 0.5][usize::from(mods.omod & 3)];
                        for_lanes(lanes, |x| (f32::from_bits(x) * scale).to_bits());
                    }
                    if mods.clamp {
                        for_lanes(lanes, |x| clamp32(x, modes.dx10_clamp));
                    }
                    if modes.flush_out32 {
                        for_lanes(lanes, flush32);
                    }
                }
            }
            Kind::F16 => {
                if mods.clamp {
                    for_lanes(&mut out[0], |x| clamp16(x, modes.dx10_clamp));
                }
                if modes.flush_out16_64 {
                    for_lanes(&mut out[0], flush16);
                }
            }
            Kind::F64 => {
                if mods.clamp {
                    clamp_pair(out, modes.dx10_clamp);
                }
                if modes.flush_out16_64 {
                    flush_pair(out);
                }
            }
            _ if mods.clamp => {
                let dot = dot_of(plan.op);
                for lane in 0..64 {
                    let (a, b) = (src[0][0][lane], src[1][0][lane]);
                    out[0][lane] = match dot {
                        Some((bits, signed)) => saturated_dot(a, b, src[2][0][lane], bits, signed),
                        None => saturate(plan.op, a, b, out[0][lane]),
                    };
                }
            }
            _ => {}
        }
    }

    /// Writes the result to the lanes of a mask.
    fn write(&mut self, wave: &mut Wave, inst: &Inst, plan: &VectorPlan, mask: u64, defined: u64) {
        let Some(index) = inst.dst.vector_index() else {
            return;
        };
        let count = usize::from(plan.result.dwords());
        let out = &mut self.scratch.out;
        let mut defined = defined;
        if let Some(sdwa) = inst.sdwa {
            let old = &wave.v[index];
            for lane in 0..64 {
                out[0][lane] = insert_part(old[lane], out[0][lane], sdwa);
            }
            if sdwa.dst_unused == 2 {
                defined &= wave.shadow.defined[index];
            }
        } else if matches!(plan.result, Kind::F16 | Kind::I16) {
            let high = inst.mods.op_sel & 8 != 0;
            if high || plan.keeps_half {
                let (shift, keep) = if high { (16, 0xffff) } else { (0, 0xffff_0000) };
                let old = &wave.v[index];
                for lane in 0..64 {
                    out[0][lane] = (out[0][lane] & 0xffff) << shift | old[lane] & keep;
                }
            }
        }
        for dword in 0..count {
            if mask == u64::MAX {
                wave.v[index + dword].copy_from_slice(&out[dword]);
            } else {
                self.level
                    .merge(&out[dword], mask, &mut wave.v[index + dword]);
            }
            wave.define(index + dword, mask, defined);
        }
    }

    /// Writes a mask of lanes to scalar registers; lanes that do not take part
    /// get zero.
    pub(super) fn write_mask(
        &mut self,
        wave: &mut Wave,
        to: Operand,
        made: u64,
        mask: u64,
        defined: u64,
    ) {
        let undefined = if self.checks.uninitialised {
            mask & !defined
        } else {
            0
        };
        wave.write_scalar(to, 2, made & mask, undefined);
    }
}
