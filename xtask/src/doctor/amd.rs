//! What there is of AMD's software and devices: compilers, HIP, RCCL, the kernel driver's
//! devices.

use std::path::{Path, PathBuf};

use cairn_base::{Exec, env, files};
use cairn_hip_sys::{Attempt, Hip, HipError, LoadError};
use cairn_rccl_sys::{Rccl, RcclLoadError};
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::engine;

type Facts = Map<String, Value>;

/// Where the kernel driver lists its devices.
const TOPOLOGY: &str = "/sys/class/kfd/kfd/topology/nodes";

/// Compilers that may know AMD's architectures.
const COMPILERS: [&str; 6] = [
    "hipcc",
    "amdclang++",
    "clang++-22",
    "clang++-19",
    "clang++",
    "zig",
];

/// The compilers on the path and in the ROCm installation, with their first lines.
pub(super) fn compilers() -> Facts {
    let mut found = Facts::new();
    for name in COMPILERS {
        let version = places(name).into_iter().find_map(|path| {
            let argument = if name == "zig" {
                "version"
            } else {
                "--version"
            };
            let output = Exec::new(&path).args([argument]).output().ok()?;
            let first = output.text().lines().next()?.to_owned();
            let from = (path != Path::new(name)).then(|| format!(" ({})", path.display()));
            Some(first + &from.unwrap_or_default())
        });
        found.insert(name.to_owned(), json!(version));
    }
    found
}

/// A program in the ROCm installation, then on the path.
fn places(name: &str) -> Vec<PathBuf> {
    let rocm = rocm_home();
    let inside = rocm
        .iter()
        .flat_map(|home| ["bin", "llvm/bin"].map(|folder| home.join(folder).join(name)))
        .filter(|path| path.is_file());
    inside.chain([PathBuf::from(name)]).collect()
}

fn rocm_home() -> Option<PathBuf> {
    env::get(&env::ROCM_HOME).map(PathBuf::from)
}

/// Folders with HIP; with `CAIRN_SIM` the simulated one's come first.
fn hip_folders(context: &Context) -> Vec<PathBuf> {
    engine::hip_folders(context, env::get(&env::CAIRN_SIM).is_some())
}

/// The HIP runtime and the devices it finds.
pub(super) fn hip(context: &Context) -> Facts {
    let hip = match Hip::open(&hip_folders(context)) {
        Ok(hip) => hip,
        Err(error) => return absent(not_loaded(&error)),
    };
    let (count, note) = match hip.device_count() {
        Ok(count) => (count, None),
        Err(HipError::NO_DEVICE) => (0, Some("no device: HIP finds no AMD GPU".to_owned())),
        Err(error) => (0, Some(error.to_string())),
    };
    let devices: Vec<_> = (0..count)
        .map(|number| match hip.device(number) {
            Ok(facts) => {
                let gib = facts.memory_bytes as f64 / f64::from(1 << 30);
                let (arch, name, units) = (facts.arch, facts.name, facts.compute_units);
                format!("{number}: {arch} {name}, {units} compute units, {gib:.0} GiB")
            }
            Err(error) => format!("{number}: {error}"),
        })
        .collect();
    let mut facts = Facts::new();
    facts.insert("library".to_owned(), json!(hip.name()));
    let version = hip.version().map(|version| version.to_string());
    facts.insert("version".to_owned(), json!(version.ok()));
    facts.insert("devices".to_owned(), json!(devices));
    let simulated = devices.iter().any(|device| device.contains("(simulated)"));
    let ours = Path::new(hip.name()).starts_with(engine::simulated_hip(context));
    let note = note.map(|note| match env::get(&env::CAIRN_SIM) {
        Some(_) if ours => "no device: CAIRN_SIM gives none, and a line above says why".to_owned(),
        Some(_) => format!(
            "{note}; CAIRN_SIM is set, and `cargo xtask sim library` builds the simulated HIP"
        ),
        None => note,
    });
    facts.insert("simulated".to_owned(), json!(simulated));
    if let Some(note) = note {
        facts.insert("note".to_owned(), note.into());
    }
    facts
}

/// The collectives library.
pub(super) fn rccl(context: &Context) -> Facts {
    let rccl = match Rccl::open(&engine::hip_folders(context, false)) {
        Ok(rccl) => rccl,
        Err(RcclLoadError::Load(error)) => return absent(not_loaded(&error)),
        Err(error) => return absent(error.to_string()),
    };
    let mut facts = Facts::new();
    facts.insert("library".to_owned(), json!(rccl.name()));
    facts.insert("version".to_owned(), json!(rccl.version().to_string()));
    facts
}

