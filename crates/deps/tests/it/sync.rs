//! What a sync makes, and what it leaves alone.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use cairn_deps::nar::{hash_checkout, hash_path};
use cairn_deps::sync::{Options, Outcome, Report, sync};
use cairn_deps::{Cache, DepsError, Project, relock};

use crate::fixture::{Repo, World, flip};

/// Locks everything that is not, into a cache of its own.
pub(crate) fn lock(world: &World) -> Vec<(String, Result<cairn_deps::Locked, DepsError>)> {
    let project = Project::read(&world.checkout()).unwrap();
    let cache = Cache::at(&world.path("lock-cache"));
    relock::lock(&project, &cache, &Options::default())
        .unwrap()
        .outcomes
}

/// As [`lock`], where it must work.
pub(crate) fn must_lock(world: &World) {
    for (name, result) in lock(world) {
        if let Err(error) = result {
            panic!("{name}: {error}");
        }
    }
}

pub(crate) fn sync_to(world: &World, cache: &str, options: &Options) -> Report {
    let project = Project::read(&world.checkout()).unwrap();
    sync(&project, &Cache::at(&world.path(cache)), options).unwrap()
}

/// The outcome of the only project.
pub(crate) fn only(report: Report) -> Outcome {
    assert_eq!(report.outcomes.len(), 1, "{report:?}");
    report.outcomes.into_iter().next().unwrap().1
}

#[test]
fn a_locked_tree_is_made_once_read_only_and_the_same_as_gits() {
    let world = World::new();
    let (repo, rev) = world.usual("a");
    world.manifest(&world.entry(&repo, &rev, ""));
    must_lock(&world);
    let project = Project::read(&world.checkout()).unwrap();
    let locked = project.lock.get("a").unwrap();
    assert_eq!(locked.commit_date.as_deref(), Some("2026-01-02T03:04:05Z"));
    assert_eq!(locked.source_hash, locked.tree_hash);
    let clone = world.path("clone");
    repo.clone_to(&clone, &rev);
    assert_eq!(hash_checkout(&clone).unwrap(), locked.tree_hash);

    let Outcome::Synced(tree) = only(sync_to(&world, "cache", &Options::default())) else {
        panic!("was not synced")
    };
    assert_eq!(hash_path(&tree).unwrap(), locked.tree_hash);
    let name = locked.tree_name();
    assert_eq!(world.visible("cache"), ["a", &name]);
    assert_eq!(
        std::fs::read_link(world.path("cache/a")).unwrap(),
        Path::new(&name)
    );
    let mode = |path: &str| std::fs::metadata(tree.join(path)).unwrap().mode() & 0o777;
    assert_eq!(
        (mode("."), mode("src"), mode("README.md"), mode("run.sh")),
        (0o555, 0o555, 0o444, 0o555)
    );
    let before = std::fs::metadata(&tree).unwrap().ino();
    assert!(matches!(
        only(sync_to(&world, "cache", &Options::default())),
        Outcome::Fresh(_)
    ));
    assert_eq!(std::fs::metadata(&tree).unwrap().ino(), before);
    assert_eq!(world.partials("cache"), [""; 0]);
    assert_eq!(world.partials("lock-cache"), [""; 0]);
}

#[test]
fn odd_names_and_contents_arrive_as_they_are() {
    let world = World::new();
    let repo = world.repo("odd");
    for name in [
        "a b",
        "-option",
        "tab\there",
        "line\nbreak",
        "caf\u{e9}",
        "quote\"s'",
        "back\\slash",
        ".hidden/x",
        "a/b/c/d/e",
    ] {
        repo.write(name, name);
    }
    repo.write("empty", "");
    repo.write(
        "large",
        (0..3_000_000u32)
            .map(|at| (at * 7 % 251) as u8)
            .collect::<Vec<_>>(),
    );
    repo.link("dangling", "no/such");
    repo.link("a/up", "../empty");
    let rev = repo.commit("odd");
    world.manifest(&world.entry(&repo, &rev, ""));
    must_lock(&world);
    let Outcome::Synced(tree) = only(sync_to(&world, "cache", &Options::default())) else {
        panic!("was not synced")
    };
    let clone = world.path("clone");
    repo.clone_to(&clone, &rev);
    assert_eq!(hash_path(&tree).unwrap(), hash_checkout(&clone).unwrap());
    assert!(tree.join("line\nbreak").is_file());
}

