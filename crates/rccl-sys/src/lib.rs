//! RCCL's C interface, opened at run time: nothing is linked at build time.
//!
//! [`Rccl::open`] loads `librccl` of version 2.13 or later. Functions that came after 2.13
//! are `Option`s. Names are RCCL's own, which are NCCL's, so that its documentation
//! applies.

mod error;
mod functions;
mod rccl;
mod types;

pub use error::RcclError;
pub use functions::Functions;
pub use rccl::{Rccl, RcclLoadError, Version};
pub use types::{
    DataType, ncclComm_t, ncclConfig, ncclRedOp_t, ncclResult_t, ncclUniqueId, red_op,
};
