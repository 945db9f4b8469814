//! Vector arithmetic: gathers operands, applies modifiers, calls the function
//! that computes, and writes the lanes that take part.

use cairn_codeobj::isa::{Inst, Kind, Op, Operand, Sdwa};

use super::cross::DppPlan;
use super::{Machine, Scratch};
use crate::check::FindingKind;
use crate::float::{Round, flush16, flush32, flush64, is_nan32, is_nan64};
use crate::program::Step;
use crate::valu::{Unit, unit_of};
use crate::wave::{Lanes, Wave};

/// How halves of packed operations are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packed {
    No,
    /// Two 16-bit values in each register.
    Halves,
    /// Two registers.
    Registers,
    /// Sources that are f16 or f32, as modifiers say.
    Mixed,
}

/// What is known about a vector instruction beforehand.
#[derive(Debug)]
pub(crate) struct VectorPlan {
    op: Op,
    unit: Unit,
    packed: Packed,
    sources: usize,
    kinds: [Kind; 3],
    result: Kind,
    /// The result register is the third source.
    accumulates: bool,
    /// No modifier of any kind.
    plain: bool,
    /// 16-bit results that leave the other half of the register alone.
    keeps_half: bool,
    dpp: Option<Box<DppPlan>>,
}

/// The operation on one half that a packed operation does twice.
fn half_of(op: Op) -> Option<(Op, Packed)> {
    use Packed::{Halves, Mixed, Registers};
    Some(match op {
        Op::V_PK_MAD_I16 | Op::V_PK_MAD_U16 => (Op::V_MAD_U16, Halves),
        Op::V_PK_MUL_LO_U16 => (Op::V_MUL_LO_U16, Halves),
        Op::V_PK_ADD_I16 => (Op::V_ADD_I16, Halves),
        Op::V_PK_SUB_I16 => (Op::V_SUB_I16, Halves),
        Op::V_PK_LSHLREV_B16 => (Op::V_LSHLREV_B16, Halves),
        Op::V_PK_LSHRREV_B16 => (Op::V_LSHRREV_B16, Halves),
        Op::V_PK_ASHRREV_I16 => (Op::V_ASHRREV_I16, Halves),
        Op::V_PK_MAX_I16 => (Op::V_MAX_I16, Halves),
        Op::V_PK_MIN_I16 => (Op::V_MIN_I16, Halves),
        Op::V_PK_ADD_U16 => (Op::V_ADD_U16, Halves),
        Op::V_PK_SUB_U16 => (Op::V_SUB_U16, Halves),
        Op::V_PK_MAX_U16 => (Op::V_MAX_U16, Halves),
        Op::V_PK_MIN_U16 => (Op::V_MIN_U16, Halves),
        Op::V_PK_FMA_F16 => (Op::V_FMA_F16, Halves),
        Op::V_PK_ADD_F16 => (Op::V_ADD_F16, Halves),
        Op::V_PK_MUL_F16 => (Op::V_MUL_F16, Halves),
        Op::V_PK_MIN_F16 => (Op::V_MIN_F16, Halves),
        Op::V_PK_MAX_F16 => (Op::V_MAX_F16, Halves),
        Op::V_PK_MINIMUM3_F16 | Op::V_PK_MAXIMUM3_F16 => (op, Halves),
        Op::V_PK_FMA_F32 => (Op::V_FMA_F32, Registers),
        Op::V_PK_MUL_F32 => (Op::V_MUL_F32, Registers),
        Op::V_PK_ADD_F32 => (Op::V_ADD_F32, Registers),
        Op::V_FMA_MIX_F32 | Op::V_FMA_MIXLO_F16 | Op::V_FMA_MIXHI_F16 => (Op::V_FMA_F32, Mixed),
        _ => return None,
    })
}

