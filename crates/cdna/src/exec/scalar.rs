//! Scalar arithmetic: pure functions from operands to a result and SCC.

use cairn_codeobj::isa::Op;

/// A result, and SCC where the operation sets it.
pub(crate) type Answer = (u64, Option<bool>);

fn nonzero(value: u64) -> Option<Answer> {
    Some((value, Some(value != 0)))
}

fn plain(value: u64) -> Option<Answer> {
    Some((value, None))
}

const fn word(value: u64) -> u64 {
    value & 0xffff_ffff
}

/// An operation of SOP2, SOPC or SOP1 on values of 32 or 64 bits; comparisons
/// answer with SCC alone. `None` for what is none of these.
pub(crate) fn run(op: Op, a: u64, b: u64, scc: bool) -> Option<Answer> {
    add(op, a, b, scc)
        .or_else(|| logic(op, a, b))
        .or_else(|| shift(op, a, b))
        .or_else(|| unary(op, a))
        .or_else(|| compare(op, a, b))
}

fn add(op: Op, a: u64, b: u64, scc: bool) -> Option<Answer> {
    let (x, y) = (a as u32, b as u32);
    let (i, j) = (x as i32, y as i32);
    let with = |(value, flag): (u32, bool)| Some((u64::from(value), Some(flag)));
    let signed = |(value, flag): (i32, bool)| Some((u64::from(value as u32), Some(flag)));
    let shifted_add = |shift: u32| {
        let sum = word(u64::from(x) << shift) + u64::from(y);
        let lost = u64::from(x) << shift >> 32 != 0;
        Some((word(sum), Some(lost || sum >> 32 != 0)))
    };
    match op {
        Op::S_ADD_U32 => with(x.overflowing_add(y)),
        Op::S_SUB_U32 => with(x.overflowing_sub(y)),
        Op::S_ADD_I32 => signed(i.overflowing_add(j)),
        Op::S_SUB_I32 => signed(i.overflowing_sub(j)),
        Op::S_ADDC_U32 => {
            let sum = u64::from(x) + u64::from(y) + u64::from(scc);
            Some((word(sum), Some(sum >> 32 != 0)))
        }
        Op::S_SUBB_U32 => {
            let taken = u64::from(y) + u64::from(scc);
            Some((
                word(u64::from(x).wrapping_sub(taken)),
                Some(u64::from(x) < taken),
            ))
        }
        Op::S_MIN_I32 => with((if i < j { x } else { y }, i < j)),
        Op::S_MIN_U32 => with((x.min(y), x < y)),
        Op::S_MAX_I32 => with((if i > j { x } else { y }, i > j)),
        Op::S_MAX_U32 => with((x.max(y), x > y)),
        Op::S_CSELECT_B32 | Op::S_CSELECT_B64 => plain(if scc { a } else { b }),
        Op::S_MUL_I32 => plain(u64::from(x.wrapping_mul(y))),
        Op::S_MUL_HI_U32 => plain(u64::from(x) * u64::from(y) >> 32),
        Op::S_MUL_HI_I32 => plain(word((i64::from(i) * i64::from(j) >> 32) as u64)),
        Op::S_ABSDIFF_I32 => nonzero(u64::from(i.wrapping_sub(j).wrapping_abs() as u32)),
        Op::S_LSHL1_ADD_U32 => shifted_add(1),
        Op::S_LSHL2_ADD_U32 => shifted_add(2),
        Op::S_LSHL3_ADD_U32 => shifted_add(3),
        Op::S_LSHL4_ADD_U32 => shifted_add(4),
        Op::S_PACK_LL_B32_B16 => plain(a & 0xffff | (b & 0xffff) << 16),
        Op::S_PACK_LH_B32_B16 => plain(a & 0xffff | b & 0xffff_0000),
        Op::S_PACK_HH_B32_B16 => plain(word(a) >> 16 | b & 0xffff_0000),
        _ => None,
    }
}

