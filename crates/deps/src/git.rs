//! The one way git is run: with no configuration but credential helpers, no
//! hooks, no filters, no templates, no line-end conversion by configuration and
//! no protocol but the one named.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::OnceLock;

use cairn_base::exec::Output;
use cairn_base::{Exec, ExecError, FileError};

use crate::error::DepsError;
use crate::url::{Scheme, Url};

mod blobs;
mod fetch;
mod listing;
mod store;

pub(crate) use blobs::Blobs;
pub(crate) use fetch::{Fetched, fetch, resolve_reference};
pub(crate) use listing::{Kind, Listed, listing};
pub(crate) use store::{Store, store_name};

/// Variables that would change where git looks or what it does.
const UNSET: [&str; 24] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DEFAULT_HASH",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_PROXY_COMMAND",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_SSL_NO_VERIFY",
    "GIT_TEMPLATE_DIR",
    "GIT_TRACE",
    "GIT_WORK_TREE",
];

/// Configuration of every call.
const CONFIG: [(&str, &str); 15] = [
    ("core.hooksPath", "/dev/null"),
    ("core.autocrlf", "false"),
    ("core.eol", "lf"),
    ("core.attributesFile", "/dev/null"),
    ("core.excludesFile", "/dev/null"),
    ("core.fileMode", "true"),
    ("core.symlinks", "true"),
    ("core.fsmonitor", "false"),
    ("advice.detachedHead", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("protocol.version", "2"),
    ("fetch.recurseSubmodules", "false"),
    ("fetch.writeCommitGraph", "false"),
    ("submodule.recurse", "false"),
];

/// How git is run.
#[derive(Debug, Default)]
pub struct Git {
    credentials: OnceLock<Vec<(String, String)>>,
}

impl Git {
    /// Git with no configuration but credential helpers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A call that may use no network and no other repository.
    pub(crate) fn local(&self) -> Exec {
        isolated(None, &[])
    }

    /// A call that may reach `url`, known to it as the remote `source`.
    pub(crate) fn remote(&self, url: &Url) -> Exec {
        let mut config = vec![("remote.source.url".to_owned(), url.secret().to_owned())];
        if url.scheme() == Scheme::Https {
            config.extend(self.credentials().iter().cloned());
        }
        isolated(Some(url.scheme()), &config)
    }

    /// Runs git and captures what it writes, whatever its status.
    pub(crate) fn capture(&self, exec: &Exec) -> Result<(ExitStatus, Output), DepsError> {
        exec.capture().map_err(missing)
    }

    /// Runs git and captures what it writes; another status than 0 is an error.
    pub(crate) fn output(&self, exec: &Exec) -> Result<Output, DepsError> {
        exec.output().map_err(missing)
    }

    /// The user's credential helpers: all that is taken from his configuration.
    fn credentials(&self) -> &[(String, String)] {
        self.credentials.get_or_init(|| {
            let exec =
                Exec::new("git").args(["config", "--null", "--get-regexp", r"^credential\."]);
            let Ok((_, output)) = UNSET
                .iter()
                .fold(exec, |exec, name| exec.env_remove(name))
                .cwd("/")
                .capture()
            else {
                return Vec::new();
            };
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            text.split('\0')
                .filter(|line| !line.is_empty())
                .map(|line| line.split_once('\n').unwrap_or((line, "")))
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect()
        })
    }
}

fn isolated(scheme: Option<Scheme>, config: &[(String, String)]) -> Exec {
    let mut exec = UNSET
        .iter()
        .fold(Exec::new("git"), |exec, name| exec.env_remove(name));
    for (name, value) in [
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_SYSTEM", "/dev/null"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_ATTR_NOSYSTEM", "1"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_LFS_SKIP_SMUDGE", "1"),
        ("GIT_ADVICE", "0"),
        ("LC_ALL", "C"),
        ("TZ", "UTC"),
        (
            "GIT_ALLOW_PROTOCOL",
            scheme.map_or("none", Scheme::git_name),
        ),
    ] {
        exec = exec.env(name, value);
    }
    let fixed = CONFIG.iter().map(|(key, value)| (*key, *value));
    let given = config
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()));
    let mut count = 0;
    for (key, value) in fixed.chain(given) {
        exec = exec
            .env(format!("GIT_CONFIG_KEY_{count}"), key)
            .env(format!("GIT_CONFIG_VALUE_{count}"), value);
        count += 1;
    }
    exec.env("GIT_CONFIG_COUNT", count.to_string())
}

