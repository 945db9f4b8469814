//! Named tensors that live between runs: inputs, parameters, states.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use cairn_graph::TensorType;

use crate::buffer::Buffer;
use crate::device::{Address, DeviceBuffer, DeviceMemory};
use crate::error::TensorError;
use crate::host::HostTensor;

/// Inputs, parameters and states by name. Programs find their leaves here once
/// and then use positions.
///
/// A program that runs on a device keeps its leaves in that device's memory from
/// the first run on; the host's copy is made again when it is asked for.
#[derive(Debug, Default)]
pub struct Store {
    positions: BTreeMap<String, usize>,
    names: Vec<String>,
    slots: Vec<Slot>,
    generation: u64,
    /// Memory for values in between, shared by all programs that run here.
    arena: Option<Buffer>,
    device_arena: Option<DeviceBuffer>,
    /// The program whose values the arena holds.
    arena_owner: u64,
}

/// One tensor, in the host's memory, a device's, or both.
#[derive(Debug)]
struct Slot {
    ty: TensorType,
    /// Empty where the device has newer content.
    host: OnceLock<HostTensor>,
    device: Option<Copied>,
}

/// A tensor's copy in a device's memory.
#[derive(Debug)]
struct Copied {
    buffer: DeviceBuffer,
    /// The host has newer content.
    stale: bool,
}

impl Slot {
    fn new(tensor: HostTensor) -> Self {
        Self {
            ty: tensor.ty().clone(),
            host: OnceLock::from(tensor),
            device: None,
        }
    }

    fn host(&self) -> Result<&HostTensor, TensorError> {
        if let Some(tensor) = self.host.get() {
            return Ok(tensor);
        }
        let mut tensor = HostTensor::zeros(self.ty.clone())?;
        if let Some(copied) = &self.device {
            copied.buffer.copy_out(0, tensor.bytes_mut())?;
        }
        Ok(self.host.get_or_init(|| tensor))
    }
}

impl Store {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tensor or replaces the one of this name.
    pub fn insert(&mut self, name: impl Into<String>, tensor: HostTensor) {
        let name = name.into();
        self.generation += 1;
        match self.positions.get(&name) {
            Some(position) => self.slots[*position] = Slot::new(tensor),
            None => {
                self.positions.insert(name.clone(), self.slots.len());
                self.names.push(name);
                self.slots.push(Slot::new(tensor));
            }
        }
    }

