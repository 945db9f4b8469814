//! gfx950's transposing reads.

use cairn_codeobj::isa::Inst;

use super::super::Machine;
use super::super::vmem::lanes;
use crate::wave::Wave;

impl Machine<'_> {
    /// gfx950's transposing reads: in each group of 16 lanes, the elements that
    /// lane n reads become element n of the lanes of its part of the group.
    pub(super) fn ds_transpose(&mut self, wave: &mut Wave, inst: &Inst, bits: u32, mask: u64) {
        let (Some(to), Some(from)) = (inst.dst.vector_index(), inst.src[0].vector_index()) else {
            return;
        };
        let bytes = if bits == 6 { 12 } else { 8 };
        let words = bytes as usize / 4;
        let offset = inst.memory.offset as u32;
        let address = wave.v[from].map(|address| address.wrapping_add(offset));
        self.counters.lds_read += u64::from(mask.count_ones()) * u64::from(bytes);
        self.conflicts(mask, &address, bytes, false);
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
}

/// The lane of a group of 16 whose data holds element `at` of lane `within`.
fn transposed_source(within: usize, at: usize, readers: usize, per_lane: usize) -> usize {
    if per_lane >= 16 {
        return at % 16;
    }
    // Rows are read by `readers` lanes each; row `at` is at lanes at * readers on.
    at * readers + within / per_lane
}
