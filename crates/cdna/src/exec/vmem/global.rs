//! Loads, stores and atomics of global memory.

use std::sync::atomic::Ordering::Relaxed;

use cairn_codeobj::isa::Inst;

use super::super::Machine;
use super::super::memory_access::{Change, Form, shape};
use super::{Clip, lanes};
use crate::check::FindingKind;
use crate::memory::Allocation;
use crate::race::Touch;
use crate::wave::Wave;

/// Loads registers from `to` on for all lanes; false where there are none.
fn load_lanes(
    allocation: &Allocation,
    address: &[u64; 64],
    wave: &mut Wave,
    to: usize,
    words: usize,
) -> bool {
    let registers = wave.v.get_mut(to..).unwrap_or_default();
    match words {
        1 => registers
            .first_chunk_mut::<1>()
            .map(|out| allocation.load_lanes(address, out)),
        2 => registers
            .first_chunk_mut::<2>()
            .map(|out| allocation.load_lanes(address, out)),
        4 => registers
            .first_chunk_mut::<4>()
            .map(|out| allocation.load_lanes(address, out)),
        _ => None,
    }
    .is_some()
}

impl Machine<'_> {
    pub(super) fn global_load(
        &mut self,
        wave: &mut Wave,
        inst: &Inst,
        bytes: u32,
        form: Form,
        mask: u64,
        clip: &Clip,
    ) {
        let Some(to) = inst.dst.vector_index() else {
            return;
        };
        self.counters.global_read += u64::from(mask.count_ones()) * u64::from(bytes);
        if self.environment.options.count_conflicts {
            self.counters.touch(mask, &self.scratch.address, bytes);
        }
        let words = bytes.div_ceil(4) as usize;
        let mut known = mask;
        if let Some(found) = self.uniform(mask, bytes, clip) {
            let allocation = &self.environment.memory.allocations()[found];
            let address = &self.scratch.address;
            let track = self.checks.uninitialised && !allocation.is_complete();
            let mut missing = 0u64;
            let at_once =
                mask == u64::MAX && !track && load_lanes(allocation, address, wave, to, words);
            for lane in lanes(mask).filter(|_| !at_once) {
                let offset = self.scratch.address[lane] - allocation.base;
                for word in 0..words {
                    let at = offset + 4 * word as u64;
                    wave.v[to + word][lane] = allocation.load(at);
                    if track && !allocation.is_word_written(at) {
                        missing |= 1 << lane;
                    }
                }
            }
            if missing != 0 {
                let lane = missing.trailing_zeros();
                let address = self.scratch.address[lane as usize];
                let what = format!(
                    "{bytes} bytes at {address:#x} in {} are read and were never written",
                    allocation.name
                );
                self.find(wave, FindingKind::UninitialisedMemory, Some(lane), what);
            }
        } else {
            for lane in lanes(mask) {
                let inside = u32::from(clip[lane]);
                let place = if inside == 0 {
                    None
                } else {
                    self.place(wave, lane, inside, Touch::Read)
                };
                for word in 0..words {
                    let at = 4 * word as u32;
                    let value = match place {
                        Some((found, offset)) if at < inside => {
                            self.load_word(found, offset + u64::from(at), (inside - at).min(4))
                        }
                        _ => 0,
                    };
                    let old = wave.v[to + word][lane];
                    wave.v[to + word][lane] = shape(value, bytes.min(4), form, old);
                }
            }
        }
        if matches!(form, Form::Half { .. }) {
            known &= wave.shadow.defined[to];
        }
        for word in 0..words {
            wave.define(to + word, mask, known);
        }
    }

    pub(super) fn global_store(
        &mut self,
        wave: &mut Wave,
        inst: &Inst,
        bytes: u32,
        high: bool,
        mask: u64,
        clip: &Clip,
    ) {
        let Some(from) = inst.src[1].vector_index() else {
            return;
        };
        self.counters.global_written += u64::from(mask.count_ones()) * u64::from(bytes);
        if self.environment.options.count_conflicts {
            self.counters.touch(mask, &self.scratch.address, bytes);
        }
        let words = bytes.div_ceil(4) as usize;
        if let Some(found) = self.uniform(mask, bytes, clip) {
            let allocation = &self.environment.memory.allocations()[found];
            for lane in lanes(mask) {
                let offset = self.scratch.address[lane] - allocation.base;
                for word in 0..words {
                    allocation.store(offset + 4 * word as u64, wave.v[from + word][lane]);
                }
                allocation.mark(offset, bytes.into());
            }
            return;
        }
        for lane in lanes(mask) {
            let inside = u32::from(clip[lane]);
            if inside == 0 {
                continue;
            }
            let Some((found, offset)) = self.place(wave, lane, inside, Touch::Write) else {
                continue;
            };
            for word in 0..words {
                let at = 4 * word as u32;
                if at < inside {
                    let value = wave.v[from + word][lane] >> (16 * u32::from(high));
                    self.store_word(found, offset + u64::from(at), (inside - at).min(4), value);
                }
            }
            self.environment.memory.allocations()[found].mark(offset, inside.into());
        }
    }

    pub(super) fn global_atomic(
        &mut self,
        wave: &mut Wave,
        inst: &Inst,
        wide: bool,
        change: Change,
        mask: u64,
        clip: &Clip,
    ) {
        let Some(from) = inst.src[1].vector_index() else {
            return;
        };
        let bytes = 4 + 4 * u32::from(wide);
        self.counters.atomics += u64::from(mask.count_ones());
        for lane in lanes(mask) {
            let place = if u32::from(clip[lane]) < bytes {
                None
            } else {
                self.place(wave, lane, bytes, Touch::Atomic)
            };
            let value = |at: usize| {
                let index = from + at * (1 + usize::from(wide));
                let low = u64::from(wave.v[index][lane]);
                if wide {
                    low | u64::from(wave.v[index + 1][lane]) << 32
                } else {
                    low
                }
            };
            // Compare and swap: what to write, then what to compare with.
            let data = value(0);
            let second = if change == Change::CompareSwap {
                value(1)
            } else {
                0
            };
            let old = place.map_or(0, |(found, offset)| {
                let allocation = &self.environment.memory.allocations()[found];
                if wide {
                    // Launches with 64-bit atomics run on one thread or add only.
                    let _order = self.environment.wide_atomics.lock();
                    let old = u64::from(allocation.load(offset))
                        | u64::from(allocation.load(offset + 4)) << 32;
                    let new = change.apply(true, old, data, second);
                    allocation.store(offset, new as u32);
                    allocation.store(offset + 4, (new >> 32) as u32);
                    old
                } else {
                    let word = allocation.word(offset);
                    let update =
                        |old: u32| Some(change.apply(false, old.into(), data, second) as u32);
                    match word.fetch_update(Relaxed, Relaxed, update) {
                        Ok(old) | Err(old) => old.into(),
                    }
                }
            });
            if let Some(to) = inst.dst.vector_index() {
                wave.v[to][lane] = old as u32;
                if wide {
                    wave.v[to + 1][lane] = (old >> 32) as u32;
                }
            }
        }
        if let Some(to) = inst.dst.vector_index() {
            for word in 0..=usize::from(wide) {
                wave.define(to + word, mask, mask);
            }
        }
    }
}
