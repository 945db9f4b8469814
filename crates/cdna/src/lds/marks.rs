//! Who touched which LDS since which barrier. Marks are kept by word; a word
//! whose bytes differ is split into bytes, until they are alike again.

use super::LdsFault;

/// Bits of a readers' mark that are waves; the interval is above them.
const READERS: u32 = 16;
/// Never written.
const UNWRITTEN: u32 = 0;
/// A writer's mark: the bytes of the word have marks of their own.
const SPLIT: u32 = u32::MAX;
/// The last interval; marks are then made anew, as of intervals long past.
const LAST: u32 = 0xffff;

/// The marks of the bytes of a split word.
#[derive(Clone, Copy, Debug, Default)]
struct Bytes {
    writer: [u32; 4],
    readers: [u32; 4],
}

#[derive(Debug, Default)]
pub(super) struct Marks {
    /// Interval of the last write in bits 8 and up, the writing wave below.
    pub(super) writer: Vec<u32>,
    /// Interval of the last reads in the high half, a bit a wave below.
    pub(super) readers: Vec<u32>,
    /// Marks of split words; empty while there are none.
    bytes: Vec<Bytes>,
    /// Barriers passed, plus one: 0 stands for never.
    interval: u32,
}

/// What marks of a wave in the current interval look like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    /// The interval, as readers' marks have it.
    pub(super) interval: u32,
    /// The least writer's mark of this interval.
    pub(super) first: u32,
    /// The wave's own writer's mark.
    pub(super) mine: u32,
    /// The wave's own readers' mark.
    pub(super) own: u32,
}

impl Now {
    const fn reading(self, mark: u32) -> u32 {
        if mark >> READERS == self.interval {
            mark | self.own
        } else {
            self.own
        }
    }

    /// What is wrong with a read of what has this writer's mark.
    const fn read_fault(self, written: u32, races: bool) -> Option<LdsFault> {
        if written == UNWRITTEN {
            return Some(LdsFault::Unwritten);
        }
        if races && written >> 8 == self.interval && written != self.mine {
            return Some(LdsFault::Race {
                other: written & 255,
                wrote: true,
            });
        }
        None
    }

    /// What is wrong with a write that changes what has these marks.
    const fn write_fault(self, written: u32, read: u32) -> Option<LdsFault> {
        if written >> 8 == self.interval && written != self.mine {
            return Some(LdsFault::Race {
                other: written & 255,
                wrote: true,
            });
        }
        let others = read & !self.own & 0xffff;
        if read >> READERS == self.interval && others != 0 {
            return Some(LdsFault::Race {
                other: others.trailing_zeros(),
                wrote: false,
            });
        }
        None
    }
}

/// The words of `count` bytes at `at`, with the bytes of each.
fn parts(at: u32, count: u32) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> {
    let (start, end) = (at as usize, at as usize + count as usize);
    (start / 4..end.div_ceil(4)).map(move |word| {
        let low = start.saturating_sub(4 * word);
        (word, low..(end - 4 * word).min(4))
    })
}

impl Marks {
    pub(super) fn reset(&mut self, bytes: usize) {
        let words = bytes.div_ceil(4);
        for marks in [&mut self.writer, &mut self.readers] {
            marks.clear();
            marks.resize(words, UNWRITTEN);
        }
        self.bytes.clear();
        self.interval = 1;
    }

    /// A barrier was passed by all waves.
    pub(super) fn barrier(&mut self) {
        self.interval += 1;
        if self.interval == LAST {
            // What was postponed belongs to this interval, all else to the past.
            let anew = |mark: &mut u32| match *mark {
                UNWRITTEN | SPLIT => {}
                mark_now => {
                    let interval = if mark_now >> 8 == LAST { 2 } else { 1 };
                    *mark = interval << 8 | mark_now & 255;
                }
            };
            self.writer.iter_mut().for_each(anew);
            self.readers.fill(0);
            for split in &mut self.bytes {
                split.writer.iter_mut().for_each(anew);
                split.readers = [0; 4];
            }
            self.interval = 2;
        }
    }

    #[inline]
    pub(super) fn now(&self, wave: u32) -> Now {
        Now {
            interval: self.interval,
            first: self.interval << 8,
            mine: self.interval << 8 | wave,
            own: self.interval << READERS | 1 << (wave % READERS),
        }
    }

    /// The marks of the bytes of a word that is split from now on.
    fn split(&mut self, word: usize) -> &mut Bytes {
        if self.bytes.is_empty() {
            self.bytes.resize(self.writer.len(), Bytes::default());
        }
        let bytes = &mut self.bytes[word];
        let writer = std::mem::replace(&mut self.writer[word], SPLIT);
        if writer != SPLIT {
            *bytes = Bytes {
                writer: [writer; 4],
                readers: [self.readers[word]; 4],
            };
        }
        bytes
    }

    /// Makes a split word whole again, if its bytes are alike.
    fn join(&mut self, word: usize) {
        let Bytes { writer, readers } = self.bytes[word];
        if writer == [writer[0]; 4] && readers == [readers[0]; 4] {
            self.writer[word] = writer[0];
            self.readers[word] = readers[0];
        }
    }

