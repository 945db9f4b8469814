//! Reading a pair, memory-mapped, after checking that the two files agree.

use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::{HEADER_BYTES, MAGIC, TokenType, VERSION, pair};
use crate::data::DataError;
use crate::data::mapped::map_file;

/// Where a sequence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// Byte offset in the `.bin` file.
    pub offset: u64,
    /// Its tokens.
    pub tokens: u64,
}

/// An open pair.
#[derive(Debug)]
pub struct IndexedDataset {
    bin: Mmap,
    idx: Mmap,
    bin_path: PathBuf,
    kind: TokenType,
    sequences: usize,
    documents: usize,
}

impl IndexedDataset {
    /// Opens the pair of this prefix.
    ///
    /// # Errors
    /// A file that cannot be read, is something else, or is truncated.
    pub fn open(prefix: &Path) -> Result<Self, DataError> {
        let (bin_path, idx_path) = pair(prefix);
        let idx = map_file(&idx_path)?;
        let bin = map_file(&bin_path)?;
        let wrong = |problem: String| DataError::Megatron {
            path: idx_path.clone(),
            problem,
        };
        let header = Header::read(&idx).map_err(wrong)?;
        let data = Self {
            bin,
            idx,
            bin_path: bin_path.clone(),
            kind: header.kind,
            sequences: header.sequences,
            documents: header.marks - 1,
        };
        data.check_marks().map_err(wrong)?;
        data.check_sequences()
            .map_err(|problem| DataError::Megatron {
                path: bin_path,
                problem,
            })?;
        Ok(data)
    }

    /// The element type.
    #[must_use]
    pub fn kind(&self) -> TokenType {
        self.kind
    }

    /// Number of documents.
    #[must_use]
    pub fn documents(&self) -> usize {
        self.documents
    }

    /// The sequences of a document; none for an index that does not exist.
    pub fn document(&self, index: usize) -> impl Iterator<Item = Sequence> + '_ {
        let range = if index < self.documents {
            self.mark(index)..self.mark(index + 1)
        } else {
            0..0
        };
        range.map(|sequence| self.sequence(sequence))
    }

    /// Reads the tokens from a byte offset on.
    ///
    /// # Errors
    /// A token that is negative or not below `vocab_size`; a range beyond the file.
    pub fn read(&self, offset: u64, out: &mut [i32], vocab_size: usize) -> Result<(), DataError> {
        let size = self.kind.bytes();
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = start.saturating_add(out.len() * size);
        let bytes = self
            .bin
            .get(start..end)
            .ok_or_else(|| DataError::Megatron {
                path: self.bin_path.clone(),
                problem: "a sequence ends behind the end of the file".to_owned(),
            })?;
        let limit = vocab_size.min(i32::MAX as usize) as i64;
        for (slot, bytes) in out.iter_mut().zip(bytes.chunks_exact(size)) {
            let token = self.kind.decode(bytes);
            if !(0..limit).contains(&token) {
                return Err(DataError::TokenRange {
                    path: self.bin_path.clone(),
                    token,
                    vocab_size,
                });
            }
            *slot = token as i32;
        }
        Ok(())
    }

    fn sequence(&self, index: usize) -> Sequence {
        let length = u32_at(&self.idx, HEADER_BYTES + index * 4);
        let offset = u64_at(&self.idx, HEADER_BYTES + self.sequences * 4 + index * 8);
        Sequence {
            offset,
            tokens: u64::from(length),
        }
    }

    fn mark(&self, index: usize) -> usize {
        let mark = u64_at(&self.idx, HEADER_BYTES + self.sequences * 12 + index * 8);
        usize::try_from(mark).unwrap_or(usize::MAX)
    }

    fn check_marks(&self) -> Result<(), String> {
        let mut previous = 0;
        for index in 0..=self.documents {
            let mark = self.mark(index);
            let starts = index > 0 || mark == 0;
            if !starts || mark < previous || mark > self.sequences {
                return Err(format!(
                    "document {index} starts at sequence {mark}, which cannot be"
                ));
            }
            previous = mark;
        }
        Ok(())
    }

    fn check_sequences(&self) -> Result<(), String> {
        let available = self.bin.len() as u64;
        for index in 0..self.sequences {
            let sequence = self.sequence(index);
            let bytes = sequence.tokens * self.kind.bytes() as u64;
            let end = sequence.offset.checked_add(bytes);
            // Lengths and offsets are signed in the file: negative ones are huge here.
            if sequence.tokens > i32::MAX as u64 || end.is_none_or(|end| end > available) {
                return Err(format!(
                    "the file has {available} bytes, but sequence {index} needs {bytes} from byte {}",
                    sequence.offset
                ));
            }
        }
        Ok(())
    }
}

struct Header {
    kind: TokenType,
    sequences: usize,
    marks: usize,
}

