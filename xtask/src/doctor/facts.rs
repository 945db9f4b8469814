//! Facts about this machine, read from the kernel's own files and from the
//! programs themselves.

use cairn_base::{Exec, files};
use serde_json::{Map, Value, json};

use crate::context::Context;

type Facts = Map<String, Value>;

/// CPU features that Cairn's kernels ask for, by the kernel's names.
const FEATURES: [&str; 12] = [
    "sse4_2",
    "avx",
    "avx2",
    "fma",
    "f16c",
    "avx512f",
    "avx512bw",
    "avx512vl",
    "avx512_bf16",
    "avx512_fp16",
    "amx_tile",
    "amx_bf16",
];

pub(super) fn cpu() -> Facts {
    let info = read("/proc/cpuinfo");
    let flags: Vec<&str> = field(&info, "flags")
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let (have, lack): (Vec<_>, Vec<_>) = FEATURES
        .into_iter()
        .partition(|feature| flags.contains(feature));
    let threads = std::thread::available_parallelism().map(usize::from).ok();
    facts([
        ("model", json!(field(&info, "model name"))),
        ("arch", json!(std::env::consts::ARCH)),
        ("threads", json!(threads)),
        ("features", json!(have)),
        ("lacks", json!(lack)),
    ])
}

pub(super) fn memory() -> Facts {
    let info = read("/proc/meminfo");
    let bytes = |name| {
        let kib: u64 = field(&info, name)?
            .split_whitespace()
            .next()?
            .parse()
            .ok()?;
        Some(kib * 1024)
    };
    let limit = read("/sys/fs/cgroup/memory.max").trim().parse::<u64>().ok();
    facts([
        ("total_bytes", json!(bytes("MemTotal"))),
        ("free_bytes", json!(bytes("MemAvailable"))),
        ("limit_bytes", json!(limit)),
    ])
}

pub(super) fn disk(context: &Context) -> Facts {
    // POSIX format: one line a file system, sizes in KiB, free space fourth.
    let free = Exec::new("df")
        .args(["-Pk"])
        .arg(&context.root)
        .output()
        .ok()
        .and_then(|output| {
            let text = output.text();
            let kib: u64 = text
                .lines()
                .last()?
                .split_whitespace()
                .nth(3)?
                .parse()
                .ok()?;
            Some(kib * 1024)
        });
    facts([
        ("checkout", json!(context.root)),
        ("free_bytes", json!(free)),
    ])
}

pub(super) fn programs() -> Facts {
    let version = |program: &str, args: &[&str]| {
        let output = Exec::new(program).args(args).output().ok()?;
        output.text().lines().next().map(str::to_owned)
    };
    facts([
        ("rustc", json!(version("rustc", &["--version"]))),
        ("cargo", json!(version("cargo", &["--version"]))),
        ("clippy", json!(version("cargo-clippy", &["--version"]))),
        ("rustfmt", json!(version("rustfmt", &["--version"]))),
        ("nextest", json!(version("cargo-nextest", &["--version"]))),
        ("linker", json!(version("cc", &["--version"]))),
        ("git", json!(version("git", &["--version"]))),
        ("python", json!(version("python3", &["--version"]))),
    ])
}

fn facts<const N: usize>(facts: [(&str, Value); N]) -> Facts {
    facts
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// A file's text, empty when there is none: what is absent is a fact too.
fn read(path: &str) -> String {
    files::read_text(path.as_ref()).unwrap_or_default()
}

/// The first value behind `name:` in the kernel's files.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let text = "model\t\t: 207\nmodel name\t: Some CPU: fast\n";
        assert_eq!(field(text, "model"), Some("207"));
        assert_eq!(field(text, "model name"), Some("Some CPU: fast"));
        assert_eq!(field(text, "flags"), None);
    }

    #[test]
    fn this_machine_has_threads_and_memory() {
        assert!(cpu()["threads"].as_u64().is_some_and(|threads| threads > 0));
        assert!(
            memory()["total_bytes"]
                .as_u64()
                .is_some_and(|bytes| bytes > 0)
        );
    }
}
