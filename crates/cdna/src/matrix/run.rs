//! One execution: registers to planes, rows of D, and back to registers.

use std::array;

use super::decode::{Fill, Plane, Reader, SPECIAL};
use super::dense;
use super::exact::{self, Columns, Factors};
use super::f64_forms;
use super::forms::{Accumulator, Kind};
use super::layout::InputLayout;
use super::plain::{self, Part};
use super::rules::{self, Mode, Rule};
use super::vector::{Any, Vector};
use super::{Lanes, Mfma, Scales, Sources};

/// The most elements along k.
const MAX_K: usize = 128;

/// What one execution works on. D holds C at first.
pub(super) struct Job<'a> {
    pub(super) mfma: &'a Mfma,
    pub(super) mode: Mode,
    pub(super) sources: &'a Sources<'a>,
    pub(super) a: &'a mut Plane,
    pub(super) b: &'a mut Plane,
    pub(super) d: &'a mut [Lanes],
}

/// Runs a job, sixteen columns at a time.
#[inline(always)]
pub(super) fn body<V: Vector>(v: V, job: &mut Job<'_>) {
    if job.mfma.form.accumulator == Accumulator::F64 {
        return f64_forms::run(job.mfma, job.sources, job.d);
    }
    match job.mfma.form.n {
        // A and B of every form are as high and as wide as D.
        4 => with_columns::<_, 4, 1>(Any::<4>, job),
        16 => with_columns::<_, 16, 1>(v, job),
        _ => with_columns::<_, 32, 2>(v, job),
    }
}

/// As [`body`], for `N` columns, which are `C` vectors.
#[inline(always)]
fn with_columns<V: Vector, const N: usize, const C: usize>(v: V, job: &mut Job<'_>) {
    let mfma = job.mfma;
    let rule = rules::rule(mfma.arch, mfma.a);
    let fill = match (rule, job.mode) {
        (Rule::Wrapping, _) => Fill::Integers,
        (Rule::Chain, _) | (_, Mode::Fast) => Fill::Values,
        (Rule::Fused(_) | Rule::Split(_), Mode::Exact) => Fill::Parts,
    };
    let at_once = fill == Fill::Values && V::LANES == 16 && dense::fits(mfma);
    if at_once && dense::is_bf16(mfma.a) && dense::is_bf16(mfma.b) {
        dense::fill_bf16::<N>(job.a, &mfma.a_layout(), job.sources.a);
        dense::fill_bf16::<N>(job.b, &mfma.b_layout(), job.sources.b);
        return dense::run::<V, N>(v, job);
    }
    let permutation = permutation(mfma);
    let operands = [
        (mfma.a, mfma.a_layout(), job.sources.a, &mut *job.a, None),
        (
            mfma.b,
            mfma.b_layout(),
            job.sources.b,
            &mut *job.b,
            permutation.as_ref(),
        ),
    ];
    for (operand, (element, layout, registers, plane, lanes)) in operands.into_iter().enumerate() {
        Reader::new(element, mfma.arch).fill::<N>(plane, fill, &layout, registers, lanes);
        if let (Kind::Scaled, Some(scales)) = (mfma.form.kind, &job.sources.scales) {
            scale(plane, fill, &layout, &scales[operand]);
        }
    }
    if at_once {
        return dense::run::<V, N>(v, job);
    }
    rows::<V, N, C>(v, job, rule, fill);
}

/// Which lane of B each lane reads, where that is not its own.
#[inline(always)]
fn permutation(mfma: &Mfma) -> Option<[u8; 64]> {
    let blgp = mfma.modifiers.blgp;
    if mfma.form.kind != Kind::Dense || blgp == 0 {
        return None;
    }
    Some(array::from_fn(|lane| {
        let lane = lane as u8;
        match blgp {
            // One half for both, a rotation by a quarter, one quarter for all.
            1 => lane % 32,
            2 => 32 + lane % 32,
            3 => (lane + 16) % 64,
            quarter => (quarter - 4) * 16 + lane % 16,
        }
    }))
}

