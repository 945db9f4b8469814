//! The bindings against a real library.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(unsafe_code, reason = "calls of a C library")]

use std::process::Command;

use cairn_hip_sys::{Hip, LoadError};
use cairn_rccl_sys::{DataType, Functions, Rccl, RcclError, RcclLoadError, Version};

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

/// Opens a stand-in for a version, with the needed functions but `without`.
fn stand_in(version: i32, without: &[&str]) -> Option<Result<Rccl, RcclLoadError>> {
    let folder = tempfile::tempdir().unwrap();
    let mut source = format!("int ncclGetVersion(int *v) {{ *v = {version}; return 0; }}\n");
    for name in Functions::NEEDED {
        if *name != "ncclGetVersion" && !without.contains(name) {
            source += &format!("int {name}(void) {{ return 3; }}\n");
        }
    }
    let from = folder.path().join("stand_in.c");
    std::fs::write(&from, source).unwrap();
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&folder.path().join("librccl.so"), &from])
        .output();
    if let Err(error) = made {
        cairn_base::skip(&format!("no C compiler: {error}"));
        return None;
    }
    Some(Rccl::open(&[folder.path().to_owned()]))
}

#[test]
fn versions_are_told_apart_when_a_library_is_opened() {
    let Some(opened) = stand_in(21304, &[]) else {
        return;
    };
    let rccl = opened.unwrap();
    assert_eq!(rccl.version().to_string(), "2.13.4");
    // Functions that came later are absent, not an error.
    assert!(rccl.functions.ncclCommSplit.is_none());
    assert!(rccl.unique_id().is_err());
    let old = stand_in(21212, &[]).unwrap().unwrap_err().to_string();
    assert!(old.ends_with("is RCCL 2.12.12, older than 2.13.0"), "{old}");
    let lacks = stand_in(22005, &["ncclAllToAll"]).unwrap().unwrap_err();
    assert!(lacks.to_string().ends_with("lacks ncclAllToAll"), "{lacks}");
}
