//! Operands: registers, inline constants, literals; and what an operation
//! takes them for.

use std::fmt;

/// An operand as instructions encode it: 0 to 511 as in a source field, 512
/// and up for accumulation registers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Operand(pub u16);

impl Operand {
    /// No operand.
    pub const NONE: Self = Self(u16::MAX);
    /// The first of the two registers of VCC.
    pub const VCC: Self = Self(106);
    /// `M0`.
    pub const M0: Self = Self(124);
    /// The first of the two registers of EXEC.
    pub const EXEC: Self = Self(126);
    /// A literal that follows the instruction.
    pub const LITERAL: Self = Self(255);

    /// A vector register.
    #[must_use]
    pub const fn vgpr(number: u16) -> Self {
        Self(256 + number)
    }

    /// An accumulation register.
    #[must_use]
    pub const fn agpr(number: u16) -> Self {
        Self(512 + number)
    }

    /// True if there is one.
    #[must_use]
    pub const fn is_some(self) -> bool {
        self.0 != u16::MAX
    }

    /// Its place in a register file of 512 in which the accumulation registers
    /// come after the vector registers.
    #[must_use]
    pub const fn vector_index(self) -> Option<usize> {
        if self.0 >= 256 && self.0 < 768 {
            Some(self.0 as usize - 256)
        } else {
            None
        }
    }

    /// True for a vector or accumulation register.
    #[must_use]
    pub const fn is_vector(self) -> bool {
        self.vector_index().is_some()
    }

    /// The number of a scalar register, VCC, M0 and EXEC with them.
    #[must_use]
    pub const fn scalar_index(self) -> Option<usize> {
        if self.0 < 128 {
            Some(self.0 as usize)
        } else {
            None
        }
    }

    /// True for the literal.
    #[must_use]
    pub const fn is_literal(self) -> bool {
        self.0 == 255
    }

    /// The integer an inline constant stands for.
    #[must_use]
    pub const fn inline_int(self) -> Option<i32> {
        match self.0 {
            128..=192 => Some(self.0 as i32 - 128),
            193..=208 => Some(192 - self.0 as i32),
            _ => None,
        }
    }

    /// The place in [`INLINE_FLOATS`] of an inline constant.
    #[must_use]
    pub const fn inline_float(self) -> Option<usize> {
        match self.0 {
            240..=248 => Some(self.0 as usize - 240),
            _ => None,
        }
    }
}

/// Inline float constants as f16, f32, f64 bits and text; the last is 1/(2 pi).
pub const INLINE_FLOATS: [(u16, u32, u64, &str); 9] = [
    (0x3800, 0x3f00_0000, 0x3fe0_0000_0000_0000, "0.5"),
    (0xb800, 0xbf00_0000, 0xbfe0_0000_0000_0000, "-0.5"),
    (0x3c00, 0x3f80_0000, 0x3ff0_0000_0000_0000, "1.0"),
    (0xbc00, 0xbf80_0000, 0xbff0_0000_0000_0000, "-1.0"),
    (0x4000, 0x4000_0000, 0x4000_0000_0000_0000, "2.0"),
    (0xc000, 0xc000_0000, 0xc000_0000_0000_0000, "-2.0"),
    (0x4400, 0x4080_0000, 0x4010_0000_0000_0000, "4.0"),
    (0xc400, 0xc080_0000, 0xc010_0000_0000_0000, "-4.0"),
    (0x3118, 0x3e22_f983, 0x3fc4_5f30_6dc9_c882, "0.15915494"),
];

impl fmt::Debug for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_some() {
            write!(f, "{}", crate::isa::text::Span(*self, 1))
        } else {
            f.write_str("-")
        }
    }
}

/// What an operand is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 32 bits of any meaning.
    B32,
    /// A single-precision float.
    F32,
    /// A half-precision float in the low half, or the half that `op_sel` names.
    F16,
    /// A 16-bit integer, likewise.
    I16,
    /// Two half-precision floats.
    PkF16,
    /// Two 16-bit integers.
    PkI16,
    /// A double-precision float.
    F64,
    /// 64 bits of any meaning.
    B64,
    /// Two single-precision floats.
    PkF32,
    /// One bit a lane.
    Mask,
    /// 32 bits that follow the instruction.
    Literal,
    /// This many registers.
    Wide(u8),
}

impl Kind {
    /// How many registers it takes.
    #[must_use]
    pub const fn dwords(self) -> u8 {
        match self {
            Self::B32
            | Self::F32
            | Self::F16
            | Self::I16
            | Self::PkF16
            | Self::PkI16
            | Self::Literal => 1,
            Self::F64 | Self::B64 | Self::PkF32 | Self::Mask => 2,
            Self::Wide(count) => count,
        }
    }

    const fn parse(letter: u8) -> Self {
        match letter {
            b'i' => Self::B32,
            b'f' => Self::F32,
            b'h' => Self::F16,
            b'w' => Self::I16,
            b'P' => Self::PkF16,
            b'Q' => Self::PkI16,
            b'd' => Self::F64,
            b'l' => Self::B64,
            b'x' => Self::PkF32,
            b'M' => Self::Mask,
            b'k' => Self::Literal,
            b'1'..=b'9' => Self::Wide(letter - b'0'),
            b'A' => Self::Wide(10),
            b'C' => Self::Wide(12),
            b'G' => Self::Wide(16),
            b'W' => Self::Wide(32),
            _ => panic!("no letter of an operand"),
        }
    }
}

/// The operands of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sig {
    results: [Option<Kind>; 2],
    sources: [Option<Kind>; 3],
}

impl Sig {
    /// Reads `"results:sources"`; only called while compiling.
    pub(super) const fn parse(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut sig = Self {
            results: [None; 2],
            sources: [None; 3],
        };
        let (mut at, mut count, mut after) = (0, 0, false);
        while at < bytes.len() {
            if bytes[at] == b':' {
                (after, count) = (true, 0);
            } else {
                let kind = Some(Kind::parse(bytes[at]));
                if after {
                    sig.sources[count] = kind;
                } else {
                    sig.results[count] = kind;
                }
                count += 1;
            }
            at += 1;
        }
        sig
    }

    /// The kind of a result.
    #[must_use]
    pub const fn result(&self, index: usize) -> Option<Kind> {
        self.results[index]
    }

    /// The kind of a source.
    #[must_use]
    pub const fn source(&self, index: usize) -> Option<Kind> {
        if index < 3 { self.sources[index] } else { None }
    }

    /// How many sources there are.
    #[must_use]
    pub const fn sources(&self) -> usize {
        let mut count = 0;
        while count < 3 && self.sources[count].is_some() {
            count += 1;
        }
        count
    }
}
