//! Dividing a kernel's working space.

/// Every piece starts at a multiple of this many bytes.
pub(super) const ALIGN: usize = 64;

/// Bytes of a piece of `n` elements of `T`.
pub(super) fn bytes<T>(n: usize) -> usize {
    (n * size_of::<T>()).next_multiple_of(ALIGN)
}

/// Takes `n` elements of `T` off the front of `space`.
///
/// # Panics
/// When the space is shorter than planned.
pub(super) fn take<'a, T: bytemuck::Pod>(space: &mut &'a mut [u8], n: usize) -> &'a mut [T] {
    let (piece, rest) = std::mem::take(space).split_at_mut(bytes::<T>(n));
    *space = rest;
    bytemuck::cast_slice_mut(&mut piece[..n * size_of::<T>()])
}
