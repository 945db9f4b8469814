//! Wrong input: one clear message with the next step, and a cache that stays usable.

use cairn_deps::sync::{Options, Outcome};
use cairn_deps::{DepsError, Project};

use crate::fixture::World;
use crate::sync::{must_lock, only, sync_to};

/// Syncing must fail with this code; afterwards a good manifest must work.
fn fails(world: &World, code: &str) -> DepsError {
    let report = sync_to(
        world,
        "cache",
        &Options {
            retries: 0,
            ..Options::default()
        },
    );
    let Outcome::Failed(error) = only(report) else {
        panic!("{code}: was synced")
    };
    let diagnostic = error.diagnostic();
    assert_eq!(diagnostic.code, code, "{error}");
    assert!(!diagnostic.hints.is_empty(), "{code} has no next step");
    assert_eq!(world.partials("cache"), [""; 0], "{code}");
    error
}

/// A world with one locked project, and the text of its lock.
fn locked() -> (World, crate::fixture::Repo, String) {
    let world = World::new();
    let (repo, rev) = world.usual("a");
    world.manifest(&world.entry(&repo, &rev, ""));
    must_lock(&world);
    let lock =
        std::fs::read_to_string(world.checkout().join("third_party/third_party.lock")).unwrap();
    (world, repo, lock)
}

fn write_lock(world: &World, text: &str) {
    std::fs::write(world.checkout().join("third_party/third_party.lock"), text).unwrap();
}

fn replace_everywhere(world: &World, from: &str, to: &str) {
    for file in ["third_party.toml", "third_party.lock"] {
        let path = world.checkout().join("third_party").join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, text.replace(from, to)).unwrap();
    }
}

#[test]
fn a_wrong_hash_is_refused_and_the_right_one_works_afterwards() {
    let (world, _, lock) = locked();
    let project = Project::read(&world.checkout()).unwrap();
    let right = project.lock.get("a").unwrap().source_hash.to_string();
    let wrong = "sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    for key in ["source_hash", "tree_hash"] {
        write_lock(
            &world,
            &lock.replace(&format!("{key} = \"{right}"), &format!("{key} = \"{wrong}")),
        );
        let error = fails(&world, "deps::hash");
        assert!(
            error.to_string().contains(&right) && error.to_string().contains(wrong),
            "{error}"
        );
        assert_eq!(world.visible("cache"), [""; 0]);
    }
    write_lock(&world, &lock);
    assert!(matches!(
        only(sync_to(&world, "cache", &Options::default())),
        Outcome::Synced(_)
    ));
}

#[test]
fn a_revision_that_does_not_exist_is_told_apart_from_no_repository() {
    let (world, repo, lock) = locked();
    let rev = Project::read(&world.checkout())
        .unwrap()
        .lock
        .get("a")
        .unwrap()
        .rev
        .clone();
    replace_everywhere(&world, &rev, &"1".repeat(40));
    let error = fails(&world, "deps::no-revision");
    assert!(
        error.diagnostic().hints[0].contains("deps update a --rev"),
        "{error}"
    );
    world.manifest(&world.entry(&repo, &rev, ""));
    write_lock(&world, &lock);
    std::fs::rename(&repo.path, world.path("moved")).unwrap();
    fails(&world, "deps::fetch");
    std::fs::rename(world.path("moved"), &repo.path).unwrap();
    assert!(matches!(
        only(sync_to(&world, "cache", &Options::default())),
        Outcome::Synced(_)
    ));
}

#[test]
fn no_network_is_told_with_a_way_around_it() {
    let (world, repo, _) = locked();
    // Nothing listens there, which is known at once.
    replace_everywhere(&world, &repo.url(), "https://127.0.0.1:1/a.git");
    let error = fails(&world, "deps::network");
    assert!(
        error
            .diagnostic()
            .hints
            .iter()
            .any(|hint| hint.contains("deps import")),
        "{error}"
    );
}

#[test]
fn a_folder_in_the_way_of_the_link_is_left_alone() {
    let (world, _, _) = locked();
    std::fs::create_dir_all(world.path("cache/a")).unwrap();
    std::fs::write(world.path("cache/a/theirs"), "").unwrap();
    fails(&world, "deps::in-the-way");
    assert!(world.path("cache/a/theirs").is_file());
}

#[test]
fn names_are_known_or_guessed() {
    let (world, _, _) = locked();
    let project = Project::read(&world.checkout()).unwrap();
    let options = Options {
        names: vec!["b".to_owned()],
        ..Options::default()
    };
    let cache = cairn_deps::Cache::at(&world.path("cache"));
    let error = cairn_deps::sync::sync(&project, &cache, &options).unwrap_err();
    assert_eq!(
        (error.diagnostic().code, error.exit_code()),
        ("deps::unknown-name", 2)
    );
}
