//! What a launch did, counted.

use cairn_codeobj::Arch;
use cairn_codeobj::isa::{Format, Inst, Op};

use crate::wave::Lanes;

/// Counts of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// How often each step ran, in waves.
    pub(crate) steps: Vec<u64>,
    /// Extra LDS passes of each step.
    pub(crate) step_conflicts: Vec<u64>,
    /// Floating-point (or integer) operations of matrix instructions.
    pub matrix_flops: u64,
    /// Bytes that lanes read from memory.
    pub global_read: u64,
    /// Bytes that lanes wrote to memory.
    pub global_written: u64,
    /// Bytes of both that lanes moved 16 at a time, in runs of lanes one behind the other
    /// over at least a line.
    pub global_wide: u64,
    /// Lines of memory that both touched, as the lanes of an access come to them.
    pub global_lines: u64,
    /// Lines of memory that were touched, each once; of a sample those of the workgroups that
    /// ran.
    pub distinct_lines: u64,
    /// Bytes that waves read through the scalar cache.
    pub scalar_read: u64,
    /// Bytes read from LDS.
    pub lds_read: u64,
    /// Bytes written to LDS.
    pub lds_written: u64,
    /// Passes over the LDS banks.
    pub lds_passes: u64,
    /// Passes that bank conflicts added.
    pub lds_conflicts: u64,
    /// Atomics, a lane each.
    pub atomics: u64,
    /// Waves that ran.
    pub waves: u64,
    /// Workgroups that ran.
    pub workgroups: u64,
}

impl Counters {
    pub(crate) fn new(steps: usize) -> Self {
        Self {
            steps: vec![0; steps],
            step_conflicts: vec![0; steps],
            ..Self::default()
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.steps.iter_mut().zip(&other.steps) {
            *mine += theirs;
        }
        for (mine, theirs) in self.step_conflicts.iter_mut().zip(&other.step_conflicts) {
            *mine += theirs;
        }
        self.matrix_flops += other.matrix_flops;
        self.global_read += other.global_read;
        self.global_written += other.global_written;
        self.global_wide += other.global_wide;
        self.global_lines += other.global_lines;
        self.scalar_read += other.scalar_read;
        self.lds_read += other.lds_read;
        self.lds_written += other.lds_written;
        self.lds_passes += other.lds_passes;
        self.lds_conflicts += other.lds_conflicts;
        self.atomics += other.atomics;
        self.waves += other.waves;
        self.workgroups += other.workgroups;
    }

    /// Counts of `count` workgroups from those of `ran` of them.
    pub(crate) fn scale(&mut self, count: u64, ran: u64) {
        let scaled = |value: u64| (u128::from(value) * u128::from(count) / u128::from(ran)) as u64;
        for value in self.steps.iter_mut().chain(&mut self.step_conflicts) {
            *value = scaled(*value);
        }
        for value in [
            &mut self.matrix_flops,
            &mut self.global_read,
            &mut self.global_written,
            &mut self.global_wide,
            &mut self.global_lines,
            &mut self.scalar_read,
            &mut self.lds_read,
            &mut self.lds_written,
            &mut self.lds_passes,
            &mut self.lds_conflicts,
            &mut self.atomics,
            &mut self.waves,
            &mut self.workgroups,
        ] {
            *value = scaled(*value);
        }
    }

    /// Notes where the lanes of a load or store go.
    pub(crate) fn touch(&mut self, mask: u64, address: &[u64; 64], bytes: u32) {
        let (wide, lines) = coalescing(mask, address, bytes);
        self.global_wide += wide;
        self.global_lines += lines;
    }

    /// Instructions in all, a wave each.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.steps.iter().sum()
    }
}

/// Classes of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Scalar arithmetic.
    Scalar,
    /// Branches, waits, barriers and the like.
    Control,
    /// Scalar memory.
    ScalarMemory,
    /// Vector arithmetic.
    Vector,
    /// Exponentials, roots and the like, at a quarter of the rate.
    Transcendental,
    /// Matrix products.
    Matrix,
    /// LDS.
    Lds,
    /// Loads from memory.
    Load,
    /// Stores to memory, atomics included.
    Store,
}

