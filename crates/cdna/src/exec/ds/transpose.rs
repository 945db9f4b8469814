//! gfx950's transposing reads.

use cairn_codeobj::isa::Inst;

use super::super::Machine;
use super::super::vmem::lanes;
use crate::wave::{Lanes, Wave};

impl Machine<'_> {
    /// gfx950's transposing reads: in each group of 16 lanes, the elements that
    /// lane n reads become element n of the lanes of its part of the group.
    pub(super) fn ds_transpose(&mut self, wave: &mut Wave, inst: &Inst, bits: u32, mask: u64) {
        let (Some(to), Some(from)) = (inst.dst.vector_index(), inst.src[0].vector_index()) else {
            return;
        };
        let bytes = if bits == 6 { 12 } else { 8 };
        let words = bytes as usize / 4;
        let places = self.lds_places(wave, from, inst.memory.offset as u32, bytes);
        let address = &places.address;
        self.counters.lds_read += u64::from(mask.count_ones()) * u64::from(bytes);
        self.conflicts(mask, address, bytes, places.inside);
        if mask == u64::MAX
            && places.inside
            && bits == 16
            && let Some(out) = wave.v.get_mut(to..to + words)
            && self.lds.read_lanes(self.level, address, out, wave.id)
        {
            transpose16(out);
            wave.define(to, mask, u64::MAX);
            wave.define(to + 1, mask, u64::MAX);
            return;
        }
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

/// Turns the four halves of two registers, as every lane has read them, into
/// those that every lane is to have: the halves of 16 lanes are a matrix of
/// four by sixteen, of which a lane gets a column.
fn transpose16(registers: &mut [Lanes]) {
    let [low, high] = registers else {
        return;
    };
    for first in (0..64).step_by(16) {
        // Row r is what lanes 4r to 4r + 3 have read.
        let mut rows = [[0; 16]; 4];
        for (lane, (low, high)) in low[first..][..16].iter().zip(&high[first..]).enumerate() {
            let halves = [low & 0xffff, low >> 16, high & 0xffff, high >> 16];
            rows[lane / 4][lane % 4 * 4..][..4].copy_from_slice(&halves);
        }
        for lane in 0..16 {
            low[first + lane] = rows[0][lane] | rows[1][lane] << 16;
            high[first + lane] = rows[2][lane] | rows[3][lane] << 16;
        }
    }
}
