//! Writing a pair: tokens go to `.bin` as they come, the index at the end.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use cairn_base::FileError;

use super::{HEADER_BYTES, MAGIC, TokenType, VERSION, pair};
use crate::data::DataError;

/// Writes a pair. The files appear under their names at once: give them a
/// place where nobody looks until [`IndexedWriter::finish`] has succeeded.
#[derive(Debug)]
pub struct IndexedWriter {
    bin: BufWriter<File>,
    bin_path: PathBuf,
    idx_path: PathBuf,
    kind: TokenType,
    /// Tokens of the open sequence.
    open: u64,
    lengths: Vec<i32>,
    marks: Vec<i64>,
    tokens: u64,
}

impl IndexedWriter {
    /// Starts a pair with this prefix.
    ///
    /// # Errors
    /// When the `.bin` file cannot be created.
    pub fn create(prefix: &Path, kind: TokenType) -> Result<Self, DataError> {
        let (bin_path, idx_path) = pair(prefix);
        let bin =
            File::create(&bin_path).map_err(|error| FileError::new("create", &bin_path, error))?;
        Ok(Self {
            bin: BufWriter::with_capacity(1 << 18, bin),
            bin_path,
            idx_path,
            kind,
            open: 0,
            lengths: Vec::new(),
            marks: vec![0],
            tokens: 0,
        })
    }

    /// Appends tokens to the open sequence.
    ///
    /// # Errors
    /// A token the element type cannot hold; a write that fails.
    pub fn push(&mut self, tokens: &[u32]) -> Result<(), DataError> {
        for token in tokens {
            let bytes = token.to_le_bytes();
            let (kept, lost) = bytes.split_at(self.kind.bytes().min(4));
            if lost.iter().any(|byte| *byte != 0) {
                let problem = format!("token {token} does not fit {:?}", self.kind);
                return Err(self.problem(problem));
            }
            let padding = [0; 4];
            let padding = padding.get(..self.kind.bytes() - kept.len()).unwrap_or(&[]);
            let written = self
                .bin
                .write_all(kept)
                .and_then(|()| self.bin.write_all(padding));
            written.map_err(|error| FileError::new("write", &self.bin_path, error))?;
        }
        self.open += tokens.len() as u64;
        self.tokens += tokens.len() as u64;
        Ok(())
    }

    /// Ends the open sequence, which may be empty.
    ///
    /// # Errors
    /// A sequence of 2^31 tokens or more, which the format cannot name.
    pub fn end_sequence(&mut self) -> Result<(), DataError> {
        let length = i32::try_from(self.open)
            .map_err(|_| self.problem("a sequence has 2^31 tokens or more".to_owned()))?;
        self.lengths.push(length);
        self.open = 0;
        Ok(())
    }

    /// Ends the open document.
    pub fn end_document(&mut self) {
        self.marks.push(self.lengths.len() as i64);
    }

    /// Tokens written so far.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Writes the index and syncs both files.
    ///
    /// # Errors
    /// When a write fails.
    pub fn finish(mut self) -> Result<(), DataError> {
        let synced = self
            .bin
            .flush()
            .and_then(|()| self.bin.get_ref().sync_all());
        synced.map_err(|error| FileError::new("write", &self.bin_path, error))?;
        let index = self.index();
        let failed = |error| FileError::new("write", &self.idx_path, error);
        let mut file = File::create(&self.idx_path).map_err(failed)?;
        file.write_all(&index)
            .and_then(|()| file.sync_all())
            .map_err(failed)?;
        Ok(())
    }

    fn index(&self) -> Vec<u8> {
        let mut index =
            Vec::with_capacity(HEADER_BYTES + self.lengths.len() * 12 + self.marks.len() * 8);
        index.extend(MAGIC);
        index.extend(VERSION.to_le_bytes());
        index.push(self.kind.code());
        index.extend((self.lengths.len() as u64).to_le_bytes());
        index.extend((self.marks.len() as u64).to_le_bytes());
        self.lengths
            .iter()
            .for_each(|length| index.extend(length.to_le_bytes()));
        let mut offset = 0i64;
        for length in &self.lengths {
            index.extend(offset.to_le_bytes());
            offset += i64::from(*length) * self.kind.bytes() as i64;
        }
        self.marks
            .iter()
            .for_each(|mark| index.extend(mark.to_le_bytes()));
        index
    }

    fn problem(&self, problem: String) -> DataError {
        DataError::Megatron {
            path: self.bin_path.clone(),
            problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_too_large_for_its_type_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = IndexedWriter::create(&dir.path().join("d"), TokenType::U16).unwrap();
        writer.push(&[65_535]).unwrap();
        let error = writer.push(&[65_536]).unwrap_err();
        assert!(
            error.to_string().ends_with("token 65536 does not fit U16"),
            "{error}"
        );
        assert_eq!(writer.tokens(), 1);
    }

    #[test]
    fn wide_tokens_are_padded() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = IndexedWriter::create(&dir.path().join("d"), TokenType::I64).unwrap();
        writer.push(&[1, 2]).unwrap();
        writer.end_sequence().unwrap();
        writer.end_document();
        writer.finish().unwrap();
        let bytes = std::fs::read(dir.path().join("d.bin")).unwrap();
        assert_eq!(
            bytes,
            [1i64, 2]
                .iter()
                .flat_map(|v| v.to_le_bytes())
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_full_disk_is_told() {
        let full = Path::new("/dev/full");
        if !full.exists() {
            return cairn_base::skip("no /dev/full here");
        }
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(full, dir.path().join("d.bin")).unwrap();
        let mut writer = IndexedWriter::create(&dir.path().join("d"), TokenType::U16).unwrap();
        writer.push(&[1]).unwrap();
        let error = writer.finish().unwrap_err();
        assert_eq!(error.diagnostic().code, "file::disk-full");
    }
}
