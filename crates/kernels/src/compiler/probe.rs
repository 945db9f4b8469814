//! Trying a compiler: what it is, and whether it builds a kernel.

use std::path::Path;

use cairn_base::{Exec, files};
use cairn_codeobj::{Arch, CodeObject};

use super::{Compiler, flags, identity};

/// The smallest kernel that needs a compiler, a linker and all flags.
const SOURCE: &str = "extern \"C\" __attribute__((global)) void probe(float* p) { *p = 1.0f; }\n";

/// Its version in a line, and its identity.
pub(super) fn version(program: &Path) -> Result<(String, String), String> {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let zig = name.starts_with("zig");
    let exec = Exec::new(program).args(if zig {
        &["clang", "--version"][..]
    } else {
        &["--version"]
    });
    let output = exec
        .output()
        .map_err(|error| match error.is_missing_program() {
            true => "it cannot be started".to_owned(),
            false => "it does not tell its version".to_owned(),
        })?;
    let text = output.text();
    let first = text
        .lines()
        .find(|line| line.contains("version"))
        .or(text.lines().next());
    match first {
        Some(line) if !line.trim().is_empty() => Ok((line.trim().to_owned(), identity(&text))),
        _ => Err("it does not tell its version".to_owned()),
    }
}

/// Builds a kernel and reads what was written.
pub(super) fn builds(compiler: &Compiler, arch: Arch) -> Result<(), String> {
    let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
    let source = dir.path().join("probe.hip");
    files::write_atomic(&source, SOURCE.as_bytes()).map_err(|error| error.to_string())?;
    let exec = compiler
        .command(dir.path(), &flags(arch))
        .args(["-o", "probe.hsaco", "probe.hip"]);
    let (status, output) = exec.capture().map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(reason(&String::from_utf8_lossy(&output.stderr), arch));
    }
    let written = files::read(&dir.path().join("probe.hsaco")).unwrap_or_default();
    match CodeObject::parse(&written) {
        Ok(object) if object.target.arch == arch => Ok(()),
        _ => Err(format!("it wrote no code object for {arch}")),
    }
}

/// A refusal in a line.
fn reason(stderr: &str, arch: Arch) -> String {
    const UNKNOWN: [&str; 4] = [
        "unsupported HIP gpu architecture",
        "unsupported CUDA gpu architecture",
        "invalid target ID",
        "unknown target CPU",
    ];
    if UNKNOWN.iter().any(|text| stderr.contains(text)) {
        return format!("it does not know {arch}");
    }
    let line = stderr
        .lines()
        .find(|line| line.contains("error"))
        .or(stderr.lines().last());
    line.map_or_else(
        || "it failed without a word".to_owned(),
        |line| line.trim().to_owned(),
    )
}
