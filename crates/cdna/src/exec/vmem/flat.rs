//! Flat accesses that go to LDS or scratch.

use cairn_codeobj::isa::Inst;

use super::super::Machine;
use super::super::memory_access::{Change, Form, shape};
use super::lanes;
use crate::check::FindingKind;
use crate::wave::Wave;

impl Machine<'_> {
    /// Flat loads that go to LDS or scratch.
    pub(super) fn flat_load(
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

    pub(super) fn flat_store(
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

    pub(super) fn flat_atomic(
        &mut self,
        wave: &mut Wave,
        inst: &Inst,
        wide: bool,
        change: Change,
        mask: u64,
    ) {
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
}
