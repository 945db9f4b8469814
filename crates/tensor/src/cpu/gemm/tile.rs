//! What a kernel is, and the portable kernels for f32 and f64.

#![expect(
    unsafe_code,
    reason = "SIMD kernels and the disjoint parts of a result"
)]

use super::pack::{Source, View};
use super::store::{self, Target};

/// An accumulator type.
pub(super) trait Float: Source<Self> + Copy + Default + Send + Sync + 'static {
    /// The nearest value of the type.
    fn from_f32(x: f32) -> Self;
    /// The nearest f32.
    fn to_f32(self) -> f32;
    /// The exact f64.
    fn to_f64(self) -> f64;
    /// From f64, rounded.
    fn from_f64(x: f64) -> Self;
    /// `self + a * b`, rounded after each operation.
    fn mul_add_separate(self, a: Self, b: Self) -> Self;
    /// `self + other`.
    fn plus(self, other: Self) -> Self;
}

impl Float for f32 {
    fn from_f32(x: f32) -> Self {
        x
    }
    fn to_f32(self) -> f32 {
        self
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn from_f64(x: f64) -> Self {
        x as Self
    }
    fn mul_add_separate(self, a: Self, b: Self) -> Self {
        self + a * b
    }
    fn plus(self, other: Self) -> Self {
        self + other
    }
}

impl Float for f64 {
    fn from_f32(x: f32) -> Self {
        Self::from(x)
    }
    fn to_f32(self) -> f32 {
        self as f32
    }
    fn to_f64(self) -> f64 {
        self
    }
    fn from_f64(x: f64) -> Self {
        x
    }
    fn mul_add_separate(self, a: Self, b: Self) -> Self {
        self + a * b
    }
    fn plus(self, other: Self) -> Self {
        self + other
    }
}

/// How the panels of the packed operands are laid out. Kernels with [`Tile::IN_PLACE`]
/// also take rows of `A` where they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Panels {
    /// `A`: `[k][MR]`. `B`: `[k][NR]`.
    Outer,
    /// `A`: rows of `k` elements, any stride. `B`: `[k / 32][NR / 16][16][16][2]`, the
    /// order `tdpbf16ps` and `vdpbf16ps` multiply pairs of bf16 in.
    Pairs,
}

/// A panel of `A`: element `(i, k)` is at `first + i * outer_stride + k * k_stride`.
#[derive(Debug, Clone, Copy)]
pub(super) struct PanelA<P> {
    pub first: *const P,
    pub outer_stride: usize,
    pub k_stride: usize,
}

/// The operands of one call of a kernel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operands<P> {
    /// Terms in the panels, a multiple of [`Tile::KU`].
    pub k: usize,
    pub a: PanelA<P>,
    /// `k * NR` elements.
    pub b: *const P,
    /// Memory as long as a panel that is needed next: a kernel may ask the caches for it.
    pub ahead: Option<*const P>,
}

/// A tile of accumulators with rows `ld` elements apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Accumulators<A> {
    pub first: *mut A,
    pub ld: usize,
    /// Start from what is there and not from zero.
    pub load: bool,
}

