//! LDS.

use cairn_codeobj::isa::{Inst, Op};

use super::Machine;
use super::memory_access::{Change, Form, lds_atomic, shape};
use super::vmem::lanes;
use crate::check::FindingKind;
use crate::lds::LdsFault;
use crate::program::Step;
use crate::wave::{Counter, Lanes, LdsTouch, Pending, Wave};

/// What a DS operation does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
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

pub(super) fn is_supported(inst: &Inst) -> bool {
    // No compiler uses swizzle's rotation modes on these processors.
    let odd = inst.op == Op::DS_SWIZZLE_B32 && inst.memory.offset as u32 & 0xc000 == 0xc000;
    !inst.memory.gds && !odd && action(inst.op).is_some()
}

impl Machine<'_> {
    pub(super) fn ds(&mut self, wave: &mut Wave, step: &Step) {
        let inst = &step.inst;
        let Some(action) = action(inst.op) else {
            return;
        };
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
        let mut touch = None;
        match action {
            Action::Nothing => return,
            Action::Read { bytes, form } => self.ds_read(wave, inst, bytes, form, mask),
            Action::Write { bytes, high } => {
                touch = Some(self.ds_write(wave, inst, bytes, high, mask));
            }
            Action::Read2 { bytes, unit } => self.ds_read2(wave, inst, bytes, unit, mask),
            Action::Write2 { bytes, unit } => {
                let [first, second] = self.ds_write2(wave, inst, bytes, unit, mask);
                touch = Some(second);
                self.note_conflicts(&first);
                if self.checks.waits {
                    let pending = Pending {
                        counter: Counter::Lds,
                        fills: (0, 0),
                        lds: Some(Box::new(first)),
                        half: true,
                    };
                    wave.shadow.queue.push_back(pending);
                }
            }
            Action::Exchange2 { bytes, unit } => self.ds_exchange2(wave, inst, bytes, unit, mask),
            Action::Atomic { wide, change } => self.ds_atomic(wave, inst, wide, change, mask),
            Action::Transpose { bits } => self.ds_transpose(wave, inst, bits, mask),
            Action::Swizzle => swizzle(wave, inst, mask),
            Action::Permute => self.permute(wave, inst, mask),
            Action::BackwardPermute => self.backward_permute(wave, inst, mask),
            Action::ByLane { writes } => touch = self.ds_by_lane(wave, inst, writes, mask),
            Action::Count { change } => self.ds_count(wave, inst, change, mask),
        }
        if let Some(touch) = &touch {
            self.note_conflicts(touch);
        }
        let fills = inst
            .dst
            .vector_index()
            .map_or((0, 0), |index| (index as u16, inst.data_dwords().1));
        let pending = Pending {
            counter: Counter::Lds,
            fills,
            lds: touch.map(Box::new),
            half: false,
        };
        self.issue(wave, pending);
    }

    fn note_conflicts(&mut self, touch: &LdsTouch) {
        let bytes = u64::from(touch.lanes.count_ones()) * u64::from(touch.bytes);
        self.counters.lds_written += bytes;
        self.conflicts(touch.lanes, &touch.address, touch.bytes);
    }

    fn conflicts(&mut self, mask: u64, address: &Lanes, bytes: u32) {
        if self.environment.options.count_conflicts {
            let (passes, extra) =
                crate::counters::lds_passes(self.program.arch, mask, address, bytes);
            self.counters.lds_passes += passes;
            self.counters.lds_conflicts += extra;
            self.counters.step_conflicts[self.current] += extra;
        }
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

    fn ds_read(&mut self, wave: &mut Wave, inst: &Inst, bytes: u32, form: Form, mask: u64) {
        let (Some(to), Some(from)) = (inst.dst.vector_index(), inst.src[0].vector_index()) else {
            return;
        };
        let offset = inst.memory.offset as u32;
        let words = bytes.div_ceil(4) as usize;
        let address = wave.v[from].map(|address| address.wrapping_add(offset));
        self.counters.lds_read += u64::from(mask.count_ones()) * u64::from(bytes);
        self.conflicts(mask, &address, bytes);
        for lane in lanes(mask) {
            let at = address[lane];
            self.check_lds_read(wave, lane, at, bytes);
            if form == Form::Whole
                && let Some(run) = self.lds.run(at, bytes)
            {
                for (word, value) in run.as_chunks::<4>().0.iter().enumerate() {
                    wave.v[to + word][lane] = u32::from_le_bytes(*value);
                }
                continue;
            }
            for word in 0..words {
                let value = self.lds_value(at.wrapping_add(4 * word as u32), bytes.min(4));
                let old = wave.v[to + word][lane];
                wave.v[to + word][lane] = shape(value, bytes.min(4), form, old);
            }
        }
        let known = if matches!(form, Form::Half { .. }) {
            wave.shadow.defined[to]
        } else {
            u64::MAX
        };
        for word in 0..words {
            wave.define(to + word, mask, known);
        }
    }

    fn ds_write(
        &mut self,
        wave: &mut Wave,
        inst: &Inst,
        bytes: u32,
        high: bool,
        mask: u64,
    ) -> LdsTouch {
        let (Some(from), Some(data)) = (inst.src[0].vector_index(), inst.src[1].vector_index())
        else {
            return LdsTouch {
                lanes: 0,
                address: [0; 64],
                bytes,
                from_memory: false,
            };
        };
        let offset = inst.memory.offset as u32;
        let address = wave.v[from].map(|address| address.wrapping_add(offset));
        for lane in lanes(mask) {
            for word in 0..bytes.div_ceil(4) {
                let value = wave.v[data + word as usize][lane] >> (16 * u32::from(high));
                self.lds_store(
                    wave,
                    lane,
                    address[lane].wrapping_add(4 * word),
                    bytes.min(4),
                    value,
                );
            }
        }
        LdsTouch {
            lanes: mask,
            address,
            bytes,
            from_memory: false,
        }
    }

    fn two_addresses(wave: &Wave, inst: &Inst, unit: u32) -> [Lanes; 2] {
        let base = inst.src[0]
            .vector_index()
            .map_or([0; 64], |index| wave.v[index]);
        let offsets = [inst.memory.offset as u32, u32::from(inst.memory.offset1)];
        offsets.map(|offset| base.map(|address| address.wrapping_add(offset * unit)))
    }

    fn ds_read2(&mut self, wave: &mut Wave, inst: &Inst, bytes: u32, unit: u32, mask: u64) {
        let Some(to) = inst.dst.vector_index() else {
            return;
        };
        let words = bytes as usize / 4;
        let both = Self::two_addresses(wave, inst, unit);
        for (half, address) in both.iter().enumerate() {
            self.counters.lds_read += u64::from(mask.count_ones()) * u64::from(bytes);
            self.conflicts(mask, address, bytes);
            for lane in lanes(mask) {
                self.check_lds_read(wave, lane, address[lane], bytes);
                for word in 0..words {
                    let value = self.lds_value(address[lane].wrapping_add(4 * word as u32), 4);
                    wave.v[to + half * words + word][lane] = value;
                }
            }
        }
        for word in 0..2 * words {
            wave.define(to + word, mask, u64::MAX);
        }
    }

    fn ds_write2(
        &mut self,
        wave: &mut Wave,
        inst: &Inst,
        bytes: u32,
        unit: u32,
        mask: u64,
    ) -> [LdsTouch; 2] {
        let both = Self::two_addresses(wave, inst, unit);
        for (half, address) in both.iter().enumerate() {
            let Some(data) = inst.src[1 + half].vector_index() else {
                continue;
            };
            for lane in lanes(mask) {
                for word in 0..bytes / 4 {
                    let value = wave.v[data + word as usize][lane];
                    self.lds_store(wave, lane, address[lane].wrapping_add(4 * word), 4, value);
                }
            }
        }
        both.map(|address| LdsTouch {
            lanes: mask,
            address,
            bytes,
            from_memory: false,
        })
    }

    fn ds_exchange2(&mut self, wave: &mut Wave, inst: &Inst, bytes: u32, unit: u32, mask: u64) {
        let both = Self::two_addresses(wave, inst, unit);
        let wide = bytes == 8;
        let words = bytes as usize / 4;
        let Some(to) = inst.dst.vector_index() else {
            return;
        };
        let mut old = [[0u64; 64]; 2];
        for half in 0..2 {
            let Some(data) = inst.src[1 + half].vector_index() else {
                continue;
            };
            for lane in lanes(mask) {
                let high = if wide { wave.v[data + 1][lane] } else { 0 };
                let value = u64::from(wave.v[data][lane]) | u64::from(high) << 32;
                old[half][lane] =
                    self.lds_change(wave, lane, both[half][lane], wide, Change::Swap, value, 0);
            }
        }
        for half in 0..2 {
            for lane in lanes(mask) {
                for word in 0..words {
                    wave.v[to + half * words + word][lane] =
                        (old[half][lane] >> (32 * word)) as u32;
                }
            }
        }
        for word in 0..2 * words {
            wave.define(to + word, mask, u64::MAX);
        }
    }

    fn ds_atomic(&mut self, wave: &mut Wave, inst: &Inst, wide: bool, change: Change, mask: u64) {
        let (Some(from), Some(data)) = (inst.src[0].vector_index(), inst.src[1].vector_index())
        else {
            return;
        };
        let offset = inst.memory.offset as u32;
        self.counters.atomics += u64::from(mask.count_ones());
        let compares = matches!(
            change,
            Change::CompareSwap | Change::CompareSwapF32 | Change::CompareSwapF64
        );
        for lane in lanes(mask) {
            let value = |index: usize, wave: &Wave| {
                let high = if wide { wave.v[index + 1][lane] } else { 0 };
                u64::from(wave.v[index][lane]) | u64::from(high) << 32
            };
            let first = value(data, wave);
            let second = inst.src[2]
                .vector_index()
                .map_or(0, |index| value(index, wave));
            // The first operand is what to compare with.
            let (operand, other) = if compares {
                (second, first)
            } else {
                (first, second)
            };
            let at = wave.v[from][lane].wrapping_add(offset);
            let old = self.lds_change(wave, lane, at, wide, change, operand, other);
            if let Some(to) = inst.dst.vector_index() {
                wave.v[to][lane] = old as u32;
                if wide {
                    wave.v[to + 1][lane] = (old >> 32) as u32;
                }
            }
        }
        if let Some(to) = inst.dst.vector_index() {
            for word in 0..=usize::from(wide) {
                wave.define(to + word, mask, u64::MAX);
            }
        }
    }

    /// gfx950's transposing reads: in each group of 16 lanes, the elements that
    /// lane n reads become element n of the lanes of its part of the group.
    fn ds_transpose(&mut self, wave: &mut Wave, inst: &Inst, bits: u32, mask: u64) {
        let (Some(to), Some(from)) = (inst.dst.vector_index(), inst.src[0].vector_index()) else {
            return;
        };
        let bytes = if bits == 6 { 12 } else { 8 };
        let words = bytes as usize / 4;
        let offset = inst.memory.offset as u32;
        let address = wave.v[from].map(|address| address.wrapping_add(offset));
        self.counters.lds_read += u64::from(mask.count_ones()) * u64::from(bytes);
        self.conflicts(mask, &address, bytes);
        let mut read = [0u128; 64];
        for lane in lanes(mask) {
            self.check_lds_read(wave, lane, address[lane], bytes);
            for word in 0..words {
                let value = self.lds_value(address[lane].wrapping_add(4 * word as u32), 4);
                read[lane] |= u128::from(value) << (32 * word);
            }
        }
        let element =
            |lane: usize, at: usize| read[lane] >> (bits as usize * at) & ((1 << bits) - 1);
        let per_lane = 8 * bytes as usize / bits as usize;
        for lane in lanes(mask) {
            let (group, within) = (lane & !15, lane % 16);
            // Lanes that read one row of 16 elements follow each other.
            let readers = 16 / per_lane.min(16);
            let mut value = 0u128;
            for at in 0..per_lane {
                let source = group + transposed_source(within, at, readers, per_lane);
                let index = within % per_lane.min(16);
                value |= element(source, index) << (bits as usize * at);
            }
            for word in 0..words {
                wave.v[to + word][lane] = (value >> (32 * word)) as u32;
            }
        }
        for word in 0..words {
            wave.define(to + word, mask, u64::MAX);
        }
    }

    fn permute(&mut self, wave: &mut Wave, inst: &Inst, mask: u64) {
        let (Some(to), Some(from), Some(data)) = (
            inst.dst.vector_index(),
            inst.src[0].vector_index(),
            inst.src[1].vector_index(),
        ) else {
            return;
        };
        let offset = inst.memory.offset as u32;
        self.need_defined(
            wave,
            mask,
            wave.defined(inst.src[0], 1),
            "the lane permuted to",
        );
        let (address, value, known) = (wave.v[from], wave.v[data], wave.shadow.defined[data]);
        let mut result = [0; 64];
        let mut defined = u64::MAX;
        for lane in lanes(mask) {
            let target = (address[lane].wrapping_add(offset) / 4 % 64) as usize;
            result[target] = value[lane];
            let bit = 1 << target;
            defined = if known >> lane & 1 != 0 {
                defined | bit
            } else {
                defined & !bit
            };
        }
        self.level.merge(&result, mask, &mut wave.v[to]);
        wave.define(to, mask, defined);
    }

    fn backward_permute(&mut self, wave: &mut Wave, inst: &Inst, mask: u64) {
        let (Some(to), Some(from), Some(data)) = (
            inst.dst.vector_index(),
            inst.src[0].vector_index(),
            inst.src[1].vector_index(),
        ) else {
            return;
        };
        let offset = inst.memory.offset as u32;
        self.need_defined(
            wave,
            mask,
            wave.defined(inst.src[0], 1),
            "the lane permuted from",
        );
        let (address, value, known) = (wave.v[from], wave.v[data], wave.shadow.defined[data]);
        let mut result = [0; 64];
        let mut defined = 0u64;
        for lane in lanes(mask) {
            let source = (address[lane].wrapping_add(offset) / 4 % 64) as usize;
            // Lanes that do not take part give zero.
            if mask >> source & 1 != 0 {
                result[lane] = value[source];
                defined |= (known >> source & 1) << lane;
            } else {
                defined |= 1 << lane;
            }
        }
        self.level.merge(&result, mask, &mut wave.v[to]);
        wave.define(to, mask, defined);
    }
}

/// The lane of a group of 16 whose data holds element `at` of lane `within`.
fn transposed_source(within: usize, at: usize, readers: usize, per_lane: usize) -> usize {
    if per_lane >= 16 {
        return at % 16;
    }
    // Rows are read by `readers` lanes each; row `at` is at lanes at * readers on.
    at * readers + within / per_lane
}

fn swizzle(wave: &mut Wave, inst: &Inst, mask: u64) {
    let (Some(to), Some(from)) = (inst.dst.vector_index(), inst.src[0].vector_index()) else {
        return;
    };
    let offset = inst.memory.offset as usize;
    let (value, known) = (wave.v[from], wave.shadow.defined[from]);
    for lane in lanes(mask) {
        let source = if offset & 0x8000 != 0 {
            lane & !3 | offset >> (2 * (lane & 3)) & 3
        } else {
            let within = (lane & 31 & offset | offset >> 5 & 31) ^ (offset >> 10 & 31);
            lane & 32 | within & 31
        };
        let active = mask >> source & 1 != 0;
        wave.v[to][lane] = if active { value[source] } else { 0 };
        let defined = !active || known >> source & 1 != 0;
        wave.define(to, 1 << lane, if defined { u64::MAX } else { 0 });
    }
}
