//! What a revision's tree holds.

use super::{Git, Store};
use crate::error::DepsError;

/// What a name in a tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A folder.
    Dir,
    /// A file.
    File {
        /// It may be executed.
        executable: bool,
    },
    /// A symbolic link; its object holds the target.
    Symlink,
    /// A revision of another repository.
    Submodule,
}

/// An entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Its path in the tree.
    pub(crate) path: Vec<u8>,
    /// What it is.
    pub(crate) kind: Kind,
    /// Its object; for a submodule its revision.
    pub(crate) oid: String,
}

/// Everything in the tree of a revision, folders before what they hold.
pub(crate) fn listing(git: &Git, store: &Store, rev: &str) -> Result<Vec<Listed>, DepsError> {
    let exec = store
        .local(git)
        .args(["ls-tree", "-r", "-t", "-z", "--full-tree", rev]);
    let (status, output) = git.capture(&exec)?;
    let damaged = |reason: String| DepsError::Store {
        path: store.path().to_path_buf(),
        reason,
    };
    if !status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(damaged(said.trim().to_owned()));
    }
    let lines = output.stdout.split(|byte| *byte == 0);
    lines
        .filter(|line| !line.is_empty())
        .map(|line| parse(line).ok_or_else(|| damaged("its trees cannot be read".to_owned())))
        .collect()
}

/// `<mode> SP <type> SP <object> TAB <path>`.
fn parse(line: &[u8]) -> Option<Listed> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let (head, path) = (std::str::from_utf8(&line[..tab]).ok()?, &line[tab + 1..]);
    let mut words = head.split(' ');
    let (mode, _, oid) = (words.next()?, words.next()?, words.next()?);
    let kind = match mode {
        "040000" => Kind::Dir,
        "120000" => Kind::Symlink,
        "160000" => Kind::Submodule,
        "100755" => Kind::File { executable: true },
        // Old trees have other modes for plain files; git takes them as one.
        _ if mode.starts_with("100") => Kind::File { executable: false },
        _ => return None,
    };
    Some(Listed {
        path: path.to_vec(),
        kind,
        oid: oid.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_tree_are_read() {
        let listed = |kind, path: &[u8]| Listed {
            path: path.to_vec(),
            kind,
            oid: "01".to_owned(),
        };
        let table: &[(&[u8], _)] = &[
            (b"040000 tree 01\ta", Some(listed(Kind::Dir, b"a"))),
            (
                b"100755 blob 01\ta/b\tc",
                Some(listed(Kind::File { executable: true }, b"a/b\tc")),
            ),
            (
                b"100664 blob 01\t\xff",
                Some(listed(Kind::File { executable: false }, b"\xff")),
            ),
            (b"120000 blob 01\tl", Some(listed(Kind::Symlink, b"l"))),
            (b"160000 commit 01\ts", Some(listed(Kind::Submodule, b"s"))),
            (b"999 blob 01\tx", None),
            (b"nonsense", None),
        ];
        for (line, want) in table {
            assert_eq!(parse(line), *want, "{}", String::from_utf8_lossy(line));
        }
    }
}
