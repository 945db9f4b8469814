//! The processors that code objects are made for, and the limits of each.
//!
//! Figures: LLVM's "User Guide for AMDGPU Backend" (machine numbers, register
//! granules) and AMD's CDNA2, CDNA3 and CDNA4 ISA documents (LDS, registers).

use std::fmt;

use crate::CodeObjectError;

/// A processor Cairn builds for, or a code object may be made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arch {
    /// CDNA2: MI200.
    Gfx90a,
    /// CDNA3: MI300A, MI300X, MI325X.
    Gfx942,
    /// CDNA4: MI350X, MI355X.
    Gfx950,
    /// What gfx9 processors from gfx942 on have in common.
    Gfx94Generic,
}

/// Name, machine number in the ELF header and LDS bytes of each processor.
const ARCHS: [(Arch, &str, u8, u32); 4] = [
    (Arch::Gfx90a, "gfx90a", 0x3f, 64 << 10),
    (Arch::Gfx942, "gfx942", 0x4c, 64 << 10),
    (Arch::Gfx950, "gfx950", 0x4f, 160 << 10),
    (Arch::Gfx94Generic, "gfx9-4-generic", 0x5f, 64 << 10),
];

/// Other machine numbers, for a message that names them.
const OTHERS: [(u8, &str); 16] = [
    (0x2c, "gfx900"),
    (0x2f, "gfx906"),
    (0x30, "gfx908"),
    (0x33, "gfx1010"),
    (0x36, "gfx1030"),
    (0x40, "gfx940"),
    (0x41, "gfx1100"),
    (0x46, "gfx1101"),
    (0x47, "gfx1102"),
    (0x48, "gfx1200"),
    (0x49, "gfx1250"),
    (0x4a, "gfx1151"),
    (0x4b, "gfx941"),
    (0x4e, "gfx1201"),
    (0x51, "gfx9-generic"),
    (0x54, "gfx11-generic"),
];

impl Arch {
    /// Every processor.
    pub const ALL: [Self; 4] = [Self::Gfx90a, Self::Gfx942, Self::Gfx950, Self::Gfx94Generic];

    /// Lanes of a wave.
    pub const WAVE_LANES: u32 = 64;
    /// SIMD units of a compute unit.
    pub const SIMDS: u32 = 4;
    /// Most waves on a SIMD unit.
    pub const WAVES_PER_SIMD: u32 = 8;
    /// Registers of 32 bits a lane of a SIMD unit has, for all its waves.
    pub const VGPRS_PER_SIMD: u32 = 512;
    /// Registers are given out in blocks of this many.
    pub const VGPR_GRANULE: u32 = 8;
    /// Most workgroups of more than one wave on a compute unit.
    pub const BARRIERS: u32 = 16;
    /// Most lanes of a workgroup.
    pub const MAX_WORKGROUP: u32 = 1024;

    /// Its name as compilers know it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The processor of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let row = ARCHS.iter().find(|(_, known, ..)| *known == name)?;
        Some(row.0)
    }

    /// The processor of this machine number (the low byte of `e_flags`).
    pub(crate) fn from_machine(machine: u8) -> Result<Self, CodeObjectError> {
        if let Some(row) = ARCHS.iter().find(|(_, _, number, _)| *number == machine) {
            return Ok(row.0);
        }
        let known = OTHERS.iter().find(|(number, _)| *number == machine);
        Err(CodeObjectError::UnsupportedProcessor {
            machine,
            name: known
                .map_or("an unknown processor", |(_, name)| name)
                .to_owned(),
        })
    }

    /// LDS of a compute unit, all of which a workgroup may have.
    #[must_use]
    pub fn lds_bytes(self) -> u32 {
        self.row().3
    }

    /// LDS is given out in blocks of this many bytes.
    #[must_use]
    pub fn lds_granule(self) -> u32 {
        if self == Self::Gfx950 { 1280 } else { 512 }
    }

    fn row(self) -> &'static (Self, &'static str, u8, u32) {
        match self {
            Self::Gfx90a => &ARCHS[0],
            Self::Gfx942 => &ARCHS[1],
            Self::Gfx950 => &ARCHS[2],
            Self::Gfx94Generic => &ARCHS[3],
        }
    }

    /// Waves that a SIMD unit holds of a kernel with these needs.
    #[must_use]
    pub fn occupancy(self, vgprs: u32, lds_bytes: u32, workgroup: u32) -> Occupancy {
        let waves = workgroup.div_ceil(Self::WAVE_LANES).max(1);
        let allocated = vgprs.max(1).next_multiple_of(Self::VGPR_GRANULE);
        let by_vgprs = (Self::VGPRS_PER_SIMD / allocated).min(Self::WAVES_PER_SIMD);
        let most = Self::WAVES_PER_SIMD * Self::SIMDS / waves;
        let most = if waves == 1 {
            most
        } else {
            most.min(Self::BARRIERS)
        };
        let by_lds = match lds_bytes {
            0 => most,
            bytes => (self.lds_bytes() / bytes.next_multiple_of(self.lds_granule())).min(most),
        };
        let by_lds = (by_lds * waves)
            .div_ceil(Self::SIMDS)
            .min(Self::WAVES_PER_SIMD);
        Occupancy { by_vgprs, by_lds }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How many waves of a kernel a SIMD unit holds, by what limits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// What the vector registers allow.
    pub by_vgprs: u32,
    /// What LDS and the number of workgroups of a compute unit allow.
    pub by_lds: u32,
}

