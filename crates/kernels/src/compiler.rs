//! Which compiler builds the kernels: where one is looked for, what is tried,
//! and why others will not do.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use cairn_base::Exec;
use cairn_base::hash::Fingerprint;
use cairn_codeobj::Arch;

use crate::KernelsError;
use crate::cache::{self, Cache, Known};

mod probe;

/// Where compilers are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// `--cc`: this one and no other.
    pub cc: Option<PathBuf>,
    /// `HIPCC`.
    pub hipcc: Option<PathBuf>,
    /// `ROCM_HOME`.
    pub rocm_home: Option<PathBuf>,
    /// `PATH`.
    pub path: OsString,
}

/// A compiler that may do.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Candidate {
    program: PathBuf,
    origin: &'static str,
}

/// A compiler that will not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The program.
    pub program: PathBuf,
    /// Why it was considered: `--cc`, `HIPCC`, `ROCM_HOME` or `PATH`.
    pub origin: &'static str,
    /// Why it will not do.
    pub reason: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ({}): {}",
            self.program.display(),
            self.origin,
            self.reason
        )
    }
}

/// A compiler that builds for the architectures asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// The program.
    pub program: PathBuf,
    /// Why it was considered.
    pub origin: &'static str,
    /// Its version in a line.
    pub version: String,
    /// A hash of what it tells about itself.
    pub identity: String,
    kind: Kind,
    path: OsString,
}

/// How a compiler is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// clang and what behaves like it.
    Clang,
    /// `zig clang`, which links through a program named `lld` on PATH.
    Zig,
}

/// Names on PATH, best first. A plain `clang++` may be of any version.
const NAMES: [&str; 9] = [
    "clang++-22",
    "clang++-24",
    "clang++-23",
    "clang++-21",
    "clang++-20",
    "clang++-19",
    "amdclang++",
    "clang++",
    "zig",
];

/// Places below `ROCM_HOME`, best first.
const ROCM_PLACES: [&str; 4] = [
    "llvm/bin/amdclang++",
    "llvm/bin/clang++",
    "bin/amdclang++",
    "bin/hipcc",
];

/// Flags of every compilation. Nothing of ROCm or of the host is included:
/// the headers are in `include/`. Products and sums are not contracted, so
/// that a kernel computes what its source says.
const FLAGS: [&str; 17] = [
    "-x",
    "hip",
    "--offload-device-only",
    "--no-gpu-bundle-output",
    "-nogpuinc",
    "-nogpulib",
    "-nostdinc",
    "-std=c++17",
    "-O3",
    "-ffp-contract=off",
    "-mcode-object-version=5",
    "-fno-discard-value-names",
    "-gline-tables-only",
    "-fdebug-compilation-dir=.",
    "-Wall",
    "-Wextra",
    "-Werror",
];

/// The flags for an architecture, without files.
#[must_use]
pub fn flags(arch: Arch) -> Vec<String> {
    let mut flags: Vec<String> = FLAGS.iter().map(|flag| (*flag).to_owned()).collect();
    flags.push(format!("--offload-arch={arch}"));
    flags.push("-Iinclude".to_owned());
    flags
}

/// Finds a compiler for all of `archs`. What a compiler can do is remembered
/// in the cache until its file changes.
///
/// # Errors
/// When there is none; the error tells why each one found will not do.
pub(crate) fn find(
    search: &Search,
    archs: &[Arch],
    cache: &Cache,
) -> Result<(Compiler, Vec<Refused>), KernelsError> {
    let mut refused = Vec::new();
    for candidate in candidates(search) {
        match known_or_probed(&candidate, search, archs, cache) {
            Ok(compiler) => return Ok((compiler, refused)),
            Err(reason) => refused.push(Refused {
                program: candidate.program,
                origin: candidate.origin,
                reason,
            }),
        }
    }
    Err(KernelsError::NoCompiler {
        archs: archs.to_vec(),
        refused,
    })
}

