//! The ELF part: what to load where, names, and what to patch. Every number in
//! the file is checked before it is used, and nothing is allocated by a number
//! that the file's own size does not bound.

use std::ops::Range;

use crate::CodeObjectError;
use crate::bytes::{i64_at, range, slice, u8_at, u16_at, u32_at, u64_at};

const MACHINE_AMDGPU: u16 = 224;
const OS_ABI_AMDGPU_HSA: u8 = 64;
const TYPE_RELOCATABLE: u16 = 1;
const TYPE_SHARED: u16 = 3;

const SEGMENT_LOAD: u32 = 1;
const SEGMENT_NOTE: u32 = 4;

const SECTION_SYMTAB: u32 = 2;
const SECTION_RELA: u32 = 4;
const SECTION_NOTE: u32 = 7;
const SECTION_NOBITS: u32 = 8;
const SECTION_DYNSYM: u32 = 11;
const FLAG_ALLOCATED: u64 = 2;

/// Names in a file are seldom longer; together they may be as long as the file.
const MAX_NAME: usize = 64 << 10;

/// A part of the file that is loaded into memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Where it lies, relative to the load address.
    pub address: u64,
    /// Its size in memory; what the file does not fill is zero.
    pub memory_bytes: u64,
    /// The part of the file that fills it.
    pub file: Range<usize>,
    /// The alignment of its address.
    pub align: u64,
    /// May be written.
    pub writable: bool,
    /// Holds instructions.
    pub executable: bool,
}

/// A named part of the file, such as `.text` or `.debug_line`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// Where it is loaded; 0 when it is not.
    pub address: u64,
    /// Its bytes in the file; empty when it has none.
    pub file: Range<usize>,
    pub(crate) kind: u32,
    link: u32,
    allocated: bool,
}

/// What a symbol names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// Data: a kernel descriptor or a variable.
    Object,
    /// Code.
    Function,
    /// Anything else.
    Other,
}

/// A named address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Where, relative to the load address; meaningless when not `defined`.
    pub address: u64,
    /// How many bytes it covers.
    pub size: u64,
    /// What it names.
    pub kind: SymbolKind,
    /// False when another object has it.
    pub defined: bool,
}

/// What a relocation writes. S is the symbol's address, A the addend, B the
/// load address and P the address written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocationKind {
    /// 32 bits: the low half of S + A.
    Abs32Lo,
    /// 32 bits: the high half of S + A.
    Abs32Hi,
    /// 64 bits: S + A.
    Abs64,
    /// 32 bits: S + A - P.
    Rel32,
    /// 64 bits: S + A - P.
    Rel64,
    /// 32 bits: S + A, which must fit.
    Abs32,
    /// 32 bits: the low half of S + A - P.
    Rel32Lo,
    /// 32 bits: the high half of S + A - P.
    Rel32Hi,
    /// 64 bits: B + A.
    Relative64,
}

impl RelocationKind {
    fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            1 => Self::Abs32Lo,
            2 => Self::Abs32Hi,
            3 => Self::Abs64,
            4 => Self::Rel32,
            5 => Self::Rel64,
            6 => Self::Abs32,
            10 => Self::Rel32Lo,
            11 => Self::Rel32Hi,
            13 => Self::Relative64,
            _ => return None,
        })
    }

    /// How many bytes it writes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Self::Abs64 | Self::Rel64 | Self::Relative64 => 8,
            _ => 4,
        }
    }
}

/// An address to write once the load address is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Where, relative to the load address.
    pub address: u64,
    /// What.
    pub kind: RelocationKind,
    /// The symbol it takes S from, as an index into the symbols.
    pub symbol: Option<usize>,
    /// The addend.
    pub addend: i64,
}

/// The parts of an AMD GPU ELF file.
#[derive(Debug)]
pub(crate) struct Elf {
    pub(crate) abi: u8,
    pub(crate) flags: u32,
    pub(crate) segments: Vec<Segment>,
    pub(crate) sections: Vec<Section>,
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) relocations: Vec<Relocation>,
    /// The parts of the file that hold notes.
    pub(crate) notes: Vec<Range<usize>>,
}

struct Header {
    abi: u8,
    flags: u32,
    segments: Table,
    sections: Table,
    section_names: u16,
}

/// A table of equal entries; `entry` is at least what is read of one.
struct Table {
    offset: u64,
    entry: u64,
    count: u64,
}

