//! `cargo xtask ci`: every check a change has to pass, one after the other,
//! with a closing table.

use std::time::Instant;

use cairn_base::Exec;
use serde_json::json;

use crate::context::{Context, Failure, Result, lacks};
use crate::{engine, table};

/// Run every check: format, lints, tidy, documentation, the crate outside, the fuzz target, tests
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask ci")]
pub(crate) struct Args {}

/// A check: its name, the program it needs, its command.
struct Check {
    name: &'static str,
    needs: Option<&'static str>,
    exec: Exec,
}

pub(crate) fn run(_: Args, context: &Context) -> Result {
    let mut rows = Vec::new();
    let mut answer = Vec::new();
    let mut failed = false;
    for check in checks(context) {
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
        rows.push(vec![
            check.name.to_owned(),
            outcome,
            format!("{seconds:.1}"),
        ]);
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

fn checks(context: &Context) -> Vec<Check> {
    let target = engine::target_dir(context);
    let cargo = |words: &str| {
        engine::cargo()
            .args(words.split_whitespace())
            .cwd(&context.root)
    };
    let building = |words: &str| cargo(words).env("CARGO_TARGET_DIR", &target);
    let xtask = std::env::current_exe().unwrap_or_default();
    let xtask = |words: &str| {
        Exec::new(&xtask)
            .args(words.split_whitespace())
            .cwd(&context.root)
    };
    vec![
        Check {
            name: "format",
            needs: Some("rustfmt"),
            exec: cargo("fmt --all -- --check"),
        },
        Check {
            name: "lints",
            needs: Some("cargo-clippy"),
            // In the profile everything else is built in, so that build scripts
            // and macros are compiled once.
            exec: building("clippy --release --workspace --all-targets -- -D warnings"),
        },
        Check {
            name: "tidy",
            needs: None,
            exec: xtask("tidy"),
        },
        Check {
            name: "documentation",
            needs: Some("rustdoc"),
            exec: building("doc --release --workspace --no-deps --document-private-items")
                .env("RUSTDOCFLAGS", "-D warnings"),
        },
        Check {
            // A workspace of its own, so its outputs cannot be shared.
            name: "outside",
            needs: None,
            exec: cargo("test --release --locked --manifest-path examples/outside/Cargo.toml")
                .env("CARGO_TARGET_DIR", target.join("outside")),
        },
        Check {
            // Also a workspace of its own. Fuzzing takes a nightly compiler;
            // that the target still compiles can be seen without.
            name: "fuzz target",
            needs: None,
            exec: cargo(
                "check --release --locked --no-default-features \
                 --manifest-path crates/config/fuzz/Cargo.toml",
            )
            .env("CARGO_TARGET_DIR", target.join("fuzz")),
        },
        Check {
            name: "tests",
            needs: None,
            exec: xtask("test --setup"),
        },
    ]
}
