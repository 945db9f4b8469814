//! Operations that take or give a bit a lane: carries and selections.

use cairn_codeobj::isa::Op;

use crate::wave::Lanes;

/// Does `op` if it is one of these and gives the mask it makes.
#[inline(always)]
pub(super) fn run(op: Op, a: &Lanes, b: &Lanes, mask: u64, out: &mut Lanes) -> Option<u64> {
    let (op, a, b) = match op {
        Op::V_SUBREV_CO_U32 => (Op::V_SUB_CO_U32, b, a),
        Op::V_SUBBREV_CO_U32 => (Op::V_SUBB_CO_U32, b, a),
        _ => (op, a, b),
    };
    let bit = |lane: usize| (mask >> lane & 1) as u32;
    let mut made = 0;
    let mut set = |lane: usize, value: bool| made |= u64::from(value) << lane;
    match op {
        Op::V_CNDMASK_B32 => {
            for lane in 0..64 {
                let second = bit(lane).wrapping_neg();
                out[lane] = a[lane] & !second | b[lane] & second;
            }
        }
        Op::V_ADD_CO_U32 => {
            for lane in 0..64 {
                let (sum, carry) = a[lane].overflowing_add(b[lane]);
                out[lane] = sum;
                set(lane, carry);
            }
        }
        Op::V_SUB_CO_U32 => {
            for lane in 0..64 {
                let (difference, borrow) = a[lane].overflowing_sub(b[lane]);
                out[lane] = difference;
                set(lane, borrow);
            }
        }
        Op::V_ADDC_CO_U32 => {
            for lane in 0..64 {
                let sum = u64::from(a[lane]) + u64::from(b[lane]) + u64::from(bit(lane));
                out[lane] = sum as u32;
                set(lane, sum >> 32 != 0);
            }
        }
        Op::V_SUBB_CO_U32 => {
            for lane in 0..64 {
                let taken = u64::from(b[lane]) + u64::from(bit(lane));
                out[lane] = u64::from(a[lane]).wrapping_sub(taken) as u32;
                set(lane, u64::from(a[lane]) < taken);
            }
        }
        _ => return None,
    }
    Some(made)
}
