//! Dense forms of one block in f32: the most frequent case, four registers of D
//! at a time. It computes what [`super::plain::chain`] does.

use super::decode::Plane;
use super::exact::NAN;
use super::forms::{Element, Kind};
use super::layout::InputLayout;
use super::run::Job;
use super::vector::Vector;
use super::{Lanes, Mfma};

/// Registers of D that hold neighbouring rows.
const HEIGHT: usize = 4;
/// Lanes of [`Vector`] here.
const WIDTH: usize = 16;
/// Vectors in a register.
const VECTORS: usize = 64 / WIDTH;

/// Whether [`run`] does a form with these rows and columns.
pub(super) fn fits(mfma: &Mfma) -> bool {
    let form = mfma.form;
    form.kind == Kind::Dense
        && form.blocks == 1
        && form.m == form.n
        && matches!(form.n, 16 | 32)
        && mfma.modifiers == super::Modifiers::default()
}

/// The values of bf16 operands, without looking at elements one by one.
#[inline(always)]
pub(super) fn fill_bf16<const N: usize>(
    plane: &mut Plane,
    layout: &InputLayout,
    registers: &[Lanes],
) {
    for (register, words) in registers.iter().enumerate() {
        for group in 0..64 / N {
            let from = &words[group * N..][..N];
            let low = layout.k_of(group, 2 * register) * N;
            for (to, word) in plane.value[low..][..N].iter_mut().zip(from) {
                *to = f32::from_bits(word << 16);
            }
            let high = layout.k_of(group, 2 * register + 1) * N;
            for (to, word) in plane.value[high..][..N].iter_mut().zip(from) {
                *to = f32::from_bits(word & 0xffff_0000);
            }
        }
    }
}

/// Whether [`fill_bf16`] reads this element.
pub(super) fn is_bf16(element: Element) -> bool {
    element == Element::Bf16
}

/// Adds the products of planes of values to D, k ascending, for `N` columns.
#[inline(always)]
pub(super) fn run<V: Vector, const N: usize>(v: V, job: &mut Job<'_>) {
    let k = job.mfma.a_layout().k();
    let (Some(a), Some(b)) = (job.a.value.get(..k * N), job.b.value.get(..k * N)) else {
        return;
    };
    // Columns of a register come before rows four apart.
    let across = N / WIDTH;
    let rows = HEIGHT * VECTORS / across;
    for (part, registers) in job.d.chunks_exact_mut(HEIGHT).enumerate() {
        let Some(registers) = registers.first_chunk_mut::<HEIGHT>() else {
            return;
        };
        let mut sums = [[v.float(0.0); VECTORS]; HEIGHT];
        for r in 0..HEIGHT {
            for at in 0..VECTORS {
                let words = &registers[r][at * WIDTH..][..WIDTH];
                sums[r][at] = v.floats(bytemuck::cast_slice(words));
            }
        }
        for k in 0..k {
            let factors = &a[k * N + part * rows..][..rows];
            let columns = &b[k * N..][..N];
            for at in 0..VECTORS {
                let columns = v.floats(&columns[at % across * WIDTH..]);
                let factors = &factors[at / across * HEIGHT..][..HEIGHT];
                for r in 0..HEIGHT {
                    sums[r][at] = v.fma(v.float(factors[r]), columns, sums[r][at]);
                }
            }
        }
        // Which NaN comes out of a processor's own instructions is up to that processor.
        for r in 0..HEIGHT {
            for at in 0..VECTORS {
                let words = &mut registers[r][at * WIDTH..][..WIDTH];
                let sum = v.plain(sums[r][at], v.float(NAN));
                v.store_floats(sum, bytemuck::cast_slice_mut(words));
            }
        }
    }
}
