//! TensorBoard event files: `TFRecord` framing (length, masked CRC-32C of the
//! length, data, masked CRC-32C of the data) around the few protobuf messages
//! that scalars and text need. Field numbers are those of TensorFlow's
//! `event.proto`, `summary.proto` and `tensor.proto`.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use cairn_base::{FileError, files};

/// `DataType.DT_STRING` of `types.proto`.
const DT_STRING: u64 = 7;
/// `DataClass.DATA_CLASS_TENSOR` of `summary.proto`.
const DATA_CLASS_TENSOR: u64 = 2;
/// `SessionLog.SessionStatus.START` of `event.proto`.
const SESSION_START: u64 = 1;

/// One event file. Each call is one record and reaches the operating system
/// before it returns.
#[derive(Debug)]
pub struct EventWriter {
    path: PathBuf,
    file: File,
}

impl EventWriter {
    /// A new event file in `dir`, after those that are there. `first_step` is
    /// the first step it will hold when a run is resumed: readers then drop
    /// what earlier files say about that step and later ones.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(dir: &Path, first_step: Option<u64>) -> Result<Self, FileError> {
        files::create_dir_all(dir)?;
        let path = dir.join(file_name(dir)?);
        let file = File::options()
            .append(true)
            .create_new(true)
            .open(&path)
            .map_err(|error| FileError::new("create", &path, error))?;
        let mut writer = Self { path, file };
        writer.record(&event(0, |e| e.bytes(3, b"brain.Event:2")))?;
        if let Some(step) = first_step {
            let log = message(|log| log.varint(1, SESSION_START));
            writer.record(&event(step, |e| e.bytes(7, &log)))?;
        }
        Ok(writer)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the values of some tags at one step.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn scalars(&mut self, step: u64, values: &[(&str, f32)]) -> Result<(), FileError> {
        let summary = message(|summary| {
            for (tag, value) in values {
                let value = message(|v| {
                    v.bytes(1, tag.as_bytes());
                    v.float(2, *value);
                });
                summary.bytes(1, &value);
            }
        });
        self.record(&event(step, |e| e.bytes(5, &summary)))
    }

    /// Writes Markdown text under a tag at one step.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn text(&mut self, step: u64, tag: &str, text: &str) -> Result<(), FileError> {
        let metadata = message(|m| {
            m.bytes(1, &message(|plugin| plugin.bytes(1, b"text")));
            m.varint(4, DATA_CLASS_TENSOR);
        });
        let tensor = message(|t| {
            t.varint(1, DT_STRING);
            // Shape [1]: one dim message of size 1.
            t.bytes(
                2,
                &message(|shape| shape.bytes(2, &message(|dim| dim.varint(1, 1)))),
            );
            t.bytes(8, text.as_bytes());
        });
        let value = message(|v| {
            v.bytes(1, tag.as_bytes());
            v.bytes(8, &tensor);
            v.bytes(9, &metadata);
        });
        let summary = message(|summary| summary.bytes(1, &value));
        self.record(&event(step, |e| e.bytes(5, &summary)))
    }

    fn record(&mut self, data: &[u8]) -> Result<(), FileError> {
        let record = frame(data);
        self.file
            .write_all(&record)
            .map_err(|error| FileError::new("write", &self.path, error))
    }
}

/// `TFRecord` framing of one record.
fn frame(data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u64).to_le_bytes();
    let mut out = Vec::with_capacity(data.len() + 16);
    out.extend(length);
    out.extend(masked_crc(&length).to_le_bytes());
    out.extend(data);
    out.extend(masked_crc(data).to_le_bytes());
    out
}

/// CRC-32C, rotated and offset so that a CRC over data holding CRCs stays sound.
fn masked_crc(data: &[u8]) -> u32 {
    crc32c::crc32c(data)
        .rotate_right(15)
        .wrapping_add(0xa282_ead8)
}

/// An `Event` now, at a step.
fn event(step: u64, fill: impl FnOnce(&mut Message)) -> Vec<u8> {
    message(|e| {
        e.double(1, seconds());
        e.varint(2, step);
        fill(e);
    })
}

fn seconds() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}

/// `events.out.tfevents.<seconds>.<host>.<pid>`. Readers take files in the
/// order of their names, so the seconds are larger than in any file present.
fn file_name(dir: &Path) -> Result<String, FileError> {
    const PREFIX: &str = "events.out.tfevents.";
    let failed = |error| FileError::new("read the folder", dir, error);
    let mut now = seconds() as u64;
    for entry in std::fs::read_dir(dir).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let stamp = name.to_str().and_then(|name| {
            name.strip_prefix(PREFIX)?
                .split('.')
                .next()?
                .parse::<u64>()
                .ok()
        });
        if let Some(stamp) = stamp {
            now = now.max(stamp.saturating_add(1));
        }
    }
    Ok(format!(
        "{PREFIX}{now:010}.{}.{}",
        host_name(),
        std::process::id()
    ))
}

fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name: String = name
        .trim()
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || "-.".contains(*c))
        .collect();
    if name.is_empty() {
        "localhost".to_owned()
    } else {
        name
    }
}

/// A protobuf message under construction.
#[derive(Default)]
struct Message(Vec<u8>);

fn message(fill: impl FnOnce(&mut Message)) -> Vec<u8> {
    let mut message = Message::default();
    fill(&mut message);
    message.0
}

impl Message {
    fn raw_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn key(&mut self, field: u32, wire_type: u64) {
        self.raw_varint(u64::from(field) << 3 | wire_type);
    }

    fn varint(&mut self, field: u32, value: u64) {
        self.key(field, 0);
        self.raw_varint(value);
    }

    fn double(&mut self, field: u32, value: f64) {
        self.key(field, 1);
        self.0.extend(value.to_le_bytes());
    }

    fn bytes(&mut self, field: u32, value: &[u8]) {
        self.key(field, 2);
        self.raw_varint(value.len() as u64);
        self.0.extend(value);
    }

    fn float(&mut self, field: u32, value: f32) {
        self.key(field, 5);
        self.0.extend(value.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The masked CRC of eight zero bytes is in every TFRecord reader's tests;
    // CRC-32C of "123456789" is the check value of the polynomial's catalogue entry.
    #[test]
    fn the_checksum_is_crc32c_masked() {
        assert_eq!(crc32c::crc32c(b"123456789"), 0xe306_9283);
        let unmasked = masked_crc(b"123456789")
            .wrapping_sub(0xa282_ead8)
            .rotate_left(15);
        assert_eq!(unmasked, 0xe306_9283);
    }

    #[test]
    fn messages_are_encoded_as_the_protobuf_guide_shows() {
        assert_eq!(message(|m| m.varint(1, 150)), [0x08, 0x96, 0x01]);
        assert_eq!(message(|m| m.bytes(2, b"testing")), *b"\x12\x07testing");
        assert_eq!(
            message(|m| m.bytes(3, &message(|n| n.varint(1, 150)))),
            [0x1a, 0x03, 0x08, 0x96, 0x01]
        );
        assert_eq!(message(|m| m.float(2, 1.0)), [0x15, 0, 0, 0x80, 0x3f]);
    }

    #[test]
    fn later_files_sort_after_earlier_ones() {
        let dir = tempfile::tempdir().unwrap();
        let paths: Vec<_> = (0..3)
            .map(|_| {
                EventWriter::create(dir.path(), None)
                    .unwrap()
                    .path()
                    .to_path_buf()
            })
            .collect();
        assert!(
            paths.is_sorted() && paths[0] < paths[1] && paths[1] < paths[2],
            "{paths:?}"
        );
    }
}