    /// Makes sure a tensor of this name and type exists, zeros if new.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn ensure(&mut self, name: &str, ty: &TensorType) -> Result<(), TensorError> {
        if self.ty(name) != Some(ty) {
            self.insert(name, HostTensor::zeros(ty.clone())?);
        }
        Ok(())
    }

    /// The type of the tensor of this name.
    #[must_use]
    pub fn ty(&self, name: &str) -> Option<&TensorType> {
        self.position(name).map(|position| self.ty_at(position))
    }

    /// The tensor of this name, copied from the device where that has newer content.
    ///
    /// # Errors
    /// When the host's memory runs out or the device reports an error.
    pub fn get(&self, name: &str) -> Result<Option<&HostTensor>, TensorError> {
        self.position(name)
            .map(|position| self.slots[position].host())
            .transpose()
    }

    /// The tensor of this name, to write.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn get_mut(&mut self, name: &str) -> Result<Option<&mut HostTensor>, TensorError> {
        let Some(position) = self.position(name) else {
            return Ok(None);
        };
        let slot = &mut self.slots[position];
        slot.host()?;
        if let Some(copied) = &mut slot.device {
            copied.stale = true;
        }
        Ok(slot.host.get_mut())
    }

    /// Names in the order they were added.
    pub fn names(&self) -> impl Iterator<Item = &str> + '_ {
        self.names.iter().map(String::as_str)
    }

    /// Bytes of the tensors, each counted once.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.slots.iter().map(|slot| slot.ty.bytes()).sum()
    }

    /// Bytes of the arena that programs share.
    #[must_use]
    pub fn arena_bytes(&self) -> usize {
        self.arena.as_ref().map_or(0, Buffer::len)
            + self.device_arena.as_ref().map_or(0, DeviceBuffer::len)
    }

    /// An arena of at least `bytes`, now holding the values of program `owner`.
    pub(crate) fn claim_arena(&mut self, bytes: usize, owner: u64) -> Result<(), TensorError> {
        if self.arena.as_ref().is_none_or(|arena| arena.len() < bytes) {
            // The old one goes first: the two need not exist at once.
            self.arena = None;
            self.arena = Some(Buffer::zeroed(bytes).ok_or(TensorError::OutOfMemory { bytes })?);
        }
        self.arena_owner = owner;
        Ok(())
    }

    /// The same in a device's memory; `leaves` are brought there too.
    pub(crate) fn claim_device(
        &mut self,
        memory: &Arc<dyn DeviceMemory>,
        bytes: usize,
        owner: u64,
        leaves: impl Iterator<Item = usize>,
    ) -> Result<(), TensorError> {
        let arena = self.device_arena.as_ref();
        if arena.is_none_or(|arena| arena.len() < bytes || !arena.is_of(memory)) {
            self.device_arena = None;
            self.device_arena = Some(DeviceBuffer::new(memory, bytes)?);
        }
        self.arena_owner = owner;
        for position in leaves {
            let slot = &mut self.slots[position];
            if slot
                .device
                .as_ref()
                .is_some_and(|copied| !copied.buffer.is_of(memory))
            {
                slot.host()?;
                slot.device = None;
            }
            let copied = match &mut slot.device {
                Some(copied) => copied,
                None => slot.device.insert(Copied {
                    buffer: DeviceBuffer::new(memory, slot.ty.bytes())?,
                    stale: true,
                }),
            };
            if let Some(tensor) = slot.host.get().filter(|_| copied.stale) {
                copied.buffer.copy_in(0, tensor.bytes())?;
                copied.stale = false;
            }
        }
        Ok(())
    }

    /// The arena, if it still holds the values of program `owner`.
    pub(crate) fn arena_of(&self, owner: u64) -> Option<&Buffer> {
        self.arena.as_ref().filter(|_| self.arena_owner == owner)
    }

    /// The device's arena, if it still holds the values of program `owner`.
    pub(crate) fn device_arena_of(&self, owner: u64) -> Option<&DeviceBuffer> {
        self.device_arena
            .as_ref()
            .filter(|_| self.arena_owner == owner)
    }

    /// Changes whenever a tensor is added or replaced.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }

    pub(crate) fn ty_at(&self, position: usize) -> &TensorType {
        &self.slots[position].ty
    }

    /// First byte and length of a tensor in the host's memory.
    pub(crate) fn bytes_at(&self, position: usize) -> Option<(*mut u8, usize)> {
        let tensor = self.slots[position].host.get()?;
        Some((tensor.as_ptr(), tensor.bytes().len()))
    }

    /// First byte and length of a tensor in the device's memory.
    pub(crate) fn address_at(&self, position: usize) -> Option<(Address, usize)> {
        let buffer = &self.slots[position].device.as_ref()?.buffer;
        Some((buffer.address(), buffer.len()))
    }

    /// Where the device has newer content of a tensor than the host.
    pub(crate) fn newer_on_device(&self, position: usize) -> Option<Address> {
        let slot = &self.slots[position];
        let copied = slot.device.as_ref().filter(|_| slot.host.get().is_none())?;
        Some(copied.buffer.address())
    }

    /// Makes sure that the host has the tensors that a program reads and writes there.
    pub(crate) fn claim_host(
        &mut self,
        leaves: impl Iterator<Item = usize>,
    ) -> Result<(), TensorError> {
        for position in leaves {
            let slot = &mut self.slots[position];
            slot.host()?;
            slot.device = None;
        }
        Ok(())
    }

    /// The device has written this tensor.
    pub(crate) fn written_on_device(&mut self, position: usize) {
        self.slots[position].host.take();
    }
}