/// Multiplies the elements of an operand by the scales of their blocks of 32 along k.
#[inline(always)]
fn scale(plane: &mut Plane, fill: Fill, layout: &InputLayout, scales: &Scales<'_>) {
    let rows = layout.rows();
    for k in 0..layout.k() {
        let lanes = &scales.lanes[k / 32 * rows..][..rows];
        for (row, lane) in lanes.iter().enumerate() {
            let at = k * rows + row;
            let code = (lane >> (8 * u32::from(scales.byte & 3)) & 0xff) as i32;
            let (significand, exponent) = (&mut plane.significand[at], &mut plane.exponent[at]);
            match fill {
                Fill::Parts if code == 0xff => (*significand, *exponent) = (0, SPECIAL),
                // Zeros and infinities stay what they are.
                Fill::Parts if *significand != 0 && *exponent != SPECIAL => {
                    *exponent += code - 127;
                }
                Fill::Values if code == 0xff => plane.value[at] = f32::NAN,
                Fill::Values => {
                    let factor = f64::from_bits((code as u64 + 1023 - 127) << 52);
                    plane.value[at] = (f64::from(plane.value[at]) * factor) as f32;
                }
                Fill::Parts | Fill::Integers => {}
            }
        }
    }
}

/// Row k of B meets column k of A.
static IN_ORDER: [u16; MAX_K] = {
    let mut order = [0; MAX_K];
    let mut k = 0;
    while k < MAX_K {
        order[k] = k as u16;
        k += 1;
    }
    order
};

/// Which rows of B the stored elements of a row of A meet.
#[inline(always)]
fn chosen(mfma: &Mfma, layout: &InputLayout, index: &Lanes, row: usize) -> [u16; MAX_K] {
    let modifiers = mfma.modifiers;
    let set = if modifiers.cbsz == 0 {
        usize::from(modifiers.abid)
    } else {
        0
    };
    let per_lane = layout.per_lane();
    let mut chosen = [0; MAX_K];
    for group in 0..layout.groups() {
        let word = index[layout.first_lane(0, group) + row];
        for slot in 0..per_lane {
            let k = group * per_lane + slot;
            let two = word >> (set * layout.index_bits() + 2 * slot) & 3;
            chosen[k] = (k / 2 * 4) as u16 + two as u16;
        }
    }
    chosen
}

#[inline(always)]
fn rows<V: Vector, const N: usize, const C: usize>(
    v: V,
    job: &mut Job<'_>,
    rule: Rule,
    fill: Fill,
) {
    let mfma = job.mfma;
    let (a_layout, b_layout, d_layout) = (mfma.a_layout(), mfma.b_layout(), mfma.d_layout());
    let k = a_layout.k();
    let broadcast = match mfma.form.kind {
        Kind::Dense => (1 << mfma.modifiers.cbsz) - 1,
        _ => 0,
    };
    let sparse = job.sources.index.filter(|_| mfma.form.kind == Kind::Sparse);
    for block in 0..mfma.form.blocks {
        let a_block = (block & !broadcast) | (usize::from(mfma.modifiers.abid) & broadcast);
        let a_at = a_block * k * N;
        let b_at = block * b_layout.k() * N;
        for first in (0..N).step_by(4) {
            let place = d_layout.place(block, first, 0);
            let registers = &mut job.d[place.register..place.register + 4];
            let mut lines = Lines {
                registers,
                lane: place.lane,
            };
            let work = Work {
                rule,
                fill,
                a: &*job.a,
                a_at: a_at + first,
                b: &*job.b,
                b_at,
                row: &IN_ORDER[..k],
            };
            let Some(index) = sparse else {
                multiply::<V, 4, N, C>(v, &work, &mut lines);
                continue;
            };
            for line in 0..4 {
                let chosen = chosen(mfma, &a_layout, index, first + line);
                let work = Work {
                    a_at: a_at + first + line,
                    row: &chosen[..k],
                    ..work
                };
                let mut lines = Lines {
                    registers: &mut lines.registers[line..],
                    lane: place.lane,
                };
                multiply::<V, 1, N, C>(v, &work, &mut lines);
            }
        }
    }
}

