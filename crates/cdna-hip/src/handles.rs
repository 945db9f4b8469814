//! Handles: numbers that stand for objects, so that any value can be checked.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Code, Result};

/// Locks, also after a panic elsewhere: the data are plain and always whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The objects of a kind, by their handles.
#[derive(Debug)]
pub(crate) struct Table<T> {
    /// The first handle; each kind has a range of its own.
    first: usize,
    known: Mutex<(usize, BTreeMap<usize, Arc<T>>)>,
}

impl<T> Table<T> {
    /// A table whose handles lie in the range of this number.
    pub(crate) const fn new(kind: usize) -> Self {
        Self {
            first: kind << 56,
            known: Mutex::new((0, BTreeMap::new())),
        }
    }

    /// A handle for an object.
    pub(crate) fn insert(&self, object: Arc<T>) -> usize {
        let mut known = lock(&self.known);
        known.0 += 16;
        let handle = self.first + known.0;
        known.1.insert(handle, object);
        handle
    }

    /// The object.
    pub(crate) fn get(&self, handle: usize) -> Result<Arc<T>> {
        let known = lock(&self.known);
        known.1.get(&handle).cloned().ok_or(Code::INVALID_HANDLE)
    }

    /// Forgets a handle and gives its object.
    pub(crate) fn remove(&self, handle: usize) -> Result<Arc<T>> {
        let removed = lock(&self.known).1.remove(&handle);
        removed.ok_or(Code::INVALID_HANDLE)
    }

    /// Every object.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        lock(&self.known).1.values().cloned().collect()
    }

    /// The handle of the first object for which this holds.
    pub(crate) fn find(&self, is_it: impl Fn(&T) -> bool) -> Option<usize> {
        let known = lock(&self.known);
        let found = known.1.iter().find(|(_, object)| is_it(object));
        found.map(|(handle, _)| *handle)
    }

    /// Forgets all for which this holds.
    pub(crate) fn remove_all(&self, gone: impl Fn(&T) -> bool) {
        let mut removed = Vec::new();
        lock(&self.known).1.retain(|_, object| {
            let gone = gone(object);
            if gone {
                removed.push(Arc::clone(object));
            }
            !gone
        });
        // Objects end outside of the lock, as they may look into tables.
        drop(removed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_handles_that_were_given_are_taken() {
        let table = Table::new(3);
        let (a, b) = (table.insert(Arc::new(1)), table.insert(Arc::new(2)));
        assert_eq!(
            (table.get(a).map(|x| *x), table.get(b).map(|x| *x)),
            (Ok(1), Ok(2))
        );
        assert_eq!(table.find(|x| *x == 2), Some(b));
        assert_eq!(table.remove(a).map(|x| *x), Ok(1));
        for wrong in [a, 0, 1, usize::MAX, b + 1] {
            assert!(table.get(wrong).is_err() && table.remove(wrong).is_err());
        }
        table.remove_all(|x| *x == 2);
        assert!(table.get(b).is_err());
    }
}
