//! The flake and our hashes against a real Nix, without a network. Nix works
//! in folders of the test alone: no daemon, no store of the machine.

use std::fs;
use std::path::{Path, PathBuf};

use cairn_base::Exec;

mod flake;
mod hash;
mod sync;

/// A Nix of one test.
struct Nix {
    dir: tempfile::TempDir,
}

impl Nix {
    /// Nothing but a reason for the record where Nix is missing.
    fn new() -> Option<Self> {
        if Exec::new("nix").arg("--version").output().is_err() {
            cairn_base::skip("nix is not installed (Debian's package is nix-bin)");
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("home")).unwrap();
        let registry = dir.path().join("registry.json");
        fs::write(registry, r#"{"flakes": [], "version": 2}"#).unwrap();
        Some(Self { dir })
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn exec(&self, words: &[&str]) -> Exec {
        let within = |name: &str| self.path().join(name);
        let config = format!(
            "experimental-features = nix-command flakes\nsandbox = false\nsubstituters =\n\
             build-users-group =\nflake-registry = {}\n",
            within("registry.json").display()
        );
        let mut exec = Exec::new("nix").args(words).cwd(self.path());
        for (name, folder) in [
            ("HOME", "home"),
            ("NIX_CONF_DIR", "conf"),
            ("NIX_LOG_DIR", "log"),
            ("NIX_STATE_DIR", "state"),
            ("NIX_STORE_DIR", "store"),
            ("XDG_CACHE_HOME", "home/cache"),
            ("XDG_CONFIG_HOME", "home/config"),
        ] {
            exec = exec.env(name, within(folder));
        }
        exec.env("NIX_CONFIG", config)
            .env("NIX_REMOTE", "local")
            .env("NIX_USER_CONF_FILES", "")
            .env_remove("NIX_PATH")
    }

    /// What it prints when it succeeds.
    fn text(&self, words: &[&str]) -> String {
        self.exec(words).output().unwrap().text()
    }

    /// What it says on stderr when it fails, as it must.
    fn refusal(&self, words: &[&str]) -> String {
        let (status, output) = self.exec(words).capture().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!status.success(), "{words:?} succeeded\n{text}");
        text
    }

    /// Stores are read-only, and so could not be removed with the test's folder.
    fn unlock(&self) {
        let store = self.path().join("store");
        if store.exists() {
            Exec::new("chmod")
                .args(["-R", "u+w"])
                .arg(store)
                .run()
                .unwrap();
        }
    }
}

impl Drop for Nix {
    fn drop(&mut self) {
        self.unlock();
    }
}

/// A copy of what the flake is made of, to be changed at will.
struct Checkout {
    nix: Nix,
    root: PathBuf,
}

impl Checkout {
    fn new() -> Option<Self> {
        let nix = Nix::new()?;
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let listed = Exec::new("git")
            // Whoever owns the checkout, only the names of its files are read.
            .args(["-c", "safe.directory=*"])
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .args([
                "flake.nix",
                "flake.lock",
                "nix",
                "third_party",
                "Cargo.toml",
                "Cargo.lock",
            ])
            .args([".cargo", "configs", "crates", "kernels", "xtask"])
            .cwd(&from)
            .output();
        let Ok(listed) = listed else {
            cairn_base::skip(
                "this is no git checkout, which tells the project's files from others",
            );
            return None;
        };
        let root = nix.path().join("checkout");
        for path in listed.text().split('\0').filter(|path| !path.is_empty()) {
            let (source, copy) = (from.join(path), root.join(path));
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            // Removed but not yet committed.
            if source.exists() {
                fs::copy(source, copy).unwrap();
            }
        }
        Some(Self { nix, root })
    }

    /// A Nix command about the flake, with the stub in place of nixpkgs; `@` in
    /// a word stands for the flake.
    fn words(&self, words: &[&str]) -> Vec<String> {
        let root = self.root.display();
        let stub = format!("path:{root}/nix/stub");
        let mut all: Vec<String> = words
            .iter()
            .map(|word| word.replace('@', &format!("path:{root}")))
            .collect();
        let command = all
            .iter()
            .position(|word| word == "--command")
            .unwrap_or(all.len());
        let inputs = ["--no-write-lock-file", "--override-input", "nixpkgs", &stub];
        all.splice(command..command, inputs.map(str::to_owned));
        all
    }

    fn text(&self, words: &[&str]) -> String {
        let words = self.words(words);
        self.nix
            .text(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn refusal(&self, words: &[&str]) -> String {
        let words = self.words(words);
        self.nix
            .refusal(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Replaces text that must be there.
    fn change(&self, file: &str, from: &str, to: &str) {
        let path = self.root.join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file} has no {from:?}");
        fs::write(path, text.replace(from, to)).unwrap();
    }
}
