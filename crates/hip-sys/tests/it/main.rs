//! The bindings against real libraries, and against files that are none.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(unsafe_code, reason = "calls of a C library")]

use std::path::{Path, PathBuf};
use std::process::Command;

use cairn_hip_sys::{Functions, Hip, HipError, LoadError, Version};

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

/// A library that has the needed functions but `without`, and the text besides. `false`
/// where there is no C compiler.
fn stand_in(folder: &Path, without: &[&str], text: &str) -> bool {
    let mut source = format!("#include <string.h>\n{text}\n");
    for name in Functions::NEEDED {
        if !without.contains(name) && !text.contains(&format!("{name}(")) {
            source += &format!("int {name}(void) {{ return 801; }}\n");
        }
    }
    let (from, to) = (folder.join("stand_in.c"), folder.join("libamdhip64.so"));
    std::fs::write(&from, source).unwrap();
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&to, &from])
        .output();
    match made {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{said}");
            true
        }
        Err(error) => {
            cairn_base::skip(&format!("no C compiler: {error}"));
            false
        }
    }
}

#[test]
fn every_missing_function_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let without = ["hipMemcpyAsync", "hipGraphLaunch"];
    if stand_in(folder.path(), &without, "") {
        let error = Hip::open(&[folder.path().to_owned()]).unwrap_err();
        let library = folder.path().join("libamdhip64.so");
        let expected = format!("{} lacks hipMemcpyAsync, hipGraphLaunch", library.display());
        assert_eq!(error.to_string(), expected);
    }
}

/// A thread that has called a library may run the library's code when it ends, after
/// everyone has let go of it.
#[test]
fn a_library_stays_open_when_it_is_let_go() {
    let folder = tempfile::tempdir().unwrap();
    let closed = folder.path().join("closed");
    let text = format!(
        "#include <stdio.h>
         __attribute__((destructor)) static void end(void) {{
             FILE *file = fopen(\"{}\", \"w\");
             if (file) fclose(file);
         }}",
        closed.display()
    );
    if stand_in(folder.path(), &[], &text) {
        drop(Hip::open(&[folder.path().to_owned()]).unwrap());
        assert!(!closed.exists(), "the library was closed");
    }
}

/// The devices of a stand-in for a version: its number, and the functions that fill the
/// structure of properties.
fn arch_of(number: i32, properties: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "int hipRuntimeGetVersion(int *v) {{ *v = {number}; return 0; }}
         int hipGetDeviceCount(int *n) {{ *n = 1; return 0; }}
         int hipDeviceGet(int *d, int i) {{ *d = i; return i == 0 ? 0 : 101; }}
         int hipDeviceGetName(char *to, int n, int d) {{ strncpy(to, \"Stand-in\", n); return 0; }}
         int hipDeviceTotalMem(size_t *bytes, int d) {{ *bytes = 1ul << 37; return 0; }}
         int hipDeviceGetAttribute(int *to, int which, int d) {{ *to = which == 63 ? 304 : 0; return 0; }}
         {properties}"
    );
    if !stand_in(folder.path(), &[], &text) {
        return None;
    }
    let hip = Hip::open(&[folder.path().to_owned()]).unwrap();
    assert_eq!(hip.version(), Ok(Version::from_number(number)));
    assert_eq!(hip.device_count(), Ok(1));
    assert_eq!(hip.device(1), Err(HipError::INVALID_DEVICE));
    let facts = hip.device(0).unwrap();
    assert_eq!(
        (facts.name.as_str(), facts.memory_bytes, facts.compute_units),
        ("Stand-in", 1 << 37, 304)
    );
    Some(facts.arch)
}

#[test]
fn the_structure_of_properties_is_read_as_its_version_has_it() {
    let old = "int hipGetDeviceProperties(char *p, int d) { memset(p, 1, 792); strcpy(p + 396, \"gfx90a\"); return 0; }";
    let new = "int hipGetDevicePropertiesR0600(char *p, int d) { memset(p, 1, 1472); strcpy(p + 1160, \"gfx942:xnack-\"); return 0; }";
    let Some(arch) = arch_of(50_221_153, old) else {
        return;
    };
    assert_eq!(arch, "gfx90a");
    // HIP 6 has both, and its old name still fills the old structure.
    let both = format!("{old}\n{new}");
    assert_eq!(arch_of(60_342_133, &both).as_deref(), Some("gfx942:xnack-"));
    assert_eq!(arch_of(70_151_831, new).as_deref(), Some("gfx942:xnack-"));
    assert_eq!(arch_of(70_151_831, "").as_deref(), Some(""));
}
