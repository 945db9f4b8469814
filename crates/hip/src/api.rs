//! HIP's functions, called for one device.

#![expect(unsafe_code, reason = "calls of HIP")]

use std::ffi::c_int;

use cairn_hip_sys::{Functions, Hip, HipError};
use cairn_tensor::TensorError;

/// HIP, for one device.
#[derive(Debug)]
pub(crate) struct Api {
    hip: Hip,
    ordinal: c_int,
}

impl Api {
    pub(crate) fn new(hip: Hip, ordinal: c_int) -> Self {
        Self { hip, ordinal }
    }

    /// The device's number.
    pub(crate) fn ordinal(&self) -> c_int {
        self.ordinal
    }

    /// The functions, with this device as the calling thread's current one.
    pub(crate) fn functions(&self) -> Result<&Functions, TensorError> {
        // SAFETY: takes a number.
        let code = unsafe { (self.hip.functions.hipSetDevice)(self.ordinal) };
        self.check("hipSetDevice", code)?;
        Ok(&self.hip.functions)
    }

    /// An error of a call, with HIP's own text.
    pub(crate) fn check(&self, call: &str, code: c_int) -> Result<(), TensorError> {
        HipError::check(code).map_err(|error| TensorError::Device {
            message: format!(
                "{call} failed on device {}: {}",
                self.ordinal,
                self.hip.describe(error)
            ),
        })
    }
}
