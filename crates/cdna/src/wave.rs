//! The state of a wave: registers, which of them hold something, and what is
//! still on its way into them.

use std::collections::VecDeque;

use crate::memory::poison_word;

/// A vector register: 32 bits for each of 64 lanes.
pub(crate) type Lanes = [u32; 64];

/// Registers of both kinds a lane can have.
pub(crate) const VECTOR_REGISTERS: usize = 512;
/// Where accumulation registers begin in the register file.
pub(crate) const FIRST_AGPR: usize = 256;

/// Why a wave does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Running,
    /// Waits at the barrier of this step.
    Barrier(usize),
    Ended,
}

/// What counts an operation until it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counter {
    Vector,
    Lds,
    Scalar,
}

/// Operations that are on their way, of each counter in the order of issue.
#[derive(Debug, Default)]
pub(crate) struct Queues([VecDeque<Pending>; 3]);

impl Queues {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(VecDeque::is_empty)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(VecDeque::len).sum()
    }

    pub(crate) fn of(&self, counter: Counter) -> &VecDeque<Pending> {
        &self.0[counter as usize]
    }

    fn push(&mut self, pending: Pending) {
        self.0[pending.counter as usize].push_back(pending);
    }

    fn pop(&mut self, counter: Counter) -> Option<Pending> {
        self.0[counter as usize].pop_front()
    }

    fn clear(&mut self) {
        self.0.iter_mut().for_each(VecDeque::clear);
    }
}

/// An operation that is on its way.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) counter: Counter,
    /// Vector registers it fills, or scalar ones: first and count.
    pub(crate) fills: (u16, u8),
    /// LDS bytes it writes.
    pub(crate) lds: Vec<LdsTouch>,
}

/// LDS that an operation writes: lanes, their addresses and how many bytes each.
#[derive(Clone, Debug)]
pub(crate) struct LdsTouch {
    pub(crate) lanes: u64,
    pub(crate) address: Lanes,
    pub(crate) bytes: u32,
    /// Filled from memory, so counted by the vector counter.
    pub(crate) from_memory: bool,
}

/// What a wave remembers about its registers beside their values.
#[derive(Debug)]
pub(crate) struct Shadow {
    /// Lanes of each vector register that hold something.
    pub(crate) defined: Vec<u64>,
    /// Bits of each scalar register that hold nothing.
    pub(crate) undefined: [u32; 128],
    pub(crate) scc_undefined: bool,
    /// Loads on their way into each vector register.
    vector_pending: Vec<u8>,
    /// A bit for each vector register that a load is on its way into.
    waited_for: [u64; VECTOR_REGISTERS / 64],
    pub(crate) scalar_pending: [u8; 128],
    pub(crate) queue: Queues,
}

impl Shadow {
    /// Counts an operation for the registers it fills.
    fn fill(&mut self, pending: &Pending, count: impl Fn(u8, u8) -> u8) {
        let (first, registers) = pending.fills;
        let first = usize::from(first);
        for at in first..first + usize::from(registers) {
            if pending.counter == Counter::Scalar {
                if let Some(loads) = self.scalar_pending.get_mut(at) {
                    *loads = count(*loads, 1);
                }
            } else if let Some(loads) = self.vector_pending.get_mut(at) {
                *loads = count(*loads, 1);
                let bit = 1 << (at % 64);
                self.waited_for[at / 64] &= !bit;
                self.waited_for[at / 64] |= if *loads > 0 { bit } else { 0 };
            }
        }
    }

    /// Whether a load is on its way into one of so many vector registers.
    pub(crate) fn is_waited_for(&self, first: usize, count: usize) -> bool {
        let end = first + count;
        if count == 0 {
            return false;
        }
        (first / 64..end.div_ceil(64)).any(|word| {
            let low = first.saturating_sub(64 * word);
            let high = (end - 64 * word).min(64);
            let bits = u64::MAX >> (64 - (high - low)) << low;
            self.waited_for
                .get(word)
                .is_some_and(|loads| loads & bits != 0)
        })
    }
}

#[derive(Debug)]
pub(crate) struct Wave {
    pub(crate) id: u32,
    pub(crate) at: usize,
    pub(crate) state: State,
    pub(crate) s: [u32; 128],
    pub(crate) scc: bool,
    pub(crate) mode: u32,
    pub(crate) v: Vec<Lanes>,
    pub(crate) shadow: Shadow,
    /// Lanes the wave was started with.
    pub(crate) launched: u64,
    pub(crate) executed: u64,
    pub(crate) barriers: u64,
    /// Random state of `v_prng` is in registers; this one is for the clock.
    pub(crate) clock: u64,
}

impl Wave {
    pub(crate) fn new() -> Self {
        Self {
            id: 0,
            at: 0,
            state: State::Ended,
            s: [0; 128],
            scc: false,
            mode: 0,
            v: vec![[0; 64]; VECTOR_REGISTERS],
            shadow: Shadow {
                defined: vec![0; VECTOR_REGISTERS],
                undefined: [u32::MAX; 128],
                scc_undefined: true,
                vector_pending: vec![0; VECTOR_REGISTERS],
                waited_for: [0; VECTOR_REGISTERS / 64],
                scalar_pending: [0; 128],
                queue: Queues::default(),
            },
            launched: 0,
            executed: 0,
            barriers: 0,
            clock: 0,
        }
    }