fn logic(op: Op, a: u64, b: u64) -> Option<Answer> {
    match op {
        Op::S_AND_B32 | Op::S_AND_B64 => nonzero(a & b),
        Op::S_OR_B32 | Op::S_OR_B64 => nonzero(a | b),
        Op::S_XOR_B32 | Op::S_XOR_B64 => nonzero(a ^ b),
        Op::S_ANDN2_B32 | Op::S_ANDN2_B64 => nonzero(a & !b),
        Op::S_ORN2_B32 => nonzero(word(a | !b)),
        Op::S_ORN2_B64 => nonzero(a | !b),
        Op::S_NAND_B32 => nonzero(word(!(a & b))),
        Op::S_NAND_B64 => nonzero(!(a & b)),
        Op::S_NOR_B32 => nonzero(word(!(a | b))),
        Op::S_NOR_B64 => nonzero(!(a | b)),
        Op::S_XNOR_B32 => nonzero(word(!(a ^ b))),
        Op::S_XNOR_B64 => nonzero(!(a ^ b)),
        _ => None,
    }
}

fn shift(op: Op, a: u64, b: u64) -> Option<Answer> {
    let x = a as u32;
    let (offset, width) = ((b & 63) as u32, (b >> 16 & 127) as u32);
    let mask = |width: u32| {
        if width >= 64 {
            u64::MAX
        } else {
            (1 << width) - 1
        }
    };
    let sign = |value: u64, width: u32| {
        if width == 0 || width >= 64 {
            value
        } else {
            ((value << (64 - width)) as i64 >> (64 - width)) as u64
        }
    };
    match op {
        Op::S_LSHL_B32 => nonzero(u64::from(x << (b & 31))),
        Op::S_LSHL_B64 => nonzero(a << (b & 63)),
        Op::S_LSHR_B32 => nonzero(u64::from(x >> (b & 31))),
        Op::S_LSHR_B64 => nonzero(a >> (b & 63)),
        Op::S_ASHR_I32 => nonzero(u64::from((x as i32 >> (b & 31)) as u32)),
        Op::S_ASHR_I64 => nonzero((a as i64 >> (b & 63)) as u64),
        Op::S_BFM_B32 => plain(u64::from(((1u32 << (a & 31)) - 1) << (b & 31))),
        Op::S_BFM_B64 => plain(((1u64 << (a & 63)) - 1) << (b & 63)),
        Op::S_BFE_U32 => nonzero(u64::from(x >> (b & 31)) & mask(width.min(32))),
        Op::S_BFE_I32 => {
            let (offset, width) = (offset & 31, width.min(32));
            let field = u64::from(x >> offset) & mask(width);
            // A field that reaches beyond the top has the top bit as its sign.
            let value = if offset + width >= 32 && width > 0 {
                u64::from((x as i32 >> offset) as u32)
            } else {
                word(sign(field, width))
            };
            nonzero(value)
        }
        Op::S_BFE_U64 => nonzero(a >> offset & mask(width)),
        Op::S_BFE_I64 => {
            let value = if offset + width >= 64 && width > 0 {
                (a as i64 >> offset) as u64
            } else {
                sign(a >> offset & mask(width), width)
            };
            nonzero(value)
        }
        _ => None,
    }
}

fn leading(value: u64, bits: u32) -> u64 {
    if value == 0 {
        word(u64::MAX)
    } else {
        u64::from(value.leading_zeros() - (64 - bits))
    }
}

fn trailing(value: u64) -> u64 {
    if value == 0 {
        word(u64::MAX)
    } else {
        u64::from(value.trailing_zeros())
    }
}

fn quads(value: u64, f: impl Fn(u64) -> u64) -> u64 {
    (0..16).fold(0, |out, quad| {
        out | f(value >> (4 * quad) & 15) << (4 * quad)
    })
}

