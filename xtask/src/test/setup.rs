//! `cargo xtask test --setup`: installs the programs that suites need and this
//! machine lacks, from Debian or Ubuntu packages where that is allowed;
//! otherwise prints the line to run.

use cairn_base::Exec;

use crate::context::Result;

/// A program that tests use, and the package that has it.
struct Need {
    program: &'static str,
    package: &'static str,
    why: &'static str,
}

const NEEDS: &[Need] = &[
    Need {
        program: "cc",
        package: "gcc",
        why: "Rust links with it",
    },
    Need {
        program: "git",
        package: "git",
        why: "`tidy` lists the project's files with it",
    },
    Need {
        program: "nix",
        package: "nix-bin",
        why: "the flake is evaluated and hashes are compared with it",
    },
    Need {
        program: "clang++-22",
        package: "clang-22",
        why: "`kernels build` compiles with it",
    },
    Need {
        program: "ld.lld-22",
        package: "lld-22",
        why: "clang links kernels with it",
    },
    Need {
        program: "llvm-objdump-22",
        package: "llvm-22",
        why: "disassembly is compared with it",
    },
];

pub(super) fn run() -> Result {
    let missing: Vec<_> = NEEDS
        .iter()
        .filter(|need| !is_present(need.program))
        .collect();
    for need in &missing {
        eprintln!("missing: {} ({})", need.program, need.why);
    }
    let packages: Vec<_> = missing.iter().map(|need| need.package).collect();
    if packages.is_empty() {
        eprintln!("setup: everything is here");
        return Ok(());
    }
    let install = format!(
        "apt-get install -y --no-install-recommends {}",
        packages.join(" ")
    );
    let Some(prefix) = privilege().filter(|_| is_present("apt-get")) else {
        eprintln!("setup: run this as root, or skip what needs it:\n  {install}");
        return Ok(());
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
    // Tests that lack something skip with a reason, so this is no end.
    if let Err(error) = apt("apt-get update -q").and_then(|()| apt(&install)) {
        eprintln!("setup: {error}");
    }
    Ok(())
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

fn is_present(program: &str) -> bool {
    Exec::new("sh")
        .args(["-c", "command -v \"$0\"", program])
        .output()
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presence_is_seen() {
        assert!(is_present("sh"));
        assert!(!is_present("no-such-program-anywhere"));
    }
}
