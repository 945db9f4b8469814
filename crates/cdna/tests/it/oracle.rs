//! A second form of the arithmetic, written for one lane at a time and on
//! exact integers: floats are a sign, a whole number and a power of two, and
//! are rounded once, at the end.

use cairn_codeobj::isa::Op;

/// A float format: stored mantissa bits and exponent bits.
#[derive(Clone, Copy)]
pub(crate) struct Format {
    mantissa: i32,
    exponent: i32,
}

pub(crate) const F16: Format = Format {
    mantissa: 10,
    exponent: 5,
};
pub(crate) const F32: Format = Format {
    mantissa: 23,
    exponent: 8,
};
pub(crate) const F64: Format = Format {
    mantissa: 52,
    exponent: 11,
};

/// A value taken apart.
#[derive(Clone, Copy, PartialEq)]
enum Value {
    Nan,
    Infinite(bool),
    /// Sign, magnitude, power of two.
    Finite(bool, u128, i32),
}

impl Format {
    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    fn split(self, bits: u64) -> Value {
        let negative = bits >> (self.mantissa + self.exponent) & 1 == 1;
        let exponent = (bits >> self.mantissa) as i32 & ((1 << self.exponent) - 1);
        let mantissa = u128::from(bits) & ((1 << self.mantissa) - 1);
        if exponent == (1 << self.exponent) - 1 {
            return if mantissa == 0 {
                Value::Infinite(negative)
            } else {
                Value::Nan
            };
        }
        if exponent == 0 {
            return Value::Finite(negative, mantissa, 1 - self.bias() - self.mantissa);
        }
        let mantissa = mantissa | 1 << self.mantissa;
        Value::Finite(negative, mantissa, exponent - self.bias() - self.mantissa)
    }

    fn infinity(self, negative: bool) -> u64 {
        let sign = u64::from(negative) << (self.mantissa + self.exponent);
        sign | ((1 << self.exponent) - 1) << self.mantissa
    }

    fn quiet(self, bits: u64) -> u64 {
        bits | 1 << (self.mantissa - 1)
    }

    fn default_nan(self) -> u64 {
        self.quiet(self.infinity(false))
    }

    /// Rounds to nearest, ties to even. `sticky` tells of bits below.
    fn round(self, negative: bool, magnitude: u128, power: i32, sticky: bool) -> u64 {
        let sign = u64::from(negative) << (self.mantissa + self.exponent);
        if magnitude == 0 {
            return sign;
        }
        let top = 127 - magnitude.leading_zeros() as i32;
        let lowest = 1 - self.bias() - self.mantissa;
        let unit = (power + top - self.mantissa).max(lowest);
        let shift = unit - power;
        let kept = if shift <= 0 {
            magnitude << -shift
        } else if shift > 127 {
            0
        } else {
            let whole = magnitude >> shift;
            let rest = magnitude & ((1 << shift) - 1);
            let half = 1u128 << (shift - 1);
            let up = rest > half || rest == half && (sticky || whole & 1 == 1);
            whole + u128::from(up)
        };
        // A carry out of the mantissa goes on into the exponent by itself.
        let exponent = (unit - lowest) as u128;
        let code = kept + (exponent << self.mantissa);
        if code >= u128::from(self.infinity(false)) {
            return self.infinity(negative);
        }
        sign | code as u64
    }

    fn is_nan(self, bits: u64) -> bool {
        self.split(bits) == Value::Nan
    }

    /// The first NaN among operands, made quiet.
    fn nan_of(self, operands: &[u64]) -> Option<u64> {
        operands
            .iter()
            .find(|bits| self.is_nan(**bits))
            .map(|bits| self.quiet(*bits))
    }