/// No git and no space are errors of their own.
fn missing(error: ExecError) -> DepsError {
    if error.is_missing_program() {
        return DepsError::NoGit;
    }
    if let ExecError::Failed { stderr, .. } = &error
        && let Some(full) = full(stderr, Path::new("the cache"))
    {
        return full;
    }
    DepsError::Exec(error)
}

/// What git says when the disk, the quota or the largest size of a file is reached.
fn full(said: &str, path: &Path) -> Option<DepsError> {
    let words = [
        "No space left on device",
        "Disk quota exceeded",
        "File too large",
    ];
    words.iter().any(|words| said.contains(words)).then(|| {
        let error = io::Error::from(io::ErrorKind::StorageFull);
        FileError::new("write", path, error).into()
    })
}

/// Runs git with its stderr handed over line by line, progress included. It
/// keeps `held` open as its standard input: a lock on that file lasts as long
/// as git runs, even if this process is killed meanwhile.
fn run_watched(
    exec: &Exec,
    held: &File,
    mut line: impl FnMut(&str),
) -> Result<ExitStatus, DepsError> {
    let command_line = exec.command_line();
    let failed = |source| {
        missing(ExecError::Start {
            command: command_line.clone(),
            source,
        })
    };
    let held = held.try_clone().map_err(failed)?;
    let mut child = exec
        .command()
        .stdin(held)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut pipe) = child.stderr.take() {
        let mut said = Vec::new();
        let mut piece = [0; 4096];
        loop {
            match pipe.read(&mut piece) {
                Ok(0) => break,
                Ok(length) => said.extend_from_slice(&piece[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            }
            while let Some(end) = said.iter().position(|byte| matches!(byte, b'\r' | b'\n')) {
                line(&String::from_utf8_lossy(&said[..end]));
                said.drain(..=end);
            }
        }
        line(&String::from_utf8_lossy(&said));
    }
    child.wait().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_users_configuration_has_no_say() {
        let home = tempfile::tempdir().unwrap();
        let config = "[core]\n\tautocrlf = true\n\thooksPath = /evil\n[user]\n\tname = x\n";
        std::fs::write(home.path().join(".gitconfig"), config).unwrap();
        let git = Git::new();
        let get = |key: &str| {
            let exec = git
                .local()
                .env("HOME", home.path())
                .cwd(home.path())
                .args(["config", key]);
            git.capture(&exec).unwrap().1.text()
        };
        assert_eq!(get("core.autocrlf"), "false");
        assert_eq!(get("core.hooksPath"), "/dev/null");
        assert_eq!(get("user.name"), "");
    }

    #[test]
    fn no_protocol_is_open_unless_it_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let bare = dir.path().join("b.git");
        let git = Git::new();
        git.output(&git.local().args(["init", "--quiet", "--bare"]).arg(&bare))
            .unwrap();
        let ask = |exec: Exec, address: &str| {
            git.capture(&exec.args(["ls-remote", address]))
                .unwrap()
                .0
                .success()
        };
        let url = Url::of_path(&bare).unwrap();
        assert!(ask(git.remote(&url), url.secret()));
        assert!(!ask(git.local(), url.secret()));
        let https = Url::parse("https://host/x").unwrap();
        assert!(!ask(git.remote(&https), url.secret()));
        assert!(!ask(git.remote(&url), "ext::true"));
    }

    #[test]
    fn a_full_disk_is_told_apart() {
        let path = Path::new("/c");
        let said = "fatal: sha1 file '/c/x' write error. Out of diskspace: No space left on device";
        let error = full(said, path).unwrap();
        assert_eq!(error.diagnostic().code, "file::disk-full");
        assert!(full("fatal: bad object", path).is_none());
    }

    #[test]
    fn a_lock_outlives_its_owner_while_git_runs() {
        let dir = tempfile::tempdir().unwrap();
        let file = File::create(dir.path().join("lock")).unwrap();
        file.lock().unwrap();
        let mut lines = Vec::new();
        let exec = Exec::new("sh").args(["-c", "flock -n 0 && printf 'one\\rtwo\\nthree' >&2"]);
        let status = run_watched(&exec, &file, |line| lines.push(line.to_owned())).unwrap();
        // The same open file: git's side holds our lock instead of waiting for it.
        assert!(status.success());
        assert_eq!(lines, ["one", "two", "three"]);
    }
}