fn unary(op: Op, a: u64) -> Option<Answer> {
    let x = a as u32;
    match op {
        Op::S_MOV_B32 | Op::S_MOV_B64 => plain(a),
        Op::S_NOT_B32 => nonzero(word(!a)),
        Op::S_NOT_B64 => nonzero(!a),
        Op::S_WQM_B32 | Op::S_WQM_B64 => nonzero(quads(a, |quad| if quad == 0 { 0 } else { 15 })),
        Op::S_QUADMASK_B32 | Op::S_QUADMASK_B64 => {
            let any = |quad: u32| u64::from(a >> (4 * quad) & 15 != 0) << quad;
            nonzero((0..16).map(any).sum())
        }
        Op::S_BREV_B32 => plain(u64::from(x.reverse_bits())),
        Op::S_BREV_B64 => plain(a.reverse_bits()),
        Op::S_BCNT0_I32_B32 => nonzero(u64::from(x.count_zeros())),
        Op::S_BCNT0_I32_B64 => nonzero(u64::from(a.count_zeros())),
        Op::S_BCNT1_I32_B32 => nonzero(u64::from(x.count_ones())),
        Op::S_BCNT1_I32_B64 => nonzero(u64::from(a.count_ones())),
        Op::S_FF0_I32_B32 => plain(trailing(word(!a))),
        Op::S_FF0_I32_B64 => plain(trailing(!a)),
        Op::S_FF1_I32_B32 => plain(trailing(word(a))),
        Op::S_FF1_I32_B64 => plain(trailing(a)),
        Op::S_FLBIT_I32_B32 => plain(leading(word(a), 32)),
        Op::S_FLBIT_I32_B64 => plain(leading(a, 64)),
        Op::S_FLBIT_I32 => plain(leading(word(a ^ (x as i32 >> 31) as u64), 32)),
        Op::S_FLBIT_I32_I64 => plain(leading(a ^ (a as i64 >> 63) as u64, 64)),
        Op::S_SEXT_I32_I8 => plain(word(a as i8 as u64)),
        Op::S_SEXT_I32_I16 => plain(word(a as i16 as u64)),
        Op::S_ABS_I32 => nonzero(u64::from((x as i32).wrapping_abs() as u32)),
        Op::S_BITREPLICATE_B64_B32 => {
            plain((0..32).map(|bit| (a >> bit & 1) * 3 << (2 * bit)).sum())
        }
        _ => None,
    }
}

fn compare(op: Op, a: u64, b: u64) -> Option<Answer> {
    let (x, y) = (a as u32, b as u32);
    let (i, j) = (x as i32, y as i32);
    let met = match op {
        Op::S_CMP_EQ_I32 | Op::S_CMP_EQ_U32 | Op::S_CMPK_EQ_I32 | Op::S_CMPK_EQ_U32 => x == y,
        Op::S_CMP_LG_I32 | Op::S_CMP_LG_U32 | Op::S_CMPK_LG_I32 | Op::S_CMPK_LG_U32 => x != y,
        Op::S_CMP_GT_I32 | Op::S_CMPK_GT_I32 => i > j,
        Op::S_CMP_GE_I32 | Op::S_CMPK_GE_I32 => i >= j,
        Op::S_CMP_LT_I32 | Op::S_CMPK_LT_I32 => i < j,
        Op::S_CMP_LE_I32 | Op::S_CMPK_LE_I32 => i <= j,
        Op::S_CMP_GT_U32 | Op::S_CMPK_GT_U32 => x > y,
        Op::S_CMP_GE_U32 | Op::S_CMPK_GE_U32 => x >= y,
        Op::S_CMP_LT_U32 | Op::S_CMPK_LT_U32 => x < y,
        Op::S_CMP_LE_U32 | Op::S_CMPK_LE_U32 => x <= y,
        Op::S_CMP_EQ_U64 => a == b,
        Op::S_CMP_LG_U64 => a != b,
        Op::S_BITCMP0_B32 => x >> (y & 31) & 1 == 0,
        Op::S_BITCMP1_B32 => x >> (y & 31) & 1 != 0,
        Op::S_BITCMP0_B64 => a >> (b & 63) & 1 == 0,
        Op::S_BITCMP1_B64 => a >> (b & 63) & 1 != 0,
        _ => return None,
    };
    Some((0, Some(met)))
}

/// What `*_saveexec` and `*_wrexec` make of EXEC.
pub(crate) fn exec_logic(op: Op, source: u64, exec: u64) -> Option<u64> {
    Some(match op {
        Op::S_AND_SAVEEXEC_B64 => source & exec,
        Op::S_OR_SAVEEXEC_B64 => source | exec,
        Op::S_XOR_SAVEEXEC_B64 => source ^ exec,
        Op::S_ANDN2_SAVEEXEC_B64 | Op::S_ANDN2_WREXEC_B64 => source & !exec,
        Op::S_ORN2_SAVEEXEC_B64 => source | !exec,
        Op::S_NAND_SAVEEXEC_B64 => !(source & exec),
        Op::S_NOR_SAVEEXEC_B64 => !(source | exec),
        Op::S_XNOR_SAVEEXEC_B64 => !(source ^ exec),
        Op::S_ANDN1_SAVEEXEC_B64 | Op::S_ANDN1_WREXEC_B64 => !source & exec,
        Op::S_ORN1_SAVEEXEC_B64 => !source | exec,
        _ => return None,
    })
}

