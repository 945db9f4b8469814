//! Memory that is not the host's: what a backend of a device gives the executor.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use cairn_formats::DType;
use cairn_graph::Shape;

use crate::error::{KernelError, TensorError};

/// An address in a device's memory. Only the device's own backend knows more of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(pub u64);

impl Address {
    /// The address this many bytes further on.
    #[must_use]
    pub fn offset(self, bytes: usize) -> Self {
        Self(self.0 + bytes as u64)
    }
}

/// A point in a device's work, as the device's backend keeps it.
#[derive(Clone, Debug)]
pub struct Mark(pub Arc<dyn Any + Send + Sync>);

/// Work of a device to be started as a whole, as the device's backend keeps it.
#[derive(Clone, Debug)]
pub struct Captured(pub Arc<dyn Any + Send + Sync>);

/// A device's memory. Copies come after what was launched before, and what is
/// launched after them finds them done.
pub trait DeviceMemory: Send + Sync + Debug {
    /// Memory of this many bytes, at a multiple of 256; its content is undefined.
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`] when the device has not that much.
    fn alloc(&self, bytes: usize) -> Result<Address, TensorError>;

    /// Gives back what [`DeviceMemory::alloc`] gave.
    fn free(&self, address: Address, bytes: usize);

    /// Copies from the host.
    ///
    /// # Errors
    /// [`TensorError::Device`] when the device reports one, of earlier work too.
    fn copy_in(&self, to: Address, from: &[u8]) -> Result<(), TensorError>;

    /// Copies to the host, when all that was launched is done.
    ///
    /// # Errors
    /// [`TensorError::Device`] when the device reports one, of earlier work too.
    fn copy_out(&self, from: Address, to: &mut [u8]) -> Result<(), TensorError>;

    /// Waits until all that was launched is done.
    ///
    /// # Errors
    /// [`TensorError::Device`] when any of it failed.
    fn synchronize(&self) -> Result<(), TensorError>;

    /// Copies several pieces to the host and waits once.
    ///
    /// # Errors
    /// As [`DeviceMemory::copy_out`].
    fn copy_out_all(&self, pieces: &mut [(Address, &mut [u8])]) -> Result<(), TensorError> {
        for (from, to) in pieces {
            self.copy_out(*from, to)?;
        }
        Ok(())
    }

    /// Told before so many operators are started, so that an error which shows later can
    /// name them; `first` describes the first.
    fn starting(&self, _operators: usize, _first: &dyn Fn() -> String) {}

    /// The point in the device's work where all that was started is done; `None` for a
    /// device that keeps no times.
    ///
    /// # Errors
    /// [`TensorError::Device`] when the device reports one.
    fn mark(&self) -> Result<Option<Mark>, TensorError> {
        Ok(None)
    }

    /// Microseconds between two points that are behind.
    ///
    /// # Errors
    /// [`TensorError::Device`] when they are not of this device, or not behind.
    fn elapsed(&self, _from: &Mark, _to: &Mark) -> Result<f64, TensorError> {
        Err(unable("keeps no times"))
    }

    /// What [`DeviceMemory::elapsed`] is measured by.
    fn clock(&self) -> &'static str {
        "host"
    }

    /// Captures what `start` would start and does not start it; `None` for a device that
    /// cannot. `start` must have been called before, so that all it needs is loaded.
    ///
    /// # Errors
    /// That of `start`, or [`TensorError::Device`] when the device refuses.
    fn capture(
        &self,
        _start: &mut dyn FnMut() -> Result<(), TensorError>,
    ) -> Result<Option<Captured>, TensorError> {
        Ok(None)
    }

    /// Starts what was captured.
    ///
    /// # Errors
    /// [`TensorError::Device`] when the device refuses.
    fn replay(&self, _work: &Captured) -> Result<(), TensorError> {
        Err(unable("captures nothing"))
    }
}

fn unable(what: &str) -> TensorError {
    TensorError::Device {
        message: format!("the device {what}"),
    }
}

/// An operand of a kernel that is launched on a device.
#[derive(Clone, Copy, Debug)]
pub struct DeviceView<'a> {
    /// Element type.
    pub dtype: DType,
    /// Dims.
    pub shape: &'a Shape,
    /// Strides in elements; `None` when contiguous, as outputs always are.
    pub strides: Option<&'a [usize]>,
    /// The first element.
    pub address: Address,
}

/// What a kernel is launched on.
#[derive(Debug)]
pub struct DeviceArgs<'a> {
    /// One per input; `None` where the input's storage is an output's.
    pub inputs: Vec<Option<DeviceView<'a>>>,
    /// One per output.
    pub outputs: Vec<DeviceView<'a>>,
    /// Working space, as long as the kernel asked for.
    pub scratch: Address,
}

impl<'a> DeviceArgs<'a> {
    /// An input that is never in place.
    ///
    /// # Errors
    /// When it is, or there is no such input: a fault of the executor.
    pub fn input(&self, index: usize) -> Result<DeviceView<'a>, KernelError> {
        let view = self.inputs.get(index).copied().flatten();
        view.ok_or_else(|| KernelError(format!("input {index} is missing or in place")))
    }
}

/// Owned memory of a device.
#[derive(Debug)]
pub(crate) struct DeviceBuffer {
    memory: Arc<dyn DeviceMemory>,
    address: Address,
    len: usize,
}

impl DeviceBuffer {
    pub(crate) fn new(memory: &Arc<dyn DeviceMemory>, len: usize) -> Result<Self, TensorError> {
        Ok(Self {
            memory: memory.clone(),
            address: memory.alloc(len)?,
            len,
        })
    }

    pub(crate) fn address(&self) -> Address {
        self.address
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether it is of this memory.
    pub(crate) fn is_of(&self, memory: &Arc<dyn DeviceMemory>) -> bool {
        Arc::ptr_eq(&self.memory, memory)
    }

    /// Copies these bytes to `offset` in it.
    pub(crate) fn copy_in(&self, offset: usize, bytes: &[u8]) -> Result<(), TensorError> {
        self.memory.copy_in(self.address.offset(offset), bytes)
    }

    /// Copies the bytes at `offset` in it.
    pub(crate) fn copy_out(&self, offset: usize, bytes: &mut [u8]) -> Result<(), TensorError> {
        self.memory.copy_out(self.address.offset(offset), bytes)
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        self.memory.free(self.address, self.len);
    }
}
