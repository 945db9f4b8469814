//! `cargo xtask deps` and what `train` does with it, on the built binary: killed
//! at any moment, eight at once, from any folder, on wrong input.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use cairn_base::{Exec, env, skip};

use super::fixture::{Repo, World, flip};
use super::outcome;

/// The built program in a checkout, whatever the user's environment says.
fn xtask(world: &World, words: &[&str]) -> Exec {
    let mut exec = Exec::new(env!("CARGO_BIN_EXE_xtask"))
        .args(words)
        .cwd(world.checkout())
        .env("CAIRN_THIRDPARTY_DIR", world.path("cache"))
        .env("HOME", world.path("home"))
        .env("USER", "me")
        .env("NO_COLOR", "1");
    for variable in [
        "PRIMUS_THIRDPARTY_DIR",
        "BACKEND_PATH",
        "CAIRN_AUTO_SYNC",
        "CAIRN_CONFIGS",
    ] {
        exec = exec.env_remove(variable);
    }
    exec
}

/// Runs it and wants this exit code; stdout and stderr.
fn run(world: &World, words: &[&str], want: i32) -> (String, String) {
    let (code, stdout, stderr) = outcome(&xtask(world, words));
    assert_eq!(code, Some(want), "{words:?}\n{stdout}\n{stderr}");
    (stdout, stderr)
}

const PATCH: &str = "Why: tests\nUpstream: none\nDrop-when: never\n\n--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-# a\n+# patched\n";

/// A checkout with one locked backend, patched, and an experiment that names it.
fn locked() -> (World, Repo, String) {
    let world = World::new();
    let (repo, _) = world.usual("a");
    for file in 0..300 {
        repo.write(
            &format!("many/{}/{file}.py", file % 7),
            format!("print({file})\n").repeat(50),
        );
    }
    let rev = repo.commit("many");
    let dir = world.checkout().join("third_party/patches/a");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("1.patch"), PATCH).unwrap();
    let more =
        "patches = [\"1.patch\"]\nframeworks = [\"f\"]\nbackend = \"f\"\npython = [\".\", \"src\"]";
    world.manifest(&world.entry(&repo, &rev, more));
    let experiment = "work_group: g\nuser_name: u\nexp_name: e\nworkspace: ./output\nmodules:\n  pre_trainer:\n    \
        framework: f\n    config: m.yaml\n    model: m.yaml\n";
    std::fs::write(world.checkout().join("e.yaml"), experiment).unwrap();
    for kind in ["models", "modules"] {
        let preset = world.checkout().join("configs").join(kind).join("f");
        std::fs::create_dir_all(&preset).unwrap();
        std::fs::write(preset.join("m.yaml"), "a: 1\n").unwrap();
    }
    let platforms = world.checkout().join("configs/platforms");
    std::fs::create_dir_all(&platforms).unwrap();
    let platform = "configs/platforms/platform_azure.yaml";
    std::fs::copy(
        super::root().join(platform),
        world.checkout().join(platform),
    )
    .unwrap();
    std::fs::create_dir(world.path("home")).unwrap();
    run(&world, &["deps", "lock", "--dir", "../lock-cache"], 0);
    (world, repo, rev)
}

/// The tree in the cache, by its stable link.
fn tree(world: &World) -> PathBuf {
    world.path("cache/a").canonicalize().unwrap()
}

fn start(world: &World) -> Child {
    let mut command: Command = xtask(world, &["deps", "sync"]).command();
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

/// How many names are below a folder.
fn names(dir: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return 0;
    };
    let below = entries.flatten().map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => 1 + names(&entry.path()),
        _ => 1,
    });
    below.sum()
}

/// How many names are in an unfinished tree; `None` when there is none.
fn unfinished(world: &World) -> Option<usize> {
    let name = world.partials("cache").into_iter().next()?;
    Some(names(&world.path("cache").join(name)))
}