impl Class {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Scalar,
        Self::Control,
        Self::ScalarMemory,
        Self::Vector,
        Self::Transcendental,
        Self::Matrix,
        Self::Lds,
        Self::Load,
        Self::Store,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Control => "control",
            Self::ScalarMemory => "scalar memory",
            Self::Vector => "vector",
            Self::Transcendental => "transcendental",
            Self::Matrix => "matrix",
            Self::Lds => "LDS",
            Self::Load => "load",
            Self::Store => "store",
        }
    }

    /// The class of an instruction.
    #[must_use]
    pub fn of(inst: &Inst) -> Self {
        match inst.format {
            Format::Sopp => Self::Control,
            Format::Sop1 | Format::Sop2 | Format::Sopc | Format::Sopk => Self::Scalar,
            Format::Smem => Self::ScalarMemory,
            Format::Ds => Self::Lds,
            Format::Flat | Format::Global | Format::Scratch | Format::Mubuf => {
                if inst.src[1].is_some() {
                    Self::Store
                } else {
                    Self::Load
                }
            }
            Format::Mai if !matches!(inst.op, Op::V_ACCVGPR_READ_B32 | Op::V_ACCVGPR_WRITE_B32) => {
                Self::Matrix
            }
            _ if is_transcendental(inst.op) => Self::Transcendental,
            _ => Self::Vector,
        }
    }
}

const fn is_transcendental(op: Op) -> bool {
    matches!(
        op,
        Op::V_EXP_F32
            | Op::V_LOG_F32
            | Op::V_RCP_F32
            | Op::V_RCP_IFLAG_F32
            | Op::V_RSQ_F32
            | Op::V_SQRT_F32
            | Op::V_SIN_F32
            | Op::V_COS_F32
            | Op::V_RCP_F64
            | Op::V_RSQ_F64
            | Op::V_SQRT_F64
            | Op::V_EXP_F16
            | Op::V_LOG_F16
            | Op::V_RCP_F16
            | Op::V_RSQ_F16
            | Op::V_SQRT_F16
    )
}

/// Bytes of a line of memory.
pub const LINE: u64 = 64;

/// The bytes that are moved 16 a lane in runs of at least a line, and the lines touched.
fn coalescing(mask: u64, address: &[u64; 64], bytes: u32) -> (u64, u64) {
    let bytes = u64::from(bytes);
    let line = |at: u64| at / LINE;
    let mut run = 0;
    let (mut wide, mut lines) = (0, 0);
    let mut end_of_run = |run: u64| {
        if bytes == 16 && run >= LINE {
            wide += run;
        }
    };
    // Every lane's access behind the one before it: one run.
    let behind = |lane: usize| address[lane].wrapping_sub(address[lane - 1]) ^ bytes;
    if mask == u64::MAX && (1..64).fold(0, |odd, lane| odd | behind(lane)) == 0 {
        end_of_run(64 * bytes);
        lines = line(address[63].wrapping_add(bytes - 1)).wrapping_sub(line(address[0])) + 1;
        return (wide, lines);
    }
    let (mut next, mut last) = (None, None);
    let mut left = mask;
    while left != 0 {
        let at = address[left.trailing_zeros() as usize];
        left &= left - 1;
        if next != Some(at) {
            end_of_run(run);
            run = 0;
        }
        run += bytes;
        next = Some(at.wrapping_add(bytes));
        let (first, end) = (line(at), line(at.wrapping_add(bytes - 1)));
        lines += end.wrapping_sub(first) + u64::from(last != Some(first));
        last = Some(end);
    }
    end_of_run(run);
    (wide, lines)
}

/// Lanes that the LDS serves together for accesses of so many bytes.
const fn group_lanes(bytes: u32) -> usize {
    match bytes {
        0..=4 => 32,
        5..=8 => 16,
        _ => 8,
    }
}

