//! What loads, stores and atomics do with a value, for every kind of memory.

use cairn_codeobj::isa::Op;

use crate::float::{Round, add16, add32, add64, max64, min64};

/// How an operation reads or writes one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Registers from memory: how many bytes, and how they become registers.
    Load { bytes: u32, form: Form },
    /// Memory from registers; `high` takes the upper half of the register.
    Store { bytes: u32, high: bool },
    /// Read, change, write.
    Atomic { wide: bool, change: Change },
}

/// How a loaded value becomes a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Whole registers.
    Whole,
    /// Fewer than 32 bits, extended.
    Extended { signed: bool },
    /// Fewer than 32 bits into one half; the other half stays.
    Half { signed: bool, high: bool },
}

/// What an atomic does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Swap,
    CompareSwap,
    Add,
    Sub,
    ReverseSub,
    SignedMin,
    UnsignedMin,
    SignedMax,
    UnsignedMax,
    And,
    Or,
    Xor,
    Inc,
    Dec,
    AddF32,
    MinF32,
    MaxF32,
    PkAddF16,
    PkAddBf16,
    AddF64,
    MinF64,
    MaxF64,
    MaskOr,
    Wrap,
    CompareSwapF32,
    CompareSwapF64,
}

impl Change {
    /// The new value, given the old one, the operand and the second operand.
    pub(crate) fn apply(self, wide: bool, old: u64, data: u64, second: u64) -> u64 {
        let mask = if wide { u64::MAX } else { 0xffff_ffff };
        let signed = |x: u64| {
            if wide {
                x as i64
            } else {
                i64::from(x as u32 as i32)
            }
        };
        let f = |x: u64| f32::from_bits(x as u32);
        let new = match self {
            Self::Swap => data,
            Self::CompareSwap => {
                if old == second {
                    data
                } else {
                    old
                }
            }
            Self::CompareSwapF32 => {
                if f(old) == f(second) {
                    data
                } else {
                    old
                }
            }
            Self::CompareSwapF64 => {
                if f64::from_bits(old) == f64::from_bits(second) {
                    data
                } else {
                    old
                }
            }
            Self::Add => old.wrapping_add(data),
            Self::Sub => old.wrapping_sub(data),
            Self::ReverseSub => data.wrapping_sub(old),
            Self::SignedMin => signed(old).min(signed(data)) as u64,
            Self::UnsignedMin => old.min(data),
            Self::SignedMax => signed(old).max(signed(data)) as u64,
            Self::UnsignedMax => old.max(data),
            Self::And => old & data,
            Self::Or => old | data,
            Self::Xor => old ^ data,
            Self::Inc => {
                if old >= data {
                    0
                } else {
                    old + 1
                }
            }
            Self::Dec => {
                if old == 0 || old > data {
                    data
                } else {
                    old - 1
                }
            }
            Self::AddF32 => add32(old as u32, data as u32).into(),
            Self::MinF32 => {
                if f(data) < f(old) {
                    data
                } else {
                    old
                }
            }
            Self::MaxF32 => {
                if f(data) > f(old) {
                    data
                } else {
                    old
                }
            }
            Self::PkAddF16 => {
                let add = |shift: u32| {
                    let half = |x: u64| (x >> shift) as u32 & 0xffff;
                    u64::from(add16(half(old), half(data), Round::Nearest)) << shift
                };
                add(0) | add(16)
            }
            Self::PkAddBf16 => {
                let add = |shift: u32| {
                    let wide = |x: u64| ((x >> shift) as u32 & 0xffff) << 16;
                    u64::from(crate::float::to_bf16(add32(wide(old), wide(data)))) << shift
                };
                add(0) | add(16)
            }
            Self::AddF64 => add64(old, data),
            Self::MinF64 => min64(old, data, false),
            Self::MaxF64 => max64(old, data, false),
            Self::MaskOr => old & !data | second,
            Self::Wrap => {
                if old >= data {
                    old - data
                } else {
                    old.wrapping_add(second)
                }
            }
        };
        new & mask
    }
}

