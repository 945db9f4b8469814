//! From the accumulators of a tile to `C` and back.

#![expect(
    unsafe_code,
    reason = "SIMD kernels and the disjoint parts of a result"
)]

use cairn_formats::DType;
use half::{bf16, f16};

use super::tile::Float;

/// The part of `C` a tile covers, and what is done to it on the way.
#[derive(Clone, Copy)]
pub(super) struct Target<'a, A> {
    /// First element of the part.
    pub c: *mut u8,
    /// Elements from one row to the next.
    pub ldc: usize,
    /// Rows inside `C`.
    pub rows: usize,
    /// Columns inside `C`.
    pub cols: usize,
    /// Element type of `C`.
    pub dtype: DType,
    /// Bias of the columns from the first one on.
    pub bias: Option<&'a [A]>,
}

/// Reads the part of `C` into the accumulators, whose rows are `ld` apart.
///
/// # Safety
/// `target` describes initialised memory of `C` that no other thread writes.
pub(super) unsafe fn load<A: Float>(target: &Target<'_, A>, acc: &mut [A], ld: usize) {
    for (i, row) in acc.chunks_mut(ld).enumerate().take(target.rows) {
        for (j, to) in row.iter_mut().enumerate().take(target.cols) {
            let at = i * target.ldc + j;
            // SAFETY: `at` is inside the part by the bounds of the loops.
            *to = unsafe {
                match target.dtype {
                    DType::F64 => A::from_f64(*target.c.cast::<f64>().add(at)),
                    DType::BF16 => A::from_f32((*target.c.cast::<bf16>().add(at)).to_f32()),
                    DType::F16 => A::from_f32((*target.c.cast::<f16>().add(at)).to_f32()),
                    _ => A::from_f32(*target.c.cast::<f32>().add(at)),
                }
            };
        }
    }
}

/// Adds the bias, rounds to the type of `C` and writes.
///
/// # Safety
/// `target` describes memory of `C` that no other thread uses.
pub(super) unsafe fn store<A: Float>(target: &Target<'_, A>, acc: &[A], ld: usize) {
    for (i, row) in acc.chunks(ld).enumerate().take(target.rows) {
        let at = i * target.ldc;
        // SAFETY: row `i` of the part has `cols` elements that belong to this thread.
        unsafe {
            match target.dtype {
                DType::F64 => store_row(target, row, at, A::to_f64),
                DType::BF16 => store_row(target, row, at, |x: A| round_bf16(x.to_f32())),
                DType::F16 => store_row(target, row, at, |x: A| f16::from_f32(x.to_f32())),
                _ => store_row(target, row, at, A::to_f32),
            }
        }
    }
}

/// # Safety
/// `target.cols` elements of type `O` from `at` on belong to this thread.
unsafe fn store_row<A: Float, O>(
    target: &Target<'_, A>,
    row: &[A],
    at: usize,
    convert: impl Fn(A) -> O,
) {
    // SAFETY: by contract.
    let out = unsafe { std::slice::from_raw_parts_mut(target.c.cast::<O>().add(at), target.cols) };
    match target.bias {
        Some(bias) => {
            for ((to, &x), &bias) in out.iter_mut().zip(row).zip(bias) {
                *to = convert(x.plus(bias));
            }
        }
        None => {
            for (to, &x) in out.iter_mut().zip(row) {
                *to = convert(x);
            }
        }
    }
}

/// Rounds to the nearest bf16, ties to even, NaN to a quiet NaN; without branches.
fn round_bf16(x: f32) -> bf16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    let quiet = bits >> 16 | 0x40;
    bf16::from_bits(if x.is_nan() { quiet } else { rounded } as u16)
}
