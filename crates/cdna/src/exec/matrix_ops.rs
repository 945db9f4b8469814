//! Matrix instructions: from registers to the functions of [`crate::matrix`].

use std::collections::BTreeSet;

use cairn_codeobj::Arch;
use cairn_codeobj::isa::{Inst, Kind};

use super::{Machine, Route};
use crate::check::FindingKind;
use crate::matrix::{self, Form, InputLayout, MatrixError, Mfma, Mode, Modifiers, Scales, Sources};
use crate::program::Step;
use crate::wave::{Lanes, Wave};

/// The form of an instruction, with its modifiers.
pub(super) fn route(inst: &Inst, arch: Arch) -> Route {
    let name = inst.base_name();
    let Some(form) = Form::find(&name) else {
        return Route::Unsupported;
    };
    let arch = match arch {
        Arch::Gfx950 => matrix::Arch::Gfx950,
        _ => matrix::Arch::Gfx942,
    };
    let modifiers = Modifiers {
        cbsz: inst.matrix.cbsz,
        abid: inst.matrix.abid,
        blgp: inst.matrix.blgp,
    };
    match Mfma::new(form, arch, modifiers) {
        Ok(mfma) => Route::Matrix(Box::new(mfma)),
        Err(error) => Route::Invalid(error.to_string()),
    }
}

/// Copies the registers of a source, spreading a constant.
fn gather(wave: &Wave, inst: &Inst, at: usize, count: usize, out: &mut Vec<Lanes>) {
    out.clear();
    let operand = inst.src[at];
    if let Some(index) = operand.vector_index() {
        out.extend_from_slice(&wave.v[index..index + count]);
        return;
    }
    let f64 = inst.info().upper.contains("_F64_");
    let kind = if f64 { Kind::F64 } else { Kind::F32 };
    let value = wave.scalar(inst, operand, kind);
    for dword in 0..count {
        let half = if f64 && dword % 2 == 1 {
            (value >> 32) as u32
        } else {
            value as u32
        };
        out.push([half; 64]);
    }
}

/// A source inside the register file that D, in the middle, was cut out of.
fn outside<'a>(
    before: &'a [Lanes],
    after: &'a [Lanes],
    after_from: usize,
    first: usize,
    count: usize,
) -> Option<&'a [Lanes]> {
    if first + count <= before.len() {
        return before.get(first..first + count);
    }
    let first = first.checked_sub(after_from)?;
    after.get(first..first + count)
}

impl Machine<'_> {
    /// False when it cannot be executed.
    pub(super) fn matrix(&mut self, wave: &mut Wave, step: &Step, mfma: &Mfma) -> bool {
        let inst = &step.inst;
        let results = mfma.d_layout().registers();
        let Some(to) = inst.dst.vector_index() else {
            return false;
        };
        let sparse = mfma.form().kind == matrix::Kind::Sparse;
        if self.checks.uninitialised {
            define(wave, inst, mfma, sparse, to, results);
        }
        self.counters.matrix_flops += mfma.flops();
        let mode = self.environment.options.matrix;
        let in_place = inst.src[2] == inst.dst && !inst.matrix.scaled;
        let done = if in_place {
            accumulate(wave, inst, mfma, mode, to, results)
        } else {
            None
        };
        let done = done.unwrap_or_else(|| {
            let mut buffers = std::mem::take(&mut self.matrix_buffers);
            let done = general(wave, inst, mfma, mode, sparse, to, results, &mut buffers);
            self.matrix_buffers = buffers;
            done
        });
        if let Err(error) = done {
            self.find(wave, FindingKind::Unsupported, None, error.to_string());
            return false;
        }
        true
    }
}

/// D += A * B in place; `None` where operands overlap or are constants.
fn accumulate(
    wave: &mut Wave,
    inst: &Inst,
    mfma: &Mfma,
    mode: Mode,
    to: usize,
    results: usize,
) -> Option<Result<(), MatrixError>> {
    let (a, b) = (inst.src[0].vector_index()?, inst.src[1].vector_index()?);
    let (before, rest) = wave.v.split_at_mut(to);
    let (d, after) = rest.split_at_mut(results);
    let a = outside(before, after, to + results, a, mfma.a_layout().registers())?;
    let b = outside(before, after, to + results, b, mfma.b_layout().registers())?;
    Some(mfma.accumulate(mode, &Sources::dense(a, b), d))
}

