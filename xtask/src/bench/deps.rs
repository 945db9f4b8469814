//! `cargo xtask bench deps`: syncing third-party trees beside plain git, all over
//! `file://` and in turns, on repositories made for it or named.

use std::path::{Path, PathBuf};
use std::time::Instant;

use cairn_base::{Diagnostic, Exec, files};
use cairn_deps::nar;
use serde_json::json;

use crate::context::{Context, Failure, Result};
use crate::{engine, table};

mod history;

/// Measure `deps sync` beside plain git
///
/// Without `--repo`, four repositories with long histories are made first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask bench deps --repeats 5")]
pub(crate) struct DepsArgs {
    /// A bare repository to take; may be repeated
    #[arg(long = "repo", value_name = "DIR")]
    repos: Vec<PathBuf>,
    /// Commits in each repository that is made
    #[arg(long, value_name = "N", default_value = "10000", value_parser = crate::args::at_least_one)]
    commits: usize,
    /// Files in each repository that is made
    #[arg(long, value_name = "N", default_value = "1500", value_parser = crate::args::at_least_one)]
    files: usize,
    /// How often; medians are reported
    #[arg(long, value_name = "N", default_value = "3", value_parser = crate::args::at_least_one)]
    repeats: usize,
}

/// A repository and the revision that is fetched.
struct Repo {
    name: String,
    path: PathBuf,
    rev: String,
}

/// The contenders, by what they do.
const CONTENDERS: [&str; 4] = [
    "clone whole histories, one after the other",
    "clone --depth 1, in parallel",
    "deps sync",
    "deps sync with nothing to do",
];

pub(crate) fn run(args: &DepsArgs, context: &Context) -> Result {
    let dir = engine::target_dir(context).join(format!("bench-deps-{}", std::process::id()));
    files::create_dir_all(&dir)?;
    let result = measure(args, context, &dir);
    let removed = remove(&dir);
    result.and(removed)
}

fn measure(args: &DepsArgs, context: &Context, dir: &Path) -> Result {
    let repos = repos(args, context, dir)?;
    let checkout = checkout(dir, &repos)?;
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); CONTENDERS.len()];
    for repeat in 0..args.repeats {
        eprintln!("repeat {} of {}", repeat + 1, args.repeats);
        // The order turns, so that no contender always follows the same one. The
        // last needs what the one before it made, so these two go together.
        for turn in 0..3 {
            let which = (turn + repeat) % 3;
            let scratch = dir.join("scratch");
            remove(&scratch)?;
            files::create_dir_all(&scratch)?;
            // What others left unwritten is not for this one to wait for.
            Exec::new("sync").output()?;
            let start = Instant::now();
            match which {
                0 => clone_whole(&repos, &scratch)?,
                1 => clone_shallow(&repos, &scratch)?,
                _ => sync(&checkout, &scratch)?,
            }
            times[which].push(start.elapsed().as_secs_f64());
            if which == 2 {
                let start = Instant::now();
                sync(&checkout, &scratch)?;
                times[3].push(start.elapsed().as_secs_f64());
            }
        }
    }
    let hashing = hashing(dir)?;
    report(context, &repos, times, hashing)
}

fn repos(args: &DepsArgs, context: &Context, dir: &Path) -> Result<Vec<Repo>> {
    let mut paths = Vec::new();
    for path in &args.repos {
        context.must_exist("repository", path)?;
        paths.push(context.cwd.join(path));
    }
    if paths.is_empty() {
        for number in 0..4 {
            eprintln!("making repository {} of 4", number + 1);
            let path = dir.join(format!("origin/project{number}.git"));
            history::make(&path, number, args.commits, args.files)?;
            paths.push(path);
        }
    }
    let mut repos = Vec::new();
    for path in paths {
        let rev = Exec::new("git")
            .arg("--git-dir")
            .arg(&path)
            .args(["rev-parse", "HEAD"])
            .output()?
            .text();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(".git").unwrap_or(&name).to_owned();
        repos.push(Repo { name, path, rev });
    }
    Ok(repos)
}

