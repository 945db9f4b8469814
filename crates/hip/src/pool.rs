//! Which pieces of device memory are free to be used again.

use std::collections::BTreeMap;

/// Small pieces are given out in multiples of this many bytes.
const GRANULE: usize = 512;
/// Large ones, from a mebibyte on, in multiples of this many.
const LARGE_GRANULE: usize = 2 << 20;

/// How much device memory is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    /// Bytes in use, as they were asked for, rounded up to whole pieces.
    pub used: usize,
    /// The most that were in use at once.
    pub peak: usize,
    /// Bytes held for use again.
    pub cached: usize,
    /// How often the device was asked for memory.
    pub device_allocs: usize,
    /// How often a free piece was used again.
    pub reuses: usize,
}

/// Pieces by size. It only keeps account: the device is asked by its caller.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    free: BTreeMap<usize, Vec<u64>>,
    stats: PoolStats,
}

/// Bytes of the piece that holds `bytes`.
pub(crate) fn piece(bytes: usize) -> usize {
    let granule = if bytes < 1 << 20 {
        GRANULE
    } else {
        LARGE_GRANULE
    };
    bytes.max(1).next_multiple_of(granule)
}

impl Pool {
    /// A free piece of exactly this size.
    pub(crate) fn take(&mut self, piece: usize) -> Option<u64> {
        let address = self.free.get_mut(&piece)?.pop()?;
        self.stats.cached -= piece;
        self.stats.reuses += 1;
        self.count(piece);
        Some(address)
    }

    /// A piece that the device gave.
    pub(crate) fn took(&mut self, piece: usize) {
        self.stats.device_allocs += 1;
        self.count(piece);
    }

    /// A piece is free again.
    pub(crate) fn give(&mut self, piece: usize, address: u64) {
        self.stats.used = self.stats.used.saturating_sub(piece);
        self.stats.cached += piece;
        self.free.entry(piece).or_default().push(address);
    }

    /// Every free piece, for the device to take back.
    pub(crate) fn drain(&mut self) -> Vec<u64> {
        self.stats.cached = 0;
        std::mem::take(&mut self.free)
            .into_values()
            .flatten()
            .collect()
    }

    pub(crate) fn stats(&self) -> PoolStats {
        self.stats
    }

    fn count(&mut self, piece: usize) {
        self.stats.used += piece;
        self.stats.peak = self.stats.peak.max(self.stats.used);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_used_again_and_counted() {
        let mut pool = Pool::default();
        let small = piece(1000);
        assert_eq!(
            (small, piece(0), piece((1 << 20) + 1)),
            (1024, 512, 2 << 20)
        );
        assert_eq!(pool.take(small), None);
        pool.took(small);
        pool.give(small, 4096);
        assert_eq!(pool.stats().cached, 1024);
        assert_eq!(pool.take(512), None, "another size");
        assert_eq!(pool.take(small), Some(4096));
        pool.took(512);
        let stats = pool.stats();
        assert_eq!((stats.used, stats.peak, stats.cached), (1536, 1536, 0));
        assert_eq!((stats.device_allocs, stats.reuses), (2, 1));
        pool.give(small, 4096);
        assert_eq!(pool.drain(), [4096]);
        assert_eq!((pool.stats().used, pool.stats().cached), (512, 0));
    }
}
