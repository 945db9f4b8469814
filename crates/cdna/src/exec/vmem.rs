//! Vector memory: FLAT, GLOBAL, SCRATCH and MUBUF.

use std::sync::atomic::Ordering::Relaxed;

use cairn_codeobj::isa::{Format, Inst, Kind, Op};

use super::Machine;
use super::memory_access::{Access, Change, Form, shape, vector_access};
use crate::check::FindingKind;
use crate::launch::{PRIVATE_APERTURE, SHARED_APERTURE};
use crate::program::Step;
use crate::race::Touch;
use crate::wave::{Counter, LdsTouch, Pending, Wave};

pub(super) fn is_supported(inst: &Inst) -> bool {
    if matches!(inst.op, Op::WBL2 | Op::INV) {
        return true;
    }
    let lds = inst.memory.lds;
    match vector_access(inst.op) {
        // Direct loads to LDS move whole words.
        Some(Access::Load { .. }) => true,
        Some(_) => !lds,
        None => false,
    }
}

/// The lanes of a mask.
pub(super) fn lanes(mask: u64) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        (left != 0).then(|| {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            lane
        })
    })
}

/// Where a lane's access goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Space {
    Global,
    Lds,
    Private,
}

fn space_of(address: u64) -> Space {
    match address >> 32 {
        high if high == SHARED_APERTURE >> 32 => Space::Lds,
        high if high == PRIVATE_APERTURE >> 32 => Space::Private,
        _ => Space::Global,
    }
}

/// The bytes of a lane that are inside of a buffer, at most 16.
type Clip = [u8; 64];

