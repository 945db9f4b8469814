//! The f64 forms: small, and the only ones whose elements take two registers. A lane holds
//! one element of A and one of B.

use super::{Lanes, Mfma, Sources};

/// The quiet NaN that every sum without a value becomes.
const NAN: u64 = 0x7ff8_0000_0000_0000;

/// D = A * B + D, one fused multiply-add per product, k ascending. Inlined, so that the
/// multiply-add is an instruction where there is one.
#[inline(always)]
pub(super) fn run(mfma: &Mfma, sources: &Sources<'_>, d: &mut [Lanes]) {
    let form = mfma.form;
    let (a_layout, b_layout, d_layout) = (mfma.a_layout(), mfma.b_layout(), mfma.d_layout());
    let sign = |bit: u8| u64::from(mfma.modifiers.blgp >> bit & 1) << 63;
    let a = read(sources.a, sign(0));
    let b = read(sources.b, sign(1));
    for block in 0..form.blocks {
        for row in 0..form.m {
            let place = d_layout.place(block, row, 0);
            let pair = &mut d[place.register..place.register + 2];
            let before = read(pair, sign(2));
            let mut sums = [0.0; 16];
            let sums = &mut sums[..form.n];
            sums.copy_from_slice(&before[place.lane..][..form.n]);
            for k in 0..form.k {
                let factor = a[a_layout.place(block, row, k).lane];
                let columns = &b[b_layout.place(block, 0, k).lane..][..form.n];
                for (sum, column) in sums.iter_mut().zip(columns) {
                    *sum = factor.mul_add(*column, *sum);
                }
            }
            for (column, sum) in sums.iter().enumerate() {
                let bits = if sum.is_nan() { NAN } else { sum.to_bits() };
                pair[0][place.lane + column] = bits as u32;
                pair[1][place.lane + column] = (bits >> 32) as u32;
            }
        }
    }
}

/// The lanes of a pair of registers, with the bits of `sign` flipped.
#[inline(always)]
fn read(pair: &[Lanes], sign: u64) -> [f64; 64] {
    let mut out = [0.0; 64];
    for (lane, out) in out.iter_mut().enumerate() {
        let bits = u64::from(pair[0][lane]) | u64::from(pair[1][lane]) << 32;
        *out = f64::from_bits(bits ^ sign);
    }
    out
}