#[allow(clippy::too_many_arguments, reason = "the operands of one instruction")]
fn general(
    wave: &mut Wave,
    inst: &Inst,
    mfma: &Mfma,
    mode: Mode,
    sparse: bool,
    to: usize,
    results: usize,
    buffers: &mut [Vec<Lanes>; 4],
) -> Result<(), MatrixError> {
    let width = |at: usize| usize::from(inst.source_kind(at).map_or(0, Kind::dwords));
    let [a, b, s, d] = buffers;
    gather(wave, inst, 0, width(0), a);
    gather(wave, inst, 1, width(1), b);
    let mut index = [0; 64];
    if sparse {
        wave.fetch(inst, inst.src[2], Kind::B32, 0, &mut index);
        d.clear();
        d.extend_from_slice(&wave.v[to..to + results]);
    } else {
        gather(wave, inst, 2, results, d);
    }
    s.clear();
    for scale in inst.matrix.scale.iter().filter(|_| inst.matrix.scaled) {
        let mut lanes = [0; 64];
        wave.fetch(inst, *scale, Kind::B32, 0, &mut lanes);
        s.push(lanes);
    }
    let sel = inst.matrix.scale_sel;
    let scales = match &s[..] {
        [x, y] => Some([
            Scales {
                lanes: x,
                byte: sel[0],
            },
            Scales {
                lanes: y,
                byte: sel[1],
            },
        ]),
        _ => None,
    };
    let sources = Sources {
        a,
        b,
        index: sparse.then_some(&index),
        scales,
    };
    mfma.accumulate(mode, &sources, d)?;
    wave.v[to..to + results].copy_from_slice(d);
    Ok(())
}

/// Marks the results that hold something: those of rows and columns whose
/// elements all do.
fn define(wave: &mut Wave, inst: &Inst, mfma: &Mfma, sparse: bool, to: usize, results: usize) {
    let mut known = [
        wave.defined(inst.src[0], mfma.a_layout().registers() as u8),
        wave.defined(inst.src[1], mfma.b_layout().registers() as u8),
    ];
    if sparse {
        known[0] &= wave.defined(inst.src[2], 1);
    }
    for scale in inst
        .matrix
        .scale
        .iter()
        .enumerate()
        .filter(|_| inst.matrix.scaled)
    {
        known[scale.0] &= wave.defined(*scale.1, 1);
    }
    let from = if sparse {
        Some(to)
    } else {
        inst.src[2].vector_index()
    };
    let accumulator = |register: usize, wave: &Wave| match from {
        Some(index) => wave.shadow.defined[index + register],
        None => u64::MAX,
    };
    if known == [u64::MAX; 2] {
        if from == Some(to) {
            return;
        }
        for register in 0..results {
            wave.shadow.defined[to + register] = accumulator(register, wave);
        }
        return;
    }
    let (a, b, d) = (mfma.a_layout(), mfma.b_layout(), mfma.d_layout());
    let missing = |layout: InputLayout, known: u64| {
        let lanes = (0..64).filter(|lane| known >> lane & 1 == 0);
        let places = lanes.map(|lane| {
            let (block, row, _) = layout.element(lane, 0);
            (block, row)
        });
        places.collect::<BTreeSet<_>>()
    };
    let (rows, columns) = (missing(a, known[0]), missing(b, known[1]));
    let form = mfma.form();
    let per_element = results * 64 / (form.m * form.n * form.blocks).max(1);
    let mut marks = Vec::with_capacity(results);
    for register in 0..results {
        let first = register / per_element * per_element;
        let lanes = (0..64).filter(|lane| {
            let (block, row, column) = d.element(first, *lane);
            !rows.contains(&(block, row)) && !columns.contains(&(block, column))
        });
        let mask = lanes.fold(0u64, |mask, lane| mask | 1 << lane);
        marks.push(mask & accumulator(register, wave));
    }
    wave.shadow.defined[to..to + results].copy_from_slice(&marks);
}
