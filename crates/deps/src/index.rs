//! The state of every file of a tree, kept beside it: a sync with nothing to do
//! compares states instead of contents, and a tree whose hash is wrong can be
//! told file by file.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use cairn_base::{FileError, files, hash};
use rustix::fs::{AtFlags, statat};
use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::checkout::{Written, file_mode};
use crate::error::DepsError;
use crate::nar::{NarHash, is_executable, sorted_entries};
use crate::tree;

/// The first line of an index, before the tree's hash.
const MAGIC: &str = "cairn-index 1 ";

/// All states of a tree.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    /// The hash the tree had when the states were taken.
    pub(crate) tree_hash: Option<NarHash>,
    /// Every name in the tree, folders before what they hold.
    pub(crate) states: Vec<State>,
}

/// The state of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    /// Its path in the tree.
    path: Vec<u8>,
    /// `d`, `f`, `x` (an executable file), `l`, or `?` for what no tree holds.
    kind: u8,
    mode: u32,
    size: u64,
    mtime: i128,
    ctime: i128,
    ino: u64,
    /// The hash git has for its content; `-` for a folder.
    oid: String,
}

impl Index {
    /// The bytes in all files.
    pub(crate) fn size(&self) -> u64 {
        let files = self.states.iter().filter(|state| is_file(state.kind));
        files.map(|state| state.size).sum()
    }

    /// Makes a finished tree read-only, refuses what is hostile in it, and takes
    /// the state of everything. `written` spares hashing what is as it was written.
    pub(crate) fn seal(
        name: &str,
        root: &Path,
        written: &BTreeMap<Vec<u8>, Written>,
    ) -> Result<Self, DepsError> {
        let mut walk = Walk {
            name,
            seal: true,
            object: object_of(written),
            written,
            states: Vec::new(),
            links: BTreeMap::new(),
        };
        walk.dir(root, &[])?;
        if let Some((path, reason)) = tree::bad_link(&walk.links) {
            return Err(tree::hostile(name, &path, reason));
        }
        Ok(Self {
            tree_hash: None,
            states: walk.states,
        })
    }

    /// Takes the state of a tree as it is. With `objects`, contents are hashed
    /// as git does; without, only what the system knows is taken.
    fn take(root: &Path, object: Object) -> Result<Self, DepsError> {
        let mut walk = Walk {
            name: "",
            seal: false,
            object,
            written: &BTreeMap::new(),
            states: Vec::new(),
            links: BTreeMap::new(),
        };
        walk.dir(root, &[])?;
        Ok(Self {
            tree_hash: None,
            states: walk.states,
        })
    }

    /// True when nothing was touched since the states were taken, as far as the
    /// system knows: contents are not read.
    pub(crate) fn is_untouched(&self, root: &Path) -> bool {
        let Ok(dir) = File::open(root) else {
            return false;
        };
        // A name that was added or removed changes its folder's time.
        self.states.iter().all(|state| {
            let path = if state.path.is_empty() {
                OsStr::new(".")
            } else {
                OsStr::from_bytes(&state.path)
            };
            statat(&dir, path, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|now| {
                let seconds = |seconds: i64, nanos: u64| time(seconds, nanos as i64);
                // The root's own change time moves when the tree is put in place.
                let same_change = state.path.is_empty()
                    || seconds(now.st_ctime, now.st_ctime_nsec) == state.ctime;
                now.st_ino == state.ino
                    && now.st_mode & 0o7777 == state.mode
                    && (state.kind == b'd' || now.st_size as u64 == state.size)
                    && seconds(now.st_mtime, now.st_mtime_nsec) == state.mtime
                    && same_change
            })
        })
    }

    /// How the tree at `root` differs from the one whose states these are, by
    /// content, kind and executable bit.
    pub(crate) fn changes(&self, root: &Path) -> Result<Vec<String>, DepsError> {
        let longest = self.states.iter().map(|state| state.oid.len()).max();
        let object = if longest == Some(64) {
            Object::Sha256
        } else {
            Object::Sha1
        };
        let now = Self::take(root, object)?;
        let by_path = |index: &Self| -> BTreeMap<Vec<u8>, (u8, String)> {
            let states = index.states.iter();
            states
                .map(|state| (state.path.clone(), (state.kind, state.oid.clone())))
                .collect()
        };
        let (then, now) = (by_path(self), by_path(&now));
        let show = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
        let mut changes = Vec::new();
        for (path, (kind, oid)) in &then {
            match now.get(path) {
                None => changes.push(format!("{} is missing", show(path))),
                Some((now_kind, now_oid)) if now_oid != oid => {
                    let what = if is_file(*kind) == is_file(*now_kind) {
                        "has other content"
                    } else {
                        "is of another kind"
                    };
                    changes.push(format!("{} {what}", show(path)));
                }
                Some((now_kind, _)) if now_kind != kind => {
                    let what = match (kind, now_kind) {
                        (b'f', b'x') => "became executable",
                        (b'x', b'f') => "is no longer executable",
                        _ => "is of another kind",
                    };
                    changes.push(format!("{} {what}", show(path)));
                }
                Some(_) => {}
            }
        }
        let added = now.keys().filter(|path| !then.contains_key(*path));
        changes.extend(added.map(|path| format!("{} was added", show(path))));
        Ok(changes)
    }

