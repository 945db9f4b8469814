//! What can go wrong with kernels, and what to do then.

use std::path::PathBuf;

use cairn_base::{Diagnostic, ExecError, FileError};
use cairn_codeobj::{Arch, CodeObjectError};

use crate::compiler::Refused;

/// A failure.
#[derive(Debug, thiserror::Error)]
pub enum KernelsError {
    /// An architecture that kernels are not built for.
    #[error("unknown architecture `{name}`")]
    UnknownArch {
        /// As it was typed or detected.
        name: String,
        /// Where it comes from: `--arch`, `GPU_ARCHS` or `native`.
        origin: String,
    },
    /// A list of architectures that names none.
    #[error("{origin} names no architecture")]
    NoArch {
        /// Where the list comes from.
        origin: String,
    },
    /// `native` on a machine without a GPU.
    #[error("`native` asks this machine for its GPU, and it has none")]
    NoGpu,
    /// A folder without kernels.
    #[error("there are no kernel sources in {}", .0.display())]
    NoSources(PathBuf),
    /// A source whose suffix names no architecture.
    #[error("{source_name}: the suffix `{suffix}` names no architecture")]
    UnknownSuffix {
        /// The file.
        source_name: String,
        /// Such as `_gfx943`.
        suffix: String,
    },
    /// A header comment that does not say what it has to.
    #[error("{place}: {what}")]
    Declaration {
        /// File and line.
        place: String,
        /// What is wrong.
        what: String,
    },
    /// No compiler, or none that will do.
    #[error("no compiler here builds kernels for {}", names(archs))]
    NoCompiler {
        /// What was asked for.
        archs: Vec<Arch>,
        /// What was found and why it will not do.
        refused: Vec<Refused>,
    },
    /// A source the compiler refuses.
    #[error("{source_name} does not compile for {arch}{}", indented(stderr))]
    Compile {
        /// The file.
        source_name: String,
        /// The architecture.
        arch: Arch,
        /// The command line.
        command: String,
        /// What the compiler said.
        stderr: String,
    },
    /// An entry point that only one architecture would have.
    #[error("{source_name}: entry point `{entry}` has no unsuffixed form")]
    NoGenericForm {
        /// The suffixed file.
        source_name: String,
        /// The entry point.
        entry: String,
    },
    /// Two sources with an entry point of the same name.
    #[error("entry point `{entry}` is in both {first} and {second}")]
    Duplicate {
        /// The entry point.
        entry: String,
        /// One source.
        first: String,
        /// The other.
        second: String,
    },
    /// Kernels of an architecture are needed and were not built.
    #[error("no kernels are built for {0}")]
    NotBuilt(Arch),
    /// The kernels of an architecture were built from something else.
    #[error("the kernels built for {arch} are not from these sources: {what}")]
    Stale {
        /// The architecture.
        arch: Arch,
        /// What differs.
        what: String,
    },
    /// A code object that is for another architecture than its manifest.
    #[error("{} is a code object for {found}, where one for {wanted} is needed", path.display())]
    WrongArch {
        /// The file.
        path: PathBuf,
        /// What the manifest is for.
        wanted: Arch,
        /// What the file is for.
        found: String,
    },
    /// A built file that is not as it was written.
    #[error("{} was changed or damaged after it was built", .0.display())]
    Damaged(PathBuf),
    /// A file that should be a code object.
    #[error("{}: {error}", path.display())]
    CodeObject {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: CodeObjectError,
    },
    /// A kernel that there is not.
    #[error("there is no kernel `{name}`")]
    UnknownKernel {
        /// As it was typed.
        name: String,
        /// The nearest known name.
        nearest: Option<String>,
    },
    /// A number of jobs that is none.
    #[error("{origin} is `{value}`, where a whole number of at least 1 is needed")]
    Jobs {
        /// Where it comes from.
        origin: &'static str,
        /// What it says.
        value: String,
    },
    /// A file that cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A program that cannot be run.
    #[error(transparent)]
    Exec(#[from] ExecError),
}

/// Architectures for a message: `gfx942 and gfx950`.
pub(crate) fn names(archs: &[Arch]) -> String {
    let names: Vec<_> = archs.iter().map(|arch| arch.name()).collect();
    names.join(" and ")
}

/// The most useful lines of a compiler's messages: from the first error on.
fn indented(stderr: &str) -> String {
    const LINES: usize = 24;
    let lines: Vec<&str> = stderr.lines().collect();
    let first = lines
        .iter()
        .position(|line| line.contains("error:"))
        .unwrap_or(0);
    let shown = lines[first..].iter().take(LINES);
    shown.map(|line| format!("\n  {line}")).collect()
}

impl KernelsError {
    /// True when what was typed or the files it names are wrong, rather than
    /// something that was tried.
    #[must_use]
    pub fn is_wrong_input(&self) -> bool {
        matches!(
            self,
            Self::UnknownArch { .. }
                | Self::NoArch { .. }
                | Self::NoGpu
                | Self::NoSources(_)
                | Self::UnknownSuffix { .. }
                | Self::Declaration { .. }
                | Self::UnknownKernel { .. }
                | Self::Jobs { .. }
        )
    }

