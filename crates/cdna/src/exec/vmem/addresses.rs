//! Where each lane of a vector memory access goes.

use cairn_codeobj::isa::{Format, Inst, Kind};

use super::super::Machine;
use super::{Clip, lanes};
use crate::check::FindingKind;
use crate::wave::Wave;

impl Machine<'_> {
    /// The address of each lane. False when it cannot be made.
    pub(super) fn addresses(
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
}
