//! Vector memory: FLAT, GLOBAL, SCRATCH and MUBUF.

mod addresses;
mod flat;
mod global;
mod place;

use cairn_codeobj::isa::{Format, Inst, Op};

use super::Machine;
use super::memory_access::{Access, shape, vector_access};
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
            lds: Vec::new(),
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
        if self.environment.options.count_conflicts {
            self.counters.touch(mask, &self.scratch.address, bytes);
        }
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
                lds: vec![touch],
            },
        );
    }
}
