//! Every matrix instruction of gfx942 and gfx950: shape, element types, where it exists.
//!
//! Names and shapes are those of AMD's CDNA3 and CDNA4 instruction set documents, in
//! LLVM's spelling (`2b` counts blocks).

use std::fmt;

use cairn_formats::DType;

use super::layout::{InputLayout, OutputLayout};

/// An architecture with matrix cores that is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arch {
    /// CDNA3, as in MI300X. fp8 and bf8 are the FNUZ formats.
    Gfx942,
    /// CDNA4, as in MI355X. fp8 and bf8 are the OCP formats.
    Gfx950,
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Gfx942 => "gfx942",
            Self::Gfx950 => "gfx950",
        })
    }
}

/// The type of A's or B's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// IEEE binary64.
    F64,
    /// IEEE binary32.
    F32,
    /// IEEE binary32, of which only 10 mantissa bits are used.
    Xf32,
    /// IEEE binary16.
    F16,
    /// bfloat16.
    Bf16,
    /// Signed 8-bit integer.
    I8,
    /// 8-bit float with 4 exponent bits, of the architecture's kind.
    Fp8,
    /// 8-bit float with 5 exponent bits, of the architecture's kind.
    Bf8,
    /// OCP E2M3.
    Fp6,
    /// OCP E3M2.
    Bf6,
    /// OCP E2M1.
    Fp4,
}

impl Element {
    /// What the format selectors of f8f6f4 instructions stand for, from 0.
    pub const SELECTABLE: [Self; 5] = [Self::Fp8, Self::Bf8, Self::Fp6, Self::Bf6, Self::Fp4];

    /// The width of an element.
    #[must_use]
    pub const fn bits(self) -> usize {
        match self {
            Self::F64 => 64,
            Self::F32 | Self::Xf32 => 32,
            Self::F16 | Self::Bf16 => 16,
            Self::I8 | Self::Fp8 | Self::Bf8 => 8,
            Self::Fp6 | Self::Bf6 => 6,
            Self::Fp4 => 4,
        }
    }

    /// The number format. xf32 is stored as f32; `None` for integers, of which
    /// the type has no signed 8-bit one.
    #[must_use]
    pub const fn dtype(self, arch: Arch) -> Option<DType> {
        Some(match (self, arch) {
            (Self::F64, _) => DType::F64,
            (Self::F32 | Self::Xf32, _) => DType::F32,
            (Self::F16, _) => DType::F16,
            (Self::Bf16, _) => DType::BF16,
            (Self::Fp8, Arch::Gfx942) => DType::F8E4M3Fnuz,
            (Self::Bf8, Arch::Gfx942) => DType::F8E5M2Fnuz,
            (Self::Fp8, Arch::Gfx950) => DType::F8E4M3,
            (Self::Bf8, Arch::Gfx950) => DType::F8E5M2,
            (Self::Fp6, _) => DType::F6E2M3,
            (Self::Bf6, _) => DType::F6E3M2,
            (Self::Fp4, _) => DType::F4E2M1,
            (Self::I8, _) => return None,
        })
    }
}

/// The type of C's and D's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accumulator {
    /// IEEE binary64, two registers an element.
    F64,
    /// IEEE binary32.
    F32,
    /// Signed 32-bit integer; additions wrap.
    I32,
}

/// What an instruction reads beside A, B and C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Dense,
    /// Indices of A's elements: of each four along k two are stored. C is D.
    Sparse,
    /// Nothing; the formats of A and B are selected by modifiers (f8f6f4).
    Selected,
    /// As [`Kind::Selected`], and a scale for each 32 elements along k of A and B.
    Scaled,
}

