//! The loops of [`super::run`] compiled for several instruction sets, chosen at run time.
//! The results are the same on all.

#![expect(
    unsafe_code,
    reason = "calls of functions compiled for an instruction set that was detected"
)]

use std::sync::OnceLock;

use super::run::{self, Job};
use super::vector::Any;
#[cfg(target_arch = "x86_64")]
use super::vector::{Avx2, Avx512};

/// An instruction set that this processor has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Level(Set);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Set {
    Portable,
    Avx2,
    Avx512,
}

impl Level {
    /// The best.
    pub(super) fn best() -> Self {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(|| Self(detect()))
    }

    /// All, the best last.
    #[cfg(test)]
    pub(super) fn all() -> Vec<Self> {
        let sets = [Set::Portable, Set::Avx2, Set::Avx512];
        let best = Self::best();
        sets.map(Self)
            .into_iter()
            .filter(|level| *level <= best)
            .collect()
    }
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Set {
    if !(is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c"))
    {
        Set::Portable
    } else if is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
    {
        Set::Avx512
    } else {
        Set::Avx2
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Set {
    Set::Portable
}

/// Runs a job.
pub(super) fn run(level: Level, job: &mut Job<'_>) {
    match level.0 {
        // SAFETY: a level is made only of what the processor was found to have.
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => unsafe { avx512(job) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 => unsafe { avx2(job) },
        _ => run::body(Any::<16>, job),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
fn avx2(job: &mut Job<'_>) {
    // SAFETY: this function is only called where they are.
    run::body(unsafe { Avx2::new() }, job);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")]
fn avx512(job: &mut Job<'_>) {
    // SAFETY: as above.
    run::body(unsafe { Avx512::new() }, job);
}
