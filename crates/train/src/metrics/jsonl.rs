//! A file with one JSON object a line, each with a `step`, that can be cut back
//! to a step and is never left with half a line.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cairn_base::{Diagnostic, FileError, FileErrorKind, files};
use serde::Serialize;
use serde_json::Value;

/// An open file of lines. Each line reaches the operating system as it is
/// appended, so a killed process loses none.
#[derive(Debug)]
pub struct JsonLines {
    path: PathBuf,
    file: File,
    length: u64,
}

impl JsonLines {
    /// An empty file, in place of what was there.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(path: &Path) -> Result<Self, FileError> {
        files::write_atomic(path, b"")?;
        Self::open(path)
    }

    /// The file as it was after `step`: lines of later steps, lines that are no
    /// JSON object with a `step` (such as a half-written last one), and all but
    /// the last of several lines with the same step and keys are gone. The
    /// rewrite is atomic. A missing file becomes an empty one. Each damaged
    /// line gives a warning, except a last one without a line end, which is
    /// what a crash leaves.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn resume(path: &Path, step: u64) -> Result<(Self, Vec<Diagnostic>), FileError> {
        let old = match files::read(path) {
            Err(error) if error.kind == FileErrorKind::NotFound => Vec::new(),
            other => other?,
        };
        let (kept, warnings) = cut(&old, step, path);
        if kept != old || old.is_empty() {
            files::write_atomic(path, &kept)?;
        }
        Ok((Self::open(path)?, warnings))
    }

    pub(super) fn open(path: &Path) -> Result<Self, FileError> {
        let failed = |error| FileError::new("write", path, error);
        let file = File::options().append(true).open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        Ok(Self {
            path: path.to_path_buf(),
            file,
            length,
        })
    }

    /// Appends one object.
    ///
    /// # Errors
    /// When it cannot be written whole; the file is cut back to whole lines.
    pub fn append(&mut self, object: &impl Serialize) -> Result<(), FileError> {
        let failed = |error| FileError::new("write", &self.path, error);
        let mut line = serde_json::to_vec(object).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        if let Err(error) = self.file.write_all(&line) {
            // If this fails too, the next resume drops the half line.
            let _ = self.file.set_len(self.length);
            return Err(failed(error));
        }
        self.length += line.len() as u64;
        Ok(())
    }

    /// Makes the lines survive a power loss.
    ///
    /// # Errors
    /// When the medium refuses.
    pub fn sync(&mut self) -> Result<(), FileError> {
        self.file
            .sync_data()
            .map_err(|error: io::Error| FileError::new("sync", &self.path, error))
    }
}

/// The lines of `text` that stand after `step` steps.
fn cut(text: &[u8], step: u64, path: &Path) -> (Vec<u8>, Vec<Diagnostic>) {
    let mut warnings = Vec::new();
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    for (index, line) in lines.iter().enumerate().rev() {
        let whole = line.last() == Some(&b'\n');
        match identity(line) {
            Some(id) if whole => {
                if id.0 <= step && seen.insert(id) {
                    kept.push(*line);
                }
            }
            _ if !whole => {}
            _ => {
                let message = format!(
                    "line {} of {} is damaged and was removed",
                    index + 1,
                    path.display()
                );
                warnings.push(Diagnostic::warning("metrics::damaged-line", message));
            }
        }
    }
    kept.reverse();
    warnings.reverse();
    (kept.concat(), warnings)
}

/// Step and keys of a line: lines that agree in both say the same thing twice.
fn identity(line: &[u8]) -> Option<(u64, Vec<String>)> {
    let value: Value = serde_json::from_slice(line).ok()?;
    let object = value.as_object()?;
    let step = object.get("step")?.as_u64()?;
    Some((step, object.keys().cloned().collect()))
}
