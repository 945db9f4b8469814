//! Changing what is locked.

use cairn_deps::manifest::{Submodules, Wanted};
use cairn_deps::sync::Options;
use cairn_deps::url::Url;
use cairn_deps::{Cache, Entry, Project, gc, relock};

use crate::fixture::{Repo, World};
use crate::sync::{must_lock, sync_to};

fn entry(repo: &Repo, wanted: Wanted) -> Entry {
    Entry {
        name: repo.name.clone(),
        url: Url::parse(&repo.url()).unwrap(),
        wanted,
        submodules: Submodules::None,
        patches: Vec::new(),
        licence: None,
        python: vec![".".to_owned()],
        frameworks: vec!["f".to_owned()],
        backend: None,
    }
}

#[test]
fn projects_are_added_moved_and_removed_and_comments_stay() {
    let world = World::new();
    let (repo, first) = world.usual("a");
    world.manifest("# Mine.\n");
    let cache = Cache::at(&world.path("cache"));
    let read = || Project::read(&world.checkout()).unwrap();
    let options = Options::default();
    let branch = entry(&repo, Wanted::Branch("main".to_owned()));
    let (locked, _) = relock::add(&read(), &cache, &branch, &options).unwrap();
    assert_eq!(
        (&locked.rev, locked.wanted.as_deref()),
        (&first, Some("branch main"))
    );
    assert!(
        relock::add(&read(), &cache, &branch, &options).is_err(),
        "was added twice"
    );
    repo.write("new", "new");
    let second = repo.commit("second");
    // A branch moves when it is updated, not when it is synced.
    let report = sync_to(&world, "cache", &options);
    assert!(report.to_lock().is_empty());
    let (locked, _) = relock::update(&read(), &cache, "a", None, &options).unwrap();
    assert_eq!(locked.rev, second);
    let (locked, _) = relock::update(&read(), &cache, "a", Some(&first), &options).unwrap();
    assert_eq!((locked.rev, locked.wanted), (first.clone(), None));
    assert_eq!(
        read().manifest.get("a").unwrap().wanted,
        Wanted::Rev(first.clone())
    );
    assert!(
        relock::update(&read(), &cache, "a", None, &options).is_err(),
        "a revision moved by itself"
    );
    // A revision that does not exist changes neither file.
    let before = read();
    let error = relock::update(&before, &cache, "a", Some(&"0".repeat(40)), &options).unwrap_err();
    assert_eq!(error.diagnostic().code, "deps::no-revision");
    assert_eq!(read().manifest.entries, before.manifest.entries);
    assert_eq!(read().lock.entries, before.lock.entries);
    relock::remove(&read(), "a").unwrap();
    assert!(read().manifest.entries.is_empty() && read().lock.entries.is_empty());
    let text =
        std::fs::read_to_string(world.checkout().join("third_party/third_party.toml")).unwrap();
    assert!(text.contains("# Mine."), "{text}");
}

#[test]
fn tags_are_resolved_to_the_commit_behind_them() {
    let world = World::new();
    let (repo, rev) = world.usual("a");
    repo.git(&["tag", "--annotate", "v1", "--message", "one"]);
    repo.git(&["tag", "plain"]);
    repo.commit("later");
    let cache = Cache::at(&world.path("cache"));
    for tag in ["v1", "plain"] {
        world.manifest("");
        let project = Project::read(&world.checkout()).unwrap();
        let wanted = entry(&repo, Wanted::Tag(tag.to_owned()));
        let (locked, _) = relock::add(&project, &cache, &wanted, &Options::default()).unwrap();
        assert_eq!(locked.rev, rev, "{tag}");
    }
    world.manifest("");
    let project = Project::read(&world.checkout()).unwrap();
    let wanted = entry(&repo, Wanted::Tag("none".to_owned()));
    let error = relock::add(&project, &cache, &wanted, &Options::default()).unwrap_err();
    assert_eq!(error.diagnostic().code, "deps::no-reference");
}

#[test]
fn garbage_is_what_the_lock_does_not_name() {
    let world = World::new();
    let (a, a_rev) = world.usual("a");
    let (b, b_rev) = world.usual("b");
    world.manifest(&(world.entry(&a, &a_rev, "") + &world.entry(&b, &b_rev, "")));
    must_lock(&world);
    sync_to(&world, "cache", &Options::default());
    a.write("new", "new");
    let newer = a.commit("newer");
    world.manifest(&world.entry(&a, &newer, ""));
    must_lock(&world);
    relock::remove(&with_b(&world, &a, &newer, &b, &b_rev), "b").unwrap();
    sync_to(&world, "cache", &Options::default());
    std::fs::create_dir(world.path("cache/.partial-b-99")).unwrap();
    std::fs::write(world.path("cache/notes.txt"), "not ours").unwrap();
    let project = Project::read(&world.checkout()).unwrap();
    let cache = Cache::at(&world.path("cache"));
    let would = gc::gc(&project, &cache, true).unwrap();
    let removed = gc::gc(&project, &cache, false).unwrap();
    assert_eq!(would, removed);
    let tree = project.lock.get("a").unwrap().tree_name();
    let want = ["a".to_owned(), tree, "notes.txt".to_owned()];
    assert_eq!(world.visible("cache"), want);
    assert_eq!(world.partials("cache"), [""; 0]);
    assert!(gc::gc(&project, &cache, false).unwrap().is_empty());
}

/// The project with both entries, whose lock still has the second.
fn with_b(world: &World, a: &Repo, a_rev: &str, b: &Repo, b_rev: &str) -> Project {
    world.manifest(&(world.entry(a, a_rev, "") + &world.entry(b, b_rev, "")));
    Project::read(&world.checkout()).unwrap()
}
