//! `cargo xtask ci`: every check a change has to pass, one after the other,
//! with a closing table.

use std::time::Instant;

use cairn_base::Exec;
use serde_json::json;

use crate::context::{Context, Failure, Result, lacks};
use crate::{engine, table};

mod nix;

/// Run every check: format, lints, tidy, documentation, the crate outside, the fuzz target, tests
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask ci\n  cargo xtask ci --arch gfx942\n  cargo xtask ci --nix"
)]
pub(crate) struct Args {
    /// Check for this architecture and build its kernels; cpu is no GPU at all
    #[arg(long, value_enum, value_name = "ARCH")]
    arch: Option<ArchArg>,
    /// Build the flake's shells and packages, and run the checks inside a shell
    #[arg(long)]
    nix: bool,
}

/// What the checks are run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ArchArg {
    Cpu,
    Gfx942,
    Gfx950,
}

impl ArchArg {
    fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gfx942 => "gfx942",
            Self::Gfx950 => "gfx950",
        }
    }
}

/// A check: its name, the program it needs, its command.
struct Check {
    name: String,
    needs: Option<&'static str>,
    exec: Exec,
}

pub(crate) fn run(args: Args, context: &Context) -> Result {
    let checks = if args.nix {
        nix::checks(context, args.arch)?
    } else {
        checks_for(context, args.arch)
    };
    let mut rows = Vec::new();
    let mut answer = Vec::new();
    let mut failed = false;
    for check in checks {
        eprintln!("== {}: {}", check.name, check.exec.command_line());
        let start = Instant::now();
        let outcome = match check.needs.and_then(lacks) {
            Some(reason) => format!("skipped: {reason}"),
            None if check.exec.status()?.success() => "passed".to_owned(),
            None => "failed".to_owned(),
        };
        failed |= outcome == "failed";
        let seconds = start.elapsed().as_secs_f64();
        answer.push(json!({"check": check.name, "outcome": outcome, "seconds": seconds}));
        rows.push(vec![check.name, outcome, format!("{seconds:.1}")]);
    }
    if context.json() {
        context.print_json(&answer.into())?;
    } else {
        context.print(&format!(
            "\n{}",
            table::render(&["check", "outcome", "seconds"], &rows)
        ))?;
    }
    if failed { Err(Failure::told()) } else { Ok(()) }
}

/// The checks; for a GPU also its kernels, and no other architecture's.
fn checks_for(context: &Context, arch: Option<ArchArg>) -> Vec<Check> {
    let mut checks = checks(context);
    let Some(arch) = arch.filter(|arch| *arch != ArchArg::Cpu) else {
        return checks;
    };
    // The tests come first: their set-up brings the compiler.
    checks.extend(["build", "check"].map(|what| Check {
        name: format!("kernels {what}"),
        needs: None,
        exec: xtask(context, &format!("kernels {what}")),
    }));
    for check in &mut checks {
        check.exec = check.exec.clone().env("GPU_ARCHS", arch.name());
    }
    checks
}

/// This program, started anew.
fn xtask(context: &Context, words: &str) -> Exec {
    Exec::new(std::env::current_exe().unwrap_or_default())
        .args(words.split_whitespace())
        .cwd(&context.root)
}

fn checks(context: &Context) -> Vec<Check> {
    let target = engine::target_dir(context);
    let cargo = |words: &str| {
        engine::cargo()
            .args(words.split_whitespace())
            .cwd(&context.root)
    };
    let building = |words: &str| cargo(words).env("CARGO_TARGET_DIR", &target);
    vec![
        Check {
            name: "format".to_owned(),
            needs: Some("rustfmt"),
            exec: cargo("fmt --all -- --check"),
        },
        Check {
            name: "lints".to_owned(),
            needs: Some("cargo-clippy"),
            // In the profile everything else is built in, so that build scripts
            // and macros are compiled once.
            exec: building("clippy --release --workspace --all-targets -- -D warnings"),
        },
        Check {
            name: "tidy".to_owned(),
            needs: None,
            exec: xtask(context, "tidy"),
        },
        Check {
            name: "documentation".to_owned(),
            needs: Some("rustdoc"),
            exec: building("doc --release --workspace --no-deps --document-private-items")
                .env("RUSTDOCFLAGS", "-D warnings"),
        },
        Check {
            // A workspace of its own, so its outputs cannot be shared.
            name: "outside".to_owned(),
            needs: None,
            exec: cargo("test --release --locked --manifest-path examples/outside/Cargo.toml")
                .env("CARGO_TARGET_DIR", target.join("outside")),
        },
        Check {
            // Also a workspace of its own. Fuzzing takes a nightly compiler;
            // that the target still compiles can be seen without.
            name: "fuzz target".to_owned(),
            needs: None,
            exec: cargo(
                "check --release --locked --no-default-features \
                 --manifest-path crates/config/fuzz/Cargo.toml",
            )
            .env("CARGO_TARGET_DIR", target.join("fuzz")),
        },
        Check {
            name: "tests".to_owned(),
            needs: None,
            exec: xtask(context, "test --setup"),
        },
    ]
}