/// One matrix instruction.
#[derive(Debug, PartialEq, Eq)]
pub struct Form {
    /// The name.
    pub mnemonic: &'static str,
    /// Rows of A and D.
    pub m: usize,
    /// Columns of B and D.
    pub n: usize,
    /// Columns of A and rows of B, counted without compression.
    pub k: usize,
    /// Products of matrices computed side by side.
    pub blocks: usize,
    /// The type of A's elements; for [`Kind::Selected`] and [`Kind::Scaled`] the default.
    pub a: Element,
    /// The type of B's elements, likewise.
    pub b: Element,
    /// The type of C and D.
    pub accumulator: Accumulator,
    /// The kind.
    pub kind: Kind,
    on: On,
}

/// Where a form exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum On {
    Both,
    Gfx942,
    Gfx950,
}

impl Form {
    /// The form of a mnemonic in LLVM's spelling.
    #[must_use]
    pub fn find(mnemonic: &str) -> Option<&'static Self> {
        FORMS.iter().find(|form| form.mnemonic == mnemonic)
    }

    /// Every form.
    #[must_use]
    pub fn all() -> &'static [Self] {
        FORMS
    }

    /// Whether the architecture has it.
    #[must_use]
    pub fn is_on(&self, arch: Arch) -> bool {
        match self.on {
            On::Both => true,
            On::Gfx942 => arch == Arch::Gfx942,
            On::Gfx950 => arch == Arch::Gfx950,
        }
    }

    pub(super) fn a_layout(&self, element: Element) -> InputLayout {
        let stored = match self.kind {
            Kind::Sparse => self.k / 2,
            _ => self.k,
        };
        InputLayout::new(self.m, stored, self.blocks, element.bits())
    }

    pub(super) fn b_layout(&self, element: Element) -> InputLayout {
        InputLayout::new(self.n, self.k, self.blocks, element.bits())
    }

    pub(super) fn d_layout(&self) -> OutputLayout {
        OutputLayout::new(self.m, self.n, self.blocks, self.accumulator)
    }
}

/// A row of the table: on, mnemonic, m n k blocks, A B, accumulator, kind.
macro_rules! forms {
    ($($on:ident $mnemonic:literal $m:literal $n:literal $k:literal $blocks:literal $a:ident $b:ident $acc:ident $kind:ident)*) => {
        static FORMS: &[Form] = &[$(Form {
            mnemonic: $mnemonic,
            m: $m,
            n: $n,
            k: $k,
            blocks: $blocks,
            a: Element::$a,
            b: Element::$b,
            accumulator: Accumulator::$acc,
            kind: Kind::$kind,
            on: On::$on,
        }),*];
    };
}

