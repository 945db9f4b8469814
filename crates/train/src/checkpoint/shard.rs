//! Shards: one safetensors file written or read front to back in a single pass,
//! hashed on the way, so a hash always covers exactly the bytes that moved.
//!
//! Packed types below eight bits are stored as `U8` of their bytes, because the
//! format wants whole bytes per tensor; the manifest keeps the true type.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use cairn_formats::DType;
use serde_json::{Map, Value, json};

use super::manifest::FileEntry;
use super::{TensorEntry, TensorRecord};

/// Largest header accepted, as in the safetensors specification.
const MAX_HEADER_BYTES: u64 = 100_000_000;

/// Passes bytes through to `inner` and into a hash.
struct Hashing<T> {
    inner: T,
    hasher: blake3::Hasher,
    bytes: u64,
}

impl<T> Hashing<T> {
    fn new(inner: T) -> Self {
        Self {
            inner,
            hasher: blake3::Hasher::new(),
            bytes: 0,
        }
    }

    fn note(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    fn hex(&self) -> String {
        self.hasher.finalize().to_hex().to_string()
    }
}

/// Type name and shape in the safetensors header.
fn stored_as(dtype: DType, shape: &[usize], bytes: usize) -> (&'static str, Vec<usize>) {
    let name = match dtype {
        DType::F64 => "F64",
        DType::F32 => "F32",
        DType::F16 => "F16",
        DType::BF16 => "BF16",
        DType::F8E4M3Fnuz => "F8_E4M3FNUZ",
        DType::F8E5M2Fnuz => "F8_E5M2FNUZ",
        DType::F8E4M3 => "F8_E4M3",
        DType::F8E5M2 => "F8_E5M2",
        DType::E8M0 => "F8_E8M0",
        DType::I64 => "I64",
        DType::I32 => "I32",
        DType::U32 => "U32",
        DType::U8 => "U8",
        DType::Bool => "BOOL",
        DType::F6E2M3 | DType::F6E3M2 | DType::F4E2M1 => return ("U8", vec![bytes]),
    };
    (name, shape.to_vec())
}

/// Records in the order they lie in the file: widest type first, so that every
/// tensor is aligned to its element size, and otherwise as given.
pub(super) fn file_order<'a, B>(records: &[&'a TensorRecord<B>]) -> Vec<&'a TensorRecord<B>> {
    let mut ordered = records.to_vec();
    ordered.sort_by_key(|record| std::cmp::Reverse(record.dtype.bits()));
    ordered
}

/// Length prefix and header, padded with spaces to a multiple of eight.
fn header<B: AsRef<[u8]>>(records: &[&TensorRecord<B>]) -> io::Result<Vec<u8>> {
    let mut map = Map::new();
    let mut offset = 0usize;
    for record in records {
        let bytes = record.bytes.as_ref().len();
        let (dtype, shape) = stored_as(record.dtype, &record.shape, bytes);
        let end = offset + bytes;
        map.insert(
            record.name.clone(),
            json!({"dtype": dtype, "shape": shape, "data_offsets": [offset, end]}),
        );
        offset = end;
    }
    let mut text = serde_json::to_vec(&Value::Object(map))?;
    text.resize(text.len().next_multiple_of(8), b' ');
    let mut out = (text.len() as u64).to_le_bytes().to_vec();
    out.append(&mut text);
    Ok(out)
}

/// Writes a new shard and syncs it.
pub(super) fn write<B: AsRef<[u8]>>(
    path: &Path,
    name: &str,
    records: &[&TensorRecord<B>],
) -> io::Result<FileEntry> {
    let ordered = file_order(records);
    let file = File::options().write(true).create_new(true).open(path)?;
    let mut out = Hashing::new(BufWriter::with_capacity(1 << 20, file));
    let header = header(&ordered)?;
    let data = ordered.iter().map(|record| record.bytes.as_ref());
    for part in std::iter::once(header.as_slice()).chain(data) {
        // In pieces, so that hashing reads what is still in the cache.
        for piece in part.chunks(1 << 18) {
            out.note(piece);
            out.inner.write_all(piece)?;
        }
    }
    let entry = FileEntry {
        name: name.to_owned(),
        bytes: out.bytes,
        blake3: out.hex(),
    };
    out.inner
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?
        .sync_all()?;
    Ok(entry)
}

/// Why a shard was not accepted.
pub(super) enum ShardFault {
    /// The operating system refused.
    Io(io::Error),
    /// The content is not what the manifest says.
    Damaged(String),
}