    /// a * b + c with one rounding.
    pub(crate) fn fma(self, a: u64, b: u64, c: u64) -> u64 {
        if let Some(nan) = self.nan_of(&[a, b, c]) {
            return nan;
        }
        let product = match (self.split(a), self.split(b)) {
            (Value::Infinite(x), Value::Infinite(y)) => Value::Infinite(x ^ y),
            (Value::Infinite(x), Value::Finite(y, m, _))
            | (Value::Finite(y, m, _), Value::Infinite(x)) => {
                if m == 0 {
                    Value::Nan
                } else {
                    Value::Infinite(x ^ y)
                }
            }
            (Value::Finite(x, m, p), Value::Finite(y, n, q)) => Value::Finite(x ^ y, m * n, p + q),
            _ => Value::Nan,
        };
        self.sum(product, self.split(c))
    }

    pub(crate) fn add(self, a: u64, b: u64) -> u64 {
        match self.nan_of(&[a, b]) {
            Some(nan) => nan,
            None => self.sum(self.split(a), self.split(b)),
        }
    }

    pub(crate) fn mul(self, a: u64, b: u64) -> u64 {
        if let Some(nan) = self.nan_of(&[a, b]) {
            return nan;
        }
        match (self.split(a), self.split(b)) {
            (Value::Finite(x, m, p), Value::Finite(y, n, q)) => {
                self.round(x ^ y, m * n, p + q, false)
            }
            (Value::Infinite(x), Value::Finite(y, m, _))
            | (Value::Finite(y, m, _), Value::Infinite(x))
                if m != 0 =>
            {
                self.infinity(x ^ y)
            }
            (Value::Infinite(x), Value::Infinite(y)) => self.infinity(x ^ y),
            _ => self.default_nan(),
        }
    }

    fn sum(self, a: Value, b: Value) -> u64 {
        let (a, b) = match (a, b) {
            (Value::Infinite(x), Value::Infinite(y)) if x != y => return self.default_nan(),
            (Value::Infinite(x), Value::Infinite(_) | Value::Finite(..)) => {
                return self.infinity(x);
            }
            (Value::Finite(..), Value::Infinite(y)) => return self.infinity(y),
            (Value::Finite(x, m, p), Value::Finite(y, n, q)) => ((x, m, p), (y, n, q)),
            _ => return self.default_nan(),
        };
        if a.1 == 0 && b.1 == 0 {
            return self.round(a.0 && b.0, 0, 0, false);
        }
        if a.1 == 0 {
            return self.round(b.0, b.1, b.2, false);
        }
        if b.1 == 0 {
            return self.round(a.0, a.1, a.2, false);
        }
        let top = |(_, m, p): (bool, u128, i32)| p + 127 - m.leading_zeros() as i32;
        let (large, small) = if top(a) >= top(b) { (a, b) } else { (b, a) };
        // Room below the larger one, and what does not fit there is sticky.
        let room = large.1.leading_zeros() as i32 - 2;
        let (mut m, mut p, mut negative) = (large.1 << room, large.2 - room, large.0);
        let shift = small.2 - p;
        let (n, sticky) = if shift >= 0 {
            (small.1 << shift, false)
        } else if shift < -127 {
            (0, true)
        } else {
            (small.1 >> -shift, small.1 & ((1 << -shift) - 1) != 0)
        };
        if large.0 == small.0 {
            m += n;
        } else if n > m {
            // Both have the same highest bit, and the other one is larger.
            m = n - m;
            negative = small.0;
        } else {
            m -= n;
            if sticky {
                // The sticky part is taken away as well: one less, and more than nothing left.
                m -= 1;
            }
        }
        if m == 0 && !sticky {
            return self.round(false, 0, 0, false);
        }
        if m.leading_zeros() > 1 {
            m = m << 1 | u128::from(sticky);
            p -= 1;
        } else {
            m |= u128::from(sticky);
        }
        self.round(negative, m, p, sticky)
    }

    fn key(self, bits: u64) -> i128 {
        let sign = 1u64 << (self.mantissa + self.exponent);
        if bits & sign == 0 {
            i128::from(bits)
        } else {
            -1 - i128::from(bits ^ sign)
        }
    }

