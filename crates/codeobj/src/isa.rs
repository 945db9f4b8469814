//! Instructions of gfx942 and gfx950: from encodings to operations, operands
//! and text. Tables are data; nothing here executes anything.

mod decode;
mod operand;
mod table;
mod text;
mod uses;

use std::fmt;

pub use decode::{DecodeError, decode, info_of};
pub use operand::{INLINE_FLOATS, Kind, Operand, Sig};
pub use table::{Family, Info, OPERATIONS, Only, Op};
pub use text::wait_counts;
pub use uses::Uses;

/// The form an instruction is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are those of the ISA documents")]
pub enum Format {
    Sop1,
    Sop2,
    Sopc,
    Sopk,
    Sopp,
    Smem,
    Vop1,
    Vop2,
    Vopc,
    Vop3,
    Vop3p,
    /// Matrix operations.
    Mai,
    Ds,
    Flat,
    Global,
    Scratch,
    Mubuf,
}

/// Modifiers of vector operands; bit n belongs to source n.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VectorMods {
    /// Take the absolute value.
    pub abs: u8,
    /// Negate; of packed operands the low half.
    pub neg: u8,
    /// Negate the high half.
    pub neg_hi: u8,
    /// Take the high half; bit 3 is the result's.
    pub op_sel: u8,
    /// The same for the high half of packed operations.
    pub op_sel_hi: u8,
    /// 1: times two, 2: times four, 3: half.
    pub omod: u8,
    /// Clamp floats to 0..1, saturate integers.
    pub clamp: bool,
}

/// Data from other lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dpp {
    /// The pattern.
    pub ctrl: u16,
    /// Rows of 16 lanes that take part.
    pub row_mask: u8,
    /// Banks of 4 lanes in each row that take part.
    pub bank_mask: u8,
    /// Lanes that do not exist read as 0.
    pub bound_ctrl: bool,
}

/// Sub-dword addressing: 0 to 3 bytes, 4 and 5 words, 6 the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sdwa {
    /// The part of the result that is written.
    pub dst_sel: u8,
    /// What becomes of the rest: 0 zero, 1 sign, 2 kept.
    pub dst_unused: u8,
    /// The part of each source.
    pub src_sel: [u8; 2],
    /// Extend its sign.
    pub sext: [bool; 2],
}

/// Modifiers of matrix operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatrixMods {
    /// Broadcast size, or the format of A.
    pub cbsz: u8,
    /// Which block is broadcast.
    pub abid: u8,
    /// Lane groups of B, its format, or negations of f64.
    pub blgp: u8,
    /// Block scales of A and B follow.
    pub scaled: bool,
    /// The scales, when they do.
    pub scale: [Operand; 2],
    /// Which byte of each scale: low bits, then high bits.
    pub scale_sel: [u8; 2],
}

/// Modifiers of memory operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryMods {
    /// Added to the address, in bytes; the first of two offsets.
    pub offset: i32,
    /// The second of two offsets.
    pub offset1: u8,
    /// `sc0` (`glc`), `nt`, `sc1` as bits 0, 1 and 2.
    pub cache: u8,
    /// A buffer index comes from a register.
    pub idxen: bool,
    /// A buffer offset comes from a register.
    pub offen: bool,
    /// What is loaded goes to LDS.
    pub lds: bool,
    /// Global data share instead of LDS.
    pub gds: bool,
}

/// One instruction.
///
/// Sources of memory operations: 0 the address, 1 and 2 the data of DS; 1 the
/// data, 2 the scalar base or buffer descriptor and 3 the scalar offset of the
/// others. SMEM: 0 the base, 1 the offset register, 2 data to store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// How it is written.
    pub format: Format,
    /// Its length in bytes.
    pub size: u8,
    /// Opcode of a comparison: type and relation.
    pub compare: u8,
    /// The result.
    pub dst: Operand,
    /// The second result: a mask of lanes.
    pub sdst: Operand,
    /// The sources.
    pub src: [Operand; 4],
    /// The value of a literal operand.
    pub literal: u32,
    /// The immediate of SOPK and SOPP.
    pub imm: u16,
    /// Modifiers of vector operands.
    pub mods: VectorMods,
    /// Lanes of the first source.
    pub dpp: Option<Dpp>,
    /// Parts of the operands.
    pub sdwa: Option<Sdwa>,
    /// Modifiers of matrix operations.
    pub matrix: MatrixMods,
    /// Modifiers of memory operations.
    pub memory: MemoryMods,
}

impl Inst {
    /// The row of the table.
    #[must_use]
    pub fn info(&self) -> &'static Info {
        info_of(self.op)
    }

    /// Where a branch goes, for an instruction at `pc`.
    #[must_use]
    pub fn branch_target(&self, pc: u64) -> Option<u64> {
        use Op::{
            S_BRANCH, S_CALL_B64, S_CBRANCH_EXECNZ, S_CBRANCH_EXECZ, S_CBRANCH_SCC0,
            S_CBRANCH_SCC1, S_CBRANCH_VCCNZ, S_CBRANCH_VCCZ,
        };
        match self.op {
            S_BRANCH | S_CBRANCH_EXECNZ | S_CBRANCH_EXECZ | S_CBRANCH_SCC0 | S_CBRANCH_SCC1
            | S_CBRANCH_VCCNZ | S_CBRANCH_VCCZ | S_CALL_B64 => {
                let distance = i64::from(self.imm as i16) * 4 + 4;
                Some(pc.wrapping_add_signed(distance))
            }
            _ => None,
        }
    }

    /// The truth table of `v_bitop3`, which takes the place of modifiers: bit
    /// 4a + 2b + c is the result of bits a, b and c.
    #[must_use]
    pub fn truth_table(&self) -> u8 {
        self.mods.omod << 6 | (self.mods.abs & 7) << 3 | self.mods.neg & 7
    }

    /// The name without a suffix.
    #[must_use]
    pub fn base_name(&self) -> String {
        text::base_name(self)
    }

    /// The name as assemblers write it, with the suffix of the encoding.
    #[must_use]
    pub fn mnemonic(&self) -> String {
        text::mnemonic(self)
    }
}

impl fmt::Display for Inst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::write(f, self)
    }
}

impl Default for Operand {
    fn default() -> Self {
        Self::NONE
    }
}
