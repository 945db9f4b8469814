//! Code objects as programs hand them over: an address without a size, one object or a
//! bundle of several.

use cairn_codeobj::{Arch, CodeObject};

use crate::error::{Code, Result, refuse};

/// How bundles begin.
const BUNDLE: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
/// How compressed bundles begin.
const COMPRESSED: &[u8] = b"CCOB";
/// Most entries of a bundle, and most bytes of an image.
const MAX_ENTRIES: u64 = 1024;
const MAX_BYTES: u64 = 1 << 31;

/// Bytes of an image whose end is not known: so many at an offset, if there can be.
pub(crate) trait Source {
    fn bytes(&self, offset: u64, count: u64) -> Option<&[u8]>;
}

impl Source for [u8] {
    fn bytes(&self, offset: u64, count: u64) -> Option<&[u8]> {
        let end = offset.checked_add(count)?;
        self.get(usize::try_from(offset).ok()?..usize::try_from(end).ok()?)
    }
}

/// The code object in an image that this architecture runs.
pub(crate) fn object(image: &(impl Source + ?Sized), name: &str, arch: Arch) -> Result<Vec<u8>> {
    let malformed = |what: &str| {
        let message =
            format_args!("{name}: {what}; build it with `cargo xtask kernels build --arch {arch}`");
        refuse(Code::INVALID_IMAGE, message)
    };
    let starts = |with: &[u8]| image.bytes(0, with.len() as u64) == Some(with);
    if starts(BUNDLE) {
        let Some(entries) = entries(image) else {
            return malformed("the bundle of code objects is damaged");
        };
        return of_bundle(image, name, &entries, arch);
    }
    if starts(COMPRESSED) {
        return malformed("compressed bundles are not read, use -fno-offload-compress");
    }
    match elf(image, 0) {
        Some(bytes) => Ok(bytes.to_vec()),
        None => malformed("this is no code object"),
    }
}

/// An entry of a bundle: what it is for, where it is, its size.
type Entry = (String, u64, u64);

fn entries(image: &(impl Source + ?Sized)) -> Option<Vec<Entry>> {
    let number = |at| Some(u64::from_le_bytes(image.bytes(at, 8)?.try_into().ok()?));
    let mut at = BUNDLE.len() as u64;
    let count = number(at).filter(|count| *count <= MAX_ENTRIES)?;
    at += 8;
    let mut entries = Vec::new();
    for _ in 0..count {
        let (offset, size, length) = (number(at)?, number(at + 8)?, number(at + 16)?);
        let name = image.bytes(at + 24, Some(length).filter(|length| *length < 4096)?)?;
        entries.push((String::from_utf8_lossy(name).into_owned(), offset, size));
        at += 24 + length;
    }
    Some(entries)
}

fn of_bundle(
    image: &(impl Source + ?Sized),
    name: &str,
    entries: &[Entry],
    arch: Arch,
) -> Result<Vec<u8>> {
    let targets: Vec<_> = entries.iter().map(|(name, ..)| target(name)).collect();
    let wanted = [arch.name(), Arch::Gfx94Generic.name()];
    let found = wanted.iter().find_map(|wanted| {
        let at = targets.iter().position(|target| runs(target, wanted))?;
        let (_, offset, size) = entries[at];
        (size <= MAX_BYTES)
            .then(|| image.bytes(offset, size))
            .flatten()
    });
    if let Some(bytes) = found {
        return Ok(bytes.to_vec());
    }
    let has: Vec<_> = targets
        .into_iter()
        .filter(|target| !target.is_empty())
        .collect();
    let message = format_args!(
        "{name} has code for {}, and the simulated devices are {arch}; build it with --offload-arch={arch}, or set CAIRN_SIM",
        if has.is_empty() {
            "no architecture".to_owned()
        } else {
            has.join(", ")
        }
    );
    refuse(Code::NO_BINARY_FOR_GPU, message)
}

/// `gfx942:xnack-` of `hipv4-amdgcn-amd-amdhsa--gfx942:xnack-`; empty for the host's entry.
fn target(name: &str) -> &str {
    name.find("gfx").map_or("", |at| &name[at..])
}

/// True when a target runs on this architecture with ECC and without replay of page faults.
fn runs(target: &str, arch: &str) -> bool {
    let mut parts = target.split(':');
    parts.next() == Some(arch) && parts.all(|part| part != "xnack+" && part != "sramecc-")
}

/// The bytes of an ELF file, to the end of what its headers tell of.
fn elf(image: &(impl Source + ?Sized), start: u64) -> Option<&[u8]> {
    const HEADER: u64 = 64;
    let header = image.bytes(start, HEADER)?;
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let number = |at: usize, bytes: usize| {
        let field = &header[at..at + bytes];
        field
            .iter()
            .rev()
            .fold(0, |value, byte| value << 8 | u64::from(*byte))
    };
    let sections = number(40, 8).checked_add(number(58, 2) * number(60, 2))?;
    let segments = number(32, 8).checked_add(number(54, 2) * number(56, 2))?;
    let mut end = sections.max(segments).max(HEADER);
    // Code objects have their sections at the end; a stripped one ends with a segment.
    if number(54, 2) == 56 {
        for at in 0..number(56, 2) {
            let header =
                image.bytes(start.checked_add(number(32, 8))?.checked_add(56 * at)?, 56)?;
            let part = |at: usize| {
                header[at..at + 8]
                    .iter()
                    .rev()
                    .fold(0, |value, byte| value << 8 | u64::from(*byte))
            };
            end = end.max(part(8).checked_add(part(32))?);
        }
    }
    image.bytes(start, Some(end).filter(|end| *end <= MAX_BYTES)?)
}

/// Reads a code object for an architecture.
pub(crate) fn check(bytes: &[u8], name: &str, arch: Arch) -> Result {
    match CodeObject::parse(bytes) {
        Ok(object) if object.target.arch == arch || object.target.arch == Arch::Gfx94Generic => {
            Ok(())
        }
        Ok(object) => {
            let made = object.target;
            let message = format_args!(
                "{name}: the code object is for {made}, and the simulated devices are {arch}; build it with --arch {arch}, or set CAIRN_SIM={}",
                made.arch
            );
            refuse(Code::NO_BINARY_FOR_GPU, message)
        }
        Err(cairn_codeobj::CodeObjectError::UnsupportedProcessor { name: other, .. }) => {
            let message = format_args!(
                "{name}: the code object is for {other}, and the simulated devices are {arch}; build it with --arch {arch}"
            );
            refuse(Code::NO_BINARY_FOR_GPU, message)
        }
        Err(error) => {
            let message = format_args!(
                "{name}: the code object cannot be read: {error}; build it again with `cargo xtask kernels build --arch {arch}`"
            );
            refuse(Code::INVALID_IMAGE, message)
        }
    }
}
