//! DS operations that move values between lanes and touch no LDS.

use cairn_codeobj::isa::Inst;

use super::super::Machine;
use super::super::vmem::lanes;
use crate::wave::Wave;

impl Machine<'_> {
    pub(super) fn permute(&mut self, wave: &mut Wave, inst: &Inst, mask: u64) {
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

    pub(super) fn backward_permute(&mut self, wave: &mut Wave, inst: &Inst, mask: u64) {
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

pub(super) fn swizzle(wave: &mut Wave, inst: &Inst, mask: u64) {
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
