//! Our NAR hash is the one of `nix hash path`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use cairn_deps::nar;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::Nix;

/// A tree to be made.
#[derive(Clone, Debug)]
enum Tree {
    File { content: Vec<u8>, mode: u32 },
    Link(Vec<u8>),
    Dir(BTreeMap<Vec<u8>, Tree>),
}

impl Tree {
    fn make(&self, path: &Path) {
        match self {
            Self::File { content, mode } => {
                fs::write(path, content).unwrap();
                fs::set_permissions(path, fs::Permissions::from_mode(*mode)).unwrap();
            }
            Self::Link(target) => symlink(OsStr::from_bytes(target), path).unwrap(),
            Self::Dir(entries) => {
                fs::create_dir(path).unwrap();
                for (name, entry) in entries {
                    entry.make(&path.join(OsStr::from_bytes(name)));
                }
            }
        }
    }
}

fn file(content: &[u8]) -> Tree {
    Tree::File {
        content: content.to_vec(),
        mode: 0o644,
    }
}

fn dir(entries: impl IntoIterator<Item = (&'static str, Tree)>) -> Tree {
    let named = entries.into_iter();
    Tree::Dir(
        named
            .map(|(name, entry)| (name.as_bytes().to_vec(), entry))
            .collect(),
    )
}

/// Our hash and Nix's.
fn hashes(nix: &Nix, path: &Path) -> (String, String) {
    let ours = nar::hash_path(path).unwrap().to_string();
    (ours, nix.text(&["hash", "path", path.to_str().unwrap()]))
}

#[test]
fn trees_of_each_kind_hash_alike() {
    let Some(nix) = Nix::new() else { return };
    let executable = |mode| Tree::File {
        content: b"#!/bin/sh\n".to_vec(),
        mode,
    };
    let lengths = [
        0,
        1,
        7,
        8,
        9,
        (1 << 18) - 1,
        1 << 18,
        (1 << 18) + 1,
        40 << 20,
    ];
    let contents = lengths.map(|length: usize| {
        let bytes: Vec<u8> = (0..length).map(|at| (at * 31 % 251) as u8).collect();
        (format!("{length} bytes"), file(&bytes))
    });
    let odd = [
        " ", ".a", "..a", "-", "--", "a", "A", "a-", "a.", "aa", "é", "e\u{301}", "日本", "\n",
        "\t", "\\", "'", "\"", "$HOME", "*", "~", "#", "\u{1}", "\u{7f}", "%2f", "a b",
    ];
    let bytes = [
        vec![0x80],
        vec![0xff, 0xfe],
        vec![b'a', 0xc3],
        vec![b'x'; 255],
    ];
    let names = odd.iter().map(|name| name.as_bytes().to_vec()).chain(bytes);
    let table: Vec<(String, Tree)> = [
        ("an empty folder", dir([])),
        (
            "empty folders",
            dir([("a", dir([])), ("b", dir([("c", dir([]))]))]),
        ),
        ("a file alone", file(b"x")),
        ("a link alone", Tree::Link(b"to/nothing".to_vec())),
        (
            "links",
            dir([
                ("up", Tree::Link(b"../..".to_vec())),
                ("root", Tree::Link(b"/".to_vec())),
                ("itself", Tree::Link(b"itself".to_vec())),
                ("to folder", Tree::Link(b"folder".to_vec())),
                ("bytes", Tree::Link(vec![0xff, b'\n', 0x80])),
                ("long", Tree::Link(vec![b'y'; 4000])),
                ("folder", dir([("f", file(b""))])),
            ]),
        ),
        (
            "modes",
            dir([
                ("all", executable(0o755)),
                ("owner", executable(0o700)),
                ("none", executable(0o644)),
                ("group and others", executable(0o655)),
                ("setuid", executable(0o4755)),
                ("read only", executable(0o444)),
            ]),
        ),
        (
            "odd names",
            Tree::Dir(names.map(|name| (name, file(b"n"))).collect()),
        ),
    ]
    .map(|(what, tree)| (what.to_owned(), tree))
    .into_iter()
    .chain(contents)
    .collect();
    for (number, (what, tree)) in table.iter().enumerate() {
        let path = nix.path().join(format!("tree{number}"));
        tree.make(&path);
        let (ours, theirs) = hashes(&nix, &path);
        assert_eq!(ours, theirs, "{what}");
    }
}

/// Names of any bytes that a file system takes.
fn name() -> impl Strategy<Value = Vec<u8>> {
    let letters = "[-.aAbB_é]{1,4}".prop_map(String::into_bytes);
    let bytes = prop::collection::vec(any::<u8>(), 1..12);
    prop_oneof![3 => letters, 1 => bytes].prop_filter("is no name", |name| {
        !name.contains(&0) && !name.contains(&b'/') && name != b"." && name != b".."
    })
}

fn tree() -> impl Strategy<Value = Tree> {
    let mode = prop_oneof![Just(0o644), Just(0o755), Just(0o700), Just(0o444)];
    let content = prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..40),
        1 => (any::<u8>(), 0..600_000usize).prop_map(|(byte, length)| vec![byte; length]),
    ];
    let file = (content, mode).prop_map(|(content, mode)| Tree::File { content, mode });
    let leaf = prop_oneof![3 => file, 1 => name().prop_map(Tree::Link)];
    leaf.prop_recursive(4, 40, 8, |inner| {
        prop::collection::btree_map(name(), inner, 0..8).prop_map(Tree::Dir)
    })
}

#[test]
fn random_trees_hash_alike() {
    let Some(nix) = Nix::new() else { return };
    let config = Config {
        cases: 64,
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&tree(), |tree| {
        let dir = tempfile::tempdir_in(nix.path()).unwrap();
        let root = dir.path().join("tree");
        tree.make(&root);
        let (ours, theirs) = hashes(&nix, &root);
        prop_assert_eq!(ours, theirs);
        Ok(())
    });
    outcome.unwrap();
}