/// 16-bit operations that keep the other half of their result register; all
/// others clear it.
const fn keeps_half(op: Op) -> bool {
    matches!(
        op,
        Op::V_MAD_F16
            | Op::V_MAD_U16
            | Op::V_MAD_I16
            | Op::V_FMA_F16
            | Op::V_DIV_FIXUP_F16
            | Op::V_MIN3_F16
            | Op::V_MIN3_I16
            | Op::V_MIN3_U16
            | Op::V_MAX3_F16
            | Op::V_MAX3_I16
            | Op::V_MAX3_U16
            | Op::V_MED3_F16
            | Op::V_MED3_I16
            | Op::V_MED3_U16
    )
}

impl VectorPlan {
    /// `None` for what no function computes.
    pub(super) fn of(inst: &Inst) -> Option<Self> {
        let sig = inst.info().sig;
        let (op, packed) = half_of(inst.op).unwrap_or((inst.op, Packed::No));
        let unit = unit_of(op)?;
        let kind = |at: usize| inst.source_kind(at).unwrap_or(Kind::B32);
        let result = sig.result(0)?;
        let mods = &inst.mods;
        let integer = !matches!(
            result,
            Kind::F32 | Kind::F64 | Kind::F16 | Kind::PkF16 | Kind::PkF32
        );
        if mods.clamp && integer && !clamps(op) {
            return None;
        }
        let three = sig.sources() == 2 && inst.info().reads_result;
        let plain = mods.abs == 0
            && mods.neg == 0
            && mods.omod == 0
            && mods.op_sel == 0
            && !mods.clamp
            && inst.dpp.is_none()
            && inst.sdwa.is_none();
        Some(Self {
            op,
            unit,
            packed,
            sources: sig.sources(),
            kinds: [kind(0), kind(1), kind(2)],
            result,
            accumulates: three,
            plain,
            keeps_half: keeps_half(inst.op),
            dpp: DppPlan::of(inst),
        })
    }
}

/// Integer operations that saturate when asked to clamp.
const fn clamps(op: Op) -> bool {
    matches!(
        op,
        Op::V_ADD_U32
            | Op::V_SUB_U32
            | Op::V_SUBREV_U32
            | Op::V_ADD_I32
            | Op::V_SUB_I32
            | Op::V_ADD_U16
            | Op::V_SUB_U16
            | Op::V_SUBREV_U16
            | Op::V_ADD_I16
            | Op::V_SUB_I16
    ) || dot_of(op).is_some()
}

/// Bits of an element of an integer dot product, and whether it has a sign.
const fn dot_of(op: Op) -> Option<(u32, bool)> {
    Some(match op {
        Op::V_DOT2_I32_I16 => (16, true),
        Op::V_DOT2_U32_U16 => (16, false),
        Op::V_DOT4_I32_I8 => (8, true),
        Op::V_DOT4_U32_U8 => (8, false),
        Op::V_DOT8_I32_I4 => (4, true),
        Op::V_DOT8_U32_U4 => (4, false),
        _ => return None,
    })
}

