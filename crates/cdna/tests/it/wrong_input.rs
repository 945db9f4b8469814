//! `sim run` with what it cannot run: one clear error each, with the next step.

use std::path::{Path, PathBuf};

use cairn_cdna::command;
use cairn_launch::request::{Command, Format, Request, SimRun};

use crate::support::{compile_test, has_compiler, root};

/// A code object of the source `add`, as a file.
fn add(arch: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("wrong-add.{arch}.hsaco"));
    std::fs::write(&path, compile_test("add", arch)).unwrap();
    path
}

fn add_1000(object: &Path) -> SimRun {
    let arguments = [
        "ones:f32:1000",
        "ramp:f32:1000",
        "blank:f32:1000",
        "u32:1000",
    ];
    SimRun {
        object: object.to_owned(),
        kernel: None,
        grid: [4, 1, 1],
        workgroup: [256, 1, 1],
        dynamic_lds: 0,
        arguments: arguments.map(str::to_owned).to_vec(),
        checks: "default".to_owned(),
        fast: false,
        seed: 0,
        repeats: 1,
        budget: 1 << 20,
    }
}

fn outcome(run: SimRun) -> Result<u8, String> {
    let command = Command::SimRun(Box::new(run));
    let mut request = Request::new(None, Format::Text, command);
    request.threads = Some(1);
    match command::run(request) {
        Ok(answer) => Ok(answer.code),
        Err(failed) => {
            assert_eq!(failed.code, 2);
            let told = failed.diagnostic;
            assert!(!told.hints.is_empty(), "no next step: {}", told.message);
            Err(format!(
                "{}: {} -> {}",
                told.code,
                told.message,
                told.hints.join("; ")
            ))
        }
    }
}

/// The error of a run that differs from one that is right.
fn error(object: &Path, change: impl FnOnce(&mut SimRun)) -> String {
    let mut run = add_1000(object);
    change(&mut run);
    outcome(run).unwrap_err()
}

#[test]
fn what_cannot_be_run_has_one_error_with_the_next_step() {
    if !has_compiler() {
        return;
    }
    let object = add("gfx942");
    assert_eq!(outcome(add_1000(&object)), Ok(0));
    let told = |change: fn(&mut SimRun)| error(&object, change);
    let table = [
        // Launches over the limits.
        (
            told(|run| run.workgroup = [2048, 1, 1]),
            "sim::launch: kernel `add`: a workgroup of [2048, 1, 1]: 1 to 256 work-items are allowed -> give another --workgroup; `cargo xtask kernels inspect` shows a kernel's limits",
        ),
        (
            told(|run| run.workgroup = [16, 0, 1]),
            "sim::launch: kernel `add`: a workgroup of [16, 0, 1]: 1 to 256 work-items are allowed -> give another --workgroup; `cargo xtask kernels inspect` shows a kernel's limits",
        ),
        (
            told(|run| run.grid = [0, 1, 1]),
            "sim::launch: kernel `add`: a grid of [0, 1, 1]: 1 to 4294967295 workgroups are allowed -> give another --grid",
        ),
        (
            told(|run| run.grid = [u32::MAX; 3]),
            "sim::launch: kernel `add`: a grid of [4294967295, 4294967295, 4294967295]: 1 to 4294967295 workgroups are allowed -> give another --grid",
        ),
        (
            told(|run| run.dynamic_lds = 65537),
            "sim::launch: kernel `add`: 65537 bytes of LDS, and gfx942 has 65536 for a workgroup -> give a smaller --lds",
        ),
        // Arguments of the wrong size and number.
        (
            told(|run| run.arguments[3] = "u64:1000".to_owned()),
            "sim::arguments: argument 4 is `u64:1000` of 8 bytes, and the kernel takes 4 -> it takes argument 1 (8 bytes, global_buffer), argument 2 (8 bytes, global_buffer), argument 3 (8 bytes, global_buffer), argument 4 (4 bytes, by_value)",
        ),
        (
            told(|run| run.arguments[3] = "words:1,2".to_owned()),
            "sim::arguments: argument 4 is `words:1,2` of 8 bytes, and the kernel takes 4 -> it takes argument 1 (8 bytes, global_buffer), argument 2 (8 bytes, global_buffer), argument 3 (8 bytes, global_buffer), argument 4 (4 bytes, by_value)",
        ),
        (
            told(|run| run.arguments.truncate(1)),
            "sim::arguments: 1 arguments, and kernel `add` takes 4 -> it takes argument 1 (8 bytes, global_buffer), argument 2 (8 bytes, global_buffer), argument 3 (8 bytes, global_buffer), argument 4 (4 bytes, by_value)",
        ),
        // Out of device memory.
        (
            told(|run| run.arguments[1] = "random:f32:4294967296".to_owned()),
            "sim::memory: argument 2, `random:f32:4294967296`: out of device memory: 17179869184 bytes asked for, 8589914112 of 8589934592 left -> give it fewer elements",
        ),
    ];
    for (said, wanted) in table {
        // How much is left depends on the size of the code object.
        let left = said
            .find(" bytes asked for, ")
            .map_or(said.len(), |at| at + 18);
        let until = wanted.find(" left -> ").unwrap_or(0);
        if until > 0 {
            let (start, end) = wanted.split_at(until);
            assert!(
                start.starts_with(&said[..left]) && said.ends_with(end),
                "{said}"
            );
        } else {
            assert_eq!(said, wanted);
        }
    }
}

#[test]
fn a_code_object_that_is_not_simulated_is_named() {
    if !has_compiler() {
        return;
    }
    let hint = "build it for gfx942 or gfx950, as `cargo xtask kernels build --arch \"gfx942;gfx950\"` does";
    for (arch, wanted) in [
        (
            "gfx90a",
            "sim::kernel: {}: the code object is for gfx90a; gfx942 and gfx950 are simulated",
        ),
        ("gfx1100", "sim::object: {}: "),
    ] {
        let object = add(arch);
        let said = error(&object, |_| ());
        let wanted = wanted.replace("{}", &object.display().to_string());
        assert!(said.starts_with(&wanted) && said.contains(arch), "{said}");
        assert!(said.ends_with(hint), "{said}");
    }
}

#[test]
fn a_file_that_is_no_code_object_is_named() {
    let source = root().join("kernels/elementwise.hip");
    let said = error(&source, |_| ());
    assert!(
        said.starts_with("sim::object: ") && said.contains("elementwise.hip: "),
        "{said}"
    );
    assert!(said.contains("--no-gpu-bundle-output"), "{said}");
    let said = error(Path::new("no/such.hsaco"), |_| ());
    assert!(said.contains("no/such.hsaco"), "{said}");
}

#[test]
fn a_kernel_or_argument_that_is_not_there_has_the_nearest() {
    if !has_compiler() {
        return;
    }
    let object = add("gfx950");
    let said = error(&object, |run| run.kernel = Some("ad".to_owned()));
    assert!(
        said.contains("has no kernel `ad` -> did you mean `add`?"),
        "{said}"
    );
    for (text, hint) in [
        ("randm:f32:4", "did you mean `random`?"),
        ("random:f33:4", "did you mean `f32`?"),
        ("u32:-1", "write a number as `u32:5`"),
        ("words:1,", "write a number as `u32:5`"),
        (
            "random:f32:99999999999999999999",
            "write a number as `u32:5`",
        ),
    ] {
        let said = error(&object, |run| run.arguments[1] = text.to_owned());
        assert!(said.contains(text) && said.contains(hint), "{said}");
    }
}
