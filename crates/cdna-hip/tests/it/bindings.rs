//! `hip-sys` loads the library as it loads a real one.

use std::process::Command;

use cairn_hip_sys::{Hip, HipError};

use crate::support::{has, library, run};

/// The test that runs in a process of its own, as a process has one setting of devices.
const CHILD: &str = "bindings::what_the_child_finds";
const SET: &str = "CAIRN_SIM_TEST_CHILD";

fn child(devices: &str) -> String {
    let mut test = Command::new(std::env::current_exe().unwrap());
    test.args(["--exact", CHILD, "--nocapture", "--test-threads", "1"])
        .env(SET, "1")
        .env("CAIRN_SIM", devices)
        .env("CAIRN_SIM_MEMORY", "2G");
    run(&mut test).unwrap()
}

#[test]
fn what_the_child_finds() {
    if std::env::var_os(SET).is_none() {
        return;
    }
    let hip = Hip::open(&[library().to_owned()]).unwrap();
    println!("version {}", hip.version().unwrap());
    let count = hip.device_count();
    println!("count {count:?}");
    for number in 0..count.unwrap_or(0) {
        println!("{:?}", hip.device(number).unwrap());
    }
    assert_eq!(
        hip.describe(HipError::OUT_OF_MEMORY),
        "the device is out of memory"
    );
}

#[test]
fn hip_sys_finds_the_simulated_devices() {
    for (arch, name, units) in [("gfx942", "MI300X", 304), ("gfx950", "MI355X", 256)] {
        let said = child(&format!("{arch}:8"));
        let facts = format!(
            "DeviceFacts {{ name: \"AMD Instinct {name} (simulated)\", arch: \"{arch}:sramecc+:xnack-\", memory_bytes: 2147483648, compute_units: {units} }}"
        );
        assert_eq!(said.matches(&facts).count(), 8, "{said}");
        assert!(
            said.contains("version 6.4.0") && said.contains("count Ok(8)"),
            "{said}"
        );
    }
    let said = child("gfx941:8");
    let wanted = format!("count Err({:?})", HipError::NO_DEVICE);
    assert!(said.contains(&wanted), "{said}");
}

#[test]
fn names_of_errors_are_those_of_hip_sys() {
    let hip = Hip::open(&[library().to_owned()]).unwrap();
    let mut known = 0;
    for code in 1..2000 {
        let error = HipError::check(code).unwrap_err();
        let Some(name) = error.name() else { continue };
        // SAFETY: the function returns a constant string.
        let ours = unsafe { std::ffi::CStr::from_ptr((hip.functions.hipGetErrorName)(code)) };
        assert_eq!(ours.to_str().unwrap(), name, "{code}");
        known += 1;
    }
    assert!(known > 30);
}

#[test]
fn the_library_has_the_name_that_programs_need() {
    if !has("readelf") {
        return;
    }
    let mut readelf = Command::new("readelf");
    let said = run(readelf.arg("-d").arg(library().join("libamdhip64.so"))).unwrap();
    assert!(said.contains("soname: [libamdhip64.so]"), "{said}");
}