impl Table {
    fn entries<'a>(
        &self,
        bytes: &'a [u8],
        what: &'static str,
    ) -> Result<Vec<&'a [u8]>, CodeObjectError> {
        (0..self.count)
            .map(|index| {
                let at = index
                    .checked_mul(self.entry)
                    .and_then(|from| from.checked_add(self.offset));
                at.and_then(|at| slice(bytes, at, self.entry))
                    .ok_or(out(bytes, what))
            })
            .collect()
    }
}

fn out(bytes: &[u8], what: &'static str) -> CodeObjectError {
    CodeObjectError::OutOfFile {
        what,
        bytes: bytes.len(),
    }
}

/// A range of the file, which must be inside it.
fn inside(
    bytes: &[u8],
    offset: u64,
    length: u64,
    what: &'static str,
) -> Result<Range<usize>, CodeObjectError> {
    range(offset, length)
        .filter(|range| range.end <= bytes.len())
        .ok_or(out(bytes, what))
}

impl Elf {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, CodeObjectError> {
        let header = header(bytes)?;
        let (segments, mut notes) = segments(bytes, &header)?;
        let mut names = Names { left: bytes.len() };
        let sections = sections(bytes, &header, &mut names)?;
        if notes.is_empty() {
            let of_sections = sections
                .iter()
                .filter(|section| section.kind == SECTION_NOTE);
            notes.extend(of_sections.map(|section| section.file.clone()));
        }
        let (table, symbols) = symbols(bytes, &sections, &mut names)?;
        let relocations = relocations(bytes, &sections, table, &symbols)?;
        Ok(Self {
            abi: header.abi,
            flags: header.flags,
            segments,
            sections,
            symbols,
            relocations,
            notes,
        })
    }
}

fn header(bytes: &[u8]) -> Result<Header, CodeObjectError> {
    if bytes.starts_with(b"__CLANG_OFFLOAD_BUNDLE__") || bytes.starts_with(b"CCOB") {
        return Err(CodeObjectError::Bundle);
    }
    if !bytes.starts_with(b"\x7fELF") {
        return Err(CodeObjectError::NotElf);
    }
    let short = || out(bytes, "the ELF header");
    let ident = slice(bytes, 0, 16).ok_or_else(short)?;
    if ident[4..7] != [2, 1, 1] {
        return Err(CodeObjectError::NotAmdGpu(
            "not 64 bits, little-endian".to_owned(),
        ));
    }
    let u16_of = |offset| u16_at(bytes, offset).ok_or_else(short);
    let u64_of = |offset| u64_at(bytes, offset).ok_or_else(short);
    let machine = u16_of(18)?;
    if machine != MACHINE_AMDGPU {
        return Err(CodeObjectError::NotAmdGpu(format!(
            "it is for machine {machine}"
        )));
    }
    if ident[7] != OS_ABI_AMDGPU_HSA {
        let what = format!("its operating system ABI is {}, not HSA", ident[7]);
        return Err(CodeObjectError::NotAmdGpu(what));
    }
    match u16_of(16)? {
        TYPE_SHARED => {}
        TYPE_RELOCATABLE => {
            return Err(CodeObjectError::malformed(
                "a relocatable object: it has to be linked first",
            ));
        }
        other => {
            return Err(CodeObjectError::malformed(format!(
                "ELF type {other} is no code object"
            )));
        }
    }
    let table = |offset: u64, sizes: u64, least: u64| -> Result<Table, CodeObjectError> {
        let entry = u64::from(u16_of(sizes)?);
        let count = u64::from(u16_of(sizes + 2)?);
        if count > 0 && entry < least {
            let what = format!("a table of the ELF file has entries of {entry} bytes");
            return Err(CodeObjectError::malformed(what));
        }
        Ok(Table {
            offset: u64_of(offset)?,
            entry,
            count,
        })
    };
    Ok(Header {
        abi: ident[8],
        flags: u32_at(bytes, 48).ok_or_else(short)?,
        segments: table(32, 54, 56)?,
        sections: table(40, 58, 64)?,
        section_names: u16_of(62)?,
    })
}

type Segments = (Vec<Segment>, Vec<Range<usize>>);

