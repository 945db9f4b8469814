//! The functions that are looked up.

#![expect(non_snake_case, reason = "these are HIP's names")]
#![expect(unsafe_code, reason = "looking up functions of a C library")]

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::library::{Library, LoadError};
use crate::types::{
    hipDevice_t, hipDeviceptr_t, hipError_t, hipEvent_t, hipFunction_t, hipGraph_t, hipGraphExec_t,
    hipGraphNode_t, hipIpcMemHandle_t, hipModule_t, hipStream_t,
};

macro_rules! functions {
    (
        all { $(fn $name:ident($($arg:ty),*) -> $ret:ty;)* }
        some { $(fn $later:ident($($later_arg:ty),*) -> $later_ret:ty;)* }
    ) => {
        /// HIP's functions.
        ///
        /// The fields that are no options are in every version from 5.2 on.
        #[derive(Clone, Copy, Debug)]
        pub struct Functions {
            $(
                #[doc = concat!("`", stringify!($name), "`.")]
                pub $name: unsafe extern "C" fn($($arg),*) -> $ret,
            )*
            $(
                #[doc = concat!("`", stringify!($later), "`, where the library has it.")]
                pub $later: Option<unsafe extern "C" fn($($later_arg),*) -> $later_ret>,
            )*
        }

        impl Functions {
            /// The names of the functions that every version has.
            pub const NEEDED: &[&str] = &[$(stringify!($name)),*];

            /// Looks up every function.
            ///
            /// # Errors
            /// [`LoadError::Lacks`] with all that are missing.
            pub fn of(library: &Library) -> Result<Self, LoadError> {
                let mut symbols = Vec::new();
                $(
                    // SAFETY: the type is that of HIP's header, which did not change it.
                    let $name = unsafe { library.function(stringify!($name)) };
                    if $name.is_none() {
                        symbols.push(stringify!($name));
                    }
                )*
                let lacks = || LoadError::Lacks {
                    name: library.name().to_owned(),
                    symbols: symbols.clone(),
                };
                Ok(Self {
                    $($name: $name.ok_or_else(lacks)?,)*
                    // SAFETY: as above.
                    $($later: unsafe { library.function(stringify!($later)) },)*
                })
            }
        }
    };
}

