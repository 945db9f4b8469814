//! Which tree counts, and when it is refused.

use cairn_deps::resolve::{Named, Origin, candidates, fingerprint, taken, used};
use cairn_deps::sync::Options;
use cairn_deps::{Cache, DepsError, Project};

use crate::fixture::{World, flip};
use crate::sync::{must_lock, sync_to};

const BACKEND: &str = "frameworks = [\"f\"]\nbackend = \"f\"";

#[test]
fn the_first_place_that_holds_files_counts() {
    let world = World::new();
    let (repo, rev) = world.usual("a");
    world.manifest(&world.entry(&repo, &rev, BACKEND));
    must_lock(&world);
    let project = Project::read(&world.checkout()).unwrap();
    let entry = project.manifest.get_or_backend("f").unwrap();
    let cache = Cache::at(&world.path("cache"));
    let (flag, variable) = (world.path("flag"), world.path("variable"));
    let checkout = world.checkout().join("third_party/a");
    let named = Named {
        flag: Some(flag.clone()),
        variable: Some(variable.clone()),
    };
    let origin = || taken(&candidates(&project, &cache, entry, &named)).map(|(origin, _)| origin);
    assert_eq!(origin(), None);
    sync_to(&world, "cache", &Options::default());
    assert_eq!(origin(), Some(Origin::Cache));
    for (path, want) in [
        (checkout, Origin::Checkout),
        (variable, Origin::Variable),
        (flag, Origin::Flag),
    ] {
        let before = origin();
        std::fs::create_dir(&path).unwrap();
        assert_eq!(origin(), before, "an empty folder was a hit");
        std::fs::write(path.join("f"), "").unwrap();
        assert_eq!(origin(), Some(want));
    }
    let all = candidates(&project, &cache, entry, &named);
    assert!(all[3].reason.starts_with("not needed"), "{all:?}");
    // What comes with a backend is not where the backend is.
    world.manifest(&world.entry(&repo, &rev, "frameworks = [\"f\"]"));
    let project = Project::read(&world.checkout()).unwrap();
    let all = candidates(&project, &cache, project.manifest.get("a").unwrap(), &named);
    assert_eq!(
        taken(&all).map(|(origin, _)| origin),
        Some(Origin::Checkout)
    );
}

#[test]
fn a_dirty_checkout_is_refused_until_it_is_wanted() {
    let world = World::new();
    let (repo, rev) = world.usual("a");
    world.manifest(&world.entry(&repo, &rev, BACKEND));
    must_lock(&world);
    sync_to(&world, "cache", &Options::default());
    let project = Project::read(&world.checkout()).unwrap();
    let cache = Cache::at(&world.path("cache"));
    let entries: Vec<_> = project.manifest.entries.iter().collect();
    let look = |dirty| used(&project, &cache, &entries, &Named::default(), dirty);
    let locked = fingerprint(&look(false).unwrap());
    let checkout = world.checkout().join("third_party/a");
    repo.clone_to(&checkout, &rev);
    // A clean checkout is the same tree in another place.
    let clean = look(false).unwrap();
    assert_eq!((clean[0].origin, clean[0].dirty), (Origin::Checkout, false));
    assert_eq!(fingerprint(&clean), locked);
    std::fs::write(checkout.join("src/extra.py"), "").unwrap();
    let errors = look(false).unwrap_err();
    let DepsError::Changed { changes, path, .. } = &errors[0] else {
        panic!("{errors:?}")
    };
    assert_eq!(
        (changes.as_slice(), path),
        (["src/extra.py was added".to_owned()].as_slice(), &checkout)
    );
    let hints = errors[0].diagnostic().hints;
    assert!(
        hints.iter().any(|hint| hint.contains("--allow-dirty")),
        "{hints:?}"
    );
    let dirty = look(true).unwrap();
    assert!(dirty[0].dirty);
    assert_ne!(fingerprint(&dirty), locked);
}

#[test]
fn a_byte_a_mode_and_a_file_are_noticed_whatever_the_times_say() {
    use std::os::unix::fs::PermissionsExt;
    type Change = fn(&std::path::Path);
    let table: [(&str, Change); 3] = [
        ("src/deep/er/data.bin has other content", |tree| {
            flip(&tree.join("src/deep/er/data.bin"));
        }),
        ("run.sh is no longer executable", |tree| {
            std::fs::set_permissions(tree.join("run.sh"), std::fs::Permissions::from_mode(0o444))
                .unwrap();
        }),
        ("src/deep/.hidden was added", |tree| {
            crate::fixture::open_up(&tree.join("src/deep"));
            std::fs::write(tree.join("src/deep/.hidden"), "").unwrap();
        }),
    ];
    for (want, change) in table {
        let world = World::new();
        let (repo, rev) = world.usual("a");
        world.manifest(&world.entry(&repo, &rev, BACKEND));
        must_lock(&world);
        sync_to(&world, "cache", &Options::default());
        let project = Project::read(&world.checkout()).unwrap();
        let cache = Cache::at(&world.path("cache"));
        let locked = project.lock.get("a").unwrap();
        let tree = cache.tree(locked);
        cache.verify(locked, &tree).unwrap();
        change(&tree);
        let error = cache.verify(locked, &tree).unwrap_err();
        assert!(error.to_string().contains(want), "{want}: {error}");
    }
}