/// The loaded segments, and the parts of the file that are notes.
fn segments(bytes: &[u8], header: &Header) -> Result<Segments, CodeObjectError> {
    let (mut loaded, mut notes) = (Vec::new(), Vec::new());
    for entry in header.segments.entries(bytes, "a program header")? {
        // The size of an entry was checked against what is read here.
        let field = |offset| u64_at(entry, offset).unwrap_or(0);
        let (kind, flags) = (u32_at(entry, 0).unwrap_or(0), u32_at(entry, 4).unwrap_or(0));
        if kind != SEGMENT_LOAD && kind != SEGMENT_NOTE {
            continue;
        }
        let (address, file_bytes, memory_bytes) = (field(16), field(32), field(40));
        let file = inside(bytes, field(8), file_bytes, "a segment")?;
        if kind == SEGMENT_NOTE {
            notes.push(file);
            continue;
        }
        if memory_bytes < file_bytes || address.checked_add(memory_bytes).is_none() {
            let what =
                format!("a segment at {address:#x} of {memory_bytes} bytes holds {file_bytes}");
            return Err(CodeObjectError::malformed(what));
        }
        loaded.push(Segment {
            address,
            memory_bytes,
            file,
            align: field(48).max(1),
            writable: flags & 2 != 0,
            executable: flags & 1 != 0,
        });
    }
    loaded.sort_by_key(|segment| segment.address);
    let overlap = loaded
        .windows(2)
        .any(|pair| pair[0].address + pair[0].memory_bytes > pair[1].address);
    if overlap {
        return Err(CodeObjectError::malformed("two segments overlap in memory"));
    }
    Ok((loaded, notes))
}

/// Reads names, which together may not be longer than the file: many entries
/// could name one long text.
struct Names {
    left: usize,
}

impl Names {
    fn read(&mut self, table: &[u8], offset: u32) -> Result<String, CodeObjectError> {
        let rest = table.get(offset as usize..).unwrap_or(&[]);
        let rest = &rest[..rest.len().min(MAX_NAME)];
        let length = rest
            .iter()
            .position(|byte| *byte == 0)
            .ok_or_else(|| CodeObjectError::malformed("a name in the ELF file has no end"))?;
        self.left = self
            .left
            .checked_sub(length)
            .ok_or_else(|| CodeObjectError::malformed("the names in the ELF file overlap"))?;
        Ok(String::from_utf8_lossy(&rest[..length]).into_owned())
    }
}

fn sections(
    bytes: &[u8],
    header: &Header,
    names: &mut Names,
) -> Result<Vec<Section>, CodeObjectError> {
    let entries = header.sections.entries(bytes, "a section header")?;
    let mut sections = Vec::with_capacity(entries.len());
    for entry in &entries {
        let field = |offset| u64_at(entry, offset).unwrap_or(0);
        let kind = u32_at(entry, 4).unwrap_or(0);
        let file = if kind == SECTION_NOBITS || kind == 0 {
            0..0
        } else {
            inside(bytes, field(24), field(32), "a section")?
        };
        sections.push(Section {
            name: String::new(),
            address: field(16),
            file,
            kind,
            link: u32_at(entry, 40).unwrap_or(0),
            allocated: field(8) & FLAG_ALLOCATED != 0,
        });
    }
    let table = sections
        .get(usize::from(header.section_names))
        .map_or(0..0, |section| section.file.clone());
    if table.is_empty() {
        return Ok(sections);
    }
    for (section, entry) in sections.iter_mut().zip(&entries) {
        section.name = names.read(&bytes[table.clone()], u32_at(entry, 0).unwrap_or(0))?;
    }
    Ok(sections)
}

/// The symbols, and the section they are from: those for dynamic linking, to
/// which relocations refer, or without them the full table.
fn symbols(
    bytes: &[u8],
    sections: &[Section],
    names: &mut Names,
) -> Result<(Option<usize>, Vec<Symbol>), CodeObjectError> {
    let of_kind = |kind| sections.iter().position(|section| section.kind == kind);
    let Some(index) = of_kind(SECTION_DYNSYM).or_else(|| of_kind(SECTION_SYMTAB)) else {
        return Ok((None, Vec::new()));
    };
    let text = sections
        .get(sections[index].link as usize)
        .map_or(0..0, |section| section.file.clone());
    let mut symbols = Vec::new();
    for entry in bytes[sections[index].file.clone()].chunks_exact(24) {
        let info = u8_at(entry, 4).unwrap_or(0);
        symbols.push(Symbol {
            name: match u32_at(entry, 0).unwrap_or(0) {
                0 => String::new(),
                offset => names.read(&bytes[text.clone()], offset)?,
            },
            address: u64_at(entry, 8).unwrap_or(0),
            size: u64_at(entry, 16).unwrap_or(0),
            kind: match info & 15 {
                1 => SymbolKind::Object,
                2 => SymbolKind::Function,
                _ => SymbolKind::Other,
            },
            defined: u16_at(entry, 6).unwrap_or(0) != 0,
        });
    }
    Ok((Some(index), symbols))
}

