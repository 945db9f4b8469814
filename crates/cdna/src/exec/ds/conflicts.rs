//! Bank conflicts of LDS accesses.

use super::super::Machine;
use crate::counters::lds_passes;
use crate::wave::Lanes;

/// How an instruction accessed the LDS last, and what that took. Mostly it does
/// the same again, at another place.
#[derive(Debug)]
pub(crate) struct Pattern {
    mask: u64,
    bytes: u32,
    address: Lanes,
    passes: u64,
    extra: u64,
}

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
        let known = self.patterns[self.current]
            .as_ref()
            .filter(|last| inside && last.is_like(mask, address, bytes));
        let (passes, extra) = match known {
            Some(last) => (last.passes, last.extra),
            None => {
                let (passes, extra) = lds_passes(self.program.arch, mask, address, bytes);
                self.patterns[self.current] = inside.then(|| {
                    Box::new(Pattern {
                        mask,
                        bytes,
                        address: *address,
                        passes,
                        extra,
                    })
                });
                (passes, extra)
            }
        };
        self.counters.lds_passes += passes;
        self.counters.lds_conflicts += extra;
        self.counters.step_conflicts[self.current] += extra;
    }
}
