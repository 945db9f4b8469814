//! The part of a tensor that one rank holds.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A box of a tensor: per dim the first index and the number of indices.
///
/// A dim split unevenly may leave a rank with a length of zero.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LocalBox {
    /// First global index, per dim.
    pub offset: Vec<usize>,
    /// Number of indices, per dim: the local shape.
    pub len: Vec<usize>,
}

impl LocalBox {
    /// The half-open interval of global indices, per dim.
    pub fn ranges(&self) -> impl ExactSizeIterator<Item = Range<usize>> + '_ {
        self.offset
            .iter()
            .zip(&self.len)
            .map(|(&offset, &len)| offset..offset + len)
    }

    /// The number of elements.
    pub fn n_elements(&self) -> usize {
        self.len.iter().product()
    }

    /// Whether a global index lies in the box; false if the number of dims differs.
    pub fn contains(&self, index: &[usize]) -> bool {
        index.len() == self.len.len() && self.ranges().zip(index).all(|(r, i)| r.contains(i))
    }
}

/// The interval `(offset, len)` of chunk `chunk` of `n_chunks` over a dim of `size`.
///
/// Every chunk has `ceil(size / n_chunks)` indices, except that the last ones are shorter
/// or empty when `n_chunks` does not divide `size`.
pub(crate) fn chunk_interval(size: usize, n_chunks: usize, chunk: usize) -> (usize, usize) {
    let full = size.div_ceil(n_chunks);
    let offset = full.saturating_mul(chunk).min(size);
    (offset, full.min(size - offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks() {
        let table = [
            (6, 3, vec![(0, 2), (2, 2), (4, 2)]),
            (7, 3, vec![(0, 3), (3, 3), (6, 1)]),
            (5, 4, vec![(0, 2), (2, 2), (4, 1), (5, 0)]),
            (1, 3, vec![(0, 1), (1, 0), (1, 0)]),
            (0, 2, vec![(0, 0), (0, 0)]),
        ];
        for (size, n, expected) in table {
            let found: Vec<_> = (0..n).map(|i| chunk_interval(size, n, i)).collect();
            assert_eq!(found, expected, "{size} in {n}");
        }
    }
}