/// Passes an LDS access takes, and how many of them are due to bank conflicts:
/// lanes are served in groups, and a bank gives one word a pass.
pub(crate) fn lds_passes(arch: Arch, mask: u64, address: &Lanes, bytes: u32) -> (u64, u64) {
    let banks = if arch == Arch::Gfx950 { 64 } else { 32 };
    let group = group_lanes(bytes) * banks / 32;
    let words = bytes.div_ceil(4);
    let (mut passes, mut extra) = (0, 0);
    for first in (0..64).step_by(group) {
        let mut seen: [[u32; 8]; 64] = [[u32::MAX; 8]; 64];
        let mut count = [0u8; 64];
        let mut most = 0;
        for lane in (first..first + group).filter(|lane| mask >> lane & 1 != 0) {
            for word in 0..words {
                let at = (address[lane] / 4).wrapping_add(word);
                let bank = at as usize % banks;
                let known = usize::from(count[bank]).min(8);
                // The same word goes to all lanes at once.
                if seen[bank][..known].contains(&at) {
                    continue;
                }
                if known < 8 {
                    seen[bank][known] = at;
                }
                count[bank] += 1;
                most = most.max(count[bank]);
            }
        }
        if most > 0 {
            passes += u64::from(most);
            extra += u64::from(most) - 1;
        }
    }
    (passes, extra)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stride(words: u32) -> Lanes {
        std::array::from_fn(|lane| lane as u32 * words * 4)
    }

    fn places(of: impl Fn(u64) -> u64) -> [u64; 64] {
        std::array::from_fn(|lane| 4096 + of(lane as u64))
    }

    #[test]
    fn runs_of_16_bytes_a_lane_are_wide() {
        let all = u64::MAX;
        assert_eq!(coalescing(all, &places(|lane| lane * 16), 16), (1024, 16));
        assert_eq!(
            coalescing(all, &places(|lane| lane * 16 + 4), 16),
            (1024, 17)
        );
        assert_eq!(coalescing(all, &places(|lane| lane * 4), 4), (0, 4));
        assert_eq!(coalescing(all, &places(|lane| lane * 32), 16), (0, 32));
        assert_eq!(coalescing(all, &places(|lane| lane * 4096), 4), (0, 64));
        assert_eq!(coalescing(all, &places(|_| 0), 4), (0, 1));
        // Runs of four lanes, each elsewhere; then of two.
        let runs = |of: u64| places(move |lane| lane / of * 1024 + lane % of * 16);
        assert_eq!(coalescing(all, &runs(4), 16), (1024, 16));
        assert_eq!(coalescing(all, &runs(2), 16), (0, 32));
        // Lanes that are switched off end no run of those beside them.
        assert_eq!(coalescing(0xff, &places(|lane| lane * 16), 16), (128, 2));
        assert_eq!(coalescing(0xf7, &places(|lane| lane * 16), 16), (64, 2));
        assert_eq!(coalescing(0, &places(|lane| lane * 16), 16), (0, 0));
        // Addresses are a kernel's: any.
        let wild = places(|lane| u64::MAX - 4096 - lane);
        assert_eq!(coalescing(1, &wild, 16).0, 0);
    }

    #[test]
    fn conflicts_are_words_of_one_bank() {
        let all = u64::MAX;
        assert_eq!(lds_passes(Arch::Gfx942, all, &stride(1), 4), (2, 0));
        assert_eq!(lds_passes(Arch::Gfx942, all, &stride(2), 4), (4, 2));
        assert_eq!(lds_passes(Arch::Gfx942, all, &stride(32), 4), (64, 62));
        assert_eq!(
            lds_passes(Arch::Gfx942, all, &stride(0), 4),
            (2, 0),
            "broadcast"
        );
        assert_eq!(lds_passes(Arch::Gfx942, all, &stride(2), 8), (4, 0));
        assert_eq!(lds_passes(Arch::Gfx942, all, &stride(4), 16), (8, 0));
        assert_eq!(lds_passes(Arch::Gfx950, all, &stride(1), 4), (1, 0));
        assert_eq!(lds_passes(Arch::Gfx942, 1, &stride(32), 4), (1, 0));
    }
}
