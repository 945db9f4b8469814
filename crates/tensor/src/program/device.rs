//! Steps of a program whose values live in a device's memory.

use std::sync::Arc;

use cairn_graph::TensorType;
use cairn_graph::memory::Storage;

use super::{Place, Step};
use crate::backend::{Args, View, ViewMut};
use crate::buffer::Buffer;
use crate::device::{Address, DeviceArgs, DeviceMemory, DeviceView};
use crate::error::{KernelError, TensorError};
use crate::host::HostTensor;
use crate::store::Store;
use crate::threads::Pool;

/// Where a program's values are.
pub(super) struct Values<'a> {
    pub(super) memory: &'a Arc<dyn DeviceMemory>,
    pub(super) store: &'a Store,
    pub(super) bindings: &'a [Option<usize>],
    /// Whose values the arena must hold.
    pub(super) owner: u64,
}

impl Values<'_> {
    /// First element and length in bytes of an operand's storage from there on, or
    /// `None` for a leaf that is not bound.
    pub(super) fn locate(&self, place: &Place) -> Option<(Address, usize)> {
        let (base, total, start) = match place.storage {
            Storage::Arena { offset, bytes } => {
                let arena = self.store.device_arena_of(self.owner)?;
                let total = offset + bytes;
                if total > arena.len() {
                    return None;
                }
                (arena.address(), total, offset + place.offset)
            }
            Storage::Leaf(value) => {
                let position = self.bindings.get(value.0 as usize).copied().flatten()?;
                let (base, total) = self.store.address_at(position)?;
                (base, total, place.offset)
            }
        };
        Some((base.offset(start), total.checked_sub(start)?))
    }

    /// A copy of a contiguous operand; `None` for one that has no storage.
    pub(super) fn read(
        &self,
        place: &Place,
        ty: &TensorType,
    ) -> Result<Option<HostTensor>, TensorError> {
        let found = self.locate(place).filter(|_| place.strides.is_none());
        let Some((address, _)) = found.filter(|(_, len)| ty.bytes() <= *len) else {
            return Ok(None);
        };
        let mut tensor = HostTensor::zeros(ty.clone())?;
        self.memory.copy_out(address, tensor.bytes_mut())?;
        Ok(Some(tensor))
    }

    /// Starts one step.
    pub(super) fn run_step(&self, step: &Step, pool: &Pool) -> Result<(), KernelError> {
        let missing = || KernelError("an operand has no storage".to_owned());
        let mut inputs = Vec::with_capacity(step.inputs.len());
        for (place, operand) in step.inputs.iter().zip(&step.signature.inputs) {
            inputs.push(match place {
                None => None,
                Some(place) => {
                    let (address, len) = self.locate(place).ok_or_else(missing)?;
                    let view = DeviceView {
                        dtype: operand.ty.dtype,
                        shape: &operand.ty.shape,
                        strides: place.strides.as_deref(),
                        address,
                    };
                    Some((view, len))
                }
            });
        }
        let mut outputs = Vec::with_capacity(step.outputs.len());
        for (place, ty) in step.outputs.iter().zip(&step.signature.outputs) {
            let (address, len) = self.locate(place).ok_or_else(missing)?;
            if ty.bytes() > len {
                return Err(missing());
            }
            outputs.push(DeviceView {
                dtype: ty.dtype,
                shape: &ty.shape,
                strides: None,
                address,
            });
        }
        if step.on_host {
            return self.run_on_host(step, &inputs, &outputs, pool);
        }
        let arena = self.store.device_arena_of(self.owner).ok_or_else(missing)?;
        let scratch = step.scratch.unwrap_or(0);
        if step.scratch.is_some() && scratch + step.kernel.scratch_bytes() > arena.len() {
            return Err(missing());
        }
        step.kernel.launch(&DeviceArgs {
            inputs: inputs
                .into_iter()
                .map(|input| input.map(|(view, _)| view))
                .collect(),
            outputs,
            scratch: arena.address().offset(scratch),
        })
    }

    /// Another backend's kernel, on copies of the operands in the host's memory.
    fn run_on_host(
        &self,
        step: &Step,
        inputs: &[Option<(DeviceView<'_>, usize)>],
        outputs: &[DeviceView<'_>],
        pool: &Pool,
    ) -> Result<(), KernelError> {
        let failed = |error: TensorError| KernelError(error.to_string());
        let copy = |address: Address, bytes: usize| -> Result<Buffer, TensorError> {
            let mut buffer = Buffer::zeroed(bytes).ok_or(TensorError::OutOfMemory { bytes })?;
            self.memory.copy_out(address, buffer.bytes_mut())?;
            Ok(buffer)
        };
        let mut read = Vec::with_capacity(inputs.len());
        for input in inputs {
            let buffer = input.as_ref().map(|(view, len)| {
                let bytes = match view.strides {
                    Some(_) => *len,
                    None => view.dtype.bytes(view.shape.num_elements()).min(*len),
                };
                copy(view.address, bytes)
            });
            read.push(buffer.transpose().map_err(failed)?);
        }
        // An input that is computed in place is found in its output.
        let mut written = Vec::with_capacity(outputs.len());
        for view in outputs {
            let bytes = view.dtype.bytes(view.shape.num_elements());
            written.push(copy(view.address, bytes).map_err(failed)?);
        }
        let bytes = step.kernel.scratch_bytes();
        let mut scratch =
            Buffer::zeroed(bytes).ok_or_else(|| failed(TensorError::OutOfMemory { bytes }))?;
        let views = inputs.iter().zip(&read).map(|(input, buffer)| {
            let ((view, _), buffer) = input.as_ref().zip(buffer.as_ref())?;
            Some(View {
                dtype: view.dtype,
                shape: view.shape,
                strides: view.strides,
                data: buffer.bytes(),
            })
        });
        step.kernel.run(&mut Args {
            inputs: views.collect(),
            outputs: outputs
                .iter()
                .zip(&mut written)
                .map(|(view, buffer)| ViewMut {
                    dtype: view.dtype,
                    shape: view.shape,
                    data: buffer.bytes_mut(),
                })
                .collect(),
            scratch: scratch.bytes_mut(),
            pool,
        })?;
        for (view, buffer) in outputs.iter().zip(&written) {
            self.memory
                .copy_in(view.address, buffer.bytes())
                .map_err(failed)?;
        }
        Ok(())
    }
}