/// The relocations of loaded memory; those of debugging sections were applied
/// by the linker.
fn relocations(
    bytes: &[u8],
    sections: &[Section],
    table: Option<usize>,
    symbols: &[Symbol],
) -> Result<Vec<Relocation>, CodeObjectError> {
    let mut relocations = Vec::new();
    let wanted = |section: &&Section| section.kind == SECTION_RELA && section.allocated;
    for section in sections.iter().filter(wanted) {
        for entry in bytes[section.file.clone()].chunks_exact(24) {
            let info = u64_at(entry, 8).unwrap_or(0);
            let (number, index) = (info as u32, (info >> 32) as usize);
            if number == 0 {
                continue;
            }
            // Sections could share their bytes and so multiply them.
            if relocations.len() > bytes.len() / 24 {
                return Err(CodeObjectError::malformed("the relocations overlap"));
            }
            let kind = RelocationKind::from_number(number).ok_or_else(|| {
                CodeObjectError::malformed(format!("relocation type {number} is not supported"))
            })?;
            let known = table == Some(section.link as usize) && index < symbols.len();
            if index != 0 && !known {
                let what = format!("a relocation names symbol {index}, which there is not");
                return Err(CodeObjectError::malformed(what));
            }
            relocations.push(Relocation {
                address: u64_at(entry, 0).unwrap_or(0),
                kind,
                symbol: (index != 0).then_some(index),
                addend: i64_at(entry, 16).unwrap_or(0),
            });
        }
    }
    Ok(relocations)
}

/// The content of the first note of this owner and type.
pub(crate) fn note<'a>(notes: &'a [u8], owner: &[u8], kind: u32) -> Option<&'a [u8]> {
    let mut at = 0u64;
    loop {
        let name_bytes = u64::from(u32_at(notes, at)?);
        let content_bytes = u64::from(u32_at(notes, at + 4)?);
        let found = u32_at(notes, at + 8)?;
        let name = slice(notes, at + 12, name_bytes)?;
        let content = at + 12 + name_bytes.next_multiple_of(4);
        if found == kind && name.strip_suffix(b"\0").unwrap_or(name) == owner {
            return slice(notes, content, content_bytes);
        }
        at = content + content_bytes.next_multiple_of(4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_found_by_owner_and_type() {
        let mut notes = Vec::new();
        for (owner, kind, content) in [
            (&b"GNU\0"[..], 32u32, &b"xyz"[..]),
            (b"AMDGPU\0", 32, b"meta"),
        ] {
            for number in [owner.len() as u32, content.len() as u32, kind] {
                notes.extend(number.to_le_bytes());
            }
            for part in [owner, content] {
                notes.extend(part);
                notes.resize(notes.len().next_multiple_of(4), 0);
            }
        }
        assert_eq!(note(&notes, b"AMDGPU", 32), Some(&b"meta"[..]));
        assert_eq!(note(&notes, b"GNU", 32), Some(&b"xyz"[..]));
        assert_eq!(note(&notes, b"AMDGPU", 1), None);
        assert_eq!(note(&notes[..notes.len() - 1], b"AMDGPU", 32), None);
        assert_eq!(note(&[0xff; 64], b"AMDGPU", 32), None);
    }

    #[test]
    fn names_do_not_multiply() {
        let mut names = Names { left: 5 };
        assert_eq!(names.read(b"\0abc\0", 1).as_deref(), Ok("abc"));
        assert!(names.read(b"\0abc\0", 1).is_err());
        assert!(names.read(b"abc", 0).is_err());
        assert!(names.read(b"abc\0", 99).is_err());
    }

    #[test]
    fn what_is_no_gpu_code_is_told() {
        assert_eq!(header(b"").err(), Some(CodeObjectError::NotElf));
        assert_eq!(
            header(b"__CLANG_OFFLOAD_BUNDLE__..").err(),
            Some(CodeObjectError::Bundle)
        );
        assert!(matches!(
            header(b"\x7fELF").err(),
            Some(CodeObjectError::OutOfFile { .. })
        ));
    }
}