functions! {
    all {
        fn hipInit(c_uint) -> hipError_t;
        fn hipRuntimeGetVersion(*mut c_int) -> hipError_t;
        fn hipDriverGetVersion(*mut c_int) -> hipError_t;
        fn hipGetErrorName(hipError_t) -> *const c_char;
        fn hipGetErrorString(hipError_t) -> *const c_char;
        fn hipGetLastError() -> hipError_t;

        fn hipGetDeviceCount(*mut c_int) -> hipError_t;
        fn hipGetDevice(*mut c_int) -> hipError_t;
        fn hipSetDevice(c_int) -> hipError_t;
        fn hipDeviceGet(*mut hipDevice_t, c_int) -> hipError_t;
        fn hipDeviceGetName(*mut c_char, c_int, hipDevice_t) -> hipError_t;
        fn hipDeviceTotalMem(*mut usize, hipDevice_t) -> hipError_t;
        fn hipDeviceGetAttribute(*mut c_int, c_int, c_int) -> hipError_t;
        fn hipDeviceGetPCIBusId(*mut c_char, c_int, c_int) -> hipError_t;
        fn hipDeviceSynchronize() -> hipError_t;
        fn hipDeviceCanAccessPeer(*mut c_int, c_int, c_int) -> hipError_t;
        fn hipDeviceEnablePeerAccess(c_int, c_uint) -> hipError_t;
        fn hipDeviceDisablePeerAccess(c_int) -> hipError_t;

        fn hipMemGetInfo(*mut usize, *mut usize) -> hipError_t;
        fn hipMalloc(*mut *mut c_void, usize) -> hipError_t;
        fn hipFree(*mut c_void) -> hipError_t;
        fn hipHostMalloc(*mut *mut c_void, usize, c_uint) -> hipError_t;
        fn hipHostFree(*mut c_void) -> hipError_t;
        fn hipMemcpy(*mut c_void, *const c_void, usize, c_int) -> hipError_t;
        fn hipMemcpyAsync(*mut c_void, *const c_void, usize, c_int, hipStream_t) -> hipError_t;
        fn hipMemcpyPeerAsync(*mut c_void, c_int, *const c_void, c_int, usize, hipStream_t) -> hipError_t;
        fn hipMemset(*mut c_void, c_int, usize) -> hipError_t;
        fn hipMemsetAsync(*mut c_void, c_int, usize, hipStream_t) -> hipError_t;
        fn hipMemsetD32Async(hipDeviceptr_t, c_int, usize, hipStream_t) -> hipError_t;
        fn hipIpcGetMemHandle(*mut hipIpcMemHandle_t, *mut c_void) -> hipError_t;
        fn hipIpcOpenMemHandle(*mut *mut c_void, hipIpcMemHandle_t, c_uint) -> hipError_t;
        fn hipIpcCloseMemHandle(*mut c_void) -> hipError_t;

        fn hipStreamCreateWithFlags(*mut hipStream_t, c_uint) -> hipError_t;
        fn hipStreamDestroy(hipStream_t) -> hipError_t;
        fn hipStreamSynchronize(hipStream_t) -> hipError_t;
        fn hipStreamQuery(hipStream_t) -> hipError_t;
        fn hipStreamWaitEvent(hipStream_t, hipEvent_t, c_uint) -> hipError_t;

        fn hipEventCreateWithFlags(*mut hipEvent_t, c_uint) -> hipError_t;
        fn hipEventDestroy(hipEvent_t) -> hipError_t;
        fn hipEventRecord(hipEvent_t, hipStream_t) -> hipError_t;
        fn hipEventQuery(hipEvent_t) -> hipError_t;
        fn hipEventSynchronize(hipEvent_t) -> hipError_t;
        fn hipEventElapsedTime(*mut f32, hipEvent_t, hipEvent_t) -> hipError_t;

        fn hipModuleLoadData(*mut hipModule_t, *const c_void) -> hipError_t;
        fn hipModuleUnload(hipModule_t) -> hipError_t;
        fn hipModuleGetFunction(*mut hipFunction_t, hipModule_t, *const c_char) -> hipError_t;
        fn hipModuleLaunchKernel(hipFunction_t, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, hipStream_t, *mut *mut c_void, *mut *mut c_void) -> hipError_t;
        fn hipFuncGetAttribute(*mut c_int, c_int, hipFunction_t) -> hipError_t;
        fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(*mut c_int, hipFunction_t, c_int, usize) -> hipError_t;

        fn hipStreamBeginCapture(hipStream_t, c_int) -> hipError_t;
        fn hipStreamEndCapture(hipStream_t, *mut hipGraph_t) -> hipError_t;
        fn hipGraphInstantiate(*mut hipGraphExec_t, hipGraph_t, *mut hipGraphNode_t, *mut c_char, usize) -> hipError_t;
        fn hipGraphLaunch(hipGraphExec_t, hipStream_t) -> hipError_t;
        fn hipGraphDestroy(hipGraph_t) -> hipError_t;
        fn hipGraphExecDestroy(hipGraphExec_t) -> hipError_t;
    }
    some {
        fn hipMallocAsync(*mut *mut c_void, usize, hipStream_t) -> hipError_t;
        fn hipFreeAsync(*mut c_void, hipStream_t) -> hipError_t;
        fn hipGetDeviceProperties(*mut c_void, c_int) -> hipError_t;
        fn hipGetDevicePropertiesR0600(*mut c_void, c_int) -> hipError_t;
        fn hipGetDevicePropertiesR0000(*mut c_void, c_int) -> hipError_t;
        fn hipDrvGetErrorName(hipError_t, *mut *const c_char) -> hipError_t;
        fn hipGetProcAddress(*const c_char, *mut *mut c_void, c_int, u64, *mut c_int) -> hipError_t;
    }
}
