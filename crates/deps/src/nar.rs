//! The NAR hash of a tree: SHA-256 over Nix's archive format, which holds
//! names, contents, symlink targets and the executable bit, and nothing else.
//!
//! The format, after E. Dolstra's thesis "The Purely Functional Software
//! Deployment Model" (2006), figure 5.2: a node is `(`, its type, what the type
//! needs, and `)`; entries of a folder are sorted by the bytes of their names; a
//! string is its length as a 64-bit little-endian number, its bytes, and zeros
//! up to the next multiple of eight.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File, FileType, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::str::FromStr;

use cairn_base::{FileError, hash};
use sha2::{Digest, Sha256};

/// A SHA-256 digest, in text as `nix hash path` prints it: `sha256-` and base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NarHash([u8; 32]);

/// Text that is no SHA-256 in SRI form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a hash is `sha256-` and 44 characters of base64")]
pub struct NotSri;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

impl NarHash {
    /// The hash with this digest.
    #[must_use]
    pub fn new(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// The digest in lower-case hex.
    #[must_use]
    pub fn hex(&self) -> String {
        hash::hex(&self.0)
    }
}

impl fmt::Display for NarHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::from("sha256-");
        for group in self.0.chunks(3) {
            let byte = |place: usize| group.get(place).copied().map_or(0, u32::from);
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            for place in 0..4 {
                let digit = (bits >> (18 - 6 * place)) & 63;
                let padding = place > group.len();
                text.push(if padding {
                    '='
                } else {
                    char::from(BASE64[digit as usize])
                });
            }
        }
        f.write_str(&text)
    }
}

impl FromStr for NarHash {
    type Err = NotSri;

    fn from_str(text: &str) -> Result<Self, NotSri> {
        let digits = text
            .strip_prefix("sha256-")
            .and_then(|rest| rest.strip_suffix('='))
            .filter(|digits| digits.len() == 43)
            .ok_or(NotSri)?;
        let mut digest = [0; 32];
        let mut bytes = digest.iter_mut();
        let (mut bits, mut held) = (0u32, 0);
        for digit in digits.bytes() {
            let value = BASE64.iter().position(|known| *known == digit);
            bits = bits << 6 | value.ok_or(NotSri)? as u32;
            held += 6;
            if held >= 8 {
                held -= 8;
                *bytes.next().ok_or(NotSri)? = (bits >> held) as u8;
                bits &= (1 << held) - 1;
            }
        }
        // 43 digits hold two bits more than the digest: one spelling a hash.
        if bits == 0 {
            Ok(Self(digest))
        } else {
            Err(NotSri)
        }
    }
}

/// What takes the bytes of an archive.
pub trait Sink {
    /// Takes the next bytes.
    fn put(&mut self, bytes: &[u8]);
}

