//! The kernel descriptor: 64 bytes from which the hardware's packet processor
//! sets up a wave. Layout: LLVM's "User Guide for AMDGPU Backend", code object
//! version 3 and later.

use crate::bytes::{i64_at, u16_at, u32_at};

/// The size of a descriptor.
pub const DESCRIPTOR_BYTES: u64 = 64;

/// A kernel descriptor of a gfx9 processor with 512 registers a SIMD lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelDescriptor {
    /// LDS the kernel declares, in bytes.
    pub group_segment_bytes: u32,
    /// Scratch a lane needs, in bytes.
    pub private_segment_bytes: u32,
    /// Size of the arguments in memory; 0 when unknown.
    pub kernarg_bytes: u32,
    /// The first instruction, relative to the descriptor.
    pub entry_offset: i64,
    /// Registers and float modes.
    pub rsrc1: Rsrc1,
    /// What a wave starts with.
    pub rsrc2: Rsrc2,
    /// The split of the register file.
    pub rsrc3: Rsrc3,
    /// Which values are put in SGPRs before the wave starts.
    pub user_sgprs: UserSgprs,
    /// Dwords of the arguments that are put in SGPRs.
    pub preload_dwords: u8,
    /// Where in the arguments these begin, in dwords.
    pub preload_offset_dwords: u16,
    /// True when the amount of scratch is not known before it runs.
    pub uses_dynamic_stack: bool,
    /// True for waves of 32 lanes.
    pub wave32: bool,
}

/// `COMPUTE_PGM_RSRC1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rsrc1(pub u32);

/// `COMPUTE_PGM_RSRC2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rsrc2(pub u32);

/// `COMPUTE_PGM_RSRC3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rsrc3(pub u32);

/// `KERNEL_CODE_PROPERTIES`: the order of the fields is the order in SGPRs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserSgprs {
    /// 4 SGPRs: buffer descriptor of scratch.
    pub private_segment_buffer: bool,
    /// 2 SGPRs: address of the dispatch packet.
    pub dispatch_ptr: bool,
    /// 2 SGPRs: address of the queue.
    pub queue_ptr: bool,
    /// 2 SGPRs: address of the arguments.
    pub kernarg_segment_ptr: bool,
    /// 2 SGPRs: number of the dispatch.
    pub dispatch_id: bool,
    /// 2 SGPRs: start of flat scratch.
    pub flat_scratch_init: bool,
    /// 1 SGPR: scratch bytes of a lane.
    pub private_segment_size: bool,
}

fn bits(value: u32, from: u32, count: u32) -> u32 {
    (value >> from) & ((1 << count) - 1)
}

fn bit(value: u32, at: u32) -> bool {
    (value >> at) & 1 != 0
}

impl Rsrc1 {
    /// Vector registers a lane has, both kinds together.
    #[must_use]
    pub fn vgprs(self) -> u32 {
        (bits(self.0, 0, 6) + 1) * 8
    }

    /// Scalar registers, with VCC and the like.
    #[must_use]
    pub fn sgprs(self) -> u32 {
        (bits(self.0, 6, 4) / 2 + 1) * 16
    }

    /// Rounding of f32: 0 nearest even, 1 up, 2 down, 3 to zero.
    #[must_use]
    pub fn round_mode_32(self) -> u32 {
        bits(self.0, 12, 2)
    }

    /// Rounding of f16 and f64.
    #[must_use]
    pub fn round_mode_16_64(self) -> u32 {
        bits(self.0, 14, 2)
    }

    /// Denormals of f32: bit 0 keeps them as sources, bit 1 as results.
    #[must_use]
    pub fn denorm_mode_32(self) -> u32 {
        bits(self.0, 16, 2)
    }

    /// Denormals of f16 and f64.
    #[must_use]
    pub fn denorm_mode_16_64(self) -> u32 {
        bits(self.0, 18, 2)
    }

    /// The first eight bits of the MODE register that the four modes make.
    #[must_use]
    pub fn float_mode(self) -> u8 {
        bits(self.0, 12, 8) as u8
    }

    /// Clamping turns NaN into 0.
    #[must_use]
    pub fn dx10_clamp(self) -> bool {
        bit(self.0, 21)
    }

    /// Signalling NaNs are made quiet.
    #[must_use]
    pub fn ieee_mode(self) -> bool {
        bit(self.0, 23)
    }

    /// f16 results that are too large become the largest one.
    #[must_use]
    pub fn fp16_overflow(self) -> bool {
        bit(self.0, 26)
    }
}

impl Rsrc2 {
    /// Scratch is set up.
    #[must_use]
    pub fn private_segment(self) -> bool {
        bit(self.0, 0)
    }

    /// SGPRs filled before the wave starts.
    #[must_use]
    pub fn user_sgpr_count(self) -> u32 {
        bits(self.0, 1, 5)
    }

    /// Whether the workgroup's x, y and z follow in an SGPR each.
    #[must_use]
    pub fn workgroup_ids(self) -> [bool; 3] {
        [bit(self.0, 7), bit(self.0, 8), bit(self.0, 9)]
    }

    /// Whether the workgroup's information follows them.
    #[must_use]
    pub fn workgroup_info(self) -> bool {
        bit(self.0, 10)
    }