    fn code(&self) -> &'static str {
        match self {
            Self::UnknownArch { .. } => "kernels::unknown-arch",
            Self::NoArch { .. } => "kernels::no-arch",
            Self::NoGpu => "kernels::no-gpu",
            Self::NoSources(_) => "kernels::no-sources",
            Self::UnknownSuffix { .. } => "kernels::unknown-suffix",
            Self::Declaration { .. } => "kernels::declaration",
            Self::NoCompiler { .. } => "kernels::no-compiler",
            Self::Compile { .. } => "kernels::compile",
            Self::NoGenericForm { .. } => "kernels::no-generic-form",
            Self::Duplicate { .. } => "kernels::duplicate",
            Self::NotBuilt(_) => "kernels::not-built",
            Self::Stale { .. } => "kernels::stale",
            Self::WrongArch { .. } => "kernels::wrong-arch",
            Self::Damaged(_) => "kernels::damaged",
            Self::CodeObject { .. } => "kernels::code-object",
            Self::UnknownKernel { .. } => "kernels::unknown-kernel",
            Self::Jobs { .. } => "kernels::jobs",
            Self::File(_) => "kernels::file",
            Self::Exec(_) => "kernels::exec",
        }
    }

    /// What to do next, most useful first.
    fn hints(&self) -> Vec<String> {
        let known = || format!("known are {}", names(&crate::archs::BUILDABLE));
        let one = |hint: &str| vec![hint.to_owned()];
        match self {
            Self::UnknownArch { name, origin } => {
                let nearest = cairn_base::nearest(name, crate::archs::BUILDABLE.map(Arch::name));
                let hint = match nearest {
                    Some(nearest) => {
                        format!("did you mean `{nearest}`? {origin} takes a list separated by `;`")
                    }
                    None => format!("{}; {origin} takes a list separated by `;`", known()),
                };
                vec![hint]
            }
            Self::NoArch { .. } => vec![format!("name at least one; {}", known())],
            Self::NoGpu => one("name the architecture: --arch \"gfx942;gfx950\""),
            Self::NoSources(_) => {
                one("change to a checkout of Cairn: its sources are in `kernels/`")
            }
            Self::UnknownSuffix { .. } => vec![format!("rename it: {}", known())],
            Self::Declaration { .. } => one("docs/kernels.md shows what a header comment states"),
            Self::NoCompiler { refused, .. } => no_compiler_hints(refused),
            Self::Compile { command, .. } => {
                vec![format!("in `kernels/`, run it again: {command}")]
            }
            Self::NoGenericForm { entry, .. } => vec![format!(
                "write `{entry}` in a source without suffix too: architectures without an own form use it"
            )],
            Self::Duplicate { .. } => one("rename one of them"),
            Self::NotBuilt(arch) | Self::Stale { arch, .. } => {
                vec![format!("run `cargo xtask kernels build --arch {arch}`")]
            }
            Self::WrongArch { wanted: arch, .. } => {
                vec![format!("run `cargo xtask kernels build --arch {arch}`")]
            }
            Self::Damaged(_) | Self::CodeObject { .. } => {
                one("run `cargo xtask kernels clean` and `cargo xtask kernels build`")
            }
            Self::UnknownKernel { nearest, .. } => match nearest {
                Some(nearest) => vec![format!("did you mean `{nearest}`?")],
                None => one("`cargo xtask kernels list` shows them all"),
            },
            Self::Jobs { .. } => one("give a number such as 8, or nothing for one job a CPU"),
            Self::File(_) | Self::Exec(_) => Vec::new(),
        }
    }

    /// The form a user is shown.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            Self::File(error) => error.diagnostic(),
            Self::Exec(error) => error.diagnostic(),
            _ => {
                let diagnostic = Diagnostic::error(self.code(), self.to_string());
                self.hints().into_iter().fold(diagnostic, Diagnostic::hint)
            }
        }
    }
}

fn no_compiler_hints(refused: &[Refused]) -> Vec<String> {
    let mut hints: Vec<_> = refused.iter().map(Refused::to_string).collect();
    hints.push(
        "install clang 22 and lld 22 (`cargo xtask test --setup` does), set ROCM_HOME, or name a compiler with --cc"
            .to_owned(),
    );
    hints
}