impl Machine<'_> {
    /// False when the wave cannot go on.
    pub(super) fn vmem(&mut self, wave: &mut Wave, step: &Step) -> bool {
        let inst = &step.inst;
        let pending = |fills| Pending {
            counter: Counter::Vector,
            fills,
            lds: None,
            half: false,
        };
        let Some(access) = vector_access(inst.op) else {
            // Write-back and invalidation: nothing is cached here.
            self.issue(wave, pending((0, 0)));
            return true;
        };
        let mask = wave.exec();
        let bytes = match access {
            Access::Load { bytes, .. } | Access::Store { bytes, .. } => bytes,
            Access::Atomic { wide, .. } => 4 + 4 * u32::from(wide),
        };
        let mut clip = [bytes as u8; 64];
        if !self.addresses(wave, inst, mask, bytes, &mut clip) {
            return false;
        }
        let scratch = inst.format == Format::Scratch;
        let mut by_space = [0u64; 3];
        if scratch {
            by_space[2] = mask;
        } else if inst.format == Format::Flat {
            for lane in lanes(mask) {
                by_space[space_of(self.scratch.address[lane]) as usize] |= 1 << lane;
            }
        } else {
            by_space[0] = mask;
        }
        if inst.memory.lds {
            self.load_to_lds(wave, inst, access, mask, &clip);
            return true;
        }
        match access {
            Access::Load { bytes, form } => {
                if by_space[0] != 0 {
                    self.global_load(wave, inst, bytes, form, by_space[0], &clip);
                }
                self.flat_load(wave, inst, bytes, form, by_space);
            }
            Access::Store { bytes, high } => {
                self.need_store_data(wave, inst, mask);
                if by_space[0] != 0 {
                    self.global_store(wave, inst, bytes, high, by_space[0], &clip);
                }
                self.flat_store(wave, inst, bytes, high, by_space);
            }
            Access::Atomic { wide, change } => {
                self.need_store_data(wave, inst, mask);
                self.global_atomic(wave, inst, wide, change, by_space[0], &clip);
                self.flat_atomic(wave, inst, wide, change, by_space[1]);
                if by_space[2] != 0 {
                    let what = "an atomic on scratch".to_owned();
                    self.find(wave, FindingKind::Unsupported, None, what);
                    return false;
                }
            }
        }
        let fills = inst
            .dst
            .vector_index()
            .map_or((0, 0), |index| (index as u16, inst.data_dwords().1));
        self.issue(wave, pending(fills));
        if inst.format == Format::Flat {
            self.issue(
                wave,
                Pending {
                    counter: Counter::Lds,
                    ..pending(fills)
                },
            );
        }
        true
    }

    /// Notes an operation; the counters hold so many at most.
    pub(super) fn issue(&mut self, wave: &mut Wave, pending: Pending) {
        if !self.checks.waits {
            return;
        }
        let counter = pending.counter;
        wave.issue(pending);
        if wave.shadow.queue.len() > 63 {
            match counter {
                Counter::Vector => self.wait(wave, 63, usize::MAX),
                _ => self.wait(wave, usize::MAX, 15),
            }
        }
    }

    fn need_store_data(&mut self, wave: &Wave, inst: &Inst, mask: u64) {
        if self.checks.uninitialised {
            let defined = wave.defined(inst.src[1], inst.data_dwords().0);
            self.need_defined(wave, mask, defined, "what is stored");
        }
    }

    /// The address of each lane. False when it cannot be made.
    fn addresses(
        &mut self,
        wave: &mut Wave,
        inst: &Inst,
        mask: u64,
        bytes: u32,
        clip: &mut Clip,
    ) -> bool {
        if self.checks.uninitialised {
            let defined = if inst.src[0].is_some() {
                wave.defined(inst.src[0], inst.address_dwords())
            } else {
                u64::MAX
            };
            let base = inst.src[2]
                .is_some()
                .then(|| wave.defined(inst.src[2], inst.base_dwords()));
            self.need_defined(
                wave,
                mask,
                defined & base.unwrap_or(u64::MAX),
                "the address",
            );
        }
        match inst.format {
            Format::Mubuf => return self.buffer_addresses(wave, inst, mask, bytes, clip),
            Format::Scratch => {
                let base = if inst.src[2].is_some() {
                    wave.scalar(inst, inst.src[2], Kind::B32) as u32
                } else {
                    0
                };
                let base = base.wrapping_add_signed(inst.memory.offset);
                for lane in lanes(mask) {
                    let own = inst.src[0]
                        .vector_index()
                        .map_or(0, |index| wave.v[index][lane]);
                    self.scratch.address[lane] = own.wrapping_add(base).into();
                }
            }
            _ => {
                let offset = i64::from(inst.memory.offset);
                let Some(index) = inst.src[0].vector_index() else {
                    return false;
                };
                if inst.src[2].is_some() {
                    let base = wave
                        .pair(usize::from(inst.src[2].0))
                        .wrapping_add_signed(offset);
                    let own = &wave.v[index];
                    for (address, low) in self.scratch.address.iter_mut().zip(own) {
                        *address = base.wrapping_add(u64::from(*low));
                    }
                } else {
                    let (low, high) = (&wave.v[index], &wave.v[index + 1]);
                    for lane in 0..64 {
                        let address = u64::from(low[lane]) | u64::from(high[lane]) << 32;
                        self.scratch.address[lane] = address.wrapping_add_signed(offset);
                    }
                }
            }
        }
        true
    }

    /// Addresses through a buffer descriptor, and how much of each access is inside.
    fn buffer_addresses(
        &mut self,
        wave: &Wave,
        inst: &Inst,
        mask: u64,
        bytes: u32,
        clip: &mut Clip,
    ) -> bool {
        let first = usize::from(inst.src[2].0);
        let words = [0, 1, 2, 3].map(|at| wave.s.get(first + at).copied().unwrap_or(0));
        let base = u64::from(words[0]) | u64::from(words[1] & 0xffff) << 32;
        let stride = words[1] >> 16 & 0x3fff;
        let swizzled = words[1] >> 31 != 0;
        let add_lane = words[3] >> 23 & 1 != 0;
        if swizzled || add_lane {
            let what = "a buffer that is swizzled or adds the lane".to_owned();
            self.find(wave, FindingKind::Unsupported, None, what);
            return false;
        }
        let records = u64::from(words[2]);
        let scalar = wave.scalar(inst, inst.src[3], Kind::B32) as u32;
        let offset = inst.memory.offset as u32;
        let registers = inst.src[0].vector_index();
        for lane in lanes(mask) {
            let read = |at: usize| registers.map_or(0, |index| wave.v[index + at][lane]);
            let (mut index, mut own) = (0, 0);
            match (inst.memory.idxen, inst.memory.offen) {
                (true, true) => (index, own) = (read(0), read(1)),
                (true, false) => index = read(0),
                (false, true) => own = read(0),
                _ => {}
            }
            let inside = u64::from(own) + u64::from(offset);
            let place = u64::from(index) * u64::from(stride) + inside;
            self.scratch.address[lane] = base.wrapping_add(u64::from(scalar)).wrapping_add(place);
            let room = if stride == 0 {
                records
                    .saturating_sub(u64::from(scalar))
                    .saturating_sub(inside)
            } else if u64::from(index) < records {
                u64::MAX
            } else {
                0
            };
            let room = room.min(u64::from(bytes));
            // Words are inside or outside as a whole, and so are smaller values.
            clip[lane] = match bytes {
                4.. => room as u8 & !3,
                _ if room < u64::from(bytes) => 0,
                _ => bytes as u8,
            };
        }
        true
    }

    /// The allocation of an address.
    pub(super) fn locate(&mut self, address: u64, bytes: u64) -> Option<usize> {
        let allocations = self.environment.memory.allocations();
        if allocations
            .get(self.hint)
            .is_some_and(|known| known.contains(address, bytes))
        {
            return Some(self.hint);
        }
        let after = allocations.partition_point(|known| known.base <= address);
        let found = after.checked_sub(1)?;
        if !allocations[found].contains(address, bytes) {
            return None;
        }
        self.hint = found;
        Some(found)
    }

    fn outside(&mut self, wave: &Wave, lane: usize, address: u64, bytes: u64, verb: &str) {
        let memory = self.environment.memory;
        let near = memory.nearest(address).map_or(String::new(), |near| {
            let end = near.base + near.bytes;
            if address >= end {
                format!(
                    "; {} bytes after the end of {} ({} bytes)",
                    address - end,
                    near.name,
                    near.bytes
                )
            } else if address < near.base {
                format!("; {} bytes before {}", near.base - address, near.name)
            } else {
                format!(
                    "; it goes beyond the end of {} ({} bytes)",
                    near.name, near.bytes
                )
            }
        });
        let what =
            format!("{bytes} bytes {verb} at {address:#x}, outside of every allocation{near}");
        self.find(wave, FindingKind::OutOfBounds, Some(lane as u32), what);
    }

    /// The place of a lane's access, after every check on it.
    fn place(
        &mut self,
        wave: &Wave,
        lane: usize,
        bytes: u32,
        touch: Touch,
    ) -> Option<(usize, u64)> {
        let address = self.scratch.address[lane];
        let verb = if touch == Touch::Read {
            "read"
        } else {
            "written"
        };
        let Some(found) = self.locate(address, bytes.into()) else {
            self.outside(wave, lane, address, bytes.into(), verb);
            return None;
        };
        let allocation = &self.environment.memory.allocations()[found];
        let offset = address - allocation.base;
        let unit = bytes.min(4);
        if self.checks.alignment && !address.is_multiple_of(u64::from(unit)) {
            let what =
                format!("{bytes} bytes {verb} at {address:#x}, which is no multiple of {unit}");
            self.find(wave, FindingKind::Unaligned, Some(lane as u32), what);
        }
        if self.checks.uninitialised
            && touch != Touch::Write
            && !allocation.is_written(offset, bytes.into())
        {
            let what = format!(
                "{bytes} bytes at {address:#x} in {} are read and were never written",
                allocation.name
            );
            self.find(
                wave,
                FindingKind::UninitialisedMemory,
                Some(lane as u32),
                what,
            );
        }
        if let Some(races) = &self.environment.races {
            let race = races.touch(found, offset, bytes, self.order, touch);
            if let Some(other) = race {
                let name = &allocation.name;
                let what = format!(
                    "{bytes} bytes at offset {offset} of {name} are {verb} here and touched by workgroup {other} without anything between"
                );
                self.find(wave, FindingKind::GlobalRace, Some(lane as u32), what);
            }
        }
        Some((found, offset))
    }

    /// Loads the word at an offset, whatever its alignment.
    fn load_word(&self, allocation: usize, offset: u64, bytes: u32) -> u32 {
        let allocation = &self.environment.memory.allocations()[allocation];
        if offset.is_multiple_of(4) && bytes == 4 {
            return allocation.load(offset);
        }
        (0..bytes).fold(0, |word, at| {
            word | u32::from(allocation.load_byte(offset + u64::from(at))) << (8 * at)
        })
    }

    fn store_word(&self, allocation: usize, offset: u64, bytes: u32, value: u32) {
        let allocation = &self.environment.memory.allocations()[allocation];
        if offset.is_multiple_of(4) && bytes == 4 {
            return allocation.store(offset, value);
        }
        if bytes == 2 && offset.is_multiple_of(2) {
            let shift = offset % 4 * 8;
            return allocation.store_masked(offset, value << shift, 0xffff << shift);
        }
        for at in 0..bytes {
            let offset = offset + u64::from(at);
            let shift = offset % 4 * 8;
            allocation.store_masked(offset, (value >> (8 * at) & 255) << shift, 0xff << shift);
        }
    }

    /// One allocation for all lanes and aligned words: the usual case.
    fn uniform(&mut self, mask: u64, bytes: u32, clip: &Clip) -> Option<usize> {
        if self.environment.races.is_some() || !bytes.is_multiple_of(4) || mask == 0 {
            return None;
        }
        let (mut low, mut high, mut bits) = (u64::MAX, 0, 0);
        for lane in lanes(mask) {
            let address = self.scratch.address[lane];
            low = low.min(address);
            high = high.max(address);
            bits |= address;
            if u32::from(clip[lane]) != bytes {
                return None;
            }
        }
        if bits & 3 != 0 {
            return None;
        }
        self.locate(low, high - low + u64::from(bytes))
    }

    fn global_load(
        &mut self,
        wave: &mut Wave,
        inst: &Inst,
        bytes: u32,
        form: Form,
        mask: u64,
        clip: &Clip,
    ) {
        let Some(to) = inst.dst.vector_index() else {
            return;
        };
        self.counters.global_read += u64::from(mask.count_ones()) * u64::from(bytes);
        let words = bytes.div_ceil(4) as usize;
        let mut known = mask;
        if let Some(found) = self.uniform(mask, bytes, clip) {
            let allocation = &self.environment.memory.allocations()[found];
            let track = self.checks.uninitialised && !allocation.is_complete();
            let mut missing = 0u64;
            for lane in lanes(mask) {
                let offset = self.scratch.address[lane] - allocation.base;
                for word in 0..words {
                    let at = offset + 4 * word as u64;
                    wave.v[to + word][lane] = allocation.load(at);
                    if track && !allocation.is_word_written(at) {
                        missing |= 1 << lane;
                    }
                }
            }
            if missing != 0 {
                let lane = missing.trailing_zeros();
                let address = self.scratch.address[lane as usize];
                let what = format!(
                    "{bytes} bytes at {address:#x} in {} are read and were never written",
                    allocation.name
                );
                self.find(wave, FindingKind::UninitialisedMemory, Some(lane), what);
            }
        } else {
            for lane in lanes(mask) {
                let inside = u32::from(clip[lane]);
                let place = if inside == 0 {
                    None
                } else {
                    self.place(wave, lane, inside, Touch::Read)
                };
                for word in 0..words {
                    let at = 4 * word as u32;
                    let value = match place {
                        Some((found, offset)) if at < inside => {
                            self.load_word(found, offset + u64::from(at), (inside - at).min(4))
                        }
                        _ => 0,
                    };
                    let old = wave.v[to + word][lane];
                    wave.v[to + word][lane] = shape(value, bytes.min(4), form, old);
                }
            }
        }
        if matches!(form, Form::Half { .. }) {
            known &= wave.shadow.defined[to];
        }
        for word in 0..words {
            wave.define(to + word, mask, known);
        }
    }

    fn global_store(
        &mut self,
        wave: &mut Wave,
        inst: &Inst,
        bytes: u32,
        high: bool,
        mask: u64,
        clip: &Clip,
    ) {
        let Some(from) = inst.src[1].vector_index() else {
            return;
        };
        self.counters.global_written += u64::from(mask.count_ones()) * u64::from(bytes);
        let words = bytes.div_ceil(4) as usize;
        if let Some(found) = self.uniform(mask, bytes, clip) {
            let allocation = &self.environment.memory.allocations()[found];
            for lane in lanes(mask) {
                let offset = self.scratch.address[lane] - allocation.base;
                for word in 0..words {
                    allocation.store(offset + 4 * word as u64, wave.v[from + word][lane]);
                }
                allocation.mark(offset, bytes.into());
            }
            return;
        }
        for lane in lanes(mask) {
            let inside = u32::from(clip[lane]);
            if inside == 0 {
                continue;
            }
            let Some((found, offset)) = self.place(wave, lane, inside, Touch::Write) else {
                continue;
            };
            for word in 0..words {
                let at = 4 * word as u32;
                if at < inside {
                    let value = wave.v[from + word][lane] >> (16 * u32::from(high));
                    self.store_word(found, offset + u64::from(at), (inside - at).min(4), value);
                }
            }
            self.environment.memory.allocations()[found].mark(offset, inside.into());
        }
    }

    fn global_atomic(
        &mut self,
        wave: &mut Wave,
        inst: &Inst,
        wide: bool,
        change: Change,
        mask: u64,
        clip: &Clip,
    ) {
        let Some(from) = inst.src[1].vector_index() else {
            return;
        };
        let bytes = 4 + 4 * u32::from(wide);
        self.counters.atomics += u64::from(mask.count_ones());
        for lane in lanes(mask) {
            let place = if u32::from(clip[lane]) < bytes {
                None
            } else {
                self.place(wave, lane, bytes, Touch::Atomic)
            };
            let value = |at: usize| {
                let index = from + at * (1 + usize::from(wide));
                let low = u64::from(wave.v[index][lane]);
                if wide {
                    low | u64::from(wave.v[index + 1][lane]) << 32
                } else {
                    low
                }
            };
            // Compare and swap: what to write, then what to compare with.
            let data = value(0);
            let second = if change == Change::CompareSwap {
                value(1)
            } else {
                0
            };
            let old = place.map_or(0, |(found, offset)| {
                let allocation = &self.environment.memory.allocations()[found];
                if wide {
                    // Launches with 64-bit atomics run on one thread or add only.
                    let _order = self.environment.wide_atomics.lock();
                    let old = u64::from(allocation.load(offset))
                        | u64::from(allocation.load(offset + 4)) << 32;
                    let new = change.apply(true, old, data, second);
                    allocation.store(offset, new as u32);
                    allocation.store(offset + 4, (new >> 32) as u32);
                    old
                } else {
                    let word = allocation.word(offset);
                    let update =
                        |old: u32| Some(change.apply(false, old.into(), data, second) as u32);
                    match word.fetch_update(Relaxed, Relaxed, update) {
                        Ok(old) | Err(old) => old.into(),
                    }
                }
            });
            if let Some(to) = inst.dst.vector_index() {
                wave.v[to][lane] = old as u32;
                if wide {
                    wave.v[to + 1][lane] = (old >> 32) as u32;
                }
            }
        }
        if let Some(to) = inst.dst.vector_index() {
            for word in 0..=usize::from(wide) {
                wave.define(to + word, mask, mask);
            }
        }
    }

    /// Flat loads that go to LDS or scratch.
    fn flat_load(
        &mut self,
        wave: &mut Wave,
        inst: &Inst,
        bytes: u32,
        form: Form,
        by_space: [u64; 3],
    ) {
        let Some(to) = inst.dst.vector_index() else {
            return;
        };
        for lane in lanes(by_space[1]) {
            let address = self.scratch.address[lane] as u32;
            self.check_lds_read(wave, lane, address, bytes);
            for word in 0..bytes.div_ceil(4) {
                let value = self.lds_value(address + 4 * word, bytes.min(4));
                let old = wave.v[to + word as usize][lane];
                wave.v[to + word as usize][lane] = shape(value, bytes.min(4), form, old);
                wave.define(to + word as usize, 1 << lane, u64::MAX);
            }
        }
        for lane in lanes(by_space[2]) {
            let offset = self.scratch.address[lane] as u32;
            for word in 0..bytes.div_ceil(4) {
                let (value, known) =
                    self.private_load(wave, lane, offset.wrapping_add(4 * word), bytes.min(4));
                let index = to + word as usize;
                let old = wave.v[index][lane];
                wave.v[index][lane] = shape(value, bytes.min(4), form, old);
                wave.define(index, 1 << lane, if known { u64::MAX } else { 0 });
            }
        }
    }

    fn flat_store(
        &mut self,
        wave: &mut Wave,
        inst: &Inst,
        bytes: u32,
        high: bool,
        by_space: [u64; 3],
    ) {
        let Some(from) = inst.src[1].vector_index() else {
            return;
        };
        for lane in lanes(by_space[1] | by_space[2]) {
            let address = self.scratch.address[lane] as u32;
            for word in 0..bytes.div_ceil(4) {
                let value = wave.v[from + word as usize][lane] >> (16 * u32::from(high));
                let at = address.wrapping_add(4 * word);
                if by_space[1] >> lane & 1 != 0 {
                    self.lds_store(wave, lane, at, bytes.min(4), value);
                } else {
                    self.private_store(wave, lane, at, bytes.min(4), value);
                }
            }
        }
    }

    fn flat_atomic(&mut self, wave: &mut Wave, inst: &Inst, wide: bool, change: Change, mask: u64) {
        let Some(from) = inst.src[1].vector_index() else {
            return;
        };
        for lane in lanes(mask) {
            let address = self.scratch.address[lane] as u32;
            let value = |at: usize| {
                let index = from + at * (1 + usize::from(wide));
                let low = u64::from(wave.v[index][lane]);
                if wide {
                    low | u64::from(wave.v[index + 1][lane]) << 32
                } else {
                    low
                }
            };
            let second = if change == Change::CompareSwap {
                value(1)
            } else {
                0
            };
            let old = self.lds_change(wave, lane, address, wide, change, value(0), second);
            if let Some(to) = inst.dst.vector_index() {
                wave.v[to][lane] = old as u32;
                wave.define(to, 1 << lane, u64::MAX);
                if wide {
                    wave.v[to + 1][lane] = (old >> 32) as u32;
                    wave.define(to + 1, 1 << lane, u64::MAX);
                }
            }
        }
    }

    /// The word of scratch at an offset of a lane, if it has one.
    fn private_word(&mut self, wave: &Wave, lane: usize, offset: u32, bytes: u32) -> Option<usize> {
        let words = self.environment.private_words as usize;
        let at = offset as usize / 4;
        if at >= words || offset % 4 + bytes > 4 {
            let what = format!(
                "{bytes} bytes of scratch at {offset}, beyond the {} bytes a lane has",
                words * 4
            );
            self.find(wave, FindingKind::OutOfBounds, Some(lane as u32), what);
            return None;
        }
        Some((wave.id as usize * 64 + lane) * words + at)
    }

    fn private_load(&mut self, wave: &Wave, lane: usize, offset: u32, bytes: u32) -> (u32, bool) {
        let Some(at) = self.private_word(wave, lane, offset, bytes) else {
            return (0, true);
        };
        let value = self.private[at] >> (8 * (offset % 4));
        let bits = ((1u32 << bytes) - 1) << (offset % 4);
        let known = u32::from(self.private_written[at]) & bits == bits;
        (value, known || !self.checks.uninitialised)
    }

    fn private_store(&mut self, wave: &Wave, lane: usize, offset: u32, bytes: u32, value: u32) {
        if let Some(at) = self.private_word(wave, lane, offset, bytes) {
            let shift = 8 * (offset % 4);
            let mask = (((1u64 << (8 * bytes)) - 1) as u32) << shift;
            self.private[at] = self.private[at] & !mask | value << shift & mask;
            self.private_written[at] |= ((1u8 << bytes) - 1) << (offset % 4);
        }
    }

    /// Loads that go to LDS without passing through registers: lane after lane
    /// from the address in M0 on.
    fn load_to_lds(
        &mut self,
        wave: &mut Wave,
        inst: &Inst,
        access: Access,
        mask: u64,
        clip: &Clip,
    ) {
        let Access::Load { bytes, form } = access else {
            return;
        };
        self.counters.global_read += u64::from(mask.count_ones()) * u64::from(bytes);
        let step = bytes.max(4);
        let base = wave.s[124].wrapping_add_signed(inst.memory.offset);
        let mut touch = LdsTouch {
            lanes: mask,
            address: [0; 64],
            bytes: step,
            from_memory: true,
        };
        for lane in lanes(mask) {
            let inside = u32::from(clip[lane]);
            let place = if inside == 0 {
                None
            } else {
                self.place(wave, lane, inside, Touch::Read)
            };
            let to = base.wrapping_add(lane as u32 * step);
            touch.address[lane] = to;
            for word in 0..step / 4 {
                let value = match place {
                    Some((found, offset)) if 4 * word < inside => self.load_word(
                        found,
                        offset + u64::from(4 * word),
                        (inside - 4 * word).min(4),
                    ),
                    _ => 0,
                };
                let value = shape(value, bytes.min(4), form, 0);
                self.lds_store(wave, lane, to.wrapping_add(4 * word), 4, value);
            }
            if self.checks.waits {
                self.lds.arriving(to, step, Some(wave.id));
            }
        }
        self.issue(
            wave,
            Pending {
                counter: Counter::Vector,
                fills: (0, 0),
                lds: Some(Box::new(touch)),
                half: false,
            },
        );
    }
}
