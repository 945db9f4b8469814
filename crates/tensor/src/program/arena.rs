//! The one place where operands become slices of the arena or of the store.

use cairn_graph::TensorType;
use cairn_graph::memory::Storage;

use super::{Place, Step};
use crate::backend::{Args, View, ViewMut};
use crate::error::KernelError;
use crate::store::Store;
use crate::threads::Pool;

/// First byte and length in bytes of an operand's storage from its first
/// element on, or `None` for a leaf that is not bound.
fn locate(
    place: &Place,
    owner: u64,
    store: &Store,
    bindings: &[Option<usize>],
) -> Option<(*mut u8, usize)> {
    let arena = store.arena_of(owner)?;
    let (base, total, start) = match place.storage {
        Storage::Arena { offset, bytes } => (arena.as_ptr(), offset + bytes, offset + place.offset),
        Storage::Leaf(value) => {
            let position = bindings.get(value.0 as usize).copied().flatten()?;
            let (base, total) = store.bytes_at(position)?;
            (base, total, place.offset)
        }
    };
    let len = total.checked_sub(start)?;
    let inside = matches!(place.storage, Storage::Leaf(_)) || total <= arena.len();
    // SAFETY: `start` lies within the allocation, checked just before.
    inside.then(|| (unsafe { base.add(start) }, len))
}

/// The bytes of a contiguous operand.
pub(super) fn bytes_of<'a>(
    place: &Place,
    ty: &TensorType,
    owner: u64,
    store: &'a Store,
    bindings: &[Option<usize>],
) -> Option<&'a [u8]> {
    if place.strides.is_some() {
        return None;
    }
    let (data, len) = locate(place, owner, store, bindings)?;
    let bytes = ty.bytes();
    // SAFETY: in bounds by `locate`; no step runs while this borrow of the arena
    // and the store lives, so nothing writes.
    (bytes <= len).then(|| unsafe { std::slice::from_raw_parts(data, bytes) })
}

/// Runs one step.
pub(super) fn run_step(
    step: &Step,
    owner: u64,
    store: &mut Store,
    bindings: &[Option<usize>],
    pool: &Pool,
) -> Result<(), KernelError> {
    let missing = || KernelError("an operand has no storage".to_owned());
    let mut inputs = Vec::with_capacity(step.inputs.len());
    for (place, operand) in step.inputs.iter().zip(&step.signature.inputs) {
        let Some(place) = place else {
            inputs.push(None);
            continue;
        };
        let (data, len) = locate(place, owner, store, bindings).ok_or_else(missing)?;
        let bytes = if place.strides.is_some() {
            len
        } else {
            operand.ty.bytes().min(len)
        };
        // SAFETY: in bounds by `locate`. The memory plan keeps what a node reads
        // apart from what it writes, except where the input is in place, and then
        // there is no view of it. Inputs may overlap each other: they are only read.
        let data = unsafe { std::slice::from_raw_parts(data, bytes) };
        inputs.push(Some(View {
            dtype: operand.ty.dtype,
            shape: &operand.ty.shape,
            strides: place.strides.as_deref(),
            data,
        }));
    }
    let mut outputs = Vec::with_capacity(step.outputs.len());
    for (place, ty) in step.outputs.iter().zip(&step.signature.outputs) {
        let (data, len) = locate(place, owner, store, bindings).ok_or_else(missing)?;
        if ty.bytes() > len {
            return Err(missing());
        }
        // SAFETY: in bounds; outputs of one node have storage of their own, and
        // the store is borrowed exclusively.
        let data = unsafe { std::slice::from_raw_parts_mut(data, ty.bytes()) };
        outputs.push(ViewMut {
            dtype: ty.dtype,
            shape: &ty.shape,
            data,
        });
    }
    let scratch: &mut [u8] = match step.scratch {
        None => &mut [],
        Some(offset) => {
            let bytes = step.kernel.scratch_bytes();
            let arena = store.arena_of(owner).ok_or_else(missing)?;
            if offset + bytes > arena.len() {
                return Err(missing());
            }
            // SAFETY: in bounds; the plan gives the working space to this node alone.
            unsafe { std::slice::from_raw_parts_mut(arena.as_ptr().add(offset), bytes) }
        }
    };
    step.kernel.run(&mut Args {
        inputs,
        outputs,
        scratch,
        pool,
    })
}
