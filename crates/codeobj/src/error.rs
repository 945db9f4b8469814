//! What can be wrong with a code object.

/// Why some bytes are no code object that can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeObjectError {
    /// Not an ELF file at all.
    #[error("not an ELF file")]
    NotElf,
    /// A bundle of code objects for several targets, as clang writes without
    /// `--no-gpu-bundle-output`.
    #[error("a bundle of code objects, not a code object")]
    Bundle,
    /// An ELF file for something else.
    #[error("an ELF file, but not of an AMD GPU: {0}")]
    NotAmdGpu(String),
    /// A code object version other than 4, 5 and 6.
    #[error("code object ABI {0} is not supported, only versions 4 to 6 (ABI 2 to 4)")]
    UnsupportedAbi(u8),
    /// A processor that Cairn does not know.
    #[error("a code object for {name} (machine {machine:#x}), which is not supported")]
    UnsupportedProcessor {
        /// The number in the ELF header.
        machine: u8,
        /// Its name, as far as it is known.
        name: String,
    },
    /// Something lies, in whole or in part, outside the file.
    #[error("{what} lies outside the file ({bytes} bytes)")]
    OutOfFile {
        /// What was looked for.
        what: &'static str,
        /// The size of the file.
        bytes: usize,
    },
    /// A field has a value that no compiler writes.
    #[error("{0}")]
    Malformed(String),
    /// There is no `NT_AMDGPU_METADATA` note.
    #[error("the code object has no metadata note")]
    NoMetadata,
    /// The metadata cannot be read.
    #[error("the metadata cannot be read: {0}")]
    Metadata(String),
    /// The parts of a kernel do not belong together.
    #[error("kernel {kernel}: {what}")]
    Kernel {
        /// Its name.
        kernel: String,
        /// What is wrong.
        what: String,
    },
}

impl CodeObjectError {
    pub(crate) fn malformed(what: impl Into<String>) -> Self {
        Self::Malformed(what.into())
    }

    pub(crate) fn kernel(kernel: &str, what: impl Into<String>) -> Self {
        Self::Kernel {
            kernel: kernel.to_owned(),
            what: what.into(),
        }
    }
}
