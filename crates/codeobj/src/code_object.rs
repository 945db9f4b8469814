//! A whole code object: what is in the file, checked for belonging together.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::bytes::range;
use crate::descriptor::DESCRIPTOR_BYTES;
use crate::elf::{self, Elf};
use crate::{
    Arch, CodeObjectError, Feature, KernelDescriptor, KernelMetadata, Relocation, Section, Segment,
    Symbol, SymbolKind, Target, metadata,
};

const NOTE_METADATA: u32 = 32;
const PAGE: u64 = 4096;

/// The most memory the segments may take together.
const MAX_MEMORY: u64 = 1 << 30;

/// The version of the rules a code object follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// ABI 2.
    V4,
    /// ABI 3: hidden arguments tell sizes of grid and workgroup.
    V5,
    /// ABI 4: as V5, and generic processors have versions.
    V6,
}

/// A code object in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeObject {
    /// What it is made for.
    pub target: Target,
    /// The rules it follows.
    pub version: Version,
    /// Its kernels, in the order of the metadata.
    pub kernels: Vec<Kernel>,
    /// What to load where, by address and without overlaps.
    pub segments: Vec<Segment>,
    /// The named parts of the file.
    pub sections: Vec<Section>,
    /// The named addresses.
    pub symbols: Vec<Symbol>,
    /// What to write once the load address is known.
    pub relocations: Vec<Relocation>,
    bytes: Vec<u8>,
}

/// A kernel of a code object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Where its descriptor is, relative to the load address.
    pub descriptor_address: u64,
    /// Where its first instruction is, relative to the load address.
    pub entry: u64,
    /// How many bytes of instructions it has; to the end of the segment when
    /// no symbol tells.
    pub code_bytes: u64,
    /// Its descriptor.
    pub descriptor: KernelDescriptor,
    /// Its metadata.
    pub metadata: KernelMetadata,
}

impl Kernel {
    /// Vector registers that come before the accumulation registers.
    #[must_use]
    pub fn arch_vgprs(&self) -> u32 {
        self.descriptor
            .rsrc1
            .vgprs()
            .min(self.descriptor.rsrc3.accum_offset())
    }
}

impl CodeObject {
    /// Reads a code object.
    ///
    /// # Errors
    /// When the bytes are none, are for another kind of processor, or do not
    /// belong together.
    pub fn parse(bytes: &[u8]) -> Result<Self, CodeObjectError> {
        let elf = Elf::parse(bytes)?;
        let version = match elf.abi {
            2 => Version::V4,
            3 => Version::V5,
            4 => Version::V6,
            other => return Err(CodeObjectError::UnsupportedAbi(other)),
        };
        let target = Target {
            arch: Arch::from_machine((elf.flags & 0xff) as u8)?,
            xnack: Feature::from_bits(elf.flags >> 8),
            sramecc: Feature::from_bits(elf.flags >> 10),
        };
        let memory: u128 = elf
            .segments
            .iter()
            .map(|segment| u128::from(segment.memory_bytes))
            .sum();
        if memory > MAX_MEMORY.into() {
            let what =
                format!("its segments take {memory} bytes of memory, more than {MAX_MEMORY}");
            return Err(CodeObjectError::Malformed(what));
        }
        let metadata = metadata::parse(find_metadata(bytes, &elf.notes)?)?;
        check_target(&target, metadata.target.as_deref())?;
        let mut object = Self {
            target,
            version,
            kernels: Vec::new(),
            segments: elf.segments,
            sections: elf.sections,
            symbols: elf.symbols,
            relocations: elf.relocations,
            bytes: bytes.to_vec(),
        };
        object.check_relocations()?;
        object.kernels = object.kernels_of(metadata.kernels)?;
        Ok(object)
    }

    /// The kernel of this name.
    #[must_use]
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// The bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes the file has for a segment; the rest of it is zero.
    #[must_use]
    pub fn segment_bytes(&self, segment: &Segment) -> &[u8] {
        self.bytes.get(segment.file.clone()).unwrap_or_default()
    }

    /// The bytes of the section of this name.
    #[must_use]
    pub fn section_bytes(&self, name: &str) -> Option<&[u8]> {
        let section = self.sections.iter().find(|section| section.name == name)?;
        self.bytes.get(section.file.clone())
    }

    /// The bytes of the file at an address relative to the load address;
    /// `None` when a segment does not have them all in the file.
    #[must_use]
    pub fn at_address(&self, address: u64, length: u64) -> Option<&[u8]> {
        self.bytes.get(self.file_range(address, length)?)
    }

    /// The instructions of a kernel.
    #[must_use]
    pub fn code(&self, kernel: &Kernel) -> &[u8] {
        self.at_address(kernel.entry, kernel.code_bytes)
            .unwrap_or_default()
    }

    /// The memory the segments span, from the first to the end of the last
    /// page: what a loader has to reserve.
    #[must_use]
    pub fn memory_span(&self) -> Range<u64> {
        let first = self.segments.first().map_or(0, |segment| segment.address);
        let last = self
            .segments
            .last()
            .map_or(0, |segment| segment.address + segment.memory_bytes);
        first & !(PAGE - 1)..last.checked_next_multiple_of(PAGE).unwrap_or(last)
    }

