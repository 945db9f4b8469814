//! Packing: copies of the operands in the order the kernels read them.
//!
//! Panels are padded with zeros, which add nothing to a sum, so kernels know no edges.

use half::{bf16, f16};

use super::tile::{Panels, Tile};

/// An element type that can be packed as `P`.
pub(super) trait Source<P>: Copy + Send + Sync + 'static {
    /// The same value as `P`.
    fn packed(self) -> P;
}

impl Source<Self> for f32 {
    fn packed(self) -> Self {
        self
    }
}

impl Source<Self> for f64 {
    fn packed(self) -> Self {
        self
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

/// Packs one panel of `R` outer indices from `first` on.
///
/// `out` is the panel: for [`Panels::Outer`] `[k][R]`, for [`Panels::Pairs`] the order
/// of `B`. `k` is rounded up to what `out` holds.
pub(super) fn panel<S: Source<T::Packed>, T: Tile>(
    view: &View<'_, S>,
    first: usize,
    width: usize,
    out: &mut [T::Packed],
) {
    match T::PANELS {
        Panels::Outer => outer_panel(view, first, width, out),
        Panels::Pairs => pairs_panel(view, first, width, out),
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

/// Packs `rows` outer indices from `first` on as rows of `stride` elements, filled with
/// zeros behind `k` and for rows that do not exist.
pub(super) fn rows<S: Source<P>, P: Copy + Default>(
    view: &View<'_, S>,
    first: usize,
    stride: usize,
    out: &mut [P],
) {
    for (i, row) in out.chunks_exact_mut(stride).enumerate() {
        let outer = first + i;
        if outer >= view.outer {
            row.fill(P::default());
            continue;
        }
        let at = view.start + outer * view.outer_stride;
        let from = view.data[at..].iter().step_by(view.k_stride.max(1));
        for (to, &from) in row.iter_mut().zip(from).take(view.k) {
            *to = from.packed();
        }
        row[view.k..].fill(P::default());
    }
}