    /// Reads an index; `None` when there is none that can be used.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        parse(&files::read(path).ok()?)
    }

    /// Writes the index of a tree with this hash.
    pub(crate) fn write(&self, path: &Path, tree_hash: &NarHash) -> Result<(), DepsError> {
        if let Some(parent) = path.parent() {
            files::create_dir_all(parent)?;
        }
        let mut text = format!("{MAGIC}{tree_hash}\n").into_bytes();
        for state in &self.states {
            let head = format!(
                "{} {:o} {} {} {} {} {} ",
                char::from(state.kind),
                state.mode,
                state.size,
                state.mtime,
                state.ctime,
                state.ino,
                state.oid
            );
            text.extend_from_slice(head.as_bytes());
            text.extend_from_slice(&state.path);
            text.push(0);
        }
        Ok(files::write_atomic(path, &text)?)
    }
}

fn parse(bytes: &[u8]) -> Option<Index> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let tree_hash = head.strip_prefix(MAGIC)?.parse().ok()?;
    let mut states = Vec::new();
    for line in bytes[end + 1..].split(|byte| *byte == 0) {
        if line.is_empty() {
            continue;
        }
        let mut fields = line.splitn(8, |byte| *byte == b' ');
        let mut text = || std::str::from_utf8(fields.next()?).ok();
        let kind = *text()?.as_bytes().first()?;
        states.push(State {
            kind,
            mode: u32::from_str_radix(text()?, 8).ok()?,
            size: text()?.parse().ok()?,
            mtime: text()?.parse().ok()?,
            ctime: text()?.parse().ok()?,
            ino: text()?.parse().ok()?,
            oid: text()?.to_owned(),
            path: fields.next()?.to_vec(),
        });
    }
    // An index that was cut off ends without its last zero.
    (bytes.ends_with(&[0]) && !states.is_empty()).then_some(Index {
        tree_hash: Some(tree_hash),
        states,
    })
}

/// Which hash git has for contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Object {
    Sha1,
    Sha256,
}

fn object_of(written: &BTreeMap<Vec<u8>, Written>) -> Object {
    match written.values().next() {
        Some(written) if written.oid.len() == 64 => Object::Sha256,
        _ => Object::Sha1,
    }
}