#[test]
fn attributes_count_as_in_every_checkout_and_filters_do_not() {
    let world = World::new();
    let repo = world.repo("attributes");
    repo.git(&["config", "filter.evil.clean", "cat"]);
    let attributes = "*.bat text eol=crlf\n*.id ident\n*.w working-tree-encoding=UTF-16LE\n\
        *.lfs filter=lfs\n*.evil filter=evil\n*.sub export-subst\n*.gone export-ignore\n";
    repo.write(".gitattributes", attributes);
    repo.write("x.bat", "echo\r\nexit\r\n");
    repo.write("deep/y.bat", "one\r\n");
    repo.write("plain.txt", "one\ntwo\n");
    repo.write("v.id", "$Id$\n");
    repo.write("z.w", "h\0i\0");
    repo.write("p.lfs", "version https://git-lfs.github.com/spec/v1\n");
    repo.write("e.evil", "content\n");
    repo.write("s.sub", "$Format:%H$\n");
    repo.write("g.gone", "still here\n");
    let rev = repo.commit("attributes");
    world.manifest(&world.entry(&repo, &rev, ""));
    must_lock(&world);
    let Outcome::Synced(tree) = only(sync_to(&world, "cache", &Options::default())) else {
        panic!("was not synced")
    };
    let clone = world.path("clone");
    repo.clone_to(&clone, &rev);
    assert_eq!(hash_path(&tree).unwrap(), hash_checkout(&clone).unwrap());
    let read = |name: &str| std::fs::read(tree.join(name)).unwrap();
    assert_eq!(read("x.bat"), b"echo\r\nexit\r\n");
    assert!(read("v.id").starts_with(b"$Id: "));
    assert_eq!(read("z.w"), b"h\0i\0");
    assert_eq!(read("s.sub"), b"$Format:%H$\n");
    assert_eq!(read("g.gone"), b"still here\n");
}

#[test]
fn an_update_transfers_only_what_is_new() {
    for filter in ["false", "true"] {
        let world = World::new();
        let repo = world.repo("big");
        repo.git(&["config", "uploadpack.allowFilter", filter]);
        repo.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
        // Bytes that cannot be packed any smaller.
        let mut state = 1u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 56) as u8
        })
        .take(1 << 20)
        .collect();
        repo.write("noise", &noise);
        repo.write("small", "1\n");
        let first = repo.commit("first");
        world.manifest(&world.entry(&repo, &first, ""));
        must_lock(&world);
        only(sync_to(&world, "cache", &Options::default()));
        let held = bytes_below(&world.path("cache/.objects"));
        assert!(held > 1 << 20);
        repo.write("small", "2\n");
        repo.write("other/new", "3\n");
        let second = repo.commit("second");
        world.manifest(&world.entry(&repo, &second, ""));
        must_lock(&world);
        let outcome = only(sync_to(&world, "cache", &Options::default()));
        let Outcome::Synced(tree) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(std::fs::read(tree.join("small")).unwrap(), b"2\n");
        assert_eq!(std::fs::read(tree.join("noise")).unwrap(), noise);
        let more = bytes_below(&world.path("cache/.objects")) - held;
        assert!(more < 50_000, "filter {filter}: {more} bytes more");
        // Both trees are there, the link points to the new one.
        assert_eq!(world.visible("cache").len(), 3);
        assert_eq!(
            world.path("cache/big").canonicalize().unwrap(),
            tree.canonicalize().unwrap()
        );
    }
}

fn bytes_below(dir: &Path) -> u64 {
    let sizes = std::fs::read_dir(dir).unwrap().map(|entry| {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            bytes_below(&entry.path())
        } else {
            entry.metadata().unwrap().len()
        }
    });
    sizes.sum()
}

fn with_submodule(world: &World) -> (Repo, String, String) {
    let (inner, _) = world.usual("inner");
    let (middle, _) = world.usual("middle");
    middle.git(&["submodule", "--quiet", "add", "../inner", "vendor/inner"]);
    middle.commit("with inner");
    let (outer, _) = world.usual("outer");
    outer.git(&["submodule", "--quiet", "add", &middle.url(), "sub/middle"]);
    outer.git(&["submodule", "--quiet", "add", &inner.url(), "sub/inner"]);
    let rev = outer.commit("with submodules");
    (outer, rev, inner.git(&["rev-parse", "HEAD"]))
}

