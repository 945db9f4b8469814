//! Code objects as programs hand them over: an address without a size, one object or a
//! bundle of several.

use std::borrow::Cow;

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
    fn bytes(&self, offset: u64, count: u64) -> Option<Cow<'_, [u8]>>;
}

impl Source for [u8] {
    fn bytes(&self, offset: u64, count: u64) -> Option<Cow<'_, [u8]>> {
        let end = offset.checked_add(count)?;
        let bytes = self.get(usize::try_from(offset).ok()?..usize::try_from(end).ok()?)?;
        Some(Cow::Borrowed(bytes))
    }
}

/// The code object in an image that this architecture runs.
pub(crate) fn object(image: &(impl Source + ?Sized), name: &str, arch: Arch) -> Result<Vec<u8>> {
    let malformed = |what: &str| {
        let message =
            format_args!("{name}: {what}; build it with `cargo xtask kernels build --arch {arch}`");
        refuse(Code::INVALID_IMAGE, message)
    };
    let starts = |with: &[u8]| {
        let first = image.bytes(0, with.len() as u64);
        first.is_some_and(|first| *first == *with)
    };
    if starts(BUNDLE) {
        let Some(entries) = entries(image) else {
            return malformed("the bundle of code objects is damaged");
        };
        return of_bundle(image, name, &entries, arch);
    }
    if starts(COMPRESSED) {
        return malformed("compressed bundles are not read, use -fno-offload-compress");
    }
    match elf(image) {
        Some(bytes) => Ok(bytes.into_owned()),
        None => malformed("this is no code object"),
    }
}

/// An entry of a bundle: what it is for, where it is, its size.
type Entry = (String, u64, u64);

