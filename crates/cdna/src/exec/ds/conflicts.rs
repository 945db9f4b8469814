//! Bank conflicts of LDS accesses.

use super::super::Machine;
use crate::counters::lds_passes;
use crate::wave::Lanes;

/// How an instruction accessed the LDS, and what that took. Mostly it does the
/// same again, at another place.
#[derive(Debug)]
pub(crate) struct Pattern {
    mask: u64,
    bytes: u32,
    address: Lanes,
    passes: u64,
    extra: u64,
}

/// How many patterns are kept of an instruction: one for each kind of waves.
const MOST: usize = 4;

impl Pattern {
    /// Words as far from each other meet in banks alike.
    fn is_like(&self, mask: u64, address: &Lanes, bytes: u32) -> bool {
        let moved = address[0].wrapping_sub(self.address[0]);
        let pairs = address.iter().zip(&self.address);
        let other = pairs.fold(0, |other, (now, last)| {
            other | (now.wrapping_sub(*last) ^ moved)
        });
        other == 0 && self.mask == mask && self.bytes == bytes
    }
}

impl Machine<'_> {
    /// Counts the passes of an access. `inside` says that all addresses are
    /// those of words in the LDS.
    pub(super) fn conflicts(&mut self, mask: u64, address: &Lanes, bytes: u32, inside: bool) {
        if !self.environment.options.count_conflicts {
            return;
        }
        let patterns = &mut self.patterns[self.current];
        let known = patterns
            .iter()
            .find(|known| inside && known.is_like(mask, address, bytes));
        let (passes, extra) = match known {
            Some(known) => (known.passes, known.extra),
            None => {
                let (passes, extra) = lds_passes(self.program.arch, mask, address, bytes);
                if inside {
                    patterns.truncate(MOST - 1);
                    let address = *address;
                    let pattern = Pattern {
                        mask,
                        bytes,
                        address,
                        passes,
                        extra,
                    };
                    patterns.insert(0, pattern);
                }
                (passes, extra)
            }
        };
        self.counters.lds_passes += passes;
        self.counters.lds_conflicts += extra;
        self.counters.step_conflicts[self.current] += extra;
    }
}
