//! One workgroup: its waves, in the order a seed gives.

use super::{Launch, Options};
use crate::check::FindingKind;
use crate::exec::{Machine, Stop};
use crate::wave::{State, Wave};

/// Most instructions of a wave before another one may go on.
const TURN: u64 = 256;

/// The next number of a sequence that looks random.
pub(crate) const fn mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut x = *state;
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// The order of workgroups: a permutation that is computed, not stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    count: u64,
    len: u64,
    start: u64,
    step: u64,
}

/// The order that the options give; seed 0 is the order of the grid.
pub(super) fn order(count: u64, options: &Options) -> Order {
    if options.sample > 0 && options.sample < count {
        return sample(count, options.sample);
    }
    let all = Order {
        count,
        len: count,
        start: 0,
        step: 1,
    };
    if options.seed == 0 || count < 3 {
        return all;
    }
    let mut state = options.seed;
    let start = mix(&mut state) % count;
    let step = coprime(mix(&mut state) % count, count);
    Order { start, step, ..all }
}

/// Some workgroups of the grid: steps by the golden section of it, which no regular
/// pattern of heavy and light workgroups keeps pace with.
fn sample(count: u64, len: u64) -> Order {
    let golden = (count as f64 * 0.618_033_988_749_894_9) as u64;
    Order {
        count,
        len,
        start: count / (2 * len),
        step: coprime(golden, count),
    }
}