/// The access of an operation of FLAT, GLOBAL, SCRATCH or MUBUF.
pub(crate) fn vector_access(op: Op) -> Option<Access> {
    let load = |bytes, form| Some(Access::Load { bytes, form });
    let store = |bytes, high| Some(Access::Store { bytes, high });
    let (signed, unsigned) = (
        Form::Extended { signed: true },
        Form::Extended { signed: false },
    );
    let half = |signed, high| Form::Half { signed, high };
    match op {
        Op::LOAD_UBYTE => load(1, unsigned),
        Op::LOAD_SBYTE => load(1, signed),
        Op::LOAD_USHORT => load(2, unsigned),
        Op::LOAD_SSHORT => load(2, signed),
        Op::LOAD_DWORD => load(4, Form::Whole),
        Op::LOAD_DWORDX2 => load(8, Form::Whole),
        Op::LOAD_DWORDX3 => load(12, Form::Whole),
        Op::LOAD_DWORDX4 => load(16, Form::Whole),
        Op::LOAD_UBYTE_D16 => load(1, half(false, false)),
        Op::LOAD_UBYTE_D16_HI => load(1, half(false, true)),
        Op::LOAD_SBYTE_D16 => load(1, half(true, false)),
        Op::LOAD_SBYTE_D16_HI => load(1, half(true, true)),
        Op::LOAD_SHORT_D16 => load(2, half(false, false)),
        Op::LOAD_SHORT_D16_HI => load(2, half(false, true)),
        Op::LOAD_LDS_UBYTE => load(1, unsigned),
        Op::LOAD_LDS_SBYTE => load(1, signed),
        Op::LOAD_LDS_USHORT => load(2, unsigned),
        Op::LOAD_LDS_SSHORT => load(2, signed),
        Op::LOAD_LDS_DWORD => load(4, Form::Whole),
        Op::LOAD_LDS_DWORDX3 => load(12, Form::Whole),
        Op::LOAD_LDS_DWORDX4 => load(16, Form::Whole),
        Op::STORE_BYTE => store(1, false),
        Op::STORE_BYTE_D16_HI => store(1, true),
        Op::STORE_SHORT => store(2, false),
        Op::STORE_SHORT_D16_HI => store(2, true),
        Op::STORE_DWORD => store(4, false),
        Op::STORE_DWORDX2 => store(8, false),
        Op::STORE_DWORDX3 => store(12, false),
        Op::STORE_DWORDX4 => store(16, false),
        _ => vector_atomic(op).map(|(wide, change)| Access::Atomic { wide, change }),
    }
}

fn vector_atomic(op: Op) -> Option<(bool, Change)> {
    Some(match op {
        Op::ATOMIC_SWAP => (false, Change::Swap),
        Op::ATOMIC_CMPSWAP => (false, Change::CompareSwap),
        Op::ATOMIC_ADD => (false, Change::Add),
        Op::ATOMIC_SUB => (false, Change::Sub),
        Op::ATOMIC_SMIN => (false, Change::SignedMin),
        Op::ATOMIC_UMIN => (false, Change::UnsignedMin),
        Op::ATOMIC_SMAX => (false, Change::SignedMax),
        Op::ATOMIC_UMAX => (false, Change::UnsignedMax),
        Op::ATOMIC_AND => (false, Change::And),
        Op::ATOMIC_OR => (false, Change::Or),
        Op::ATOMIC_XOR => (false, Change::Xor),
        Op::ATOMIC_INC => (false, Change::Inc),
        Op::ATOMIC_DEC => (false, Change::Dec),
        Op::ATOMIC_ADD_F32 => (false, Change::AddF32),
        Op::ATOMIC_PK_ADD_F16 => (false, Change::PkAddF16),
        Op::ATOMIC_PK_ADD_BF16 => (false, Change::PkAddBf16),
        Op::ATOMIC_ADD_F64 => (true, Change::AddF64),
        Op::ATOMIC_MIN_F64 => (true, Change::MinF64),
        Op::ATOMIC_MAX_F64 => (true, Change::MaxF64),
        Op::ATOMIC_SWAP_X2 => (true, Change::Swap),
        Op::ATOMIC_CMPSWAP_X2 => (true, Change::CompareSwap),
        Op::ATOMIC_ADD_X2 => (true, Change::Add),
        Op::ATOMIC_SUB_X2 => (true, Change::Sub),
        Op::ATOMIC_SMIN_X2 => (true, Change::SignedMin),
        Op::ATOMIC_UMIN_X2 => (true, Change::UnsignedMin),
        Op::ATOMIC_SMAX_X2 => (true, Change::SignedMax),
        Op::ATOMIC_UMAX_X2 => (true, Change::UnsignedMax),
        Op::ATOMIC_AND_X2 => (true, Change::And),
        Op::ATOMIC_OR_X2 => (true, Change::Or),
        Op::ATOMIC_XOR_X2 => (true, Change::Xor),
        Op::ATOMIC_INC_X2 => (true, Change::Inc),
        Op::ATOMIC_DEC_X2 => (true, Change::Dec),
        _ => return None,
    })
}

