//! Fetching exactly one revision into a store.

use cairn_base::Exec;

use super::{Git, Store, listing, run_watched};
use crate::error::{Answer, DepsError};
use crate::git::listing::Kind;
use crate::manifest::{Wanted, is_revision};
use crate::url::{Scheme, Url};

/// What came of a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fetched {
    /// The revision's whole tree is in the store.
    Done,
    /// The source did not deliver.
    Failed(Answer),
}

/// How far git is: objects received, of how many.
pub(crate) type Progressed<'a> = dyn FnMut(u64, u64) + 'a;

/// Fetches `rev` from `url`, without history. An empty store is filled in one
/// transfer; later ones take trees first and then only the files that no earlier
/// revision had, where the server can do that.
pub(crate) fn fetch(
    git: &Git,
    store: &Store,
    url: &Url,
    rev: &str,
    progress: &mut Progressed<'_>,
) -> Result<Fetched, DepsError> {
    if store.has(rev) {
        return Ok(Fetched::Done);
    }
    let partial = store.has_any();
    let mut exec = base(git, store, url, "default").arg("--depth=1");
    if partial {
        exec = exec.arg("--filter=blob:none");
    }
    let refspec = format!("+{rev}:refs/cairn-fetch/{rev}");
    let mut outcome = run(&exec.args(["source", &refspec]), store, url, progress)?;
    if outcome == Fetched::Failed(Answer::Lacks) {
        // A server may hide what no branch or tag points to, so ask for those.
        outcome = fetch_all(git, store, url, rev, progress)?;
    } else if partial && outcome == Fetched::Done {
        outcome = fetch_files(git, store, url, rev, progress)?;
    }
    if outcome == Fetched::Done {
        store.mark(rev)?;
    }
    Ok(outcome)
}

fn base(git: &Git, store: &Store, url: &Url, negotiation: &str) -> Exec {
    store.remote(git, url).args([
        "-c",
        &format!("fetch.negotiationAlgorithm={negotiation}"),
        "fetch",
        "--progress",
        "--no-tags",
        "--no-write-fetch-head",
        "--no-recurse-submodules",
        "--no-auto-maintenance",
    ])
}

/// The files of a revision that the store lacks.
fn fetch_files(
    git: &Git,
    store: &Store,
    url: &Url,
    rev: &str,
    progress: &mut Progressed<'_>,
) -> Result<Fetched, DepsError> {
    let listed = listing(git, store, rev)?;
    let mut request = String::new();
    for entry in &listed {
        if matches!(entry.kind, Kind::File { .. } | Kind::Symlink) {
            request.push_str(&entry.oid);
            request.push('\n');
        }
    }
    let check = store
        .local(git)
        .args(["cat-file", "--batch-check=%(objectname)", "--buffer"])
        .stdin(request);
    let missing: Vec<String> = git
        .output(&check)?
        .text()
        .lines()
        .filter_map(|line| line.strip_suffix(" missing"))
        .filter(|oid| is_revision(oid))
        .map(str::to_owned)
        .collect();
    // As arguments, because its standard input is the lock.
    for some in missing.chunks(1000) {
        let exec = base(git, store, url, "noop")
            .args(["--filter=blob:none", "source"])
            .args(some);
        let outcome = run(&exec, store, url, progress)?;
        if outcome != Fetched::Done {
            return Ok(outcome);
        }
    }
    Ok(Fetched::Done)
}

/// All branches and tags, for a server that gives nothing else away.
fn fetch_all(
    git: &Git,
    store: &Store,
    url: &Url,
    rev: &str,
    progress: &mut Progressed<'_>,
) -> Result<Fetched, DepsError> {
    if url.scheme() == Scheme::File {
        // Git on this machine hides nothing.
        return Ok(Fetched::Failed(Answer::Lacks));
    }
    let exec = base(git, store, url, "default").args([
        "source",
        "+refs/heads/*:refs/cairn-heads/*",
        "+refs/tags/*:refs/cairn-tags/*",
    ]);
    let outcome = run(&exec, store, url, progress)?;
    if outcome != Fetched::Done {
        return Ok(outcome);
    }
    let tree = format!("{rev}^{{tree}}");
    let (status, _) = git.capture(&store.local(git).args(["cat-file", "-e", &tree]))?;
    Ok(if status.success() {
        Fetched::Done
    } else {
        Fetched::Failed(Answer::Lacks)
    })
}

fn run(
    exec: &Exec,
    store: &Store,
    url: &Url,
    progress: &mut Progressed<'_>,
) -> Result<Fetched, DepsError> {
    let mut said = Vec::new();
    let status = run_watched(exec, store.held(), |line| match received(line) {
        Some((done, total)) => progress(done, total),
        None if is_chatter(line) => {}
        None => said.push(url.scrub(line)),
    })?;
    if status.success() {
        return Ok(Fetched::Done);
    }
    let text = said.join("\n");
    if let Some(error) = super::full(&text, store.path()) {
        return Err(error);
    }
    Ok(Fetched::Failed(answer(&text, url)))
}

