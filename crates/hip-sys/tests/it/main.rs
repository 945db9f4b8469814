//! The bindings against real libraries, and against files that are none.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(unsafe_code, reason = "calls of a C library")]

use std::path::PathBuf;

use cairn_hip_sys::{Hip, HipError, LoadError, Version};

/// The runtime of this machine.
fn runtime() -> Option<Hip> {
    match Hip::open(&[]) {
        Ok(hip) => Some(hip),
        Err(LoadError::NotFound { .. }) => {
            cairn_base::skip("no libamdhip64 here: Debian's package is libamdhip64-5");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_runtime_answers_or_says_that_there_is_no_device() {
    let Some(hip) = runtime() else { return };
    match hip.device_count() {
        Ok(count) => {
            assert!(count > 0);
            for number in 0..count {
                let facts = hip.device(number).unwrap();
                assert!(facts.arch.starts_with("gfx"), "{facts:?}");
                assert!(facts.memory_bytes > 0 && facts.compute_units > 0);
            }
            assert_eq!(hip.device(count), Err(HipError::INVALID_DEVICE));
        }
        Err(error) => {
            assert_eq!(error, HipError::NO_DEVICE);
            assert!(hip.device(0).is_err());
        }
    }
}

#[test]
fn the_runtimes_names_for_errors_are_ours() {
    let Some(hip) = runtime() else { return };
    let mut known = 0;
    for code in 1..1000 {
        let error = HipError::check(code).unwrap_err();
        let Some(name) = error.name() else { continue };
        // SAFETY: the function returns a constant string.
        let theirs = unsafe { std::ffi::CStr::from_ptr((hip.functions.hipGetErrorName)(code)) };
        assert_eq!(theirs.to_str().unwrap(), name, "{code}");
        assert!(!hip.describe(error).is_empty());
        known += 1;
    }
    assert!(known > 30);
}

#[test]
fn a_version_is_told_or_not_without_a_device() {
    let Some(hip) = runtime() else { return };
    match hip.version() {
        Ok(version) => {
            let oldest = Version {
                major: 5,
                minor: 2,
                patch: 0,
            };
            assert!(version >= oldest, "{version}");
        }
        Err(error) => assert_eq!(error, HipError::NO_DEVICE),
    }
}

#[test]
fn a_file_that_is_no_library_is_named_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("libamdhip64.so");
    std::fs::write(&path, "no library").unwrap();
    let found = Hip::open(&[folder.path().to_owned()]);
    if let Err(LoadError::NotFound { tried, .. }) = &found {
        let first = &tried[0];
        assert_eq!(first.name, path.display().to_string());
        assert!(!first.reason.is_empty(), "{first}");
        return;
    }
    // A machine with a runtime falls back to it.
    let hip = found.unwrap();
    assert!(!PathBuf::from(hip.name()).starts_with(folder.path()));
}
