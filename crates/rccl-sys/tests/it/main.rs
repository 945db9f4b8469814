//! The bindings against a real library.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(unsafe_code, reason = "calls of a C library")]

use cairn_hip_sys::{Hip, LoadError};
use cairn_rccl_sys::{DataType, Rccl, RcclError, RcclLoadError, Version};

/// The library of this machine.
fn library() -> Option<Rccl> {
    match Rccl::open(&[]) {
        Ok(rccl) => Some(rccl),
        Err(RcclLoadError::Load(LoadError::NotFound { .. })) => {
            cairn_base::skip("no librccl here: Debian's package is librccl1");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn it_tells_its_version_and_makes_identities() {
    let Some(rccl) = library() else { return };
    assert!(rccl.version().major >= 2);
    let one = rccl.unique_id().unwrap();
    assert_ne!(one, rccl.unique_id().unwrap());
}

#[test]
fn without_a_device_there_is_no_communicator() {
    let Some(rccl) = library() else { return };
    if Hip::open(&[]).is_ok_and(|hip| hip.device_count().is_ok()) {
        return cairn_base::skip("this machine has a device");
    }
    let id = rccl.unique_id().unwrap();
    let mut communicator = std::ptr::null_mut();
    // SAFETY: one rank of one; the function writes the communicator.
    let made = unsafe { (rccl.functions.ncclCommInitRank)(&raw mut communicator, 1, id, 0) };
    assert_eq!(RcclError::check(made), Err(RcclError::UNHANDLED_CUDA_ERROR));
}

#[test]
fn types_have_numbers_where_the_version_knows_them() {
    let old = Version::from_number(21304);
    let new = Version::from_number(22403);
    assert_eq!(DataType::Int8.code(old), Some(0));
    assert_eq!(DataType::Bfloat16.code(old), Some(9));
    assert_eq!(DataType::Float8E4m3.code(old), None);
    assert_eq!(DataType::Float8E4m3.code(new), Some(10));
    assert_eq!(DataType::Float8E5m2.code(new), Some(11));
}
