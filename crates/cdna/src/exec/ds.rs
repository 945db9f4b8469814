//! LDS.

mod access;
mod base;
mod conflicts;
mod permute;
mod transpose;

use cairn_codeobj::isa::{Inst, Op};

use super::Machine;
use super::memory_access::{Change, Form, lds_atomic};
use crate::check::FindingKind;
use crate::lds::LdsFault;
use crate::program::Step;
use crate::wave::{Counter, Pending, Wave};

pub(crate) use conflicts::Pattern;

/// What a DS operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Read {
        bytes: u32,
        form: Form,
    },
    Write {
        bytes: u32,
        high: bool,
    },
    /// Two values at two offsets, in units of so many bytes.
    Read2 {
        bytes: u32,
        unit: u32,
    },
    Write2 {
        bytes: u32,
        unit: u32,
    },
    Exchange2 {
        bytes: u32,
        unit: u32,
    },
    Atomic {
        wide: bool,
        change: Change,
    },
    /// Reads that hand elements to other lanes.
    Transpose {
        bits: u32,
    },
    Swizzle,
    Permute,
    BackwardPermute,
    /// A word for each lane, from where M0 says on.
    ByLane {
        writes: bool,
    },
    /// The lanes that run are added to a word, or taken from it.
    Count {
        change: Change,
    },
    Nothing,
}

fn action(op: Op) -> Option<Action> {
    let read = |bytes, form| Some(Action::Read { bytes, form });
    let write = |bytes, high| Some(Action::Write { bytes, high });
    let (signed, unsigned) = (
        Form::Extended { signed: true },
        Form::Extended { signed: false },
    );
    let half = |signed, high| Form::Half { signed, high };
    match op {
        Op::DS_NOP => Some(Action::Nothing),
        Op::DS_READ_B32 => read(4, Form::Whole),
        Op::DS_READ_B64 => read(8, Form::Whole),
        Op::DS_READ_B96 => read(12, Form::Whole),
        Op::DS_READ_B128 => read(16, Form::Whole),
        Op::DS_READ_I8 => read(1, signed),
        Op::DS_READ_U8 => read(1, unsigned),
        Op::DS_READ_I16 => read(2, signed),
        Op::DS_READ_U16 => read(2, unsigned),
        Op::DS_READ_U8_D16 => read(1, half(false, false)),
        Op::DS_READ_U8_D16_HI => read(1, half(false, true)),
        Op::DS_READ_I8_D16 => read(1, half(true, false)),
        Op::DS_READ_I8_D16_HI => read(1, half(true, true)),
        Op::DS_READ_U16_D16 => read(2, half(false, false)),
        Op::DS_READ_U16_D16_HI => read(2, half(false, true)),
        Op::DS_WRITE_B8 => write(1, false),
        Op::DS_WRITE_B8_D16_HI => write(1, true),
        Op::DS_WRITE_B16 => write(2, false),
        Op::DS_WRITE_B16_D16_HI => write(2, true),
        Op::DS_WRITE_B32 => write(4, false),
        Op::DS_WRITE_B64 => write(8, false),
        Op::DS_WRITE_B96 => write(12, false),
        Op::DS_WRITE_B128 => write(16, false),
        Op::DS_READ2_B32 => Some(Action::Read2 { bytes: 4, unit: 4 }),
        Op::DS_READ2ST64_B32 => Some(Action::Read2 {
            bytes: 4,
            unit: 256,
        }),
        Op::DS_READ2_B64 => Some(Action::Read2 { bytes: 8, unit: 8 }),
        Op::DS_READ2ST64_B64 => Some(Action::Read2 {
            bytes: 8,
            unit: 512,
        }),
        Op::DS_WRITE2_B32 => Some(Action::Write2 { bytes: 4, unit: 4 }),
        Op::DS_WRITE2ST64_B32 => Some(Action::Write2 {
            bytes: 4,
            unit: 256,
        }),
        Op::DS_WRITE2_B64 => Some(Action::Write2 { bytes: 8, unit: 8 }),
        Op::DS_WRITE2ST64_B64 => Some(Action::Write2 {
            bytes: 8,
            unit: 512,
        }),
        Op::DS_WRXCHG2_RTN_B32 => Some(Action::Exchange2 { bytes: 4, unit: 4 }),
        Op::DS_WRXCHG2ST64_RTN_B32 => Some(Action::Exchange2 {
            bytes: 4,
            unit: 256,
        }),
        Op::DS_WRXCHG2_RTN_B64 => Some(Action::Exchange2 { bytes: 8, unit: 8 }),
        Op::DS_WRXCHG2ST64_RTN_B64 => Some(Action::Exchange2 {
            bytes: 8,
            unit: 512,
        }),
        Op::DS_READ_B64_TR_B4 => Some(Action::Transpose { bits: 4 }),
        Op::DS_READ_B96_TR_B6 => Some(Action::Transpose { bits: 6 }),
        Op::DS_READ_B64_TR_B8 => Some(Action::Transpose { bits: 8 }),
        Op::DS_READ_B64_TR_B16 => Some(Action::Transpose { bits: 16 }),
        Op::DS_SWIZZLE_B32 => Some(Action::Swizzle),
        Op::DS_PERMUTE_B32 => Some(Action::Permute),
        Op::DS_BPERMUTE_B32 => Some(Action::BackwardPermute),
        Op::DS_READ_ADDTID_B32 => Some(Action::ByLane { writes: false }),
        Op::DS_WRITE_ADDTID_B32 => Some(Action::ByLane { writes: true }),
        Op::DS_APPEND => Some(Action::Count {
            change: Change::Add,
        }),
        Op::DS_CONSUME => Some(Action::Count {
            change: Change::Sub,
        }),
        _ => lds_atomic(op).map(|(wide, change)| Action::Atomic { wide, change }),
    }
}