/// Which bits of a bitwise result hold nothing, given the operands and which
/// bits of them do; `None` for operations that mix bits.
pub(crate) fn undefined_bits(op: Op, a: (u64, u64), b: (u64, u64)) -> Option<u64> {
    let (a, ua) = a;
    let (b, ub) = b;
    Some(match op {
        Op::S_AND_B32 | Op::S_AND_B64 | Op::S_NAND_B32 | Op::S_NAND_B64 => {
            ua & ub | ua & b | ub & a
        }
        Op::S_OR_B32 | Op::S_OR_B64 | Op::S_NOR_B32 | Op::S_NOR_B64 => ua & ub | ua & !b | ub & !a,
        Op::S_ANDN2_B32 | Op::S_ANDN2_B64 => ua & ub | ua & !b | ub & a,
        Op::S_ORN2_B32 | Op::S_ORN2_B64 => ua & ub | ua & b | ub & !a,
        Op::S_XOR_B32 | Op::S_XOR_B64 | Op::S_XNOR_B32 | Op::S_XNOR_B64 => ua | ub,
        Op::S_MOV_B32 | Op::S_MOV_B64 | Op::S_NOT_B32 | Op::S_NOT_B64 => ua,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_and_scc_are_those_of_the_documents() {
        let max = 0xffff_ffff;
        for (op, a, b, scc, expected) in [
            (Op::S_ADD_U32, max, 1, false, (0, Some(true))),
            (
                Op::S_ADD_I32,
                0x7fff_ffff,
                1,
                false,
                (0x8000_0000, Some(true)),
            ),
            (Op::S_ADD_I32, max, 1, false, (0, Some(false))),
            (Op::S_SUBB_U32, 0, max, true, (0, Some(true))),
            (Op::S_ADDC_U32, max, max, true, (max, Some(true))),
            (Op::S_MIN_I32, max, 1, false, (max, Some(true))),
            (Op::S_MAX_U32, 1, 1, false, (1, Some(false))),
            (Op::S_BFE_I32, 0x00f0, 4 | 4 << 16, false, (max, Some(true))),
            (
                Op::S_BFE_U32,
                0x1234,
                4 | 8 << 16,
                false,
                (0x23, Some(true)),
            ),
            (
                Op::S_BFE_I64,
                1 << 63,
                60 | 4 << 16,
                false,
                (u64::MAX - 7, Some(true)),
            ),
            (Op::S_LSHL2_ADD_U32, 0x4000_0000, 5, false, (5, Some(true))),
            (Op::S_FLBIT_I32, max, 0, false, (max, None)),
            (Op::S_FLBIT_I32_B64, 1, 0, false, (63, None)),
            (Op::S_FF1_I32_B32, 8, 0, false, (3, None)),
            (
                Op::S_QUADMASK_B32,
                0x1001_0f00,
                0,
                false,
                (0b1001_0100, Some(true)),
            ),
            (Op::S_WQM_B64, 0x10, 0, false, (0xf0, Some(true))),
            (Op::S_CSELECT_B32, 1, 2, true, (1, None)),
            (
                Op::S_BITREPLICATE_B64_B32,
                0b101,
                0,
                false,
                (0b11_0011, None),
            ),
            (Op::S_MUL_HI_I32, max, max, false, (0, None)),
            (Op::S_ABSDIFF_I32, 1, 3, false, (2, Some(true))),
        ] {
            assert_eq!(run(op, a, b, scc), Some(expected), "{op:?}");
        }
    }

    #[test]
    fn a_known_zero_hides_an_unknown_bit() {
        assert_eq!(
            undefined_bits(Op::S_AND_B64, (0b00, 0b01), (0b10, 0)),
            Some(0)
        );
        assert_eq!(
            undefined_bits(Op::S_AND_B64, (0b00, 0b01), (0b01, 0)),
            Some(1)
        );
        assert_eq!(undefined_bits(Op::S_OR_B64, (0, 1), (1, 0)), Some(0));
        assert_eq!(undefined_bits(Op::S_ADD_U32, (0, 1), (1, 0)), None);
    }
}
