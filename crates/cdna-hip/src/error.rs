//! Error codes: their names, the last one of a thread, and what is told on stderr.

use std::cell::Cell;
use std::ffi::{CStr, c_int};
use std::fmt::{self, Display, Write as _};
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A `hipError_t` other than success.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(c_int);

pub(crate) type Result<T = ()> = std::result::Result<T, Code>;

macro_rules! codes {
    ($($name:ident = $number:literal;)*) => {
        impl Code {
            $(pub(crate) const $name: Self = Self($number);)*
        }
    };
}

codes! {
    INVALID_VALUE = 1;
    OUT_OF_MEMORY = 2;
    INVALID_CONFIGURATION = 9;
    INVALID_DEVICE_POINTER = 17;
    INVALID_MEMCPY_DIRECTION = 21;
    MISSING_CONFIGURATION = 52;
    INVALID_SYMBOL = 13;
    INVALID_DEVICE_FUNCTION = 98;
    NO_DEVICE = 100;
    INVALID_DEVICE = 101;
    INVALID_IMAGE = 200;
    NO_BINARY_FOR_GPU = 209;
    FILE_NOT_FOUND = 301;
    INVALID_HANDLE = 400;
    ILLEGAL_STATE = 401;
    NOT_FOUND = 500;
    ILLEGAL_ADDRESS = 700;
    LAUNCH_OUT_OF_RESOURCES = 701;
    LAUNCH_TIME_OUT = 702;
    PEER_ACCESS_ALREADY_ENABLED = 704;
    PEER_ACCESS_NOT_ENABLED = 705;
    LAUNCH_FAILURE = 719;
    NOT_SUPPORTED = 801;
    STREAM_CAPTURE_UNSUPPORTED = 900;
    STREAM_CAPTURE_INVALIDATED = 901;
    STREAM_CAPTURE_MERGE = 902;
    STREAM_CAPTURE_UNMATCHED = 903;
    STREAM_CAPTURE_UNJOINED = 904;
    STREAM_CAPTURE_ISOLATION = 905;
    STREAM_CAPTURE_IMPLICIT = 906;
    CAPTURED_EVENT = 907;
    STREAM_CAPTURE_WRONG_THREAD = 908;
    UNKNOWN = 999;
}

