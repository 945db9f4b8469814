//! Named tensors that live between runs: inputs, parameters, states.

use std::collections::BTreeMap;

use cairn_graph::TensorType;

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
