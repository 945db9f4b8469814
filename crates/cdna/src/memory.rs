//! Global memory: allocations with guard gaps between them, and which bytes of
//! them were ever written.
//!
//! Words are atomics, so that workgroups on different threads may touch the
//! same memory as they may on a GPU; every access is relaxed, and costs what a
//! plain one costs.

mod allocation;

use std::sync::Arc;

pub use allocation::Allocation;

/// Where the first allocation is.
const FIRST: u64 = 0x7f00_0000_0000;
/// Unmapped bytes after each allocation.
const GUARD: u64 = 64 << 10;
/// Allocations begin at multiples of this.
const ALIGN: u64 = 4096;

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
    /// The machine that simulates has not enough.
    #[error("this machine has no {asked} bytes left for the memory of the simulated device")]
    Machine {
        /// Bytes asked for.
        asked: u64,
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
        Self::at(FIRST, limit, seed)
    }

    /// As [`Memory::new`], with addresses from `first` on.
    #[must_use]
    pub fn at(first: u64, limit: u64, seed: u64) -> Self {
        Self {
            allocations: Vec::new(),
            next: first,
            limit,
            used: 0,
            poison: poison_word(seed),
        }
    }

    /// What a kernel of this device sees: its memory, and the `others` it can reach. What is
    /// allocated in the view is no memory of the device.
    #[must_use]
    pub fn view(&self, others: impl IntoIterator<Item = Arc<Allocation>>) -> Self {
        let mut allocations = self.allocations.clone();
        allocations.extend(others);
        allocations.sort_by_key(|allocation| allocation.base);
        Self {
            allocations,
            next: self.next,
            limit: u64::MAX,
            used: 0,
            poison: self.poison,
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
        let allocation = Allocation::new(base, bytes, name, self.poison)
            .ok_or(MemoryError::Machine { asked: bytes })?;
        self.next = (base + bytes + GUARD).next_multiple_of(ALIGN);
        self.used += bytes;
        // In a view there may be memory of others above.
        let after = self
            .allocations
            .partition_point(|allocation| allocation.base <= base);
        self.allocations.insert(after, Arc::new(allocation));
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

    /// Gives every allocation back. Addresses are not used again.
    pub fn clear(&mut self) {
        self.allocations.clear();
        self.used = 0;
    }

    /// Most bytes that can be allocated.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
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

    /// Every allocation, by address.
    #[must_use]
    pub fn allocations(&self) -> &[Arc<Allocation>] {
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
        allocation.write(address - allocation.base, bytes);
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
        let mut out = vec![0; bytes as usize];
        allocation.read(address - allocation.base, &mut out);
        Ok(out)
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

    #[test]
    fn a_copy_carries_what_was_never_written() {
        let mut memory = Memory::new(1 << 20, 1);
        let [a, b] = [(); 2].map(|()| memory.allocate(200_000, "x").unwrap());
        memory.write(a + 1, &[7; 70_000]).unwrap();
        let [from, to] = [a, b].map(|at| Arc::clone(memory.find(at, 1).unwrap()));
        to.copy(3, &from, 0, 150_000);
        assert_eq!(memory.read(b + 4, 70_000).unwrap(), [7; 70_000]);
        assert_eq!(memory.unwritten(b, 200_000).unwrap(), 130_000);
        // Both ways where source and destination overlap.
        memory
            .write(a, &(0..=255).cycle().take(200_000).collect::<Vec<u8>>())
            .unwrap();
        let before = memory.read(a, 200_000).unwrap();
        from.copy(5, &from, 0, 199_000);
        assert_eq!(memory.read(a + 5, 199_000).unwrap(), before[..199_000]);
        from.copy(0, &from, 5, 199_000);
        assert_eq!(memory.read(a, 199_000).unwrap(), before[..199_000]);
    }

    #[test]
    fn memory_of_the_host_has_one_address_for_both() {
        let host = Arc::new(Allocation::of_host(100, "host").unwrap());
        assert_eq!(host.host_pointer().addr() as u64, host.base);
        assert!(host.base.is_multiple_of(4096));
        let memory = Memory::at(1 << 47, 1 << 20, 1);
        let mut view = memory.view([Arc::clone(&host)]);
        view.write(host.base + 96, &[1, 2, 3, 4]).unwrap();
        assert!(view.write(host.base + 97, &[0; 4]).is_err());
        let own = view.allocate(8, "arguments").unwrap();
        assert!(own >= 1 << 47 && view.find(own, 8).is_some());
        assert_eq!((memory.used(), view.unwritten(host.base, 100)), (0, Ok(0)));
    }
}