    /// Minimum or maximum with IEEE rules for signalling NaN.
    pub(crate) fn extreme(self, a: u64, b: u64, larger: bool) -> u64 {
        let signalling = |x: u64| self.is_nan(x) && self.quiet(x) != x;
        if signalling(a) {
            return self.quiet(a);
        }
        if signalling(b) {
            return self.quiet(b);
        }
        match (self.is_nan(a), self.is_nan(b)) {
            (true, _) => b,
            (_, true) => a,
            _ if (self.key(b) > self.key(a)) == larger && self.key(a) != self.key(b) => b,
            _ => a,
        }
    }

    /// The order of two floats; `None` when there is none.
    pub(crate) fn order(self, a: u64, b: u64) -> Option<std::cmp::Ordering> {
        if self.is_nan(a) || self.is_nan(b) {
            return None;
        }
        let zero = |x: u64| matches!(self.split(x), Value::Finite(_, 0, _));
        if zero(a) && zero(b) {
            return Some(std::cmp::Ordering::Equal);
        }
        Some(self.key(a).cmp(&self.key(b)))
    }

    /// The whole number of a float, cut toward zero and kept in a range.
    pub(crate) fn whole(self, a: u64, low: i128, high: i128) -> i128 {
        match self.split(a) {
            Value::Nan => 0,
            Value::Infinite(negative) => {
                if negative {
                    low
                } else {
                    high
                }
            }
            Value::Finite(negative, m, p) => {
                let size = if p >= 0 {
                    if p > 70 {
                        if m == 0 { 0 } else { i128::MAX }
                    } else {
                        (m << p.min(70)) as i128
                    }
                } else if p < -127 {
                    0
                } else {
                    (m >> -p) as i128
                };
                (if negative { -size } else { size }).clamp(low, high)
            }
        }
    }

    /// The float nearest to a whole number.
    pub(crate) fn float_of(self, value: i128) -> u64 {
        self.round(value < 0, value.unsigned_abs(), 0, false)
    }

    /// The same value in another format.
    pub(crate) fn to(self, other: Self, a: u64) -> u64 {
        match self.split(a) {
            Value::Nan => {
                let sign = a >> (self.mantissa + self.exponent) & 1 == 1;
                let payload = a & ((1 << self.mantissa) - 1);
                let moved = if other.mantissa >= self.mantissa {
                    payload << (other.mantissa - self.mantissa)
                } else {
                    payload >> (self.mantissa - other.mantissa)
                };
                other.quiet(other.infinity(sign) | moved)
            }
            Value::Infinite(sign) => other.infinity(sign),
            Value::Finite(sign, m, p) => other.round(sign, m, p, false),
        }
    }
}

