//! Which lines of memory a launch has touched: what has to come from memory however good
//! the caches are.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::counters::LINE;
use crate::memory::Allocation;

/// Lines that a word of bits stands for.
const WORD: u64 = 64;

/// A bit a line for every allocation that was touched.
#[derive(Debug)]
pub(crate) struct Lines {
    touched: Vec<OnceLock<Box<[AtomicU64]>>>,
}

impl Lines {
    /// For so many allocations; with none nothing is noted.
    pub(crate) fn new(allocations: usize) -> Self {
        Self {
            touched: (0..allocations).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Notes an access of `bytes`, at least one, at an offset of an allocation.
    pub(crate) fn mark(&self, number: usize, allocation: &Allocation, offset: u64, bytes: u64) {
        let Some(touched) = self.touched.get(number) else {
            return;
        };
        let words = || {
            let count = allocation.bytes.div_ceil(LINE * WORD) as usize;
            (0..count).map(|_| AtomicU64::new(0)).collect()
        };
        let touched = touched.get_or_init(words);
        let (mut line, end) = (offset / LINE, (offset + bytes - 1) / LINE + 1);
        while line < end {
            let count = (end - line).min(WORD - line % WORD);
            let bits = (u64::MAX >> (WORD - count)) << (line % WORD);
            if let Some(word) = touched.get((line / WORD) as usize)
                && word.load(Relaxed) & bits != bits
            {
                word.fetch_or(bits, Relaxed);
            }
            line += count;
        }
    }

    /// Notes the accesses of lanes, all of them inside.
    pub(crate) fn mark_lanes(
        &self,
        number: usize,
        allocation: &Allocation,
        mask: u64,
        address: &[u64; 64],
        bytes: u64,
    ) {
        if self.touched.is_empty() {
            return;
        }
        let (mut start, mut end) = (0, 0);
        let mut left = mask;
        while left != 0 {
            let at = address[left.trailing_zeros() as usize] - allocation.base;
            left &= left - 1;
            // Lanes side by side are one access.
            if at != end {
                if end > start {
                    self.mark(number, allocation, start, end - start);
                }
                start = at;
            }
            end = at + bytes;
        }
        if end > start {
            self.mark(number, allocation, start, end - start);
        }
    }

    /// How many were touched.
    pub(crate) fn count(&self) -> u64 {
        let touched = self.touched.iter().filter_map(OnceLock::get);
        let ones = |word: &AtomicU64| u64::from(word.load(Relaxed).count_ones());
        touched.flat_map(|words| words.iter()).map(ones).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_counts_once_however_it_is_touched() {
        let allocation = Allocation::new(4096, 1 << 16, "a", 0).unwrap();
        let lines = Lines::new(2);
        assert_eq!(lines.count(), 0);
        lines.mark(0, &allocation, 0, 1);
        lines.mark(0, &allocation, 60, 4);
        assert_eq!(lines.count(), 1);
        lines.mark(0, &allocation, 63, 2);
        assert_eq!(lines.count(), 2);
        // From the middle of the first word of bits to the third.
        lines.mark(0, &allocation, 32 * LINE, 128 * LINE);
        assert_eq!(lines.count(), 2 + 128);
        let address = std::array::from_fn(|lane| 4096 + 16 * lane as u64);
        lines.mark_lanes(1, &allocation, u64::MAX, &address, 16);
        assert_eq!(lines.count(), 2 + 128 + 16);
        let apart = std::array::from_fn(|lane| 4096 + 1024 * (lane as u64 % 32));
        lines.mark_lanes(1, &allocation, u64::MAX, &apart, 4);
        assert_eq!(lines.count(), 2 + 128 + 16 + 31);
        lines.mark_lanes(1, &allocation, 0, &apart, 4);
        assert_eq!(lines.count(), 2 + 128 + 16 + 31);
    }
}
