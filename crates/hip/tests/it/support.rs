//! A simulated GPU in a process of its own: HIP reads once from the environment what
//! is simulated.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_base::Exec;
use cairn_hip::{Device, Gpu, Kernels};
use cairn_kernels::Arch;
use cairn_tensor::Pool;

#[path = "../../../../tests/support/kernels.rs"]
mod kernels;

/// Architectures that every test runs on.
pub(crate) const ARCHS: [Arch; 2] = [Arch::Gfx942, Arch::Gfx950];

/// Set in the process that has the GPU.
pub(crate) const INSIDE: &str = "CAIRN_TEST_INSIDE";

/// Runs `body` on one simulated GPU of each architecture; `test` is the path of the
/// calling test, which is started once more for each.
#[track_caller]
pub(crate) fn on_each(test: &str, body: impl Fn(&Gpu)) {
    if !has_kernels() {
        return;
    }
    if std::env::var_os(INSIDE).is_some() {
        let folder = tempfile::tempdir().unwrap();
        let device = open(folder.path(), 0);
        let kernels = Kernels::open(Arc::new(device), &built()).unwrap();
        return body(&Gpu::new(kernels));
    }
    for arch in ARCHS {
        again(test, &format!("{}:1", arch.name()), &[]);
    }
}

/// Runs this test in a process of its own with this simulation; what it printed.
#[track_caller]
pub(crate) fn again(test: &str, simulated: &str, more: &[(&str, &str)]) -> String {
    let mut exec = Exec::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("CAIRN_SIM", simulated)
        .env(INSIDE, "1");
    for (name, value) in more {
        exec = exec.env(name, value);
    }
    let (status, output) = exec.capture().unwrap();
    let said = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (said(&output.stdout), said(&output.stderr));
    println!("{simulated}\n{stdout}");
    assert!(status.success(), "{simulated} {more:?}\n{stdout}\n{stderr}");
    assert!(
        stdout.contains("1 passed"),
        "no test is called {test}: {stdout}"
    );
    stdout
}

/// Puts the simulator's library where HIP is looked for.
pub(crate) fn place_library(folder: &Path) {
    let library = std::env::current_exe().unwrap();
    let library = library.with_file_name("libcairn_cdna_hip.so");
    std::os::unix::fs::symlink(library, folder.join("libamdhip64.so")).unwrap();
}

/// The device of this number, through the simulator's library in `folder`.
pub(crate) fn open(folder: &Path, ordinal: i32) -> Device {
    place_library(folder);
    Device::open(&[folder.to_path_buf()], ordinal).unwrap()
}

/// Builds the kernels; false after a skip without a compiler.
pub(crate) fn has_kernels() -> bool {
    kernels::build(&built()).is_some()
}

pub(crate) fn built() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("kernels")
}

pub(crate) fn pool() -> Pool {
    Pool::new(1).unwrap()
}