fn for_lanes(lanes: &mut Lanes, f: impl Fn(u32) -> u32) {
    for lane in lanes {
        *lane = f(*lane);
    }
}

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
                let defined = wave.defined(operand, kind.dwords());
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

    /// A packed operation on 16-bit halves.
    fn halves(&mut self, inst: &Inst, plan: &VectorPlan) {
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
    fn registers(&mut self, plan: &VectorPlan, inst: &Inst) {
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
    fn mixed(&mut self, wave: &mut Wave, inst: &Inst, plan: &VectorPlan) {
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

    /// VOPC.
    pub(super) fn compare(&mut self, wave: &mut Wave, step: &Step, dpp: Option<&DppPlan>) {
        let inst = &step.inst;
        let mut mask = wave.exec();
        let kinds =
            [inst.source_kind(0), inst.source_kind(1)].map(|kind| kind.unwrap_or(Kind::B32));
        let mut defined = [u64::MAX; 2];
        for at in 0..2 {
            for dword in 0..usize::from(kinds[at].dwords()) {
                let out = &mut self.scratch.src[at][dword];
                wave.fetch(inst, inst.src[at], kinds[at], dword, out);
            }
            if self.checks.uninitialised {
                defined[at] = wave.defined(inst.src[at], kinds[at].dwords());
            }
        }
        let mut both = defined[0] & defined[1];
        if let Some(dpp) = dpp {
            mask &= dpp.enabled;
            let invalid = dpp.permute(
                &mut self.scratch.src[0],
                kinds[0],
                wave.exec(),
                &mut both,
                defined[1],
            );
            if !dpp.zeroes {
                mask &= !invalid;
            }
        }
        let modes = self.modes;
        for (at, kind) in kinds.into_iter().enumerate() {
            let pair = &mut self.scratch.src[at];
            if let Some(sdwa) = inst.sdwa {
                select_part(&mut pair[0], sdwa, at);
            }
            let (abs, neg) = (inst.mods.abs >> at & 1 != 0, inst.mods.neg >> at & 1 != 0);
            match kind {
                Kind::F16 | Kind::I16 if inst.mods.op_sel >> at & 1 != 0 => {
                    for_lanes(&mut pair[0], |x| x >> 16);
                }
                _ => {}
            }
            match kind {
                Kind::F16 => {
                    for_lanes(&mut pair[0], |x| signs(x & 0xffff, 0x8000, abs, neg));
                    if modes.flush_in16_64 {
                        for_lanes(&mut pair[0], flush16);
                    }
                }
                Kind::F32 | Kind::B32 if abs || neg || kind == Kind::F32 && modes.flush_in32 => {
                    for_lanes(&mut pair[0], |x| signs(x, 0x8000_0000, abs, neg));
                    if kind == Kind::F32 && modes.flush_in32 {
                        for_lanes(&mut pair[0], flush32);
                    }
                }
                Kind::F64 => {
                    for_lanes(&mut pair[1], |x| signs(x, 0x8000_0000, abs, neg));
                    if modes.flush_in16_64 {
                        flush_pair(pair);
                    }
                }
                _ => {}
            }
        }
        let [a, b, _] = &self.scratch.src;
        let met = self
            .level
            .compare(inst.compare, [&a[0], &a[1]], [&b[0], &b[1]]);
        self.write_mask(wave, inst.dst, met, mask, both);
        if matches!(inst.op, Op::V_CMPX | Op::V_CMPX_CLASS) {
            self.write_mask(wave, Operand::EXEC, met, mask, both);
            self.check_exec(wave);
        }
    }
}

/// Absolute value, then negation.
#[inline(always)]
const fn signs(x: u32, sign: u32, abs: bool, neg: bool) -> u32 {
    let x = if abs { x & !sign } else { x };
    if neg { x ^ sign } else { x }
}

fn flush_pair(pair: &mut [Lanes; 2]) {
    for lane in 0..64 {
        let value = u64::from(pair[0][lane]) | u64::from(pair[1][lane]) << 32;
        let value = flush64(value);
        pair[0][lane] = value as u32;
        pair[1][lane] = (value >> 32) as u32;
    }
}

fn clamp32(x: u32, dx10: bool) -> u32 {
    if is_nan32(x) {
        return if dx10 { 0 } else { x };
    }
    let x = f32::from_bits(x);
    if x > 0.0 { x.min(1.0).to_bits() } else { 0 }
}

fn clamp16(x: u32, dx10: bool) -> u32 {
    if x & 0x7fff > 0x7c00 {
        return if dx10 { 0 } else { x };
    }
    if x & 0x8000 != 0 { 0 } else { x.min(0x3c00) }
}

fn clamp_pair(pair: &mut [Lanes; 2], dx10: bool) {
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
fn saturate(op: Op, a: u32, b: u32, wrapped: u32) -> u32 {
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

/// An integer dot product that stops at the ends of its range.
fn saturated_dot(a: u32, b: u32, c: u32, bits: u32, signed: bool) -> u32 {
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

/// The part of a source that SDWA names.
fn select_part(lanes: &mut Lanes, sdwa: Sdwa, at: usize) {
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
fn insert_part(old: u32, new: u32, sdwa: Sdwa) -> u32 {
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
