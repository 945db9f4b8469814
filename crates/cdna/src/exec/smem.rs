//! Scalar memory.

use cairn_codeobj::isa::{Kind, Op};

use super::Machine;
use crate::check::FindingKind;
use crate::program::Step;
use crate::race::Touch;
use crate::wave::{Counter, Pending, Wave};

pub(super) const fn is_supported(op: Op) -> bool {
    matches!(
        op,
        Op::S_LOAD_DWORD
            | Op::S_LOAD_DWORDX2
            | Op::S_LOAD_DWORDX4
            | Op::S_LOAD_DWORDX8
            | Op::S_LOAD_DWORDX16
            | Op::S_BUFFER_LOAD_DWORD
            | Op::S_BUFFER_LOAD_DWORDX2
            | Op::S_BUFFER_LOAD_DWORDX4
            | Op::S_BUFFER_LOAD_DWORDX8
            | Op::S_BUFFER_LOAD_DWORDX16
            | Op::S_DCACHE_INV
            | Op::S_DCACHE_WB
            | Op::S_DCACHE_INV_VOL
            | Op::S_DCACHE_WB_VOL
            | Op::S_MEMTIME
            | Op::S_MEMREALTIME
    )
}

impl Machine<'_> {
    pub(super) fn smem(&mut self, wave: &mut Wave, step: &Step) {
        let inst = &step.inst;
        let (_, count) = inst.data_dwords();
        let first = inst.dst.scalar_index().unwrap_or(0);
        let pending = |count| Pending {
            counter: Counter::Scalar,
            fills: (first as u16, count),
            lds: None,
            half: false,
        };
        if matches!(inst.op, Op::S_MEMTIME | Op::S_MEMREALTIME) {
            // A clock that counts the wave's own instructions: the same every time.
            wave.write_scalar(inst.dst, 2, 4 * wave.executed, 0);
            self.issue(wave, pending(2));
            return;
        }
        if !inst.src[0].is_some() {
            return;
        }
        let offset_register = inst.src[1];
        let mut offset = i64::from(inst.memory.offset);
        let mut undefined = 0;
        if offset_register.is_some() {
            offset += wave.scalar(inst, offset_register, Kind::B32) as i64;
            undefined |= wave.scalar_undefined(offset_register, Kind::B32);
        }
        let base_at = usize::from(inst.src[0].0);
        let buffer = inst.info().upper.contains("BUFFER");
        let base = wave.pair(base_at);
        undefined |= wave.scalar_undefined(inst.src[0], Kind::B64);
        self.need_defined(wave, 1, u64::from(undefined == 0), "the address");
        let (base, room) = if buffer {
            let stride = u64::from(wave.s[base_at + 1] >> 16 & 0x3fff);
            let records = u64::from(wave.s[base_at + 2]);
            let size = if stride == 0 {
                records
            } else {
                records * stride
            };
            (base & 0xffff_ffff_ffff, size.saturating_sub(offset as u64))
        } else {
            (base, u64::MAX)
        };
        let address = base.wrapping_add_signed(offset) & !3;
        let bytes = u64::from(count) * 4;
        self.counters.scalar_read += bytes;
        for word in 0..u64::from(count) {
            let value = if (word + 1) * 4 <= room {
                self.scalar_word(wave, address + 4 * word, bytes)
            } else {
                0
            };
            if let Some(register) = wave.s.get_mut(first + word as usize) {
                *register = value;
                wave.shadow.undefined[first + word as usize] = 0;
            }
        }
        self.issue(wave, pending(count));
    }

    fn scalar_word(&mut self, wave: &Wave, address: u64, bytes: u64) -> u32 {
        let Some(found) = self.locate(address, 4) else {
            let what = format!("{bytes} bytes read at {address:#x}, outside of every allocation");
            self.find(wave, FindingKind::OutOfBounds, None, what);
            return 0;
        };
        let allocation = &self.environment.memory.allocations()[found];
        let offset = address - allocation.base;
        if self.checks.uninitialised && !allocation.is_written(offset, 4) {
            let name = &allocation.name;
            let what = format!("4 bytes at {address:#x} in {name} are read and were never written");
            self.find(wave, FindingKind::UninitialisedMemory, None, what);
        }
        if let Some(races) = &self.environment.races
            && let Some(other) = races.touch(found, offset, 4, self.order, Touch::Read)
        {
            let name = &allocation.name;
            let what = format!(
                "4 bytes at offset {offset} of {name} are read here and touched by workgroup {other} without anything between"
            );
            self.find(wave, FindingKind::GlobalRace, None, what);
        }
        allocation.load(offset)
    }
}
