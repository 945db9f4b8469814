//! Trees that travel in a file.

use cairn_deps::bundle::{bundle, import};
use cairn_deps::resolve::{Named, fingerprint, used};
use cairn_deps::sync::Options;
use cairn_deps::{Cache, DepsError, Project};

use crate::fixture::{World, flip};
use crate::sync::{must_lock, sync_to};

fn fingerprint_of(project: &Project, cache: &Cache) -> String {
    let entries: Vec<_> = project.manifest.entries.iter().collect();
    fingerprint(&used(project, cache, &entries, &Named::default(), false).unwrap())
}

#[test]
fn a_bundle_brings_the_same_trees_to_an_empty_machine() {
    let world = World::new();
    let (a, a_rev) = world.usual("a");
    let repo = world.repo("odd");
    // Longer than a field of the archive's header.
    repo.write(
        &format!("{}/{}", "deep/".repeat(30), "name".repeat(30)),
        "x",
    );
    repo.write("with \"quotes\" and\nline", "y");
    repo.link("far", &format!("{}nowhere", "deep/".repeat(30)));
    let odd_rev = repo.commit("odd");
    world.manifest(&(world.entry(&a, &a_rev, "") + &world.entry(&repo, &odd_rev, "")));
    must_lock(&world);
    sync_to(&world, "here", &Options::default());
    let project = Project::read(&world.checkout()).unwrap();
    let (here, there) = (
        Cache::at(&world.path("here")),
        Cache::at(&world.path("there")),
    );
    let locked: Vec<_> = project.lock.entries.iter().collect();
    let (file, again) = (world.path("b.tar"), world.path("c.tar"));
    bundle(&here, &locked, &file).unwrap();
    bundle(&here, &locked, &again).unwrap();
    assert_eq!(
        std::fs::read(&file).unwrap(),
        std::fs::read(&again).unwrap()
    );
    // Nothing to fetch from any more.
    std::fs::rename(world.path("origin"), world.path("gone")).unwrap();
    let done = import(&project, &there, &file).unwrap();
    assert_eq!(done.imported, ["a", "odd"]);
    assert!(done.lacking.is_empty() && done.ignored.is_empty());
    assert_eq!(world.visible("there"), world.visible("here"));
    assert_eq!(
        fingerprint_of(&project, &there),
        fingerprint_of(&project, &here)
    );
    let done = import(&project, &there, &file).unwrap();
    assert_eq!(done.present, ["a", "odd"]);
    let report = sync_to(&world, "there", &Options::default());
    assert!(
        report
            .outcomes
            .iter()
            .all(|(_, outcome)| matches!(outcome, cairn_deps::sync::Outcome::Fresh(_))),
        "{report:?}"
    );
}

#[test]
fn a_bundle_is_checked_against_the_lock_and_not_against_itself() {
    let world = World::new();
    let (repo, rev) = world.usual("a");
    world.manifest(&world.entry(&repo, &rev, ""));
    must_lock(&world);
    sync_to(&world, "here", &Options::default());
    let project = Project::read(&world.checkout()).unwrap();
    let here = Cache::at(&world.path("here"));
    let locked: Vec<_> = project.lock.entries.iter().collect();
    let file = world.path("b.tar");
    bundle(&here, &locked, &file).unwrap();
    let whole = std::fs::read(&file).unwrap();
    let at = whole
        .windows(5)
        .position(|window| window == b"hello")
        .unwrap();
    let mut changed = whole.clone();
    changed[at] ^= 1;
    let there = Cache::at(&world.path("there"));
    std::fs::write(&file, &changed).unwrap();
    assert!(matches!(
        import(&project, &there, &file),
        Err(DepsError::Hash { .. })
    ));
    // Cut off anywhere, it is refused too.
    for part in [3, 7] {
        std::fs::write(&file, &whole[..whole.len() * part / 8]).unwrap();
        assert!(import(&project, &there, &file).is_err());
    }
    assert_eq!(world.visible("there"), [""; 0]);
    assert_eq!(world.partials("there"), [""; 0]);
    // What another lock names is left out, and said.
    std::fs::write(&file, &whole).unwrap();
    repo.write("more", "more");
    let newer = repo.commit("newer");
    world.manifest(&world.entry(&repo, &newer, ""));
    must_lock(&world);
    let project = Project::read(&world.checkout()).unwrap();
    let done = import(&project, &there, &file).unwrap();
    assert_eq!(
        (done.ignored.len(), done.lacking),
        (1, vec!["a".to_owned()])
    );
}

#[test]
fn a_tree_that_is_not_as_locked_goes_into_no_bundle() {
    let world = World::new();
    let (repo, rev) = world.usual("a");
    world.manifest(&world.entry(&repo, &rev, ""));
    must_lock(&world);
    let project = Project::read(&world.checkout()).unwrap();
    let cache = Cache::at(&world.path("here"));
    let locked: Vec<_> = project.lock.entries.iter().collect();
    let file = world.path("b.tar");
    assert!(matches!(
        bundle(&cache, &locked, &file),
        Err(DepsError::Missing { .. })
    ));
    sync_to(&world, "here", &Options::default());
    flip(&cache.tree(locked[0]).join("README.md"));
    assert!(matches!(
        bundle(&cache, &locked, &file),
        Err(DepsError::Changed { .. })
    ));
    assert!(!file.exists());
}
