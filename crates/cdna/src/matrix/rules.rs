//! Which rules a form's sums follow. The one place where architectures could differ.

use super::forms::{Arch, Element};

/// How results are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Bit for bit as the published model of the hardware.
    Exact,
    /// In f32, one fused multiply-add per product.
    Fast,
}

/// How the products of one element of D are added up in [`Mode::Exact`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// One fused multiply-add per product.
    Chain,
    /// Groups of this many products along k are summed as one.
    Fused(usize),
    /// As [`Rule::Fused`], products with even and odd k apart.
    Split(usize),
    /// Integers.
    Wrapping,
}

/// The rule for products with elements of this type in A.
///
/// Nobody has published gfx950's, so it takes those of gfx942. fp6 and fp4 exist on gfx950
/// only and take fp8's: one instruction has all three. A block scale is a part of its
/// elements: it moves their exponents, also the least one of subnormals. The model says
/// nothing of sparse forms; their groups, and what is even and odd, run over the elements
/// of A that are stored.
pub(super) fn rule(_: Arch, a: Element) -> Rule {
    match a {
        Element::F64 | Element::F32 => Rule::Chain,
        Element::Xf32 => Rule::Fused(4),
        Element::F16 | Element::Bf16 => Rule::Fused(8),
        Element::Fp8 | Element::Bf8 | Element::Fp6 | Element::Bf6 | Element::Fp4 => Rule::Split(16),
        Element::I8 => Rule::Wrapping,
    }
}

/// What a result has to be labelled with.
pub(super) fn label(arch: Arch, a: Element) -> Option<&'static str> {
    // Fused multiply-adds and integers leave nothing to guess.
    let known = matches!(rule(arch, a), Rule::Chain | Rule::Wrapping);
    (arch == Arch::Gfx950 && !known).then_some("CDNA3 rules")
}
