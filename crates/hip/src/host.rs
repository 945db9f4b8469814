//! Pinned memory of the host, which a device copies from and to by itself.

#![expect(unsafe_code, reason = "memory that HIP gives")]

use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

use cairn_hip_sys::host_malloc;
use cairn_tensor::TensorError;

use crate::api::Api;
use crate::stream::Event;

/// A piece of pinned memory.
#[derive(Debug)]
pub(crate) struct HostBuffer {
    api: Arc<Api>,
    data: *mut u8,
    len: usize,
    /// Recorded after the last copy that reads it.
    pub(crate) read: Event,
}

// SAFETY: owned memory, which is reached only through the buffer.
unsafe impl Send for HostBuffer {}

impl HostBuffer {
    /// So many bytes, more than none.
    pub(crate) fn new(api: &Arc<Api>, len: usize) -> Result<Self, TensorError> {
        let read = Event::untimed(api)?;
        let mut address: *mut c_void = null_mut();
        // SAFETY: writes one address.
        let code = unsafe {
            (api.functions()?.hipHostMalloc)(&raw mut address, len, host_malloc::DEFAULT)
        };
        api.check("hipHostMalloc", code)?;
        // SAFETY: just allocated, with this length; written so that it can be read.
        unsafe { address.cast::<u8>().write_bytes(0, len) };
        Ok(Self {
            api: api.clone(),
            data: address.cast(),
            len,
            read,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Its bytes, when no copy from or to it is under way.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: this many bytes were allocated and written, and the borrow is the only one.
        unsafe { std::slice::from_raw_parts_mut(self.data, self.len) }
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        let Ok(functions) = self.api.functions() else {
            return;
        };
        // SAFETY: allocated by `new`; HIP waits for the copies that use it.
        unsafe { (functions.hipHostFree)(self.data.cast()) };
    }
}

/// Most bytes of a copy that goes through pinned memory; larger ones go directly.
pub(crate) const MAX_STAGED: usize = 1 << 20;
/// Most bytes that copies under way may hold.
const MAX_LENT: usize = 16 << 20;
/// The smallest piece.
const SMALLEST: usize = 4096;

/// How much pinned memory is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostStats {
    /// Bytes held.
    pub held: usize,
    /// How often HIP was asked for memory.
    pub allocs: usize,
    /// How often a piece was used again.
    pub reuses: usize,
}

/// Pieces by size: free ones, and those that a copy still reads. It only keeps account.
#[derive(Debug)]
pub(crate) struct Staging<T> {
    free: BTreeMap<usize, Vec<T>>,
    /// In the order in which their copies were started.
    lent: VecDeque<(usize, T)>,
    lent_bytes: usize,
    stats: HostStats,
}

impl<T> Default for Staging<T> {
    fn default() -> Self {
        Self {
            free: BTreeMap::new(),
            lent: VecDeque::new(),
            lent_bytes: 0,
            stats: HostStats::default(),
        }
    }
}

/// Bytes of the piece that holds `bytes`.
pub(crate) fn piece(bytes: usize) -> usize {
    bytes.max(SMALLEST).next_power_of_two()
}

impl<T> Staging<T> {
    /// A free piece of exactly this size.
    pub(crate) fn take(&mut self, piece: usize) -> Option<T> {
        let found = self.free.get_mut(&piece)?.pop()?;
        self.stats.reuses += 1;
        Some(found)
    }

    /// A piece was allocated.
    pub(crate) fn took(&mut self, piece: usize) {
        self.stats.allocs += 1;
        self.stats.held += piece;
    }

    /// Nothing uses a piece any more.
    pub(crate) fn give(&mut self, piece: usize, what: T) {
        self.free.entry(piece).or_default().push(what);
    }

    /// A copy that was just started reads a piece.
    pub(crate) fn lend(&mut self, piece: usize, what: T) {
        self.lent_bytes += piece;
        self.lent.push_back((piece, what));
    }

    /// Takes back what is `done`, which is told whether it has to wait as too much is lent.
    pub(crate) fn reclaim<E>(
        &mut self,
        mut done: impl FnMut(&T, bool) -> Result<bool, E>,
    ) -> Result<(), E> {
        while let Some((_, first)) = self.lent.front() {
            if !done(first, self.lent_bytes > MAX_LENT)? {
                break;
            }
            if let Some((piece, first)) = self.lent.pop_front() {
                self.lent_bytes -= piece;
                self.give(piece, first);
            }
        }
        Ok(())
    }

    pub(crate) fn stats(&self) -> HostStats {
        self.stats
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn a_piece_is_used_again_when_its_copy_is_done_and_not_before() {
        let mut staging: Staging<u32> = Staging::default();
        assert_eq!(
            (piece(1), piece(4097), piece(1 << 20)),
            (4096, 8192, 1 << 20)
        );
        let done = Cell::new(0);
        let reclaim = |staging: &mut Staging<u32>| {
            let told = staging.reclaim(|number, must| {
                assert!(!must, "little is lent");
                Ok::<_, Infallible>(*number <= done.get())
            });
            told.unwrap();
        };
        for number in 1..=3 {
            assert_eq!(staging.take(4096), None);
            staging.took(4096);
            staging.lend(4096, number);
            reclaim(&mut staging);
        }
        assert_eq!(staging.take(4096), None, "no copy is done");
        done.set(2);
        reclaim(&mut staging);
        assert_eq!(staging.take(8192), None, "another size");
        assert_eq!(staging.take(4096), Some(2));
        assert_eq!(staging.take(4096), Some(1));
        assert_eq!(staging.take(4096), None, "the third copy is not done");
        let wanted = HostStats {
            held: 3 * 4096,
            allocs: 3,
            reuses: 2,
        };
        assert_eq!(staging.stats(), wanted);
    }

    #[test]
    fn too_much_under_way_is_waited_for() {
        let mut staging: Staging<u32> = Staging::default();
        for number in 0..18 {
            staging.lend(MAX_STAGED, number);
        }
        let waited = Cell::new(0);
        let told = staging.reclaim(|_, must| {
            waited.set(waited.get() + u32::from(must));
            Ok::<_, Infallible>(must)
        });
        told.unwrap();
        assert_eq!(waited.get(), 2, "until it is no more than the limit");
        assert_eq!(staging.take(MAX_STAGED), Some(1));
    }

    #[test]
    fn what_waiting_finds_is_told() {
        let mut staging: Staging<u32> = Staging::default();
        staging.lend(4096, 1);
        assert_eq!(staging.reclaim(|_, _| Err("broken")), Err("broken"));
        assert_eq!(staging.take(4096), None);
    }
}
