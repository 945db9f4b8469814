//! Matrix-core instructions (MFMA, SMFMAC) as pure functions over registers.
//!
//! An instruction is described by a [`Form`] (shape, element types, register layout) and
//! resolved with its modifiers into an [`Mfma`], which multiplies slices of registers.
//! A register is [`Lanes`]: one 32-bit word for each of the 64 lanes of a wave. Matrix
//! instructions ignore EXEC, so every lane takes part.
//!
//! [`Mode::Exact`] gives the bits of an MI300X by the published model of its matrix cores
//! (Xie et al., arXiv 2511.10909). [`Mode::Fast`] accumulates in f32, one fused
//! multiply-add per product, k ascending. gfx950 has no published model: it is computed
//! by the rules of CDNA3, and [`Mfma::label`] says so.
//!
//! Results do not depend on the instruction set of the host.

mod decode;
mod dense;
mod exact;
mod f64_forms;
mod forms;
mod layout;
mod plain;
mod rules;
mod run;
mod simd;
mod vector;

pub use forms::{Accumulator, Arch, Element, Form, Kind};
pub use layout::{InputLayout, OutputLayout, Place};
pub use rules::Mode;

use std::cell::RefCell;

use thiserror::Error;

use decode::Plane;
use run::Job;

/// A vector register: one word a lane.
pub type Lanes = [u32; 64];

/// The modifier fields of the instruction word. What they mean depends on the form; see
/// [`Mfma::new`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Modifiers {
    /// Control broadcast size.
    pub cbsz: u8,
    /// A-matrix broadcast identifier.
    pub abid: u8,
    /// B-matrix lane group pattern.
    pub blgp: u8,
}

/// The block scales of one operand: a register of which each lane gives one E8M0 byte.
#[derive(Debug, Clone, Copy)]
pub struct Scales<'a> {
    /// The register.
    pub lanes: &'a Lanes,
    /// Which byte of each word: bit 0 is the operand's `op_sel`, bit 1 its `op_sel_hi`.
    pub byte: u8,
}

/// What an instruction reads beside the accumulator.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// The registers of A, ascending.
    pub a: &'a [Lanes],
    /// The registers of B, ascending.
    pub b: &'a [Lanes],
    /// The compression indices of A, for [`Kind::Sparse`].
    pub index: Option<&'a Lanes>,
    /// The scales of A and B, for [`Kind::Scaled`].
    pub scales: Option<[Scales<'a>; 2]>,
}

impl<'a> Sources<'a> {
    /// The sources of a dense instruction.
    #[must_use]
    pub fn dense(a: &'a [Lanes], b: &'a [Lanes]) -> Self {
        Self {
            a,
            b,
            index: None,
            scales: None,
        }
    }
}

/// Why an instruction cannot be executed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MatrixError {
    /// The architecture does not have the instruction.
    #[error("{arch} has no {mnemonic}")]
    NotOnArch {
        /// The instruction.
        mnemonic: &'static str,
        /// The architecture.
        arch: Arch,
    },
    /// A modifier has a value that means nothing for this form.
    #[error("{mnemonic} takes a {field} of at most {most}, not {found}")]
    Modifier {
        /// The instruction.
        mnemonic: &'static str,
        /// The field.
        field: &'static str,
        /// The largest value with a meaning.
        most: u8,
        /// The value given.
        found: u8,
    },
    /// An operand has another number of registers than the instruction reads or writes.
    #[error("{mnemonic} takes {expected} registers for {operand}, not {found}")]
    Registers {
        /// The instruction.
        mnemonic: &'static str,
        /// The operand.
        operand: &'static str,
        /// The registers it takes.
        expected: usize,
        /// The registers given.
        found: usize,
    },
    /// An operand that only this kind of instruction has is missing.
    #[error("{mnemonic} needs {operand}")]
    Missing {
        /// The instruction.
        mnemonic: &'static str,
        /// The operand.
        operand: &'static str,
    },
}

/// A matrix instruction with its modifiers, ready to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mfma {
    form: &'static Form,
    arch: Arch,
    a: Element,
    b: Element,
    modifiers: Modifiers,
    a_layout: InputLayout,
    b_layout: InputLayout,
    d_layout: OutputLayout,
}

