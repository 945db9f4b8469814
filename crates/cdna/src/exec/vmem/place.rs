//! From addresses to places in allocations, with every check on the way.

use super::super::Machine;
use super::{Clip, lanes};
use crate::check::FindingKind;
use crate::race::Touch;
use crate::wave::Wave;

impl Machine<'_> {
    /// The allocation of an address.
    pub(in super::super) fn locate(&mut self, address: u64, bytes: u64) -> Option<usize> {
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
    pub(super) fn place(
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
        self.environment
            .lines
            .mark(found, allocation, offset, bytes.into());
        Some((found, offset))
    }

    /// Loads the word at an offset, whatever its alignment.
    pub(super) fn load_word(&self, allocation: usize, offset: u64, bytes: u32) -> u32 {
        let allocation = &self.environment.memory.allocations()[allocation];
        if offset.is_multiple_of(4) && bytes == 4 {
            return allocation.load(offset);
        }
        (0..bytes).fold(0, |word, at| {
            word | u32::from(allocation.load_byte(offset + u64::from(at))) << (8 * at)
        })
    }

    pub(super) fn store_word(&self, allocation: usize, offset: u64, bytes: u32, value: u32) {
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
    pub(super) fn uniform(&mut self, mask: u64, bytes: u32, clip: &Clip) -> Option<usize> {
        if self.environment.races.is_some() || !bytes.is_multiple_of(4) || mask == 0 {
            return None;
        }
        let address = &self.scratch.address;
        let (mut low, mut high, mut bits) = (u64::MAX, 0, 0);
        if mask == u64::MAX {
            if *clip != [bytes as u8; 64] {
                return None;
            }
            (low, high, bits) = self.level.span(address);
        }
        for lane in lanes(mask).filter(|_| mask != u64::MAX) {
            low = low.min(address[lane]);
            high = high.max(address[lane]);
            bits |= address[lane];
            if u32::from(clip[lane]) != bytes {
                return None;
            }
        }
        if bits & 3 != 0 {
            return None;
        }
        let found = self.locate(low, high - low + u64::from(bytes))?;
        let allocation = &self.environment.memory.allocations()[found];
        let address = &self.scratch.address;
        let lines = &self.environment.lines;
        lines.mark_lanes(found, allocation, mask, address, bytes.into());
        Some(found)
    }
}
