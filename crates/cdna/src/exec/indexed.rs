//! Registers whose number is computed: `s_movrel*`, and the mode that adds M0
//! to the numbers of vector registers.

use cairn_codeobj::isa::{Format, Inst, Kind, Op, Operand};

use super::{Machine, Route, Stop};
use crate::check::FindingKind;
use crate::program::Step;
use crate::wave::Wave;

/// The bit of MODE that adds M0 to register numbers.
const ENABLE: u32 = 1 << 27;
/// Scalar registers of a wave.
const SCALARS: u32 = 102;

pub(super) const fn is_supported(op: Op) -> bool {
    matches!(
        op,
        Op::S_MOVRELS_B32
            | Op::S_MOVRELS_B64
            | Op::S_MOVRELD_B32
            | Op::S_MOVRELD_B64
            | Op::S_SET_GPR_IDX_ON
            | Op::S_SET_GPR_IDX_IDX
    )
}

/// Whether vector registers are counted from M0.
pub(super) const fn is_on(wave: &Wave) -> bool {
    wave.mode & ENABLE != 0
}

/// `s_set_gpr_idx_off` and `s_set_gpr_idx_mode`.
pub(super) fn set_mode(wave: &mut Wave, inst: &Inst) {
    if inst.op == Op::S_SET_GPR_IDX_OFF {
        wave.mode &= !ENABLE;
    } else {
        choose(wave, u32::from(inst.imm));
    }
}

/// Which operands the index is added to: three sources, the result.
fn choose(wave: &mut Wave, operands: u32) {
    wave.s[124] = wave.s[124] & !0xf000 | (operands & 15) << 12;
    wave.shadow.undefined[124] &= !0xf000;
}

impl Machine<'_> {
    /// The SOP1 and SOPC operations among these.
    pub(super) fn index(&mut self, wave: &mut Wave, step: &Step) -> Stop {
        let inst = &step.inst;
        if matches!(inst.op, Op::S_SET_GPR_IDX_ON | Op::S_SET_GPR_IDX_IDX) {
            let index = wave.scalar(inst, inst.src[0], Kind::B32) as u32 & 255;
            let undefined = wave.scalar_undefined(inst.src[0], Kind::B32) as u32 & 255;
            self.need_defined(wave, 1, u64::from(undefined == 0), "a register number");
            wave.s[124] = wave.s[124] & !255 | index;
            wave.shadow.undefined[124] &= !255;
            if inst.op == Op::S_SET_GPR_IDX_ON {
                wave.mode |= ENABLE;
                // The field itself, not what a register of that number holds.
                choose(wave, inst.src[1].0.into());
            }
            wave.at = step.next;
            return Stop::Turn;
        }
        let wide = matches!(inst.op, Op::S_MOVRELS_B64 | Op::S_MOVRELD_B64);
        let (kind, count) = if wide { (Kind::B64, 2) } else { (Kind::B32, 1) };
        let reads = matches!(inst.op, Op::S_MOVRELS_B32 | Op::S_MOVRELS_B64);
        let base = if reads { inst.src[0] } else { inst.dst };
        let known = wave.shadow.undefined[124] == 0;
        self.need_defined(wave, 1, u64::from(known), "a register number");
        let number = u32::from(base.0).wrapping_add(wave.s[124]);
        if number + u32::from(count) > SCALARS || number % u32::from(count) != 0 {
            let what = format!(
                "{} reaches s{number}, which is no such register",
                inst.mnemonic()
            );
            self.find(wave, FindingKind::Unsupported, None, what);
            return Stop::Fatal;
        }
        let moved = Operand(number as u16);
        let (from, to) = if reads {
            (moved, inst.dst)
        } else {
            (inst.src[0], moved)
        };
        let value = wave.scalar(inst, from, kind);
        let undefined = wave.scalar_undefined(from, kind);
        wave.write_scalar(to, count, value, undefined);
        wave.at = step.next;
        Stop::Turn
    }

    /// A step as it is with M0 added to the registers that M0 says.
    pub(super) fn indexed(&self, wave: &Wave, step: &Step) -> Step {
        let mut inst = step.inst;
        let (index, which) = (wave.s[124] & 255, wave.s[124] >> 12 & 15);
        let vector = matches!(
            inst.format,
            Format::Vop1 | Format::Vop2 | Format::Vopc | Format::Vop3 | Format::Vop3p
        );
        let mut beyond = None;
        if vector {
            let [a, b, c, _] = &mut inst.src;
            for (at, operand) in [a, b, c, &mut inst.dst].into_iter().enumerate() {
                let Some(number) = operand.vector_index() else {
                    continue;
                };
                if which >> at & 1 == 0 || number > 255 {
                    continue;
                }
                let moved = number as u32 + index;
                if moved > 255 {
                    beyond = Some(format!("the index makes v{number} v{moved}"));
                } else {
                    *operand = Operand::vgpr(moved as u16);
                }
            }
        }
        let mut moved = self.program.step(inst, step.pc);
        (moved.next, moved.target) = (step.next, step.target);
        if let Some(what) = beyond {
            moved.route = Route::Invalid(what);
        }
        moved
    }
}