fn entries(image: &(impl Source + ?Sized)) -> Option<Vec<Entry>> {
    let number = |at| Some(u64::from_le_bytes((*image.bytes(at, 8)?).try_into().ok()?));
    let mut at = BUNDLE.len() as u64;
    let count = number(at).filter(|count| *count <= MAX_ENTRIES)?;
    at += 8;
    let mut entries = Vec::new();
    for _ in 0..count {
        let (offset, size, length) = (number(at)?, number(at + 8)?, number(at + 16)?);
        let name = image.bytes(at + 24, Some(length).filter(|length| *length < 4096)?)?;
        entries.push((String::from_utf8_lossy(&name).into_owned(), offset, size));
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
    let fits = |wanted: &&str| targets.iter().position(|target| runs(target, wanted));
    if let Some(at) = wanted.iter().find_map(fits) {
        let (target, offset, size) = &entries[at];
        let whole = (*size <= MAX_BYTES).then(|| image.bytes(*offset, *size));
        return match whole.flatten() {
            Some(bytes) => Ok(bytes.into_owned()),
            None => refuse(
                Code::INVALID_IMAGE,
                format_args!("{name}: the bundle ends before its code for {target} does"),
            ),
        };
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

/// The number in so many bytes, at most 8.
fn number(bytes: &[u8]) -> u64 {
    let digits = bytes.iter().rev();
    digits.fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// The bytes of an ELF file, to the end of what its headers tell of.
fn elf(image: &(impl Source + ?Sized)) -> Option<Cow<'_, [u8]>> {
    const HEADER: u64 = 64;
    const NO_BITS: u64 = 8;
    let header = image.bytes(0, HEADER)?;
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let field = |at: usize, bytes: usize| number(&header[at..at + bytes]);
    // Each table: where it is, the size and number of its entries, what they should have;
    // where an entry has the offset and size of its part of the file.
    let segments = (field(32, 8), field(54, 2), field(56, 2), 56, 8, 32);
    let sections = (field(40, 8), field(58, 2), field(60, 2), 64, 24, 32);
    let mut end = HEADER;
    for (start, size, count, wanted, offset_at, size_at) in [segments, sections] {
        if count == 0 {
            continue;
        }
        let bytes = (size == wanted).then_some(size * count)?;
        end = end.max(start.checked_add(bytes)?);
        let table = image.bytes(start, bytes)?;
        for entry in table.chunks_exact(size as usize) {
            let at = |at: usize| number(&entry[at..at + 8]);
            if wanted == 64 && number(&entry[4..8]) == NO_BITS {
                continue;
            }
            end = end.max(at(offset_at).checked_add(at(size_at))?);
        }
    }
    image.bytes(0, Some(end).filter(|end| *end <= MAX_BYTES)?)
}

/// Reads a code object for an architecture.
pub(crate) fn check(bytes: &[u8], name: &str, arch: Arch) -> Result {
    match CodeObject::parse(bytes) {
        Ok(object) if object.target.arch == arch || object.target.arch == Arch::Gfx94Generic => {
            Ok(())
        }
        Ok(object) => {
            let made = object.target;
            let or = match made.arch {
                Arch::Gfx942 | Arch::Gfx950 => format!(", or set CAIRN_SIM={}", made.arch),
                _ => String::new(),
            };
            let message = format_args!(
                "{name}: the code object is for {made}, and the simulated devices are {arch}; build it with --arch {arch}{or}"
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::RawImage;

    /// A bundle of these entries.
    fn bundle(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let head: usize = entries.iter().map(|(name, _)| 24 + name.len()).sum();
        let mut at = (BUNDLE.len() + 8 + head) as u64;
        let (mut bytes, mut tail) = (BUNDLE.to_vec(), Vec::new());
        bytes.extend((entries.len() as u64).to_le_bytes());
        for (name, content) in entries {
            for value in [at, content.len() as u64, name.len() as u64] {
                bytes.extend(value.to_le_bytes());
            }
            bytes.extend(name.as_bytes());
            tail.extend_from_slice(content);
            at += content.len() as u64;
        }
        bytes.extend(tail);
        bytes
    }

    #[test]
    fn a_bundle_gives_the_object_for_the_architecture() {
        let all = bundle(&[
            ("host-x86_64-unknown-linux-gnu-", b""),
            ("hipv4-amdgcn-amd-amdhsa--gfx942:xnack+", b"replays"),
            ("hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+", b"fits"),
            ("hipv4-amdgcn-amd-amdhsa--gfx9-4-generic", b"generic"),
        ]);
        let of = |arch| object(all.as_slice(), "a", arch).map(|bytes| bytes.to_vec());
        assert_eq!(of(Arch::Gfx942), Ok(b"fits".to_vec()));
        assert_eq!(of(Arch::Gfx950), Ok(b"generic".to_vec()));
        let other = bundle(&[("hipv4-amdgcn-amd-amdhsa--gfx90a", b"x")]);
        assert_eq!(
            object(other.as_slice(), "a", Arch::Gfx942),
            Err(Code::NO_BINARY_FOR_GPU)
        );
        // Wherever it ends early, it is refused: in the list of entries, in the object.
        for length in [24, 30, 100, 200, all.len() - 1] {
            let cut = object(&all[..length], "a", Arch::Gfx950);
            assert_eq!(cut, Err(Code::INVALID_IMAGE), "{length}");
        }
    }

    #[test]
    fn the_end_of_an_object_is_where_its_headers_say() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/hip");
        let whole = std::fs::read(format!("{folder}/kernels.gfx942.hsaco")).unwrap();
        let more = [whole.as_slice(), &[7; 1000]].concat();
        let read = |bytes: &[u8]| elf(bytes).map(Cow::into_owned);
        assert_eq!(read(&more), Some(whole.clone()));
        assert_eq!(read(&whole[..whole.len() - 1]), None);
        // In memory, with headers that tell of what is not there.
        let image = RawImage::at(whole.as_ptr().addr()).unwrap();
        assert_eq!(elf(&image).map(Cow::into_owned), Some(whole.clone()));
        let mut damaged = whole.clone();
        for at in 32..64 {
            damaged[at] ^= 0x5a;
            let image = RawImage::at(damaged.as_ptr().addr()).unwrap();
            let read = elf(&image);
            assert!(read.is_none_or(|read| read[..at] == damaged[..at]));
            damaged[at] = whole[at];
        }
    }
}
