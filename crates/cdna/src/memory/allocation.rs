//! A stretch of memory: its words, and which of its bytes were ever written.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::wave::Lanes;

/// Memory of the host begins at multiples of this.
const HOST_ALIGN: u64 = 4096;

/// A slice made by `value`; `None` when there is no memory for it.
fn filled<T>(count: usize, value: impl Fn(usize) -> T) -> Option<Box<[T]>> {
    let mut list = Vec::new();
    list.try_reserve_exact(count).ok()?;
    list.extend((0..count).map(value));
    Some(list.into_boxed_slice())
}

/// A stretch of memory.
#[derive(Debug)]
pub struct Allocation {
    /// Its first address.
    pub base: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// What it is, for reports.
    pub name: String,
    words: Box<[AtomicU32]>,
    /// Words before the first one, so that it is where `base` says.
    skip: usize,
    /// One bit a byte.
    written: Box<[AtomicU64]>,
    /// Every byte is known to be written.
    complete: AtomicBool,
}

impl Allocation {
    /// `None` when this machine has no memory for it.
    pub(crate) fn new(base: u64, bytes: u64, name: &str, poison: u32) -> Option<Self> {
        let words = usize::try_from(bytes).ok()?.div_ceil(4);
        let poison = |at| AtomicU32::new(poison.wrapping_mul(at as u32 | 1));
        Some(Self {
            base,
            bytes,
            name: name.to_owned(),
            words: filled(words, poison)?,
            skip: 0,
            written: filled(words.div_ceil(16), |_| AtomicU64::new(0))?,
            complete: AtomicBool::new(false),
        })
    }

    /// Memory of the host that devices reach at the same address; it holds zeros, and all
    /// of it counts as written. `None` when this machine has no memory for it.
    #[must_use]
    pub fn of_host(bytes: u64, name: &str) -> Option<Self> {
        let words = usize::try_from(bytes).ok()?.div_ceil(4);
        let page = HOST_ALIGN as usize / 4;
        let words = filled(words.checked_add(page)?, |_| AtomicU32::new(0))?;
        let first = words.as_ptr().addr();
        let base = first.next_multiple_of(HOST_ALIGN as usize);
        Some(Self {
            base: base as u64,
            bytes,
            name: name.to_owned(),
            skip: (base - first) / 4,
            words,
            written: Box::default(),
            complete: AtomicBool::new(true),
        })
    }

    /// Where the host reads and writes it: null but for memory of the host.
    #[must_use]
    pub fn host_pointer(&self) -> *mut u8 {
        if self.written.is_empty() {
            self.words[self.skip..].as_ptr().cast_mut().cast()
        } else {
            std::ptr::null_mut()
        }
    }

    /// True when `bytes` at `address` are inside.
    #[inline]
    #[must_use]
    pub fn contains(&self, address: u64, bytes: u64) -> bool {
        let offset = address.wrapping_sub(self.base);
        offset < self.bytes && bytes <= self.bytes - offset
    }

    /// The word that holds the byte at `offset`.
    #[inline]
    pub(crate) fn word(&self, offset: u64) -> &AtomicU32 {
        &self.words[self.skip + offset as usize / 4]
    }

    /// Loads four bytes at a multiple of four.
    #[inline]
    pub(crate) fn load(&self, offset: u64) -> u32 {
        self.word(offset).load(Relaxed)
    }

    /// Loads words of all lanes at addresses that are inside.
    #[inline]
    pub(crate) fn load_lanes<const W: usize>(&self, address: &[u64; 64], out: &mut [Lanes; W]) {
        for (lane, address) in address.iter().enumerate() {
            let first = self.skip + (address - self.base) as usize / 4;
            if let Some(words) = self.words.get(first..first + W) {
                for (word, out) in words.iter().zip(&mut *out) {
                    out[lane] = word.load(Relaxed);
                }
            }
        }
    }

    #[inline]
    pub(crate) fn store(&self, offset: u64, value: u32) {
        self.word(offset).store(value, Relaxed);
    }

    pub(crate) fn load_byte(&self, offset: u64) -> u8 {
        (self.load(offset) >> (offset % 4 * 8)) as u8
    }

    /// Stores the bytes of `value` that `mask` has bits for.
    pub(crate) fn store_masked(&self, offset: u64, value: u32, mask: u32) {
        // Neighbouring bytes may be stored by others at the same time.
        let word = self.word(offset);
        let mut old = word.load(Relaxed);
        loop {
            let new = old & !mask | value & mask;
            match word.compare_exchange_weak(old, new, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(now) => old = now,
            }
        }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.complete.load(Relaxed)
    }

