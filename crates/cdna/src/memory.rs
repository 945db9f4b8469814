//! Global memory: allocations with guard gaps between them, and which bytes of
//! them were ever written.
//!
//! Words are atomics, so that workgroups on different threads may touch the
//! same memory as they may on a GPU; every access is relaxed, and costs what a
//! plain one costs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::wave::Lanes;

/// Where the first allocation is.
const FIRST: u64 = 0x7f00_0000_0000;
/// Unmapped bytes after each allocation.
const GUARD: u64 = 64 << 10;
/// Allocations begin at multiples of this.
const ALIGN: u64 = 4096;

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
    /// One bit a byte.
    written: Box<[AtomicU64]>,
    /// Every byte is known to be written.
    complete: AtomicBool,
}

impl Allocation {
    fn new(base: u64, bytes: u64, name: &str, poison: u32) -> Self {
        let words = (bytes as usize).div_ceil(4);
        Self {
            base,
            bytes,
            name: name.to_owned(),
            words: (0..words)
                .map(|at| AtomicU32::new(poison.wrapping_mul(at as u32 | 1)))
                .collect(),
            written: (0..words.div_ceil(16)).map(|_| AtomicU64::new(0)).collect(),
            complete: AtomicBool::new(false),
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
        &self.words[offset as usize / 4]
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
            let first = (address - self.base) as usize / 4;
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

    /// True when the aligned word at `offset` was written.
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
}

/// The memory of a device.
#[derive(Debug)]
pub struct Memory {
    allocations: Vec<Arc<Allocation>>,
    next: u64,
    limit: u64,
    used: u64,
    poison: u32,
}

/// Why memory cannot be had or touched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// There is not enough left.
    #[error("out of device memory: {asked} bytes asked for, {left} of {limit} left")]
    Out {
        /// Bytes asked for.
        asked: u64,
        /// Bytes left.
        left: u64,
        /// Bytes in all.
        limit: u64,
    },
    /// Not an allocation.
    #[error("{bytes} bytes at {address:#x} are not in one allocation")]
    Outside {
        /// The first address.
        address: u64,
        /// How many bytes.
        bytes: u64,
    },
}

impl Memory {
    /// Memory of at most `limit` bytes; what is not written yet reads as a
    /// pattern made of `seed`.
    #[must_use]
    pub fn new(limit: u64, seed: u64) -> Self {
        Self {
            allocations: Vec::new(),
            next: FIRST,
            limit,
            used: 0,
            poison: poison_word(seed),
        }
    }

    /// Allocates memory that nobody has written.
    ///
    /// # Errors
    /// When there is not enough.
    pub fn allocate(&mut self, bytes: u64, name: &str) -> Result<u64, MemoryError> {
        let left = self.limit - self.used;
        if bytes > left {
            return Err(MemoryError::Out {
                asked: bytes,
                left,
                limit: self.limit,
            });
        }
        let base = self.next;
        self.next = (base + bytes + GUARD).next_multiple_of(ALIGN);
        self.used += bytes;
        let allocation = Allocation::new(base, bytes, name, self.poison);
        self.allocations.push(Arc::new(allocation));
        Ok(base)
    }

    /// Gives an allocation back.
    ///
    /// # Errors
    /// When none begins there.
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        let at = self
            .allocations
            .iter()
            .position(|allocation| allocation.base == address);
        let Some(at) = at else {
            return Err(MemoryError::Outside { address, bytes: 0 });
        };
        self.used -= self.allocations.remove(at).bytes;
        Ok(())
    }

