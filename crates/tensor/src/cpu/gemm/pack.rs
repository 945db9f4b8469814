//! Packing: copies of the operands in the order the kernels read them.
//!
//! Panels are padded with zeros, which add nothing to a sum, so kernels know no edges.

#![expect(unsafe_code, reason = "entry of the SIMD kernels")]

use half::{bf16, f16};

use super::tile::{Panels, Tile};

/// An element type that can be packed as `P`.
pub(super) trait Source<P>: Copy + Send + Sync + 'static {
    /// The same value as `P`.
    fn packed(self) -> P;

    /// Whether both types have the same bits.
    const SAME: bool = false;

    /// The same memory, when both types have the same bits.
    fn same(_: &[Self]) -> Option<&[P]> {
        None
    }
}

impl Source<Self> for f32 {
    fn packed(self) -> Self {
        self
    }
    const SAME: bool = true;
    fn same(data: &[Self]) -> Option<&[Self]> {
        Some(data)
    }
}

impl Source<Self> for f64 {
    fn packed(self) -> Self {
        self
    }
    const SAME: bool = true;
    fn same(data: &[Self]) -> Option<&[Self]> {
        Some(data)
    }
}

impl Source<f32> for bf16 {
    fn packed(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }
}

impl Source<f32> for f16 {
    fn packed(self) -> f32 {
        self.to_f32()
    }
}

impl Source<u16> for bf16 {
    fn packed(self) -> u16 {
        self.to_bits()
    }
    const SAME: bool = true;
    fn same(data: &[Self]) -> Option<&[u16]> {
        Some(bytemuck::cast_slice(data))
    }
}

/// A rectangle of a stored matrix seen as `[outer, k]`: rows of `A`, columns of `B`.
#[derive(Clone, Copy)]
pub(super) struct View<'a, S> {
    /// The stored matrix.
    pub data: &'a [S],
    /// Index of the element at outer 0, k 0.
    pub start: usize,
    /// Elements from one outer index to the next.
    pub outer_stride: usize,
    /// Elements from one k to the next.
    pub k_stride: usize,
    /// Outer indices that exist.
    pub outer: usize,
    /// Terms of the sum that exist.
    pub k: usize,
}

impl<S> View<'_, S> {
    /// The same view of elements that are packed as they are.
    fn same<P>(&self) -> Option<View<'_, P>>
    where
        S: Source<P>,
    {
        let data = S::same(self.data)?;
        Some(View {
            data,
            start: self.start,
            outer_stride: self.outer_stride,
            k_stride: self.k_stride,
            outer: self.outer,
            k: self.k,
        })
    }
}

/// Packs panels of `width` outer indices from `first` on: as many as `out` has pieces of
/// `panel` elements. A panel is `[k][width]` for [`Panels::Outer`], and for
/// [`Panels::Pairs`] in the order of `B`.
///
/// # Safety
/// The processor has the instruction set of `T`.
pub(super) unsafe fn panels<S: Source<T::Packed>, T: Tile>(
    view: &View<'_, S>,
    first: usize,
    width: usize,
    panel: usize,
    out: &mut [T::Packed],
) {
    if let Some(view) = view.same() {
        // SAFETY: by contract.
        if unsafe { T::pack_panels(&view, first, width, panel, out) } {
            return;
        }
    }
    for (i, out) in out.chunks_exact_mut(panel).enumerate() {
        match T::PANELS {
            Panels::Outer => outer_panel(view, first + i * width, width, out),
            Panels::Pairs => pairs_panel(view, first + i * width, width, out),
        }
    }
}

fn outer_panel<S: Source<P>, P: Copy + Default>(
    view: &View<'_, S>,
    first: usize,
    width: usize,
    out: &mut [P],
) {
    let present = width.min(view.outer - first);
    let start = view.start + first * view.outer_stride;
    if present < width {
        out.fill(P::default());
    }
    if view.outer_stride == 1 {
        for (k, row) in out.chunks_exact_mut(width).enumerate().take(view.k) {
            let at = start + k * view.k_stride;
            for (to, &from) in row.iter_mut().zip(&view.data[at..at + present]) {
                *to = from.packed();
            }
        }
    } else {
        for i in 0..present {
            let at = start + i * view.outer_stride;
            let row = view.data[at..].iter().step_by(view.k_stride.max(1));
            let column = out.iter_mut().skip(i).step_by(width);
            for (to, &from) in column.zip(row).take(view.k) {
                *to = from.packed();
            }
        }
    }
}

fn pairs_panel<S: Source<P>, P: Copy + Default>(
    view: &View<'_, S>,
    first: usize,
    width: usize,
    out: &mut [P],
) {
    let present = width.min(view.outer - first);
    let start = view.start + first * view.outer_stride;
    out.fill(P::default());
    for k in 0..view.k {
        let (block, pair, odd) = (k / 32, k % 32 / 2, k % 2);
        let at = start + k * view.k_stride;
        for j in 0..present {
            let tile = block * (width / 16) + j / 16;
            out[tile * 512 + pair * 32 + j % 16 * 2 + odd] =
                view.data[at + j * view.outer_stride].packed();
        }
    }
}

/// Packs rows from `first` on, `stride` elements apart in `out`, filled with zeros up to
/// a multiple of `KU`; rows that do not exist are zeros.
///
/// # Safety
/// The processor has the instruction set of `T`.
pub(super) unsafe fn rows<S: Source<T::Packed>, T: Tile>(
    view: &View<'_, S>,
    first: usize,
    stride: usize,
    out: &mut [T::Packed],
) {
    if let Some(view) = view.same() {
        // SAFETY: by contract.
        if unsafe { T::pack_rows(&view, first, stride, out) } {
            return;
        }
    }
    for (i, row) in out.chunks_exact_mut(stride).enumerate() {
        let outer = first + i;
        if outer >= view.outer {
            row.fill(T::Packed::default());
            continue;
        }
        let at = view.start + outer * view.outer_stride;
        let from = view.data[at..].iter().step_by(view.k_stride.max(1));
        for (to, &from) in row.iter_mut().zip(from).take(view.k) {
            *to = from.packed();
        }
        row[view.k..].fill(T::Packed::default());
    }
}
