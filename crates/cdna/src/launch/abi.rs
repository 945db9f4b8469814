//! The launch ABI: limits, arguments, the dispatch packet, and what a wave
//! starts with. Source: LLVM's "User Guide for AMDGPU Backend".

use cairn_codeobj::{Arch, Argument, ArgumentKind};

use super::{Environment, Launch, LaunchError, PRIVATE_APERTURE, SHARED_APERTURE};
use crate::wave::{Wave, first_lanes};

/// Most workgroups of a launch that are simulated.
const MAX_WORKGROUPS: u64 = 1 << 32;

/// Most scratch of a lane: what the scratch size field of a wave can say.
const MAX_SCRATCH: u64 = 8191 * 1024 / 64;
/// Most bytes of arguments.
const MAX_ARGUMENTS: u64 = 1 << 20;

impl Launch<'_> {
    /// Checks sizes and arguments against the limits of the processor and the kernel.
    ///
    /// # Errors
    /// The first limit that is passed.
    pub fn check(&self) -> Result<(), LaunchError> {
        let kernel = &self.program.kernel;
        let items: u64 = self.workgroup.iter().map(|size| u64::from(*size)).product();
        let limit = match kernel.metadata.max_workgroup {
            0 => Arch::MAX_WORKGROUP,
            limit => limit.min(Arch::MAX_WORKGROUP),
        };
        if items == 0 || items > u64::from(limit) {
            return Err(LaunchError::Size {
                what: "workgroup",
                given: self.workgroup,
                limit: format!("1 to {limit} work-items are allowed"),
            });
        }
        if let Some(required) = kernel
            .metadata
            .required_workgroup
            .filter(|size| *size != self.workgroup)
        {
            return Err(LaunchError::Size {
                what: "workgroup",
                given: self.workgroup,
                limit: format!("the kernel is made for {required:?}"),
            });
        }
        let groups: u64 = self
            .grid
            .iter()
            .fold(1, |all, size| all.saturating_mul(u64::from(*size)));
        if groups == 0 || groups >= MAX_WORKGROUPS {
            return Err(LaunchError::Size {
                what: "grid",
                given: self.grid,
                limit: format!("1 to {} workgroups are allowed", MAX_WORKGROUPS - 1),
            });
        }
        let asked = u64::from(kernel.descriptor.group_segment_bytes) + u64::from(self.dynamic_lds);
        let limit = self.program.arch.lds_bytes();
        if asked > u64::from(limit) {
            let arch = self.program.arch.name();
            return Err(LaunchError::Lds { asked, arch, limit });
        }
        let arguments = kernel
            .metadata
            .kernarg_bytes
            .max(kernel.descriptor.kernarg_bytes);
        let private = kernel.descriptor.private_segment_bytes;
        for (what, asked, limit) in [
            ("scratch a lane", u64::from(private), MAX_SCRATCH),
            ("arguments", u64::from(arguments), MAX_ARGUMENTS),
        ] {
            if asked > limit {
                return Err(LaunchError::Needs { what, asked, limit });
            }
        }
        let expected = self.explicit_bytes();
        if self.arguments.len() != expected {
            let given = self.arguments.len();
            return Err(LaunchError::Arguments { given, expected });
        }
        Ok(())
    }

    /// Bytes up to the end of the last explicit argument.
    fn explicit_bytes(&self) -> usize {
        let args = self.program.kernel.metadata.args.iter();
        let explicit = args.filter(|arg| !arg.kind.is_hidden());
        explicit
            .map(|arg| arg.offset as usize + arg.size as usize)
            .max()
            .unwrap_or(0)
    }

    /// The arguments in memory: those of the caller, then the hidden ones.
    pub(super) fn kernarg(&self) -> Vec<u8> {
        let kernel = &self.program.kernel;
        let size = kernel
            .metadata
            .kernarg_bytes
            .max(kernel.descriptor.kernarg_bytes) as usize;
        // Scalar loads of the last arguments may be wider than these are: the segment is a
        // multiple of its alignment.
        let size = size.next_multiple_of(16).max(16);
        let mut bytes = self.arguments.to_vec();
        bytes.resize(size.max(self.arguments.len()), 0);
        for arg in kernel
            .metadata
            .args
            .iter()
            .filter(|arg| arg.kind.is_hidden())
        {
            let value = self.hidden(arg).to_le_bytes();
            let offset = arg.offset as usize;
            let count = (arg.size as usize).min(8);
            if let Some(place) = bytes.get_mut(offset..offset + count) {
                place.copy_from_slice(&value[..count]);
            }
        }
        bytes
    }

    fn hidden(&self, arg: &Argument) -> u64 {
        let dims = (1..3)
            .filter(|at| self.grid[*at] > 1 || self.workgroup[*at] > 1)
            .max();
        match arg.kind {
            ArgumentKind::HiddenBlockCountX => self.grid[0].into(),
            ArgumentKind::HiddenBlockCountY => self.grid[1].into(),
            ArgumentKind::HiddenBlockCountZ => self.grid[2].into(),
            ArgumentKind::HiddenGroupSizeX => self.workgroup[0].into(),
            ArgumentKind::HiddenGroupSizeY => self.workgroup[1].into(),
            ArgumentKind::HiddenGroupSizeZ => self.workgroup[2].into(),
            ArgumentKind::HiddenGridDims => dims.map_or(1, |at| at as u64 + 1),
            ArgumentKind::HiddenDynamicLdsSize => self.dynamic_lds.into(),
            ArgumentKind::HiddenPrivateBase => PRIVATE_APERTURE >> 32,
            ArgumentKind::HiddenSharedBase => SHARED_APERTURE >> 32,
            _ => 0,
        }
    }

    /// The AQL packet of the dispatch.
    pub(super) fn packet(&self, kernarg: u64) -> [u8; 64] {
        let mut packet = [0; 64];
        let mut put = |at: usize, bytes: &[u8]| packet[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &2u16.to_le_bytes());
        put(2, &3u16.to_le_bytes());
        for axis in 0..3 {
            put(4 + 2 * axis, &(self.workgroup[axis] as u16).to_le_bytes());
            let items = self.grid[axis].wrapping_mul(self.workgroup[axis]);
            put(12 + 4 * axis, &items.to_le_bytes());
        }
        let descriptor = &self.program.kernel.descriptor;
        put(24, &descriptor.private_segment_bytes.to_le_bytes());
        let lds = descriptor.group_segment_bytes + self.dynamic_lds;
        put(28, &lds.to_le_bytes());
        let object = self
            .loaded
            .base
            .wrapping_add(self.program.kernel.descriptor_address);
        put(32, &object.to_le_bytes());
        put(40, &kernarg.to_le_bytes());
        packet
    }

    /// Fills the registers a wave starts with.
    pub(super) fn start(&self, wave: &mut Wave, environment: &Environment<'_>, group: [u32; 3]) {
        let descriptor = &self.program.kernel.descriptor;
        let user = descriptor.user_sgprs;
        let mut next = 0;
        let mut put = |wave: &mut Wave, words: &[u32]| {
            for word in words {
                if next < 102 {
                    wave.set_sgpr(next, *word);
                }
                next += 1;
            }
        };
        let pair = |value: u64| [value as u32, (value >> 32) as u32];
        if user.private_segment_buffer {
            put(wave, &[0; 4]);
        }
        if user.dispatch_ptr {
            put(wave, &pair(environment.packet));
        }
        if user.queue_ptr {
            put(wave, &[0; 2]);
        }
        if user.kernarg_segment_ptr {
            put(wave, &pair(environment.kernarg));
        }
        if user.dispatch_id {
            put(wave, &[0; 2]);
        }
        if user.flat_scratch_init {
            put(wave, &pair(PRIVATE_APERTURE));
        }
        if user.private_segment_size {
            put(wave, &[descriptor.private_segment_bytes]);
        }
        let first = usize::from(descriptor.preload_offset_dwords) * 4;
        for dword in 0..usize::from(descriptor.preload_dwords) {
            let word = environment
                .arguments
                .get(first + 4 * dword..first + 4 * dword + 4);
            let word = word.map_or(0, |word| {
                u32::from_le_bytes([word[0], word[1], word[2], word[3]])
            });
            put(wave, &[word]);
        }
        let mut system = descriptor.rsrc2.user_sgpr_count() as usize;
        for (axis, wanted) in descriptor.rsrc2.workgroup_ids().into_iter().enumerate() {
            if wanted && system < 102 {
                wave.set_sgpr(system, group[axis]);
                system += 1;
            }
        }
        if descriptor.rsrc2.workgroup_info() && system < 102 {
            wave.set_sgpr(system, 0);
        }
        let rsrc1 = descriptor.rsrc1;
        wave.mode = u32::from(rsrc1.float_mode())
            | u32::from(rsrc1.dx10_clamp()) << 8
            | u32::from(rsrc1.ieee_mode()) << 9
            | u32::from(rsrc1.fp16_overflow()) << 23;
        self.start_lanes(wave);
        wave.at = self.program.entry;
    }

    fn start_lanes(&self, wave: &mut Wave) {
        let [x, y, z] = self.workgroup;
        let items = x * y * z;
        let first = wave.id * 64;
        let ids = self.program.kernel.descriptor.rsrc2.workitem_id();
        for lane in 0..64 {
            let item = first + lane;
            let (ix, iy, iz) = (item % x, item / x % y, item / x / y % z.max(1));
            let mut packed = ix;
            if ids >= 1 {
                packed |= iy << 10;
            }
            if ids >= 2 {
                packed |= iz << 20;
            }
            wave.v[0][lane as usize] = packed;
        }
        wave.shadow.defined[0] = u64::MAX;
        let exec = first_lanes(items - first);
        wave.launched = exec;
        wave.set_pair(126, exec);
        wave.shadow.undefined[126] = 0;
        wave.shadow.undefined[127] = 0;
        wave.scc = false;
    }
}
