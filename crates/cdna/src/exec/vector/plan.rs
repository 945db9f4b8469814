//! What is known about a vector instruction before it runs.

use cairn_codeobj::isa::{Inst, Kind, Op};

use super::super::cross::DppPlan;
use crate::valu::{Unit, unit_of};

/// How halves of packed operations are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packed {
    No,
    /// Two 16-bit values in each register.
    Halves,
    /// Two registers.
    Registers,
    /// Sources that are f16 or f32, as modifiers say.
    Mixed,
}

/// What is known about a vector instruction beforehand.
#[derive(Debug)]
pub(crate) struct VectorPlan {
    pub(super) op: Op,
    pub(super) unit: Unit,
    pub(super) packed: Packed,
    pub(super) sources: usize,
    pub(super) kinds: [Kind; 3],
    pub(super) result: Kind,
    /// The result register is the third source.
    pub(super) accumulates: bool,
    /// No modifier of any kind.
    pub(super) plain: bool,
    /// 16-bit results that leave the other half of the register alone.
    pub(super) keeps_half: bool,
    pub(super) dpp: Option<Box<DppPlan>>,
}

/// The operation on one half that a packed operation does twice.
fn half_of(op: Op) -> Option<(Op, Packed)> {
    use Packed::{Halves, Mixed, Registers};
    Some(match op {
        Op::V_PK_MAD_I16 | Op::V_PK_MAD_U16 => (Op::V_MAD_U16, Halves),
        Op::V_PK_MUL_LO_U16 => (Op::V_MUL_LO_U16, Halves),
        Op::V_PK_ADD_I16 => (Op::V_ADD_I16, Halves),
        Op::V_PK_SUB_I16 => (Op::V_SUB_I16, Halves),
        Op::V_PK_LSHLREV_B16 => (Op::V_LSHLREV_B16, Halves),
        Op::V_PK_LSHRREV_B16 => (Op::V_LSHRREV_B16, Halves),
        Op::V_PK_ASHRREV_I16 => (Op::V_ASHRREV_I16, Halves),
        Op::V_PK_MAX_I16 => (Op::V_MAX_I16, Halves),
        Op::V_PK_MIN_I16 => (Op::V_MIN_I16, Halves),
        Op::V_PK_ADD_U16 => (Op::V_ADD_U16, Halves),
        Op::V_PK_SUB_U16 => (Op::V_SUB_U16, Halves),
        Op::V_PK_MAX_U16 => (Op::V_MAX_U16, Halves),
        Op::V_PK_MIN_U16 => (Op::V_MIN_U16, Halves),
        Op::V_PK_FMA_F16 => (Op::V_FMA_F16, Halves),
        Op::V_PK_ADD_F16 => (Op::V_ADD_F16, Halves),
        Op::V_PK_MUL_F16 => (Op::V_MUL_F16, Halves),
        Op::V_PK_MIN_F16 => (Op::V_MIN_F16, Halves),
        Op::V_PK_MAX_F16 => (Op::V_MAX_F16, Halves),
        Op::V_PK_MINIMUM3_F16 | Op::V_PK_MAXIMUM3_F16 => (op, Halves),
        Op::V_PK_FMA_F32 => (Op::V_FMA_F32, Registers),
        Op::V_PK_MUL_F32 => (Op::V_MUL_F32, Registers),
        Op::V_PK_ADD_F32 => (Op::V_ADD_F32, Registers),
        Op::V_FMA_MIX_F32 | Op::V_FMA_MIXLO_F16 | Op::V_FMA_MIXHI_F16 => (Op::V_FMA_F32, Mixed),
        _ => return None,
    })
}

/// 16-bit operations that keep the other half of their result register; all
/// others clear it.
const fn keeps_half(op: Op) -> bool {
    matches!(
        op,
        Op::V_MAD_F16
            | Op::V_MAD_U16
            | Op::V_MAD_I16
            | Op::V_FMA_F16
            | Op::V_DIV_FIXUP_F16
            | Op::V_MIN3_F16
            | Op::V_MIN3_I16
            | Op::V_MIN3_U16
            | Op::V_MAX3_F16
            | Op::V_MAX3_I16
            | Op::V_MAX3_U16
            | Op::V_MED3_F16
            | Op::V_MED3_I16
            | Op::V_MED3_U16
    )
}

impl VectorPlan {
    /// `None` for what no function computes.
    pub(in super::super) fn of(inst: &Inst) -> Option<Self> {
        let sig = inst.info().sig;
        let (op, packed) = half_of(inst.op).unwrap_or((inst.op, Packed::No));
        let unit = unit_of(op)?;
        let kind = |at: usize| inst.source_kind(at).unwrap_or(Kind::B32);
        let result = sig.result(0)?;
        let mods = &inst.mods;
        let integer = !matches!(
            result,
            Kind::F32 | Kind::F64 | Kind::F16 | Kind::PkF16 | Kind::PkF32
        );
        if mods.clamp && integer && !clamps(op) {
            return None;
        }
        let three = sig.sources() == 2 && inst.info().reads_result;
        let plain = mods.abs == 0
            && mods.neg == 0
            && mods.omod == 0
            && mods.op_sel == 0
            && !mods.clamp
            && inst.dpp.is_none()
            && inst.sdwa.is_none();
        Some(Self {
            op,
            unit,
            packed,
            sources: sig.sources(),
            kinds: [kind(0), kind(1), kind(2)],
            result,
            accumulates: three,
            plain,
            keeps_half: keeps_half(inst.op),
            dpp: DppPlan::of(inst),
        })
    }
}

/// Integer operations that saturate when asked to clamp.
const fn clamps(op: Op) -> bool {
    matches!(
        op,
        Op::V_ADD_U32
            | Op::V_SUB_U32
            | Op::V_SUBREV_U32
            | Op::V_ADD_I32
            | Op::V_SUB_I32
            | Op::V_ADD_U16
            | Op::V_SUB_U16
            | Op::V_SUBREV_U16
            | Op::V_ADD_I16
            | Op::V_SUB_I16
    ) || dot_of(op).is_some()
}

/// Bits of an element of an integer dot product, and whether it has a sign.
pub(super) const fn dot_of(op: Op) -> Option<(u32, bool)> {
    Some(match op {
        Op::V_DOT2_I32_I16 => (16, true),
        Op::V_DOT2_U32_U16 => (16, false),
        Op::V_DOT4_I32_I8 => (8, true),
        Op::V_DOT4_U32_U8 => (8, false),
        Op::V_DOT8_I32_I4 => (4, true),
        Op::V_DOT8_U32_U4 => (4, false),
        _ => return None,
    })
}
