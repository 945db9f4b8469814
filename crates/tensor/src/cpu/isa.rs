//! Which instruction sets the CPU kernels may use.
//!
//! A result has the same bits for any number of threads on the same [`Isa`], so the
//! choice is recorded with a run. The environment variable `CAIRN_CPU` caps it.

#![expect(
    unsafe_code,
    reason = "the tile registers need a permission from the operating system"
)]

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use thiserror::Error;

/// The environment variable that caps the instruction set.
pub const ISA_VAR: &str = "CAIRN_CPU";

/// A level of instruction sets; each includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isa {
    /// What every processor of the target has.
    Portable,
    /// x86-64 with AVX2, FMA and F16C.
    Avx2,
    /// x86-64 with AVX-512 F, BW, DQ and VL.
    Avx512,
    /// As [`Isa::Avx512`], and bfloat16 dot products of vectors (`AVX512_BF16`).
    Avx512Bf16,
    /// As [`Isa::Avx512Bf16`], and bfloat16 matrix tiles (AMX-BF16).
    Amx,
}

/// A value of [`ISA_VAR`] that cannot be honoured.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum IsaError {
    /// The text names no instruction set.
    #[error("`{name}` is not one of portable, avx2, avx512, avx512_bf16, amx")]
    Unknown {
        /// The text as given.
        name: String,
    },
}

impl Isa {
    /// The name as written in `CAIRN_CPU` and recorded with a run. Both AVX-512 levels
    /// are asked for as `avx512`; what was chosen is told apart.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Avx512Bf16 => "avx512_bf16",
            Self::Amx => "amx",
        }
    }

    /// The highest level this processor and operating system offer.
    ///
    /// The first call asks Linux for the tile registers, for the whole process.
    pub fn detect() -> Self {
        static DETECTED: OnceLock<Isa> = OnceLock::new();
        *DETECTED.get_or_init(detect)
    }

    /// The level to use: the detected one, not above the cap in `setting` (the value of
    /// [`ISA_VAR`]; absent or empty means no cap). A cap above what the processor offers
    /// gives what it offers.
    ///
    /// # Errors
    /// [`IsaError::Unknown`] when the setting names no level.
    pub fn from_setting(setting: Option<&str>) -> Result<Self, IsaError> {
        match setting.map(str::trim).filter(|text| !text.is_empty()) {
            None => Ok(Self::detect()),
            Some(text) => Ok(Self::detect().min(text.parse()?)),
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Isa {
    type Err = IsaError;

    fn from_str(name: &str) -> Result<Self, IsaError> {
        match name {
            "portable" => Ok(Self::Portable),
            "avx2" => Ok(Self::Avx2),
            "avx512" | "avx512_bf16" => Ok(Self::Avx512Bf16),
            "amx" => Ok(Self::Amx),
            _ => Err(IsaError::Unknown {
                name: name.to_owned(),
            }),
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Isa {
    if !(is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c"))
    {
        return Isa::Portable;
    }
    if !(is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl"))
    {
        return Isa::Avx2;
    }
    if !is_x86_feature_detected!("avx512bf16") {
        return Isa::Avx512;
    }
    if has_amx() { Isa::Amx } else { Isa::Avx512Bf16 }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Isa {
    Isa::Portable
}

/// Whether AMX-TILE and AMX-BF16 exist and the operating system lets us use them.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn has_amx() -> bool {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    // CPUID leaf 7, sub-leaf 0, EDX: bit 22 is AMX-BF16, bit 24 is AMX-TILE
    // (Intel SDM volume 2A, CPUID).
    const TILES: u32 = 1 << 22 | 1 << 24;
    // Leaf 0x1d, sub-leaf 1 describes palette 1: the kernels assume eight tiles of
    // 16 rows of 64 bytes. EBX: tiles << 16 | bytes per row; ECX: rows.
    if __cpuid(0).eax < 0x1d || __cpuid_count(7, 0).edx & TILES != TILES {
        return false;
    }
    let palette = __cpuid_count(0x1d, 1);
    if palette.ebx != 8 << 16 | 64 || palette.ecx & 0xffff != 16 {
        return false;
    }
    // arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA), Linux 5.16 and later
    // (Documentation/arch/x86/xstate.rst).
    const ARCH_REQ_XCOMP_PERM: libc::c_long = 0x1023;
    const XFEATURE_XTILEDATA: libc::c_long = 18;
    // SAFETY: the call takes two integers and touches no memory of this process; an
    // unknown request is refused with an error.
    let refused = unsafe {
        libc::syscall(
            libc::SYS_arch_prctl,
            ARCH_REQ_XCOMP_PERM,
            XFEATURE_XTILEDATA,
        )
    };
    refused == 0
}

#[cfg(all(target_arch = "x86_64", not(target_os = "linux")))]
fn has_amx() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_caps_and_never_raises() {
        assert_eq!(Isa::from_setting(None), Ok(Isa::detect()));
        assert_eq!(Isa::from_setting(Some("")), Ok(Isa::detect()));
        assert_eq!(Isa::from_setting(Some("portable")), Ok(Isa::Portable));
        assert!(Isa::from_setting(Some("avx2")).unwrap() <= Isa::Avx2);
        assert!(Isa::from_setting(Some("avx512")).unwrap() <= Isa::Avx512Bf16);
        assert_eq!(Isa::from_setting(Some("amx")), Ok(Isa::detect()));
    }

    #[test]
    fn an_unknown_setting_is_refused() {
        for name in ["sse", "AVX2", "avx-512", "neon"] {
            assert_eq!(
                Isa::from_setting(Some(name)),
                Err(IsaError::Unknown {
                    name: name.to_owned()
                })
            );
        }
    }
}
