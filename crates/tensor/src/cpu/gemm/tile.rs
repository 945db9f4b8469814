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

/// How the panels of the packed operands are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Panels {
    /// `A`: `[k][MR]`. `B`: `[k][NR]`.
    Outer,
    /// `A`: rows of `k` elements, any stride. `B`: `[k / 32][NR / 16][16][16][2]`, the
    /// order `tdpbf16ps` and `vdpbf16ps` multiply pairs of bf16 in.
    Pairs,
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

    /// Adds the product of `a` (`MR x k`) and `b` (`k x NR`) to `acc`, a matrix of
    /// `MR x NR` whose rows are `ld` elements apart; starts from zero unless `load`.
    ///
    /// # Safety
    /// The processor has the instruction set of the kernel and `begin` was called on
    /// this thread. `k` is a multiple of `KU`. `a`, `b` and `acc` cover what is read and
    /// written: `a` is `k * MR` elements, or for [`Panels::Pairs`] `MR` rows of `k`
    /// elements `a_stride` apart; `b` is `k * NR` elements; nobody else uses `acc`.
    unsafe fn run(
        k: usize,
        a: *const Self::Packed,
        a_stride: usize,
        b: *const Self::Packed,
        acc: *mut Self::Acc,
        ld: usize,
        load: bool,
    );
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

    unsafe fn run(
        k: usize,
        a: *const T,
        _: usize,
        b: *const T,
        acc: *mut T,
        ld: usize,
        load: bool,
    ) {
        // SAFETY: by the contract of `run` the panels hold `k` rows of `MR` and `NR`,
        // and each row of `acc` has `NR` elements that nobody else uses.
        let (a, b, rows) = unsafe {
            (
                std::slice::from_raw_parts(a.cast::<[T; PORTABLE_MR]>(), k),
                std::slice::from_raw_parts(b.cast::<[T; PORTABLE_NR]>(), k),
                std::array::from_fn::<_, PORTABLE_MR, _>(|i| {
                    &mut *acc.add(i * ld).cast::<[T; PORTABLE_NR]>()
                }),
            )
        };
        let mut sum = [[T::default(); PORTABLE_NR]; PORTABLE_MR];
        if load {
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