    /// Bytes allocated.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used
    }

    /// The allocation that has `bytes` at `address`.
    #[must_use]
    pub fn find(&self, address: u64, bytes: u64) -> Option<&Arc<Allocation>> {
        let after = self
            .allocations
            .partition_point(|allocation| allocation.base <= address);
        let found = &self.allocations[after.checked_sub(1)?];
        found.contains(address, bytes).then_some(found)
    }

    /// The allocation whose first byte or nearest end is next to `address`.
    #[must_use]
    pub fn nearest(&self, address: u64) -> Option<&Arc<Allocation>> {
        self.allocations.iter().min_by_key(|allocation| {
            let end = allocation.base + allocation.bytes;
            if address < allocation.base {
                allocation.base - address
            } else {
                address.saturating_sub(end)
            }
        })
    }

    pub(crate) fn allocations(&self) -> &[Arc<Allocation>] {
        &self.allocations
    }

    fn get(&self, address: u64, bytes: u64) -> Result<&Arc<Allocation>, MemoryError> {
        self.find(address, bytes)
            .ok_or(MemoryError::Outside { address, bytes })
    }

    /// Copies bytes into memory.
    ///
    /// # Errors
    /// When they do not lie in one allocation.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let allocation = self.get(address, bytes.len() as u64)?;
        let start = address - allocation.base;
        let mut at = 0;
        while at < bytes.len() {
            let offset = start + at as u64;
            if offset.is_multiple_of(4)
                && let Some(word) = bytes.get(at..at + 4)
            {
                allocation.store(
                    offset,
                    u32::from_le_bytes([word[0], word[1], word[2], word[3]]),
                );
                at += 4;
            } else {
                let shift = offset % 4 * 8;
                allocation.store_masked(offset, u32::from(bytes[at]) << shift, 0xff << shift);
                at += 1;
            }
        }
        allocation.mark(start, bytes.len() as u64);
        if bytes.len() as u64 == allocation.bytes {
            allocation.complete.store(true, Relaxed);
        }
        Ok(())
    }

    /// Copies bytes out of memory.
    ///
    /// # Errors
    /// When they do not lie in one allocation.
    pub fn read(&self, address: u64, bytes: u64) -> Result<Vec<u8>, MemoryError> {
        if bytes == 0 {
            return Ok(Vec::new());
        }
        let allocation = self.get(address, bytes)?;
        let start = address - allocation.base;
        let out = (start..start + bytes).map(|offset| allocation.load_byte(offset));
        Ok(out.collect())
    }

    /// How many of the bytes were never written.
    ///
    /// # Errors
    /// When they do not lie in one allocation.
    pub fn unwritten(&self, address: u64, bytes: u64) -> Result<u64, MemoryError> {
        if bytes == 0 {
            return Ok(0);
        }
        let allocation = self.get(address, bytes)?;
        let start = address - allocation.base;
        let missing = (start..start + bytes).filter(|offset| !allocation.is_written(*offset, 1));
        Ok(missing.count() as u64)
    }
}

/// A word that is no small number, no likely address and no plain float.
#[must_use]
pub fn poison_word(seed: u64) -> u32 {
    let mixed = (seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 32) as u32 & 0x007f_ffff | 0xabc0_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_and_are_known_to_be_written() {
        let mut memory = Memory::new(1 << 20, 1);
        let at = memory.allocate(100, "a").unwrap();
        memory.write(at + 3, &[1, 2, 3, 4, 5, 6, 7]).unwrap();
        assert_eq!(memory.read(at + 3, 7).unwrap(), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(memory.unwritten(at, 100).unwrap(), 93);
        assert!(memory.find(at + 3, 7).unwrap().is_written(3, 7));
        assert!(!memory.find(at + 3, 7).unwrap().is_written(2, 7));
    }

    #[test]
    fn only_what_is_allocated_can_be_touched() {
        let mut memory = Memory::new(1 << 20, 1);
        let at = memory.allocate(100, "a").unwrap();
        let other = memory.allocate(8, "b").unwrap();
        assert!(other >= at + 100 + GUARD);
        assert!(memory.write(at + 97, &[0; 4]).is_err());
        assert!(memory.read(at - 1, 2).is_err());
        assert!(matches!(
            memory.allocate(2 << 20, "c"),
            Err(MemoryError::Out { .. })
        ));
        assert_eq!(memory.used(), 108);
        memory.free(at).unwrap();
        assert!(memory.free(at).is_err());
        assert!(memory.read(at, 1).is_err());
        assert_eq!(memory.used(), 8);
    }
}