/// What one lane makes of an operation, and the bit it makes, if any.
/// `carry` is its bit of the mask that goes in. `None` for other operations.
pub(crate) fn lane(
    op: Op,
    a: u64,
    b: u64,
    c: u64,
    carry: bool,
    lane: u32,
) -> Option<(u64, Option<bool>)> {
    let (x, y, z) = (a as u32, b as u32, c as u32);
    let (i, j, k) = (
        i128::from(x as i32),
        i128::from(y as i32),
        i128::from(z as i32),
    );
    let (u, v, w) = (i128::from(x), i128::from(y), i128::from(z));
    let word = |value: i128| Some((u64::from(value as u32), None));
    let flip = |x: u64| if F32.is_nan(x) { x } else { x ^ 1 << 31 };
    let flip16 = |x: u64| if F16.is_nan(x) { x } else { x ^ 1 << 15 };
    let plain = |value: u64| Some((value, None));
    let s24 = |x: i128| (x << 104) >> 104;
    let u24 = |x: i128| x & 0xff_ffff;
    let field =
        |from: i128, at: i128, count: i128| from >> (at & 31) & ((1i128 << (count & 31)) - 1);
    match op {
        Op::V_ADD_F32 => plain(F32.add(a, b)),
        Op::V_SUB_F32 => plain(F32.add(a, flip(b))),
        Op::V_SUBREV_F32 => plain(F32.add(b, flip(a))),
        Op::V_MUL_F32 => plain(F32.mul(a, b)),
        Op::V_FMA_F32 | Op::V_FMAC_F32 => plain(F32.fma(a, b, c)),
        Op::V_MIN_F32 => plain(F32.extreme(a, b, false)),
        Op::V_MAX_F32 => plain(F32.extreme(a, b, true)),
        Op::V_MIN3_F32 => plain(F32.extreme(F32.extreme(a, b, false), c, false)),
        Op::V_MAX3_F32 => plain(F32.extreme(F32.extreme(a, b, true), c, true)),
        Op::V_ADD_F64 => plain(F64.add(a, b)),
        Op::V_MUL_F64 => plain(F64.mul(a, b)),
        Op::V_MIN_F64 => plain(F64.extreme(a, b, false)),
        Op::V_MAX_F64 => plain(F64.extreme(a, b, true)),
        Op::V_ADD_F16 => plain(F16.add(a & 0xffff, b & 0xffff)),
        Op::V_SUB_F16 => plain(F16.add(a & 0xffff, flip16(b & 0xffff))),
        Op::V_MUL_F16 => plain(F16.mul(a & 0xffff, b & 0xffff)),
        Op::V_MIN_F16 => plain(F16.extreme(a & 0xffff, b & 0xffff, false)),
        Op::V_MAX_F16 => plain(F16.extreme(a & 0xffff, b & 0xffff, true)),
        Op::V_CVT_F32_I32 => plain(F32.float_of(i)),
        Op::V_CVT_F32_U32 => plain(F32.float_of(u)),
        Op::V_CVT_I32_F32 => word(F32.whole(a, i32::MIN.into(), i32::MAX.into())),
        Op::V_CVT_U32_F32 => word(F32.whole(a, 0, u32::MAX.into())),
        Op::V_CVT_F16_F32 => plain(F32.to(F16, a)),
        Op::V_CVT_F32_F16 => plain(F16.to(F32, a & 0xffff)),
        Op::V_CVT_F64_F32 => plain(F32.to(F64, a)),
        Op::V_CVT_F32_F64 => plain(F64.to(F32, a)),
        Op::V_CVT_F64_I32 => plain(F64.float_of(i)),
        Op::V_CVT_F64_U32 => plain(F64.float_of(u)),
        Op::V_CVT_I32_F64 => word(F64.whole(a, i32::MIN.into(), i32::MAX.into())),
        Op::V_CVT_U32_F64 => word(F64.whole(a, 0, u32::MAX.into())),
        Op::V_MOV_B32 => plain(a & 0xffff_ffff),
        Op::V_NOT_B32 => word(!u),
        Op::V_BFREV_B32 => plain((0..32).map(|bit| (a >> bit & 1) << (31 - bit)).sum()),
        Op::V_FFBH_U32 => word(
            (0..32)
                .find(|bit| x >> (31 - bit) & 1 == 1)
                .map_or(-1, i128::from),
        ),
        Op::V_FFBL_B32 => word((0..32).find(|bit| x >> bit & 1 == 1).map_or(-1, i128::from)),
        Op::V_ADD_U32 => word(u + v),
        Op::V_SUB_U32 => word(u - v),
        Op::V_SUBREV_U32 => word(v - u),
        Op::V_MUL_LO_U32 => word(u * v),
        Op::V_MUL_HI_U32 => word(u * v >> 32),
        Op::V_MUL_HI_I32 => word(i * j >> 32),
        Op::V_MUL_I32_I24 => word(s24(u) * s24(v)),
        Op::V_MUL_U32_U24 => word(u24(u) * u24(v)),
        Op::V_MUL_HI_U32_U24 => word(u24(u) * u24(v) >> 32),
        Op::V_MAD_I32_I24 => word(s24(u) * s24(v) + k),
        Op::V_MAD_U32_U24 => word(u24(u) * u24(v) + w),
        Op::V_MIN_I32 => word(i.min(j)),
        Op::V_MAX_I32 => word(i.max(j)),
        Op::V_MIN_U32 => word(u.min(v)),
        Op::V_MAX_U32 => word(u.max(v)),
        Op::V_MED3_I32 => {
            let mut list = [i, j, k];
            list.sort_unstable();
            word(list[1])
        }
        Op::V_MED3_U32 => {
            let mut list = [u, v, w];
            list.sort_unstable();
            word(list[1])
        }
        Op::V_LSHLREV_B32 => word(v << (u & 31)),
        Op::V_LSHRREV_B32 => word(v >> (u & 31)),
        Op::V_ASHRREV_I32 => word(j >> (u & 31)),
        Op::V_AND_B32 => word(u & v),
        Op::V_OR_B32 => word(u | v),
        Op::V_XOR_B32 => word(u ^ v),
        Op::V_XNOR_B32 => word(!(u ^ v)),
        Op::V_BFE_U32 => word(field(u, v, w)),
        Op::V_BFE_I32 => {
            let value = field(u, v, w);
            let width = w & 31;
            word(if width > 0 && value >> (width - 1) & 1 == 1 {
                value - (1 << width)
            } else {
                value
            })
        }
        Op::V_BFI_B32 => word((u & v) | (!u & w)),
        Op::V_BFM_B32 => word(((1 << (u & 31)) - 1) << (v & 31)),
        Op::V_ALIGNBIT_B32 => word((u << 32 | v) >> (w & 31)),
        Op::V_ALIGNBYTE_B32 => word((u << 32 | v) >> (8 * (w & 3))),
        Op::V_ADD3_U32 => word(u + v + w),
        Op::V_LSHL_ADD_U32 => word((u << (v & 31)) + w),
        Op::V_ADD_LSHL_U32 => word((u + v) << (w & 31)),
        Op::V_LSHL_OR_B32 => word(u << (v & 31) | w),
        Op::V_AND_OR_B32 => word(u & v | w),
        Op::V_OR3_B32 => word(u | v | w),
        Op::V_XAD_U32 => word((u ^ v) + w),
        Op::V_BCNT_U32_B32 => word(i128::from(x.count_ones()) + v),
        Op::V_MBCNT_LO_U32_B32 => {
            let below = (0..lane.min(32)).filter(|bit| x >> bit & 1 == 1).count();
            word(below as i128 + v)
        }
        Op::V_MBCNT_HI_U32_B32 => {
            let below = (0..lane.saturating_sub(32))
                .filter(|bit| x >> bit & 1 == 1)
                .count();
            word(below as i128 + v)
        }
        Op::V_LSHLREV_B64 => plain(b << (a & 63)),
        Op::V_LSHRREV_B64 => plain(b >> (a & 63)),
        Op::V_ASHRREV_I64 => plain((i128::from(b as i64) >> (a & 63)) as u64),
        Op::V_LSHL_ADD_U64 => plain((i128::from(a) << (b & 7)) as u64)
            .map(|(value, bit)| (value.wrapping_add(c), bit)),
        Op::V_CNDMASK_B32 => plain(if carry { b } else { a } & 0xffff_ffff),
        Op::V_ADD_CO_U32 => Some((u64::from((u + v) as u32), Some(u + v > 0xffff_ffff))),
        Op::V_SUB_CO_U32 => Some((u64::from((u - v) as u32), Some(u < v))),
        Op::V_SUBREV_CO_U32 => Some((u64::from((v - u) as u32), Some(v < u))),
        Op::V_ADDC_CO_U32 => {
            let sum = u + v + i128::from(carry);
            Some((u64::from(sum as u32), Some(sum > 0xffff_ffff)))
        }
        Op::V_SUBB_CO_U32 => {
            let rest = u - v - i128::from(carry);
            Some((u64::from(rest as u32), Some(rest < 0)))
        }
        _ => None,
    }
}

