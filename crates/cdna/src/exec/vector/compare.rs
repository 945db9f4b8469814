//! VOPC.

use cairn_codeobj::isa::{Kind, Op, Operand};

use super::super::Machine;
use super::super::cross::DppPlan;
use super::modifiers::{flush_pair, for_lanes, select_part, signs};
use crate::float::{flush16, flush32};
use crate::program::Step;
use crate::wave::Wave;

impl Machine<'_> {
    /// VOPC.
    pub(in super::super) fn compare(
        &mut self,
        wave: &mut Wave,
        step: &Step,
        dpp: Option<&DppPlan>,
    ) {
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
