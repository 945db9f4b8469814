//! RCCL's results other than success.

use std::fmt;

use crate::types::ncclResult_t;

/// A result other than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RcclError(ncclResult_t);

const NAMES: [(&str, &str); 7] = [
    ("ncclUnhandledCudaError", "a call of HIP failed"),
    ("ncclSystemError", "a call of the operating system failed"),
    ("ncclInternalError", "the library failed"),
    ("ncclInvalidArgument", "an argument is invalid"),
    ("ncclInvalidUsage", "the call is not allowed here"),
    ("ncclRemoteError", "another rank failed or left"),
    ("ncclInProgress", "the call goes on in the background"),
];

impl RcclError {
    /// A call of HIP failed: without a device, every communicator ends so.
    pub const UNHANDLED_CUDA_ERROR: Self = Self(1);
    /// Another rank failed or left.
    pub const REMOTE_ERROR: Self = Self(6);
    /// The call goes on in the background: not a failure.
    pub const IN_PROGRESS: Self = Self(7);

    /// What a call returned.
    ///
    /// # Errors
    /// The result, unless it is 0.
    pub const fn check(code: ncclResult_t) -> Result<(), Self> {
        if code == 0 { Ok(()) } else { Err(Self(code)) }
    }

    /// The number.
    #[must_use]
    pub const fn code(self) -> ncclResult_t {
        self.0
    }
}

impl fmt::Display for RcclError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = usize::try_from(self.0 - 1).ok().and_then(|i| NAMES.get(i));
        match known {
            Some((name, what)) => write!(f, "{what} ({name}, {})", self.0),
            None => write!(f, "RCCL error {}", self.0),
        }
    }
}

impl std::error::Error for RcclError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_names() {
        assert_eq!(RcclError::check(0), Ok(()));
        let error = RcclError::check(1).unwrap_err();
        assert_eq!(error, RcclError::UNHANDLED_CUDA_ERROR);
        let shown = error.to_string();
        assert_eq!(shown, "a call of HIP failed (ncclUnhandledCudaError, 1)");
        assert_eq!(RcclError(-3).to_string(), "RCCL error -3");
        assert_eq!(RcclError(8).to_string(), "RCCL error 8");
    }
}