/// What can be seen is complete: the link leads to a tree, and the tree is as locked.
fn assert_nothing_partial(world: &World, when: &str) {
    for name in world.visible("cache") {
        let path = world.path("cache").join(&name);
        assert!(path.exists(), "{when}: {name} leads nowhere");
        let project = cairn_deps::Project::read(&world.checkout()).unwrap();
        let locked = project.lock.get("a").unwrap();
        let hash = cairn_deps::nar::hash_path(&path.canonicalize().unwrap()).unwrap();
        assert_eq!(hash, locked.tree_hash, "{when}: {name}");
    }
}

const KILLS: u64 = 50;
const INSIDE_AT_LEAST: u64 = 10;

/// Where a kill is aimed: after this many turns of waiting, or, once the unfinished
/// tree has this many names, this many turns later.
struct Aim {
    names: Option<usize>,
    turns: u64,
}

/// Starts a sync and kills it there; false when it was over before.
fn kill_at(world: &World, aim: &Aim) -> bool {
    let mut child = start(world);
    let mut turns = 0;
    loop {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        let counts = match aim.names {
            Some(goal) => turns > 0 || unfinished(world).is_some_and(|names| names >= goal),
            None => true,
        };
        turns += u64::from(counts);
        if turns > aim.turns {
            break;
        }
        std::hint::spin_loop();
    }
    child.kill().unwrap();
    child.wait().unwrap().signal() == Some(9)
}

#[test]
fn fifty_kills_leave_nothing_that_looks_finished() {
    let seed = match std::env::var("CAIRN_TEST_SEED") {
        Ok(text) => text.parse().unwrap(),
        Err(_) => RandomState::new().hash_one(std::process::id()),
    };
    println!("seed {seed} (CAIRN_TEST_SEED={seed} repeats it)");
    let mut state = seed;
    let mut draw = |bound: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let (world, _, _) = locked();
    let whole = names(&world.path("lock-cache/a").canonicalize().unwrap());
    let (mut killed, mut tries, mut before, mut checkout, mut later) = (0, 0, 0, 0, 0);
    while killed < KILLS {
        tries += 1;
        assert!(
            tries < 10 * KILLS,
            "only {killed} of {tries} syncs could be killed"
        );
        // A third while fetching or soon after, so without objects; a third in a
        // checkout; a third when all is written: patching, sealing, renaming.
        let aim = match killed % 3 {
            0 => Aim {
                names: None,
                turns: draw(30_000),
            },
            1 => Aim {
                names: Some(1 + draw(whole as u64 - 1) as usize),
                turns: 0,
            },
            _ => Aim {
                names: Some(whole),
                turns: draw(2_000),
            },
        };
        if killed % 3 == 0 || !world.visible("cache").is_empty() {
            empty(&world.path("cache"));
        }
        if kill_at(&world, &aim) {
            killed += 1;
            match unfinished(&world) {
                None => before += 1,
                Some(names) if names < whole => checkout += 1,
                Some(_) => later += 1,
            }
        }
        assert_nothing_partial(&world, &format!("after kill {killed}"));
    }
    println!(
        "{killed} killed in {tries} syncs: {checkout} inside a checkout, {later} while patching, sealing or \
         renaming, {before} with no tree begun or all done"
    );
    assert!(
        checkout + later >= INSIDE_AT_LEAST,
        "only {checkout} and {later} kills fell inside a tree"
    );
    run(&world, &["deps", "sync"], 0);
    assert_nothing_partial(&world, "at the end");
    assert_eq!(world.partials("cache"), [""; 0]);
    run(&world, &["deps", "verify"], 0);
}

/// Removes what a cache holds.
fn empty(dir: &Path) {
    drop(Exec::new("chmod").args(["-R", "u+w"]).arg(dir).output());
    if dir.exists() {
        std::fs::remove_dir_all(dir).unwrap();
    }
}