    /// True when the `count` bytes at `offset`, at most 16, were written.
    pub(crate) fn is_written(&self, offset: u64, count: u64) -> bool {
        if self.is_complete() {
            return true;
        }
        (offset..offset + count).all(|at| {
            let bits = self.written[at as usize / 64].load(Relaxed);
            bits >> (at % 64) & 1 != 0
        })
    }

    /// True when the aligned word at `offset` was written; not to be asked when all is.
    #[inline]
    pub(crate) fn is_word_written(&self, offset: u64) -> bool {
        let bits = self.written[offset as usize / 64].load(Relaxed);
        bits >> (offset % 64) & 15 == 15
    }

    /// Notes that bytes were written.
    pub(crate) fn mark(&self, offset: u64, count: u64) {
        if self.is_complete() {
            return;
        }
        let (mut at, end) = (offset, offset + count);
        while at < end {
            let room = (64 - at % 64).min(end - at);
            let bits = if room == 64 {
                u64::MAX
            } else {
                ((1 << room) - 1) << (at % 64)
            };
            let word = &self.written[at as usize / 64];
            if word.load(Relaxed) & bits != bits {
                word.fetch_or(bits, Relaxed);
            }
            at += room;
        }
    }

    /// Copies bytes in.
    ///
    /// # Panics
    /// When they are not all inside.
    pub fn write(&self, start: u64, bytes: &[u8]) {
        assert!(self.holds(start, bytes.len() as u64));
        let mut at = 0;
        while at < bytes.len() {
            let offset = start + at as u64;
            if offset.is_multiple_of(4)
                && let Some(word) = bytes.get(at..at + 4)
            {
                self.store(
                    offset,
                    u32::from_le_bytes([word[0], word[1], word[2], word[3]]),
                );
                at += 4;
            } else {
                let shift = offset % 4 * 8;
                self.store_masked(offset, u32::from(bytes[at]) << shift, 0xff << shift);
                at += 1;
            }
        }
        self.mark_all(start, bytes.len() as u64);
    }

    /// Copies bytes out.
    ///
    /// # Panics
    /// When they are not all inside.
    pub fn read(&self, start: u64, into: &mut [u8]) {
        assert!(self.holds(start, into.len() as u64));
        let mut at = 0;
        while at < into.len() {
            let offset = start + at as u64;
            if offset.is_multiple_of(4)
                && let Some(word) = into.get_mut(at..at + 4)
            {
                word.copy_from_slice(&self.load(offset).to_le_bytes());
                at += 4;
            } else {
                into[at] = self.load_byte(offset);
                at += 1;
            }
        }
    }

    /// Copies bytes from another stretch, or from elsewhere in this one. Bytes that were
    /// never written stay so.
    ///
    /// # Panics
    /// When they are not all inside of both.
    pub fn copy(&self, start: u64, from: &Self, first: u64, bytes: u64) {
        const PART: u64 = 1 << 16;
        assert!(self.holds(start, bytes) && from.holds(first, bytes));
        let count = bytes.div_ceil(PART);
        // Where the two overlap, a part is read before what lies there is overwritten.
        let backwards = std::ptr::eq(self, from) && start > first;
        let mut buffer = vec![0; bytes.min(PART) as usize];
        for part in 0..count {
            let part = if backwards { count - 1 - part } else { part };
            let (offset, length) = (part * PART, (bytes - part * PART).min(PART));
            let buffer = &mut buffer[..length as usize];
            from.read(first + offset, buffer);
            let unwritten: Vec<u64> = if from.is_written_all(first + offset, length) {
                Vec::new()
            } else {
                (0..length)
                    .filter(|at| !from.is_written(first + offset + at, 1))
                    .filter(|at| !self.is_written(start + offset + at, 1))
                    .collect()
            };
            if unwritten.is_empty() {
                self.write(start + offset, buffer);
                continue;
            }
            let mut next = 0;
            for stop in unwritten.into_iter().chain([length]) {
                let run = &buffer[next as usize..stop as usize];
                self.write(start + offset + next, run);
                next = stop + 1;
            }
        }
    }

    fn holds(&self, start: u64, bytes: u64) -> bool {
        start
            .checked_add(bytes)
            .is_some_and(|end| end <= self.bytes)
    }

    fn is_written_all(&self, start: u64, bytes: u64) -> bool {
        let mut at = if self.is_complete() {
            start + bytes
        } else {
            start
        };
        while at < start + bytes {
            let step = if at.is_multiple_of(4) && at + 4 <= start + bytes {
                4
            } else {
                1
            };
            let written = match step {
                4 => self.is_word_written(at),
                _ => self.is_written(at, 1),
            };
            if !written {
                return false;
            }
            at += step;
        }
        true
    }

    /// Notes that bytes were written, and whether those are all there are.
    fn mark_all(&self, start: u64, bytes: u64) {
        self.mark(start, bytes);
        if bytes == self.bytes {
            self.complete.store(true, Relaxed);
        }
    }
}
