//! Trees in one file, for machines without a network. A bundle is a tar archive;
//! what comes out of it is believed as little as what comes from a server:
//! only trees that the lock names are unpacked, and their hashes decide.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use cairn_base::files::Lock as FileLock;
use cairn_base::progress::Group;
use cairn_base::{FileError, files};
use tar::{Archive, Builder, EntryType, Header};

use crate::cache::{Cache, Standing};
use crate::checkout::file_mode;
use crate::error::DepsError;
use crate::index::{Index, remove_tree};
use crate::lock::Locked;
use crate::nar::{self, is_executable, sorted_entries};
use crate::project::Project;
use crate::sync;
use crate::tree;

/// The first member: its name and content say what the archive is.
const HEAD: (&str, &[u8]) = ("cairn-third-party-bundle", b"1\n");

/// Writes locked trees, verified, into one file.
///
/// # Errors
/// When a tree is not in the cache or not as locked, or the file cannot be written.
pub fn bundle(cache: &Cache, locked: &[&Locked], file: &Path) -> Result<(), DepsError> {
    for locked in locked {
        if cache.standing(locked) == Standing::Absent {
            return Err(DepsError::Missing {
                name: locked.name.clone(),
            });
        }
        cache.verify(locked, &cache.tree(locked))?;
    }
    // An error that has more to say than an error of input and output can.
    let mut inner = None;
    let written = files::write_atomic_with(file, |out| {
        let mut builder = Builder::new(out);
        let mut fill = || -> Result<(), DepsError> {
            member(
                &mut builder,
                HEAD.0.as_bytes(),
                EntryType::Regular,
                0o444,
                HEAD.1,
                HEAD.1.len() as u64,
            )?;
            for locked in locked {
                pack(
                    &mut builder,
                    &cache.tree(locked),
                    locked.tree_name().as_bytes(),
                )?;
            }
            Ok(())
        };
        if let Err(error) = fill() {
            let text = error.to_string();
            inner = Some(error);
            return Err(io::Error::other(text));
        }
        builder.finish()
    });
    match (written, inner) {
        (_, Some(error)) => Err(error),
        (Err(error), None) => Err(error.into()),
        (Ok(()), None) => Ok(()),
    }
}

fn pack(builder: &mut Builder<impl Write>, path: &Path, name: &[u8]) -> Result<(), DepsError> {
    let failed = |error| FileError::new("read", path, error);
    let metadata = fs::symlink_metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        member(builder, name, EntryType::Directory, 0o555, io::empty(), 0)?;
        for (inner, _) in sorted_entries(path)? {
            pack(
                builder,
                &path.join(&inner),
                &[name, inner.as_bytes()].join(&b'/'),
            )?;
        }
        return Ok(());
    }
    if metadata.is_symlink() {
        let target = fs::read_link(path).map_err(failed)?;
        let mut header = header(EntryType::Symlink, 0o444, 0);
        return Ok(builder
            .append_link(&mut header, OsStr::from_bytes(name), target)
            .map_err(write_error)?);
    }
    let file = File::open(path).map_err(failed)?;
    let mode = file_mode(is_executable(&metadata));
    member(
        builder,
        name,
        EntryType::Regular,
        mode,
        file,
        metadata.len(),
    )
}

fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    // The same trees make the same file: no times, no owners.
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header
}

fn member(
    builder: &mut Builder<impl Write>,
    name: &[u8],
    kind: EntryType,
    mode: u32,
    content: impl Read,
    size: u64,
) -> Result<(), DepsError> {
    let mut header = header(kind, mode, size);
    Ok(builder
        .append_data(&mut header, OsStr::from_bytes(name), content)
        .map_err(write_error)?)
}

fn write_error(error: io::Error) -> FileError {
    FileError::new("write", "the bundle", error)
}

