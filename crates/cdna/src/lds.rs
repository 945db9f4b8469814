//! The LDS of a workgroup: its bytes, which of them were written, and by which
//! wave since which barrier.

pub(crate) mod lanes;
mod marks;

use crate::memory::poison_word;
use crate::valu::Level;
use crate::wave::Lanes;

use marks::Marks;
pub(crate) use marks::Now;

/// What an access to LDS ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LdsFault {
    Outside,
    Unwritten,
    /// Another wave touched the byte since the last barrier.
    Race {
        other: u32,
        wrote: bool,
    },
    /// A load from memory into these bytes was not waited for.
    NotWaited {
        wave: u32,
    },
}

#[derive(Debug, Default)]
pub(crate) struct Lds {
    words: Vec<u32>,
    /// Bytes the kernel may use.
    pub(crate) size: usize,
    marks: Marks,
    /// Wave + 1 of a load that is still on its way.
    arriving: Vec<u8>,
    /// Any load into LDS was ever issued.
    any_arriving: bool,
    track: bool,
    races: bool,
}

impl Lds {
    /// Prepares for a workgroup.
    pub(crate) fn reset(&mut self, size: usize, seed: u64, track: bool, races: bool) {
        self.size = size;
        self.words.clear();
        self.words
            .resize(size.div_ceil(4), poison_word(seed ^ 0x1d5));
        self.track = track || races;
        self.races = races;
        self.any_arriving = false;
        if self.track {
            self.marks.reset(size);
            self.arriving.clear();
            self.arriving.resize(size, 0);
        }
    }

    /// A barrier was passed by all waves.
    pub(crate) fn barrier(&mut self) {
        if self.track {
            self.marks.barrier();
        }
    }