impl Sink for Sha256 {
    fn put(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Writes an archive node by node, in the order of the format. Whoever calls
/// it sees to the order of names.
#[derive(Debug)]
pub struct Writer<S> {
    sink: S,
}

impl Writer<Sha256> {
    /// A writer that keeps nothing but the hash.
    #[must_use]
    pub fn hasher() -> Self {
        Self::new(Sha256::new())
    }

    /// The hash of what was written.
    #[must_use]
    pub fn finish(self) -> NarHash {
        NarHash(self.sink.finalize().into())
    }
}

impl<S: Sink> Writer<S> {
    /// A writer of one archive.
    pub fn new(sink: S) -> Self {
        let mut writer = Self { sink };
        writer.text(b"nix-archive-1");
        writer
    }

    /// What took the bytes.
    pub fn into_sink(self) -> S {
        self.sink
    }

    /// Begins a folder.
    pub fn open_dir(&mut self) {
        self.texts(&[b"(", b"type", b"directory"]);
    }

    /// Begins an entry of the folder; its node comes next.
    pub fn open_entry(&mut self, name: &[u8]) {
        self.texts(&[b"entry", b"(", b"name", name, b"node"]);
    }

    /// Ends an entry.
    pub fn close_entry(&mut self) {
        self.text(b")");
    }

    /// Ends a folder.
    pub fn close_dir(&mut self) {
        self.text(b")");
    }

    /// A symbolic link.
    pub fn symlink(&mut self, target: &[u8]) {
        self.texts(&[b"(", b"type", b"symlink", b"target", target, b")"]);
    }

    /// Begins a file of `length` bytes.
    pub fn open_file(&mut self, executable: bool, length: u64) {
        self.texts(&[b"(", b"type", b"regular"]);
        if executable {
            self.texts(&[b"executable", b""]);
        }
        self.text(b"contents");
        self.sink.put(&length.to_le_bytes());
    }

    /// The next bytes of the file.
    pub fn content(&mut self, bytes: &[u8]) {
        self.sink.put(bytes);
    }

    /// Ends a file of `length` bytes.
    pub fn close_file(&mut self, length: u64) {
        self.pad(length);
        self.text(b")");
    }

    /// A whole file.
    pub fn file(&mut self, executable: bool, content: &[u8]) {
        let length = content.len() as u64;
        self.open_file(executable, length);
        self.content(content);
        self.close_file(length);
    }

    fn texts(&mut self, texts: &[&[u8]]) {
        for text in texts {
            self.text(text);
        }
    }

    fn text(&mut self, bytes: &[u8]) {
        let length = bytes.len() as u64;
        self.sink.put(&length.to_le_bytes());
        self.sink.put(bytes);
        self.pad(length);
    }

    fn pad(&mut self, length: u64) {
        let over = (length % 8) as usize;
        if over > 0 {
            self.sink.put(&[0; 8][over..]);
        }
    }
}

/// The NAR hash of what is at a path: a folder, a file or a symbolic link.
///
/// # Errors
/// When something there cannot be read, is of another kind, or changes
/// while it is read.
pub fn hash_path(path: &Path) -> Result<NarHash, FileError> {
    hash(path, false)
}

/// As [`hash_path`] without what is named `.git`, which a checkout has beside
/// its files.
///
/// # Errors
/// As [`hash_path`].
pub fn hash_checkout(path: &Path) -> Result<NarHash, FileError> {
    hash(path, true)
}

fn hash(path: &Path, skip_git: bool) -> Result<NarHash, FileError> {
    let mut walk = Walk {
        writer: Writer::hasher(),
        buffer: vec![0; BUFFER],
        skip_git,
    };
    let kind = fs::symlink_metadata(path)
        .map_err(|error| FileError::new("read", path, error))?
        .file_type();
    walk.node(path, kind)?;
    Ok(walk.writer.finish())
}

/// Fits into the caches of a core, and makes calls to the system rare.
const BUFFER: usize = 1 << 18;

struct Walk<S> {
    writer: Writer<S>,
    buffer: Vec<u8>,
    skip_git: bool,
}

impl<S: Sink> Walk<S> {
    fn node(&mut self, path: &Path, kind: FileType) -> Result<(), FileError> {
        let failed = |error| FileError::new("read", path, error);
        if kind.is_dir() {
            self.dir(path)
        } else if kind.is_symlink() {
            let target = fs::read_link(path).map_err(failed)?;
            self.writer.symlink(target.as_os_str().as_bytes());
            Ok(())
        } else if kind.is_file() {
            self.file(path).map_err(failed)
        } else {
            let text = "neither a file nor a folder nor a symbolic link";
            Err(failed(io::Error::new(io::ErrorKind::InvalidData, text)))
        }
    }

    fn dir(&mut self, path: &Path) -> Result<(), FileError> {
        self.writer.open_dir();
        for (name, kind) in sorted_entries(path)? {
            if self.skip_git && name == ".git" {
                continue;
            }
            self.writer.open_entry(name.as_bytes());
            self.node(&path.join(&name), kind)?;
            self.writer.close_entry();
        }
        self.writer.close_dir();
        Ok(())
    }

    fn file(&mut self, path: &Path) -> io::Result<()> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        let length = metadata.len();
        self.writer.open_file(is_executable(&metadata), length);
        let mut left = length;
        while left > 0 {
            let most = usize::try_from(left).map_or(BUFFER, |left| left.min(BUFFER));
            match file.read(&mut self.buffer[..most]) {
                Ok(0) => {
                    let text = "it became shorter while it was read";
                    return Err(io::Error::new(io::ErrorKind::InvalidData, text));
                }
                Ok(read) => {
                    self.writer.content(&self.buffer[..read]);
                    left -= read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.writer.close_file(length);
        Ok(())
    }
}

/// What a folder holds, sorted by the bytes of the names.
///
/// # Errors
/// When the folder cannot be read.
pub(crate) fn sorted_entries(path: &Path) -> Result<Vec<(OsString, FileType)>, FileError> {
    let failed = |error| FileError::new("read", path, error);
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        entries.push((entry.file_name(), entry.file_type().map_err(failed)?));
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(entries)
}

/// The bit that counts: the owner may execute it.
pub(crate) fn is_executable(metadata: &Metadata) -> bool {
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn archive(path: &Path) -> Vec<u8> {
        let mut walk = Walk {
            writer: Writer::new(Vec::new()),
            buffer: vec![0; BUFFER],
            skip_git: false,
        };
        let kind = fs::symlink_metadata(path).unwrap().file_type();
        walk.node(path, kind).unwrap();
        walk.writer.into_sink()
    }

    /// Strings written out by hand: length, bytes, zeros.
    const MAGIC: &[u8] = b"\x0d\0\0\0\0\0\0\0nix-archive-1\0\0\0";
    const OPEN: &[u8] = b"\x01\0\0\0\0\0\0\0(\0\0\0\0\0\0\0";
    const CLOSE: &[u8] = b"\x01\0\0\0\0\0\0\0)\0\0\0\0\0\0\0";
    const TYPE: &[u8] = b"\x04\0\0\0\0\0\0\0type\0\0\0\0";
    const REGULAR: &[u8] = b"\x07\0\0\0\0\0\0\0regular\0";
    const DIRECTORY: &[u8] = b"\x09\0\0\0\0\0\0\0directory\0\0\0\0\0\0\0";
    const CONTENTS: &[u8] = b"\x08\0\0\0\0\0\0\0contents";

    #[test]
    fn a_file_is_these_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "hello\n").unwrap();
        let content = b"\x06\0\0\0\0\0\0\0hello\n\0\0".as_slice();
        let want = [MAGIC, OPEN, TYPE, REGULAR, CONTENTS, content, CLOSE].concat();
        assert_eq!(archive(&path), want);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        let executable = b"\x0a\0\0\0\0\0\0\0executable\0\0\0\0\0\0\0\0\0\0\0\0\0\0".as_slice();
        let want = [
            MAGIC, OPEN, TYPE, REGULAR, executable, CONTENTS, content, CLOSE,
        ]
        .concat();
        assert_eq!(archive(&path), want);
    }

    #[test]
    fn a_folder_is_these_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let entry = b"\x05\0\0\0\0\0\0\0entry\0\0\0".as_slice();
        let name = b"\x04\0\0\0\0\0\0\0name\0\0\0\0".as_slice();
        let node = b"\x04\0\0\0\0\0\0\0node\0\0\0\0".as_slice();
        // Made in the other order than the bytes of the names have.
        fs::create_dir(dir.path().join("a")).unwrap();
        symlink("to/there", dir.path().join("a-")).unwrap();
        fs::write(dir.path().join("B"), "").unwrap();
        let want = [
            MAGIC,
            OPEN,
            TYPE,
            DIRECTORY,
            entry,
            OPEN,
            name,
            b"\x01\0\0\0\0\0\0\0B\0\0\0\0\0\0\0",
            node,
            OPEN,
            TYPE,
            REGULAR,
            CONTENTS,
            b"\0\0\0\0\0\0\0\0",
            CLOSE,
            CLOSE,
            entry,
            OPEN,
            name,
            b"\x01\0\0\0\0\0\0\0a\0\0\0\0\0\0\0",
            node,
            OPEN,
            TYPE,
            DIRECTORY,
            CLOSE,
            CLOSE,
            entry,
            OPEN,
            name,
            b"\x02\0\0\0\0\0\0\0a-\0\0\0\0\0\0",
            node,
            OPEN,
            TYPE,
            b"\x07\0\0\0\0\0\0\0symlink\0",
            b"\x06\0\0\0\0\0\0\0target\0\0",
            b"\x08\0\0\0\0\0\0\0to/there",
            CLOSE,
            CLOSE,
            CLOSE,
        ]
        .concat();
        assert_eq!(archive(dir.path()), want);
        let digest = Sha256::digest(&want).into();
        assert_eq!(hash_path(dir.path()).unwrap(), NarHash::new(digest));
    }

    #[test]
    fn an_empty_folder_has_the_hash_that_nix_users_know() {
        let dir = tempfile::tempdir().unwrap();
        let known = "sha256-pQpattmS9VmO3ZIQUFn66az8GSmB4IvYhTTCFn6SUmo=";
        assert_eq!(hash_path(dir.path()).unwrap().to_string(), known);
    }

    #[test]
    fn a_checkout_hashes_as_its_files() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("sub")).unwrap();
        fs::write(dir.path().join("sub/f"), "x").unwrap();
        let plain = hash_path(dir.path()).unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        fs::write(dir.path().join("sub/.git"), "gitdir: elsewhere").unwrap();
        assert_eq!(hash_checkout(dir.path()).unwrap(), plain);
        assert_ne!(hash_path(dir.path()).unwrap(), plain);
    }

    #[test]
    fn large_files_are_read_in_pieces_of_any_size() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        for length in [BUFFER - 1, BUFFER, BUFFER + 1, 3 * BUFFER + 7] {
            let content: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            fs::write(&path, &content).unwrap();
            let mut whole = Writer::hasher();
            whole.file(false, &content);
            assert_eq!(hash_path(&path).unwrap(), whole.finish(), "{length}");
        }
    }

    #[test]
    fn one_text_a_hash() {
        let hash = NarHash::new([0xa5; 32]);
        let text = hash.to_string();
        assert_eq!(text, "sha256-paWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaU=");
        assert_eq!(text.parse(), Ok(hash));
        assert_eq!(hash.hex(), "a5".repeat(32));
        for wrong in [
            "",
            "sha256-",
            "sha512-paWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaU=",
            "sha256-paWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaU",
            "sha256-paWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaV=",
            "sha256-paWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpa-=",
            "sha256-éaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaU=",
        ] {
            assert_eq!(wrong.parse::<NarHash>(), Err(NotSri), "{wrong}");
        }
    }

    #[test]
    fn what_no_archive_can_hold_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let error = hash_path(dir.path()).unwrap_err();
        assert_eq!(error.path, path);
        let missing = hash_path(&dir.path().join("none")).unwrap_err();
        assert_eq!(missing.kind, cairn_base::FileErrorKind::NotFound);
    }
}
