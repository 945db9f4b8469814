//! The LDS of a workgroup: its bytes, which of them were written, and by which
//! wave since which barrier.

use crate::memory::poison_word;

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

/// Marks of one byte: the barrier interval in the high bits, waves in the low.
const READERS: u32 = 16;

#[derive(Debug, Default)]
pub(crate) struct Lds {
    bytes: Vec<u8>,
    /// Bytes the kernel may use.
    pub(crate) size: usize,
    /// Interval of the last write in bits 8 and up, the writing wave below.
    writer: Vec<u32>,
    /// Interval of the last reads in the high half, a bit a wave below.
    readers: Vec<u32>,
    /// Wave + 1 of a load that is still on its way.
    arriving: Vec<u8>,
    /// Any load into LDS was ever issued.
    any_arriving: bool,
    /// Barriers passed, plus one: 0 stands for never.
    interval: u32,
    track: bool,
    races: bool,
}

const UNWRITTEN: u32 = 0;

impl Lds {
    /// Prepares for a workgroup.
    pub(crate) fn reset(&mut self, size: usize, seed: u64, track: bool, races: bool) {
        let poison = poison_word(seed ^ 0x1d5).to_le_bytes();
        self.size = size;
        self.bytes.clear();
        self.bytes
            .extend((0..size.next_multiple_of(4)).map(|at| poison[at % 4]));
        self.track = track || races;
        self.races = races;
        self.interval = 1;
        self.any_arriving = false;
        if self.track {
            for marks in [&mut self.writer, &mut self.readers] {
                marks.clear();
                marks.resize(size, UNWRITTEN);
            }
            self.arriving.clear();
            self.arriving.resize(size, 0);
        }
    }

    /// A barrier was passed by all waves.
    pub(crate) fn barrier(&mut self) {
        self.interval += 1;
    }

    pub(crate) fn contains(&self, at: u32, count: u32) -> bool {
        (at as usize) < self.size && count as usize <= self.size - at as usize
    }

    #[inline]
    pub(crate) fn load(&self, at: u32) -> u32 {
        let at = at as usize;
        match self.bytes.get(at..at + 4) {
            Some(word) => u32::from_le_bytes([word[0], word[1], word[2], word[3]]),
            None => 0,
        }
    }

    #[inline]
    pub(crate) fn store(&mut self, at: u32, value: u32) {
        let at = at as usize;
        if let Some(word) = self.bytes.get_mut(at..at + 4) {
            word.copy_from_slice(&value.to_le_bytes());
        }
    }

    /// The bytes of an access that is inside.
    #[inline]
    pub(crate) fn run(&self, at: u32, count: u32) -> Option<&[u8]> {
        let at = at as usize;
        self.bytes
            .get(..self.size)?
            .get(at..at.checked_add(count as usize)?)
    }

    pub(crate) fn byte(&self, at: u32) -> u8 {
        self.bytes.get(at as usize).copied().unwrap_or(0)
    }

    pub(crate) fn store_byte(&mut self, at: u32, value: u8) {
        if let Some(byte) = self.bytes.get_mut(at as usize) {
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
        let range = at as usize..(at + count) as usize;
        let mut fault = None;
        let epoch = self.interval << READERS;
        let own = epoch | 1 << (wave % READERS);
        let mine = self.interval << 8 | wave;
        let writer = &self.writer[range.clone()];
        let readers = &mut self.readers[range.clone()];
        for (written, read) in writer.iter().zip(readers) {
            if *written == UNWRITTEN {
                fault = Some(LdsFault::Unwritten);
            } else if *written >> 8 == self.interval && *written != mine && self.races {
                fault = Some(LdsFault::Race {
                    other: *written & 255,
                    wrote: true,
                });
            }
            *read = if *read >> READERS == self.interval {
                *read | own
            } else {
                own
            };
        }
        if self.any_arriving
            && let Some(owner) = self.arriving[range].iter().find(|owner| **owner != 0)
        {
            fault = Some(LdsFault::NotWaited {
                wave: u32::from(*owner) - 1,
            });
        }
        fault
    }

    /// Notes a write of `new` and says what is wrong with it. Waves that write
    /// what is there already do not race with each other.
    #[inline]
    pub(crate) fn note_write(&mut self, at: u32, new: &[u8], wave: u32) -> Option<LdsFault> {
        if !self.contains(at, new.len() as u32) {
            return Some(LdsFault::Outside);
        }
        if !self.track {
            return None;
        }
        let mut fault = None;
        let start = at as usize;
        let mine = self.interval << 8 | wave;
        let own = 1u32 << (wave % READERS);
        for (index, value) in new.iter().enumerate() {
            let at = start + index;
            let (written, read) = (self.writer[at], self.readers[at]);
            if self.races {
                let others = read & 0xffff & !own;
                if written >> 8 == self.interval && written != mine && self.bytes[at] != *value {
                    fault = Some(LdsFault::Race {
                        other: written & 255,
                        wrote: true,
                    });
                } else if read >> READERS == self.interval
                    && others != 0
                    && self.bytes[at] != *value
                {
                    fault = Some(LdsFault::Race {
                        other: others.trailing_zeros(),
                        wrote: false,
                    });
                }
            }
            self.writer[at] = mine;
        }
        fault
    }

    /// Notes an atomic: it orders itself against other atomics.
    pub(crate) fn note_atomic(&mut self, at: u32, count: u32) -> Option<LdsFault> {
        if !self.contains(at, count) {
            return Some(LdsFault::Outside);
        }
        if !self.track {
            return None;
        }
        let range = at as usize..(at + count) as usize;
        let unwritten = self.writer[range].contains(&UNWRITTEN);
        unwritten.then_some(LdsFault::Unwritten)
    }

    /// Bytes written by an operation that was not waited for before a barrier
    /// count as written after it.
    pub(crate) fn postpone(&mut self, at: u32, count: u32, wave: u32) {
        if !self.track || !self.contains(at, count) {
            return;
        }
        for mark in &mut self.writer[at as usize..(at + count) as usize] {
            if *mark & 255 == wave {
                *mark = (self.interval + 1) << 8 | wave;
            }
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
}
