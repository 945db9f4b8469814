//! Megatron's indexed datasets: tokens in a `.bin` file, and an `.idx` file
//! that says where each sequence starts and which sequences form a document.
//!
//! The index, all little-endian: the magic `MMIDIDX\0\0`, version 1 as u64, a
//! dtype code as u8, the number of sequences and of document marks as u64; then
//! for each sequence its length as i32; for each its byte offset in `.bin` as
//! i64; then the document marks as i64: the sequence each document starts
//! with, and the number of sequences at the end. (Source: `IndexedDataset` of
//! megatron-core 0.16; tests compare with files it wrote. A mode byte a sequence may follow, for multimodal data;
//! such files are read without it.)

mod reader;
mod writer;

use std::path::{Path, PathBuf};

pub use reader::{IndexedDataset, Sequence};
pub use writer::IndexedWriter;

const MAGIC: &[u8; 9] = b"MMIDIDX\x00\x00";
const VERSION: u64 = 1;
/// Magic, version, dtype code, two counts.
const HEADER_BYTES: usize = 9 + 8 + 1 + 8 + 8;

/// Element type of a `.bin` file: the integer ones of Megatron's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenType {
    /// Code 1.
    U8,
    /// Code 2.
    I8,
    /// Code 3.
    I16,
    /// Code 4.
    I32,
    /// Code 5.
    I64,
    /// Code 8.
    U16,
}

impl TokenType {
    const CODES: [(u8, Self); 6] = [
        (1, Self::U8),
        (2, Self::I8),
        (3, Self::I16),
        (4, Self::I32),
        (5, Self::I64),
        (8, Self::U16),
    ];

    /// What Megatron takes for a vocabulary: 16 bits below 65,500 entries, else 32.
    #[must_use]
    pub fn for_vocabulary(vocab_size: usize) -> Self {
        if vocab_size < 65_500 {
            Self::U16
        } else {
            Self::I32
        }
    }

    /// The code in the index.
    #[must_use]
    pub fn code(self) -> u8 {
        Self::CODES
            .iter()
            .find(|(_, kind)| *kind == self)
            .map_or(0, |(code, _)| *code)
    }

    fn from_code(code: u8) -> Option<Self> {
        Self::CODES
            .iter()
            .find(|(known, _)| *known == code)
            .map(|(_, kind)| *kind)
    }

    /// Bytes of one token.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 => 4,
            Self::I64 => 8,
        }
    }

    fn decode(self, bytes: &[u8]) -> i64 {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let value = i64::from_le_bytes(wide);
        match self {
            Self::I8 => i64::from(value as i8),
            Self::I16 => i64::from(value as i16),
            Self::I32 => i64::from(value as i32),
            Self::U8 | Self::U16 | Self::I64 => value,
        }
    }
}

