//! Building: what has to be compiled, in parallel, each thing once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cairn_base::hash::{self, Fingerprint};
use cairn_base::{Progress, files};
use cairn_codeobj::{Arch, CodeObject};

use crate::KernelsError;
use crate::cache::Cache;
use crate::compiler::{self, Compiler, Refused, Search};
use crate::manifest::{self, Entry, Manifest, Object};
use crate::source::{Source, Tree};

/// What to build.
#[derive(Clone, Debug)]
pub struct Request {
    /// The folder of the sources.
    pub sources: PathBuf,
    /// Where everything is written.
    pub out: PathBuf,
    /// For what.
    pub archs: Vec<Arch>,
    /// How many compilers run at once.
    pub jobs: usize,
    /// Where a compiler is looked for.
    pub search: Search,
}

/// What was done.
#[derive(Clone, Debug)]
pub struct Report {
    /// The compiler.
    pub compiler: Compiler,
    /// Compilers that came before it and would not do.
    pub refused: Vec<Refused>,
    /// What each architecture has now.
    pub built: Vec<Built>,
}

/// What was done for an architecture.
#[derive(Clone, Debug)]
pub struct Built {
    /// The architecture.
    pub arch: Arch,
    /// What it has now.
    pub manifest: Manifest,
    /// How many sources were compiled; others were known or unchanged.
    pub compiled: usize,
}

/// A source to build for an architecture.
struct Job<'a> {
    source: &'a Source,
    arch: Arch,
}

/// A job that is done.
struct Done {
    key: String,
    bytes: Vec<u8>,
    compiled: bool,
}

/// Builds all sources for the architectures asked for.
///
/// # Errors
/// All that is wrong: with several sources that do not compile, each of them.
pub fn build(request: &Request, progress: &Progress) -> Result<Report, Vec<KernelsError>> {
    let one = |error: KernelsError| vec![error];
    let tree = Tree::read(&request.sources).map_err(one)?;
    let cache = Cache::open(&request.out).map_err(|error| one(error.into()))?;
    let (compiler, refused) =
        compiler::find(&request.search, &request.archs, &cache).map_err(one)?;
    let mut built: BTreeMap<Arch, Built> = BTreeMap::new();
    let mut jobs = Vec::new();
    for arch in request.archs.iter().copied() {
        match unchanged(request, &tree, &compiler, arch) {
            Some(manifest) => {
                let done = Built {
                    arch,
                    manifest,
                    compiled: 0,
                };
                built.insert(arch, done);
            }
            None => jobs.extend(tree.for_arch(arch).map(|source| Job { source, arch })),
        }
    }
    progress.set_total(jobs.len() as u64);
    let done = run(&jobs, request, &tree, &compiler, &cache, progress)?;
    progress.finish();
    let mut failures = Vec::new();
    for arch in request.archs.iter().copied() {
        if built.contains_key(&arch) {
            continue;
        }
        let of_arch = jobs.iter().zip(&done).filter(|(job, _)| job.arch == arch);
        match install(
            request,
            &tree,
            &compiler,
            arch,
            of_arch.map(|(job, done)| (job.source, done)),
        ) {
            Ok(now) => {
                built.insert(arch, now);
            }
            Err(error) => failures.push(error),
        }
    }
    if !failures.is_empty() {
        return Err(failures);
    }
    Ok(Report {
        compiler,
        refused,
        built: request
            .archs
            .iter()
            .filter_map(|arch| built.remove(arch))
            .collect(),
    })
}

/// The manifest, when it is what a build would write.
fn unchanged(request: &Request, tree: &Tree, compiler: &Compiler, arch: Arch) -> Option<Manifest> {
    let manifest = Manifest::load(&request.out, arch).ok()?;
    let same = manifest.sources_hash == tree.hash_for(arch)
        && manifest.compiler_identity == compiler.part_of_key()
        && manifest.flags == compiler::flags(arch);
    (same && manifest.is_whole(&request.out, arch)).then_some(manifest)
}

/// Runs the jobs, as many at once as asked for. One that fails stops no other,
/// so that all failures are told at once.
fn run(
    jobs: &[Job<'_>],
    request: &Request,
    tree: &Tree,
    compiler: &Compiler,
    cache: &Cache,
    progress: &Progress,
) -> Result<Vec<Done>, Vec<KernelsError>> {
    let next = AtomicUsize::new(0);
    let results: Mutex<BTreeMap<usize, Result<Done, KernelsError>>> = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..request.jobs.min(jobs.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { break };
                    progress.message(format!("{} {}", job.arch, job.source.name));
                    let result = job_done(job, tree, compiler, cache);
                    if let Ok(mut results) = results.lock() {
                        results.insert(index, result);
                    }
                    progress.inc(1);
                }
            });
        }
    });
    let results = results
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let (done, failed): (Vec<_>, Vec<_>) = results.into_values().partition(Result::is_ok);
    let failed: Vec<_> = failed.into_iter().filter_map(Result::err).collect();
    if failed.is_empty() {
        Ok(done.into_iter().flatten().collect())
    } else {
        Err(failed)
    }
}

