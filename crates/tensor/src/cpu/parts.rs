//! Pieces of one slice that the chunks of a job write at the same time.

#![expect(
    unsafe_code,
    reason = "chunks write disjoint parts of outputs and working space"
)]

use std::marker::PhantomData;
use std::ops::Range;

/// A slice borrowed exclusively, to be given out in pieces that do not overlap.
pub(super) struct Parts<'a, T> {
    data: *mut T,
    len: usize,
    borrow: PhantomData<&'a mut [T]>,
}

// SAFETY: only disjoint pieces of an exclusively borrowed slice are given out, which is
// what sending `&mut [T]` pieces to other threads asks of `T`.
unsafe impl<T: Send> Sync for Parts<'_, T> {}

impl<'a, T> Parts<'a, T> {
    pub(super) fn new(data: &'a mut [T]) -> Self {
        Self {
            data: data.as_mut_ptr(),
            len: data.len(),
            borrow: PhantomData,
        }
    }

    /// Number of elements.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The elements in `range`.
    ///
    /// # Panics
    /// When the range is not inside the slice.
    ///
    /// # Safety
    /// No element of the range is borrowed twice at the same time.
    #[expect(
        clippy::mut_from_ref,
        reason = "disjoint pieces are the purpose of the type"
    )]
    pub(super) unsafe fn get(&self, range: Range<usize>) -> &mut [T] {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: inside the slice, and by contract nobody else borrows the range.
        unsafe { std::slice::from_raw_parts_mut(self.data.add(range.start), range.len()) }
    }
}