/// The first number from `step` on that shares no factor with `count`.
fn coprime(mut step: u64, count: u64) -> u64 {
    while gcd(step, count) != 1 {
        step = (step + 1) % count;
    }
    step
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Order {
    /// How many workgroups run.
    pub(super) fn len(self) -> u64 {
        self.len
    }

    pub(super) fn get(self, at: u64) -> Option<u64> {
        if at >= self.len {
            return None;
        }
        let place = u128::from(at) * u128::from(self.step) + u128::from(self.start);
        Some((place % u128::from(self.count)) as u64)
    }
}

/// The waves of a workgroup; kept from one to the next.
#[derive(Debug, Default)]
pub(crate) struct Workgroup {
    waves: Vec<Wave>,
    /// The first two barriers that waves met at although they are not the same.
    apart: Option<Apart>,
}

/// Waves at different barriers. Hardware counts waves and lets them go on; it
/// is a fault only where a wave then has no barrier left to meet the others at.
#[derive(Clone, Copy, Debug)]
struct Apart {
    wave: u32,
    step: usize,
    other: usize,
}

impl Workgroup {
    /// Runs a workgroup; false when the launch cannot go on.
    pub(super) fn run(
        &mut self,
        launch: &Launch<'_>,
        machine: &mut Machine<'_>,
        number: u64,
    ) -> bool {
        let [x, y, _] = launch.grid.map(u64::from);
        let group = [number % x, number / x % y, number / x / y].map(|at| at as u32);
        self.start(launch, machine, group, number);
        let mut random =
            machine.environment.options.seed ^ number.wrapping_mul(0x2545_f491_4f6c_dd1d);
        let seeded = machine.environment.options.seed != 0;
        loop {
            let running = self
                .waves
                .iter()
                .filter(|wave| wave.state == State::Running)
                .count();
            if running == 0 {
                if self.waves.iter().all(|wave| wave.state == State::Ended) {
                    break;
                }
                self.release(machine);
                continue;
            }
            let pick = if seeded {
                mix(&mut random) as usize % running
            } else {
                0
            };
            let turn = if seeded {
                1 + mix(&mut random) % TURN
            } else {
                TURN * 16
            };
            let mut waves = self
                .waves
                .iter_mut()
                .filter(|wave| wave.state == State::Running);
            let Some(wave) = waves.nth(pick) else {
                continue;
            };
            if machine.run(wave, turn) == Stop::Fatal {
                return false;
            }
            if !seeded && wave.state == State::Running && self.waves.len() > 1 {
                self.rotate();
            }
        }
        self.finish(machine);
        true
    }

    /// Lets the next wave go first, so that none waits for ever on another.
    fn rotate(&mut self) {
        self.waves.rotate_left(1);
    }

    fn start(
        &mut self,
        launch: &Launch<'_>,
        machine: &mut Machine<'_>,
        group: [u32; 3],
        number: u64,
    ) {
        let environment = machine.environment;
        let options = &environment.options;
        let items: u32 = launch.workgroup.iter().product();
        let count = items.div_ceil(64) as usize;
        self.waves.resize_with(count, Wave::new);
        let kernel = &launch.program.kernel;
        let vgprs = kernel.arch_vgprs() as usize;
        let agprs = (kernel.descriptor.rsrc1.vgprs() as usize).saturating_sub(vgprs);
        for (id, wave) in self.waves.iter_mut().enumerate() {
            let seed = options.seed ^ number << 8 ^ id as u64;
            wave.reset(id as u32, seed, vgprs, agprs);
            launch.start(wave, environment, group);
        }
        let checks = &options.checks;
        let track = checks.uninitialised || checks.waits;
        let seed = options.seed ^ number;
        machine.lds.reset(
            environment.lds_bytes as usize,
            seed,
            track,
            checks.lds_races,
        );
        let words = environment.private_words as usize * 64 * count;
        machine.private.clear();
        machine
            .private
            .resize(words, crate::memory::poison_word(seed));
        machine.private_written.clear();
        machine.private_written.resize(words, 0);
        machine.workgroup = group;
        machine.order = number;
        machine.counters.waves += count as u64;
        machine.counters.workgroups += 1;
    }

    /// All waves that have not ended wait at a barrier: they go on.
    fn release(&mut self, machine: &mut Machine<'_>) {
        let mut at = None;
        for wave in &mut self.waves {
            let State::Barrier(step) = wave.state else {
                continue;
            };
            wave.state = State::Running;
            let other = *at.get_or_insert(step);
            if other != step && self.apart.is_none() {
                let wave = wave.id;
                self.apart = Some(Apart { wave, step, other });
            }
        }
        machine.lds.barrier();
    }

    /// Every wave should have met as many barriers as the others.
    fn finish(&mut self, machine: &mut Machine<'_>) {
        let apart = self.apart.take();
        if !machine.checks.barriers {
            return;
        }
        let counts = self.waves.iter().map(|wave| wave.barriers);
        let most = counts.max().unwrap_or(0);
        let Some(wave) = self.waves.iter().find(|wave| wave.barriers != most) else {
            return;
        };
        let what = format!(
            "the wave ends after {} barriers, another one of the workgroup after {most}",
            wave.barriers
        );
        machine.find(wave, FindingKind::DivergentBarrier, None, what);
        let Some(Apart { wave, step, other }) = apart else {
            return;
        };
        if let Some(wave) = self.waves.iter_mut().find(|known| known.id == wave) {
            let what = format!(
                "waves of the workgroup wait at different barriers, at {:#x} and here",
                machine.program.steps[other].pc
            );
            wave.at = step;
            machine.find(wave, FindingKind::DivergentBarrier, None, what);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn numbers(count: u64, options: Options) -> Vec<u64> {
        let order = order(count, &options);
        (0..).map_while(|at| order.get(at)).collect()
    }

    #[test]
    fn an_order_visits_every_workgroup_once() {
        for count in [1, 2, 3, 12, 97, 1000] {
            for seed in 0..5 {
                let options = Options {
                    seed,
                    ..Options::default()
                };
                let mut seen = numbers(count, options);
                if seed == 0 {
                    assert!(seen.is_sorted());
                }
                seen.sort_unstable();
                assert_eq!(seen, (0..count).collect::<Vec<_>>());
            }
        }
    }

    /// Causal attention has workgroups that are the heavier the later their queries are, and
    /// each head begins anew.
    #[test]
    fn a_sample_meets_light_and_heavy_workgroups_alike() {
        for (heads, blocks) in [(32, 64), (32, 128), (8, 128), (40, 17), (1, 4096)] {
            let options = Options {
                sample: 32,
                ..Options::default()
            };
            let chosen = numbers(heads * blocks, options);
            let distinct: BTreeSet<_> = chosen.iter().collect();
            assert_eq!((chosen.len(), distinct.len()), (32, 32));
            for weight in [
                |at, blocks| at % blocks + 1,
                |at, blocks| blocks - at % blocks,
            ] {
                let mean = chosen.iter().map(|at| weight(*at, blocks)).sum::<u64>() as f64 / 32.0;
                let right = (blocks + 1) as f64 / 2.0;
                assert!(
                    (mean / right - 1.0).abs() < 0.1,
                    "{heads} x {blocks}: {mean} for {right}"
                );
            }
        }
    }
}
