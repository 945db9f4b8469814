//! RCCL's types and constants.

#![expect(non_camel_case_types, reason = "these are RCCL's names")]

use std::ffi::{c_char, c_int, c_void};
use std::fmt;

use crate::rccl::Version;

/// A result; 0 is success. See [`crate::RcclError`].
pub type ncclResult_t = c_int;

/// A communicator.
pub type ncclComm_t = *mut c_void;

/// A reduction: one of [`red_op`], or one made for a communicator.
pub type ncclRedOp_t = c_int;

/// What ranks share before they have a communicator.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ncclUniqueId {
    /// Opaque.
    pub internal: [c_char; 128],
}

impl fmt::Debug for ncclUniqueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ncclUniqueId(..)")
    }
}

/// The configuration of a communicator. Its size is a field, by which the library tells
/// its versions apart: it is passed as a pointer only.
pub type ncclConfig = c_void;

/// Reductions.
pub mod red_op {
    use super::ncclRedOp_t;

    /// Sum.
    pub const SUM: ncclRedOp_t = 0;
    /// Product.
    pub const PROD: ncclRedOp_t = 1;
    /// Maximum.
    pub const MAX: ncclRedOp_t = 2;
    /// Minimum.
    pub const MIN: ncclRedOp_t = 3;
    /// Average.
    pub const AVG: ncclRedOp_t = 4;
}

/// The type of elements (`ncclDataType_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataType {
    /// Signed 8-bit integer.
    Int8,
    /// Unsigned 8-bit integer.
    Uint8,
    /// Signed 32-bit integer.
    Int32,
    /// Unsigned 32-bit integer.
    Uint32,
    /// Signed 64-bit integer.
    Int64,
    /// Unsigned 64-bit integer.
    Uint64,
    /// IEEE binary16.
    Float16,
    /// IEEE binary32.
    Float32,
    /// IEEE binary64.
    Float64,
    /// bfloat16.
    Bfloat16,
    /// 8-bit float with 4 exponent bits, of the kind that the device has.
    Float8E4m3,
    /// 8-bit float with 5 exponent bits, likewise.
    Float8E5m2,
}

impl DataType {
    /// The number to pass; `None` where the version does not know the type. 8-bit floats
    /// came with 2.24 in NCCL's numbering.
    #[must_use]
    pub fn code(self, version: Version) -> Option<c_int> {
        let since = match self {
            Self::Float8E4m3 | Self::Float8E5m2 => 24,
            _ => 13,
        };
        ((version.major, version.minor) >= (2, since)).then_some(self as c_int)
    }
}