impl Mfma {
    /// Resolves a form with its modifiers.
    ///
    /// For forms of several blocks, block `x` reads A from the block whose low `cbsz`
    /// bits are `abid` instead. For sparse forms `abid` chooses the set of indices while
    /// `cbsz` is 0. For f8f6f4 forms `cbsz` and `blgp` are the formats of A and B. For
    /// f64 the bits of `blgp` negate A, B and C. Elsewhere `blgp` permutes B's lanes.
    ///
    /// # Errors
    /// [`MatrixError::NotOnArch`] and [`MatrixError::Modifier`].
    pub fn new(form: &'static Form, arch: Arch, modifiers: Modifiers) -> Result<Self, MatrixError> {
        let mnemonic = form.mnemonic;
        if !form.is_on(arch) {
            return Err(MatrixError::NotOnArch { mnemonic, arch });
        }
        let Modifiers { cbsz, abid, blgp } = modifiers;
        let (mut a, mut b) = (form.a, form.b);
        let mut limits = [("cbsz", cbsz, 7), ("abid", abid, 15), ("blgp", blgp, 7)];
        match form.kind {
            Kind::Selected | Kind::Scaled => {
                let last = Element::SELECTABLE.len() as u8 - 1;
                (limits[0].2, limits[2].2) = (last, last);
                let format = |selector: u8| Element::SELECTABLE.get(usize::from(selector));
                a = format(cbsz).copied().unwrap_or(a);
                b = format(blgp).copied().unwrap_or(b);
            }
            Kind::Sparse if cbsz == 0 => {
                limits[1].2 = (32 / form.a_layout(a).index_bits() - 1) as u8;
            }
            Kind::Dense if a != Element::F64 => {
                limits[0].2 = form.blocks.ilog2() as u8;
                limits[1].2 = (1 << cbsz.min(limits[0].2)) - 1;
            }
            Kind::Sparse | Kind::Dense => {}
        }
        for (field, found, most) in limits {
            if found > most {
                return Err(MatrixError::Modifier {
                    mnemonic,
                    field,
                    most,
                    found,
                });
            }
        }
        Ok(Self {
            form,
            arch,
            a,
            b,
            modifiers,
            a_layout: form.a_layout(a),
            b_layout: form.b_layout(b),
            d_layout: form.d_layout(),
        })
    }

    /// The form.
    #[must_use]
    pub fn form(&self) -> &'static Form {
        self.form
    }

    /// The element types of A and B.
    #[must_use]
    pub fn elements(&self) -> [Element; 2] {
        [self.a, self.b]
    }

    /// Where A's elements are, before any broadcast.
    #[must_use]
    pub fn a_layout(&self) -> InputLayout {
        self.a_layout
    }

    /// Where B's elements are, before lanes are permuted.
    #[must_use]
    pub fn b_layout(&self) -> InputLayout {
        self.b_layout
    }

    /// Where the elements of C and D are.
    #[must_use]
    pub fn d_layout(&self) -> OutputLayout {
        self.d_layout
    }

    /// Multiplications and additions of one execution.
    #[must_use]
    pub fn flops(&self) -> u64 {
        let form = self.form;
        let products = form.m * form.n * form.blocks * self.a_layout().k();
        2 * products as u64
    }

    /// What has to be said beside a result: that it follows another architecture's rules.
    #[must_use]
    pub fn label(&self) -> Option<&'static str> {
        rules::label(self.arch, self.a)
    }

    /// D = A * B + C.
    ///
    /// # Errors
    /// [`MatrixError::Registers`] and [`MatrixError::Missing`]; D is then unchanged.
    pub fn execute(
        &self,
        mode: Mode,
        sources: &Sources<'_>,
        c: &[Lanes],
        d: &mut [Lanes],
    ) -> Result<(), MatrixError> {
        self.check(sources, d)?;
        self.expect("C", d.len(), c.len())?;
        d.copy_from_slice(c);
        self.run(mode, sources, d, simd::Level::best());
        Ok(())
    }

    /// D = A * B + D: as [`Mfma::execute`] for the most frequent case, without a copy.
    ///
    /// # Errors
    /// As [`Mfma::execute`].
    pub fn accumulate(
        &self,
        mode: Mode,
        sources: &Sources<'_>,
        d: &mut [Lanes],
    ) -> Result<(), MatrixError> {
        self.check(sources, d)?;
        self.run(mode, sources, d, simd::Level::best());
        Ok(())
    }

    fn check(&self, sources: &Sources<'_>, d: &[Lanes]) -> Result<(), MatrixError> {
        self.expect("A", self.a_layout().registers(), sources.a.len())?;
        self.expect("B", self.b_layout().registers(), sources.b.len())?;
        self.expect("D", self.d_layout().registers(), d.len())?;
        let missing = match self.form.kind {
            Kind::Sparse if sources.index.is_none() => "compression indices",
            Kind::Scaled if sources.scales.is_none() => "block scales",
            _ => return Ok(()),
        };
        Err(MatrixError::Missing {
            mnemonic: self.form.mnemonic,
            operand: missing,
        })
    }

    fn expect(
        &self,
        operand: &'static str,
        expected: usize,
        found: usize,
    ) -> Result<(), MatrixError> {
        if expected == found {
            return Ok(());
        }
        Err(MatrixError::Registers {
            mnemonic: self.form.mnemonic,
            operand,
            expected,
            found,
        })
    }

    fn run(&self, mode: Mode, sources: &Sources<'_>, d: &mut [Lanes], level: simd::Level) {
        thread_local! {
            static PLANES: RefCell<[Box<Plane>; 2]> = RefCell::default();
        }
        PLANES.with_borrow_mut(|[a, b]| {
            let mut job = Job {
                mfma: self,
                mode,
                sources,
                a,
                b,
                d,
            };
            simd::run(level, &mut job);
        });
    }
}

#[cfg(test)]
mod tests;
