//! The kernel sources, and which architecture each belongs to.

use std::path::{Path, PathBuf};

use cairn_base::files::{self, FileError};
use cairn_base::hash::Fingerprint;
use cairn_codeobj::Arch;

use crate::declaration::{self, Declaration};
use crate::{KernelsError, archs};

/// A source file.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file's name without `.hip`.
    pub name: String,
    /// The only architecture it is for, by its suffix.
    pub only: Option<Arch>,
    /// Its text.
    pub text: String,
    /// What its header comment declares.
    pub declarations: Vec<Declaration>,
}

impl Source {
    /// The file's name.
    #[must_use]
    pub fn file(&self) -> String {
        format!("{}.hip", self.name)
    }

    /// True when it is compiled for this architecture.
    #[must_use]
    pub fn is_for(&self, arch: Arch) -> bool {
        self.only.is_none_or(|only| only == arch)
    }

    /// The declaration of an entry point.
    #[must_use]
    pub fn declaration(&self, entry: &str) -> Option<&Declaration> {
        let names =
            |declaration: &&Declaration| declaration.kernels.iter().any(|name| name == entry);
        self.declarations.iter().find(names)
    }
}

/// All that kernels are made from.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The folder.
    pub dir: PathBuf,
    /// The sources, by name.
    pub sources: Vec<Source>,
    /// A hash of all headers and their names.
    pub headers_hash: String,
}

impl Tree {
    /// Reads a folder with `*.hip` and the headers in `include/`.
    ///
    /// # Errors
    /// When a file cannot be read, there are none, a suffix names no
    /// architecture, or a header comment is wrong.
    pub fn read(dir: &Path) -> Result<Self, KernelsError> {
        let mut sources = Vec::new();
        for path in list(dir, "hip")? {
            sources.push(read_source(&path)?);
        }
        if sources.is_empty() {
            return Err(KernelsError::NoSources(dir.to_path_buf()));
        }
        let mut print = Fingerprint::new();
        for path in list(&dir.join("include"), "h")? {
            print.part(file_name(&path)).part(files::read(&path)?);
        }
        Ok(Self {
            dir: dir.to_path_buf(),
            sources,
            headers_hash: print.finish(),
        })
    }

    /// The sources that are compiled for an architecture.
    pub fn for_arch(&self, arch: Arch) -> impl Iterator<Item = &Source> {
        self.sources
            .iter()
            .filter(move |source| source.is_for(arch))
    }

    /// A hash of all that the kernels of an architecture are made from.
    #[must_use]
    pub fn hash_for(&self, arch: Arch) -> String {
        let mut print = Fingerprint::new();
        print.part(&self.headers_hash);
        for source in self.for_arch(arch) {
            print.part(&source.name).part(&source.text);
        }
        print.finish()
    }

    /// The names of all declared entry points, each once, in order.
    #[must_use]
    pub fn entries(&self) -> Vec<&str> {
        let declarations = self.sources.iter().flat_map(|source| &source.declarations);
        let mut names: Vec<_> = declarations
            .flat_map(|declaration| declaration.kernels.iter().map(String::as_str))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

fn read_source(path: &Path) -> Result<Source, KernelsError> {
    let file = file_name(path);
    let name = file.strip_suffix(".hip").unwrap_or(&file).to_owned();
    let text = files::read_text(path)?;
    Ok(Source {
        only: only_for(&name)?,
        declarations: declaration::parse(&file, &text)?,
        name,
        text,
    })
}

/// The architecture that a suffix such as `_gfx942` names.
fn only_for(name: &str) -> Result<Option<Arch>, KernelsError> {
    let Some((_, suffix)) = name.rsplit_once("_gfx") else {
        return Ok(None);
    };
    let arch =
        Arch::from_name(&format!("gfx{suffix}")).filter(|arch| archs::BUILDABLE.contains(arch));
    match arch {
        Some(arch) => Ok(Some(arch)),
        None => Err(KernelsError::UnknownSuffix {
            source_name: format!("{name}.hip"),
            suffix: format!("_gfx{suffix}"),
        }),
    }
}

/// The files of a folder with this ending, by name.
fn list(dir: &Path, ending: &str) -> Result<Vec<PathBuf>, FileError> {
    let failed = |error| FileError::new("read the folder", dir, error);
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|found| found == ending) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "// kernels: k\n// computes: c\n// tiles: t\n// lds: none\n// limit: workgroup 64, vgprs 8, sgprs 16, lds 0\n";

    fn tree(files: &[&str]) -> Result<Tree, KernelsError> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("include")).unwrap();
        for file in files {
            std::fs::write(dir.path().join(file), HEADER).unwrap();
        }
        Tree::read(dir.path())
    }

    fn names(tree: &Tree, arch: Arch) -> Vec<&str> {
        tree.for_arch(arch)
            .map(|source| source.name.as_str())
            .collect()
    }

    #[test]
    fn a_suffix_ties_a_source_to_its_architecture() {
        let tree = tree(&["b_gfx950.hip", "a.hip", "b.hip", "a_gfx942.hip", "notes.md"]).unwrap();
        assert_eq!(names(&tree, Arch::Gfx90a), ["a", "b"]);
        assert_eq!(names(&tree, Arch::Gfx942), ["a", "a_gfx942", "b"]);
        assert_eq!(names(&tree, Arch::Gfx950), ["a", "b", "b_gfx950"]);
        assert_eq!(tree.entries(), ["k"]);
        assert_ne!(tree.hash_for(Arch::Gfx942), tree.hash_for(Arch::Gfx950));
    }

    #[test]
    fn a_wrong_suffix_and_an_empty_folder_are_told() {
        let wrong = tree(&["a_gfx943.hip"]).unwrap_err();
        assert!(wrong.to_string().contains("`_gfx943`"), "{wrong}");
        assert!(matches!(
            tree(&["a.cu"]).unwrap_err(),
            KernelsError::NoSources(_)
        ));
    }

    #[test]
    fn headers_are_part_of_the_hash() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("include")).unwrap();
        std::fs::write(dir.path().join("a.hip"), HEADER).unwrap();
        let before = Tree::read(dir.path()).unwrap().hash_for(Arch::Gfx942);
        std::fs::write(dir.path().join("include/x.h"), "").unwrap();
        assert_ne!(
            Tree::read(dir.path()).unwrap().hash_for(Arch::Gfx942),
            before
        );
    }
}