impl Header {
    fn read(idx: &[u8]) -> Result<Self, String> {
        if idx.len() < HEADER_BYTES || !idx.starts_with(MAGIC) {
            return Err("this is no index of an indexed dataset (wrong magic)".to_owned());
        }
        let version = u64_at(idx, 9);
        if version != VERSION {
            return Err(format!("version {version} is unknown, expected {VERSION}"));
        }
        let code = idx.get(17).copied().unwrap_or(0);
        let kind = TokenType::from_code(code)
            .ok_or_else(|| format!("dtype code {code} is no integer type"))?;
        let (sequences, marks) = (u64_at(idx, 18), u64_at(idx, 26));
        let needed = u128::from(sequences) * 12 + u128::from(marks) * 8 + HEADER_BYTES as u128;
        if needed > idx.len() as u128 {
            return Err(format!(
                "truncated: {sequences} sequences and {marks} document marks need {needed} bytes, the file has {}",
                idx.len()
            ));
        }
        if marks == 0 {
            return Err("there is no document mark".to_owned());
        }
        // Both fit, as the file that holds them does.
        Ok(Self {
            kind,
            sequences: sequences as usize,
            marks: marks as usize,
        })
    }
}

/// The number at a byte offset; 0 outside, which the checks of the header exclude.
fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let slice = bytes
        .get(at..at + 8)
        .and_then(|slice| slice.try_into().ok());
    slice.map_or(0, u64::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let slice = bytes
        .get(at..at + 4)
        .and_then(|slice| slice.try_into().ok());
    slice.map_or(0, u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::megatron::IndexedWriter;
    use proptest::prelude::*;

    fn sample() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("d");
        let mut writer = IndexedWriter::create(&prefix, TokenType::U16).unwrap();
        for document in [&[1, 2, 3][..], &[4, 5]] {
            writer.push(document).unwrap();
            writer.end_sequence().unwrap();
            writer.end_document();
        }
        writer.finish().unwrap();
        (dir, prefix)
    }

    /// What opening says after one file was changed.
    fn changed(name: &str, change: impl FnOnce(&mut Vec<u8>)) -> String {
        let (dir, prefix) = sample();
        let path = dir.path().join(name);
        let mut bytes = std::fs::read(&path).unwrap();
        change(&mut bytes);
        std::fs::write(&path, bytes).unwrap();
        let error = IndexedDataset::open(&prefix).unwrap_err();
        assert_eq!(error.code(), "data::megatron");
        error.to_string()
    }

    #[test]
    fn each_kind_of_damage_is_named() {
        type Change = fn(&mut Vec<u8>);
        let cases: [(&str, Change, &str); 9] = [
            (
                "d.bin",
                |b| b.truncate(7),
                "the file has 7 bytes, but sequence 1 needs 4 from byte 6",
            ),
            ("d.idx", |b| b[0] = b'X', "wrong magic"),
            ("d.idx", |b| b.truncate(20), "wrong magic"),
            ("d.idx", |b| b[9] = 2, "version 2 is unknown"),
            ("d.idx", |b| b[17] = 7, "dtype code 7"),
            (
                "d.idx",
                |b| b.truncate(60),
                "truncated: 2 sequences and 3 document marks need 82 bytes",
            ),
            ("d.idx", |b| b[25] = 0xff, "truncated"),
            ("d.idx", |b| b[37] = 0x80, "sequence 0 needs"),
            ("d.idx", |b| b[66] = 9, "document 1 starts at sequence 9"),
        ];
        for (name, change, expected) in cases {
            let message = changed(name, change);
            assert!(message.contains(expected), "{message}");
        }
        let (dir, prefix) = sample();
        std::fs::remove_file(dir.path().join("d.bin")).unwrap();
        let missing = IndexedDataset::open(&prefix).unwrap_err();
        assert_eq!(missing.diagnostic().code, "file::not-found");
    }

    #[test]
    fn tokens_outside_the_vocabulary_are_refused() {
        let (_dir, prefix) = sample();
        let data = IndexedDataset::open(&prefix).unwrap();
        let mut out = [0; 5];
        data.read(0, &mut out, 6).unwrap();
        assert_eq!(out, [1, 2, 3, 4, 5]);
        let error = data.read(0, &mut out, 5).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("token 5 is outside the model's vocabulary of 5")
        );
        assert!(data.read(2, &mut out, 6).is_err());
        assert_eq!(data.document(2).count(), 0);
    }

    proptest! {
        #[test]
        fn no_byte_of_an_index_can_make_it_panic(at in 0usize..82, value: u8) {
            let (dir, prefix) = sample();
            let path = dir.path().join("d.idx");
            let mut bytes = std::fs::read(&path).unwrap();
            prop_assert_eq!(bytes.len(), 82);
            bytes[at] = value;
            std::fs::write(&path, bytes).unwrap();
            if let Ok(data) = IndexedDataset::open(&prefix) {
                for sequence in (0..data.documents()).flat_map(|d| data.document(d)) {
                    let mut out = vec![0; sequence.tokens as usize];
                    // Any outcome but a panic is fine: bytes may have another type now.
                    let _ = data.read(sequence.offset, &mut out, 10);
                }
            }
        }
    }
}
