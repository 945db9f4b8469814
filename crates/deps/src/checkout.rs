//! From a revision in a store to files, hashing them on the way: git unpacks
//! objects while this side writes and hashes those before.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use cairn_base::{FileError, files};
use sha2::Sha256;

use crate::error::DepsError;
use crate::git::{Blobs, Git, Kind, Listed, Store, listing};
use crate::nar::{NarHash, Writer};
use crate::tree::{self, Dir, Node};

/// What was checked out.
#[derive(Debug)]
pub(crate) struct Checkout {
    /// Hash of the tree, submodules being empty folders.
    pub(crate) hash: NarHash,
    /// What was written where, by path in the tree.
    pub(crate) written: BTreeMap<Vec<u8>, Written>,
    /// Paths and revisions of the submodules.
    pub(crate) submodules: Vec<(Vec<u8>, String)>,
}

/// A file or link as it was written: enough to see later that it is still the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// Its object in git.
    pub(crate) oid: String,
    /// Its inode.
    pub(crate) ino: u64,
    /// When it was written last.
    pub(crate) mtime: (i64, i64),
}

/// Bytes that are read and written at once.
const PIECE: usize = 1 << 18;

/// Writes the tree of a revision into the empty folder `into`.
///
/// Attributes in the tree that change bytes at a checkout (`eol=crlf`, `ident`,
/// `working-tree-encoding`) count, as they do for everybody else; filters do not.
pub(crate) fn checkout(
    git: &Git,
    store: &Store,
    name: &str,
    rev: &str,
    into: &Path,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Checkout, DepsError> {
    let listed = listing(git, store, rev)?;
    let root = tree::build(name, &listed)?;
    let converted = converted(git, store, rev, &listed)?;
    let mut oids = Vec::new();
    collect(&root, &mut oids);
    let total = oids.len() as u64;
    let mut writer = TreeWriter {
        blobs: Blobs::start(git, store, oids)?,
        nar: Writer::hasher(),
        root: into.to_path_buf(),
        relative: Vec::new(),
        piece: vec![0; PIECE],
        written: BTreeMap::new(),
        converted,
        progress,
        total,
    };
    writer.dir(&root)?;
    let hash = writer.nar.finish();
    let submodules = listed
        .into_iter()
        .filter(|entry| entry.kind == Kind::Submodule)
        .map(|entry| (entry.path, entry.oid))
        .collect();
    Ok(Checkout {
        hash,
        written: writer.written,
        submodules,
    })
}

/// The objects of files and links, in the order of the archive.
fn collect<'a>(dir: &'a Dir, oids: &mut Vec<&'a str>) {
    for node in dir.values() {
        match node {
            Node::Dir(inner) => collect(inner, oids),
            Node::File { oid, .. } | Node::Symlink(oid) => oids.push(oid),
            Node::Submodule => {}
        }
    }
}

struct TreeWriter<'a> {
    blobs: Blobs,
    nar: Writer<Sha256>,
    root: PathBuf,
    relative: Vec<u8>,
    piece: Vec<u8>,
    written: BTreeMap<Vec<u8>, Written>,
    converted: BTreeMap<Vec<u8>, Vec<u8>>,
    progress: &'a mut dyn FnMut(u64, u64),
    total: u64,
}

impl TreeWriter<'_> {
    fn dir(&mut self, dir: &Dir) -> Result<(), DepsError> {
        self.nar.open_dir();
        for (name, node) in dir {
            let length = self.relative.len();
            if length > 0 {
                self.relative.push(b'/');
            }
            self.relative.extend_from_slice(name);
            self.nar.open_entry(name);
            self.node(node)?;
            self.nar.close_entry();
            self.relative.truncate(length);
        }
        self.nar.close_dir();
        Ok(())
    }

    fn node(&mut self, node: &Node) -> Result<(), DepsError> {
        let path = self.root.join(OsStr::from_bytes(&self.relative));
        match node {
            Node::Dir(inner) => {
                make_dir(&path)?;
                return self.dir(inner);
            }
            Node::Submodule => {
                make_dir(&path)?;
                return self.dir(&Dir::new());
            }
            Node::Symlink(oid) => {
                let target = self.blobs.whole(oid)?;
                symlink(OsStr::from_bytes(&target), &path)
                    .map_err(|error| FileError::new("create the link", &path, error))?;
                self.nar.symlink(&target);
                self.note(&path, oid, None)?;
            }
            Node::File { executable, oid } => {
                let file = self.file(&path, *executable, oid)?;
                self.note(&path, oid, Some(&file))?;
            }
        }
        (self.progress)(self.written.len() as u64, self.total);
        Ok(())
    }

    fn file(&mut self, path: &Path, executable: bool, oid: &str) -> Result<File, DepsError> {
        let failed = |error| FileError::new("write", path, error);
        let mode = file_mode(executable);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(path)
            .map_err(failed)?;
        if let Some(content) = self.converted.get(&self.relative) {
            let content = content.clone();
            self.blobs.whole(oid)?;
            self.nar.file(executable, &content);
            file.write_all(&content).map_err(failed)?;
        } else {
            let size = self.blobs.next(oid)?;
            self.nar.open_file(executable, size);
            let mut left = size;
            while left > 0 {
                let most = usize::try_from(left).map_or(PIECE, |left| left.min(PIECE));
                let piece = &mut self.piece[..most];
                self.blobs.read(piece)?;
                self.nar.content(piece);
                file.write_all(piece).map_err(failed)?;
                left -= most as u64;
            }
            self.nar.close_file(size);
            self.blobs.end()?;
        }
        // The user's mask may have taken something away.
        if file.metadata().map_err(failed)?.mode() & 0o777 != mode {
            file.set_permissions(fs::Permissions::from_mode(mode))
                .map_err(failed)?;
        }
        Ok(file)
    }

    fn note(&mut self, path: &Path, oid: &str, file: Option<&File>) -> Result<(), DepsError> {
        let metadata = match file {
            Some(file) => file.metadata(),
            None => fs::symlink_metadata(path),
        };
        let metadata = metadata.map_err(|error| FileError::new("read", path, error))?;
        let written = Written {
            oid: oid.to_owned(),
            ino: metadata.ino(),
            mtime: (metadata.mtime(), metadata.mtime_nsec()),
        };
        self.written.insert(self.relative.clone(), written);
        Ok(())
    }
}