/// Number, name and meaning of every code; the same from HIP 5.2 to 7.
const NAMES: [(c_int, &CStr, &CStr); 71] = [
    (0, c"hipSuccess", c"no error"),
    (
        1,
        c"hipErrorInvalidValue",
        c"an argument has an invalid value",
    ),
    (2, c"hipErrorOutOfMemory", c"the device is out of memory"),
    (
        3,
        c"hipErrorNotInitialized",
        c"the runtime is not initialised",
    ),
    (4, c"hipErrorDeinitialized", c"the runtime is shutting down"),
    (
        9,
        c"hipErrorInvalidConfiguration",
        c"the launch exceeds a limit of the device",
    ),
    (12, c"hipErrorInvalidPitchValue", c"a pitch is invalid"),
    (13, c"hipErrorInvalidSymbol", c"a symbol is invalid"),
    (
        17,
        c"hipErrorInvalidDevicePointer",
        c"an address is not of device memory",
    ),
    (
        21,
        c"hipErrorInvalidMemcpyDirection",
        c"a copy has an invalid direction",
    ),
    (
        35,
        c"hipErrorInsufficientDriver",
        c"the driver is older than the runtime",
    ),
    (
        52,
        c"hipErrorMissingConfiguration",
        c"a launch has no configuration",
    ),
    (
        53,
        c"hipErrorPriorLaunchFailure",
        c"an earlier kernel failed",
    ),
    (
        98,
        c"hipErrorInvalidDeviceFunction",
        c"the function is not for this device",
    ),
    (100, c"hipErrorNoDevice", c"there is no device"),
    (
        101,
        c"hipErrorInvalidDevice",
        c"there is no device of that number",
    ),
    (
        200,
        c"hipErrorInvalidImage",
        c"the code object is malformed",
    ),
    (201, c"hipErrorInvalidContext", c"the context is invalid"),
    (
        202,
        c"hipErrorContextAlreadyCurrent",
        c"the context is current already",
    ),
    (205, c"hipErrorMapFailed", c"memory could not be mapped"),
    (206, c"hipErrorUnmapFailed", c"memory could not be unmapped"),
    (207, c"hipErrorArrayIsMapped", c"the array is mapped"),
    (
        208,
        c"hipErrorAlreadyMapped",
        c"the resource is mapped already",
    ),
    (
        209,
        c"hipErrorNoBinaryForGpu",
        c"the code object is for another architecture",
    ),
    (
        210,
        c"hipErrorAlreadyAcquired",
        c"the resource is acquired already",
    ),
    (211, c"hipErrorNotMapped", c"the resource is not mapped"),
    (
        212,
        c"hipErrorNotMappedAsArray",
        c"the resource is not mapped as an array",
    ),
    (
        213,
        c"hipErrorNotMappedAsPointer",
        c"the resource is not mapped as an address",
    ),
    (
        214,
        c"hipErrorECCNotCorrectable",
        c"an ECC error could not be corrected",
    ),
    (
        215,
        c"hipErrorUnsupportedLimit",
        c"the limit is not supported",
    ),
    (
        216,
        c"hipErrorContextAlreadyInUse",
        c"the context is in use",
    ),
    (
        217,
        c"hipErrorPeerAccessUnsupported",
        c"the devices cannot reach each other's memory",
    ),
    (
        218,
        c"hipErrorInvalidKernelFile",
        c"the kernel's file is invalid",
    ),
    (
        219,
        c"hipErrorInvalidGraphicsContext",
        c"the graphics context is invalid",
    ),
    (300, c"hipErrorInvalidSource", c"the source is invalid"),
    (301, c"hipErrorFileNotFound", c"a file was not found"),
    (
        302,
        c"hipErrorSharedObjectSymbolNotFound",
        c"a symbol was not found",
    ),
    (
        303,
        c"hipErrorSharedObjectInitFailed",
        c"a shared object failed to initialise",
    ),
    (
        304,
        c"hipErrorOperatingSystem",
        c"a call of the operating system failed",
    ),
    (400, c"hipErrorInvalidHandle", c"a handle is invalid"),
    (
        401,
        c"hipErrorIllegalState",
        c"a resource is in the wrong state",
    ),
    (500, c"hipErrorNotFound", c"the name was not found"),
    (600, c"hipErrorNotReady", c"the work is not done yet"),
    (
        700,
        c"hipErrorIllegalAddress",
        c"a kernel read or wrote an address out of bounds",
    ),
    (
        701,
        c"hipErrorLaunchOutOfResources",
        c"the launch takes more resources than there are",
    ),
    (702, c"hipErrorLaunchTimeOut", c"a kernel took too long"),
    (
        704,
        c"hipErrorPeerAccessAlreadyEnabled",
        c"peer access is enabled already",
    ),
    (
        705,
        c"hipErrorPeerAccessNotEnabled",
        c"peer access is not enabled",
    ),
    (
        708,
        c"hipErrorSetOnActiveProcess",
        c"this cannot change while the device is in use",
    ),
    (709, c"hipErrorContextIsDestroyed", c"the context is gone"),
    (710, c"hipErrorAssert", c"an assertion of a kernel failed"),
    (
        712,
        c"hipErrorHostMemoryAlreadyRegistered",
        c"the host memory is registered already",
    ),
    (
        713,
        c"hipErrorHostMemoryNotRegistered",
        c"the host memory is not registered",
    ),
    (719, c"hipErrorLaunchFailure", c"a kernel failed"),
    (
        720,
        c"hipErrorCooperativeLaunchTooLarge",
        c"a cooperative launch has too many workgroups",
    ),
    (
        801,
        c"hipErrorNotSupported",
        c"the operation is not supported",
    ),
    (
        900,
        c"hipErrorStreamCaptureUnsupported",
        c"this is not possible while a stream is captured",
    ),
    (
        901,
        c"hipErrorStreamCaptureInvalidated",
        c"an earlier error made the capture invalid",
    ),
    (
        902,
        c"hipErrorStreamCaptureMerge",
        c"two captures would become one",
    ),
    (
        903,
        c"hipErrorStreamCaptureUnmatched",
        c"the capture began on another stream",
    ),
    (
        904,
        c"hipErrorStreamCaptureUnjoined",
        c"work of another stream was not joined to the captured one",
    ),
    (
        905,
        c"hipErrorStreamCaptureIsolation",
        c"captured work would depend on work outside of the capture",
    ),
    (
        906,
        c"hipErrorStreamCaptureImplicit",
        c"the default stream would depend on a stream that is captured",
    ),
    (
        907,
        c"hipErrorCapturedEvent",
        c"the event was recorded in a capture",
    ),
    (
        908,
        c"hipErrorStreamCaptureWrongThread",
        c"the capture began in another thread",
    ),
    (
        910,
        c"hipErrorGraphExecUpdateFailure",
        c"the graph has other nodes",
    ),
    (
        911,
        c"hipErrorInvalidChannelDescriptor",
        c"a channel descriptor is invalid",
    ),
    (912, c"hipErrorInvalidTexture", c"a texture is invalid"),
    (999, c"hipErrorUnknown", c"the runtime gives no reason"),
    (
        1052,
        c"hipErrorRuntimeMemory",
        c"a memory call of the runtime failed",
    ),
    (
        1053,
        c"hipErrorRuntimeOther",
        c"a call of the runtime failed",
    ),
];