struct Walk<'a> {
    name: &'a str,
    seal: bool,
    object: Object,
    written: &'a BTreeMap<Vec<u8>, Written>,
    states: Vec<State>,
    links: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Walk<'_> {
    fn dir(&mut self, path: &Path, relative: &[u8]) -> Result<(), DepsError> {
        let failed = |error| FileError::new("read", path, error);
        let place = self.states.len();
        let metadata = fs::symlink_metadata(path).map_err(failed)?;
        self.states
            .push(state(relative, b'd', &metadata, "-".to_owned()));
        let entries = sorted_entries(path)?;
        if self.seal {
            self.check_names(relative, entries.iter().map(|(name, _)| name.as_bytes()))?;
        }
        for (name, kind) in entries {
            let mut inner = relative.to_vec();
            if !inner.is_empty() {
                inner.push(b'/');
            }
            inner.extend_from_slice(name.as_bytes());
            let path = path.join(&name);
            if kind.is_dir() {
                self.dir(&path, &inner)?;
            } else {
                self.leaf(&path, &inner)?;
            }
        }
        if self.seal {
            fs::set_permissions(path, fs::Permissions::from_mode(0o555))
                .map_err(|error| FileError::new("write", path, error))?;
            // The times of a folder are final when everything in it is.
            let metadata = fs::symlink_metadata(path).map_err(failed)?;
            self.states[place] = state(relative, b'd', &metadata, "-".to_owned());
        }
        Ok(())
    }

    fn check_names<'b>(
        &self,
        relative: &[u8],
        names: impl Iterator<Item = &'b [u8]> + Clone,
    ) -> Result<(), DepsError> {
        let within = |name: &[u8]| [relative, name].join(&b'/');
        for name in names.clone() {
            if let Some(reason) = tree::bad_name(name) {
                return Err(tree::hostile(self.name, &within(name), reason));
            }
        }
        if let Some((one, other)) = tree::case_collision(names) {
            let reason = format!("differs from `{one}` in case only");
            return Err(tree::hostile(self.name, &within(other.as_bytes()), &reason));
        }
        Ok(())
    }

    fn leaf(&mut self, path: &Path, relative: &[u8]) -> Result<(), DepsError> {
        let failed = |error| FileError::new("read", path, error);
        let mut metadata = fs::symlink_metadata(path).map_err(failed)?;
        if metadata.is_symlink() {
            let target = fs::read_link(path).map_err(failed)?;
            let target = target.as_os_str().as_bytes().to_vec();
            let oid = object(self.object, &target);
            self.states.push(state(relative, b'l', &metadata, oid));
            self.links.insert(relative.to_vec(), target);
            return Ok(());
        }
        if !metadata.is_file() && !self.seal {
            self.states
                .push(state(relative, b'?', &metadata, "-".to_owned()));
            return Ok(());
        }
        if !metadata.is_file() {
            let reason = "is neither file nor folder nor link";
            return Err(tree::hostile(self.name, relative, reason));
        }
        let executable = is_executable(&metadata);
        let mode = file_mode(executable);
        if self.seal && metadata.permissions().mode() & 0o7777 != mode {
            fs::set_permissions(path, fs::Permissions::from_mode(mode))
                .map_err(|error| FileError::new("write", path, error))?;
            metadata = fs::symlink_metadata(path).map_err(failed)?;
        }
        let known = self.written.get(relative).filter(|written| {
            written.ino == metadata.ino()
                && written.mtime == (metadata.mtime(), metadata.mtime_nsec())
        });
        let oid = match known {
            Some(written) => written.oid.clone(),
            None => object_of_file(self.object, path, metadata.len())?,
        };
        let kind = if executable { b'x' } else { b'f' };
        self.states.push(state(relative, kind, &metadata, oid));
        Ok(())
    }
}

fn state(path: &[u8], kind: u8, metadata: &fs::Metadata, oid: String) -> State {
    State {
        path: path.to_vec(),
        kind,
        mode: metadata.mode() & 0o7777,
        size: if kind == b'd' { 0 } else { metadata.size() },
        mtime: time(metadata.mtime(), metadata.mtime_nsec()),
        ctime: time(metadata.ctime(), metadata.ctime_nsec()),
        ino: metadata.ino(),
        oid,
    }
}

fn time(seconds: i64, nanos: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanos)
}

fn is_file(kind: u8) -> bool {
    matches!(kind, b'f' | b'x')
}

/// Git's hash of a content: over the word `blob`, its length, a zero and its bytes.
fn object(kind: Object, content: &[u8]) -> String {
    let head = format!("blob {}\0", content.len());
    match kind {
        Object::Sha1 => hash::hex(
            &Sha1::new()
                .chain_update(head)
                .chain_update(content)
                .finalize(),
        ),
        Object::Sha256 => hash::hex(
            &Sha256::new()
                .chain_update(head)
                .chain_update(content)
                .finalize(),
        ),
    }
}

fn object_of_file(kind: Object, path: &Path, size: u64) -> Result<String, DepsError> {
    match kind {
        Object::Sha1 => hash_file::<Sha1>(path, size),
        Object::Sha256 => hash_file::<Sha256>(path, size),
    }
}

fn hash_file<D: Digest>(path: &Path, size: u64) -> Result<String, DepsError> {
    let failed = |error| FileError::new("read", path, error);
    let mut hasher = D::new().chain_update(format!("blob {size}\0"));
    let mut file = File::open(path).map_err(failed)?;
    let mut piece = vec![0; 1 << 18];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(hash::hex(&hasher.finalize())),
            Ok(length) => hasher.update(&piece[..length]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error).into()),
        }
    }
}

/// Removes a tree, read-only folders included; no tree is no error.
pub(crate) fn remove_tree(path: &Path) -> Result<(), DepsError> {
    let failed = |error| FileError::new("remove", path, error);
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error).into()),
        Ok(metadata) if !metadata.is_dir() => {
            return Ok(fs::remove_file(path).map_err(failed)?);
        }
        Ok(_) => {}
    }
    match fs::remove_dir_all(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            make_writable(path).map_err(failed)?;
            Ok(fs::remove_dir_all(path).map_err(failed)?)
        }
        // The second error says more about what is left than the first.
        Err(_) => Ok(fs::remove_dir_all(path).map_err(failed)?),
    }
}