/// What to try, in order. What was named is tried whether it exists or not,
/// so that a wrong path is told.
fn candidates(search: &Search) -> Vec<Candidate> {
    if let Some(cc) = &search.cc {
        return vec![Candidate {
            program: on_path(cc, &search.path).unwrap_or_else(|| cc.clone()),
            origin: "--cc",
        }];
    }
    let mut found: Vec<Candidate> = Vec::new();
    if let Some(hipcc) = &search.hipcc {
        found.push(Candidate {
            program: on_path(hipcc, &search.path).unwrap_or_else(|| hipcc.clone()),
            origin: "HIPCC",
        });
    }
    if let Some(home) = &search.rocm_home {
        let places = ROCM_PLACES.iter().map(|place| home.join(place));
        let existing: Vec<_> = places.filter(|place| place.is_file()).collect();
        let named = if existing.is_empty() {
            vec![home.join(ROCM_PLACES[0])]
        } else {
            existing
        };
        found.extend(named.into_iter().map(|program| Candidate {
            program,
            origin: "ROCM_HOME",
        }));
    }
    let by_name = NAMES
        .iter()
        .filter_map(|name| on_path(Path::new(name), &search.path));
    found.extend(by_name.map(|program| Candidate {
        program,
        origin: "PATH",
    }));
    found
}

/// A program as a shell finds it.
fn on_path(name: &Path, path: &OsStr) -> Option<PathBuf> {
    if name.components().count() > 1 {
        return None;
    }
    std::env::split_paths(path)
        .map(|dir| dir.join(name))
        .find(|program| program.is_file())
}

fn known_or_probed(
    candidate: &Candidate,
    search: &Search,
    archs: &[Arch],
    cache: &Cache,
) -> Result<Compiler, String> {
    let program = &candidate.program;
    let stamp = cache::stamp(program)?;
    let known = cache
        .compiler(&stamp)
        .filter(|known| archs.iter().all(|arch| known.archs.contains(arch.name())));
    let known = match known {
        Some(known) => known,
        None => {
            let (version, identity) = probe::version(program)?;
            let mut known = Known {
                version,
                identity,
                archs: cache
                    .compiler(&stamp)
                    .map(|known| known.archs)
                    .unwrap_or_default(),
            };
            let compiler = compiler(candidate, search, &known, cache)?;
            for arch in archs {
                probe::builds(&compiler, *arch)?;
                known.archs.insert(arch.name().to_owned());
            }
            cache.remember_compiler(&stamp, &known);
            known
        }
    };
    compiler(candidate, search, &known, cache)
}

fn compiler(
    candidate: &Candidate,
    search: &Search,
    known: &Known,
    cache: &Cache,
) -> Result<Compiler, String> {
    let name = candidate
        .program
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let kind = if name.starts_with("zig") {
        Kind::Zig
    } else {
        Kind::Clang
    };
    let mut path = search.path.clone();
    if kind == Kind::Zig {
        let tools = cache
            .zig_tools(&candidate.program)
            .map_err(|error| error.to_string())?;
        let dirs = std::iter::once(tools).chain(std::env::split_paths(&search.path));
        path = std::env::join_paths(dirs).map_err(|error| error.to_string())?;
    }
    Ok(Compiler {
        program: candidate.program.clone(),
        origin: candidate.origin,
        version: known.version.clone(),
        identity: known.identity.clone(),
        kind,
        path,
    })
}

impl Compiler {
    /// A command of this compiler in the folder of the sources.
    pub(crate) fn command(&self, dir: &Path, flags: &[String]) -> Exec {
        let exec = Exec::new(&self.program).cwd(dir).env("PATH", &self.path);
        let exec = match self.kind {
            Kind::Clang => exec,
            Kind::Zig => exec.arg("clang"),
        };
        exec.args(flags)
    }

    /// What besides source, flags and architecture decides what it writes.
    pub(crate) fn part_of_key(&self) -> &str {
        &self.identity
    }
}