    pub(crate) fn contains(&self, at: u32, count: u32) -> bool {
        (at as usize) < self.size && count as usize <= self.size - at as usize
    }

    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words)
    }

    #[inline]
    pub(crate) fn load(&self, at: u32) -> u32 {
        let at = at as usize;
        match self.bytes().get(at..at + 4) {
            Some(word) => u32::from_le_bytes([word[0], word[1], word[2], word[3]]),
            None => 0,
        }
    }

    #[inline]
    pub(crate) fn store(&mut self, at: u32, value: u32) {
        let at = at as usize;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        if let Some(word) = bytes.get_mut(at..at + 4) {
            word.copy_from_slice(&value.to_le_bytes());
        }
    }

    pub(crate) fn byte(&self, at: u32) -> u8 {
        self.bytes().get(at as usize).copied().unwrap_or(0)
    }

    pub(crate) fn store_byte(&mut self, at: u32, value: u8) {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        if let Some(byte) = bytes.get_mut(at as usize) {
            *byte = value;
        }
    }

    /// Notes a read and says what is wrong with it.
    #[inline]
    pub(crate) fn note_read(&mut self, at: u32, count: u32, wave: u32) -> Option<LdsFault> {
        if !self.contains(at, count) {
            return Some(LdsFault::Outside);
        }
        if !self.track {
            return None;
        }
        let now = self.marks.now(wave);
        let mut fault = self.marks.read(at, count, now, self.races);
        let range = at as usize..(at + count) as usize;
        if self.any_arriving
            && let Some(owner) = self.arriving[range].iter().find(|owner| **owner != 0)
        {
            fault = Some(LdsFault::NotWaited {
                wave: u32::from(*owner) - 1,
            });
        }
        fault
    }

    /// Notes a write of `new` and says what is wrong with it.
    #[inline]
    pub(crate) fn note_write(&mut self, at: u32, new: &[u8], wave: u32) -> Option<LdsFault> {
        if !self.contains(at, new.len() as u32) {
            return Some(LdsFault::Outside);
        }
        if !self.track {
            return None;
        }
        let now = self.marks.now(wave);
        let bytes: &[u8] = bytemuck::cast_slice(&self.words);
        let old = &bytes[at as usize..at as usize + new.len()];
        self.marks.write(at, (old, new), now, self.races)
    }

    /// Notes an atomic: it orders itself against other atomics.
    pub(crate) fn note_atomic(&mut self, at: u32, count: u32) -> Option<LdsFault> {
        if !self.contains(at, count) {
            return Some(LdsFault::Outside);
        }
        if !self.track {
            return None;
        }
        let unwritten = self.marks.unwritten(at, count);
        unwritten.then_some(LdsFault::Unwritten)
    }

    /// Bytes written by an operation that was not waited for before a barrier
    /// count as written after it.
    pub(crate) fn postpone(&mut self, at: u32, count: u32, wave: u32) {
        if self.track && self.contains(at, count) {
            self.marks.postpone(at, count, wave);
        }
    }

    /// Marks bytes that a load is going to fill, or has filled.
    pub(crate) fn arriving(&mut self, at: u32, count: u32, owner: Option<u32>) {
        if self.track && self.contains(at, count) {
            let mark = owner.map_or(0, |wave| wave as u8 + 1);
            self.arriving[at as usize..(at + count) as usize].fill(mark);
            self.any_arriving = true;
        }
    }

    /// Reads the registers of all lanes at places inside, as [`lanes::places`]
    /// finds them. False when something may be wrong: nothing is then read.
    pub(crate) fn read_lanes(
        &mut self,
        level: Level,
        address: &Lanes,
        out: &mut [Lanes],
        wave: u32,
    ) -> bool {
        if self.track {
            let now = self.marks.now(wave);
            let Marks {
                writer, readers, ..
            } = &mut self.marks;
            let count = out.len();
            if self.any_arriving || !level.lds_mark_read(writer, readers, address, count, now) {
                return false;
            }
        }
        level.lds_load(&self.words, address, out);
        true
    }

    /// Writes the registers of all lanes at places inside. False when something
    /// may be wrong: nothing is then written.
    pub(crate) fn write_lanes(
        &mut self,
        level: Level,
        address: &Lanes,
        from: &[Lanes],
        wave: u32,
    ) -> bool {
        if self.track {
            let now = self.marks.now(wave);
            let Marks {
                writer, readers, ..
            } = &mut self.marks;
            if !level.lds_may_write(writer, readers, address, from.len(), now) {
                return false;
            }
            level.lds_mark_written(writer, address, from.len(), now.mine);
        }
        level.lds_store(&mut self.words, address, from);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lds() -> Lds {
        let mut lds = Lds::default();
        lds.reset(64, 1, true, true);
        lds
    }

    #[test]
    fn reads_before_writes_and_beyond_the_end_are_told() {
        let mut lds = lds();
        assert_eq!(lds.note_read(0, 4, 0), Some(LdsFault::Unwritten));
        assert_eq!(lds.note_write(0, &[1; 4], 0), None);
        assert_eq!(lds.note_read(0, 4, 0), None);
        assert_eq!(lds.note_read(62, 4, 0), Some(LdsFault::Outside));
        assert_eq!(lds.note_write(64, &[1], 0), Some(LdsFault::Outside));
    }

    #[test]
    fn two_waves_need_a_barrier_between_them() {
        let race = |other, wrote| Some(LdsFault::Race { other, wrote });
        let mut lds = lds();
        lds.note_write(0, &[1; 4], 0);
        lds.store(0, 0x0101_0101);
        assert_eq!(lds.note_read(0, 4, 1), race(0, true));
        lds.barrier();
        assert_eq!(lds.note_read(0, 4, 1), None);
        assert_eq!(lds.note_write(0, &[2; 4], 0), race(1, false));
        lds.barrier();
        assert_eq!(lds.note_write(0, &[2; 4], 0), None);
        lds.store(0, 0x0202_0202);
        assert_eq!(lds.note_write(0, &[2; 4], 1), None, "the same bytes");
    }

    #[test]
    fn a_write_that_was_not_waited_for_comes_after_the_barrier() {
        let mut lds = lds();
        lds.note_write(0, &[1; 4], 0);
        lds.postpone(0, 4, 0);
        lds.barrier();
        assert!(matches!(
            lds.note_read(0, 4, 1),
            Some(LdsFault::Race { .. })
        ));
    }

    /// All lanes at once do what they do one by one, on every level.
    #[test]
    fn all_lanes_at_once_find_no_fault_that_is_none_and_miss_none() {
        let mut random = 7u64;
        let mut next = move |below: u32| {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (random >> 33) as u32 % below
        };
        let levels = Level::all();
        let mut seen = [0; 2];
        for _ in 0..300 {
            let size = 4096 + next(3);
            let mut one = Lds::default();
            one.reset(size as usize, 3, true, true);
            let mut all: Vec<Lds> = levels
                .iter()
                .map(|_| {
                    let mut lds = Lds::default();
                    lds.reset(size as usize, 3, true, true);
                    lds
                })
                .collect();
            for _ in 0..12 {
                if next(3) == 0 {
                    one.barrier();
                    all.iter_mut().for_each(Lds::barrier);
                }
                let wave = next(2);
                let count = 1 + next(4) as usize;
                let (base, stride) = (4 * next(64), 4 * next(14));
                let address: Lanes = std::array::from_fn(|lane| lane as u32 * stride);
                let mut places = [0; 64];
                let bytes = 4 * count as u32;
                let inside = lanes::places(&address, base, bytes, size, &mut places);
                assert_eq!(inside, places.iter().all(|at| one.contains(*at, bytes)));
                if !inside {
                    continue;
                }
                let values: Vec<Lanes> = (0..count)
                    .map(|_| std::array::from_fn(|_| next(2)))
                    .collect();
                let writes = next(2) == 0;
                // What one lane after the other finds.
                let mut faults = 0;
                let mut read = vec![[0; 64]; count];
                for lane in 0..64 {
                    for word in 0..count {
                        let at = places[lane] + 4 * word as u32;
                        if writes {
                            let value = values[word][lane];
                            let fault = one.note_write(at, &value.to_le_bytes(), wave);
                            faults += u32::from(fault.is_some());
                            one.store(at, value);
                        } else {
                            let fault = one.note_read(at, 4, wave);
                            faults += u32::from(fault.is_some());
                            read[word][lane] = one.load(at);
                        }
                    }
                }
                for (level, lds) in levels.iter().zip(&mut all) {
                    let mut out = vec![[9; 64]; count];
                    let done = if writes {
                        lds.write_lanes(*level, &places, &values, wave)
                    } else {
                        lds.read_lanes(*level, &places, &mut out, wave)
                    };
                    assert!(!(done && faults > 0), "a fault is missed");
                    seen[usize::from(done)] += 1;
                    if done && !writes {
                        assert_eq!(out, read);
                    }
                    for lane in (0..64).filter(|_| !done) {
                        for word in 0..count {
                            let at = places[lane] + 4 * word as u32;
                            if writes {
                                let value = values[word][lane];
                                lds.note_write(at, &value.to_le_bytes(), wave);
                                lds.store(at, value);
                            } else {
                                lds.note_read(at, 4, wave);
                            }
                        }
                    }
                    assert_eq!(lds.words, one.words);
                    assert_eq!(lds.marks.writer, one.marks.writer);
                    assert_eq!(lds.marks.readers, one.marks.readers);
                }
            }
        }
        assert!(
            seen[0] > 100 && seen[1] > 100,
            "both ways are taken: {seen:?}"
        );
    }
}
