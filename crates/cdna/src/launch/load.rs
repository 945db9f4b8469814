//! Loading a code object into memory.

use cairn_codeobj::{CodeObject, CodeObjectError, RelocationKind};

use crate::memory::{Memory, MemoryError};

/// A code object in the memory of a device.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The code object.
    pub object: CodeObject,
    /// What to add to its addresses.
    pub base: u64,
    /// Where the memory begins that it takes.
    pub allocation: u64,
}

/// Why a code object cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// It is none.
    #[error(transparent)]
    Object(#[from] CodeObjectError),
    /// There is no room for it.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// It refers to something that it does not hold.
    #[error("the code object refers to `{0}`, which it does not hold")]
    Undefined(String),
}

impl Loaded {
    /// Reads a code object and puts it into memory.
    ///
    /// # Errors
    /// When the bytes are none, refer to what is not there, or do not fit.
    pub fn new(bytes: &[u8], memory: &mut Memory) -> Result<Self, LoadError> {
        let object = CodeObject::parse(bytes)?;
        let span = object.memory_span();
        let allocation = memory.allocate(span.end - span.start, "code object")?;
        let base = allocation.wrapping_sub(span.start);
        let loaded = Self {
            object,
            base,
            allocation,
        };
        loaded.fill(memory)?;
        Ok(loaded)
    }

    fn fill(&self, memory: &Memory) -> Result<(), LoadError> {
        let span = self.object.memory_span();
        memory.write(self.allocation, &vec![0; (span.end - span.start) as usize])?;
        for segment in &self.object.segments {
            let address = self.base.wrapping_add(segment.address);
            memory.write(address, self.object.segment_bytes(segment))?;
        }
        for relocation in &self.object.relocations {
            let place = self.base.wrapping_add(relocation.address);
            let symbol = relocation.symbol.and_then(|at| self.object.symbols.get(at));
            let start = match symbol {
                Some(symbol) if symbol.defined => self.base.wrapping_add(symbol.address),
                Some(symbol) => return Err(LoadError::Undefined(symbol.name.clone())),
                None => 0,
            };
            let absolute = start.wrapping_add_signed(relocation.addend);
            let value = match relocation.kind {
                RelocationKind::Abs32Lo | RelocationKind::Abs64 | RelocationKind::Abs32 => absolute,
                RelocationKind::Abs32Hi => absolute >> 32,
                RelocationKind::Rel32 | RelocationKind::Rel32Lo | RelocationKind::Rel64 => {
                    absolute.wrapping_sub(place)
                }
                RelocationKind::Rel32Hi => absolute.wrapping_sub(place) >> 32,
                RelocationKind::Relative64 => self.base.wrapping_add_signed(relocation.addend),
            };
            let bytes = value.to_le_bytes();
            memory.write(place, &bytes[..relocation.kind.bytes() as usize])?;
        }
        Ok(())
    }
}