/// The atomic of a DS operation.
pub(crate) fn lds_atomic(op: Op) -> Option<(bool, Change)> {
    Some(match op {
        Op::DS_ADD_U32 | Op::DS_ADD_RTN_U32 => (false, Change::Add),
        Op::DS_SUB_U32 | Op::DS_SUB_RTN_U32 => (false, Change::Sub),
        Op::DS_RSUB_U32 | Op::DS_RSUB_RTN_U32 => (false, Change::ReverseSub),
        Op::DS_INC_U32 | Op::DS_INC_RTN_U32 => (false, Change::Inc),
        Op::DS_DEC_U32 | Op::DS_DEC_RTN_U32 => (false, Change::Dec),
        Op::DS_MIN_I32 | Op::DS_MIN_RTN_I32 => (false, Change::SignedMin),
        Op::DS_MAX_I32 | Op::DS_MAX_RTN_I32 => (false, Change::SignedMax),
        Op::DS_MIN_U32 | Op::DS_MIN_RTN_U32 => (false, Change::UnsignedMin),
        Op::DS_MAX_U32 | Op::DS_MAX_RTN_U32 => (false, Change::UnsignedMax),
        Op::DS_AND_B32 | Op::DS_AND_RTN_B32 => (false, Change::And),
        Op::DS_OR_B32 | Op::DS_OR_RTN_B32 => (false, Change::Or),
        Op::DS_XOR_B32 | Op::DS_XOR_RTN_B32 => (false, Change::Xor),
        Op::DS_MSKOR_B32 | Op::DS_MSKOR_RTN_B32 => (false, Change::MaskOr),
        Op::DS_WRXCHG_RTN_B32 => (false, Change::Swap),
        Op::DS_CMPST_B32 | Op::DS_CMPST_RTN_B32 => (false, Change::CompareSwap),
        Op::DS_CMPST_F32 | Op::DS_CMPST_RTN_F32 => (false, Change::CompareSwapF32),
        Op::DS_MIN_F32 | Op::DS_MIN_RTN_F32 => (false, Change::MinF32),
        Op::DS_MAX_F32 | Op::DS_MAX_RTN_F32 => (false, Change::MaxF32),
        Op::DS_WRAP_RTN_B32 => (false, Change::Wrap),
        Op::DS_ADD_F32 | Op::DS_ADD_RTN_F32 => (false, Change::AddF32),
        Op::DS_PK_ADD_F16 | Op::DS_PK_ADD_RTN_F16 => (false, Change::PkAddF16),
        Op::DS_PK_ADD_BF16 | Op::DS_PK_ADD_RTN_BF16 => (false, Change::PkAddBf16),
        Op::DS_ADD_U64 | Op::DS_ADD_RTN_U64 => (true, Change::Add),
        Op::DS_SUB_U64 | Op::DS_SUB_RTN_U64 => (true, Change::Sub),
        Op::DS_RSUB_U64 | Op::DS_RSUB_RTN_U64 => (true, Change::ReverseSub),
        Op::DS_INC_U64 | Op::DS_INC_RTN_U64 => (true, Change::Inc),
        Op::DS_DEC_U64 | Op::DS_DEC_RTN_U64 => (true, Change::Dec),
        Op::DS_MIN_I64 | Op::DS_MIN_RTN_I64 => (true, Change::SignedMin),
        Op::DS_MAX_I64 | Op::DS_MAX_RTN_I64 => (true, Change::SignedMax),
        Op::DS_MIN_U64 | Op::DS_MIN_RTN_U64 => (true, Change::UnsignedMin),
        Op::DS_MAX_U64 | Op::DS_MAX_RTN_U64 => (true, Change::UnsignedMax),
        Op::DS_AND_B64 | Op::DS_AND_RTN_B64 => (true, Change::And),
        Op::DS_OR_B64 | Op::DS_OR_RTN_B64 => (true, Change::Or),
        Op::DS_XOR_B64 | Op::DS_XOR_RTN_B64 => (true, Change::Xor),
        Op::DS_MSKOR_B64 | Op::DS_MSKOR_RTN_B64 => (true, Change::MaskOr),
        Op::DS_WRXCHG_RTN_B64 => (true, Change::Swap),
        Op::DS_CMPST_B64 | Op::DS_CMPST_RTN_B64 => (true, Change::CompareSwap),
        Op::DS_CMPST_F64 | Op::DS_CMPST_RTN_F64 => (true, Change::CompareSwapF64),
        Op::DS_ADD_F64 | Op::DS_ADD_RTN_F64 => (true, Change::AddF64),
        Op::DS_MIN_F64 | Op::DS_MIN_RTN_F64 => (true, Change::MinF64),
        Op::DS_MAX_F64 | Op::DS_MAX_RTN_F64 => (true, Change::MaxF64),
        _ => return None,
    })
}

/// Extends a loaded byte or half word.
pub(crate) fn extend(value: u32, bytes: u32, signed: bool) -> u32 {
    match (bytes, signed) {
        (1, false) => value & 0xff,
        (1, true) => i32::from(value as i8) as u32,
        (2, false) => value & 0xffff,
        (2, true) => i32::from(value as i16) as u32,
        _ => value,
    }
}

/// A loaded value in a register that held `old`.
pub(crate) fn shape(value: u32, bytes: u32, form: Form, old: u32) -> u32 {
    match form {
        Form::Whole => value,
        Form::Extended { signed } => extend(value, bytes, signed),
        Form::Half { signed, high } => {
            let half = extend(value, bytes, signed) & 0xffff;
            if high {
                old & 0xffff | half << 16
            } else {
                old & 0xffff_0000 | half
            }
        }
    }
}