/// Trees are read-only; what is a program stays one.
pub(crate) fn file_mode(executable: bool) -> u32 {
    if executable { 0o555 } else { 0o444 }
}

fn make_dir(path: &Path) -> Result<(), DepsError> {
    fs::create_dir(path).map_err(|error| FileError::new("create the folder", path, error).into())
}

/// The files that a checkout changes because the tree's own attributes say so.
/// Most trees have none, which a look at their attribute files tells.
fn converted(
    git: &Git,
    store: &Store,
    rev: &str,
    listed: &[Listed],
) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, DepsError> {
    let attributes: Vec<&str> = listed
        .iter()
        .filter(|entry| {
            entry.path.rsplit(|byte| *byte == b'/').next() == Some(b".gitattributes".as_slice())
                && matches!(entry.kind, Kind::File { .. })
        })
        .map(|entry| entry.oid.as_str())
        .collect();
    if attributes.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut blobs = Blobs::start(git, store, attributes.iter().copied())?;
    let mut any = false;
    for oid in attributes {
        any |= changes_bytes(&blobs.whole(oid)?);
    }
    if !any {
        return Ok(BTreeMap::new());
    }
    let mut converted = BTreeMap::new();
    for path in affected(git, store, rev, listed)? {
        let oid = listed
            .iter()
            .find(|entry| entry.path == path && matches!(entry.kind, Kind::File { .. }))
            .map(|entry| entry.oid.as_str());
        if let Some(oid) = oid {
            let exec = with_attributes(git, store, rev)
                .args(["cat-file", "--filters", "--path"])
                .arg(OsStr::from_bytes(&path))
                .arg(oid);
            converted.insert(path, git.output(&exec)?.stdout);
        }
    }
    Ok(converted)
}

/// True when attributes may change what a checkout writes.
fn changes_bytes(attributes: &[u8]) -> bool {
    let has = |word: &[u8]| attributes.windows(word.len()).any(|window| window == word);
    has(b"crlf") || has(b"ident") || has(b"working-tree-encoding")
}

/// The paths whose attributes change bytes.
fn affected(
    git: &Git,
    store: &Store,
    rev: &str,
    listed: &[Listed],
) -> Result<Vec<Vec<u8>>, DepsError> {
    let mut paths = Vec::new();
    for entry in listed {
        if matches!(entry.kind, Kind::File { .. }) {
            paths.extend_from_slice(&entry.path);
            paths.push(0);
        }
    }
    let exec = with_attributes(git, store, rev)
        .args(["check-attr", "-z", "--stdin"])
        .args(["eol", "crlf", "ident", "working-tree-encoding"])
        .stdin(paths);
    let output = git.output(&exec)?.stdout;
    let mut fields = output.split(|byte| *byte == 0);
    let mut affected: Vec<Vec<u8>> = Vec::new();
    while let (Some(path), Some(_), Some(value)) = (fields.next(), fields.next(), fields.next()) {
        let plain: [&[u8]; 5] = [b"unspecified", b"unset", b"lf", b"input", b""];
        if !plain.contains(&value) && affected.last().is_none_or(|last| last != path) {
            affected.push(path.to_vec());
        }
    }
    Ok(affected)
}

/// Git with the attributes of the revision's own tree.
fn with_attributes(git: &Git, store: &Store, rev: &str) -> cairn_base::Exec {
    store.local(git).arg(format!("--attr-source={rev}"))
}

/// Makes the folder that a tree is written into.
pub(crate) fn fresh_dir(path: &Path) -> Result<(), DepsError> {
    if let Some(parent) = path.parent() {
        files::create_dir_all(parent)?;
    }
    make_dir(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_that_change_bytes_are_noticed() {
        assert!(changes_bytes(b"*.bat text eol=crlf\n"));
        assert!(changes_bytes(b"* ident\n"));
        assert!(!changes_bytes(
            b"* text=auto\n*.png binary\n*.x filter=lfs diff=lfs\n"
        ));
    }
}
