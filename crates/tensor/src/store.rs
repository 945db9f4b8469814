//! Named tensors that live between runs: inputs, parameters, states.

use std::collections::BTreeMap;

use cairn_graph::TensorType;

use crate::buffer::Buffer;
use crate::error::TensorError;
use crate::host::HostTensor;

/// Inputs, parameters and states by name. Programs find their leaves here once
/// and then use positions.
#[derive(Debug, Default)]
pub struct Store {
    positions: BTreeMap<String, usize>,
    names: Vec<String>,
    tensors: Vec<HostTensor>,
    generation: u64,
    /// Memory for values in between, shared by all programs that run here.
    arena: Option<Buffer>,
    /// The program whose values the arena holds.
    arena_owner: u64,
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
            Some(position) => self.tensors[*position] = tensor,
            None => {
                self.positions.insert(name.clone(), self.tensors.len());
                self.names.push(name);
                self.tensors.push(tensor);
            }
        }
    }

    /// Makes sure a tensor of this name and type exists, zeros if new.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn ensure(&mut self, name: &str, ty: &TensorType) -> Result<(), TensorError> {
        if self.get(name).is_none_or(|tensor| tensor.ty() != ty) {
            self.insert(name, HostTensor::zeros(ty.clone())?);
        }
        Ok(())
    }

    /// The tensor of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&HostTensor> {
        self.positions
            .get(name)
            .map(|position| &self.tensors[*position])
    }

    /// The tensor of this name, to write.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut HostTensor> {
        self.positions
            .get(name)
            .map(|position| &mut self.tensors[*position])
    }

    /// Names and tensors in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &HostTensor)> + '_ {
        self.names.iter().map(String::as_str).zip(&self.tensors)
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.tensors.iter().map(|tensor| tensor.bytes().len()).sum()
    }

    /// Bytes of the arena that programs share.
    #[must_use]
    pub fn arena_bytes(&self) -> usize {
        self.arena.as_ref().map_or(0, Buffer::len)
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

    /// The arena, if it still holds the values of program `owner`.
    pub(crate) fn arena_of(&self, owner: u64) -> Option<&Buffer> {
        self.arena.as_ref().filter(|_| self.arena_owner == owner)
    }

    /// Changes whenever a tensor is added or replaced.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }

    pub(crate) fn at(&self, position: usize) -> &HostTensor {
        &self.tensors[position]
    }
}
