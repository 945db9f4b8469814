//! What was built for an architecture: `target/kernels/<arch>/manifest.json`.
//! Whoever loads a kernel finds it here, with its arguments and needs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cairn_base::{files, hash};
use cairn_codeobj::{Arch, CodeObject, CodeObjectError, Kernel};
use serde::{Deserialize, Serialize};

use crate::KernelsError;
use crate::declaration::Limit;
use crate::source::Tree;

/// The form of the file.
const FORMAT: u32 = 1;

/// The kernels of an architecture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    format: u32,
    /// The architecture.
    pub arch: String,
    /// A hash of all sources and headers they were made from.
    pub sources_hash: String,
    /// What compiled them, in a line.
    pub compiler: String,
    /// A hash of what the compiler tells about itself.
    pub compiler_identity: String,
    /// The flags, without files.
    pub flags: Vec<String>,
    /// The files beside the manifest, by name.
    pub objects: BTreeMap<String, Object>,
    /// The entry points, by name.
    pub kernels: BTreeMap<String, Entry>,
}

/// A code object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// The source it was made from.
    pub source: String,
    /// A hash of the preprocessed source, flags, compiler and architecture.
    pub key: String,
    /// A hash of the file.
    pub blake3: String,
}

/// An entry point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The code object that has it.
    pub object: String,
    /// The source.
    pub source: String,
    /// What a workgroup computes, as the source says.
    pub computes: String,
    /// The arguments a caller gives.
    pub args: Vec<Arg>,
    /// Size of all arguments, hidden ones included.
    pub kernarg_bytes: u32,
    /// What it needs.
    pub needs: Needs,
    /// What its source allows it.
    pub limit: Option<Limit>,
}

/// An explicit argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arg {
    /// Its name, when the compiler kept it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// Where it lies.
    pub offset: u32,
    /// How many bytes it has.
    pub size: u32,
    /// What it is: `global_buffer` or `by_value`.
    pub kind: String,
}

/// What a kernel needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Needs {
    /// Lanes of a workgroup.
    pub workgroup: u32,
    /// Vector registers of both kinds, as they are allocated.
    pub vgprs: u32,
    /// Accumulation registers among them.
    pub agprs: u32,
    /// Scalar registers.
    pub sgprs: u32,
    /// LDS.
    pub lds_bytes: u32,
    /// Scratch of a lane.
    pub scratch_bytes: u32,
    /// Vector registers that did not fit.
    pub vgpr_spills: u32,
    /// Scalar registers that did not fit.
    pub sgpr_spills: u32,
    /// Waves on a SIMD unit.
    pub waves_per_simd: u32,
}

impl Needs {
    /// What a compiled kernel needs.
    #[must_use]
    pub fn of(arch: Arch, kernel: &Kernel) -> Self {
        let metadata = &kernel.metadata;
        let vgprs = kernel.descriptor.rsrc1.vgprs();
        let lds = metadata.group_segment_bytes;
        Self {
            workgroup: metadata.max_workgroup,
            vgprs,
            agprs: metadata.agpr_count,
            sgprs: metadata.sgpr_count,
            lds_bytes: lds,
            scratch_bytes: metadata.private_segment_bytes,
            vgpr_spills: metadata.vgpr_spill_count,
            sgpr_spills: metadata.sgpr_spill_count,
            waves_per_simd: arch.occupancy(vgprs, lds, metadata.max_workgroup).waves(),
        }
    }
}

impl Entry {
    /// An entry point of a code object, as `source` has it.
    #[must_use]
    pub fn of(arch: Arch, kernel: &Kernel, object: &str, source: &crate::Source) -> Self {
        let declared = source.declaration(&kernel.name);
        let explicit = kernel
            .metadata
            .args
            .iter()
            .filter(|arg| !arg.kind.is_hidden());
        Self {
            object: object.to_owned(),
            source: source.file(),
            computes: declared
                .map(|declared| declared.computes.clone())
                .unwrap_or_default(),
            args: explicit
                .map(|arg| Arg {
                    // Pointers are passed as integers of their own address space.
                    name: arg
                        .name
                        .as_deref()
                        .map(|name| name.trim_end_matches(".coerce").to_owned()),
                    offset: arg.offset,
                    size: arg.size,
                    kind: arg.kind.name().to_owned(),
                })
                .collect(),
            kernarg_bytes: kernel.metadata.kernarg_bytes,
            needs: Needs::of(arch, kernel),
            limit: declared.map(|declared| declared.limit_for(arch)),
        }
    }
}

/// The folder of an architecture.
#[must_use]
pub fn dir_of(out: &Path, arch: Arch) -> PathBuf {
    out.join(arch.name())
}

