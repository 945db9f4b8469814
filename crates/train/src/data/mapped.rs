//! The one place that maps files into memory.

use std::path::Path;

use cairn_base::{FileError, files};
use memmap2::Mmap;

/// A file's content, mapped read-only. An empty file is an empty map.
///
/// # Errors
/// When the file cannot be opened or mapped.
#[allow(
    unsafe_code,
    reason = "mapping a file is unsafe because others may change it"
)]
pub fn map_file(path: &Path) -> Result<Mmap, FileError> {
    let file = files::open(path)?;
    // SAFETY: the map is only ever read as plain bytes, for which every bit
    // pattern is valid. Files of ours are complete when they get their name
    // and are never written again; for a user's file we ask the same, as
    // truncating it below a reader would end the process with SIGBUS.
    unsafe { Mmap::map(&file) }.map_err(|error| FileError::new("map", path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        for content in [&b""[..], b"some bytes"] {
            std::fs::write(&path, content).unwrap();
            assert_eq!(&map_file(&path).unwrap()[..], content);
        }
        assert!(map_file(&dir.path().join("none")).is_err());
    }
}