/// Rows of A to multiply: where their elements of the first k are, and which rows of B they
/// meet, of those that begin at `b_at`.
struct Work<'a> {
    rule: Rule,
    fill: Fill,
    a: &'a Plane,
    a_at: usize,
    b: &'a Plane,
    b_at: usize,
    row: &'a [u16],
}

/// Multiplies `R` rows of A with B and adds to as many lines of D.
#[inline(always)]
fn multiply<V: Vector, const R: usize, const N: usize, const C: usize>(
    v: V,
    work: &Work<'_>,
    lines: &mut Lines<'_>,
) {
    let row = work.row;
    if work.fill == Fill::Values {
        let a = part::<_, N>(&work.a.value, work.a_at);
        let b = part::<_, N>(&work.b.value, work.b_at);
        let mut acc = [[v.float(0.0); C]; R];
        for (r, acc) in acc.iter_mut().enumerate() {
            for (c, acc) in acc.iter_mut().enumerate() {
                *acc = lines.floats(v, r, c);
            }
        }
        plain::chain(v, a, row, b, &mut acc);
        for (r, acc) in acc.iter().enumerate() {
            for (c, acc) in acc.iter().enumerate() {
                lines.set_floats(v, r, c, *acc);
            }
        }
        return;
    }
    for c in 0..C {
        let b_at = work.b_at + c * V::LANES;
        if work.fill == Fill::Integers {
            let a = part::<_, N>(&work.a.significand, work.a_at);
            let b = part::<_, N>(&work.b.significand, b_at);
            let mut acc = [v.int(0); R];
            for (r, acc) in acc.iter_mut().enumerate() {
                *acc = lines.ints(v, r, c);
            }
            plain::integers(v, a, row, b, &mut acc);
            for (r, acc) in acc.iter().enumerate() {
                lines.set_ints(v, r, c, *acc);
            }
            continue;
        }
        let a = Factors {
            significand: &work.a.significand,
            exponent: &work.a.exponent,
            at: work.a_at,
            stride: N,
            row,
        };
        let b = Columns {
            significand: &work.b.significand,
            exponent: &work.b.exponent,
            at: b_at,
            stride: N,
        };
        let mut acc = [v.float(0.0); R];
        for (r, acc) in acc.iter_mut().enumerate() {
            *acc = lines.floats(v, r, c);
        }
        exact::rows(v, work.rule, &a, &b, &mut acc);
        for (r, acc) in acc.iter().enumerate() {
            lines.set_floats(v, r, c, *acc);
        }
    }
}

#[inline(always)]
fn part<T, const N: usize>(plane: &[T], at: usize) -> Part<'_, T> {
    Part {
        plane,
        at,
        stride: N,
    }
}

/// Rows of D: the same lanes of registers that follow each other. Their columns are read
/// and written a vector at a time.
struct Lines<'a> {
    registers: &'a mut [Lanes],
    lane: usize,
}

impl Lines<'_> {
    #[inline(always)]
    fn words<V: Vector>(&mut self, _: V, line: usize, c: usize) -> &mut [u32] {
        &mut self.registers[line][self.lane + c * V::LANES..][..V::LANES]
    }

    #[inline(always)]
    fn floats<V: Vector>(&mut self, v: V, line: usize, c: usize) -> V::Float {
        v.floats(bytemuck::cast_slice(self.words(v, line, c)))
    }

    #[inline(always)]
    fn set_floats<V: Vector>(&mut self, v: V, line: usize, c: usize, x: V::Float) {
        v.store_floats(x, bytemuck::cast_slice_mut(self.words(v, line, c)));
    }

    #[inline(always)]
    fn ints<V: Vector>(&mut self, v: V, line: usize, c: usize) -> V::Int {
        v.ints(bytemuck::cast_slice(self.words(v, line, c)))
    }

    #[inline(always)]
    fn set_ints<V: Vector>(&mut self, v: V, line: usize, c: usize, x: V::Int) {
        v.store_ints(x, bytemuck::cast_slice_mut(self.words(v, line, c)));
    }
}
