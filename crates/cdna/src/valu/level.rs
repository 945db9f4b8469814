//! The same functions compiled for the vector instructions a host has.

use cairn_codeobj::isa::Op;

use super::{Modes, Pair, compare, half, masked, single, wide};
use crate::lds::{Now, lanes};
use crate::wave::Lanes;

/// Vector instructions of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The best the host has.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            let v3 = has!("avx2") && has!("fma") && has!("bmi2");
            if v3 && has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
                return Self::Avx512;
            }
            if v3 {
                return Self::Avx2;
            }
        }
        Self::Portable
    }

    /// All that the host has.
    #[cfg(test)]
    pub(crate) fn all() -> Vec<Self> {
        let mut levels = vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        levels.extend([Self::Avx2, Self::Avx512]);
        levels.retain(|level| *level <= Self::detect());
        levels
    }
}

macro_rules! leveled {
    ($($name:ident = $module:ident::$function:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {
        impl Level {
            $(
                #[allow(clippy::too_many_arguments, reason = "operands of one instruction")]
                pub(crate) fn $name(self, $($arg: $type),*) -> $result {
                    #[cfg(target_arch = "x86_64")]
                    {
                        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
                        fn avx2($($arg: $type),*) -> $result {
                            $module::$function($($arg),*)
                        }
                        #[target_feature(
                            enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c"
                        )]
                        fn avx512($($arg: $type),*) -> $result {
                            $module::$function($($arg),*)
                        }
                        match self {
                            Self::Portable => {}
                            // SAFETY: `detect` gives this level only where the host has AVX2 and FMA.
                            Self::Avx2 => return unsafe { avx2($($arg),*) },
                            // SAFETY: `detect` gives this level only where the host has these AVX-512 parts.
                            Self::Avx512 => return unsafe { avx512($($arg),*) },
                        }
                    }
                    $module::$function($($arg),*)
                }
            )*
        }
    };
}

leveled! {
    single = single::run(op: Op, modes: &Modes, a: &Lanes, b: &Lanes, c: &Lanes, out: &mut Lanes) -> bool;
    half = half::run(op: Op, modes: &Modes, a: &Lanes, b: &Lanes, c: &Lanes, out: &mut Lanes) -> bool;
    wide = wide::run(op: Op, modes: &Modes, a: Pair<'_>, b: Pair<'_>, c: Pair<'_>, out: &mut [Lanes; 2]) -> bool;
    masked = masked::run(op: Op, a: &Lanes, b: &Lanes, mask: u64, out: &mut Lanes) -> Option<u64>;
    compare = compare::run(code: u8, a: Pair<'_>, b: Pair<'_>) -> u64;
    merge = merge_lanes::run(out: &Lanes, mask: u64, into: &mut Lanes) -> ();
    span = span_of::run(address: &[u64; 64]) -> (u64, u64, u64);
    lds_places = lanes::places(address: &Lanes, offset: u32, bytes: u32, size: u32, out: &mut Lanes) -> bool;
    lds_load = lanes::load(words: &[u32], address: &Lanes, out: &mut [Lanes]) -> ();
    lds_store = lanes::store(words: &mut [u32], address: &Lanes, from: &[Lanes]) -> ();
    lds_mark_read = lanes::mark_read(writer: &[u32], readers: &mut [u32], address: &Lanes, count: usize, now: Now) -> bool;
    lds_may_write = lanes::may_write(writer: &[u32], readers: &[u32], address: &Lanes, count: usize, now: Now) -> bool;
    lds_mark_written = lanes::mark_written(writer: &mut [u32], address: &Lanes, count: usize, mine: u32) -> ();
}

mod span_of {
    /// The least and the greatest address, and the bits that any has.
    #[inline(always)]
    pub(super) fn run(address: &[u64; 64]) -> (u64, u64, u64) {
        let (mut low, mut high, mut bits) = (u64::MAX, 0, 0);
        for address in address {
            low = low.min(*address);
            high = high.max(*address);
            bits |= address;
        }
        (low, high, bits)
    }
}

mod merge_lanes {
    use super::Lanes;

    /// Writes the lanes of a mask.
    #[inline(always)]
    pub(super) fn run(out: &Lanes, mask: u64, into: &mut Lanes) {
        for half in 0..2 {
            let bits = (mask >> (32 * half)) as u32;
            let (from, to) = (&out[32 * half..][..32], &mut into[32 * half..][..32]);
            for lane in 0..32 {
                let keep = (bits >> lane & 1).wrapping_sub(1);
                to[lane] = to[lane] & keep | from[lane] & !keep;
            }
        }
    }
}
