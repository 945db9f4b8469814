//! Reading and writing files so that work is never lost: what matters is
//! written to a sibling, synced and renamed, and every failure names the path
//! and says what kind of failure it is.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::Diagnostic;

mod lock;

pub use lock::Lock;

/// What kind of failure a [`FileError`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileErrorKind {
    /// The file or a folder on the way does not exist.
    NotFound,
    /// The user may not do this.
    Permission,
    /// The device or the quota is full.
    Full,
    /// The file system is mounted read-only.
    ReadOnly,
    /// Another process holds the lock.
    Locked,
    /// The content is not what was expected, UTF-8 for instance.
    Invalid,
    /// Something else; the source says what.
    Other,
}

/// A failure with the path it happened at.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}: {}", path.display(), reason(*kind, source))]
pub struct FileError {
    /// What was tried: `read`, `write`, `create`...
    pub action: &'static str,
    /// Where.
    pub path: PathBuf,
    /// What kind of failure it is.
    pub kind: FileErrorKind,
    /// What the system said.
    pub source: io::Error,
}

impl FileError {
    /// A failure of `action` at `path`; the kind follows from the system's error.
    #[must_use]
    pub fn new(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        let kind = match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => FileErrorKind::NotFound,
            io::ErrorKind::PermissionDenied => FileErrorKind::Permission,
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => FileErrorKind::Full,
            io::ErrorKind::ReadOnlyFilesystem => FileErrorKind::ReadOnly,
            io::ErrorKind::InvalidData => FileErrorKind::Invalid,
            io::ErrorKind::WouldBlock => FileErrorKind::Locked,
            _ => FileErrorKind::Other,
        };
        Self {
            action,
            path: path.into(),
            kind,
            source,
        }
    }

    /// The form a user is shown, with a next step for each kind.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        let (code, hint) = match self.kind {
            FileErrorKind::NotFound => (
                "file::not-found",
                Some("check the path; relative paths start at the current folder"),
            ),
            FileErrorKind::Permission => (
                "file::permission",
                Some("change its owner or mode, or choose another place"),
            ),
            FileErrorKind::Full => (
                "file::disk-full",
                Some("free some space or choose another place; what was written before is intact"),
            ),
            FileErrorKind::ReadOnly => (
                "file::read-only",
                Some("choose a place on a writable file system"),
            ),
            FileErrorKind::Locked => (
                "file::locked",
                Some("wait for the other process to end, or stop it"),
            ),
            FileErrorKind::Invalid => ("file::invalid", None),
            FileErrorKind::Other => ("file::failed", None),
        };
        let mut diagnostic = Diagnostic::error(code, self.to_string());
        if let Some(hint) = hint {
            diagnostic = diagnostic.hint(hint);
        }
        if self.path == std::env::temp_dir() {
            // Nobody named this place, so nobody knows where to name another.
            diagnostic = diagnostic.hint("TMPDIR names the folder for temporary files");
        }
        diagnostic
    }
}

impl From<FileError> for Diagnostic {
    fn from(error: FileError) -> Self {
        error.diagnostic()
    }
}

fn reason(kind: FileErrorKind, source: &io::Error) -> String {
    match kind {
        FileErrorKind::NotFound => "no such file or folder".to_owned(),
        FileErrorKind::Permission => "permission denied".to_owned(),
        FileErrorKind::Full => "no space left".to_owned(),
        FileErrorKind::ReadOnly => "the file system is read-only".to_owned(),
        FileErrorKind::Locked => "another process holds it".to_owned(),
        FileErrorKind::Invalid | FileErrorKind::Other => source.to_string(),
    }
}

/// Opens a file for reading.
///
/// # Errors
/// When it cannot be opened, or is a folder.
pub fn open(path: &Path) -> Result<File, FileError> {
    let failed = |error| FileError::new("read", path, error);
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(failed(io::Error::other("it is a folder")));
    }
    Ok(file)
}

/// A file's bytes.
///
/// # Errors
/// When it cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut open(path)?, &mut bytes)
        .map_err(|error| FileError::new("read", path, error))?;
    Ok(bytes)
}

/// A file's text.
///
/// # Errors
/// When it cannot be read, or is not UTF-8 ([`FileErrorKind::Invalid`]).
pub fn read_text(path: &Path) -> Result<String, FileError> {
    String::from_utf8(read(path)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let text = format!("not UTF-8 text (byte {at})");
        FileError::new(
            "read",
            path,
            io::Error::new(io::ErrorKind::InvalidData, text),
        )
    })
}

/// Creates a folder and those above it.
///
/// # Errors
/// When it cannot be created, for instance because a file has that name.
pub fn create_dir_all(path: &Path) -> Result<(), FileError> {
    std::fs::create_dir_all(path).map_err(|error| FileError::new("create the folder", path, error))
}