/// A comparison, by its opcode.
pub(crate) fn compare(code: u8, a: u64, b: u64) -> Option<bool> {
    use std::cmp::Ordering;
    let signed = |x: u64, bits: u32| ((x << (64 - bits)) as i64) >> (64 - bits);
    let order = match code {
        0x20..=0x2f => F16.order(a & 0xffff, b & 0xffff),
        0x40..=0x4f => F32.order(a & 0xffff_ffff, b & 0xffff_ffff),
        0x60..=0x6f => F64.order(a, b),
        0xa0..=0xa7 => Some(signed(a, 16).cmp(&signed(b, 16))),
        0xa8..=0xaf => Some((a & 0xffff).cmp(&(b & 0xffff))),
        0xc0..=0xc7 => Some(signed(a, 32).cmp(&signed(b, 32))),
        0xc8..=0xcf => Some((a & 0xffff_ffff).cmp(&(b & 0xffff_ffff))),
        0xe0..=0xe7 => Some((a as i64).cmp(&(b as i64))),
        0xe8..=0xef => Some(a.cmp(&b)),
        _ => return None,
    };
    let bit = match order {
        Some(Ordering::Less) => 1,
        Some(Ordering::Equal) => 2,
        Some(Ordering::Greater) => 4,
        None => 8,
    };
    let relation = if code >= 0xa0 { code & 7 } else { code & 15 };
    Some(relation & bit != 0)
}

