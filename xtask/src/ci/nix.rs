//! The checks of `cargo xtask ci --nix`: the flake on a machine that has Nix
//! and a network. What can be known without either is checked by the tests.

use cairn_base::{Diagnostic, Exec};

use super::{ArchArg, Check};
use crate::context::{Context, Failure, Result};

/// The command line of Nix, whatever its configuration enables.
fn nix(context: &Context, words: &[&str]) -> Exec {
    Exec::new("nix")
        .args(["--extra-experimental-features", "nix-command flakes"])
        .args(words)
        .cwd(&context.root)
}

/// Lock, evaluation, shells, packages, and every check once more inside a
/// shell; without an architecture all shells are built.
pub(super) fn checks(context: &Context, arch: Option<ArchArg>) -> Result<Vec<Check>> {
    if Exec::new("nix").arg("--version").output().is_err() {
        let diagnostic = Diagnostic::error("ci::nix", "`--nix` needs Nix, which is not installed")
            .hint("install Nix (Debian's package is nix-bin), or leave `--nix` out");
        return Err(Failure::failed(diagnostic));
    }
    let check = |name: String, words: &[&str]| Check {
        name,
        needs: None,
        exec: nix(context, words),
    };
    let mut checks = vec![
        check(
            "lock".to_owned(),
            &["flake", "metadata", "--no-update-lock-file", "."],
        ),
        check(
            "outputs".to_owned(),
            &["flake", "check", "--no-build", "--no-update-lock-file", "."],
        ),
    ];
    for shell in shells(arch) {
        let flake = format!(".#{shell}");
        checks.push(check(
            format!("shell {shell}"),
            &["develop", &flake, "--command", "true"],
        ));
    }
    let mut build = vec!["build", "--no-link"];
    build.extend(packages(arch));
    checks.push(check("packages".to_owned(), &build));

    let inside = shell_of(arch.unwrap_or(ArchArg::Cpu));
    let flake = format!(".#{inside}");
    let mut develop = vec!["develop", &flake, "--command", "cargo", "xtask", "ci"];
    if let Some(arch) = arch {
        develop.extend(["--arch", arch.name()]);
    }
    // Another compiler: what it builds would push out what the own one has built.
    let target = context.root.join("target/nix");
    let mut all = check(format!("checks in {inside}"), &develop);
    all.exec = all.exec.env("CARGO_TARGET_DIR", target);
    checks.push(all);
    Ok(checks)
}

/// The shell that has what an architecture needs.
fn shell_of(arch: ArchArg) -> &'static str {
    match arch {
        ArchArg::Cpu => "default",
        ArchArg::Gfx942 | ArchArg::Gfx950 => arch.name(),
    }
}

fn shells(arch: Option<ArchArg>) -> Vec<&'static str> {
    match arch {
        Some(arch) => vec![shell_of(arch)],
        None => vec!["default", "gfx942", "gfx950", "full"],
    }
}

fn packages(arch: Option<ArchArg>) -> Vec<&'static str> {
    let kernels: &[&str] = match arch {
        None => &[".#kernels-gfx942", ".#kernels-gfx950"],
        Some(ArchArg::Cpu) => &[],
        Some(ArchArg::Gfx942) => &[".#kernels-gfx942"],
        Some(ArchArg::Gfx950) => &[".#kernels-gfx950"],
    };
    [&[".#xtask", ".#cairn-train", ".#third-party"], kernels].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_architecture_builds_its_own_shell_and_all_build_every_shell() {
        assert_eq!(shells(Some(ArchArg::Cpu)), ["default"]);
        assert_eq!(shells(Some(ArchArg::Gfx950)), ["gfx950"]);
        assert_eq!(shells(None).len(), 4);
        assert!(!packages(Some(ArchArg::Gfx942)).contains(&".#kernels-gfx950"));
        assert!(packages(None).contains(&".#kernels-gfx950"));
    }
}