#[test]
fn submodules_come_along_as_wanted_and_stay_empty_otherwise() {
    let world = World::new();
    let (outer, rev, inner_rev) = with_submodule(&world);
    let clone = world.path("clone");
    outer.clone_to(&clone, &rev);
    let table: [(&str, &[&str]); 3] = [
        ("", &[]),
        ("submodules = [\"sub/inner\"]", &["sub/inner"]),
        (
            "submodules = \"all\"",
            &["sub/inner", "sub/middle", "sub/middle/vendor/inner"],
        ),
    ];
    let mut hashes = Vec::new();
    for (number, (field, want)) in table.into_iter().enumerate() {
        world.manifest(&world.entry(&outer, &rev, field));
        must_lock(&world);
        let project = Project::read(&world.checkout()).unwrap();
        let locked = project.lock.get("outer").unwrap();
        let mut paths: Vec<_> = locked
            .submodules
            .iter()
            .map(|sub| sub.path.as_str())
            .collect();
        paths.sort();
        assert_eq!(paths, want);
        assert_eq!(
            locked.source_hash,
            hash_checkout(&clone).unwrap(),
            "{field}"
        );
        let outcome = only(sync_to(
            &world,
            &format!("cache{number}"),
            &Options::default(),
        ));
        let Outcome::Synced(tree) = outcome else {
            panic!("{outcome:?}")
        };
        for path in ["sub/inner", "sub/middle"] {
            let filled = tree.join(path).join("README.md").is_file();
            assert!(
                tree.join(path).is_dir() && filled == want.contains(&path),
                "{field} {path}"
            );
        }
        hashes.push(locked.tree_hash);
        if let Some(inner) = locked.submodules.iter().find(|sub| sub.path == "sub/inner") {
            assert_eq!(inner.rev, inner_rev);
            assert_eq!(
                inner.source_hash,
                hash_path(&tree.join("sub/inner")).unwrap()
            );
        }
    }
    outer.git(&["submodule", "--quiet", "update", "--init", "--recursive"]);
    assert_eq!(hashes[2], hash_checkout(&outer.path).unwrap());
}

const PATCH: &str = "Why: tests\nUpstream: none\nDrop-when: never\n\n\
    diff --git a/src/main.py b/src/main.py\n--- a/src/main.py\n+++ b/src/main.py\n@@ -1 +1 @@\n-print('hello')\n+print('patched')\n\
    diff --git a/new.sh b/new.sh\nnew file mode 100755\n--- /dev/null\n+++ b/new.sh\n@@ -0,0 +1 @@\n+#!/bin/sh\n";

/// Writes a patch of a project and gives the manifest's line for it.
fn write_patch(world: &World, name: &str, text: &str) -> &'static str {
    let dir = world.checkout().join("third_party/patches").join(name);
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("1.patch"), text).unwrap();
    "patches = [\"1.patch\"]"
}

#[test]
fn patches_apply_and_are_part_of_the_tree() {
    let world = World::new();
    let (repo, rev) = world.usual("a");
    let field = write_patch(&world, "a", PATCH);
    world.manifest(&world.entry(&repo, &rev, field));
    must_lock(&world);
    let project = Project::read(&world.checkout()).unwrap();
    let locked = project.lock.get("a").unwrap();
    let clone = world.path("clone");
    repo.clone_to(&clone, &rev);
    assert_eq!(locked.source_hash, hash_checkout(&clone).unwrap());
    let outcome = only(sync_to(&world, "cache", &Options::default()));
    let Outcome::Synced(tree) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(
        std::fs::read_to_string(tree.join("src/main.py")).unwrap(),
        "print('patched')\n"
    );
    assert_eq!(
        std::fs::metadata(tree.join("new.sh"))
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o555
    );
    assert_eq!(locked.tree_hash, hash_path(&tree).unwrap());
    // A patch that changed since has to be locked first.
    write_patch(&world, "a", &PATCH.replace("'patched'", "'otherwise'"));
    assert!(matches!(
        only(sync_to(&world, "cache", &Options::default())),
        Outcome::Outdated(_)
    ));
}

#[test]
fn a_patch_that_no_longer_applies_names_hunk_and_file() {
    let world = World::new();
    let (repo, rev) = world.usual("a");
    let field = write_patch(
        &world,
        "a",
        &PATCH.replace("-print('hello')", "-print('goodbye')"),
    );
    world.manifest(&world.entry(&repo, &rev, field));
    let (_, result) = lock(&world).pop().unwrap();
    let error = result.unwrap_err();
    assert!(
        matches!(&error, DepsError::Patch { file, hunk: Some(1), .. } if file == "src/main.py"),
        "{error}"
    );
    assert_eq!(error.diagnostic().code, "deps::patch");
    assert_eq!(world.partials("lock-cache"), [""; 0]);
    assert!(
        Project::read(&world.checkout())
            .unwrap()
            .lock
            .entries
            .is_empty()
    );
}

