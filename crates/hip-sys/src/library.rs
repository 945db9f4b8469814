//! Opening a shared library by one of several names, with the reasons where none works.

#![expect(unsafe_code, reason = "opening a library runs its initialisers")]

use std::fmt;
use std::mem::ManuallyDrop;
use std::path::PathBuf;

use thiserror::Error;

/// An open library. It stays open to the end of the process: threads that have called it
/// may run its code once more when they end.
#[derive(Debug)]
pub struct Library {
    name: String,
    inner: ManuallyDrop<libloading::Library>,
}

/// A name that was tried, and why it was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The name or path.
    pub name: String,
    /// What the loader said.
    pub reason: String,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.reason)
    }
}

/// Why a library cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LoadError {
    /// No name could be opened.
    #[error("no {wanted} could be opened")]
    NotFound {
        /// The plain name.
        wanted: &'static str,
        /// Every name that was tried.
        tried: Vec<Attempt>,
    },
    /// A function that every supported version has is missing.
    #[error("{name} lacks {}", symbols.join(", "))]
    Lacks {
        /// The library.
        name: String,
        /// The functions.
        symbols: Vec<&'static str>,
    },
}

impl Library {
    /// Opens the first that can be of the `names` in the `folders`, then of the names as
    /// the loader finds them. `wanted` is what to call it in an error.
    ///
    /// # Errors
    /// [`LoadError::NotFound`] with every attempt.
    pub fn open(
        wanted: &'static str,
        folders: &[PathBuf],
        names: &[&str],
    ) -> Result<Self, LoadError> {
        let in_folders = folders
            .iter()
            .flat_map(|folder| names.iter().map(|name| folder.join(name)));
        let everywhere = names.iter().map(PathBuf::from);
        let mut tried = Vec::new();
        for path in in_folders.chain(everywhere) {
            let name = path.display().to_string();
            // SAFETY: the initialisers of a HIP or RCCL library may run at any time; it
            // has none that depend on the state of this process.
            match unsafe { libloading::Library::new(&path) } {
                Ok(inner) => {
                    let inner = ManuallyDrop::new(inner);
                    return Ok(Self { name, inner });
                }
                Err(error) => tried.push(Attempt {
                    name,
                    reason: reason(&error),
                }),
            }
        }
        Err(LoadError::NotFound { wanted, tried })
    }

    /// The name or path it was opened by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A function, or `None` where the library has none of that name.
    ///
    /// # Safety
    /// `T` must be the type of a function pointer, and the function must have that type.
    pub unsafe fn function<T: Copy>(&self, name: &str) -> Option<T> {
        // SAFETY: the caller answers for the type.
        let symbol = unsafe { self.inner.get::<T>(name) }.ok()?;
        Some(*symbol)
    }
}

/// The loader's own words, without its name for the library.
fn reason(error: &libloading::Error) -> String {
    let said =
        std::error::Error::source(error).map_or_else(|| error.to_string(), |e| e.to_string());
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}
