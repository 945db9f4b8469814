//! Orders that need no memory: a keyed permutation of `0..n` that can be asked
//! for any position, so that a resumed run continues without replaying.

/// Spreads the bits of `value`: the finaliser of `SplitMix64` (Steele, Lea and
/// Flood, 2014), a bijection of 64 bits.
#[must_use]
pub fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A bijection of `0..len`, chosen by a key: a balanced Feistel network on the
/// next even number of bits, applied again while the result is outside (cycle
/// walking, Black and Rogaway 2002; at most four times on average).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permutation {
    len: u64,
    half_bits: u32,
    key: u64,
}

const ROUNDS: u64 = 6;

impl Permutation {
    /// The permutation of `0..len` that belongs to this seed and epoch.
    #[must_use]
    pub fn new(len: u64, seed: u64, epoch: u64) -> Self {
        let bits = u64::BITS - len.saturating_sub(1).leading_zeros();
        let half_bits = bits.div_ceil(2).max(1);
        let key = mix(mix(seed) ^ epoch.rotate_left(32));
        Self {
            len,
            half_bits,
            key,
        }
    }

    /// What stands at this position; `index` must be below the length.
    #[must_use]
    pub fn at(&self, index: u64) -> u64 {
        debug_assert!(index < self.len, "{index} of {}", self.len);
        let mut value = self.encrypt(index);
        while value >= self.len {
            value = self.encrypt(value);
        }
        value
    }

    fn encrypt(&self, value: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for round in 0..ROUNDS {
            let f = mix(right ^ self.key.wrapping_add(mix(round)));
            (left, right) = (right, left ^ (f >> 32) & mask);
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_index_comes_exactly_once(len in 1u64..3000, seed: u64, epoch in 0u64..5) {
            let order = Permutation::new(len, seed, epoch);
            let mut seen: Vec<u64> = (0..len).map(|i| order.at(i)).collect();
            seen.sort_unstable();
            prop_assert!(seen.into_iter().eq(0..len));
        }
    }

    #[test]
    fn seeds_and_epochs_give_other_orders() {
        let of = |seed, epoch| -> Vec<u64> {
            let order = Permutation::new(1000, seed, epoch);
            (0..1000).map(|i| order.at(i)).collect()
        };
        assert_eq!(of(1, 0), of(1, 0));
        assert_ne!(of(1, 0), of(1, 1));
        assert_ne!(of(1, 0), of(2, 0));
        let in_place = of(1, 0).iter().zip(0..).filter(|(a, b)| **a == *b).count();
        assert!(in_place < 10, "{in_place} of 1000 stayed where they were");
    }

    // Two neighbours that stay neighbours would make batches of one text.
    #[test]
    fn neighbours_are_parted() {
        let order = Permutation::new(10_000, 7, 0);
        let close = (0..9_999)
            .filter(|i| order.at(*i).abs_diff(order.at(i + 1)) <= 8)
            .count();
        // 16 of 10,000 places are within 8: about 16 pairs are expected.
        assert!(close < 48, "{close} neighbouring pairs");
    }

    #[test]
    fn a_large_domain_is_no_slower() {
        let len = u64::MAX / 3;
        let order = Permutation::new(len, 3, 9);
        assert!((0..1000).all(|i| order.at(i * (len / 1000)) < len));
    }
}