fn path_of(out: &Path, arch: Arch) -> PathBuf {
    dir_of(out, arch).join("manifest.json")
}

impl Manifest {
    pub(crate) fn new(
        arch: Arch,
        tree: &Tree,
        compiler: &crate::Compiler,
        flags: Vec<String>,
    ) -> Self {
        Self {
            format: FORMAT,
            arch: arch.name().to_owned(),
            sources_hash: tree.hash_for(arch),
            compiler: compiler.version.clone(),
            compiler_identity: compiler.identity.clone(),
            flags,
            objects: BTreeMap::new(),
            kernels: BTreeMap::new(),
        }
    }

    /// Reads what was built for an architecture.
    ///
    /// # Errors
    /// When nothing was, or the file is not of this form.
    pub fn load(out: &Path, arch: Arch) -> Result<Self, KernelsError> {
        let path = path_of(out, arch);
        if !path.is_file() {
            return Err(KernelsError::NotBuilt(arch));
        }
        let manifest: Self = serde_json::from_slice(&files::read(&path)?)
            .map_err(|_| KernelsError::Damaged(path.clone()))?;
        if manifest.format != FORMAT || manifest.arch != arch.name() {
            let what = format!("its form is {} for {}", manifest.format, manifest.arch);
            return Err(KernelsError::Stale { arch, what });
        }
        Ok(manifest)
    }

    /// Refuses a manifest that was made from other sources.
    ///
    /// # Errors
    /// When it was.
    pub fn must_be_from(&self, tree: &Tree, arch: Arch) -> Result<(), KernelsError> {
        if self.sources_hash == tree.hash_for(arch) {
            return Ok(());
        }
        let known: Vec<_> = self
            .objects
            .values()
            .map(|object| object.source.as_str())
            .collect();
        let now: Vec<_> = tree.for_arch(arch).map(crate::Source::file).collect();
        let new = now.iter().find(|file| !known.contains(&file.as_str()));
        let gone = known
            .iter()
            .find(|file| !now.iter().any(|now| now == *file));
        let what = match (new, gone) {
            (Some(file), _) => format!("{file} is new"),
            (None, Some(file)) => format!("{file} is gone"),
            (None, None) => "a source or header changed since".to_owned(),
        };
        Err(KernelsError::Stale { arch, what })
    }

    /// Reads and checks the code object that has a kernel.
    ///
    /// # Errors
    /// When there is no such kernel, or its file is damaged or for another
    /// architecture.
    pub fn object_of(
        &self,
        out: &Path,
        arch: Arch,
        name: &str,
    ) -> Result<CodeObject, KernelsError> {
        let entry = self
            .kernels
            .get(name)
            .ok_or_else(|| KernelsError::UnknownKernel {
                name: name.to_owned(),
                nearest: cairn_base::nearest(name, self.kernels.keys().map(String::as_str))
                    .map(str::to_owned),
            })?;
        let path = dir_of(out, arch).join(&entry.object);
        let object = read_object(&path, arch)?;
        let expected = self
            .objects
            .get(&entry.object)
            .map(|object| object.blake3.as_str());
        if expected != Some(hash::blake3(object.bytes()).as_str()) {
            return Err(KernelsError::Damaged(path));
        }
        Ok(object)
    }

    /// True when every file is there as it was written.
    #[must_use]
    pub fn is_whole(&self, out: &Path, arch: Arch) -> bool {
        let dir = dir_of(out, arch);
        self.objects.iter().all(|(name, object)| {
            files::read(&dir.join(name)).is_ok_and(|bytes| hash::blake3(&bytes) == object.blake3)
        })
    }

    pub(crate) fn save(&self, out: &Path, arch: Arch) -> Result<(), KernelsError> {
        let path = path_of(out, arch);
        let text =
            serde_json::to_vec_pretty(self).map_err(|_| KernelsError::Damaged(path.clone()))?;
        Ok(files::write_atomic(&path, &text)?)
    }
}

/// Reads a code object that must be for `arch`.
///
/// # Errors
/// When it is none, or for another architecture.
pub fn read_object(path: &Path, arch: Arch) -> Result<CodeObject, KernelsError> {
    let wrong = |found: String| KernelsError::WrongArch {
        path: path.to_path_buf(),
        wanted: arch,
        found,
    };
    match CodeObject::parse(&files::read(path)?) {
        Ok(object) if object.target.arch == arch => Ok(object),
        Ok(object) => Err(wrong(object.target.to_string())),
        Err(CodeObjectError::UnsupportedProcessor { name, .. }) => Err(wrong(name)),
        Err(error) => Err(KernelsError::CodeObject {
            path: path.to_path_buf(),
            error,
        }),
    }
}
