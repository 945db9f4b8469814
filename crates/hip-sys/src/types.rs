//! HIP's types and constants, as far as they are the same from 5.2 to 7.

#![expect(non_camel_case_types, reason = "these are HIP's names")]

use std::ffi::{c_int, c_void};

/// An error code; 0 is success. See [`crate::HipError`].
pub type hipError_t = c_int;

/// A device, as the driver interface numbers them.
pub type hipDevice_t = c_int;

/// An address of device memory.
pub type hipDeviceptr_t = *mut c_void;

macro_rules! handles {
    ($($name:ident: $what:literal;)*) => {$(
        #[doc = $what]
        pub type $name = *mut c_void;
    )*};
}

handles! {
    hipStream_t: "A stream; null is the default stream.";
    hipEvent_t: "An event.";
    hipModule_t: "A loaded code object.";
    hipFunction_t: "A kernel of a module.";
    hipGraph_t: "A graph of operations.";
    hipGraphExec_t: "A graph made ready to launch.";
    hipGraphNode_t: "A node of a graph.";
}

/// A handle to device memory that another process may open.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct hipIpcMemHandle_t {
    /// Opaque.
    pub reserved: [u8; 64],
}

/// Directions of copies (`hipMemcpyKind`).
pub mod memcpy {
    use std::ffi::c_int;

    /// From host to host memory.
    pub const HOST_TO_HOST: c_int = 0;
    /// From host to device memory.
    pub const HOST_TO_DEVICE: c_int = 1;
    /// From device to host memory.
    pub const DEVICE_TO_HOST: c_int = 2;
    /// From device to device memory.
    pub const DEVICE_TO_DEVICE: c_int = 3;
    /// As the addresses say.
    pub const DEFAULT: c_int = 4;
}

/// Flags of streams.
pub mod stream {
    use std::ffi::c_uint;

    /// No flag.
    pub const DEFAULT: c_uint = 0;
    /// Does not wait for the default stream.
    pub const NON_BLOCKING: c_uint = 1;
}

/// Flags of events.
pub mod event {
    use std::ffi::c_uint;

    /// No flag.
    pub const DEFAULT: c_uint = 0;
    /// Waiting threads sleep.
    pub const BLOCKING_SYNC: c_uint = 1;
    /// Takes no time stamps.
    pub const DISABLE_TIMING: c_uint = 2;
}

/// Flags of pinned host memory.
pub mod host_malloc {
    use std::ffi::c_uint;

    /// No flag.
    pub const DEFAULT: c_uint = 0;
    /// Visible to every device.
    pub const PORTABLE: c_uint = 1;
    /// Mapped into the device's address space.
    pub const MAPPED: c_uint = 2;
}

/// Modes of capturing a stream.
pub mod capture {
    use std::ffi::c_int;

    /// Calls of any thread that could break the capture are errors.
    pub const GLOBAL: c_int = 0;
    /// Calls of this thread are.
    pub const THREAD_LOCAL: c_int = 1;
    /// None are.
    pub const RELAXED: c_int = 2;
}

/// Device attributes (`hipDeviceAttribute_t`), as numbered since 5.0.
pub mod attribute {
    use std::ffi::c_int;

    /// Most threads of a workgroup.
    pub const MAX_THREADS_PER_BLOCK: c_int = 56;
    /// Most bytes of LDS of a workgroup.
    pub const MAX_SHARED_MEMORY_PER_BLOCK: c_int = 74;
    /// Compute units.
    pub const MULTIPROCESSOR_COUNT: c_int = 63;
    /// Threads of a wave.
    pub const WARP_SIZE: c_int = 87;
}
