//! Hashes as lower-case hex: SHA-256 where others check it, BLAKE3 for our own
//! content addresses.

use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::files::{self, FileError};

/// Lower-case hex of some bytes.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value & 15)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(*byte)])
        .collect()
}

/// SHA-256 of some bytes.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// BLAKE3 of some bytes.
#[must_use]
pub fn blake3(bytes: &[u8]) -> String {
    hex(blake3::hash(bytes).as_bytes())
}

/// SHA-256 of a file's content, read in pieces.
///
/// # Errors
/// When the file cannot be read.
pub fn sha256_file(path: &Path) -> Result<String, FileError> {
    let mut hasher = Sha256::new();
    read_pieces(path, |piece| hasher.update(piece))?;
    Ok(hex(&hasher.finalize()))
}

/// BLAKE3 of a file's content, read in pieces.
///
/// # Errors
/// When the file cannot be read.
pub fn blake3_file(path: &Path) -> Result<String, FileError> {
    let mut hasher = blake3::Hasher::new();
    read_pieces(path, |piece| {
        hasher.update(piece);
    })?;
    Ok(hex(hasher.finalize().as_bytes()))
}

/// BLAKE3 over a list of parts in which no two different lists collide by
/// concatenation: each part goes in behind its length.
#[derive(Clone, Debug, Default)]
pub struct Fingerprint(blake3::Hasher);

impl Fingerprint {
    /// An empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a part.
    pub fn part(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        let bytes = bytes.as_ref();
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// The hash of all parts so far.
    #[must_use]
    pub fn finish(&self) -> String {
        hex(self.0.finalize().as_bytes())
    }
}

fn read_pieces(path: &Path, mut take: impl FnMut(&[u8])) -> Result<(), FileError> {
    let mut file = files::open(path)?;
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => take(&buffer[..length]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(FileError::new("read", path, error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // FIPS 180-4 example values; the BLAKE3 value of the empty input is in the
    // published test vectors.
    const SHA_ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    const BLAKE_EMPTY: &str = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";

    #[test]
    fn known_answers() {
        assert_eq!(sha256(b"abc"), SHA_ABC);
        assert_eq!(blake3(b""), BLAKE_EMPTY);
        assert_eq!(hex(&[0x00, 0x0f, 0xf0, 0xff]), "000ff0ff");
    }

    #[test]
    fn a_file_hashes_as_its_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("big");
        let bytes: Vec<u8> = (0..600_000u32).map(|i| (i % 251) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(sha256_file(&path).unwrap(), sha256(&bytes));
        assert_eq!(blake3_file(&path).unwrap(), blake3(&bytes));
        let missing = sha256_file(&dir.path().join("none")).unwrap_err();
        assert_eq!(missing.kind, crate::FileErrorKind::NotFound);
    }

    #[test]
    fn a_fingerprint_tells_parts_apart() {
        let of = |parts: &[&str]| {
            let mut print = Fingerprint::new();
            for part in parts {
                print.part(part);
            }
            print.finish()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["a"]), of(&["a", ""]));
        assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
    }
}