/// The architectures of the devices that the kernel driver has, whatever HIP says.
pub(super) fn driver() -> Facts {
    let architectures = architectures(Path::new(TOPOLOGY));
    let mut facts = Facts::new();
    let driver = Path::new("/dev/kfd").exists();
    let home = rocm_home().unwrap_or_else(|| PathBuf::from("/opt/rocm"));
    let rocm = files::read_text(&home.join(".info/version")).ok();
    let rocm = rocm.and_then(|text| text.lines().next().map(str::to_owned));
    facts.insert("amdgpu_driver".to_owned(), json!(driver));
    facts.insert("rocm".to_owned(), json!(rocm));
    facts.insert("architectures".to_owned(), json!(architectures));
    facts
}

fn absent(note: String) -> Facts {
    let mut facts = Facts::new();
    facts.insert("library".to_owned(), Value::Null);
    facts.insert("note".to_owned(), note.into());
    facts
}

/// The error, and what was said of the names that exist.
fn not_loaded(error: &LoadError) -> String {
    let LoadError::NotFound { tried, .. } = error else {
        return error.to_string();
    };
    // That a file is not there is said once; a file that cannot be used is news.
    let broken = |attempt: &&Attempt| !attempt.reason.contains("No such file");
    match tried.iter().find(broken) {
        Some(attempt) => format!("{error}: {attempt}"),
        None => error.to_string(),
    }
}

/// The architecture of each device of a topology, in its order.
fn architectures(topology: &Path) -> Vec<String> {
    let Ok(nodes) = std::fs::read_dir(topology) else {
        return Vec::new();
    };
    let mut nodes: Vec<PathBuf> = nodes.flatten().map(|node| node.path()).collect();
    nodes.sort_by_key(|node| {
        let name = node.file_name().and_then(|name| name.to_str());
        name.and_then(|name| name.parse::<u32>().ok())
    });
    nodes
        .iter()
        .filter_map(|node| files::read_text(&node.join("properties")).ok())
        .filter_map(|text| architecture(&text))
        .collect()
}

/// From a node's properties; `None` for CPUs, whose version is 0.
fn architecture(properties: &str) -> Option<String> {
    let line = properties
        .lines()
        .find_map(|line| line.strip_prefix("gfx_target_version "))?;
    let version: u32 = line.trim().parse().ok()?;
    let (major, minor, step) = (version / 10_000, version / 100 % 100, version % 100);
    (version > 0).then(|| format!("gfx{major}{minor}{step:x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_are_read_from_the_driver() {
        let table = [
            ("90402", Some("gfx942")),
            ("90500", Some("gfx950")),
            ("90010", Some("gfx90a")),
            ("0", None),
            ("many", None),
        ];
        for (version, expected) in table {
            let text = format!("cpu_cores_count 0\ngfx_target_version {version}\nvendor_id 1\n");
            assert_eq!(architecture(&text).as_deref(), expected);
        }
        let folder = tempfile::tempdir().unwrap();
        for (node, version) in [("0", 0), ("2", 90402), ("10", 90500)] {
            let node = folder.path().join(node);
            std::fs::create_dir(&node).unwrap();
            let text = format!("gfx_target_version {version}\n");
            std::fs::write(node.join("properties"), text).unwrap();
        }
        assert_eq!(architectures(folder.path()), ["gfx942", "gfx950"]);
        assert_eq!(architectures(&folder.path().join("none")), [""; 0]);
    }

    #[test]
    fn a_library_that_is_there_but_broken_is_named() {
        let attempt = |name: &str, reason: &str| Attempt {
            name: name.to_owned(),
            reason: reason.to_owned(),
        };
        let missing = attempt("libamdhip64.so", "cannot open: No such file or directory");
        let broken = attempt("lib/libamdhip64.so.6", "invalid ELF header");
        let error = |tried| LoadError::NotFound {
            wanted: "libamdhip64",
            tried,
        };
        let said = not_loaded(&error(vec![missing.clone()]));
        assert_eq!(said, "no libamdhip64 could be opened");
        let said = not_loaded(&error(vec![missing, broken]));
        let expected = "no libamdhip64 could be opened: lib/libamdhip64.so.6: invalid ELF header";
        assert_eq!(said, expected);
    }
}
