//! Aligned memory that tensors live in.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fmt;
use std::ptr::NonNull;

/// Every buffer starts at a multiple of this many bytes: a cache line, and the
/// width of the widest vector.
pub(crate) const ALIGNMENT: usize = 64;

/// Owned, aligned, zero-initialised bytes. Pages are touched on first use.
pub(crate) struct Buffer {
    data: NonNull<u8>,
    len: usize,
}

// SAFETY: the buffer owns its memory and only gives it out under Rust's borrows.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// `len` zero bytes, or `None` when the machine has not that much memory.
    #[must_use]
    pub(crate) fn zeroed(len: usize) -> Option<Self> {
        if len == 0 {
            return Some(Self {
                data: NonNull::<[u64; 8]>::dangling().cast(),
                len,
            });
        }
        let layout = Layout::from_size_align(len, ALIGNMENT).ok()?;
        // SAFETY: the layout has a size above zero.
        let data = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Self { data, len })
    }

    /// Length in bytes.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The bytes.
    #[must_use]
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: `data` owns `len` initialised bytes, borrowed with `self`.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.len) }
    }

    /// The bytes, to write.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `data` owns `len` initialised bytes, borrowed exclusively with `self`.
        unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr(), self.len) }
    }

    /// First byte, for the executor's arena.
    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.data.as_ptr()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.len == 0 {
            return;
        }
        if let Ok(layout) = Layout::from_size_align(self.len, ALIGNMENT) {
            // SAFETY: allocated in `zeroed` with this layout.
            unsafe { dealloc(self.data.as_ptr(), layout) };
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes)", self.len)
    }
}