/// What came of an import.
#[derive(Debug, Default)]
pub struct Imported {
    /// Projects whose trees are in the cache now.
    pub imported: Vec<String>,
    /// Projects whose trees were there already.
    pub present: Vec<String>,
    /// Trees in the bundle that the lock does not name.
    pub ignored: Vec<String>,
    /// Locked projects that are still not in the cache.
    pub lacking: Vec<String>,
}

/// Unpacks the trees of a bundle that the lock names.
///
/// # Errors
/// When the file is no bundle, something in it is hostile, or a tree is not as
/// locked; trees before it stay, nothing of it does.
pub fn import(project: &Project, cache: &Cache, file: &Path) -> Result<Imported, DepsError> {
    if cache.is_read_only() {
        return Err(DepsError::ReadOnly {
            dir: cache.dir().to_path_buf(),
            names: vec!["place to import into".to_owned()],
        });
    }
    files::create_dir_all(cache.dir())?;
    let mut unpacking = Unpacking {
        cache,
        file,
        locked: project
            .lock
            .entries
            .iter()
            .map(|locked| (locked.tree_name(), locked))
            .collect(),
        group: Group::new(),
        current: None,
        done: Imported::default(),
    };
    let result = unpacking.all();
    if let Some(current) = unpacking.current.take() {
        // Left over by an error, which says more.
        drop(remove_tree(&current.staging));
    }
    result?;
    let mut done = unpacking.done;
    for locked in &project.lock.entries {
        if cache.standing(locked) == Standing::Absent {
            done.lacking.push(locked.name.clone());
        }
    }
    Ok(done)
}

struct Unpacking<'a> {
    cache: &'a Cache,
    file: &'a Path,
    locked: BTreeMap<String, &'a Locked>,
    group: Group,
    current: Option<Current<'a>>,
    done: Imported,
}

/// The tree whose members come now.
struct Current<'a> {
    name: Vec<u8>,
    /// Nothing for a tree that is passed over.
    locked: Option<&'a Locked>,
    staging: PathBuf,
    /// The folders made for it, by path in it: nothing is written anywhere else.
    dirs: BTreeSet<Vec<u8>>,
    _held: Option<FileLock>,
}

impl<'a> Unpacking<'a> {
    fn no_bundle(&self, reason: impl Into<String>) -> DepsError {
        DepsError::Bundle {
            path: self.file.to_path_buf(),
            reason: reason.into(),
        }
    }

    fn all(&mut self) -> Result<(), DepsError> {
        let mut archive = Archive::new(BufReader::with_capacity(1 << 18, files::open(self.file)?));
        let unreadable = |this: &Self, error: &io::Error| this.no_bundle(error.to_string());
        let entries = archive
            .entries()
            .map_err(|error| unreadable(self, &error))?;
        let mut first = true;
        for entry in entries {
            let mut entry = entry.map_err(|error| unreadable(self, &error))?;
            let path = entry.path_bytes().into_owned();
            if first {
                let mut content = Vec::new();
                let small = (&mut entry).take(16).read_to_end(&mut content).is_ok();
                if path != HEAD.0.as_bytes() || !small || content != HEAD.1 {
                    return Err(
                        self.no_bundle("it was not made by `deps bundle`, or by a newer one")
                    );
                }
                first = false;
                continue;
            }
            let path = path.strip_suffix(b"/").unwrap_or(&path).to_vec();
            let (top, inner) = match path.iter().position(|byte| *byte == b'/') {
                Some(slash) => (&path[..slash], Some(&path[slash + 1..])),
                None => (path.as_slice(), None),
            };
            if self
                .current
                .as_ref()
                .is_none_or(|current| current.name != top)
            {
                self.finish()?;
                self.begin(top)?;
            }
            self.member(&mut entry, inner)?;
        }
        if first {
            return Err(self.no_bundle("it is empty"));
        }
        self.finish()
    }