    fn is_whole(&self, word: usize, bytes: &std::ops::Range<usize>) -> bool {
        *bytes == (0..4) && self.writer[word] != SPLIT
    }

    pub(super) fn read(&mut self, at: u32, count: u32, now: Now, races: bool) -> Option<LdsFault> {
        let mut fault = None;
        for (word, bytes) in parts(at, count) {
            if self.is_whole(word, &bytes) {
                fault = now.read_fault(self.writer[word], races).or(fault);
                self.readers[word] = now.reading(self.readers[word]);
                continue;
            }
            let marks = self.split(word);
            for byte in bytes {
                fault = now.read_fault(marks.writer[byte], races).or(fault);
                marks.readers[byte] = now.reading(marks.readers[byte]);
            }
            self.join(word);
        }
        fault
    }

    /// Notes a write of `new` over `old`. Waves that write what is there
    /// already do not race with each other.
    pub(super) fn write(
        &mut self,
        at: u32,
        (old, new): (&[u8], &[u8]),
        now: Now,
        races: bool,
    ) -> Option<LdsFault> {
        let mut fault = None;
        for (word, bytes) in parts(at, new.len() as u32) {
            let from = 4 * word + bytes.start - at as usize;
            let changes = |byte: usize| races && old[byte] != new[byte];
            if self.is_whole(word, &bytes) {
                if (from..from + 4).any(changes) {
                    let found = now.write_fault(self.writer[word], self.readers[word]);
                    fault = found.or(fault);
                }
                self.writer[word] = now.mine;
                continue;
            }
            let marks = self.split(word);
            for (byte, from) in bytes.zip(from..) {
                if changes(from) {
                    fault = now
                        .write_fault(marks.writer[byte], marks.readers[byte])
                        .or(fault);
                }
                marks.writer[byte] = now.mine;
            }
            self.join(word);
        }
        fault
    }

    /// Some of the bytes were never written.
    pub(super) fn unwritten(&self, at: u32, count: u32) -> bool {
        parts(at, count).any(|(word, bytes)| match self.writer[word] {
            SPLIT => self.bytes[word].writer[bytes].contains(&UNWRITTEN),
            writer => writer == UNWRITTEN,
        })
    }

    /// Bytes that a wave wrote last count as written in the next interval.
    pub(super) fn postpone(&mut self, at: u32, count: u32, wave: u32) {
        let next = (self.interval + 1) << 8 | wave;
        for (word, bytes) in parts(at, count) {
            if self.is_whole(word, &bytes) {
                if self.writer[word] & 255 == wave {
                    self.writer[word] = next;
                }
                continue;
            }
            let marks = self.split(word);
            for byte in bytes {
                if marks.writer[byte] & 255 == wave {
                    marks.writer[byte] = next;
                }
            }
            self.join(word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks() -> Marks {
        let mut marks = Marks::default();
        marks.reset(16);
        marks
    }

    /// Marks a write of bytes that differ from what is there.
    fn write(marks: &mut Marks, at: u32, count: usize, wave: u32) -> Option<LdsFault> {
        let now = marks.now(wave);
        marks.write(at, (&[0; 8][..count], &[1; 8][..count]), now, true)
    }

    fn read(marks: &mut Marks, at: u32, count: u32, wave: u32) -> Option<LdsFault> {
        let now = marks.now(wave);
        marks.read(at, count, now, true)
    }

    #[test]
    fn waves_may_touch_different_bytes_of_a_word() {
        let race = |other, wrote| Some(LdsFault::Race { other, wrote });
        let mut marks = marks();
        assert_eq!(write(&mut marks, 0, 2, 0), None);
        assert_eq!(write(&mut marks, 2, 2, 1), None);
        assert_eq!(read(&mut marks, 0, 2, 0), None);
        assert_eq!(read(&mut marks, 0, 4, 0), race(1, true));
        assert_eq!(read(&mut marks, 4, 1, 0), Some(LdsFault::Unwritten));
        assert!(marks.unwritten(2, 4) && !marks.unwritten(0, 4));
        assert_eq!(write(&mut marks, 1, 1, 1), race(0, true));
        marks.barrier();
        // Words that were split are read as words, and become whole.
        assert_eq!(read(&mut marks, 0, 4, 0), None);
        assert_eq!(write(&mut marks, 3, 2, 1), race(0, false));
        marks.barrier();
        assert_eq!(write(&mut marks, 0, 4, 2), None);
        assert_eq!(marks.writer[0], marks.now(2).mine, "whole again");
    }

    #[test]
    fn nothing_is_forgotten_over_many_barriers() {
        let mut marks = marks();
        write(&mut marks, 0, 4, 0);
        write(&mut marks, 4, 1, 3);
        marks.barrier();
        for _ in 0..3 * LAST {
            let race = |other, wrote| Some(LdsFault::Race { other, wrote });
            assert_eq!(read(&mut marks, 0, 5, 1), None);
            assert_eq!(write(&mut marks, 0, 5, 2), race(1, false));
            marks.postpone(4, 1, 2);
            marks.barrier();
            assert_eq!(read(&mut marks, 4, 1, 1), race(2, true));
            assert_eq!(read(&mut marks, 5, 1, 1), Some(LdsFault::Unwritten));
            marks.barrier();
        }
    }
}
