//! The f64 forms: small, and the only ones whose elements take two registers.

use super::{Lanes, Mfma, Sources};

/// The quiet NaN that every sum without a value becomes.
const NAN: u64 = 0x7ff8_0000_0000_0000;

const SIGN: u64 = 1 << 63;

/// D = A * B + D, one fused multiply-add per product, k ascending. Inlined, so that the
/// multiply-add is an instruction where there is one.
#[inline(always)]
pub(super) fn run(mfma: &Mfma, sources: &Sources<'_>, d: &mut [Lanes]) {
    let form = mfma.form;
    let (a_layout, b_layout, d_layout) = (mfma.a_layout(), mfma.b_layout(), mfma.d_layout());
    let negate = |bit: u8| {
        let set = mfma.modifiers.blgp >> bit & 1 == 1;
        if set { SIGN } else { 0 }
    };
    for block in 0..form.blocks {
        for row in 0..form.m {
            for column in 0..form.n {
                let place = d_layout.place(block, row, column);
                let (register, lane) = (place.register, place.lane);
                let mut sum = f64::from_bits(read(d, register, lane) ^ negate(2));
                for k in 0..form.k {
                    let a = read(sources.a, 0, a_layout.place(block, row, k).lane);
                    let b = read(sources.b, 0, b_layout.place(block, column, k).lane);
                    let a = f64::from_bits(a ^ negate(0));
                    sum = a.mul_add(f64::from_bits(b ^ negate(1)), sum);
                }
                let bits = if sum.is_nan() { NAN } else { sum.to_bits() };
                d[register][lane] = bits as u32;
                d[register + 1][lane] = (bits >> 32) as u32;
            }
        }
    }
}

fn read(registers: &[Lanes], register: usize, lane: usize) -> u64 {
    let word = |offset: usize| u64::from(registers[register + offset][lane]);
    word(0) | word(1) << 32
}
