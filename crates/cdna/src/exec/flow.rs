//! Branches, waits, barriers, and what else steers a wave.

use cairn_codeobj::isa::{Inst, Kind, Op, Operand, wait_counts};

use super::{Machine, Stop, is_end, scalar};
use crate::check::FindingKind;
use crate::program::Step;
use crate::wave::{Counter, State, Wave};

/// Operations of SOP1 that go somewhere.
pub(super) const fn jumps(op: Op) -> bool {
    matches!(op, Op::S_GETPC_B64 | Op::S_SETPC_B64 | Op::S_SWAPPC_B64)
}

pub(super) const fn is_supported(op: Op) -> bool {
    matches!(
        op,
        Op::S_NOP
            | Op::S_ENDPGM
            | Op::S_BRANCH
            | Op::S_CBRANCH_SCC0
            | Op::S_CBRANCH_SCC1
            | Op::S_CBRANCH_VCCZ
            | Op::S_CBRANCH_VCCNZ
            | Op::S_CBRANCH_EXECZ
            | Op::S_CBRANCH_EXECNZ
            | Op::S_BARRIER
            | Op::S_WAITCNT
            | Op::S_SLEEP
            | Op::S_SETPRIO
            | Op::S_TRAP
            | Op::S_ICACHE_INV
            | Op::S_INCPERFLEVEL
            | Op::S_DECPERFLEVEL
            | Op::S_TTRACEDATA
            | Op::S_SETHALT
            | Op::S_WAKEUP
            | Op::S_SET_GPR_IDX_OFF
            | Op::S_SET_GPR_IDX_MODE
    )
}

/// The parts of hardware registers that can be read: number, name.
const MODE: u16 = 1;
const STATUS: u16 = 2;
const TRAPSTS: u16 = 3;
const HW_ID: u16 = 4;
const XCC_ID: u16 = 20;

pub(super) fn sopk_is_supported(inst: &Inst) -> bool {
    let register = inst.imm & 63;
    match inst.op {
        Op::S_GETREG_B32 => matches!(register, MODE | STATUS | TRAPSTS | HW_ID | XCC_ID),
        Op::S_SETREG_B32 | Op::S_SETREG_IMM32_B32 => register == MODE,
        Op::S_CBRANCH_I_FORK => false,
        _ => true,
    }
}