impl Occupancy {
    /// Waves on a SIMD unit.
    #[must_use]
    pub fn waves(self) -> u32 {
        self.by_vgprs.min(self.by_lds)
    }
}

/// A setting of the processor that code may rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// The processor has no such setting.
    Unsupported,
    /// The code runs with either setting.
    Any,
    /// The code needs it off.
    Off,
    /// The code needs it on.
    On,
}

impl Feature {
    pub(crate) fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            0 => Self::Unsupported,
            1 => Self::Any,
            2 => Self::Off,
            _ => Self::On,
        }
    }
}

/// What a code object is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The processor.
    pub arch: Arch,
    /// Whether page faults of vector loads are replayed.
    pub xnack: Feature,
    /// Whether SRAM has error correction.
    pub sramecc: Feature,
}

impl fmt::Display for Target {
    /// The target as compilers write it, such as `gfx90a:xnack+`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.arch.name())?;
        for (name, feature) in [("sramecc", self.sramecc), ("xnack", self.xnack)] {
            match feature {
                Feature::On => write!(f, ":{name}+")?,
                Feature::Off => write!(f, ":{name}-")?,
                Feature::Any | Feature::Unsupported => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_lead_back() {
        for arch in Arch::ALL {
            assert_eq!(Arch::from_name(arch.name()), Some(arch));
            assert_eq!(Arch::from_machine(arch.row().2), Ok(arch));
            assert_eq!(arch.row().0, arch);
        }
        assert_eq!(Arch::from_name("gfx9"), None);
        let other = Arch::from_machine(0x41).unwrap_err().to_string();
        assert!(other.contains("gfx1100"), "{other}");
    }

    #[test]
    fn occupancy_by_what_limits_it() {
        // vgprs, lds, workgroup -> by vgprs, by lds on gfx942
        for (vgprs, lds, workgroup, expected) in [
            (24, 0, 256, (8, 8)),
            (64, 0, 256, (8, 8)),
            (65, 0, 256, (7, 8)),
            (128, 16 << 10, 256, (4, 4)),
            (129, 16 << 10, 256, (3, 4)),
            (256, 64 << 10, 256, (2, 1)),
            (512, 33 << 10, 512, (1, 2)),
            (8, 1, 64, (8, 8)),
            (8, 65537, 64, (8, 0)),
            (8, 0, 1024, (8, 8)),
            (8, 2048, 64, (8, 8)),
            (8, 4096, 64, (8, 4)),
        ] {
            let got = Arch::Gfx942.occupancy(vgprs, lds, workgroup);
            assert_eq!(
                (got.by_vgprs, got.by_lds),
                expected,
                "{vgprs} {lds} {workgroup}"
            );
        }
        let big = Arch::Gfx950.occupancy(256, 64 << 10, 256);
        assert_eq!(big.by_lds, 2);
        assert_eq!(big.waves(), 2);
    }

    #[test]
    fn a_target_is_written_as_compilers_do() {
        let target = Target {
            arch: Arch::Gfx90a,
            xnack: Feature::On,
            sramecc: Feature::Any,
        };
        assert_eq!(target.to_string(), "gfx90a:xnack+");
    }
}
