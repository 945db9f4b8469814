//! A tree that `deps sync` makes and the one that Nix makes from the same lock:
//! the same name, bytes and fingerprint; and both refuse a wrong hash.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use cairn_base::Exec;
use cairn_deps::lock::Lock;
use cairn_deps::nar;

use super::Checkout;

/// Runs git in a folder, with nothing of the user's configuration.
fn git(dir: &Path, words: &[&str]) -> String {
    let exec = Exec::new("git")
        .args(words)
        .cwd(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "a")
        .env("GIT_AUTHOR_EMAIL", "a@example.org")
        .env("GIT_COMMITTER_NAME", "a")
        .env("GIT_COMMITTER_EMAIL", "a@example.org");
    exec.output().unwrap().text()
}

/// A repository with all that may come out differently, and a submodule.
fn repository(dir: &Path) -> (PathBuf, String) {
    let part = dir.join("part");
    fs::create_dir_all(&part).unwrap();
    git(&part, &["init", "-q", "-b", "main"]);
    fs::write(part.join("p.py"), "part = 1\n").unwrap();
    git(&part, &["add", "-A"]);
    git(&part, &["commit", "-q", "-m", "part"]);

    let whole = dir.join("whole");
    fs::create_dir_all(whole.join("src/deep")).unwrap();
    git(&whole, &["init", "-q", "-b", "main"]);
    fs::write(whole.join("src/deep/a.py"), "one\ntwo\nthree\n").unwrap();
    fs::write(whole.join("run.sh"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(whole.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("src/deep", whole.join("link")).unwrap();
    fs::write(whole.join("a name with ünusual \"letters\""), "x").unwrap();
    // What an archive would leave out or rewrite, and what a checkout does convert.
    let attributes =
        "left-out export-ignore\nrewritten export-subst\n*.bat text eol=crlf\nid ident\n";
    fs::write(whole.join(".gitattributes"), attributes).unwrap();
    fs::write(whole.join("left-out"), "still here\n").unwrap();
    fs::write(whole.join("rewritten"), "$Format:%H$\n").unwrap();
    fs::write(whole.join("dos.bat"), "one\r\ntwo\r\n").unwrap();
    fs::write(whole.join("id"), "$Id$\n").unwrap();
    let url = format!("file://{}", part.display());
    git(
        &whole,
        &[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "-q",
            "add",
            &url,
            "third/part",
        ],
    );
    git(&whole, &["add", "-A"]);
    git(&whole, &["commit", "-q", "-m", "whole"]);
    let rev = git(&whole, &["rev-parse", "HEAD"]);
    (whole, rev)
}

const PATCH: &str = "Why: a test\nUpstream: none\nDrop-when: never\n\n\
    --- a/src/deep/a.py\n+++ b/src/deep/a.py\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n\
    --- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+new\n";

/// A checkout that wants the repository three times: as it is, with its
/// submodule, and patched.
fn checkout() -> Option<Checkout> {
    let checkout = Checkout::new()?;
    let (whole, rev) = repository(&checkout.nix.path().join("git"));
    let folder = checkout.root.join("third_party");
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(folder.join("patches/patched")).unwrap();
    fs::write(folder.join("patches/patched/1.patch"), PATCH).unwrap();
    let entry = |name: &str, rest: &str| {
        let url = whole.display();
        format!("\n[[entry]]\nname = \"{name}\"\nurl = \"file://{url}\"\nrev = \"{rev}\"\n{rest}")
    };
    let manifest = [
        "version = 1\n".to_owned(),
        entry("plain", ""),
        entry("whole", "submodules = \"all\"\n"),
        entry("patched", "patches = [\"1.patch\"]\n"),
    ];
    fs::write(folder.join("third_party.toml"), manifest.concat()).unwrap();
    deps(&checkout, &["lock"], "cache").output().unwrap();
    Some(checkout)
}

/// `cargo xtask deps` in the checkout, with its own cache below the test's folder.
fn deps(checkout: &Checkout, words: &[&str], cache: &str) -> Exec {
    let mut exec = Exec::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("deps")
        .args(words);
    for variable in ["PRIMUS_THIRDPARTY_DIR", "BACKEND_PATH", "CAIRN_AUTO_SYNC"] {
        exec = exec.env_remove(variable);
    }
    exec.cwd(&checkout.root)
        .env("CAIRN_THIRDPARTY_DIR", checkout.nix.path().join(cache))
}

/// The lock of a checkout.
fn lock(checkout: &Checkout) -> Lock {
    Lock::read(&checkout.root).unwrap()
}

fn build(checkout: &Checkout) -> PathBuf {
    let link = checkout.nix.path().join("result");
    checkout.text(&[
        "build",
        "@#third-party",
        "--out-link",
        link.to_str().unwrap(),
    ]);
    link
}

#[test]
fn both_ways_give_the_same_names_bytes_and_fingerprint() {
    let Some(checkout) = checkout() else { return };
    deps(&checkout, &["sync"], "cache").output().unwrap();
    let cache = checkout.nix.path().join("cache");
    let store = build(&checkout);
    let entries = lock(&checkout).entries;
    assert_eq!(entries.len(), 3);
    for entry in &entries {
        let name = entry.tree_name();
        for place in [&cache, &store] {
            let tree = place.join(&name);
            let hash = nar::hash_path(&tree).unwrap();
            assert_eq!(hash, entry.tree_hash, "{}", tree.display());
            let link = fs::canonicalize(place.join(&entry.name)).unwrap();
            assert_eq!(link, fs::canonicalize(&tree).unwrap(), "{}", entry.name);
            assert_eq!(link.file_name().unwrap(), name.as_str());
        }
        let shown = checkout
            .nix
            .text(&["hash", "path", store.join(&name).to_str().unwrap()]);
        assert_eq!(shown, entry.tree_hash.to_string(), "{name}");
    }
    let text = |words: &[&str], dir: &str| deps(&checkout, words, dir).output().unwrap().text();
    assert_eq!(
        text(&["fingerprint"], "cache"),
        text(&["fingerprint"], "result")
    );
    for entry in &entries {
        let last = |dir: &str| {
            let path = PathBuf::from(text(&["path", &entry.name], dir));
            path.file_name().unwrap().to_owned()
        };
        assert_eq!(last("cache"), entry.tree_name().as_str());
        assert_eq!(last("result"), entry.tree_name().as_str());
    }
    text(&["verify"], "result");
    text(&["sync"], "result");

    let tree = |name: &str| store.join(lock(&checkout).get(name).unwrap().tree_name());
    assert!(tree("plain").join("left-out").is_file());
    assert_eq!(
        fs::read(tree("plain").join("dos.bat")).unwrap(),
        b"one\r\ntwo\r\n"
    );
    assert_eq!(
        fs::read_dir(tree("plain").join("third/part"))
            .unwrap()
            .count(),
        0
    );
    assert!(tree("whole").join("third/part/p.py").is_file());
    assert_eq!(fs::read(tree("patched").join("new.py")).unwrap(), b"new\n");
}

#[test]
fn both_ways_refuse_a_wrong_hash() {
    let Some(checkout) = checkout() else { return };
    let file = "third_party/third_party.lock";
    let right = fs::read_to_string(checkout.root.join(file)).unwrap();
    let entries = lock(&checkout).entries;
    let table = [
        ("plain", entries[0].source_hash.to_string()),
        ("whole", entries[1].submodules[0].source_hash.to_string()),
        ("patched", entries[2].tree_hash.to_string()),
    ];
    for (number, (name, hash)) in table.iter().enumerate() {
        // Another digit that leaves it a hash.
        let other = if hash.contains("sha256-A") {
            "sha256-B"
        } else {
            "sha256-A"
        };
        let wrong = format!("{other}{}", &hash[8..]);
        fs::write(
            checkout.root.join(file),
            right.replace(hash.as_str(), &wrong),
        )
        .unwrap();
        let said = checkout.refusal(&["build", "@#third-party", "--no-link"]);
        assert!(
            said.contains("hash mismatch") && said.contains(hash),
            "{name}\n{said}"
        );

        let empty = format!("empty{number}");
        let (status, output) = deps(&checkout, &["sync"], &empty).capture().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(status.code(), Some(1), "{name}\n{said}");
        assert!(said.contains(name), "{said}");
        let visible = checkout.nix.path().join(&empty).join(name);
        assert!(!visible.exists(), "a tree with a wrong hash became visible");
    }
}

#[test]
fn a_changed_patch_and_an_unknown_version_end_the_evaluation_and_unlocked_is_told() {
    let Some(checkout) = checkout() else { return };
    let eval = ["eval", "--raw", "@#third-party.drvPath"];
    checkout.text(&eval);
    let manifest = checkout.root.join("third_party/third_party.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let more =
        "\n[[entry]]\nname = \"later\"\nurl = \"https://example.org/later\"\nbranch = \"main\"\n";
    fs::write(&manifest, format!("{text}{more}")).unwrap();
    let words = checkout.words(&eval);
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let (status, output) = checkout.nix.exec(&words).capture().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(status.success() && said.contains("later"), "{said}");

    checkout.change("third_party/patches/patched/1.patch", "+2", "+3");
    let said = checkout.refusal(&eval);
    assert!(said.contains("patches/patched/1.patch"), "{said}");
    checkout.change(
        "third_party/third_party.lock",
        "version = 1\n",
        "version = 2\n",
    );
    let said = checkout.refusal(&eval);
    assert!(said.contains("version 2"), "{said}");
}
