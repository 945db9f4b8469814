//! The functions that are looked up.

#![expect(non_snake_case, reason = "these are RCCL's names")]
#![expect(unsafe_code, reason = "looking up functions of a C library")]

use std::ffi::{c_char, c_int, c_void};

use cairn_hip_sys::{Library, LoadError, hipStream_t};

use crate::types::{ncclComm_t, ncclConfig, ncclRedOp_t, ncclResult_t, ncclUniqueId};

macro_rules! functions {
    (
        all { $(fn $name:ident($($arg:ty),*) -> $ret:ty;)* }
        some { $(fn $later:ident($($later_arg:ty),*) -> $later_ret:ty;)* }
    ) => {
        /// RCCL's functions.
        ///
        /// The fields that are no options are in every version from 2.13 on.
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
                    // SAFETY: the type is that of RCCL's header, which did not change it.
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
        fn ncclGetVersion(*mut c_int) -> ncclResult_t;
        fn ncclGetUniqueId(*mut ncclUniqueId) -> ncclResult_t;
        fn ncclGetErrorString(ncclResult_t) -> *const c_char;
        fn ncclGetLastError(ncclComm_t) -> *const c_char;

        fn ncclCommInitRank(*mut ncclComm_t, c_int, ncclUniqueId, c_int) -> ncclResult_t;
        fn ncclCommInitAll(*mut ncclComm_t, c_int, *const c_int) -> ncclResult_t;
        fn ncclCommDestroy(ncclComm_t) -> ncclResult_t;
        fn ncclCommAbort(ncclComm_t) -> ncclResult_t;
        fn ncclCommGetAsyncError(ncclComm_t, *mut ncclResult_t) -> ncclResult_t;
        fn ncclCommCount(ncclComm_t, *mut c_int) -> ncclResult_t;
        fn ncclCommCuDevice(ncclComm_t, *mut c_int) -> ncclResult_t;
        fn ncclCommUserRank(ncclComm_t, *mut c_int) -> ncclResult_t;

        fn ncclRedOpCreatePreMulSum(*mut ncclRedOp_t, *mut c_void, c_int, c_int, ncclComm_t) -> ncclResult_t;
        fn ncclRedOpDestroy(ncclRedOp_t, ncclComm_t) -> ncclResult_t;

        fn ncclReduce(*const c_void, *mut c_void, usize, c_int, ncclRedOp_t, c_int, ncclComm_t, hipStream_t) -> ncclResult_t;
        fn ncclBroadcast(*const c_void, *mut c_void, usize, c_int, c_int, ncclComm_t, hipStream_t) -> ncclResult_t;
        fn ncclAllReduce(*const c_void, *mut c_void, usize, c_int, ncclRedOp_t, ncclComm_t, hipStream_t) -> ncclResult_t;
        fn ncclReduceScatter(*const c_void, *mut c_void, usize, c_int, ncclRedOp_t, ncclComm_t, hipStream_t) -> ncclResult_t;
        fn ncclAllGather(*const c_void, *mut c_void, usize, c_int, ncclComm_t, hipStream_t) -> ncclResult_t;
        fn ncclSend(*const c_void, usize, c_int, c_int, ncclComm_t, hipStream_t) -> ncclResult_t;
        fn ncclRecv(*mut c_void, usize, c_int, c_int, ncclComm_t, hipStream_t) -> ncclResult_t;
        fn ncclAllToAll(*const c_void, *mut c_void, usize, c_int, ncclComm_t, hipStream_t) -> ncclResult_t;
        fn ncclAllToAllv(*const c_void, *const usize, *const usize, *mut c_void, *const usize, *const usize, c_int, ncclComm_t, hipStream_t) -> ncclResult_t;
        fn ncclGroupStart() -> ncclResult_t;
        fn ncclGroupEnd() -> ncclResult_t;
    }
    some {
        fn ncclCommInitRankConfig(*mut ncclComm_t, c_int, ncclUniqueId, c_int, *mut ncclConfig) -> ncclResult_t;
        fn ncclCommFinalize(ncclComm_t) -> ncclResult_t;
        fn ncclCommSplit(ncclComm_t, c_int, c_int, *mut ncclComm_t, *mut ncclConfig) -> ncclResult_t;
        fn ncclCommRegister(ncclComm_t, *mut c_void, usize, *mut *mut c_void) -> ncclResult_t;
        fn ncclCommDeregister(ncclComm_t, *mut c_void) -> ncclResult_t;
        fn ncclMemAlloc(*mut *mut c_void, usize) -> ncclResult_t;
        fn ncclMemFree(*mut c_void) -> ncclResult_t;
    }
}