    /// 0: v0 holds x; 1: x and y; 2: x, y and z, ten bits each.
    #[must_use]
    pub fn workitem_id(self) -> u32 {
        bits(self.0, 11, 2)
    }

    /// The float exceptions that trap: invalid, denormal, division by zero,
    /// overflow, underflow, inexact, integer division by zero.
    #[must_use]
    pub fn exceptions(self) -> u32 {
        bits(self.0, 24, 7)
    }
}

impl Rsrc3 {
    /// The first accumulation register's place in the register file, so many
    /// vector registers are before it.
    #[must_use]
    pub fn accum_offset(self) -> u32 {
        (bits(self.0, 0, 6) + 1) * 4
    }

    /// The waves of a workgroup may be on different compute units.
    #[must_use]
    pub fn threadgroup_split(self) -> bool {
        bit(self.0, 16)
    }
}

impl UserSgprs {
    fn from_bits(value: u32) -> Self {
        Self {
            private_segment_buffer: bit(value, 0),
            dispatch_ptr: bit(value, 1),
            queue_ptr: bit(value, 2),
            kernarg_segment_ptr: bit(value, 3),
            dispatch_id: bit(value, 4),
            flat_scratch_init: bit(value, 5),
            private_segment_size: bit(value, 6),
        }
    }

    /// SGPRs these take.
    #[must_use]
    pub fn count(self) -> u32 {
        let pairs = [
            self.dispatch_ptr,
            self.queue_ptr,
            self.kernarg_segment_ptr,
            self.dispatch_id,
            self.flat_scratch_init,
        ];
        4 * u32::from(self.private_segment_buffer)
            + 2 * pairs.into_iter().map(u32::from).sum::<u32>()
            + u32::from(self.private_segment_size)
    }
}

impl KernelDescriptor {
    /// Reads a descriptor; `None` when there are fewer than 64 bytes.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..DESCRIPTOR_BYTES as usize)?;
        let properties = u32::from(u16_at(bytes, 56)?);
        let preload = u16_at(bytes, 58)?;
        Some(Self {
            group_segment_bytes: u32_at(bytes, 0)?,
            private_segment_bytes: u32_at(bytes, 4)?,
            kernarg_bytes: u32_at(bytes, 8)?,
            entry_offset: i64_at(bytes, 16)?,
            rsrc1: Rsrc1(u32_at(bytes, 48)?),
            rsrc2: Rsrc2(u32_at(bytes, 52)?),
            rsrc3: Rsrc3(u32_at(bytes, 44)?),
            user_sgprs: UserSgprs::from_bits(properties),
            preload_dwords: (preload & 0x7f) as u8,
            preload_offset_dwords: preload >> 7,
            uses_dynamic_stack: bit(properties, 11),
            wave32: bit(properties, 10),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_the_guide_says() {
        let mut bytes = [0u8; 64];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &4096u32.to_le_bytes());
        put(4, &16u32.to_le_bytes());
        put(8, &280u32.to_le_bytes());
        put(16, &(-512i64).to_le_bytes());
        put(44, &(7u32 | 1 << 16).to_le_bytes());
        put(
            48,
            &(5u32 | 4 << 6 | 0xc0 << 12 | 1 << 21 | 1 << 23).to_le_bytes(),
        );
        put(
            52,
            &(1u32 | 8 << 1 | 0b101 << 7 | 2 << 11 | 0x41 << 24).to_le_bytes(),
        );
        put(56, &(0b0000_1001_u16 | 1 << 11).to_le_bytes());
        put(58, &(6u16 | 2 << 7).to_le_bytes());
        let read = KernelDescriptor::parse(&bytes).unwrap();
        assert_eq!(
            (
                read.group_segment_bytes,
                read.private_segment_bytes,
                read.kernarg_bytes,
                read.entry_offset
            ),
            (4096, 16, 280, -512)
        );
        assert_eq!((read.rsrc1.vgprs(), read.rsrc1.sgprs()), (48, 48));
        assert_eq!(
            (read.rsrc1.denorm_mode_32(), read.rsrc1.denorm_mode_16_64()),
            (0, 3)
        );
        assert_eq!(
            (read.rsrc1.round_mode_32(), read.rsrc1.round_mode_16_64()),
            (0, 0)
        );
        assert_eq!(read.rsrc1.float_mode(), 0xc0);
        assert!(read.rsrc1.dx10_clamp() && read.rsrc1.ieee_mode() && !read.rsrc1.fp16_overflow());
        assert!(read.rsrc2.private_segment() && !read.rsrc2.workgroup_info());
        assert_eq!(read.rsrc2.user_sgpr_count(), 8);
        assert_eq!(read.rsrc2.workgroup_ids(), [true, false, true]);
        assert_eq!(
            (read.rsrc2.workitem_id(), read.rsrc2.exceptions()),
            (2, 0x41)
        );
        assert_eq!(
            (read.rsrc3.accum_offset(), read.rsrc3.threadgroup_split()),
            (32, true)
        );
        assert!(read.user_sgprs.private_segment_buffer && read.user_sgprs.kernarg_segment_ptr);
        assert_eq!(read.user_sgprs.count(), 6);
        assert_eq!((read.preload_dwords, read.preload_offset_dwords), (6, 2));
        assert!(read.uses_dynamic_stack && !read.wave32);
        assert_eq!(KernelDescriptor::parse(&bytes[..63]), None);
    }
}
