//! Packed operations: on halves of registers, on pairs of them, and mixed ones.

use cairn_codeobj::isa::{Inst, Kind, Op};

use super::super::{Machine, Scratch};
use super::VectorPlan;
use super::modifiers::{clamp16, clamp32, for_lanes, saturate, signs};
use crate::float::{flush16, flush32};
use crate::wave::Wave;

impl Machine<'_> {
    /// A packed operation on 16-bit halves.
    pub(super) fn halves(&mut self, inst: &Inst, plan: &VectorPlan) {
        let modes = self.modes;
        let float = matches!(plan.result, Kind::PkF16);
        let mods = &inst.mods;
        let mut result = [0; 64];
        for half in 0..2 {
            let (select, negate) = if half == 0 {
                (mods.op_sel, mods.neg)
            } else {
                (mods.op_sel_hi, mods.neg_hi)
            };
            let Scratch { src, out, aux, .. } = &mut *self.scratch;
            for at in 0..plan.sources {
                aux[at].copy_from_slice(&src[at][0]);
                if select >> at & 1 != 0 {
                    for_lanes(&mut aux[at], |x| x >> 16);
                }
                if float {
                    let neg = negate >> at & 1 != 0;
                    for_lanes(&mut aux[at], |x| signs(x & 0xffff, 0x8000, false, neg));
                    if modes.flush_in16_64 {
                        for_lanes(&mut aux[at], flush16);
                    }
                }
            }
            let [a, b, c, _] = &*aux;
            self.level.half(plan.op, &modes, a, b, c, &mut out[0]);
            if mods.clamp {
                if float {
                    for_lanes(&mut out[0], |x| clamp16(x, modes.dx10_clamp));
                } else {
                    for lane in 0..64 {
                        out[0][lane] = saturate(plan.op, a[lane], b[lane], out[0][lane]);
                    }
                }
            }
            if float && modes.flush_out16_64 {
                for_lanes(&mut out[0], flush16);
            }
            for lane in 0..64 {
                result[lane] |= (out[0][lane] & 0xffff) << (16 * half);
            }
        }
        self.scratch.out[0] = result;
    }

    /// A packed operation on pairs of registers.
    pub(super) fn registers(&mut self, plan: &VectorPlan, inst: &Inst) {
        let mods = &inst.mods;
        for half in 0..2 {
            let (select, negate) = if half == 0 {
                (mods.op_sel, mods.neg)
            } else {
                (mods.op_sel_hi, mods.neg_hi)
            };
            let Scratch { src, out, aux, .. } = &mut *self.scratch;
            let pick = |at: usize| usize::from(select >> at & 1);
            if negate == 0 {
                let [a, b, c] = &*src;
                let operands = [&a[pick(0)], &b[pick(1)], &c[pick(2)]];
                let [x, y, z] = operands;
                self.level
                    .single(plan.op, &self.modes, x, y, z, &mut out[half]);
                continue;
            }
            for at in 0..plan.sources {
                aux[at].copy_from_slice(&src[at][pick(at)]);
                if negate >> at & 1 != 0 {
                    for_lanes(&mut aux[at], |x| x ^ 0x8000_0000);
                }
            }
            let [a, b, c, _] = &*aux;
            self.level
                .single(plan.op, &self.modes, a, b, c, &mut out[half]);
        }
    }

    /// `v_fma_mix`: each source is an f32, or one half of a register.
    pub(super) fn mixed(&mut self, wave: &mut Wave, inst: &Inst, plan: &VectorPlan) {
        let (modes, mask, mods) = (self.modes, wave.exec(), inst.mods);
        let mut defined = u64::MAX;
        for at in 0..3 {
            let half = mods.op_sel_hi >> at & 1 != 0;
            let kind = if half { Kind::F16 } else { Kind::F32 };
            let lanes = &mut self.scratch.aux[at];
            wave.fetch(inst, inst.src[at], kind, 0, lanes);
            defined &= wave.defined(inst.src[at], 1);
            if half {
                let shift = if mods.op_sel >> at & 1 != 0 { 16 } else { 0 };
                for_lanes(lanes, |x| {
                    crate::float::from_f16(x >> shift & 0xffff).to_bits()
                });
            }
            let (abs, neg) = (mods.neg_hi >> at & 1 != 0, mods.neg >> at & 1 != 0);
            for_lanes(lanes, |x| signs(x, 0x8000_0000, abs, neg));
            if modes.flush_in32 {
                for_lanes(lanes, flush32);
            }
        }
        let Scratch { aux, out, .. } = &mut *self.scratch;
        let [a, b, c, _] = &*aux;
        self.level.single(plan.op, &modes, a, b, c, &mut out[0]);
        if mods.clamp {
            for_lanes(&mut out[0], |x| clamp32(x, modes.dx10_clamp));
        }
        let Some(index) = inst.dst.vector_index() else {
            return;
        };
        let shift = match inst.op {
            Op::V_FMA_MIXLO_F16 => 0,
            Op::V_FMA_MIXHI_F16 => 16,
            _ => {
                self.level.merge(&out[0], mask, &mut wave.v[index]);
                wave.define(index, mask, defined);
                return;
            }
        };
        for lane in 0..64 {
            let half = crate::float::to_f16(f32::from_bits(out[0][lane])) << shift;
            out[0][lane] = wave.v[index][lane] & !(0xffff << shift) | half;
        }
        self.level.merge(&out[0], mask, &mut wave.v[index]);
        wave.define(index, mask, defined);
    }
}
