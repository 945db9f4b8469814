//! Which architectures to build for: a list as `GPU_ARCHS` has it, or what
//! this machine has.

use std::path::Path;

use cairn_codeobj::Arch;

use crate::KernelsError;

/// What kernels are built for.
pub const BUILDABLE: [Arch; 3] = [Arch::Gfx90a, Arch::Gfx942, Arch::Gfx950];

/// What is built when nobody says anything and there is no GPU.
pub const DEFAULT: [Arch; 2] = [Arch::Gfx942, Arch::Gfx950];

/// Where the driver tells about GPUs.
pub const TOPOLOGY: &str = "/sys/class/kfd/kfd/topology/nodes";

/// Reads a list: separated by `;`, blanks and case do not matter, each
/// architecture once, and `native` is what `installed` names.
///
/// # Errors
/// When a name is unknown, the list is empty, or `native` finds no GPU.
pub fn parse(
    text: &str,
    origin: &str,
    installed: impl Fn() -> Vec<String>,
) -> Result<Vec<Arch>, KernelsError> {
    let mut archs = Vec::new();
    let mut add = |name: &str, origin: &str| {
        let known = Arch::from_name(name).filter(|arch| BUILDABLE.contains(arch));
        let arch = known.ok_or_else(|| KernelsError::UnknownArch {
            name: name.to_owned(),
            origin: origin.to_owned(),
        })?;
        if !archs.contains(&arch) {
            archs.push(arch);
        }
        Ok::<_, KernelsError>(())
    };
    for name in text.split(';').map(|name| name.trim().to_lowercase()) {
        match name.as_str() {
            "" => {}
            "native" => {
                let installed = installed();
                if installed.is_empty() {
                    return Err(KernelsError::NoGpu);
                }
                for name in installed {
                    add(&name, "native")?;
                }
            }
            name => add(name, origin)?,
        }
    }
    if archs.is_empty() {
        return Err(KernelsError::NoArch {
            origin: origin.to_owned(),
        });
    }
    Ok(archs)
}

/// The names of the GPUs of this machine, in the driver's order, each once.
/// Not read from a program of ROCm, so that none is needed.
#[must_use]
pub fn installed(topology: &Path) -> Vec<String> {
    let Ok(nodes) = std::fs::read_dir(topology) else {
        return Vec::new();
    };
    let mut nodes: Vec<_> = nodes.filter_map(|node| Some(node.ok()?.path())).collect();
    let number = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    nodes.sort_by_key(|path| number(path));
    let mut names = Vec::new();
    for node in nodes {
        let text = cairn_base::files::read_text(&node.join("properties")).unwrap_or_default();
        let version = text.lines().find_map(|line| {
            let value = line.strip_prefix("gfx_target_version")?;
            value.trim().parse::<u32>().ok()
        });
        // CPUs are nodes too, with version 0.
        let Some(version) = version.filter(|version| *version > 0) else {
            continue;
        };
        let (major, minor, step) = (version / 10_000, version / 100 % 100, version % 100);
        let name = format!("gfx{major}{minor:x}{step:x}");
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, gpus: &[&str]) -> Result<Vec<Arch>, String> {
        let installed = || gpus.iter().map(|name| (*name).to_owned()).collect();
        parse(text, "GPU_ARCHS", installed).map_err(|error| error.diagnostic().code.to_owned())
    }

    #[test]
    fn lists_are_read_like_gpu_archs() {
        use Arch::{Gfx90a, Gfx942, Gfx950};
        for (text, gpus, expected) in [
            ("gfx942", &[][..], Ok(vec![Gfx942])),
            (" GFX950 ;gfx942; gfx950;", &[], Ok(vec![Gfx950, Gfx942])),
            ("native", &["gfx942"], Ok(vec![Gfx942])),
            (
                "Native;gfx90a",
                &["gfx942", "gfx950"],
                Ok(vec![Gfx942, Gfx950, Gfx90a]),
            ),
            ("native", &[], Err("kernels::no-gpu")),
            ("native", &["gfx1100"], Err("kernels::unknown-arch")),
            ("", &[], Err("kernels::no-arch")),
            (" ; ;", &[], Err("kernels::no-arch")),
            ("gfx942,gfx950", &[], Err("kernels::unknown-arch")),
            ("gfx94", &[], Err("kernels::unknown-arch")),
            ("gfx9-4-generic", &[], Err("kernels::unknown-arch")),
        ] {
            assert_eq!(read(text, gpus), expected.map_err(str::to_owned), "{text}");
        }
    }

    #[test]
    fn an_unknown_name_has_a_next_step() {
        let hints = |text: &str| {
            parse(text, "--arch", Vec::new)
                .unwrap_err()
                .diagnostic()
                .hints
        };
        assert!(
            hints("gfx943")[0].contains("`gfx942`"),
            "{:?}",
            hints("gfx943")
        );
        assert!(hints("mi300x")[0].contains("gfx90a and gfx942 and gfx950"));
    }

    #[test]
    fn gpus_are_read_from_the_driver() {
        let dir = tempfile::tempdir().unwrap();
        for (node, version) in [
            ("0", "0"),
            ("1", "90402"),
            ("2", "90402"),
            ("10", "90010"),
            ("9", "90500"),
        ] {
            let node = dir.path().join(node);
            std::fs::create_dir(&node).unwrap();
            let text = format!("cpu_cores_count 0\ngfx_target_version {version}\nvendor_id 4098\n");
            std::fs::write(node.join("properties"), text).unwrap();
        }
        assert_eq!(installed(dir.path()), ["gfx942", "gfx950", "gfx90a"]);
        assert_eq!(installed(&dir.path().join("none")), [""; 0]);
    }
}