#[test]
fn eight_syncs_at_once_make_one_tree() {
    let (world, _, _) = locked();
    let children: Vec<Child> = (0..8).map(|_| start(&world)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(world.visible("cache").len(), 2);
    assert_eq!(world.partials("cache"), [""; 0]);
    assert_nothing_partial(&world, "after eight syncs");
    let (stdout, _) = run(&world, &["deps", "sync"], 0);
    assert!(stdout.contains("fresh"), "{stdout}");
}

#[test]
fn a_changed_tree_is_named_by_verify_and_refused_by_train() {
    use std::os::unix::fs::PermissionsExt;
    type Change = fn(&Path);
    let table: [(&str, Change); 3] = [
        ("many/3/3.py has other content", |tree| {
            flip(&tree.join("many/3/3.py"));
        }),
        ("run.sh is no longer executable", |tree| {
            std::fs::set_permissions(tree.join("run.sh"), std::fs::Permissions::from_mode(0o444))
                .unwrap();
        }),
        ("many/0/new was added", |tree| {
            super::fixture::open_up(&tree.join("many/0"));
            std::fs::write(tree.join("many/0/new"), "").unwrap();
        }),
    ];
    let (world, _, _) = locked();
    let train: &[&str] = &["train", "--exp", "e.yaml"];
    for (want, change) in table {
        run(&world, &["deps", "sync"], 0);
        run(&world, &["deps", "verify"], 0);
        change(&tree(&world));
        let (_, stderr) = run(&world, &["deps", "verify"], 1);
        assert!(stderr.contains(want), "{want}:\n{stderr}");
        let (_, stderr) = run(&world, train, 1);
        assert!(
            stderr.contains(want) && stderr.contains("--allow-dirty"),
            "{want}:\n{stderr}"
        );
        assert!(!world.checkout().join("output").exists());
        // Wanted as it is, it goes into the record.
        let (_, stderr) = run(&world, &[train, &["--allow-dirty"]].concat(), 2);
        assert!(stderr.contains("cannot be run here yet"), "{stderr}");
        let record = world.checkout().join("output/g/u/e/third_party.json");
        let record: serde_json::Value =
            serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
        assert_eq!(
            (&record["allow_dirty"], &record["entries"][0]["dirty"]),
            (&true.into(), &true.into())
        );
        std::fs::remove_dir_all(world.checkout().join("output")).unwrap();
    }
}

#[test]
fn train_fetches_only_when_asked_and_records_the_proof() {
    let (world, _, rev) = locked();
    let train: &[&str] = &["train", "--exp", "e.yaml"];
    let (_, stderr) = run(&world, train, 1);
    assert!(
        stderr.contains("deps sync a") && stderr.contains("--yes"),
        "{stderr}"
    );
    let (stdout, _) = run(&world, &[train, &["--dry-run"]].concat(), 0);
    assert!(stdout.contains("would be fetched"), "{stdout}");
    assert!(!world.path("cache").exists());
    let (code, _, stderr) = outcome(&xtask(&world, train).env("CAIRN_AUTO_SYNC", "1"));
    assert_eq!(code, Some(2), "{stderr}");
    let (fingerprint, _) = run(&world, &["deps", "fingerprint"], 0);
    let record = world.checkout().join("output/g/u/e/third_party.json");
    let record: serde_json::Value =
        serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
    assert_eq!(record["fingerprint"], fingerprint.trim());
    assert_eq!(record["entries"][0]["rev"], rev.as_str());
    let (stdout, _) = run(&world, &[train, &["--dry-run"]].concat(), 0);
    assert!(
        stdout.contains(fingerprint.trim()) && stdout.contains("cache"),
        "{stdout}"
    );
    // A tree of one's own counts more, and is held to the same lock.
    empty(&world.path("own"));
    let copied = Exec::new("cp")
        .arg("-r")
        .arg(tree(&world))
        .arg(world.path("own"))
        .output();
    copied.unwrap();
    let own = [train, &["--dry-run", "--backend_path", "../own"]].concat();
    let (stdout, _) = run(&world, &own, 0);
    assert!(
        stdout.contains("--backend_path") && stdout.contains(fingerprint.trim()),
        "{stdout}"
    );
    flip(&world.path("own/run.sh"));
    run(&world, &own, 1);
}

#[test]
fn every_command_works_from_any_folder_and_in_json() {
    let (world, _, _) = locked();
    run(&world, &["deps", "sync"], 0);
    let below = world.checkout().join("third_party/patches/a");
    let table: &[&[&str]] = &[
        &["deps", "sync"],
        &["deps", "sync", "--dry-run"],
        &["deps", "lock"],
        &["deps", "status"],
        &["deps", "verify"],
        &["deps", "path", "f"],
        &["deps", "path", "a", "--why"],
        &["deps", "fingerprint"],
        &["deps", "pythonpath", "f"],
        &["deps", "sbom"],
        &["deps", "sbom", "--standard", "cyclonedx"],
        &["deps", "gc", "--dry-run"],
        &["deps", "bundle", "-o", "b.tar"],
        &["deps", "import", "b.tar"],
    ];
    for words in table {
        let (code, stdout, stderr) = outcome(&xtask(&world, words).cwd(&below));
        assert_eq!(code, Some(0), "{words:?}\n{stderr}");
        let json = xtask(&world, &[*words, &["--format", "json"]].concat()).cwd(&below);
        let (code, json, stderr) = outcome(&json);
        assert_eq!(code, Some(0), "{words:?}\n{stderr}");
        let answer: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert!(answer.is_object(), "{words:?}: {stdout}");
    }
    let new = world.repo("n");
    new.write("a.py", "a = 1\n");
    let (one, two) = (new.commit("one"), {
        new.write("a.py", "a = 2\n");
        new.commit("two")
    });
    let lock =
        || std::fs::read_to_string(world.checkout().join("third_party/third_party.lock")).unwrap();
    for format in [["--format", "text"], ["--format", "json"]] {
        let change = |words: &[&str]| {
            let (code, _, stderr) = outcome(&xtask(&world, &[words, &format].concat()).cwd(&below));
            assert_eq!(code, Some(0), "{words:?}\n{stderr}");
        };
        change(&["deps", "add", "n", &new.url(), "--rev", &one]);
        assert!(lock().contains(&one));
        change(&["deps", "update", "n", "--rev", &two]);
        assert!(lock().contains(&two) && !lock().contains(&one));
        change(&["deps", "remove", "n"]);
        assert!(!lock().contains(&two));
    }
    let (stdout, _) = run(&world, &["deps", "pythonpath"], 0);
    let root = tree(&world).display().to_string();
    assert!(
        stdout.trim().contains(":") && stdout.contains("/src"),
        "{stdout} {root}"
    );
}

/// With the packages that the standards' own projects publish: for what Cairn
/// ships, and for a project with patches.
#[test]
fn bills_of_materials_follow_their_standards() {
    let Some(python) = env::get(&env::CAIRN_PYTHON) else {
        return skip("no Python with validators: `cargo xtask test --setup` makes one");
    };
    let has = Exec::new(&python).args(["-c", "import spdx_tools, cyclonedx.validation.json"]);
    if has.output().is_err() {
        return skip("CAIRN_PYTHON has no spdx-tools and cyclonedx-python-lib[json-validation]");
    }
    let (world, _, _) = locked();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scripts/check_sbom.py");
    let bill = world.path("bill.spdx.json");
    for checkout in [super::root(), world.checkout()] {
        for standard in ["spdx", "cyclonedx"] {
            let words = ["deps", "sbom", "--standard", standard];
            let (code, text, stderr) = outcome(&xtask(&world, &words).cwd(&checkout));
            assert_eq!(code, Some(0), "{stderr}");
            let check = |text: &str| {
                std::fs::write(&bill, text).unwrap();
                let words = [script, standard, &bill.display().to_string()];
                outcome(&Exec::new(&python).args(words))
            };
            let (code, faults, stderr) = check(&text);
            assert_eq!(code, Some(0), "{standard}\n{faults}\n{stderr}");
            if checkout == world.checkout() {
                // The check can fail.
                let broken = text
                    .replace("\"version\"", "\"vers\"")
                    .replace("SPDX-2.3", "?");
                assert_eq!(check(&broken).0, Some(1), "{standard}");
            }
        }
    }
}

#[test]
fn wrong_input_is_told_with_the_next_step_and_leaves_a_usable_cache() {
    let (world, repo, rev) = locked();
    let lock = world.checkout().join("third_party/third_party.lock");
    let good = std::fs::read_to_string(&lock).unwrap();
    let say = |words: &[&str], code: i32, want: &str| {
        let (_, stderr) = run(&world, words, code);
        assert!(
            stderr.contains(want),
            "{words:?} does not say {want:?}:\n{stderr}"
        );
        assert!(
            stderr.contains("help: "),
            "{words:?} has no next step:\n{stderr}"
        );
    };
    say(
        &["deps", "sync", "b"],
        2,
        "there is no third-party project `b`",
    );
    say(&["deps", "path", "a"], 1, "deps sync a");
    say(&["deps", "verify"], 1, "nowhere on this machine");
    say(&["deps", "import", "none.tar"], 2, "none.tar");
    say(&["deps", "update", "a"], 2, "pinned to a revision");
    say(
        &["deps", "update", "a", "--rev", "abc"],
        2,
        "no full revision",
    );
    say(
        &["deps", "add", "x", "ext::sh", "--branch", "m"],
        2,
        "would run a program",
    );
    say(
        &["deps", "add", "x", "https://me:secret@h/x", "--branch", "m"],
        2,
        "credential helper",
    );
    say(
        &["deps", "sync", "--mirror", "https://me:secret@"],
        2,
        "a mirror cannot be used",
    );
    std::fs::write(&lock, good.replace("version = 1", "version = 2")).unwrap();
    say(&["deps", "sync"], 2, "version 2");
    std::fs::write(&lock, format!("<<<<<<< ours\n{good}")).unwrap();
    say(&["deps", "sync"], 2, "conflict marker");
    std::fs::write(&lock, "# empty\nversion = 1\n").unwrap();
    say(&["deps", "sync"], 1, "cargo xtask deps lock a");
    run(&world, &["deps", "sync", "--exclude", "a"], 0);
    std::fs::write(&lock, &good).unwrap();
    run(&world, &["deps", "sync"], 0);
    // A checkout that somebody works in.
    let own = world.checkout().join("third_party/a");
    repo.clone_to(&own, &rev);
    std::fs::write(own.join("README.md"), "# a, changed\n").unwrap();
    say(&["deps", "verify"], 1, "README.md has other content");
}

#[test]
fn a_machine_that_lacks_something_is_told_so_and_keeps_a_usable_cache() {
    let (world, repo, _) = locked();
    // No git.
    let no_git = xtask(&world, &["deps", "sync"]).env("PATH", world.path("nothing"));
    let (code, _, stderr) = outcome(&no_git);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("install git"), "{stderr}");
    // A full disk, as a limit on the size of files, which is smaller than one of the
    // tree's and larger than the pack's.
    repo.write("zeros", vec![0u8; 4 << 20]);
    let rev = repo.commit("zeros");
    run(
        &world,
        &[
            "deps",
            "update",
            "a",
            "--rev",
            &rev,
            "--dir",
            "../lock-cache",
        ],
        0,
    );
    let limited = Exec::new("bash")
        .args(["-c", "trap '' XFSZ; ulimit -f 1000; exec \"$0\" deps sync"])
        .arg(env!("CARGO_BIN_EXE_xtask"))
        .cwd(world.checkout())
        .env("CAIRN_THIRDPARTY_DIR", world.path("cache"));
    let (code, _, stderr) = outcome(&limited);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(
        stderr.contains("no space left") && stderr.contains("--dir DIR"),
        "{stderr}"
    );
    assert_eq!(world.visible("cache"), [""; 0]);
    // Credentials of a mirror stay out of every message.
    let secret = [
        "deps",
        "sync",
        "--mirror",
        "https://me:s3cret@127.0.0.1:1/",
        "--retries",
        "0",
    ];
    let (stdout, stderr) = run(&world, &secret, 0);
    assert!(!(stdout + &stderr).contains("s3cret"));
    run(&world, &["deps", "verify"], 0);
}