impl From<io::Error> for ShardFault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads a shard whose tensors are `entries`, checks size, header and hash, and
/// gives the records for which `want` holds. Nothing is returned unless the
/// whole file is as it was written.
pub(super) fn read(
    dir: &Path,
    file: &FileEntry,
    entries: &[&TensorEntry],
    want: &dyn Fn(&str) -> bool,
) -> Result<BTreeMap<String, TensorRecord>, ShardFault> {
    let damaged = |reason: String| ShardFault::Damaged(format!("{}: {reason}", file.name));
    let handle = match File::open(dir.join(&file.name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(ShardFault::Damaged(format!("{} is missing", file.name)));
        }
        other => other?,
    };
    let length = handle.metadata()?.len();
    if length != file.bytes {
        return Err(damaged(format!("{length} bytes instead of {}", file.bytes)));
    }
    let mut input = Hashing::new(BufReader::with_capacity(1 << 20, handle));
    let header = read_header(&mut input, length).map_err(|error| match error {
        ShardFault::Damaged(reason) => damaged(reason),
        other => other,
    })?;
    let by_name: BTreeMap<&str, &TensorEntry> =
        entries.iter().map(|e| (e.name.as_str(), *e)).collect();
    if header.len() != by_name.len() {
        return Err(damaged(format!(
            "{} tensors instead of {}",
            header.len(),
            by_name.len()
        )));
    }
    let mut records = BTreeMap::new();
    let mut offset = 0usize;
    for (name, value) in &header {
        let Some(entry) = by_name.get(name.as_str()) else {
            return Err(damaged(format!("tensor `{name}` is not in the manifest")));
        };
        let bytes = entry.dtype.bytes(entry.elements().unwrap_or(0));
        let (dtype, shape) = stored_as(entry.dtype, &entry.shape, bytes);
        let expected =
            json!({"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + bytes]});
        if *value != expected {
            return Err(damaged(format!(
                "tensor `{name}` is described as {value}, not {expected}"
            )));
        }
        offset += bytes;
        if input.bytes + bytes as u64 > length {
            return Err(damaged(format!("tensor `{name}` ends after the file")));
        }
        if want(name) {
            let data = read_exactly(&mut input, bytes)?;
            let record = TensorRecord {
                name: name.clone(),
                dtype: entry.dtype,
                shape: entry.shape.clone(),
                bytes: data,
            };
            records.insert(name.clone(), record);
        } else {
            skip(&mut input, bytes)?;
        }
    }
    if input.bytes != length {
        return Err(damaged(format!(
            "{} bytes after the last tensor",
            length - input.bytes
        )));
    }
    if input.hex() != file.blake3 {
        return Err(damaged("its content does not match its BLAKE3 hash".into()));
    }
    Ok(records)
}

fn read_header(
    input: &mut Hashing<BufReader<File>>,
    length: u64,
) -> Result<Map<String, Value>, ShardFault> {
    let bad = |reason: &str| ShardFault::Damaged(reason.to_owned());
    if length < 8 {
        return Err(bad("too short for a safetensors header"));
    }
    let mut prefix = [0; 8];
    input.inner.read_exact(&mut prefix)?;
    input.note(&prefix);
    let size = u64::from_le_bytes(prefix);
    if size > MAX_HEADER_BYTES || size > length - 8 {
        return Err(bad("the safetensors header is longer than the file"));
    }
    let size = usize::try_from(size).map_err(|_| bad("the safetensors header is too long"))?;
    let text = read_exactly(input, size)?;
    match serde_json::from_slice(&text) {
        Ok(Value::Object(map)) => Ok(map),
        _ => Err(bad("the safetensors header is not a JSON object")),
    }
}

fn read_exactly(input: &mut Hashing<BufReader<File>>, bytes: usize) -> io::Result<Vec<u8>> {
    let mut data = vec![0; bytes];
    for piece in data.chunks_mut(1 << 18) {
        input.inner.read_exact(piece)?;
        input.hasher.update(piece);
    }
    input.bytes += bytes as u64;
    Ok(data)
}

fn skip(input: &mut Hashing<BufReader<File>>, bytes: usize) -> io::Result<()> {
    let mut left = bytes;
    let mut buffer = vec![0; left.min(1 << 18)];
    while left > 0 {
        let piece = &mut buffer[..left.min(1 << 18)];
        input.inner.read_exact(piece)?;
        input.note(piece);
        left -= piece.len();
    }
    Ok(())
}