fn job_done(
    job: &Job<'_>,
    tree: &Tree,
    compiler: &Compiler,
    cache: &Cache,
) -> Result<Done, KernelsError> {
    let flags = compiler::flags(job.arch);
    let print = |text: &[u8]| {
        let mut print = Fingerprint::new();
        print
            .part(text)
            .part(compiler.part_of_key())
            .part(job.arch.name());
        for flag in &flags {
            print.part(flag);
        }
        print
    };
    let direct = print(job.source.text.as_bytes())
        .part(&job.source.name)
        .part(&tree.headers_hash)
        .finish();
    let key = match cache.key(&direct) {
        Some(key) => key,
        None => {
            let text = preprocessed(job, tree, compiler, &flags)?;
            let key = print(&text).finish();
            cache.remember_key(&direct, &key);
            key
        }
    };
    if let Some(bytes) = cache.object(&key) {
        return Ok(Done {
            key,
            bytes,
            compiled: false,
        });
    }
    let bytes = compiled(job, tree, compiler, &flags)?;
    cache.keep_object(&key, &bytes)?;
    Ok(Done {
        key,
        bytes,
        compiled: true,
    })
}

fn preprocessed(
    job: &Job<'_>,
    tree: &Tree,
    compiler: &Compiler,
    flags: &[String],
) -> Result<Vec<u8>, KernelsError> {
    let exec = compiler
        .command(&tree.dir, flags)
        .args(["-E", &job.source.file()]);
    let (status, output) = exec.capture()?;
    if status.success() {
        return Ok(output.stdout);
    }
    Err(refusal(job, exec.command_line(), &output.stderr))
}

fn compiled(
    job: &Job<'_>,
    tree: &Tree,
    compiler: &Compiler,
    flags: &[String],
) -> Result<Vec<u8>, KernelsError> {
    let dir = tempfile::tempdir().map_err(|error| {
        files::FileError::new("create a folder in", std::env::temp_dir(), error)
    })?;
    let file = dir.path().join(format!("{}.hsaco", job.source.name));
    let exec = compiler
        .command(&tree.dir, flags)
        .arg("-o")
        .arg(&file)
        .arg(job.source.file());
    let (status, output) = exec.capture()?;
    if !status.success() {
        let again =
            compiler
                .command(&tree.dir, flags)
                .args(["-o", "/dev/null", &job.source.file()]);
        return Err(refusal(job, again.command_line(), &output.stderr));
    }
    // What was written is read before it is kept.
    let object = manifest::read_object(&file, job.arch)?;
    Ok(object.bytes().to_vec())
}

fn refusal(job: &Job<'_>, command: String, stderr: &[u8]) -> KernelsError {
    KernelsError::Compile {
        source_name: job.source.file(),
        arch: job.arch,
        command,
        stderr: String::from_utf8_lossy(stderr).into_owned(),
    }
}

/// Writes the objects of an architecture and the manifest, and removes what
/// no source makes any more.
fn install<'a>(
    request: &Request,
    tree: &Tree,
    compiler: &Compiler,
    arch: Arch,
    done: impl Iterator<Item = (&'a Source, &'a Done)>,
) -> Result<Built, KernelsError> {
    let dir = manifest::dir_of(&request.out, arch);
    files::create_dir_all(&dir)?;
    let mut manifest = Manifest::new(arch, tree, compiler, compiler::flags(arch));
    let mut compiled = 0;
    let mut own = Vec::new();
    for (source, done) in done {
        let name = format!("{}.hsaco", source.name);
        let path = dir.join(&name);
        let object = CodeObject::parse(&done.bytes).map_err(|error| KernelsError::CodeObject {
            path: path.clone(),
            error,
        })?;
        files::write_atomic(&path, &done.bytes)?;
        compiled += usize::from(done.compiled);
        for kernel in &object.kernels {
            let entry = Entry::of(arch, kernel, &name, source);
            if source.only.is_some() {
                own.push((kernel.name.clone(), entry));
            } else if let Some(other) = manifest.kernels.insert(kernel.name.clone(), entry) {
                return Err(KernelsError::Duplicate {
                    entry: kernel.name.clone(),
                    first: other.source,
                    second: source.file(),
                });
            }
        }
        let known = Object {
            source: source.file(),
            key: done.key.clone(),
            blake3: hash::blake3(&done.bytes),
        };
        manifest.objects.insert(name, known);
    }
    replace(&mut manifest, own)?;
    remove_others(&dir, &manifest)?;
    manifest.save(&request.out, arch)?;
    Ok(Built {
        arch,
        manifest,
        compiled,
    })
}

/// Puts the architecture's own entry points in the place of the general ones.
fn replace(manifest: &mut Manifest, own: Vec<(String, Entry)>) -> Result<(), KernelsError> {
    let mut replaced: BTreeMap<String, String> = BTreeMap::new();
    for (name, entry) in own {
        if let Some(first) = replaced.insert(name.clone(), entry.source.clone()) {
            return Err(KernelsError::Duplicate {
                entry: name,
                first,
                second: entry.source,
            });
        }
        let source_name = entry.source.clone();
        if manifest.kernels.insert(name.clone(), entry).is_none() {
            return Err(KernelsError::NoGenericForm {
                source_name,
                entry: name,
            });
        }
    }
    Ok(())
}

fn remove_others(dir: &std::path::Path, manifest: &Manifest) -> Result<(), KernelsError> {
    let failed = |error| files::FileError::new("read the folder", dir, error);
    for entry in std::fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.ends_with(".hsaco") && !manifest.objects.contains_key(&name) {
            std::fs::remove_file(&path)
                .map_err(|error| files::FileError::new("remove", &path, error))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
