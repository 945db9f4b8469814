//! Patches of this checkout: what each must say about itself, and applying them
//! so that a hunk which no longer fits is an error that names it.

use std::path::Path;

use cairn_base::{Diagnostic, FileErrorKind, files, hash};

use crate::error::DepsError;
use crate::git::Git;
use crate::manifest::Entry;

/// Their place in a checkout; a folder a project in it.
pub const DIR: &str = "third_party/patches";

/// What the lines above a patch's first change must say.
const HEADER: [&str; 3] = ["Why:", "Upstream:", "Drop-when:"];

/// A patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Its file name.
    pub file: String,
    /// SHA-256 of the file, in hex.
    pub sha256: String,
    /// The file.
    pub bytes: Vec<u8>,
}

/// The patches of a project, in the order they apply.
///
/// # Errors
/// When one cannot be read, has no proper header, or is not listed in the manifest.
pub fn read(project: &Path, entry: &Entry) -> Result<Vec<Patch>, DepsError> {
    let dir = project.join(DIR).join(&entry.name);
    let mut patches = Vec::new();
    for file in &entry.patches {
        let bytes = files::read(&dir.join(file))?;
        check_header(&entry.name, file, &String::from_utf8_lossy(&bytes))?;
        patches.push(Patch {
            file: file.clone(),
            sha256: hash::sha256(&bytes),
            bytes,
        });
    }
    for file in list(&dir)? {
        if file.ends_with(".patch") && !entry.patches.contains(&file) {
            let message = format!("{DIR}/{}/{file} is not listed in the manifest", entry.name);
            return Err(DepsError::Wrong(Box::new(
                Diagnostic::error("deps::patch-list", message).hint(format!(
                    "add it to `patches` of `{}` in third_party/third_party.toml, or remove the file",
                    entry.name
                )),
            )));
        }
    }
    Ok(patches)
}

/// The file names in a folder that may be absent.
fn list(dir: &Path) -> Result<Vec<String>, DepsError> {
    match crate::nar::sorted_entries(dir) {
        Ok(entries) => Ok(entries
            .into_iter()
            .map(|(name, _)| name.to_string_lossy().into_owned())
            .collect()),
        Err(error) if error.kind == FileErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

fn check_header(name: &str, file: &str, text: &str) -> Result<(), DepsError> {
    let header: Vec<&str> = text
        .lines()
        .take_while(|line| !line.starts_with("diff ") && !line.starts_with("--- "))
        .collect();
    for key in HEADER {
        let said = header.iter().any(|line| {
            line.strip_prefix(key)
                .is_some_and(|rest| !rest.trim().is_empty())
        });
        if !said {
            let message = format!("{DIR}/{name}/{file} does not say `{key}`");
            return Err(DepsError::Wrong(Box::new(
                Diagnostic::error("deps::patch-header", message).hint(format!(
                    "begin the file with lines `{}`",
                    HEADER.join(" ...`, `")
                )),
            )));
        }
    }
    Ok(())
}

/// Applies patches to a tree, each wholly or not at all.
///
/// # Errors
/// [`DepsError::Patch`] for the first that does not apply.
pub fn apply(git: &Git, name: &str, tree: &Path, patches: &[Patch]) -> Result<(), DepsError> {
    for patch in patches {
        let exec = git
            .local()
            // No repository above the cache may have a say.
            .env("GIT_CEILING_DIRECTORIES", tree.parent().unwrap_or(tree))
            .args(["apply", "--whitespace=nowarn", "-"])
            .cwd(tree)
            .stdin(patch.bytes.clone());
        let (status, output) = git.capture(&exec)?;
        if !status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(failure(name, patch, &said));
        }
    }
    Ok(())
}

/// Git says `error: patch failed: FILE:LINE`, where LINE is the hunk's first in
/// the old file, or `error: FILE: reason`.
fn failure(name: &str, patch: &Patch, said: &str) -> DepsError {
    let errors: Vec<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix("error: "))
        .collect();
    let failed = errors
        .iter()
        .find_map(|line| line.strip_prefix("patch failed: ")?.rsplit_once(':'));
    let (file, hunk, reason) = match failed {
        Some((file, line)) => {
            let hunk = hunk_at(&String::from_utf8_lossy(&patch.bytes), file, line);
            let reason = format!("what it changes at line {line} is different now");
            (file.to_owned(), hunk, reason)
        }
        None => {
            let first = errors.first().copied().unwrap_or(said.trim());
            let (file, reason) = first.split_once(": ").unwrap_or((&patch.file, first));
            (file.to_owned(), None, reason.to_owned())
        }
    };
    DepsError::Patch {
        name: name.to_owned(),
        patch: patch.file.clone(),
        file,
        hunk,
        reason,
    }
}

/// The number, from 1, of the hunk of `file` that begins at `line` of the old file.
fn hunk_at(patch: &str, file: &str, line: &str) -> Option<usize> {
    let mut current = "";
    let mut count = 0;
    for text in patch.lines() {
        if let Some(old) = text.strip_prefix("--- ") {
            let old = old.split('\t').next().unwrap_or(old);
            current = old.split_once('/').map_or(old, |(_, path)| path);
            count = 0;
        } else if let Some(range) = text.strip_prefix("@@ -") {
            count += 1;
            let start = range.split([',', ' ']).next();
            if current == file && start == Some(line) {
                return Some(count);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "Why: w\nUpstream: u\nDrop-when: d\n\n--- a/dir/f\n+++ b/dir/f\n\
        @@ -1,2 +1,2 @@\n-a\n+b\n c\n@@ -9,1 +9,1 @@\n-x\n+y\n--- a/g\n+++ b/g\n@@ -9 +9 @@\n-q\n+r\n";

    fn patch() -> Patch {
        Patch {
            file: "1.patch".to_owned(),
            sha256: String::new(),
            bytes: PATCH.into(),
        }
    }

    #[test]
    fn a_header_says_why_where_and_until_when() {
        assert!(check_header("a", "1.patch", PATCH).is_ok());
        for (key, value) in HEADER.into_iter().zip(["w", "u", "d"]) {
            let without = PATCH.replace(key, "X:");
            assert!(check_header("a", "1.patch", &without).is_err(), "{key}");
            let empty = PATCH.replace(&format!("{key} {value}"), key);
            assert!(check_header("a", "1.patch", &empty).is_err(), "{key}");
        }
    }

    #[test]
    fn hunk_and_file_of_a_failure_are_named() {
        let of = |said: &str| failure("a", &patch(), said).to_string();
        let said = "error: patch failed: dir/f:9\nerror: dir/f: patch does not apply\n";
        assert!(of(said).contains("hunk 2 of dir/f"), "{}", of(said));
        let said = "error: patch failed: g:9\nerror: g: patch does not apply\n";
        assert!(of(said).contains("hunk 1 of g"), "{}", of(said));
        let said = "error: g: No such file or directory\n";
        assert!(of(said).contains("g: No such file"), "{}", of(said));
    }
}