    fn segment_at(&self, address: u64) -> Option<&Segment> {
        let after = self
            .segments
            .partition_point(|segment| segment.address <= address);
        let segment = self.segments.get(after.checked_sub(1)?)?;
        (address - segment.address < segment.memory_bytes).then_some(segment)
    }

    fn file_range(&self, address: u64, length: u64) -> Option<Range<usize>> {
        let segment = self.segment_at(address)?;
        let inside = range(address - segment.address, length)?;
        let start = segment.file.start.checked_add(inside.start)?;
        let end = segment.file.start.checked_add(inside.end)?;
        (end <= segment.file.end).then_some(start..end)
    }

    fn check_relocations(&self) -> Result<(), CodeObjectError> {
        for relocation in &self.relocations {
            let room = self.segment_at(relocation.address).map_or(0, |segment| {
                segment.address + segment.memory_bytes - relocation.address
            });
            if room < relocation.kind.bytes() {
                let what = format!(
                    "a relocation writes to {:#x}, outside every segment",
                    relocation.address
                );
                return Err(CodeObjectError::Malformed(what));
            }
        }
        Ok(())
    }

    fn kernels_of(&self, described: Vec<KernelMetadata>) -> Result<Vec<Kernel>, CodeObjectError> {
        let defined = self.symbols.iter().filter(|symbol| symbol.defined);
        let symbols: BTreeMap<&str, &Symbol> = defined
            .map(|symbol| (symbol.name.as_str(), symbol))
            .collect();
        let mut names = BTreeMap::new();
        let mut kernels = Vec::with_capacity(described.len());
        for metadata in described {
            if names.insert(metadata.name.clone(), ()).is_some() {
                return Err(CodeObjectError::kernel(
                    &metadata.name,
                    "is described twice",
                ));
            }
            kernels.push(self.kernel_of(metadata, &symbols)?);
        }
        Ok(kernels)
    }

    fn kernel_of(
        &self,
        metadata: KernelMetadata,
        symbols: &BTreeMap<&str, &Symbol>,
    ) -> Result<Kernel, CodeObjectError> {
        let name = metadata.name.clone();
        let fault = |what: String| CodeObjectError::kernel(&name, what);
        let symbol = symbols.get(metadata.symbol.as_str()).ok_or_else(|| {
            fault(format!(
                "there is no symbol {} of its descriptor",
                metadata.symbol
            ))
        })?;
        let descriptor = self
            .at_address(symbol.address, DESCRIPTOR_BYTES)
            .and_then(KernelDescriptor::parse)
            .ok_or_else(|| {
                fault(format!(
                    "its descriptor at {:#x} is not in the file",
                    symbol.address
                ))
            })?;
        if descriptor.wave32 || metadata.wavefront_size != Arch::WAVE_LANES {
            return Err(fault(
                "it wants waves of 32 lanes, which its processor has not".to_owned(),
            ));
        }
        let entry = symbol.address.wrapping_add_signed(descriptor.entry_offset);
        let segment = self.segment_at(entry).filter(|segment| segment.executable);
        let Some(segment) = segment.filter(|_| entry.is_multiple_of(256)) else {
            return Err(fault(format!(
                "its first instruction would be at {entry:#x}, where none can be"
            )));
        };
        let rest = (segment.file.len() as u64).saturating_sub(entry - segment.address);
        let function = symbols
            .get(name.as_str())
            .filter(|symbol| symbol.kind == SymbolKind::Function && symbol.address == entry);
        let code_bytes = function.map_or(rest, |symbol| symbol.size.min(rest));
        Ok(Kernel {
            name,
            descriptor_address: symbol.address,
            entry,
            code_bytes,
            descriptor,
            metadata,
        })
    }
}

/// The content of the metadata note.
fn find_metadata<'a>(bytes: &'a [u8], notes: &[Range<usize>]) -> Result<&'a [u8], CodeObjectError> {
    let mut left = bytes.len();
    for part in notes {
        // Parts could share their bytes, and each is searched.
        left = left
            .checked_sub(part.len())
            .ok_or_else(|| CodeObjectError::malformed("the notes overlap"))?;
        let part = bytes.get(part.clone()).unwrap_or_default();
        if let Some(content) = elf::note(part, b"AMDGPU", NOTE_METADATA) {
            return Ok(content);
        }
    }
    Err(CodeObjectError::NoMetadata)
}

/// The metadata names the processor too; both must agree.
fn check_target(target: &Target, described: Option<&str>) -> Result<(), CodeObjectError> {
    let Some(described) = described else {
        return Ok(());
    };
    // Triple, processor, settings: `amdgcn-amd-amdhsa--gfx90a:xnack+`.
    let processor = described.split(':').next().unwrap_or(described);
    let triple = processor.strip_suffix(target.arch.name());
    if triple.is_some_and(|triple| triple.ends_with('-')) {
        return Ok(());
    }
    let what = format!("the header says {target}, the metadata {described}");
    Err(CodeObjectError::Malformed(what))
}
