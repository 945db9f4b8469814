//! One body, compiled for several instruction sets, chosen when a kernel is built.
//!
//! Bodies are plain loops over slices and fixed-size lanes that the compiler turns into
//! vector code. They use separate multiplications and additions, never fused ones, so
//! their results have the same bits on every instruction set.

use super::isa::Isa;

/// An instruction set that this processor has. Only [`Level::new`] makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level(Set);

/// What bodies are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Set {
    Portable,
    Avx2,
    Avx512,
}

impl Level {
    /// The level of `isa`, or of what the processor has if that is less.
    pub(super) fn new(isa: Isa) -> Self {
        Self(match isa.min(Isa::detect()) {
            Isa::Portable => Set::Portable,
            Isa::Avx2 => Set::Avx2,
            Isa::Avx512 | Isa::Avx512Bf16 | Isa::Amx => Set::Avx512,
        })
    }

    /// What to call: the processor has it.
    pub(super) fn set(self) -> Set {
        self.0
    }

    /// For kernel names.
    pub(super) fn name(self) -> &'static str {
        match self.0 {
            Set::Portable => "portable",
            Set::Avx2 => "avx2",
            Set::Avx512 => "avx512",
        }
    }
}

/// Defines a function whose body is compiled for each [`Set`]. The defined function takes
/// a [`Level`] before the listed arguments.
macro_rules! simd {
    (
        $(#[$meta:meta])*
        $vis:vis fn $name:ident [$($generics:tt)*] ($($arg:ident : $ty:ty),* $(,)?)
        $(-> $ret:ty)? $body:block
    ) => {
        $(#[$meta])*
        #[allow(unsafe_code, reason = "the instruction set is checked by `Level`")]
        #[allow(clippy::too_many_arguments, reason = "operands and sizes of an operator")]
        $vis fn $name<$($generics)*>(level: $crate::cpu::simd::Level, $($arg: $ty),*) $(-> $ret)? {
            #[inline(always)]
            fn body<$($generics)*>($($arg: $ty),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,f16c")]
            fn avx2<$($generics)*>($($arg: $ty),*) $(-> $ret)? {
                body($($arg),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")]
            fn avx512<$($generics)*>($($arg: $ty),*) $(-> $ret)? {
                body($($arg),*)
            }

            match level.set() {
                #[cfg(target_arch = "x86_64")]
                $crate::cpu::simd::Set::Avx512 => {
                    // SAFETY: a level is made only of what the processor has.
                    unsafe { avx512($($arg),*) }
                }
                #[cfg(target_arch = "x86_64")]
                $crate::cpu::simd::Set::Avx2 => {
                    // SAFETY: as above.
                    unsafe { avx2($($arg),*) }
                }
                _ => body($($arg),*),
            }
        }
    };
}

pub(super) use simd;