/// A checkout whose lock has the repositories.
fn checkout(dir: &Path, repos: &[Repo]) -> Result<PathBuf> {
    let checkout = dir.join("checkout");
    for folder in ["xtask", "crates/launch", "third_party"] {
        files::create_dir_all(&checkout.join(folder))?;
    }
    files::write_atomic(&checkout.join("xtask/Cargo.toml"), b"")?;
    let mut manifest = "version = 1\n".to_owned();
    for repo in repos {
        manifest.push_str(&format!(
            "\n[[entry]]\nname = \"{}\"\nurl = \"file://{}\"\nrev = \"{}\"\n",
            repo.name,
            repo.path.display(),
            repo.rev
        ));
    }
    files::write_atomic(
        &checkout.join("third_party/third_party.toml"),
        manifest.as_bytes(),
    )?;
    let cache = dir.join("lock-cache");
    xtask(&checkout)
        .args(["deps", "lock", "--dir"])
        .arg(&cache)
        .output()?;
    remove(&cache)?;
    Ok(checkout)
}

fn xtask(checkout: &Path) -> Exec {
    Exec::new(std::env::current_exe().unwrap_or_default()).cwd(checkout)
}

fn sync(checkout: &Path, cache: &Path) -> Result {
    xtask(checkout)
        .args(["deps", "sync", "--dir"])
        .arg(cache)
        .output()?;
    Ok(())
}

fn clone(repo: &Repo, into: &Path) -> Exec {
    Exec::new("git")
        .args(["clone", "--quiet"])
        .arg(format!("file://{}", repo.path.display()))
        .arg(into.join(&repo.name))
}

fn clone_whole(repos: &[Repo], into: &Path) -> Result {
    for repo in repos {
        clone(repo, into).arg("--no-checkout").output()?;
        Exec::new("git")
            .args(["checkout", "--quiet", "--detach", &repo.rev])
            .cwd(into.join(&repo.name))
            .output()?;
    }
    Ok(())
}

fn clone_shallow(repos: &[Repo], into: &Path) -> Result {
    let results: Vec<Result> = std::thread::scope(|scope| {
        let clones: Vec<_> = repos
            .iter()
            .map(|repo| {
                scope.spawn(|| {
                    Ok(clone(repo, into)
                        .args(["--depth", "1"])
                        .output()
                        .map(drop)?)
                })
            })
            .collect();
        clones
            .into_iter()
            .map(|clone| clone.join().unwrap_or_else(|_| Err(Failure::told())))
            .collect()
    });
    results.into_iter().collect()
}

/// Bytes a second of the archive hash on one core: the best of three, from memory.
fn hashing(dir: &Path) -> Result<f64> {
    let path = dir.join("to-hash");
    let content: Vec<u8> = (0..256u32 << 20)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    files::write_atomic(&path, &content)?;
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        nar::hash_path(&path)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(content.len() as f64 / best)
}

fn report(context: &Context, repos: &[Repo], times: Vec<Vec<f64>>, hashing: f64) -> Result {
    let medians: Vec<f64> = times
        .into_iter()
        .map(|mut times| {
            times.sort_by(f64::total_cmp);
            times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
        })
        .collect();
    let [whole, shallow, ours, again] = medians[..] else {
        return Err(Failure::failed(Diagnostic::error(
            "bench::deps",
            "a contender has no time",
        )));
    };
    if context.json() {
        return context.print_json(&json!({
            "repositories": repos.iter().map(|repo| &repo.name).collect::<Vec<_>>(),
            "median_seconds": {"clone_whole": whole, "clone_shallow": shallow, "sync": ours, "sync_again": again},
            "whole_by_sync": whole / ours, "sync_by_shallow": ours / shallow, "hash_bytes_per_s": hashing,
        }));
    }
    let rows: Vec<Vec<String>> = CONTENDERS
        .iter()
        .zip([whole, shallow, ours, again])
        .map(|(name, time)| {
            vec![
                (*name).to_owned(),
                format!("{:.0}", time * 1e3),
                format!("{:.2}", time / ours),
            ]
        })
        .collect();
    context.print(&format!(
        "{}deps sync is {:.2} times as fast as whole clones and takes {:.2} of shallow clones\nhashing: {:.2} GB/s on one core",
        table::render(&["contender", "median ms", "of sync"], &rows),
        whole / ours,
        ours / shallow,
        hashing / 1e9,
    ))
}

/// Removes a folder, read-only trees in it included.
fn remove(dir: &Path) -> Result {
    if dir.exists() {
        Exec::new("chmod").args(["-R", "u+w"]).arg(dir).output()?;
        Exec::new("rm").arg("-rf").arg(dir).output()?;
    }
    Ok(())
}