impl Code {
    /// The number.
    pub(crate) const fn number(self) -> c_int {
        self.0
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", name(self.0).to_string_lossy(), self.0)
    }
}

fn row(number: c_int) -> &'static (c_int, &'static CStr, &'static CStr) {
    let unknown = Code::UNKNOWN.0;
    NAMES
        .iter()
        .find(|(known, ..)| *known == number)
        .or_else(|| NAMES.iter().find(|(known, ..)| *known == unknown))
        .unwrap_or(&NAMES[0])
}

/// A code's name; that of `hipErrorUnknown` for what is no code.
pub(crate) fn name(number: c_int) -> &'static CStr {
    row(number).1
}

/// A code's meaning.
pub(crate) fn meaning(number: c_int) -> &'static CStr {
    row(number).2
}

thread_local! {
    static LAST: Cell<c_int> = const { Cell::new(0) };
}

/// The last code of this thread that was not success.
pub(crate) fn last() -> c_int {
    LAST.get()
}

/// As [`last`], which is success afterwards.
pub(crate) fn take_last() -> c_int {
    LAST.replace(0)
}

/// Does what a C function is for: no panic leaves it, and its error is remembered.
pub(crate) fn guarded(function: &str, body: impl FnOnce() -> Result) -> c_int {
    let done = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        tell(format_args!(
            "{function}: a fault of the simulator itself; please report it with the message above"
        ));
        Err(Code::UNKNOWN)
    });
    match done {
        Ok(()) => 0,
        Err(code) => {
            LAST.set(code.0);
            code.0
        }
    }
}

/// Prints what no code can say. Nobody waits for it: a closed stderr is no error.
pub(crate) fn tell(message: impl Display) {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "cairn-sim: {message}");
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Tells what is wrong and gives the code.
pub(crate) fn refuse<T>(code: Code, message: impl Display) -> Result<T> {
    tell(format_args!("{code:?}: {message}"));
    Err(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_names_in_order() {
        assert!(NAMES.is_sorted_by_key(|(number, ..)| *number));
        assert_eq!(name(0), c"hipSuccess");
        assert_eq!(name(209), c"hipErrorNoBinaryForGpu");
        assert_eq!(name(12345), c"hipErrorUnknown");
        assert_eq!(name(-1), c"hipErrorUnknown");
        assert_eq!(
            format!("{:?}", Code::OUT_OF_MEMORY),
            "hipErrorOutOfMemory (2)"
        );
    }

    #[test]
    fn the_last_error_stays_until_it_is_taken() {
        assert_eq!(guarded("f", || Ok(())), 0);
        assert_eq!(last(), 0);
        assert_eq!(guarded("f", || Err(Code::INVALID_VALUE)), 1);
        assert_eq!(guarded("f", || Ok(())), 0);
        assert_eq!((last(), take_last(), last()), (1, 1, 0));
    }
}