/// A kernel: multiplies one panel of `A` by one panel of `B` into a tile of `C`.
pub(super) trait Tile: 'static {
    /// Element type of the packed panels.
    type Packed: Copy + Default + Send + Sync + 'static;
    /// Type of the accumulators.
    type Acc: Float;
    /// The name for plans and profiles.
    const NAME: &'static str;
    /// Rows of the tile.
    const MR: usize;
    /// Columns of the tile.
    const NR: usize;
    /// `k` in the panels is rounded up, with zeros, to a multiple of this.
    const KU: usize;
    /// Layout of the panels.
    const PANELS: Panels;
    /// Whether rows of `A` that are contiguous in `k` need no packing.
    const IN_PLACE: bool;
    /// Products of two elements a core adds in one cycle, for choosing blocks.
    const RATE: f64;

    /// Prepares the thread for calls of `run`.
    ///
    /// # Safety
    /// The processor has the instruction set of the kernel.
    unsafe fn begin() {}

    /// Undoes `begin`.
    ///
    /// # Safety
    /// As `begin`.
    unsafe fn end() {}

    /// Packs panels as `pack::panels` does, or returns false.
    ///
    /// # Safety
    /// The processor has the instruction set of the kernel; every element of `view` is
    /// inside its data.
    unsafe fn pack_panels(
        _view: &View<'_, Self::Packed>,
        _first: usize,
        _width: usize,
        _panel: usize,
        _out: &mut [Self::Packed],
    ) -> bool {
        false
    }

    /// Packs rows as `pack::rows` does, or returns false.
    ///
    /// # Safety
    /// As `pack_panels`.
    unsafe fn pack_rows(
        _view: &View<'_, Self::Packed>,
        _first: usize,
        _stride: usize,
        _out: &mut [Self::Packed],
    ) -> bool {
        false
    }

    /// Writes a tile, whose rows are `NR` elements apart, to `C`.
    ///
    /// # Safety
    /// The processor has the instruction set of the kernel; `target` describes memory of
    /// `C` that no other thread uses.
    unsafe fn store(target: &Target<'_, Self::Acc>, acc: &[Self::Acc]) {
        // SAFETY: by contract.
        unsafe { store::store(target, acc, Self::NR) }
    }

    /// Adds the product of `A` (`MR x k`) and `B` (`k x NR`) to `acc` (`MR x NR`).
    ///
    /// # Safety
    /// The processor has the instruction set of the kernel and `begin` was called on
    /// this thread. The operands and `acc` cover what is read and written: `A` has the
    /// strides of a packed panel or, for kernels that read in place, rows contiguous in
    /// `k`; `B` is a packed panel; nobody else uses `acc`.
    unsafe fn run(operands: Operands<Self::Packed>, acc: Accumulators<Self::Acc>);

    /// Asks the caches for the part of `C` that is written next.
    fn expect(_target: &Target<'_, Self::Acc>) {}
}

/// The portable kernel: separate multiplication and addition, so that it has the same
/// bits on every processor.
#[derive(Debug)]
pub(super) struct Portable<T>(std::marker::PhantomData<T>);

const PORTABLE_MR: usize = 4;
const PORTABLE_NR: usize = 8;

impl<T: Float> Tile for Portable<T> {
    type Packed = T;
    type Acc = T;
    const NAME: &'static str = "portable";
    const MR: usize = PORTABLE_MR;
    const NR: usize = PORTABLE_NR;
    const KU: usize = 1;
    const PANELS: Panels = Panels::Outer;
    const IN_PLACE: bool = false;
    const RATE: f64 = 4.0;

    unsafe fn run(operands: Operands<T>, acc: Accumulators<T>) {
        let Operands { k, a, b, .. } = operands;
        // SAFETY: by the contract of `run` the panels hold `k` rows of `MR` and `NR`,
        // and each row of `acc` has `NR` elements that nobody else uses.
        let (a, b, rows) = unsafe {
            (
                std::slice::from_raw_parts(a.first.cast::<[T; PORTABLE_MR]>(), k),
                std::slice::from_raw_parts(b.cast::<[T; PORTABLE_NR]>(), k),
                std::array::from_fn::<_, PORTABLE_MR, _>(|i| {
                    &mut *acc.first.add(i * acc.ld).cast::<[T; PORTABLE_NR]>()
                }),
            )
        };
        let mut sum = [[T::default(); PORTABLE_NR]; PORTABLE_MR];
        if acc.load {
            for (sum, row) in sum.iter_mut().zip(&rows) {
                *sum = **row;
            }
        }
        for (a, b) in a.iter().zip(b) {
            for (sum, &a) in sum.iter_mut().zip(a) {
                for (sum, &b) in sum.iter_mut().zip(b) {
                    *sum = sum.mul_add_separate(a, b);
                }
            }
        }
        for (row, sum) in rows.into_iter().zip(sum) {
            *row = sum;
        }
    }
}