fn make_writable(dir: &Path) -> std::io::Result<()> {
    fs::set_permissions(dir, fs::Permissions::from_mode(0o755))?;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_writable(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("t");
        fs::create_dir_all(root.join("sub/empty")).unwrap();
        fs::write(root.join("sub/f"), "hello\n").unwrap();
        fs::write(root.join("run"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(root.join("run"), fs::Permissions::from_mode(0o744)).unwrap();
        symlink("sub/f", root.join("link")).unwrap();
        dir
    }

    #[test]
    fn a_sealed_tree_is_read_only_and_reads_back() {
        let dir = tree();
        let root = dir.path().join("t");
        let index = Index::seal("t", &root, &BTreeMap::new()).unwrap();
        let mode = |path: &str| fs::metadata(root.join(path)).unwrap().mode() & 0o777;
        assert_eq!(
            (mode("."), mode("sub/f"), mode("run"), mode("sub")),
            (0o555, 0o444, 0o555, 0o555)
        );
        assert!(index.is_untouched(&root));
        assert_eq!(index.size(), 16);
        // What `git hash-object` gives for this content.
        let object = "ce013625030ba8dba906f756967f9e9ca394464a";
        assert!(index.states.iter().any(|state| state.oid == object));
        let path = dir.path().join("index");
        index.write(&path, &NarHash::new([1; 32])).unwrap();
        let read = Index::read(&path).unwrap();
        assert_eq!(read.states, index.states);
        assert_eq!(read.tree_hash, Some(NarHash::new([1; 32])));
        let bytes = fs::read(&path).unwrap();
        assert_eq!(parse(&bytes[..bytes.len() - 1]), None);
        remove_tree(&root).unwrap();
        remove_tree(&root).unwrap();
        assert!(!root.exists());
    }

    #[test]
    fn each_change_is_noticed_and_named() {
        type Change = fn(&Path);
        let table: [(&str, Change); 6] = [
            ("sub/f has other content", |root| {
                let path = root.join("sub/f");
                let before = fs::metadata(&path).unwrap().modified().unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
                fs::write(&path, "hellO\n").unwrap();
                File::options()
                    .write(true)
                    .open(&path)
                    .unwrap()
                    .set_modified(before)
                    .unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
            }),
            ("run is no longer executable", |root| {
                fs::set_permissions(root.join("run"), fs::Permissions::from_mode(0o444)).unwrap();
            }),
            ("sub/f became executable", |root| {
                fs::set_permissions(root.join("sub/f"), fs::Permissions::from_mode(0o555)).unwrap();
            }),
            ("sub/empty/new was added", |root| {
                make_writable(root).unwrap();
                fs::write(root.join("sub/empty/new"), "").unwrap();
            }),
            ("sub/f is missing", |root| {
                make_writable(root).unwrap();
                fs::remove_file(root.join("sub/f")).unwrap();
            }),
            ("link has other content", |root| {
                make_writable(root).unwrap();
                fs::remove_file(root.join("link")).unwrap();
                symlink("run", root.join("link")).unwrap();
            }),
        ];
        for (want, change) in table {
            let dir = tree();
            let root = dir.path().join("t");
            let index = Index::seal("t", &root, &BTreeMap::new()).unwrap();
            assert_eq!(index.changes(&root).unwrap(), Vec::<String>::new());
            change(&root);
            assert!(!index.is_untouched(&root), "{want}");
            let changes = index.changes(&root).unwrap();
            assert_eq!(
                changes.first().map(String::as_str),
                Some(want),
                "{changes:?}"
            );
        }
    }

    #[test]
    fn hostile_trees_are_not_sealed() {
        type Change = fn(&Path);
        let table: [(&str, Change); 4] = [
            ("out of the tree", |root| {
                symlink("../../x", root.join("l")).unwrap();
            }),
            ("in case only", |root| {
                fs::write(root.join("RUN"), "").unwrap();
            }),
            ("git's own", |root| {
                fs::create_dir(root.join("sub/.git")).unwrap();
            }),
            ("neither file", |root| {
                // The listener's file outlives it.
                std::os::unix::net::UnixListener::bind(root.join("s")).unwrap();
            }),
        ];
        for (want, change) in table {
            let dir = tree();
            let root = dir.path().join("t");
            change(&root);
            let error = Index::seal("t", &root, &BTreeMap::new()).unwrap_err();
            assert!(error.to_string().contains(want), "{error}");
        }
    }
}
