//! What tests share: the library in a folder of its own, compiled programs and kernels.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of the programs' sources.
pub(crate) fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/program")
}

/// A folder that ends with the test.
pub(crate) fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A folder with the library under the name that programs look for.
pub(crate) fn library() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        // Cargo builds it beside the tests.
        let built = std::env::current_exe().unwrap();
        let built = built.with_file_name("libcairn_cdna_hip.so");
        assert!(built.is_file(), "{} is not built", built.display());
        let folder = scratch();
        std::os::unix::fs::symlink(built, folder.path().join("libamdhip64.so")).unwrap();
        folder
    });
    folder.path()
}

/// What a command printed; its stderr where it failed.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return Err(format!("{command:?}: {error}")),
    };
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    if output.status.success() {
        Ok(out.into_owned() + &err)
    } else {
        Err(format!("{command:?}: {}\n{out}{err}", output.status))
    }
}

/// True when this program is here; a skip if not.
pub(crate) fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        cairn_base::skip(&format!("needs {program}"));
    }
    found
}

/// Compiles the programs' kernels for an architecture.
pub(crate) fn kernels(into: &Path, arch: &str) -> PathBuf {
    device_code(into, &sources().join("kernels.hip"), arch)
}

/// Compiles a source of kernels for an architecture.
pub(crate) fn device_code(into: &Path, source: &Path, arch: &str) -> PathBuf {
    let object = into.join(format!("kernels.{arch}.hsaco"));
    let mut clang = Command::new("clang++-22");
    clang
        .args("-x hip -nogpuinc -nogpulib -fdeclspec -O3 -std=c++17 -g".split(' '))
        .args(["--offload-device-only", "--no-gpu-bundle-output"])
        .arg(format!("--offload-arch={arch}"))
        .arg("-I")
        .arg(root().join("kernels/include"))
        .arg("-o")
        .args([&object, source]);
    run(&mut clang).unwrap();
    object
}

/// Compiles a program in C, with HIP's own headers where these flags say so.
pub(crate) fn compile(into: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let program = into.join(name);
    let mut cc = Command::new("cc");
    cc.args(["-std=c99", "-Wall", "-Werror", "-o"])
        .args([&program, &sources().join(format!("{name}.c"))])
        .args(flags)
        .arg("-L")
        .arg(library())
        .args(["-lamdhip64", "-pthread"]);
    run(&mut cc).unwrap();
    program
}

/// A program on simulated devices.
pub(crate) fn on(devices: &str, program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env("LD_LIBRARY_PATH", library())
        .env("CAIRN_SIM", devices)
        .env("CAIRN_SIM_MEMORY", "64M");
    for name in ["CAIRN_SIM_CHECKS", "CAIRN_SIM_SEED"] {
        command.env_remove(name);
    }
    command
}