    /// Forgets everything; registers hold a pattern made of `seed`.
    pub(crate) fn reset(&mut self, id: u32, seed: u64, vgprs: usize, agprs: usize) {
        let poison = poison_word(seed ^ 0x7e61);
        self.id = id;
        self.state = State::Running;
        self.s = [poison ^ 0x0055_0000; 128];
        self.scc = seed & 1 != 0;
        // A descriptor may ask for more than instructions can name.
        let vgprs = vgprs.min(FIRST_AGPR);
        let agprs = agprs.min(VECTOR_REGISTERS - FIRST_AGPR);
        let in_use = (0..vgprs).chain(FIRST_AGPR..FIRST_AGPR + agprs);
        for index in in_use {
            self.v[index].fill(poison ^ index as u32);
        }
        let shadow = &mut self.shadow;
        shadow.defined.fill(0);
        shadow.undefined = [u32::MAX; 128];
        // Those that are no registers of the kernel have some value always.
        shadow.undefined[102..].fill(0);
        shadow.undefined[106..108].fill(u32::MAX);
        shadow.undefined[124] = u32::MAX;
        shadow.scc_undefined = true;
        shadow.vector_pending.fill(0);
        shadow.waited_for.fill(0);
        shadow.scalar_pending = [0; 128];
        shadow.queue.clear();
        self.executed = 0;
        self.barriers = 0;
        self.clock = 0;
    }

    pub(crate) fn set_sgpr(&mut self, index: usize, value: u32) {
        self.s[index] = value;
        self.shadow.undefined[index] = 0;
    }

    #[inline]
    pub(crate) fn exec(&self) -> u64 {
        self.pair(126)
    }

    pub(crate) fn vcc(&self) -> u64 {
        self.pair(106)
    }

    #[inline]
    pub(crate) fn pair(&self, index: usize) -> u64 {
        u64::from(self.s[index]) | u64::from(self.s[index + 1]) << 32
    }

    #[inline]
    pub(crate) fn set_pair(&mut self, index: usize, value: u64) {
        self.s[index] = value as u32;
        self.s[index + 1] = (value >> 32) as u32;
    }

    /// Notes an operation on its way.
    pub(crate) fn issue(&mut self, pending: Pending) {
        self.shadow.fill(&pending, u8::saturating_add);
        self.shadow.queue.push(pending);
    }

    /// Ends the oldest operation of a counter.
    fn retire(&mut self, counter: Counter) -> Option<Pending> {
        let pending = self.shadow.queue.pop(counter)?;
        self.shadow.fill(&pending, u8::saturating_sub);
        Some(pending)
    }

    /// Ends what `s_waitcnt` waits for. Vector memory and LDS end in order;
    /// scalar loads in any order, so that only zero tells they are done.
    pub(crate) fn wait(&mut self, vector: usize, rest: usize, mut done: impl FnMut(&Pending)) {
        let mut end = |wave: &mut Self, counter: Counter, left: usize| {
            while wave.shadow.queue.of(counter).len() > left {
                if let Some(pending) = wave.retire(counter) {
                    done(&pending);
                }
            }
        };
        end(self, Counter::Vector, vector);
        if rest == 0 {
            end(self, Counter::Lds, 0);
            end(self, Counter::Scalar, 0);
        } else {
            // Scalar loads may be all that is done, and may be all that is not.
            end(self, Counter::Lds, rest);
        }
    }
}

/// Lanes 0 to `count - 1`.
pub(crate) const fn first_lanes(count: u32) -> u64 {
    if count >= 64 {
        u64::MAX
    } else {
        (1 << count) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(counter: Counter, first: u16) -> Pending {
        Pending {
            counter,
            fills: (first, 1),
            lds: Vec::new(),
        }
    }

    #[test]
    fn waits_end_loads_in_the_order_they_end_in() {
        let mut wave = Wave::new();
        wave.reset(0, 1, 8, 0);
        wave.issue(load(Counter::Vector, 0));
        wave.issue(load(Counter::Vector, 1));
        wave.issue(load(Counter::Scalar, 5));
        wave.issue(load(Counter::Lds, 2));
        wave.wait(1, 15, |_| {});
        assert_eq!(wave.shadow.vector_pending[..3], [0, 1, 1]);
        wave.wait(63, 1, |_| {});
        assert_eq!(
            wave.shadow.vector_pending[2], 1,
            "the scalar load may be the one that is done"
        );
        assert_eq!(wave.shadow.scalar_pending[5], 1);
        wave.wait(63, 0, |_| {});
        assert_eq!(wave.shadow.vector_pending[..3], [0, 1, 0]);
        assert_eq!(wave.shadow.scalar_pending[5], 0);
        wave.wait(0, 15, |_| {});
        assert!(wave.shadow.queue.is_empty());
    }

    #[test]
    fn runs_of_registers_are_found_across_words() {
        let mut wave = Wave::new();
        wave.reset(0, 1, 8, 0);
        for register in [62, 63, 64, 200, 511] {
            let pending = Pending {
                fills: (register, 1),
                ..load(Counter::Vector, 0)
            };
            wave.issue(pending);
            for first in 0..VECTOR_REGISTERS {
                for count in [0, 1, 2, 16, 64, 65] {
                    let count = count.min(VECTOR_REGISTERS - first);
                    let known = wave.shadow.vector_pending[first..first + count]
                        .iter()
                        .any(|loads| *loads > 0);
                    assert_eq!(wave.shadow.is_waited_for(first, count), known);
                }
            }
            if register > 64 {
                wave.wait(0, 0, |_| {});
            }
        }
        assert!(!wave.shadow.is_waited_for(0, VECTOR_REGISTERS));
    }
}