/// What an instruction does; `None` for what is not supported.
pub(super) fn plan(inst: &Inst) -> Option<Action> {
    // No compiler uses swizzle's rotation modes on these processors.
    let odd = inst.op == Op::DS_SWIZZLE_B32 && inst.memory.offset as u32 & 0xc000 == 0xc000;
    action(inst.op).filter(|_| !inst.memory.gds && !odd)
}

impl Machine<'_> {
    pub(super) fn ds(&mut self, wave: &mut Wave, step: &Step, action: Action) {
        let inst = &step.inst;
        let mask = wave.exec();
        let permutes = matches!(
            action,
            Action::Swizzle | Action::Permute | Action::BackwardPermute
        );
        if self.checks.uninitialised && !permutes {
            let stored = inst.data_dwords().0.max(1);
            self.need_defined(wave, mask, wave.defined(inst.src[0], 1), "the LDS address");
            for data in [inst.src[1], inst.src[2]] {
                if data.is_some() {
                    self.need_defined(
                        wave,
                        mask,
                        wave.defined(data, stored),
                        "what is stored to LDS",
                    );
                }
            }
        }
        let mut touched = Vec::new();
        match action {
            Action::Nothing => return,
            Action::Read { bytes, form } => self.ds_read(wave, inst, bytes, form, mask),
            Action::Write { bytes, high } => {
                touched.extend(self.ds_write(wave, inst, bytes, high, mask));
            }
            Action::Read2 { bytes, unit } => self.ds_read2(wave, inst, bytes, unit, mask),
            Action::Write2 { bytes, unit } => {
                touched.extend(
                    self.ds_write2(wave, inst, bytes, unit, mask)
                        .into_iter()
                        .flatten(),
                );
            }
            Action::Exchange2 { bytes, unit } => self.ds_exchange2(wave, inst, bytes, unit, mask),
            Action::Atomic { wide, change } => self.ds_atomic(wave, inst, wide, change, mask),
            Action::Transpose { bits } => self.ds_transpose(wave, inst, bits, mask),
            Action::Swizzle => permute::swizzle(wave, inst, mask),
            Action::Permute => self.permute(wave, inst, mask),
            Action::BackwardPermute => self.backward_permute(wave, inst, mask),
            Action::ByLane { writes } => {
                touched.extend(self.ds_by_lane(wave, inst, writes, mask));
            }
            Action::Count { change } => self.ds_count(wave, inst, change, mask),
        }
        let fills = inst
            .dst
            .vector_index()
            .map_or((0, 0), |index| (index as u16, inst.data_dwords().1));
        let pending = Pending {
            counter: Counter::Lds,
            fills,
            lds: touched,
        };
        self.issue(wave, pending);
    }

    pub(super) fn report_lds(
        &mut self,
        wave: &Wave,
        lane: usize,
        at: u32,
        bytes: u32,
        fault: LdsFault,
        verb: &str,
    ) {
        let (kind, what) = match fault {
            LdsFault::Outside => (
                FindingKind::LdsOutOfBounds,
                format!(
                    "{bytes} bytes of LDS {verb} at {at}, beyond the {} bytes the workgroup has",
                    self.lds.size
                ),
            ),
            LdsFault::Unwritten => {
                if !self.checks.uninitialised {
                    return;
                }
                (
                    FindingKind::UninitialisedLds,
                    format!("{bytes} bytes of LDS at {at} are read and were never written"),
                )
            }
            LdsFault::Race { other, wrote } => {
                if !self.checks.lds_races {
                    return;
                }
                let how = if wrote { "written" } else { "read" };
                (
                    FindingKind::LdsRace,
                    format!(
                        "LDS at {at} is {verb} here and {how} by wave {other} without a barrier between"
                    ),
                )
            }
            LdsFault::NotWaited { wave } => {
                if !self.checks.waits {
                    return;
                }
                (
                    FindingKind::MissingWait,
                    format!(
                        "LDS at {at} is read before the load of wave {wave} into it was waited for"
                    ),
                )
            }
        };
        self.find(wave, kind, Some(lane as u32), what);
    }

    pub(super) fn check_lds_read(&mut self, wave: &Wave, lane: usize, at: u32, bytes: u32) {
        if let Some(fault) = self.lds.note_read(at, bytes, wave.id) {
            self.report_lds(wave, lane, at, bytes, fault, "read");
        }
    }

    pub(super) fn lds_value(&self, at: u32, bytes: u32) -> u32 {
        if bytes == 4 && self.lds.contains(at, 4) {
            return self.lds.load(at);
        }
        (0..bytes).fold(0, |word, byte| {
            let at = at.wrapping_add(byte);
            let value = if self.lds.contains(at, 1) {
                self.lds.byte(at)
            } else {
                0
            };
            word | u32::from(value) << (8 * byte)
        })
    }

    pub(super) fn lds_store(&mut self, wave: &Wave, lane: usize, at: u32, bytes: u32, value: u32) {
        let new = value.to_le_bytes();
        let new = &new[..bytes as usize];
        if let Some(fault) = self.lds.note_write(at, new, wave.id) {
            self.report_lds(wave, lane, at, bytes, fault, "written");
        }
        if !self.lds.contains(at, bytes) {
            return;
        }
        if bytes == 4 {
            self.lds.store(at, value);
        } else {
            for (byte, value) in new.iter().enumerate() {
                self.lds.store_byte(at + byte as u32, *value);
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the operands of one instruction")]
    pub(super) fn lds_change(
        &mut self,
        wave: &Wave,
        lane: usize,
        at: u32,
        wide: bool,
        change: Change,
        data: u64,
        second: u64,
    ) -> u64 {
        let bytes = 4 + 4 * u32::from(wide);
        if let Some(fault) = self.lds.note_atomic(at, bytes) {
            self.report_lds(wave, lane, at, bytes, fault, "changed");
            if fault == LdsFault::Outside {
                return 0;
            }
        }
        let high = if wide { self.lds.load(at + 4) } else { 0 };
        let old = u64::from(self.lds.load(at)) | u64::from(high) << 32;
        let new = change.apply(wide, old, data, second);
        self.lds.store(at, new as u32);
        if wide {
            self.lds.store(at + 4, (new >> 32) as u32);
        }
        old
    }
}
