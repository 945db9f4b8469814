//! HIP's error codes.

use std::fmt;

use crate::types::hipError_t;

/// An error code other than success.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HipError(hipError_t);

/// The codes that Cairn meets, by the names of HIP's header. They are the same from 5.2 on.
const NAMES: [(hipError_t, &str, &str); 46] = [
    (
        1,
        "hipErrorInvalidValue",
        "an argument has an invalid value",
    ),
    (2, "hipErrorOutOfMemory", "the device is out of memory"),
    (
        3,
        "hipErrorNotInitialized",
        "the runtime is not initialised",
    ),
    (4, "hipErrorDeinitialized", "the runtime is shutting down"),
    (
        9,
        "hipErrorInvalidConfiguration",
        "the launch exceeds a limit of the device",
    ),
    (
        17,
        "hipErrorInvalidDevicePointer",
        "an address is not of device memory",
    ),
    (
        21,
        "hipErrorInvalidMemcpyDirection",
        "a copy has an invalid direction",
    ),
    (
        35,
        "hipErrorInsufficientDriver",
        "the driver is older than the runtime",
    ),
    (
        52,
        "hipErrorMissingConfiguration",
        "a launch has no configuration",
    ),
    (
        98,
        "hipErrorInvalidDeviceFunction",
        "the function is not for this device",
    ),
    (100, "hipErrorNoDevice", "there is no device"),
    (
        101,
        "hipErrorInvalidDevice",
        "there is no device of that number",
    ),
    (200, "hipErrorInvalidImage", "the code object is malformed"),
    (201, "hipErrorInvalidContext", "the context is invalid"),
    (
        209,
        "hipErrorNoBinaryForGpu",
        "the code object is for another architecture",
    ),
    (
        215,
        "hipErrorUnsupportedLimit",
        "the limit is not supported",
    ),
    (216, "hipErrorContextAlreadyInUse", "the context is in use"),
    (
        217,
        "hipErrorPeerAccessUnsupported",
        "the devices cannot reach each other's memory",
    ),
    (
        218,
        "hipErrorInvalidKernelFile",
        "the kernel's file is invalid",
    ),
    (300, "hipErrorInvalidSource", "the source is invalid"),
    (301, "hipErrorFileNotFound", "a file was not found"),
    (
        302,
        "hipErrorSharedObjectSymbolNotFound",
        "a symbol was not found",
    ),
    (
        303,
        "hipErrorSharedObjectInitFailed",
        "a shared object failed to initialise",
    ),
    (
        304,
        "hipErrorOperatingSystem",
        "a call of the operating system failed",
    ),
    (400, "hipErrorInvalidHandle", "a handle is invalid"),
    (
        401,
        "hipErrorIllegalState",
        "a resource is in the wrong state",
    ),
    (500, "hipErrorNotFound", "the name was not found"),
    (600, "hipErrorNotReady", "the work is not done yet"),
    (
        700,
        "hipErrorIllegalAddress",
        "a kernel read or wrote an address out of bounds",
    ),
    (
        701,
        "hipErrorLaunchOutOfResources",
        "the launch takes more resources than there are",
    ),
    (702, "hipErrorLaunchTimeOut", "a kernel took too long"),
    (
        704,
        "hipErrorPeerAccessAlreadyEnabled",
        "peer access is enabled already",
    ),
    (
        705,
        "hipErrorPeerAccessNotEnabled",
        "peer access is not enabled",
    ),
    (710, "hipErrorAssert", "an assertion of a kernel failed"),
    (719, "hipErrorLaunchFailure", "a kernel failed"),
    (
        801,
        "hipErrorNotSupported",
        "the operation is not supported",
    ),
    (
        900,
        "hipErrorStreamCaptureUnsupported",
        "the call is not allowed while a stream is captured",
    ),
    (
        901,
        "hipErrorStreamCaptureInvalidated",
        "an earlier error broke the capture",
    ),
    (
        902,
        "hipErrorStreamCaptureMerge",
        "the call would join two captures",
    ),
    (
        903,
        "hipErrorStreamCaptureUnmatched",
        "the capture did not begin on this stream",
    ),
    (
        904,
        "hipErrorStreamCaptureUnjoined",
        "captured work was not joined to the stream it began on",
    ),
    (
        905,
        "hipErrorStreamCaptureIsolation",
        "captured work would depend on work outside",
    ),
    (
        906,
        "hipErrorStreamCaptureImplicit",
        "the default stream would wait for a captured one",
    ),
    (
        907,
        "hipErrorCapturedEvent",
        "the event was recorded in a capture",
    ),
    (
        908,
        "hipErrorStreamCaptureWrongThread",
        "another thread began the capture",
    ),
    (999, "hipErrorUnknown", "the runtime gives no reason"),
];

impl HipError {
    /// There is no device.
    pub const NO_DEVICE: Self = Self(100);
    /// There is no device of that number.
    pub const INVALID_DEVICE: Self = Self(101);
    /// The device is out of memory.
    pub const OUT_OF_MEMORY: Self = Self(2);
    /// The code object is for another architecture.
    pub const NO_BINARY_FOR_GPU: Self = Self(209);
    /// The work is not done yet.
    pub const NOT_READY: Self = Self(600);
    /// The operation is not supported.
    pub const NOT_SUPPORTED: Self = Self(801);

    /// What a call returned.
    ///
    /// # Errors
    /// The code, unless it is 0.
    pub const fn check(code: hipError_t) -> Result<(), Self> {
        if code == 0 { Ok(()) } else { Err(Self(code)) }
    }

    /// The number.
    #[must_use]
    pub const fn code(self) -> hipError_t {
        self.0
    }

    /// HIP's name; `None` for codes that Cairn does not know.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        Some(NAMES.iter().find(|(code, ..)| *code == self.0)?.1)
    }
}

impl fmt::Display for HipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(code, ..)| *code == self.0) {
            Some((code, name, what)) => write!(f, "{what} ({name}, {code})"),
            None => write!(f, "HIP error {}", self.0),
        }
    }
}

impl fmt::Debug for HipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HipError({self})")
    }
}

impl std::error::Error for HipError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_names_in_order() {
        assert!(NAMES.is_sorted_by_key(|(code, ..)| *code));
        assert_eq!(HipError::check(0), Ok(()));
        assert_eq!(HipError::check(100), Err(HipError::NO_DEVICE));
        let shown = HipError::NO_DEVICE.to_string();
        assert_eq!(shown, "there is no device (hipErrorNoDevice, 100)");
        assert_eq!(HipError(12345).to_string(), "HIP error 12345");
        assert_eq!(HipError(12345).name(), None);
    }
}
