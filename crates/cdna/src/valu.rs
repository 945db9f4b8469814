//! Vector arithmetic on whole registers: every function takes 64 lanes of each
//! operand and gives 64 lanes. They know nothing of waves, masks or encodings,
//! and are compiled once for each level of vector instructions a host may have.

mod compare;
mod convert;
mod half;
#[allow(
    unsafe_code,
    reason = "calls functions compiled for instructions that were found on the host"
)]
mod level;
mod masked;
mod single;
mod wide;

use cairn_codeobj::isa::Op;

use crate::float::Round;
use crate::wave::Lanes;

pub(crate) use level::Level;

/// What MODE and the architecture say about arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Modes {
    pub(crate) round32: Round,
    pub(crate) round16_64: Round,
    pub(crate) flush_in32: bool,
    pub(crate) flush_out32: bool,
    pub(crate) flush_in16_64: bool,
    pub(crate) flush_out16_64: bool,
    pub(crate) ieee: bool,
    pub(crate) dx10_clamp: bool,
    /// Conversions to small formats saturate.
    pub(crate) overflow_clamps: bool,
    /// OCP fp8 (gfx950) instead of FNUZ (gfx942).
    pub(crate) ocp: bool,
}

impl Modes {
    pub(crate) fn new(mode: u32, ocp: bool) -> Self {
        Self {
            round32: Round::from_mode(mode),
            round16_64: Round::from_mode(mode >> 2),
            flush_in32: mode >> 4 & 1 == 0,
            flush_out32: mode >> 5 & 1 == 0,
            flush_in16_64: mode >> 6 & 1 == 0,
            flush_out16_64: mode >> 7 & 1 == 0,
            dx10_clamp: mode >> 8 & 1 != 0,
            ieee: mode >> 9 & 1 != 0,
            overflow_clamps: mode >> 23 & 1 != 0,
            ocp,
        }
    }
}

/// Which of the functions does an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Registers of 32 bits in and out.
    Single,
    /// Low halves of registers in and out.
    Half,
    /// Operands or results of 64 bits.
    Wide,
    /// A mask of lanes goes in or out.
    Masked,
}

/// The unit that does `op`, found by asking each with zeros, so that this
/// never says more than is true.
pub(crate) fn unit_of(op: Op) -> Option<Unit> {
    let modes = Modes::new(0x2f0, false);
    let zero = [0; 64];
    let two = [&zero, &zero];
    let mut out = [[0; 64]; 2];
    if single::run(op, &modes, &zero, &zero, &zero, &mut out[0]) {
        return Some(Unit::Single);
    }
    if half::run(op, &modes, &zero, &zero, &zero, &mut out[0]) {
        return Some(Unit::Half);
    }
    if wide::run(op, &modes, two, two, two, &mut out) {
        return Some(Unit::Wide);
    }
    masked::run(op, &zero, &zero, 0, &mut out[0]).map(|_| Unit::Masked)
}

pub(crate) use convert::Conversion;

/// An operand of 64 bits as two registers: low, high.
pub(crate) type Pair<'a> = [&'a Lanes; 2];