#[rustfmt::skip]
forms! {
    Both   "v_mfma_f64_16x16x4_f64"             16 16   4  1 F64  F64  F64 Dense
    Both   "v_mfma_f64_4x4x4_4b_f64"             4  4   4  4 F64  F64  F64 Dense

    Both   "v_mfma_f32_32x32x1_2b_f32"          32 32   1  2 F32  F32  F32 Dense
    Both   "v_mfma_f32_16x16x1_4b_f32"          16 16   1  4 F32  F32  F32 Dense
    Both   "v_mfma_f32_4x4x1_16b_f32"            4  4   1 16 F32  F32  F32 Dense
    Both   "v_mfma_f32_32x32x2_f32"             32 32   2  1 F32  F32  F32 Dense
    Both   "v_mfma_f32_16x16x4_f32"             16 16   4  1 F32  F32  F32 Dense
    Gfx942 "v_mfma_f32_32x32x4_xf32"            32 32   4  1 Xf32 Xf32 F32 Dense
    Gfx942 "v_mfma_f32_16x16x8_xf32"            16 16   8  1 Xf32 Xf32 F32 Dense

    Both   "v_mfma_f32_32x32x4_2b_f16"          32 32   4  2 F16  F16  F32 Dense
    Both   "v_mfma_f32_16x16x4_4b_f16"          16 16   4  4 F16  F16  F32 Dense
    Both   "v_mfma_f32_4x4x4_16b_f16"            4  4   4 16 F16  F16  F32 Dense
    Both   "v_mfma_f32_32x32x8_f16"             32 32   8  1 F16  F16  F32 Dense
    Both   "v_mfma_f32_16x16x16_f16"            16 16  16  1 F16  F16  F32 Dense
    Gfx950 "v_mfma_f32_32x32x16_f16"            32 32  16  1 F16  F16  F32 Dense
    Gfx950 "v_mfma_f32_16x16x32_f16"            16 16  32  1 F16  F16  F32 Dense

    Both   "v_mfma_f32_32x32x4_2b_bf16"         32 32   4  2 Bf16 Bf16 F32 Dense
    Both   "v_mfma_f32_16x16x4_4b_bf16"         16 16   4  4 Bf16 Bf16 F32 Dense
    Both   "v_mfma_f32_4x4x4_16b_bf16"           4  4   4 16 Bf16 Bf16 F32 Dense
    Both   "v_mfma_f32_32x32x8_bf16"            32 32   8  1 Bf16 Bf16 F32 Dense
    Both   "v_mfma_f32_16x16x16_bf16"           16 16  16  1 Bf16 Bf16 F32 Dense
    Gfx950 "v_mfma_f32_32x32x16_bf16"           32 32  16  1 Bf16 Bf16 F32 Dense
    Gfx950 "v_mfma_f32_16x16x32_bf16"           16 16  32  1 Bf16 Bf16 F32 Dense

    Both   "v_mfma_i32_32x32x4_2b_i8"           32 32   4  2 I8   I8   I32 Dense
    Both   "v_mfma_i32_16x16x4_4b_i8"           16 16   4  4 I8   I8   I32 Dense
    Both   "v_mfma_i32_4x4x4_16b_i8"             4  4   4 16 I8   I8   I32 Dense
    Both   "v_mfma_i32_32x32x16_i8"             32 32  16  1 I8   I8   I32 Dense
    Both   "v_mfma_i32_16x16x32_i8"             16 16  32  1 I8   I8   I32 Dense
    Gfx950 "v_mfma_i32_32x32x32_i8"             32 32  32  1 I8   I8   I32 Dense
    Gfx950 "v_mfma_i32_16x16x64_i8"             16 16  64  1 I8   I8   I32 Dense

    Both   "v_mfma_f32_32x32x16_fp8_fp8"        32 32  16  1 Fp8  Fp8  F32 Dense
    Both   "v_mfma_f32_32x32x16_fp8_bf8"        32 32  16  1 Fp8  Bf8  F32 Dense
    Both   "v_mfma_f32_32x32x16_bf8_fp8"        32 32  16  1 Bf8  Fp8  F32 Dense
    Both   "v_mfma_f32_32x32x16_bf8_bf8"        32 32  16  1 Bf8  Bf8  F32 Dense
    Both   "v_mfma_f32_16x16x32_fp8_fp8"        16 16  32  1 Fp8  Fp8  F32 Dense
    Both   "v_mfma_f32_16x16x32_fp8_bf8"        16 16  32  1 Fp8  Bf8  F32 Dense
    Both   "v_mfma_f32_16x16x32_bf8_fp8"        16 16  32  1 Bf8  Fp8  F32 Dense
    Both   "v_mfma_f32_16x16x32_bf8_bf8"        16 16  32  1 Bf8  Bf8  F32 Dense

    Gfx950 "v_mfma_f32_32x32x64_f8f6f4"         32 32  64  1 Fp8  Fp8  F32 Selected
    Gfx950 "v_mfma_f32_16x16x128_f8f6f4"        16 16 128  1 Fp8  Fp8  F32 Selected
    Gfx950 "v_mfma_scale_f32_32x32x64_f8f6f4"   32 32  64  1 Fp8  Fp8  F32 Scaled
    Gfx950 "v_mfma_scale_f32_16x16x128_f8f6f4"  16 16 128  1 Fp8  Fp8  F32 Scaled

    Both   "v_smfmac_f32_32x32x16_f16"          32 32  16  1 F16  F16  F32 Sparse
    Both   "v_smfmac_f32_16x16x32_f16"          16 16  32  1 F16  F16  F32 Sparse
    Both   "v_smfmac_f32_32x32x16_bf16"         32 32  16  1 Bf16 Bf16 F32 Sparse
    Both   "v_smfmac_f32_16x16x32_bf16"         16 16  32  1 Bf16 Bf16 F32 Sparse
    Both   "v_smfmac_i32_32x32x32_i8"           32 32  32  1 I8   I8   I32 Sparse
    Both   "v_smfmac_i32_16x16x64_i8"           16 16  64  1 I8   I8   I32 Sparse
    Both   "v_smfmac_f32_32x32x32_fp8_fp8"      32 32  32  1 Fp8  Fp8  F32 Sparse
    Both   "v_smfmac_f32_32x32x32_fp8_bf8"      32 32  32  1 Fp8  Bf8  F32 Sparse
    Both   "v_smfmac_f32_32x32x32_bf8_fp8"      32 32  32  1 Bf8  Fp8  F32 Sparse
    Both   "v_smfmac_f32_32x32x32_bf8_bf8"      32 32  32  1 Bf8  Bf8  F32 Sparse
    Both   "v_smfmac_f32_16x16x64_fp8_fp8"      16 16  64  1 Fp8  Fp8  F32 Sparse
    Both   "v_smfmac_f32_16x16x64_fp8_bf8"      16 16  64  1 Fp8  Bf8  F32 Sparse
    Both   "v_smfmac_f32_16x16x64_bf8_fp8"      16 16  64  1 Bf8  Fp8  F32 Sparse
    Both   "v_smfmac_f32_16x16x64_bf8_bf8"      16 16  64  1 Bf8  Bf8  F32 Sparse

    Gfx950 "v_smfmac_f32_32x32x32_f16"          32 32  32  1 F16  F16  F32 Sparse
    Gfx950 "v_smfmac_f32_16x16x64_f16"          16 16  64  1 F16  F16  F32 Sparse
    Gfx950 "v_smfmac_f32_32x32x32_bf16"         32 32  32  1 Bf16 Bf16 F32 Sparse
    Gfx950 "v_smfmac_f32_16x16x64_bf16"         16 16  64  1 Bf16 Bf16 F32 Sparse
    Gfx950 "v_smfmac_i32_32x32x64_i8"           32 32  64  1 I8   I8   I32 Sparse
    Gfx950 "v_smfmac_i32_16x16x128_i8"          16 16 128  1 I8   I8   I32 Sparse
    Gfx950 "v_smfmac_f32_32x32x64_fp8_fp8"      32 32  64  1 Fp8  Fp8  F32 Sparse
    Gfx950 "v_smfmac_f32_32x32x64_fp8_bf8"      32 32  64  1 Fp8  Bf8  F32 Sparse
    Gfx950 "v_smfmac_f32_32x32x64_bf8_fp8"      32 32  64  1 Bf8  Fp8  F32 Sparse
    Gfx950 "v_smfmac_f32_32x32x64_bf8_bf8"      32 32  64  1 Bf8  Bf8  F32 Sparse
    Gfx950 "v_smfmac_f32_16x16x128_fp8_fp8"     16 16 128  1 Fp8  Fp8  F32 Sparse
    Gfx950 "v_smfmac_f32_16x16x128_fp8_bf8"     16 16 128  1 Fp8  Bf8  F32 Sparse
    Gfx950 "v_smfmac_f32_16x16x128_bf8_fp8"     16 16 128  1 Bf8  Fp8  F32 Sparse
    Gfx950 "v_smfmac_f32_16x16x128_bf8_bf8"     16 16 128  1 Bf8  Bf8  F32 Sparse
}
