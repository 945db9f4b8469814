//! Programs in C, as they are written for HIP.

use std::path::Path;
use std::process::Command;

use crate::support::{
    compile, device_code, has, kernels, library, on, root, run, scratch, sources,
};

/// Flags for HIP's own headers; a skip where they are not installed.
fn real_headers() -> Option<[&'static str; 3]> {
    const FLAGS: [&str; 3] = ["-DREAL_HEADERS", "-D__HIP_PLATFORM_AMD__", "-w"];
    let mut cc = Command::new("cc");
    cc.args(["-fsyntax-only", "-x", "c"])
        .args(FLAGS)
        .arg(sources().join("hip.h"));
    let found = run(&mut cc).is_ok();
    if !found {
        cairn_base::skip("needs HIP's headers: Debian's package is libamdhip64-dev");
    }
    found.then_some(FLAGS)
}

fn devices_are_right(flags: &[&str]) {
    let folder = scratch();
    let program = compile(folder.path(), "devices", flags);
    for arch in ["gfx942", "gfx950"] {
        let object = kernels(folder.path(), arch);
        for count in ["1", "8"] {
            let mut program = on(&format!("{arch}:{count}"), &program);
            let said = run(program.arg(&object).arg(count)).unwrap();
            assert_eq!(said, format!("{count} devices are right\n"), "{arch}");
        }
    }
}

#[test]
fn a_program_for_hip_runs_on_one_device_and_on_eight() {
    if has("cc") && has("clang++-22") {
        devices_are_right(&[]);
    }
}

#[test]
fn a_program_with_hips_own_headers_runs() {
    if !has("cc") || !has("clang++-22") {
        return;
    }
    if let Some(flags) = real_headers() {
        devices_are_right(&flags);
    }
}

#[test]
fn host_and_device_code_in_one_source_runs() {
    if !has("clang++-22") {
        return;
    }
    let folder = scratch();
    let program = folder.path().join("single");
    let mut clang = Command::new("clang++-22");
    clang
        .args(
            "-x hip -nogpuinc -nogpulib -O2 --offload-arch=gfx942 --offload-arch=gfx950".split(' '),
        )
        .arg(sources().join("single.hip"))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(library())
        .arg("-lamdhip64");
    run(&mut clang).unwrap();
    for devices in ["gfx942:2", "gfx950:1"] {
        let said = run(&mut on(devices, &program)).unwrap();
        assert!(
            said.contains(&format!("{} devices are right", &devices[7..])),
            "{said}"
        );
    }
}

#[test]
fn threads_multiply_with_the_librarys_kernel_on_four_devices() {
    if !has("cc") || !has("clang++-22") {
        return;
    }
    let folder = scratch();
    let program = compile(folder.path(), "threads", &[]);
    for (arch, source) in [
        ("gfx942", "gemm_bf16.hip"),
        ("gfx950", "gemm_bf16_gfx950.hip"),
    ] {
        let source = root().join("kernels").join(source);
        let object = device_code(folder.path(), &source, arch);
        let mut program = on(&format!("{arch}:4"), &program);
        let said = run(program.arg(&object).arg("4")).unwrap();
        assert_eq!(said, "8 threads, 0 wrong values\n");
    }
}

#[test]
fn wrong_input_has_hips_codes() {
    if !has("cc") || !has("clang++-22") {
        return;
    }
    let folder = scratch();
    let program = compile(folder.path(), "wrong", &[]);
    let objects = ["gfx942", "gfx950"].map(|arch| kernels(folder.path(), arch));
    let mut program = on("gfx942:2", &program);
    let said = run(program.args(&objects).arg(sources().join("wrong.c"))).unwrap();
    assert!(said.contains("every code is right"), "{said}");
    // What no code says: what is wrong, where, what to do.
    for wanted in [
        "67108864 left; give each device more with CAIRN_SIM_MEMORY, such as",
        "is not what hipMalloc gave, or was freed before",
        "the nearest has 64 bytes at",
        "no/such/file: No such file",
        "kernels.gfx950.hsaco: the code object is for gfx950, and the simulated devices are gfx942; build it with --arch gfx942, or set CAIRN_SIM=gfx950",
        "wrong.c: this is no code object; build it with `cargo xtask kernels build --arch gfx942`",
        "kernel multiply: a workgroup of [2048, 1, 1]",
        "204800 bytes of LDS, and gfx942 has 65536",
        "kernel multiply: 8 bytes of arguments, and it takes 28; build program and kernel",
        "load the module after hipSetDevice(1)",
    ] {
        assert!(said.contains(wanted), "`{wanted}` is not in\n{said}");
    }
}

/// What a kernel's fault is told as.
fn fault(program: &Path, object: &Path, arguments: &[&str]) -> String {
    let mut program = on("gfx942:2", program);
    run(program.arg(object).args(arguments)).unwrap()
}

#[test]
fn a_kernels_fault_is_printed_and_stays() {
    if !has("cc") || !has("clang++-22") {
        return;
    }
    let folder = scratch();
    let program = compile(folder.path(), "fault", &[]);
    let object = kernels(folder.path(), "gfx942");
    for graph in [None, Some("graph")] {
        let arguments: Vec<_> = ["beyond", "700"].into_iter().chain(graph).collect();
        let said = fault(&program, &object, &arguments);
        for wanted in [
            "device 0: out-of-bounds: 4 bytes written at 0x8",
            "kernel beyond at 0x",
            ": global_store_dword",
            "kernels.hip:",
            "workgroup (0, 0, 0), wave 0, lane 63",
            "the fault was told",
        ] {
            assert!(said.contains(wanted), "`{wanted}` is not in\n{said}");
        }
    }
    let said = fault(&program, &object, &["unwritten", "719"]);
    assert!(said.contains("uninitialised-memory"), "{said}");
    let said = fault(&program, &object, &["endless", "702"]);
    assert!(said.contains("endless-loop: more than"), "{said}");
}

#[test]
fn settings_that_are_wrong_give_no_device_and_one_line() {
    if !has("cc") {
        return;
    }
    let folder = scratch();
    let program = compile(folder.path(), "none", &[]);
    for (name, wrong, next) in [
        ("CAIRN_SIM", "gfx941:8", "CAIRN_SIM=gfx942:8"),
        ("CAIRN_SIM", "gfx942:0", "CAIRN_SIM=gfx942:8"),
        ("CAIRN_SIM", "gfx942:x", "CAIRN_SIM=gfx942:8"),
        ("CAIRN_SIM", "", "CAIRN_SIM=gfx942:8"),
        ("CAIRN_SIM_MEMORY", "much", "CAIRN_SIM_MEMORY=8G"),
        ("CAIRN_SIM_CHECKS", "some", "default, all or none"),
        ("CAIRN_THREADS", "0.5", "write a number"),
    ] {
        let said = run(on("gfx942:8", &program).env(name, wrong)).unwrap();
        let lines: Vec<_> = said.lines().collect();
        let [told, "no device"] = lines[..] else {
            panic!("{name}={wrong}: {said}");
        };
        assert!(told.starts_with("cairn-sim: CAIRN_"), "{told}");
        assert!(told.contains(wrong) && told.contains(next), "{told}");
    }
}
