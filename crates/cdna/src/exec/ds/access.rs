//! Reads, writes and changes of LDS.
//!
//! Where all lanes take part, at words inside of the LDS, and marks tell that
//! nothing can be wrong, they go together; else one after the other.

use cairn_codeobj::isa::Inst;

use super::super::Machine;
use super::super::memory_access::{Change, Form, shape};
use super::super::vmem::lanes;
use crate::wave::{Lanes, LdsTouch, Wave};

/// Where the lanes of an access are.
pub(super) struct Places {
    pub(super) address: Lanes,
    /// All of them are words inside of the LDS.
    pub(super) inside: bool,
}

impl Machine<'_> {
    pub(super) fn lds_places(
        &self,
        wave: &Wave,
        register: usize,
        offset: u32,
        bytes: u32,
    ) -> Places {
        let mut address = [0; 64];
        let size = self.lds.size as u32;
        let inside = self
            .level
            .lds_places(&wave.v[register], offset, bytes, size, &mut address);
        Places { address, inside }
    }

    /// Reads registers that follow each other from `to` on.
    fn read_registers(
        &mut self,
        wave: &mut Wave,
        to: usize,
        bytes: u32,
        form: Form,
        mask: u64,
        places: &Places,
    ) {
        let Places { address, inside } = places;
        let words = bytes.div_ceil(4) as usize;
        self.counters.lds_read += u64::from(mask.count_ones()) * u64::from(bytes);
        self.conflicts(mask, address, bytes, *inside);
        if mask == u64::MAX
            && *inside
            && form == Form::Whole
            && let Some(out) = wave.v.get_mut(to..to + words)
            && self.lds.read_lanes(self.level, address, out, wave.id)
        {
            return;
        }
        for lane in lanes(mask) {
            let at = address[lane];
            self.check_lds_read(wave, lane, at, bytes);
            for word in 0..words {
                let value = self.lds_value(at.wrapping_add(4 * word as u32), bytes.min(4));
                let old = wave.v[to + word][lane];
                wave.v[to + word][lane] = shape(value, bytes.min(4), form, old);
            }
        }
    }

    /// Writes registers that follow each other from `data` on.
    fn write_registers(
        &mut self,
        wave: &Wave,
        data: usize,
        bytes: u32,
        high: bool,
        mask: u64,
        places: &Places,
    ) {
        let Places { address, inside } = places;
        self.counters.lds_written += u64::from(mask.count_ones()) * u64::from(bytes);
        self.conflicts(mask, address, bytes, *inside);
        if mask == u64::MAX
            && *inside
            && bytes.is_multiple_of(4)
            && let Some(from) = wave.v.get(data..data + bytes as usize / 4)
            && self.lds.write_lanes(self.level, address, from, wave.id)
        {
            return;
        }
        for lane in lanes(mask) {
            for word in 0..bytes.div_ceil(4) {
                let value = wave.v[data + word as usize][lane] >> (16 * u32::from(high));
                let at = address[lane].wrapping_add(4 * word);
                self.lds_store(wave, lane, at, bytes.min(4), value);
            }
        }
    }

    pub(super) fn ds_read(
        &mut self,
        wave: &mut Wave,
        inst: &Inst,
        bytes: u32,
        form: Form,
        mask: u64,
    ) {
        let (Some(to), Some(from)) = (inst.dst.vector_index(), inst.src[0].vector_index()) else {
            return;
        };
        let places = self.lds_places(wave, from, inst.memory.offset as u32, bytes);
        self.read_registers(wave, to, bytes, form, mask, &places);
        let known = if matches!(form, Form::Half { .. }) {
            wave.shadow.defined[to]
        } else {
            u64::MAX
        };
        for word in 0..bytes.div_ceil(4) as usize {
            wave.define(to + word, mask, known);
        }
    }

    pub(super) fn ds_write(
        &mut self,
        wave: &mut Wave,
        inst: &Inst,
        bytes: u32,
        high: bool,
        mask: u64,
    ) -> Option<LdsTouch> {
        let (from, data) = (inst.src[0].vector_index()?, inst.src[1].vector_index()?);
        let places = self.lds_places(wave, from, inst.memory.offset as u32, bytes);
        self.write_registers(wave, data, bytes, high, mask, &places);
        Some(LdsTouch {
            lanes: mask,
            address: places.address,
            bytes,
            from_memory: false,
        })
    }

    fn two_places(&self, wave: &Wave, inst: &Inst, bytes: u32, unit: u32) -> Option<[Places; 2]> {
        let register = inst.src[0].vector_index()?;
        let offsets = [inst.memory.offset as u32, u32::from(inst.memory.offset1)];
        Some(offsets.map(|offset| self.lds_places(wave, register, offset * unit, bytes)))
    }

    pub(super) fn ds_read2(
        &mut self,
        wave: &mut Wave,
        inst: &Inst,
        bytes: u32,
        unit: u32,
        mask: u64,
    ) {
        let (Some(to), Some(both)) = (
            inst.dst.vector_index(),
            self.two_places(wave, inst, bytes, unit),
        ) else {
            return;
        };
        let words = bytes as usize / 4;
        for (half, places) in both.iter().enumerate() {
            self.read_registers(wave, to + half * words, bytes, Form::Whole, mask, places);
        }
        for word in 0..2 * words {
            wave.define(to + word, mask, u64::MAX);
        }
    }

    pub(super) fn ds_write2(
        &mut self,
        wave: &mut Wave,
        inst: &Inst,
        bytes: u32,
        unit: u32,
        mask: u64,
    ) -> Option<[LdsTouch; 2]> {
        let both = self.two_places(wave, inst, bytes, unit)?;
        for (half, places) in both.iter().enumerate() {
            if let Some(data) = inst.src[1 + half].vector_index() {
                self.write_registers(wave, data, bytes, false, mask, places);
            }
        }
        Some(both.map(|places| LdsTouch {
            lanes: mask,
            address: places.address,
            bytes,
            from_memory: false,
        }))
    }

    pub(super) fn ds_exchange2(
        &mut self,
        wave: &mut Wave,
        inst: &Inst,
        bytes: u32,
        unit: u32,
        mask: u64,
    ) {
        let (Some(to), Some(both)) = (
            inst.dst.vector_index(),
            self.two_places(wave, inst, bytes, unit),
        ) else {
            return;
        };
        let both = both.map(|places| places.address);
        let wide = bytes == 8;
        let words = bytes as usize / 4;
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

    pub(super) fn ds_atomic(
        &mut self,
        wave: &mut Wave,
        inst: &Inst,
        wide: bool,
        change: Change,
        mask: u64,
    ) {
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
}