impl Machine<'_> {
    pub(super) fn flow(&mut self, wave: &mut Wave, step: &Step) -> Stop {
        let taken = match step.inst.op {
            Op::S_ENDPGM => {
                wave.state = State::Ended;
                return Stop::Turn;
            }
            Op::S_BRANCH => true,
            Op::S_CBRANCH_SCC0 => !self.decide(wave, wave.scc, wave.shadow.scc_undefined),
            Op::S_CBRANCH_SCC1 => self.decide(wave, wave.scc, wave.shadow.scc_undefined),
            Op::S_CBRANCH_VCCZ => self.vcc_is_zero(wave),
            Op::S_CBRANCH_VCCNZ => !self.vcc_is_zero(wave),
            Op::S_CBRANCH_EXECZ => wave.exec() == 0,
            Op::S_CBRANCH_EXECNZ => wave.exec() != 0,
            Op::S_BARRIER => {
                self.arrive(wave);
                wave.state = State::Barrier(wave.at);
                wave.at = step.next;
                return Stop::Turn;
            }
            Op::S_WAITCNT => {
                let (vector, _, rest) = wait_counts(step.inst.imm);
                self.wait(wave, vector.into(), rest.into());
                false
            }
            Op::S_SET_GPR_IDX_OFF | Op::S_SET_GPR_IDX_MODE => {
                super::indexed::set_mode(wave, &step.inst);
                false
            }
            Op::S_TRAP => {
                let what = format!("trap {} was reached", step.inst.imm & 255);
                self.find(wave, FindingKind::Trap, None, what);
                return Stop::Fatal;
            }
            Op::S_SETHALT if step.inst.imm & 1 != 0 => {
                let what = "the wave halts itself".to_owned();
                self.find(wave, FindingKind::Trap, None, what);
                return Stop::Fatal;
            }
            _ => false,
        };
        if !taken {
            wave.at = step.next;
            return Stop::Turn;
        }
        if is_end(step.target) {
            let what = "the branch leaves the code of the kernel".to_owned();
            self.find(wave, FindingKind::Unsupported, None, what);
            return Stop::Fatal;
        }
        wave.at = step.target;
        Stop::Turn
    }

    fn decide(&mut self, wave: &Wave, value: bool, undefined: bool) -> bool {
        if undefined && self.checks.uninitialised {
            let what = "the branch depends on a register that was never written".to_owned();
            self.find(wave, FindingKind::UninitialisedRegister, None, what);
        }
        value
    }

    fn vcc_is_zero(&mut self, wave: &Wave) -> bool {
        let undefined = wave.scalar_undefined(Operand::VCC, Kind::B64) & wave.launched;
        // A bit that is known to be set decides.
        let decided = wave.vcc() & !undefined != 0;
        self.decide(wave, wave.vcc() == 0, undefined != 0 && !decided)
    }

    /// `s_waitcnt`.
    pub(super) fn wait(&mut self, wave: &mut Wave, vector: usize, rest: usize) {
        if wave.shadow.queue.is_empty() {
            return;
        }
        let lds = &mut self.lds;
        wave.wait(vector, rest, |pending| {
            for touch in pending.lds.iter().filter(|touch| touch.from_memory) {
                for lane in (0..64).filter(|lane| touch.lanes >> lane & 1 != 0) {
                    lds.arriving(touch.address[lane], touch.bytes, None);
                }
            }
        });
    }

    /// A wave comes to a barrier.
    fn arrive(&mut self, wave: &mut Wave) {
        wave.barriers += 1;
        if self.checks.barriers && wave.exec() != wave.launched {
            let missing = wave.launched & !wave.exec();
            let lane = missing.trailing_zeros();
            let what = format!(
                "a barrier that {} of {} lanes of the wave do not reach",
                missing.count_ones(),
                wave.launched.count_ones()
            );
            self.find(wave, FindingKind::DivergentBarrier, Some(lane), what);
        }
        // LDS writes that were not waited for may come after the barrier.
        let pending = wave.shadow.queue.of(Counter::Lds).iter();
        for touch in pending.flat_map(|pending| &pending.lds) {
            for lane in (0..64).filter(|lane| touch.lanes >> lane & 1 != 0) {
                self.lds.postpone(touch.address[lane], touch.bytes, wave.id);
            }
        }
    }

    /// SOPK.
    pub(super) fn sopk(&mut self, wave: &mut Wave, step: &Step) -> Stop {
        let inst = &step.inst;
        let signed = i32::from(inst.imm as i16) as u32;
        let source = wave.scalar(inst, inst.src[0], Kind::B32);
        let undefined = wave.scalar_undefined(inst.src[0], Kind::B32);
        match inst.op {
            Op::S_MOVK_I32 => wave.write_scalar(inst.dst, 1, signed.into(), 0),
            Op::S_CMOVK_I32 if wave.scc => wave.write_scalar(inst.dst, 1, signed.into(), 0),
            Op::S_CMOVK_I32 => {}
            Op::S_ADDK_I32 | Op::S_MULK_I32 => {
                let old = wave.scalar(inst, inst.dst, Kind::B32) as i32;
                let undefined = wave.scalar_undefined(inst.dst, Kind::B32);
                if inst.op == Op::S_ADDK_I32 {
                    let (sum, overflow) = old.overflowing_add(signed as i32);
                    wave.write_scalar(inst.dst, 1, u64::from(sum as u32), undefined);
                    wave.scc = overflow;
                    wave.shadow.scc_undefined = undefined != 0;
                } else {
                    let product = old.wrapping_mul(signed as i32) as u32;
                    wave.write_scalar(inst.dst, 1, product.into(), undefined);
                }
            }
            Op::S_GETREG_B32 => {
                let value = self.hardware_register(wave, inst.imm & 63);
                wave.write_scalar(inst.dst, 1, field_of(inst.imm, value).into(), 0);
            }
            Op::S_SETREG_B32 => {
                self.need_defined(wave, 1, u64::from(undefined == 0), "a hardware register");
                self.set_mode(wave, inst.imm, source as u32);
            }
            Op::S_SETREG_IMM32_B32 => self.set_mode(wave, inst.imm, inst.literal),
            Op::S_CALL_B64 => {
                let after = self.environment.object_base + step.pc + 4;
                wave.write_scalar(inst.dst, 2, after, 0);
                wave.at = step.target;
                return Stop::Turn;
            }
            _ => {
                let unsigned = inst.info().upper.ends_with("U32");
                let constant = if unsigned { inst.imm.into() } else { signed };
                if let Some((_, Some(scc))) = scalar::run(inst.op, source, constant.into(), false) {
                    wave.scc = scc;
                    wave.shadow.scc_undefined = undefined != 0;
                }
            }
        }
        wave.at = step.next;
        Stop::Turn
    }

    fn set_mode(&mut self, wave: &mut Wave, imm: u16, value: u32) {
        let (offset, width) = (imm >> 6 & 31, (imm >> 11) + 1);
        let mask = (((1u64 << width) - 1) as u32) << offset;
        wave.mode = wave.mode & !mask | value << offset & mask;
        self.set_modes(wave);
    }

    fn hardware_register(&self, wave: &Wave, register: u16) -> u32 {
        match register {
            MODE => wave.mode,
            STATUS => {
                u32::from(wave.scc)
                    | u32::from(wave.exec() == 0) << 9
                    | u32::from(wave.vcc() == 0) << 10
            }
            HW_ID => wave.id & 15 | (self.order as u32 & 15) << 8,
            XCC_ID => self.order as u32 % 8,
            _ => 0,
        }
    }

    pub(super) fn jump(&mut self, wave: &mut Wave, step: &Step) -> Stop {
        let inst = &step.inst;
        let after = self.environment.object_base + step.pc + 4;
        let to = wave.scalar(inst, inst.src[0], Kind::B64);
        let undefined = wave.scalar_undefined(inst.src[0], Kind::B64);
        if inst.op != Op::S_SETPC_B64 {
            wave.write_scalar(inst.dst, 2, after, 0);
        }
        if inst.op == Op::S_GETPC_B64 {
            wave.at = step.next;
            return Stop::Turn;
        }
        self.need_defined(wave, 1, u64::from(undefined == 0), "the address jumped to");
        let target = to.wrapping_sub(self.environment.object_base);
        match self.program.step_at(target) {
            Some(at) => {
                wave.at = at;
                Stop::Turn
            }
            None => {
                let what = format!("a jump to {to:#x}, where no known instruction is");
                self.find(wave, FindingKind::Unsupported, None, what);
                Stop::Fatal
            }
        }
    }
}

/// The part of a hardware register that an immediate names.
fn field_of(imm: u16, value: u32) -> u32 {
    let (offset, width) = (imm >> 6 & 31, (imm >> 11) + 1);
    value >> offset & ((1u64 << width) - 1) as u32
}