/// A scalar operation: its result and SCC. `None` for other operations.
pub(crate) fn scalar(op: Op, a: u64, b: u64, scc: bool) -> Option<(u64, Option<bool>)> {
    let (x, y) = (a as u32, b as u32);
    let (u, v) = (i128::from(x), i128::from(y));
    let (i, j) = (i128::from(x as i32), i128::from(y as i32));
    let word = |value: i128, scc: bool| Some((u64::from(value as u32), Some(scc)));
    let fits = |value: i128| i32::try_from(value).is_ok();
    let wide = |value: u64| Some((value, Some(value != 0)));
    let truth = |value: i128| word(value, value as u32 != 0);
    let test = |value: bool| Some((0, Some(value)));
    match op {
        Op::S_ADD_U32 => word(u + v, u + v > 0xffff_ffff),
        Op::S_SUB_U32 => word(u - v, u < v),
        Op::S_ADD_I32 => word(i + j, !fits(i + j)),
        Op::S_SUB_I32 => word(i - j, !fits(i - j)),
        Op::S_ADDC_U32 => word(
            u + v + i128::from(scc),
            u + v + i128::from(scc) > 0xffff_ffff,
        ),
        Op::S_SUBB_U32 => word(u - v - i128::from(scc), u - v - i128::from(scc) < 0),
        Op::S_MIN_I32 => word(i.min(j), i < j),
        Op::S_MAX_I32 => word(i.max(j), i > j),
        Op::S_MIN_U32 => word(u.min(v), u < v),
        Op::S_MAX_U32 => word(u.max(v), u > v),
        Op::S_AND_B32 => truth(u & v),
        Op::S_OR_B32 => truth(u | v),
        Op::S_XOR_B32 => truth(u ^ v),
        Op::S_ANDN2_B32 => truth(u & !v),
        Op::S_AND_B64 => wide(a & b),
        Op::S_OR_B64 => wide(a | b),
        Op::S_XOR_B64 => wide(a ^ b),
        Op::S_ANDN2_B64 => wide(a & !b),
        Op::S_NAND_B64 => wide(!(a & b)),
        Op::S_LSHL_B32 => truth(u << (v & 31)),
        Op::S_LSHR_B32 => truth(u >> (v & 31)),
        Op::S_ASHR_I32 => truth(i >> (v & 31)),
        Op::S_LSHL_B64 => wide(a << (v & 63)),
        Op::S_LSHR_B64 => wide(a >> (v & 63)),
        Op::S_MUL_I32 => Some((u64::from((u * v) as u32), None)),
        Op::S_MUL_HI_U32 => Some((u64::from((u * v >> 32) as u32), None)),
        Op::S_CMP_EQ_I32 | Op::S_CMP_EQ_U32 => test(u == v),
        Op::S_CMP_LG_I32 | Op::S_CMP_LG_U32 => test(u != v),
        Op::S_CMP_GT_I32 => test(i > j),
        Op::S_CMP_LE_I32 => test(i <= j),
        Op::S_CMP_GE_U32 => test(u >= v),
        Op::S_CMP_LT_U32 => test(u < v),
        Op::S_CMP_EQ_U64 => test(a == b),
        _ => None,
    }
}
