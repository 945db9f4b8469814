//! `cargo xtask test --setup`: installs what suites need and this machine
//! lacks: programs from Debian or Ubuntu packages where that is allowed, and a
//! Python environment of its own in the target folder. What cannot be
//! installed is printed as the line to run.

use std::path::{Path, PathBuf};

use cairn_base::{Exec, env};

use crate::context::{Context, lacks};
use crate::engine;

/// Something that tests use, how to see that it is there, and the package that
/// has it.
struct Need {
    probe: &'static [&'static str],
    package: &'static str,
    why: &'static str,
}

const NEEDS: &[Need] = &[
    Need {
        probe: &["cc", "--version"],
        package: "gcc",
        why: "Rust links with it",
    },
    Need {
        probe: &["git", "--version"],
        package: "git",
        why: "`tidy` lists the project's files with it",
    },
    Need {
        probe: &["nix", "--version"],
        package: "nix-bin",
        why: "the flake is evaluated and hashes are compared with it",
    },
    Need {
        probe: &["clang++-22", "--version"],
        package: "clang-22",
        why: "`kernels build` compiles with it",
    },
    Need {
        probe: &["ld.lld-22", "--version"],
        package: "lld-22",
        why: "clang links kernels with it",
    },
    Need {
        probe: &["llvm-objdump-22", "--version"],
        package: "llvm-22",
        why: "disassembly is compared with it",
    },
    Need {
        probe: &[
            "cc",
            "-E",
            "-D__HIP_PLATFORM_AMD__",
            "-include",
            "hip/hip_runtime_api.h",
            "-x",
            "c",
            "/dev/null",
        ],
        package: "libamdhip64-dev",
        why: "a program with HIP's own headers runs on the simulated HIP",
    },
    Need {
        probe: &["python3", "-c", "import venv, ensurepip"],
        package: "python3-venv",
        why: "packages that read and check what Cairn wrote are installed with it",
    },
];

/// What the tests' Python holds: packages, and a module of each. PyTorch and
/// transformers are too large to be installed unasked; who has them names their
/// Python in `CAIRN_PYTHON`.
const PYTHON_PACKAGES: [(&str, &str); 5] = [
    ("tensorboard", "tensorboard"),
    ("safetensors", "safetensors"),
    ("numpy", "numpy"),
    ("spdx-tools", "spdx_tools"),
    (
        "cyclonedx-python-lib[json-validation]",
        "cyclonedx.validation.json",
    ),
];

/// Installs what is missing. Tests that lack something skip with a reason, so
/// nothing here is a failure.
pub(super) fn run(context: &Context) {
    install_programs();
    install_python(context);
}

/// The Python that tests get when `CAIRN_PYTHON` names none: the environment
/// made here, if there is one.
pub(super) fn python(context: &Context) -> Option<PathBuf> {
    let python = environment(context).join("bin/python");
    (env::get(&env::CAIRN_PYTHON).is_none() && python.is_file()).then_some(python)
}

fn environment(context: &Context) -> PathBuf {
    engine::target_dir(context).join("peers")
}

fn install_python(context: &Context) {
    if let Some(python) = env::get(&env::CAIRN_PYTHON) {
        eprintln!("setup: tests use the Python of CAIRN_PYTHON, {python}");
        return;
    }
    let dir = environment(context);
    if has_packages(&dir) {
        return;
    }
    eprintln!(
        "setup: {}",
        PYTHON_PACKAGES.map(|(package, _)| package).join(", ")
    );
    let (make, fill) = python_commands(&dir);
    if let Err(error) = make.output().and_then(|_| fill.output()) {
        // Half an environment would be taken for a whole one.
        drop(std::fs::remove_dir_all(&dir));
        eprintln!("setup: {error}");
        eprintln!(
            "setup: tests that need them are skipped; to have them run\n  {} && {}",
            make.command_line(),
            fill.command_line()
        );
    }
}

/// The commands that make an environment and install the packages in it.
fn python_commands(dir: &Path) -> (Exec, Exec) {
    let make = Exec::new("python3")
        .args(["-m", "venv", "--clear"])
        .arg(dir);
    // Without a network this gives up soon.
    let fill = Exec::new(dir.join("bin/python"))
        .args(["-m", "pip", "install", "--quiet"])
        .args(["--disable-pip-version-check", "--retries", "1"])
        .args(PYTHON_PACKAGES.map(|(package, _)| package));
    (make, fill)
}

fn has_packages(dir: &Path) -> bool {
    Exec::new(dir.join("bin/python"))
        .arg("-c")
        .arg(format!(
            "import {}",
            PYTHON_PACKAGES.map(|(_, module)| module).join(", ")
        ))
        .output()
        .is_ok()
}

fn install_programs() {
    let missing: Vec<_> = NEEDS.iter().filter(|need| !is_met(need)).collect();
    for need in &missing {
        eprintln!("missing: {} ({})", need.package, need.why);
    }
    let packages: Vec<_> = missing.iter().map(|need| need.package).collect();
    if packages.is_empty() {
        eprintln!("setup: every program is here");
        return;
    }
    let install = format!(
        "apt-get install -y --no-install-recommends {}",
        packages.join(" ")
    );
    let Some(prefix) = privilege().filter(|_| lacks("apt-get").is_none()) else {
        eprintln!("setup: run this as root, or skip what needs it:\n  {install}");
        return;
    };
    eprintln!("setup: {install}");
    let apt = |line: &str| {
        let mut words: Vec<&str> = prefix.to_vec();
        words.extend(line.split_whitespace());
        Exec::new(words[0])
            .args(&words[1..])
            .env("DEBIAN_FRONTEND", "noninteractive")
            .run()
    };
    if apt("apt-get update -q")
        .and_then(|()| apt(&install))
        .is_ok()
    {
        return;
    }
    // One package that this release lacks must not keep the others out.
    for package in packages {
        let install = format!("apt-get install -y --no-install-recommends {package}");
        if let Err(error) = apt(&install) {
            eprintln!("setup: {error}");
        }
    }
}

/// What to put before a command to run it as root; `None` when that needs a password.
fn privilege() -> Option<&'static [&'static str]> {
    let user = Exec::new("id").arg("-u").output().ok()?;
    if user.text() == "0" {
        return Some(&["env"]);
    }
    Exec::new("sudo")
        .args(["-n", "true"])
        .output()
        .ok()
        .map(|_| ["sudo", "-n"].as_slice())
}

fn is_met(need: &Need) -> bool {
    let mut words = need.probe.iter();
    words
        .next()
        .is_some_and(|program| Exec::new(program).args(words).output().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_seen() {
        let need = |probe| Need {
            probe,
            package: "",
            why: "",
        };
        assert!(is_met(&need(&["sh", "-c", "true"])));
        assert!(!is_met(&need(&["sh", "-c", "false"])));
        assert!(!is_met(&need(&["no-such-program-anywhere"])));
    }

    #[test]
    fn an_environment_without_packages_is_not_taken_for_one() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!has_packages(dir.path()));
        let (make, fill) = python_commands(dir.path());
        assert!(
            make.command_line()
                .ends_with(&dir.path().display().to_string())
        );
        assert!(
            fill.command_line()
                .contains("tensorboard safetensors numpy")
        );
    }
}