/// Makes `path` hold exactly `bytes`, or leaves it as it was: the bytes go to
/// a temporary sibling, which is synced and renamed over it, and the folder is
/// synced.
///
/// # Errors
/// When any of that fails; the sibling is removed then.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_atomic_with(path, |file| file.write_all(bytes))
}

/// As [`write_atomic`], with the content written by `fill`.
///
/// # Errors
/// When `fill` or any step around it fails; `path` is as it was then.
pub fn write_atomic_with(
    path: &Path,
    fill: impl FnOnce(&mut io::BufWriter<&File>) -> io::Result<()>,
) -> Result<(), FileError> {
    let failed = |error| FileError::new("write", path, error);
    let parent = parent_of(path);
    let name = path
        .file_name()
        .ok_or_else(|| failed(io::Error::other("the path has no file name")))?;
    let prefix = format!(".{}.", name.to_string_lossy());
    let sibling = tempfile::Builder::new()
        .prefix(&prefix)
        .suffix(".partial")
        .tempfile_in(parent)
        .map_err(failed)?;
    let mut writer = io::BufWriter::new(sibling.as_file());
    fill(&mut writer).map_err(failed)?;
    writer.flush().map_err(failed)?;
    drop(writer);
    set_usual_mode(sibling.as_file(), path).map_err(failed)?;
    sibling.as_file().sync_all().map_err(failed)?;
    sibling.persist(path).map_err(|error| failed(error.error))?;
    sync_dir(parent)
}

/// Makes the names in a folder durable.
///
/// # Errors
/// When the folder cannot be opened or synced.
pub fn sync_dir(path: &Path) -> Result<(), FileError> {
    File::open(path)
        .and_then(|dir| dir.sync_all())
        .map_err(|error| FileError::new("sync the folder", path, error))
}

/// Temporary files are private to their owner; what they become should have
/// the mode of what they replace, or the usual one.
fn set_usual_mode(file: &File, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(path).map_or(0o644, |old| old.permissions().mode() & 0o777);
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

/// The folder a path is in; the current one for a bare name.
fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(dir)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn an_atomic_write_replaces_the_whole_content() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        write_atomic(&path, b"first and longer").unwrap();
        write_atomic(&path, b"second").unwrap();
        assert_eq!(read(&path).unwrap(), b"second");
        assert_eq!(names(dir.path()), ["a"]);
    }

    #[test]
    fn a_failed_write_leaves_the_old_content_and_no_sibling() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        write_atomic(&path, b"good").unwrap();
        let error = write_atomic_with(&path, |file| {
            file.write_all(b"half")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        })
        .unwrap_err();
        assert_eq!(error.kind, FileErrorKind::Full);
        assert_eq!(read(&path).unwrap(), b"good");
        assert_eq!(names(dir.path()), ["a"]);
    }

    #[test]
    fn a_full_device_is_recognised() {
        let mut full = std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let error = FileError::new("write", "/dev/full", full.write_all(b"x").unwrap_err());
        assert_eq!(error.kind, FileErrorKind::Full);
        assert_eq!(error.to_string(), "cannot write /dev/full: no space left");
        assert_eq!(error.diagnostic().code, "file::disk-full");
    }

    #[test]
    fn a_full_folder_of_temporary_files_can_be_moved() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let hints = |path| FileError::new("write", path, full()).diagnostic().hints;
        let (temporary, other) = (hints(std::env::temp_dir()), hints("/dev/full".into()));
        assert_eq!(temporary[0], other[0]);
        assert!(temporary[1].contains("TMPDIR") && other.len() == 1);
    }

    #[test]
    fn each_failure_names_its_kind_and_path() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, [0xff]).unwrap();
        let kind = |error: FileError| {
            assert!(
                error
                    .to_string()
                    .contains(&error.path.display().to_string()),
                "{error}"
            );
            error.kind
        };
        assert_eq!(
            kind(read(&dir.path().join("none")).unwrap_err()),
            FileErrorKind::NotFound
        );
        assert_eq!(
            kind(read(&file.join("below")).unwrap_err()),
            FileErrorKind::NotFound
        );
        assert_eq!(kind(read_text(&file).unwrap_err()), FileErrorKind::Invalid);
        assert_eq!(kind(read(dir.path()).unwrap_err()), FileErrorKind::Other);
        assert_eq!(
            kind(write_atomic(&dir.path().join("no/such"), b"").unwrap_err()),
            FileErrorKind::NotFound
        );
        assert_eq!(
            kind(create_dir_all(&file).unwrap_err()),
            FileErrorKind::Other
        );
        let read_only = FileError::new(
            "write",
            "p",
            io::Error::from(io::ErrorKind::ReadOnlyFilesystem),
        );
        assert_eq!(kind(read_only), FileErrorKind::ReadOnly);
    }

    #[test]
    fn the_mode_of_a_replaced_file_stays() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.sh");
        write_atomic(&path, b"1").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        write_atomic(&path, b"2").unwrap();
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o755
        );
    }
}