#[test]
fn a_tree_that_was_changed_is_made_anew_and_the_change_named() {
    let world = World::new();
    let (repo, rev) = world.usual("a");
    world.manifest(&world.entry(&repo, &rev, ""));
    must_lock(&world);
    let Outcome::Synced(tree) = only(sync_to(&world, "cache", &Options::default())) else {
        panic!("was not synced")
    };
    flip(&tree.join("src/main.py"));
    let Outcome::Repaired(_, changes) = only(sync_to(&world, "cache", &Options::default())) else {
        panic!("was not repaired")
    };
    assert_eq!(changes, ["src/main.py has other content"]);
    assert_eq!(
        std::fs::read_to_string(tree.join("src/main.py")).unwrap(),
        "print('hello')\n"
    );
    // Touched but the same: hashing tells, and the states are taken anew.
    let file = std::fs::File::options()
        .read(true)
        .open(tree.join("README.md"))
        .unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    assert!(matches!(
        only(sync_to(&world, "cache", &Options::default())),
        Outcome::Verified(_)
    ));
    assert!(matches!(
        only(sync_to(&world, "cache", &Options::default())),
        Outcome::Fresh(_)
    ));
}

#[test]
fn a_read_only_cache_is_verified_and_left_alone() {
    let world = World::new();
    let (repo, rev) = world.usual("a");
    let (other, other_rev) = world.usual("b");
    world.manifest(&world.entry(&repo, &rev, ""));
    must_lock(&world);
    only(sync_to(&world, "cache", &Options::default()));
    // As in a Nix store: trees and links, nothing hidden.
    let cache = world.path("cache");
    for hidden in [".index", ".objects", ".locks"] {
        std::fs::remove_dir_all(cache.join(hidden)).unwrap();
    }
    std::fs::set_permissions(&cache, std::fs::Permissions::from_mode(0o555)).unwrap();
    assert!(matches!(
        only(sync_to(&world, "cache", &Options::default())),
        Outcome::Verified(_)
    ));
    let names: Vec<_> = std::fs::read_dir(&cache).unwrap().collect();
    assert_eq!(names.len(), 2);
    world.manifest(&(world.entry(&repo, &rev, "") + &world.entry(&other, &other_rev, "")));
    must_lock(&world);
    let report = sync_to(&world, "cache", &Options::default());
    let (name, Outcome::Failed(DepsError::ReadOnly { names, .. })) = &report.outcomes[1] else {
        panic!("{report:?}")
    };
    assert_eq!(
        (name.as_str(), names.as_slice()),
        ("b", ["b".to_owned()].as_slice())
    );
    flip(
        &world
            .path("cache")
            .join("a")
            .canonicalize()
            .unwrap()
            .join("README.md"),
    );
    let report = sync_to(&world, "cache", &Options::default());
    assert!(
        matches!(
            &report.outcomes[0].1,
            Outcome::Failed(DepsError::Changed { .. })
        ),
        "{report:?}"
    );
    std::fs::set_permissions(&cache, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn what_is_not_locked_does_not_keep_the_rest_from_being_synced() {
    let world = World::new();
    let (one, one_rev) = world.usual("one");
    let (two, two_rev) = world.usual("two");
    let (three, three_rev) = world.usual("three");
    world.manifest(&(world.entry(&one, &one_rev, "") + &world.entry(&two, &two_rev, "")));
    must_lock(&world);
    two.write("x", "x");
    let newer = two.commit("newer");
    let all = world.entry(&one, &one_rev, "")
        + &world.entry(&two, &newer, "")
        + &world.entry(&three, &three_rev, "");
    world.manifest(&all);
    let report = sync_to(&world, "cache", &Options::default());
    assert_eq!(report.to_lock(), ["two", "three"]);
    assert!(matches!(report.outcomes[0], (_, Outcome::Synced(_))));
    let excluding = Options {
        exclude: vec!["two".to_owned(), "three".to_owned()],
        ..Options::default()
    };
    assert!(sync_to(&world, "cache", &excluding).to_lock().is_empty());
    // Frozen, the lock alone counts.
    let frozen = Options {
        frozen: true,
        ..Options::default()
    };
    let report = sync_to(&world, "cache", &frozen);
    assert!(
        matches!(
            report.outcomes.as_slice(),
            [(_, Outcome::Fresh(_)), (_, Outcome::Synced(_))]
        ),
        "{report:?}"
    );
}

#[test]
fn repositories_that_name_objects_by_sha256_are_synced_too() {
    let world = World::new();
    let repo = world.repo_with("modern", &["--object-format=sha256"]);
    repo.write("f", "content\n");
    let rev = repo.commit("first");
    assert_eq!(rev.len(), 64);
    world.manifest(&world.entry(&repo, &rev, ""));
    must_lock(&world);
    let outcome = only(sync_to(&world, "cache", &Options::default()));
    let Outcome::Synced(tree) = outcome else {
        panic!("{outcome:?}")
    };
    flip(&tree.join("f"));
    let outcome = only(sync_to(&world, "cache", &Options::default()));
    assert!(
        matches!(&outcome, Outcome::Repaired(_, changes) if changes == &["f has other content"]),
        "{outcome:?}"
    );
}