    /// A tree begins: is it wanted?
    fn begin(&mut self, top: &[u8]) -> Result<(), DepsError> {
        let name = String::from_utf8_lossy(top).into_owned();
        let mut current = Current {
            name: top.to_vec(),
            locked: None,
            staging: PathBuf::new(),
            dirs: BTreeSet::new(),
            _held: None,
        };
        match self.locked.remove(&name) {
            None => self.done.ignored.push(name),
            Some(locked) => {
                let bar = self.group.add(locked.name.clone(), 0);
                let waiting =
                    || bar.println(format!("{}: another process has it; waiting", locked.name));
                let held = self.cache.lock(&locked.name, waiting)?;
                self.cache.sweep(&locked.name)?;
                if self.cache.standing(locked) == Standing::Fresh {
                    self.cache.set_link(locked)?;
                    self.done.present.push(locked.name.clone());
                } else {
                    current.locked = Some(locked);
                    current.staging = self.cache.partial(&locked.name);
                    current._held = Some(held);
                }
            }
        }
        self.current = Some(current);
        Ok(())
    }

    fn member(
        &mut self,
        entry: &mut tar::Entry<'_, impl Read>,
        inner: Option<&[u8]>,
    ) -> Result<(), DepsError> {
        let file = self.file;
        let Some(current) = &mut self.current else {
            return Ok(());
        };
        let Some(locked) = current.locked else {
            return Ok(());
        };
        let broken = |error: io::Error| DepsError::Bundle {
            path: file.to_path_buf(),
            reason: error.to_string(),
        };
        let hostile = |reason: &str| tree::hostile(&locked.name, inner.unwrap_or(b"."), reason);
        let kind = entry.header().entry_type();
        let Some(inner) = inner else {
            if kind != EntryType::Directory || !current.dirs.insert(Vec::new()) {
                return Err(hostile("is no folder, or twice there"));
            }
            return crate::checkout::fresh_dir(&current.staging);
        };
        for part in inner.split(|byte| *byte == b'/') {
            if let Some(reason) = tree::bad_name(part) {
                return Err(hostile(reason));
            }
        }
        let parent = inner.iter().rposition(|byte| *byte == b'/');
        if !current
            .dirs
            .contains(parent.map_or(&[][..], |slash| &inner[..slash]))
        {
            return Err(hostile("is in no folder of the bundle"));
        }
        let path = current.staging.join(OsStr::from_bytes(inner));
        let failed = |error| FileError::new("write", &path, error);
        match kind {
            EntryType::Directory => {
                fs::create_dir(&path).map_err(failed)?;
                current.dirs.insert(inner.to_vec());
            }
            EntryType::Symlink => {
                let target = entry.link_name_bytes().unwrap_or_default();
                symlink(OsStr::from_bytes(&target), &path).map_err(failed)?;
            }
            EntryType::Regular => {
                let executable = entry.header().mode().map_err(broken)? & 0o100 != 0;
                let mut out = OpenOptions::new()
                    .write(true)
                    .create_new(true)
                    .mode(file_mode(executable))
                    .open(&path)
                    .map_err(failed)?;
                let size = entry.size();
                let copied = io::copy(entry, &mut out).map_err(failed)?;
                if copied != size {
                    return Err(broken(io::Error::from(io::ErrorKind::UnexpectedEof)));
                }
            }
            _ => return Err(hostile("is neither file nor folder nor link")),
        }
        Ok(())
    }

    /// A tree is complete: its hash decides.
    fn finish(&mut self) -> Result<(), DepsError> {
        let Some(current) = &self.current else {
            return Ok(());
        };
        let Some(locked) = current.locked else {
            self.current = None;
            return Ok(());
        };
        let index = Index::seal(&locked.name, &current.staging, &BTreeMap::new())?;
        let found = nar::hash_path(&current.staging)?;
        if found != locked.tree_hash {
            return Err(DepsError::Hash {
                part: format!("the tree of {} in the bundle", locked.name),
                name: locked.name.clone(),
                expected: locked.tree_hash,
                found,
            });
        }
        sync::install(self.cache, locked, &current.staging, &index)?;
        self.cache.set_link(locked)?;
        self.done.imported.push(locked.name.clone());
        self.current = None;
        Ok(())
    }
}
