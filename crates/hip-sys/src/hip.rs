//! An open HIP runtime, and what `doctor` asks of it.

#![expect(unsafe_code, reason = "calls of a C library")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt;
use std::path::PathBuf;

use crate::error::HipError;
use crate::functions::Functions;
use crate::library::{Library, LoadError};
use crate::types::{attribute, hipError_t};

/// Names of the runtime. A development package and a stand-in such as a simulator have the
/// first; then the newest.
const NAMES: [&str; 4] = [
    "libamdhip64.so",
    "libamdhip64.so.7",
    "libamdhip64.so.6",
    "libamdhip64.so.5",
];

/// A HIP runtime.
#[derive(Debug)]
pub struct Hip {
    /// Its functions.
    pub functions: Functions,
    library: Library,
}

/// A version of HIP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The major version.
    pub major: i32,
    /// The minor version.
    pub minor: i32,
    /// The patch level, or the number of the build.
    pub patch: i32,
}

impl Version {
    /// From HIP's number: major * 10^7 + minor * 10^5 + patch.
    #[must_use]
    pub const fn from_number(number: i32) -> Self {
        Self {
            major: number / 10_000_000,
            minor: number / 100_000 % 100,
            patch: number % 100_000,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// What there is to say about a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFacts {
    /// The product's name; empty where the runtime knows none.
    pub name: String,
    /// The architecture, such as `gfx942:sramecc+:xnack-`; empty where it is not told.
    pub arch: String,
    /// Bytes of device memory.
    pub memory_bytes: usize,
    /// Compute units.
    pub compute_units: i32,
}

impl Hip {
    /// Opens the runtime of these folders, or else the one the loader finds.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn open(folders: &[PathBuf]) -> Result<Self, LoadError> {
        let library = Library::open("libamdhip64", folders, &NAMES)?;
        let functions = Functions::of(&library)?;
        Ok(Self { functions, library })
    }

    /// The name or path it was opened by.
    #[must_use]
    pub fn name(&self) -> &str {
        self.library.name()
    }

    /// The version of the runtime.
    ///
    /// # Errors
    /// What the runtime answers.
    pub fn version(&self) -> Result<Version, HipError> {
        // SAFETY: the function writes one number.
        let number = out(|number| unsafe { (self.functions.hipRuntimeGetVersion)(number) })?;
        Ok(Version::from_number(number))
    }

    /// The number of devices: not 0, as no device is an error for HIP.
    ///
    /// # Errors
    /// What the runtime answers; [`HipError::NO_DEVICE`] where there is none.
    pub fn device_count(&self) -> Result<i32, HipError> {
        // SAFETY: the function writes one number.
        out(|count| unsafe { (self.functions.hipGetDeviceCount)(count) })
    }

    /// What there is to say about a device.
    ///
    /// # Errors
    /// What the runtime answers.
    pub fn device(&self, number: i32) -> Result<DeviceFacts, HipError> {
        let functions = &self.functions;
        // SAFETY: these functions write one value each, and the name at most as many
        // bytes as they are told.
        unsafe {
            let device = out(|device| (functions.hipDeviceGet)(device, number))?;
            let mut name: [c_char; 256] = [0; 256];
            let length = name.len() as c_int - 1;
            HipError::check((functions.hipDeviceGetName)(
                name.as_mut_ptr(),
                length,
                device,
            ))?;
            Ok(DeviceFacts {
                name: text(&name),
                arch: self.arch(number)?,
                memory_bytes: out(|bytes| (functions.hipDeviceTotalMem)(bytes, device))?,
                compute_units: out(|units| {
                    let which = attribute::MULTIPROCESSOR_COUNT;
                    (functions.hipDeviceGetAttribute)(units, which, number)
                })?,
            })
        }
    }

    /// The architecture's name, which only the structure of properties has. HIP 6 changed
    /// that structure and gave the function that fills the new one a name of its own.
    fn arch(&self, number: i32) -> Result<String, HipError> {
        /// Larger than the structure of any version.
        const BYTES: usize = 16 * 1024;
        const SINCE_6: usize = 1160;
        const BEFORE_6: usize = 396;
        let functions = &self.functions;
        let known = [
            (functions.hipGetDevicePropertiesR0600, SINCE_6),
            (functions.hipGetDevicePropertiesR0000, BEFORE_6),
            (functions.hipGetDeviceProperties, BEFORE_6),
        ];
        let found = known.into_iter().find_map(|(call, at)| Some((call?, at)));
        let Some((call, at)) = found else {
            return Ok(String::new());
        };
        let mut properties = vec![0_u64; BYTES / 8];
        let into: *mut c_void = properties.as_mut_ptr().cast();
        // SAFETY: the structure fits, with its alignment.
        HipError::check(unsafe { call(into, number) })?;
        let bytes: Vec<c_char> = properties
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .skip(at)
            .take(256)
            .map(|byte| byte as c_char)
            .collect();
        Ok(text(&bytes))
    }

    /// The runtime's own text for an error.
    #[must_use]
    pub fn describe(&self, error: HipError) -> String {
        // SAFETY: the function returns a constant string, or null.
        let said = unsafe { (self.functions.hipGetErrorString)(error.code()) };
        if said.is_null() {
            return error.to_string();
        }
        // SAFETY: as above.
        let said = unsafe { CStr::from_ptr(said) };
        said.to_string_lossy().into_owned()
    }
}

/// The value that a function writes.
fn out<T: Default>(call: impl FnOnce(*mut T) -> hipError_t) -> Result<T, HipError> {
    let mut value = T::default();
    HipError::check(call(&raw mut value))?;
    Ok(value)
}

/// The text before the first zero.
fn text(chars: &[c_char]) -> String {
    let bytes: Vec<u8> = chars
        .iter()
        .map(|c| *c as u8)
        .take_while(|byte| *byte != 0)
        .collect();
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_their_number() {
        let version = Version::from_number(50_221_153);
        assert_eq!(version.to_string(), "5.2.21153");
        assert!(version < Version::from_number(60_000_000));
    }

    #[test]
    fn text_ends_at_zero() {
        let chars = b"gfx942 \0rest".map(|byte| byte as c_char);
        assert_eq!(text(&chars), "gfx942");
    }
}