/// A hash of what a compiler tells about itself, without where it lies.
fn identity(version: &str) -> String {
    let mut print = Fingerprint::new();
    for line in version
        .lines()
        .filter(|line| !line.starts_with("InstalledDir"))
    {
        print.part(line.trim());
    }
    print.finish()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn program(path: &Path, script: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn what_is_named_comes_first_and_cc_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (rocm, bin) = (dir.path().join("rocm"), dir.path().join("bin"));
        program(&rocm.join("llvm/bin/clang++"), "");
        program(&rocm.join("bin/hipcc"), "");
        program(&bin.join("clang++-19"), "");
        program(&bin.join("clang++-22"), "");
        program(&bin.join("zig"), "");
        let mut search = Search {
            cc: None,
            hipcc: Some("my-hipcc".into()),
            rocm_home: Some(rocm.clone()),
            path: bin.clone().into_os_string(),
        };
        let programs = |search: &Search| {
            let found = candidates(search).into_iter();
            found.map(|candidate| candidate.program).collect::<Vec<_>>()
        };
        let expected = [
            PathBuf::from("my-hipcc"),
            rocm.join("llvm/bin/clang++"),
            rocm.join("bin/hipcc"),
            bin.join("clang++-22"),
            bin.join("clang++-19"),
            bin.join("zig"),
        ];
        assert_eq!(programs(&search), expected);
        search.cc = Some("clang++-19".into());
        assert_eq!(programs(&search), [bin.join("clang++-19")]);
        search.cc = Some("/no/such".into());
        assert_eq!(programs(&search), [PathBuf::from("/no/such")]);
    }

    #[test]
    fn each_refusal_has_its_reason() {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("bin");
        let version = "[ \"$1\" = --version ] && echo 'clang version 1' && exit 0";
        program(
            &bin.join("clang++-22"),
            &format!(
                "{version}\necho \"error: unsupported HIP gpu architecture: gfx950\" >&2; exit 1"
            ),
        );
        program(
            &bin.join("clang++-19"),
            &format!("{version}\necho 'clang: error: unable to execute command: lld' >&2; exit 1"),
        );
        program(&bin.join("clang++"), &format!("{version}\nexit 0"));
        program(&bin.join("amdclang++"), "echo broken >&2; exit 3");
        let search = Search {
            path: bin.into_os_string(),
            ..Search::default()
        };
        let cache = Cache::open(&dir.path().join("out")).unwrap();
        let error = find(&search, &[Arch::Gfx950], &cache).unwrap_err();
        let hints = error.diagnostic().hints.join("\n");
        for expected in [
            "clang++-22 (PATH): it does not know gfx950",
            "clang++-19 (PATH): clang: error: unable to execute command: lld",
            "clang++ (PATH): it wrote no code object for gfx950",
            "amdclang++ (PATH): it does not tell its version",
            "--cc",
        ] {
            assert!(hints.contains(expected), "{expected} is not in\n{hints}");
        }
    }

    #[test]
    fn no_compiler_at_all_has_a_next_step() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(dir.path()).unwrap();
        let error = find(&Search::default(), &[Arch::Gfx942], &cache)
            .unwrap_err()
            .diagnostic();
        assert_eq!(error.message, "no compiler here builds kernels for gfx942");
        assert_eq!(error.hints.len(), 1);
        let named = Search {
            cc: Some("/no/such/clang".into()),
            ..Search::default()
        };
        let error = find(&named, &[Arch::Gfx942], &cache)
            .unwrap_err()
            .diagnostic();
        assert!(
            error.hints[0].contains("/no/such/clang (--cc): there is no such file"),
            "{error:?}"
        );
    }

    #[test]
    fn an_identity_does_not_depend_on_the_place() {
        let at = |dir: &str, version: &str| {
            identity(&format!("clang version {version}\nInstalledDir: {dir}\n"))
        };
        assert_eq!(at("/a", "22.1.8"), at("/b", "22.1.8"));
        assert_ne!(at("/a", "22.1.8"), at("/a", "22.1.7"));
    }
}
