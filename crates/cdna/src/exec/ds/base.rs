//! LDS operations that take their address from M0.

use cairn_codeobj::isa::{Inst, Operand};

use super::super::Machine;
use super::super::memory_access::Change;
use super::super::vmem::lanes;
use crate::wave::{LdsTouch, Wave};

/// M0 as an operand.
const M0: Operand = Operand(124);

impl Machine<'_> {
    /// The address that M0 and an offset make.
    fn base(&mut self, wave: &Wave, inst: &Inst, mask: u64) -> u32 {
        self.need_defined(wave, mask, wave.defined(M0, 1), "the LDS address in M0");
        (wave.s[124] & 0xffff).wrapping_add(inst.memory.offset as u32)
    }

    /// Reads or writes a word a lane, one after the other.
    pub(super) fn ds_by_lane(
        &mut self,
        wave: &mut Wave,
        inst: &Inst,
        writes: bool,
        mask: u64,
    ) -> Option<LdsTouch> {
        let base = self.base(wave, inst, mask);
        let register = if writes { inst.src[1] } else { inst.dst }.vector_index()?;
        let address = std::array::from_fn(|lane| base.wrapping_add(4 * lane as u32));
        for lane in lanes(mask) {
            if writes {
                let value = wave.v[register][lane];
                self.lds_store(wave, lane, address[lane], 4, value);
            } else {
                self.check_lds_read(wave, lane, address[lane], 4);
                wave.v[register][lane] = self.lds_value(address[lane], 4);
            }
        }
        if !writes {
            wave.define(register, mask, u64::MAX);
            self.counters.lds_read += 4 * u64::from(mask.count_ones());
            return None;
        }
        Some(LdsTouch {
            lanes: mask,
            address,
            bytes: 4,
            from_memory: false,
        })
    }

    /// Changes a word by the number of lanes that run; each gets the old one.
    pub(super) fn ds_count(&mut self, wave: &mut Wave, inst: &Inst, change: Change, mask: u64) {
        let at = self.base(wave, inst, mask);
        let (Some(to), Some(first)) = (inst.dst.vector_index(), lanes(mask).next()) else {
            return;
        };
        let count = u64::from(mask.count_ones());
        let old = self.lds_change(wave, first, at, false, change, count, 0);
        for lane in lanes(mask) {
            wave.v[to][lane] = old as u32;
        }
        wave.define(to, mask, u64::MAX);
        self.counters.atomics += 1;
    }
}
