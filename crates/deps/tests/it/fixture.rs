//! A world of its own for each test: a checkout, repositories to fetch from, a cache.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use cairn_base::Exec;

/// A checkout, the repositories its manifest may name, and a place for caches.
#[derive(Debug)]
pub(crate) struct World {
    dir: tempfile::TempDir,
}

impl World {
    /// An empty one.
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in [
            "checkout/xtask",
            "checkout/crates/launch",
            "checkout/third_party",
            "origin",
        ] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        std::fs::write(dir.path().join("checkout/xtask/Cargo.toml"), "").unwrap();
        let world = Self { dir };
        world.manifest("");
        world
    }

    /// A place in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The checkout.
    pub(crate) fn checkout(&self) -> PathBuf {
        self.path("checkout")
    }

    /// Writes the manifest: its first line, and this.
    pub(crate) fn manifest(&self, entries: &str) {
        let text = format!("version = 1\n{entries}");
        std::fs::write(self.checkout().join("third_party/third_party.toml"), text).unwrap();
    }

    /// The manifest's entry for a repository.
    pub(crate) fn entry(&self, repo: &Repo, rev: &str, more: &str) -> String {
        let (name, url) = (&repo.name, repo.url());
        format!("\n[[entry]]\nname = \"{name}\"\nurl = \"{url}\"\nrev = \"{rev}\"\n{more}\n")
    }

    /// A new repository.
    pub(crate) fn repo(&self, name: &str) -> Repo {
        self.repo_with(name, &[])
    }

    /// A new repository, made with further options.
    pub(crate) fn repo_with(&self, name: &str, options: &[&str]) -> Repo {
        let path = self.path("origin").join(name);
        std::fs::create_dir_all(&path).unwrap();
        let repo = Repo {
            name: name.to_owned(),
            path,
        };
        repo.git(&[&["init", "--quiet", "--initial-branch=main"], options].concat());
        repo
    }

    /// A repository with a few files and folders of every kind.
    pub(crate) fn usual(&self, name: &str) -> (Repo, String) {
        let repo = self.repo(name);
        repo.write("README.md", format!("# {name}\n"));
        repo.write("src/main.py", "print('hello')\n");
        repo.write("src/deep/er/data.bin", [0u8, 1, 2, 255].repeat(1000));
        repo.write("run.sh", "#!/bin/sh\nexit 0\n");
        repo.executable("run.sh");
        repo.link("link", "src/main.py");
        let rev = repo.commit("first");
        (repo, rev)
    }

    /// A bare copy of a repository among the mirrors in this folder.
    pub(crate) fn mirror(&self, folder: &str, repo: &Repo) -> PathBuf {
        let path = self.path(folder).join(format!("{}.git", repo.name));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let exec = git(&self.path("origin")).args(["clone", "--quiet", "--bare"]);
        exec.arg(&repo.path).arg(&path).output().unwrap();
        path
    }

    /// Everything in a cache that is not hidden, sorted.
    pub(crate) fn visible(&self, cache: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.path(cache)) else {
            return Vec::new();
        };
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
        names.sort();
        names
    }

    /// What is left of trees that were not finished.
    pub(crate) fn partials(&self, cache: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.path(cache)) else {
            return Vec::new();
        };
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(".partial")).collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // Trees are read-only, which keeps their owner from removing them.
        drop(
            Exec::new("chmod")
                .args(["-R", "u+w"])
                .arg(self.dir.path())
                .output(),
        );
    }
}

/// Git with an author and the same clock everywhere, and nothing of the user's.
fn git(dir: &Path) -> Exec {
    Exec::new("git")
        .cwd(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "A")
        .env("GIT_AUTHOR_EMAIL", "a@example.org")
        .env("GIT_COMMITTER_NAME", "A")
        .env("GIT_COMMITTER_EMAIL", "a@example.org")
        .env("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z")
        .env("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z")
        .env_remove("GIT_DIR")
        .env_remove("GIT_INDEX_FILE")
        .env_remove("GIT_WORK_TREE")
        .args(["-c", "protocol.file.allow=always"])
}

/// A repository to fetch from.
#[derive(Debug)]
pub(crate) struct Repo {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

impl Repo {
    /// Its address.
    pub(crate) fn url(&self) -> String {
        format!("file://{}", self.path.display())
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Makes a file executable.
    pub(crate) fn executable(&self, name: &str) {
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.path.join(name), mode).unwrap();
    }

    /// Makes a symbolic link.
    pub(crate) fn link(&self, name: &str, target: &str) {
        symlink(target, self.path.join(name)).unwrap();
    }

    /// Commits everything and gives the revision.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Runs git in it.
    pub(crate) fn git(&self, words: &[&str]) -> String {
        git(&self.path).args(words).output().unwrap().text()
    }

    /// Runs git in it with this as standard input.
    pub(crate) fn git_with(&self, words: &[&str], input: impl Into<Vec<u8>>) -> String {
        git(&self.path)
            .args(words)
            .stdin(input)
            .output()
            .unwrap()
            .text()
    }

    /// A commit of a tree made of these raw entries, names that git would refuse
    /// included: mode, name, object.
    pub(crate) fn commit_raw(&self, entries: &[(&str, &str, &str)]) -> String {
        let mut tree = Vec::new();
        for (mode, name, object) in entries {
            tree.extend_from_slice(format!("{mode} {name}\0").as_bytes());
            for at in (0..object.len()).step_by(2) {
                tree.push(u8::from_str_radix(&object[at..at + 2], 16).unwrap());
            }
        }
        let words = ["hash-object", "-t", "tree", "-w", "--literally", "--stdin"];
        let tree = self.git_with(&words, tree);
        let rev = self.git(&["commit-tree", &tree, "-m", "raw"]);
        self.git(&["update-ref", "refs/heads/raw", &rev]);
        rev
    }

    /// An object with this content.
    pub(crate) fn blob(&self, content: &str) -> String {
        self.git_with(&["hash-object", "-w", "--stdin"], content)
    }

    /// A checkout of a revision as a user of git would make one.
    pub(crate) fn clone_to(&self, path: &Path, rev: &str) {
        let here = path.parent().unwrap();
        git(here)
            .args(["clone", "--quiet", "--no-checkout"])
            .arg(self.url())
            .arg(path)
            .output()
            .unwrap();
        git(path)
            .args(["checkout", "--quiet", "--detach", rev])
            .output()
            .unwrap();
    }
}

/// Flips one byte of a file and puts its time back.
pub(crate) fn flip(path: &Path) {
    let before = std::fs::metadata(path).unwrap();
    let mut content = std::fs::read(path).unwrap();
    let middle = content.len() / 2;
    content[middle] ^= 1;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
    std::fs::write(path, content).unwrap();
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
    std::fs::set_permissions(path, before.permissions()).unwrap();
}

/// Makes a folder of a tree writable, as its owner or the superuser may.
pub(crate) fn open_up(dir: &Path) {
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755)).unwrap();
}