/// `Receiving objects:  45% (123/456), 1.2 MiB | 3 MiB/s`.
fn received(line: &str) -> Option<(u64, u64)> {
    let counts = line
        .strip_prefix("Receiving objects:")?
        .split_once('(')?
        .1
        .split_once(')')?
        .0;
    let (done, total) = counts.split_once('/')?;
    Some((done.parse().ok()?, total.parse().ok()?))
}

/// Lines that are no part of an error.
fn is_chatter(line: &str) -> bool {
    let starts = [
        "remote: Enumerating",
        "remote: Counting",
        "remote: Compressing",
        "remote: Total",
        "Resolving deltas",
        "Updating files",
        "From ",
        " * ",
        " + ",
        "warning: filtering not recognized",
    ];
    line.trim().is_empty() || starts.iter().any(|start| line.starts_with(start))
}

/// What an error of git means.
fn answer(said: &str, url: &Url) -> Answer {
    let has = |parts: &[&str]| parts.iter().any(|part| said.contains(part));
    let short = || {
        let lines = said.lines().map(str::trim);
        let telling = lines.filter(|line| {
            line.starts_with("fatal:") || line.starts_with("error:") || line.starts_with("remote:")
        });
        let text = telling.take(3).collect::<Vec<_>>().join("; ");
        if text.is_empty() {
            said.trim().to_owned()
        } else {
            text
        }
    };
    if has(&[
        "not our ref",
        "unadvertised object",
        "couldn't find remote ref",
        "no such remote ref",
    ]) {
        Answer::Lacks
    } else if has(&[
        "does not appear to be a git repository",
        "epository not found",
        "does not exist",
        "' not found",
    ]) {
        Answer::NoRepository
    } else if has(&[
        "bad object",
        "missing blob",
        "missing tree",
        "unable to read",
        "bad pack header",
        "did not send all necessary objects",
        "upload-pack: git-pack-objects died",
        "is corrupt",
        "could not parse commit",
        "shallow file has changed",
        "unable to parse",
    ]) {
        Answer::Incomplete(short())
    } else if url.scheme() == Scheme::File {
        Answer::Other(short())
    } else {
        Answer::Network(short())
    }
}

/// The revision that a tag or branch of a source points to; `None` if the source
/// has no such name.
pub(crate) fn resolve_reference(
    git: &Git,
    url: &Url,
    wanted: &Wanted,
) -> Result<Result<Option<String>, Answer>, DepsError> {
    let names = match wanted {
        Wanted::Rev(rev) => return Ok(Ok(Some(rev.clone()))),
        // The commit behind an annotated tag comes second, if there is one.
        Wanted::Tag(tag) => vec![format!("refs/tags/{tag}"), format!("refs/tags/{tag}^{{}}")],
        Wanted::Branch(branch) => vec![format!("refs/heads/{branch}")],
    };
    let exec = git
        .remote(url)
        .args(["ls-remote", "source"])
        .args(&names)
        .cwd("/");
    let (status, output) = git.capture(&exec)?;
    if !status.success() {
        let said = url.scrub(&String::from_utf8_lossy(&output.stderr));
        return Ok(Err(answer(&said, url)));
    }
    let text = output.text();
    let found = |name: &String| {
        text.lines().find_map(|line| {
            let (rev, found) = line.split_once('\t')?;
            (found == name && is_revision(rev)).then(|| rev.to_owned())
        })
    };
    Ok(Ok(names.iter().rev().find_map(found)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_from_errors() {
        let line = "Receiving objects:  45% (123/456), 1.20 MiB | 3.00 MiB/s";
        assert_eq!(received(line), Some((123, 456)));
        assert_eq!(received("fatal: Receiving"), None);
        assert!(is_chatter("Resolving deltas: 100% (3/3), done."));
        assert!(!is_chatter("fatal: x"));
    }

    #[test]
    fn gits_errors_are_understood() {
        let file = Url::parse("file:///m").unwrap();
        let https = Url::parse("https://h/m").unwrap();
        let table = [
            (
                "fatal: remote error: upload-pack: not our ref 01",
                Answer::Lacks,
            ),
            (
                "fatal: '/m' does not appear to be a git repository",
                Answer::NoRepository,
            ),
            ("remote: Repository not found.", Answer::NoRepository),
            (
                "fatal: bad object 01",
                Answer::Incomplete("fatal: bad object 01".to_owned()),
            ),
        ];
        for (said, want) in table {
            assert_eq!(answer(said, &file), want);
        }
        assert!(matches!(
            answer(
                "fatal: unable to access 'x': Could not resolve host: h",
                &https
            ),
            Answer::Network(_)
        ));
        assert!(matches!(answer("fatal: x", &file), Answer::Other(_)));
    }
}
