//! HIP's C interface, opened at run time: nothing is linked at build time.
//!
//! [`Hip::open`] loads `libamdhip64` of any version from 5.2 to 7 and looks up every
//! function once. Functions that all of these versions have are fields one can call;
//! those that came later are `Option`s. Types that changed between versions are not used
//! where another function answers the same question, and are told apart where none does.
//!
//! Names are HIP's own, so that its documentation applies.

mod error;
mod functions;
mod hip;
mod library;
mod types;

pub use error::HipError;
pub use functions::Functions;
pub use hip::{DeviceFacts, Hip, Version};
pub use library::{Attempt, Library, LoadError};
pub use types::{attribute, capture, event, host_malloc, memcpy, stream};
pub use types::{
    hipDevice_t, hipDeviceptr_t, hipError_t, hipEvent_t, hipFunction_t, hipGraph_t, hipGraphExec_t,
    hipGraphNode_t, hipIpcMemHandle_t, hipModule_t, hipStream_t,
};
