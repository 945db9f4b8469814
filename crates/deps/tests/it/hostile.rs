//! Repositories and bundles that mean harm: refused, with nothing left behind.

use cairn_deps::{Cache, DepsError, Project};

use crate::fixture::World;
use crate::sync::lock;

/// Locking the only project must be refused with these words.
fn refused(world: &World, words: &str) {
    let (_, result) = lock(world).pop().unwrap();
    let error = result.unwrap_err();
    assert!(error.to_string().contains(words), "{words}: {error}");
    assert_eq!(world.partials("lock-cache"), [""; 0], "{words}");
    assert_eq!(world.visible("lock-cache"), [""; 0], "{words}");
    let project = Project::read(&world.checkout()).unwrap();
    assert!(project.lock.entries.is_empty(), "{words}");
}

#[test]
fn trees_that_reach_out_are_refused() {
    let world = World::new();
    let repo = world.repo("evil");
    repo.write("f", "f");
    repo.commit("usual");
    let blob = repo.blob("#!/bin/sh\ntouch harmed\n");
    let out = repo.blob("../../outside");
    let absolute = repo.blob("/etc/passwd");
    let empty = repo.git_with(&["mktree"], "");
    let hooks = repo.git_with(&["mktree"], format!("100755 blob {blob}\tpost-checkout\n"));
    type Entries<'a> = &'a [(&'a str, &'a str, &'a str)];
    let table: [(Entries<'_>, &str); 8] = [
        (&[("120000", "link", &out)], "out of the tree"),
        (&[("120000", "link", &absolute)], "out of the tree"),
        (&[("40000", ".git", &hooks)], "git's own"),
        (&[("40000", ".GIT", &hooks)], "git's own"),
        (&[("100644", "..", &blob)], "no name"),
        (&[("40000", "..", &hooks)], "no name"),
        (
            &[("100644", "Makefile", &blob), ("100644", "makefile", &blob)],
            "in case only",
        ),
        (
            &[("120000", "d", &out), ("40000", "d", &empty)],
            "there twice",
        ),
    ];
    for (entries, words) in table {
        let rev = repo.commit_raw(entries);
        world.manifest(&world.entry(&repo, &rev, ""));
        refused(&world, words);
    }
    assert!(!world.path("outside").exists());
}

#[test]
fn submodules_that_lead_away_are_refused() {
    for (address, words) in [
        (
            "../../../../../../../../../../../../etc",
            "out of its parent's server",
        ),
        ("ext::sh -c 'touch harmed'", "spaces"),
        ("--upload-pack=touch", "begin with `-`"),
        ("http://host.invalid/x", "only https"),
    ] {
        let world = World::new();
        let (inner, inner_rev) = world.usual("inner");
        let (repo, _) = world.usual("evil");
        repo.write(
            ".gitmodules",
            format!("[submodule \"x\"]\n\tpath = sub\n\turl = {address}\n"),
        );
        repo.git(&[
            "update-index",
            "--add",
            "--cacheinfo",
            &format!("160000,{inner_rev},sub"),
        ]);
        repo.git(&["add", ".gitmodules"]);
        repo.git(&["commit", "--quiet", "--message", "submodule"]);
        let rev = repo.git(&["rev-parse", "HEAD"]);
        world.manifest(&world.entry(&repo, &rev, "submodules = \"all\""));
        refused(&world, words);
        assert!(inner.path.is_dir());
    }
}

#[test]
fn no_hook_and_no_template_of_anybody_runs() {
    let world = World::new();
    let (repo, _) = world.usual("a");
    let harmed = world.path("harmed");
    let script = format!("#!/bin/sh\ntouch {}\n", harmed.display());
    for hook in [
        "post-checkout",
        "post-merge",
        "reference-transaction",
        "post-index-change",
        "pre-auto-gc",
    ] {
        repo.write(&format!(".git/hooks/{hook}"), &script);
        repo.executable(&format!(".git/hooks/{hook}"));
        // In the tree too, where a careless checkout would make them its own.
        repo.write(&format!("hooks/{hook}"), &script);
        repo.executable(&format!("hooks/{hook}"));
    }
    let rev = repo.commit("hooks");
    // Committing runs some of them: only what comes after counts.
    drop(std::fs::remove_file(&harmed));
    world.manifest(&world.entry(&repo, &rev, ""));
    let (_, result) = lock(&world).pop().unwrap();
    result.unwrap();
    assert!(!harmed.exists());
    let stores = world.path("lock-cache/.objects");
    for entry in std::fs::read_dir(stores).unwrap() {
        assert!(!entry.unwrap().path().join("hooks").exists());
    }
}

/// Writes a bundle by hand: its head, then these members.
fn bundle(world: &World, members: &[(&str, tar::EntryType, &str)]) -> std::path::PathBuf {
    let path = world.path("evil.tar");
    let mut builder = tar::Builder::new(std::fs::File::create(&path).unwrap());
    let mut add = |name: &str, kind: tar::EntryType, content: &str| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(0o644);
        let is_link = kind == tar::EntryType::Symlink || kind == tar::EntryType::Link;
        header.set_size(if is_link { 0 } else { content.len() as u64 });
        // By hand: the library would refuse such names.
        let field = header.as_gnu_mut().unwrap();
        field.name[..name.len()].copy_from_slice(name.as_bytes());
        if is_link {
            field.linkname[..content.len()].copy_from_slice(content.as_bytes());
        }
        header.set_cksum();
        let content = if is_link { "" } else { content };
        builder.append(&header, content.as_bytes()).unwrap();
    };
    add("cairn-third-party-bundle", tar::EntryType::Regular, "1\n");
    for (name, kind, content) in members {
        add(name, *kind, content);
    }
    builder.finish().unwrap();
    path
}

#[test]
fn bundles_are_unpacked_by_the_same_rules() {
    use tar::EntryType::{Directory, Fifo, Link, Regular, Symlink};
    let world = World::new();
    let (repo, rev) = world.usual("a");
    world.manifest(&world.entry(&repo, &rev, ""));
    crate::sync::must_lock(&world);
    let project = Project::read(&world.checkout()).unwrap();
    let tree = project.lock.get("a").unwrap().tree_name();
    let inside = |name: &str| format!("{tree}/{name}");
    let table = [
        (inside("../outside"), Regular, "x", "no name"),
        (inside(".git/config"), Regular, "x", "git's own"),
        (inside("no/folder"), Regular, "x", "in no folder"),
        (inside("hard"), Link, "/etc/passwd", "neither file"),
        (inside("pipe"), Fifo, "", "neither file"),
        (inside("out"), Symlink, "../../..", "out of the tree"),
        (inside("f"), Regular, "x", "has the hash"),
    ];
    for (name, kind, content, words) in table {
        let file = bundle(&world, &[(&tree, Directory, ""), (&name, kind, content)]);
        let cache = Cache::at(&world.path("cache"));
        let error = cairn_deps::bundle::import(&project, &cache, &file).unwrap_err();
        assert!(error.to_string().contains(words), "{words}: {error}");
        assert_eq!(world.visible("cache"), [""; 0], "{words}");
        assert_eq!(world.partials("cache"), [""; 0], "{words}");
    }
    // Through a link that the bundle made itself.
    let through = inside("l/x");
    let link = inside("l");
    let file = bundle(
        &world,
        &[
            (&tree, Directory, ""),
            (&link, Symlink, "/tmp"),
            (&through, Regular, "x"),
        ],
    );
    let cache = Cache::at(&world.path("cache"));
    let error = cairn_deps::bundle::import(&project, &cache, &file).unwrap_err();
    assert!(error.to_string().contains("in no folder"), "{error}");
    for content in [
        "",
        "no archive at all, however long it may be: it needs five hundred and twelve bytes",
    ] {
        let file = world.path("none.tar");
        std::fs::write(&file, content.repeat(20)).unwrap();
        let error = cairn_deps::bundle::import(&project, &cache, &file).unwrap_err();
        assert!(matches!(error, DepsError::Bundle { .. }), "{error}");
    }
}
