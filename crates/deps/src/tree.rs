//! Names and links inside a tree, hostile until they were looked at: nothing may
//! leave the tree, pass for git's own files, or mean another file elsewhere.

use std::collections::BTreeMap;

use crate::error::DepsError;
use crate::git::{Kind, Listed};

/// What a folder holds, sorted as the archive wants it.
pub(crate) type Dir = BTreeMap<Vec<u8>, Node>;

/// An entry of a folder.
#[derive(Debug)]
pub(crate) enum Node {
    /// A folder.
    Dir(Dir),
    /// A file and its object.
    File {
        /// It may be executed.
        executable: bool,
        /// Its object.
        oid: String,
    },
    /// A symbolic link and the object that holds its target.
    Symlink(String),
    /// A submodule: its folder stays empty here.
    Submodule,
}

/// A tree from git's listing.
pub(crate) fn build(name: &str, listed: &[Listed]) -> Result<Dir, DepsError> {
    let mut root = Dir::new();
    for entry in listed {
        let hostile = |reason: &str| hostile(name, &entry.path, reason);
        let mut dir = &mut root;
        let mut parts = entry.path.split(|byte| *byte == b'/').peekable();
        while let Some(part) = parts.next() {
            if let Some(reason) = bad_name(part) {
                return Err(hostile(reason));
            }
            if parts.peek().is_some() {
                dir = match dir.get_mut(part) {
                    Some(Node::Dir(inner)) => inner,
                    _ => return Err(hostile("is in no folder")),
                };
                continue;
            }
            let node = match entry.kind {
                Kind::Dir => Node::Dir(Dir::new()),
                Kind::File { executable } => Node::File {
                    executable,
                    oid: entry.oid.clone(),
                },
                Kind::Symlink => Node::Symlink(entry.oid.clone()),
                Kind::Submodule => Node::Submodule,
            };
            if dir.insert(part.to_vec(), node).is_some() {
                return Err(hostile("is there twice"));
            }
        }
    }
    Ok(root)
}

/// Why a name may not stand in a tree.
pub(crate) fn bad_name(name: &[u8]) -> Option<&'static str> {
    if name.is_empty() || name == b"." || name == b".." {
        return Some("has a part that is no name");
    }
    if name.iter().any(|byte| matches!(byte, b'/' | 0)) {
        return Some("has a slash or zero in a name");
    }
    // The second is the first's short name on some file systems.
    if name.eq_ignore_ascii_case(b".git") || name.eq_ignore_ascii_case(b"git~1") {
        return Some("would pass for git's own files");
    }
    None
}

/// Two names of one folder that are the same where case does not count.
pub(crate) fn case_collision<'a>(
    names: impl Iterator<Item = &'a [u8]>,
) -> Option<(String, String)> {
    let mut seen = BTreeMap::new();
    for name in names {
        let name = String::from_utf8_lossy(name).into_owned();
        if let Some(other) = seen.insert(name.to_lowercase(), name.clone()) {
            return Some((other, name));
        }
    }
    None
}

/// The first symbolic link that leads out of the tree, with the reason. `links`
/// maps paths to targets; everything else in the tree is no link.
pub(crate) fn bad_link(links: &BTreeMap<Vec<u8>, Vec<u8>>) -> Option<(Vec<u8>, &'static str)> {
    for (path, target) in links {
        let mut parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
        parts.pop();
        let mut hops = 0;
        if let Err(reason) = follow(links, parts, target, &mut hops) {
            return Some((path.clone(), reason));
        }
    }
    None
}

/// Where a target leads from a folder, as a path in the tree.
fn follow<'a>(
    links: &'a BTreeMap<Vec<u8>, Vec<u8>>,
    mut at: Vec<&'a [u8]>,
    target: &'a [u8],
    hops: &mut usize,
) -> Result<Vec<&'a [u8]>, &'static str> {
    // The most that Linux follows.
    const HOPS: usize = 40;
    *hops += 1;
    if *hops > HOPS {
        return Err("is a link that leads in a circle");
    }
    if target.is_empty() || target.starts_with(b"/") {
        return Err("is a link out of the tree");
    }
    for part in target.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                at.pop().ok_or("is a link out of the tree")?;
            }
            part => {
                at.push(part);
                if let Some(target) = links.get(&at.join(&b'/')) {
                    at.pop();
                    at = follow(links, at, target, hops)?;
                }
            }
        }
    }
    Ok(at)
}

/// The error for a path that is refused.
pub(crate) fn hostile(name: &str, path: &[u8], reason: &str) -> DepsError {
    DepsError::Hostile {
        name: name.to_owned(),
        path: String::from_utf8_lossy(path).into_owned(),
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(path: &str, kind: Kind) -> Listed {
        Listed {
            path: path.into(),
            kind,
            oid: "01".to_owned(),
        }
    }

    #[test]
    fn names_that_could_do_harm_are_refused() {
        let file = Kind::File { executable: false };
        for path in [
            "../x",
            "a/../b",
            ".git",
            "a/.GIT/hooks",
            "git~1",
            "./a",
            "",
            "a//b",
        ] {
            let mut list = vec![listed("a", Kind::Dir)];
            list.push(listed(path, file));
            assert!(build("n", &list).is_err(), "{path}");
        }
        // A link that is used as a folder.
        let list = [listed("l", Kind::Symlink), listed("l/f", file)];
        assert!(build("n", &list).is_err());
        let list = [listed("f", file), listed("f", file)];
        assert!(build("n", &list).is_err());
        let list = [listed("d", Kind::Dir), listed("d/.gitignore", file)];
        assert!(build("n", &list).is_ok());
    }

    #[test]
    fn names_that_differ_in_case_only_collide() {
        let collision = |names: &[&str]| case_collision(names.iter().map(|name| name.as_bytes()));
        assert_eq!(collision(&["a", "b", "ab"]), None);
        assert_eq!(
            collision(&["Makefile", "a", "makefile"]),
            Some(("Makefile".to_owned(), "makefile".to_owned()))
        );
        assert!(collision(&["É", "é"]).is_some());
    }

    #[test]
    fn links_stay_in_the_tree_however_they_are_written() {
        let check = |links: &[(&str, &str)]| {
            let links = links
                .iter()
                .map(|(path, target)| (path.as_bytes().to_vec(), target.as_bytes().to_vec()))
                .collect();
            bad_link(&links).map(|(path, _)| String::from_utf8(path).unwrap())
        };
        assert_eq!(
            check(&[("a/l", "../b"), ("l", "a/l"), ("m", "nowhere")]),
            None
        );
        assert_eq!(check(&[("a/b/l", "../../x/../y")]), None);
        assert_eq!(check(&[("l", "/etc")]), Some("l".to_owned()));
        assert_eq!(check(&[("l", "..")]), Some("l".to_owned()));
        assert_eq!(check(&[("a/l", "../../x")]), Some("a/l".to_owned()));
        assert_eq!(check(&[("l", "")]), Some("l".to_owned()));
        // Each link by itself stays inside; one after the other does not.
        let up = ("d/up", "..");
        assert_eq!(check(&[up, ("out", "d/up/../x")]), Some("out".to_owned()));
        assert_eq!(check(&[("a", "b"), ("b", "a")]), Some("a".to_owned()));
    }
}
