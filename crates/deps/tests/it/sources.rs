//! Where sources come from: mirrors, what is here already, stores that are damaged.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use cairn_deps::DepsError;
use cairn_deps::sync::{Options, Outcome};
use cairn_deps::url::Url;

use crate::fixture::{World, flip};
use crate::sync::{must_lock, only, sync_to};

fn mirrors(world: &World, folders: &[&str]) -> Options {
    let of = |folder: &&str| Url::of_path(&world.path(folder)).unwrap();
    Options {
        mirrors: folders.iter().map(of).collect(),
        ..Options::default()
    }
}

#[test]
fn mirrors_are_asked_in_order_and_an_incomplete_one_is_named() {
    let world = World::new();
    let (repo, _) = world.usual("a");
    let stale = world.mirror("stale", &repo);
    let broken = world.mirror("broken", &repo);
    repo.write("more", "more\n");
    let rev = repo.commit("second");
    world.mirror("good", &repo);
    world.manifest(&world.entry(&repo, &rev, ""));
    must_lock(&world);
    // A mirror that has the revision but lost an object of it.
    let fresh = world.mirror("fresh", &repo);
    std::fs::remove_dir_all(&broken).unwrap();
    std::fs::rename(&fresh, &broken).unwrap();
    lose_an_object(&broken, &repo.blob("more\n"));
    // The address itself is gone.
    std::fs::rename(&repo.path, world.path("gone")).unwrap();
    let options = mirrors(&world, &["none", "stale", "broken", "good"]);
    let report = sync_to(&world, "cache", &options);
    let notes: Vec<String> = report
        .notes
        .iter()
        .map(|note| note.message.clone())
        .collect();
    assert!(matches!(only(report), Outcome::Synced(_)), "{notes:?}");
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert!(
        notes[0].contains("none") && notes[0].contains("no repository"),
        "{notes:?}"
    );
    assert!(
        notes[1].contains(stale.to_str().unwrap()) && notes[1].contains("does not have"),
        "{notes:?}"
    );
    assert!(
        notes[2].contains(broken.to_str().unwrap()) && notes[2].contains("incomplete"),
        "{notes:?}"
    );
    let report = sync_to(&world, "cache2", &mirrors(&world, &["stale"]));
    let Outcome::Failed(error) = only(report) else {
        panic!("was synced")
    };
    assert!(
        error.to_string().contains(stale.to_str().unwrap()),
        "{error}"
    );
    assert_eq!(world.visible("cache2"), [""; 0]);
}

/// Unpacks a bare repository and removes one object.
fn lose_an_object(bare: &Path, object: &str) {
    let pack_dir = bare.join("objects/pack");
    for entry in std::fs::read_dir(&pack_dir).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "pack")
        {
            let moved = bare.join("moved.pack");
            std::fs::rename(&path, &moved).unwrap();
            let exec = cairn_base::Exec::new("git").arg("--git-dir").arg(bare);
            exec.args(["unpack-objects", "-q"])
                .stdin(std::fs::read(&moved).unwrap())
                .output()
                .unwrap();
        }
    }
    let loose = bare.join("objects").join(&object[..2]).join(&object[2..]);
    std::fs::remove_file(loose).unwrap();
}

#[test]
fn offline_says_what_is_missing_and_uses_what_is_here() {
    let world = World::new();
    let (repo, rev) = world.usual("a");
    let entry = world.entry(&repo, &rev, "");
    world.manifest(&entry);
    must_lock(&world);
    let elsewhere = "https://host.invalid/a.git";
    for file in ["third_party.toml", "third_party.lock"] {
        let path = world.checkout().join("third_party").join(file);
        let text = std::fs::read_to_string(&path)
            .unwrap()
            .replace(&repo.url(), elsewhere);
        std::fs::write(&path, text).unwrap();
    }
    let offline = Options {
        offline: true,
        ..Options::default()
    };
    let Outcome::Failed(error) = only(sync_to(&world, "cache", &offline)) else {
        panic!("was synced")
    };
    assert!(
        matches!(&error, DepsError::Offline { rev: missing, .. } if *missing == rev),
        "{error}"
    );
    world.mirror("mirrors", &repo);
    let options = Options {
        offline: true,
        ..mirrors(&world, &["mirrors"])
    };
    assert!(matches!(
        only(sync_to(&world, "cache", &options)),
        Outcome::Synced(_)
    ));
    assert!(matches!(
        only(sync_to(&world, "cache", &offline)),
        Outcome::Fresh(_)
    ));
}

#[test]
fn a_store_that_lost_an_object_is_made_anew() {
    let world = World::new();
    let (repo, rev) = world.usual("a");
    world.manifest(&world.entry(&repo, &rev, ""));
    must_lock(&world);
    let Outcome::Synced(tree) = only(sync_to(&world, "cache", &Options::default())) else {
        panic!("was not synced")
    };
    let stores = world.path("cache/.objects");
    let store = std::fs::read_dir(&stores)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.is_dir())
        .unwrap();
    lose_an_object_anywhere(&store, &repo.blob("print('hello')\n"));
    flip(&tree.join("README.md"));
    let report = sync_to(&world, "cache", &Options::default());
    assert!(
        report.notes.iter().any(|note| note.code == "deps::store"),
        "{report:?}"
    );
    assert!(matches!(only(report), Outcome::Repaired(..)));
}

/// As [`lose_an_object`], for a store whose objects may be packed or not.
fn lose_an_object_anywhere(store: &Path, object: &str) {
    let loose = store.join("objects").join(&object[..2]).join(&object[2..]);
    if loose.is_file() {
        std::fs::set_permissions(&loose, std::fs::Permissions::from_mode(0o644)).unwrap();
        std::fs::remove_file(loose).unwrap();
    } else {
        lose_an_object(store, object);
    }
}

#[test]
fn a_dry_run_says_what_it_would_do_and_makes_nothing() {
    let world = World::new();
    let (repo, rev) = world.usual("a");
    world.manifest(&world.entry(&repo, &rev, ""));
    must_lock(&world);
    let dry = Options {
        dry_run: true,
        ..mirrors(&world, &["m"])
    };
    let Outcome::Would(_, sources) = only(sync_to(&world, "cache", &dry)) else {
        panic!("did something else")
    };
    assert_eq!(
        sources,
        [
            format!("file://{}/a.git", world.path("m").display()),
            repo.url()
        ]
    );
    assert!(!world.path("cache").exists());
}
