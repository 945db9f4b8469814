//! An open RCCL, and what `doctor` asks of it.

#![expect(unsafe_code, reason = "calls of a C library")]

use std::fmt;
use std::path::PathBuf;

use cairn_hip_sys::{Library, LoadError};
use thiserror::Error;

use crate::error::RcclError;
use crate::functions::Functions;
use crate::types::ncclUniqueId;

/// Names of the library. A development package has the first.
const NAMES: [&str; 2] = ["librccl.so", "librccl.so.1"];

/// The oldest version that is supported.
const OLDEST: Version = Version {
    major: 2,
    minor: 13,
    patch: 0,
};

/// An RCCL library.
#[derive(Debug)]
pub struct Rccl {
    /// Its functions. They must not be called after this value is dropped.
    pub functions: Functions,
    version: Version,
    library: Library,
}

/// Why RCCL cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RcclLoadError {
    /// The library cannot be opened, or lacks functions.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// It does not tell its version.
    #[error("{name} does not tell its version: {error}")]
    NoVersion {
        /// The library.
        name: String,
        /// What it answers.
        error: RcclError,
    },
    /// It is too old.
    #[error("{name} is RCCL {version}, older than {OLDEST}")]
    TooOld {
        /// The library.
        name: String,
        /// Its version.
        version: Version,
    },
}

/// A version of RCCL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The major version.
    pub major: i32,
    /// The minor version.
    pub minor: i32,
    /// The patch level.
    pub patch: i32,
}

impl Version {
    /// From RCCL's number: since 2.9, major * 10000 + minor * 100 + patch; before, the
    /// major version counted 1000.
    #[must_use]
    pub const fn from_number(number: i32) -> Self {
        let unit = if number < 10_000 { 1000 } else { 10_000 };
        Self {
            major: number / unit,
            minor: number % unit / 100,
            patch: number % 100,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl Rccl {
    /// Opens the library of these folders, or else the one the loader finds.
    ///
    /// # Errors
    /// [`RcclLoadError`].
    pub fn open(folders: &[PathBuf]) -> Result<Self, RcclLoadError> {
        let library = Library::open("librccl", folders, &NAMES)?;
        let functions = Functions::of(&library)?;
        let name = library.name().to_owned();
        let mut number = 0;
        // SAFETY: the function writes one number.
        let told = unsafe { (functions.ncclGetVersion)(&raw mut number) };
        if let Err(error) = RcclError::check(told) {
            return Err(RcclLoadError::NoVersion { name, error });
        }
        let version = Version::from_number(number);
        if version < OLDEST {
            return Err(RcclLoadError::TooOld { name, version });
        }
        Ok(Self {
            functions,
            version,
            library,
        })
    }

    /// The name or path it was opened by.
    #[must_use]
    pub fn name(&self) -> &str {
        self.library.name()
    }

    /// Its version.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// A new identity for a communicator. Works without a device.
    ///
    /// # Errors
    /// What the library answers.
    pub fn unique_id(&self) -> Result<ncclUniqueId, RcclError> {
        let mut id = ncclUniqueId { internal: [0; 128] };
        // SAFETY: the function writes the 128 bytes.
        RcclError::check(unsafe { (self.functions.ncclGetUniqueId)(&raw mut id) })?;
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_their_number() {
        let table = [(2804, "2.8.4"), (21304, "2.13.4"), (22005, "2.20.5")];
        for (number, text) in table {
            assert_eq!(Version::from_number(number).to_string(), text);
        }
        assert!(Version::from_number(2804) < OLDEST);
    }
}