/// The `.bin` and `.idx` of a prefix; the prefix may be written with either ending.
#[must_use]
pub fn pair(prefix: &Path) -> (PathBuf, PathBuf) {
    let text = prefix.as_os_str().to_string_lossy();
    let stem = text
        .strip_suffix(".bin")
        .or_else(|| text.strip_suffix(".idx"))
        .unwrap_or(&text);
    (
        PathBuf::from(format!("{stem}.bin")),
        PathBuf::from(format!("{stem}.idx")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all_tokens(data: &IndexedDataset, document: usize) -> Vec<i32> {
        let mut tokens = Vec::new();
        for sequence in data.document(document) {
            let start = tokens.len();
            tokens.resize(start + sequence.tokens as usize, 0);
            data.read(sequence.offset, &mut tokens[start..], usize::MAX)
                .unwrap();
        }
        tokens
    }

    fn write(prefix: &Path, kind: TokenType, documents: &[Vec<Vec<u32>>]) {
        let mut writer = IndexedWriter::create(prefix, kind).unwrap();
        for document in documents {
            for sequence in document {
                writer.push(sequence).unwrap();
                writer.end_sequence().unwrap();
            }
            writer.end_document();
        }
        writer.finish().unwrap();
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn what_is_written_is_read(
            documents in prop::collection::vec(prop::collection::vec(prop::collection::vec(0u32..60_000, 0..20), 1..4), 0..10),
            wide: bool,
        ) {
            let dir = tempfile::tempdir().unwrap();
            let kind = if wide { TokenType::I32 } else { TokenType::U16 };
            write(&dir.path().join("d"), kind, &documents);
            let data = IndexedDataset::open(&dir.path().join("d.idx")).unwrap();
            prop_assert_eq!(data.documents(), documents.len());
            for (index, document) in documents.iter().enumerate() {
                let flat: Vec<i32> = document.concat().iter().map(|t| *t as i32).collect();
                prop_assert_eq!(all_tokens(&data, index), flat);
            }
        }
    }

    #[test]
    fn a_known_index_byte_by_byte() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("d");
        write(
            &prefix,
            TokenType::U16,
            &[vec![vec![1, 513]], vec![vec![7]]],
        );
        assert_eq!(
            std::fs::read(dir.path().join("d.bin")).unwrap(),
            [1, 0, 1, 2, 7, 0]
        );
        let mut expected = b"MMIDIDX\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x08".to_vec();
        expected.extend(2u64.to_le_bytes());
        expected.extend(3u64.to_le_bytes());
        expected.extend([2i32, 1].iter().flat_map(|v| v.to_le_bytes()));
        expected.extend([0i64, 4, 0, 1, 2].iter().flat_map(|v| v.to_le_bytes()));
        assert_eq!(std::fs::read(dir.path().join("d.idx")).unwrap(), expected);
    }

    /// Files that megatron-core wrote, with the tokens it was given.
    #[test]
    fn what_megatron_core_writes_is_read_and_written_byte_for_byte() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/megatron");
        for (name, kind) in [("u16", TokenType::U16), ("i32", TokenType::I32)] {
            let json = std::fs::read(folder.join(format!("{name}.json"))).unwrap();
            let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
            let documents: Vec<Vec<Vec<u32>>> =
                serde_json::from_value(json["documents"].clone()).unwrap();
            let vocab_size = json["vocab_size"].as_u64().unwrap() as usize;
            assert_eq!(TokenType::for_vocabulary(vocab_size), kind);
            let data = IndexedDataset::open(&folder.join(name)).unwrap();
            assert_eq!((data.kind(), data.documents()), (kind, documents.len()));
            for (index, document) in documents.iter().enumerate() {
                let flat: Vec<i32> = document.concat().iter().map(|t| *t as i32).collect();
                assert_eq!(all_tokens(&data, index), flat);
            }
            let dir = tempfile::tempdir().unwrap();
            write(&dir.path().join(name), kind, &documents);
            for ending in ["bin", "idx"] {
                let file = format!("{name}.{ending}");
                let ours = std::fs::read(dir.path().join(&file)).unwrap();
                assert!(
                    ours == std::fs::read(folder.join(&file)).unwrap(),
                    "{file} differs"
                );
            }
        }
    }

    #[test]
    fn every_dtype_is_decoded() {
        let cases: [(TokenType, &[u8], i64); 8] = [
            (TokenType::U8, &[200], 200),
            (TokenType::I8, &[200], -56),
            (TokenType::I16, &[0xff, 0xff], -1),
            (TokenType::U16, &[0xff, 0xff], 65_535),
            (TokenType::I32, &[1, 0, 1, 0], 65_537),
            (TokenType::I32, &[0xff, 0xff, 0xff, 0xff], -1),
            (TokenType::I64, &[1, 0, 0, 0, 1, 0, 0, 0], (1 << 32) + 1),
            (TokenType::I64, &[0xff; 8], -1),
        ];
        for (kind, bytes, value) in cases {
            assert_eq!(kind.bytes(), bytes.len());
            assert_eq!(kind.decode(bytes), value, "{kind:?}");
            assert_eq!(TokenType::from_code(kind.code()), Some(kind));
        }
        assert_eq!(TokenType::for_vocabulary(65_499), TokenType::U16);
        assert_eq!(TokenType::for_vocabulary(65_500), TokenType::I32);
    }

    #[test]
    fn both_names_of_a_pair_are_understood() {
        for name in ["a/b", "a/b.bin", "a/b.idx"] {
            assert_eq!(pair(Path::new(name)), ("a/b.bin".into(), "a/b.idx".into()));
        }
        assert_eq!(pair(Path::new("a.b")).0, Path::new("a.b.bin"));
    }
}
