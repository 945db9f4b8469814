//! One execution: registers to planes, rows of D, and back to registers.

use std::array;

use super::decode::{Fill, Plane, Reader, SPECIAL};
use super::exact::{self, Factors, Rows};
use super::forms::Kind;
use super::layout::InputLayout;
use super::rules::{self, Mode, Rule};
use super::{Lanes, Mfma, Scales, Sources, plain};

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

/// Runs a job of any type but f64.
#[inline(always)]
pub(super) fn body(job: &mut Job<'_>) {
    let mfma = job.mfma;
    let rule = rules::rule(mfma.arch, mfma.a);
    let fill = match (rule, job.mode) {
        (Rule::Wrapping, _) => Fill::Integers,
        (Rule::Chain, _) | (_, Mode::Fast) => Fill::Values,
        (Rule::Fused(_) | Rule::Split(_), Mode::Exact) => Fill::Parts,
    };
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
        Reader::new(element, mfma.arch).fill(plane, fill, &layout, registers, lanes);
        if let (Kind::Scaled, Some(scales)) = (mfma.form.kind, &job.sources.scales) {
            scale(plane, fill, &layout, &scales[operand]);
        }
    }
    match mfma.form.n {
        4 => rows::<4>(job, rule, fill),
        16 => rows::<16>(job, rule, fill),
        _ => rows::<32>(job, rule, fill),
    }
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
    array::from_fn(|k| {
        let lane = layout.first_lane(0, k / per_lane) + row;
        let bit = set * layout.index_bits() + 2 * (k % per_lane);
        let word = index.get(lane).copied().unwrap_or(0);
        (k / 2 * 4) as u16 + (word >> bit & 3) as u16
    })
}

#[inline(always)]
fn rows<const N: usize>(job: &mut Job<'_>, rule: Rule, fill: Fill) {
    let mfma = job.mfma;
    let (a_layout, b_layout, d_layout) = (mfma.a_layout(), mfma.b_layout(), mfma.d_layout());
    let (m, k) = (a_layout.rows(), a_layout.k());
    let broadcast = match mfma.form.kind {
        Kind::Dense => (1 << mfma.modifiers.cbsz) - 1,
        _ => 0,
    };
    for block in 0..mfma.form.blocks {
        let a_block = (block & !broadcast) | (usize::from(mfma.modifiers.abid) & broadcast);
        let a = a_block * k * m..(a_block + 1) * k * m;
        let b = block * b_layout.k() * N..(block + 1) * b_layout.k() * N;
        for first in (0..m).step_by(4) {
            let place = d_layout.place(block, first, 0);
            let mut lines = Lines::<N> {
                registers: &mut job.d[place.register..place.register + 4],
                lane: place.lane,
            };
            let dense = &IN_ORDER[..k];
            if fill == Fill::Values && job.sources.index.is_none() {
                let b = job.b.value[b.clone()].as_chunks::<N>().0;
                let a = (&job.a.value[a.clone()], first, m);
                let mut acc: [[f32; N]; 4] = array::from_fn(|line| lines.floats(line));
                plain::chain(a, dense, b, &mut acc);
                for (line, acc) in acc.iter().enumerate() {
                    lines.set_floats(line, acc);
                }
                continue;
            }
            for line in 0..4 {
                let indices = job
                    .sources
                    .index
                    .filter(|_| mfma.form.kind == Kind::Sparse)
                    .map(|index| chosen(mfma, &a_layout, index, first + line));
                let row = indices.as_ref().map_or(dense, |chosen| &chosen[..k]);
                let at = first + line;
                match fill {
                    Fill::Integers => {
                        let b = job.b.significand[b.clone()].as_chunks::<N>().0;
                        let a = (&job.a.significand[a.clone()], at, m);
                        let mut acc = lines.integers(line);
                        plain::integers(a, row, b, &mut acc);
                        lines.set_integers(line, &acc);
                    }
                    Fill::Values => {
                        let b = job.b.value[b.clone()].as_chunks::<N>().0;
                        let a = (&job.a.value[a.clone()], at, m);
                        let mut acc = [lines.floats(line)];
                        plain::chain(a, row, b, &mut acc);
                        lines.set_floats(line, &acc[0]);
                    }
                    Fill::Parts => {
                        let b = Rows {
                            significand: job.b.significand[b.clone()].as_chunks::<N>().0,
                            exponent: job.b.exponent[b.clone()].as_chunks::<N>().0,
                        };
                        let a = Factors {
                            significand: &job.a.significand[a.clone()],
                            exponent: &job.a.exponent[a.clone()],
                            at,
                            stride: m,
                            row,
                        };
                        let mut acc = lines.floats(line);
                        exact::row(rule, &a, &b, &mut acc);
                        lines.set_floats(line, &acc);
                    }
                }
            }
        }
    }
}

/// Four rows of D: the same lanes of registers that follow each other.
struct Lines<'a, const N: usize> {
    registers: &'a mut [Lanes],
    lane: usize,
}

impl<const N: usize> Lines<'_, N> {
    #[inline(always)]
    fn words(&mut self, line: usize) -> &mut [u32] {
        &mut self.registers[line][self.lane..self.lane + N]
    }

    #[inline(always)]
    fn floats(&mut self, line: usize) -> [f32; N] {
        let words = self.words(line);
        array::from_fn(|j| f32::from_bits(words[j]))
    }

    #[inline(always)]
    fn set_floats(&mut self, line: usize, values: &[f32; N]) {
        for (word, value) in self.words(line).iter_mut().zip(values) {
            *word = value.to_bits();
        }
    }

    #[inline(always)]
    fn integers(&mut self, line: usize) -> [i32; N] {
        let words = self.words(line);
        array::from_fn(|j| words[j] as i32)
    }

    #[inline(always)]
    fn set_integers(&mut self, line: usize, values: &[i32; N]) {
        for (word, value) in self.words(line).iter_mut().zip(values) {
            *word = *value as u32;
        }
    }
}
