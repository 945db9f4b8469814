//! Rules of Rust sources: module headers, sizes, places of `unsafe`, words
//! that stand for unfinished work.

use super::{Fault, Source};

/// Most lines of a file.
const MAX_LINES: usize = 1000;

/// Files of tables that may be longer.
const LONG_TABLES: [&str; 0] = [];

/// Where `unsafe` may stand: path prefixes, with the reason.
const UNSAFE_PLACES: &[(&str, &str)] = &[
    (
        "crates/cdna/src/matrix/simd.rs",
        "functions compiled for instructions the host has",
    ),
    (
        "crates/cdna/src/valu/level.rs",
        "functions compiled for instructions the host has",
    ),
    (
        "crates/cdna/src/matrix/vector.rs",
        "lanes of AVX-512 and AVX2",
    ),
    (
        "crates/cdna-hip/",
        "HIP's C interface, and the functions behind it",
    ),
    ("crates/hip-sys/", "HIP's C interface"),
    ("crates/hip/src/api.rs", "calls of HIP"),
    ("crates/hip/src/device.rs", "calls of HIP"),
    ("crates/hip/src/host.rs", "pinned memory"),
    ("crates/hip/src/stream.rs", "calls of HIP"),
    ("crates/hip/src/module.rs", "kernel launches"),
    ("crates/rccl-sys/", "RCCL's C interface"),
    ("crates/tensor/src/buffer.rs", "the arena's aligned memory"),
    ("crates/tensor/src/cpu/", "SIMD and tile kernels"),
    ("crates/tensor/src/program/arena.rs", "the executor's arena"),
    ("crates/tensor/src/threads", "the thread pool"),
    (
        "crates/train/src/data/mapped.rs",
        "the one function that maps files",
    ),
];

/// What reads the environment: the registry, and the experiment's `${NAME}`. Tests
/// may read variables of their own, which no user sets.
const ENVIRONMENT_READERS: [&str; 2] = ["crates/base/src/env.rs", "crates/config/src/system.rs"];

/// Fast forms, which must not answer with the form they are compared with.
const FAST_FORMS: &str = "crates/tensor/src/cpu";

pub(super) fn check(sources: &[Source]) -> Vec<Fault> {
    sources
        .iter()
        .filter(|source| source.path.ends_with(".rs"))
        .flat_map(check_file)
        .collect()
}

fn check_file(source: &Source) -> Vec<Fault> {
    let mut faults = Vec::new();
    let path = source.path.as_str();
    let lines = source.text.lines().count();
    if lines > MAX_LINES && !LONG_TABLES.contains(&path) {
        faults.push(Fault::new(
            "file-size",
            path,
            format!("has {lines} lines, more than {MAX_LINES}"),
        ));
    }
    if path.ends_with("/mod.rs") {
        faults.push(Fault::new(
            "no-mod-rs",
            path,
            "is named mod.rs: name it after its module",
        ));
    }
    // A crate attribute may stand above the header.
    let first = source
        .text
        .lines()
        .find(|line| !line.trim().is_empty() && !line.starts_with("#!"));
    if !first.is_some_and(|line| line.starts_with("//!")) {
        faults.push(Fault::new(
            "module-header",
            path,
            "does not begin with a `//!` header",
        ));
    }
    let code = code_only(&source.text);
    let may_be_unsafe = UNSAFE_PLACES
        .iter()
        .any(|(place, _)| path.starts_with(place));
    let is_fast_form = path.starts_with(FAST_FORMS) && !path.ends_with("/tests.rs");
    for (number, line) in code.lines().enumerate() {
        let place = || format!("{path}:{}", number + 1);
        if is_fast_form
            && ["reference", "Reference"]
                .iter()
                .any(|word| has_word(line, word))
        {
            let what = "names the reference: a fast form that calls it is compared with itself";
            faults.push(Fault::new("fast-form", place(), what));
        }
        if !may_be_unsafe && has_word(line, "unsafe") {
            faults.push(Fault::new(
                "unsafe-places",
                place(),
                "`unsafe` outside the listed places",
            ));
        }
        for word in [
            concat!("to", "do!"),
            concat!("unimple", "mented!"),
            concat!("#[ig", "nore"),
        ] {
            if line.contains(word) {
                faults.push(Fault::new(
                    "unfinished",
                    place(),
                    format!("`{word}` stands for unfinished work"),
                ));
            }
        }
        let reads = ["env::var(", "env::var_os(", "env::vars("]
            .iter()
            .any(|call| line.contains(call));
        if reads && !ENVIRONMENT_READERS.contains(&path) && !path.contains("/tests/") {
            let what =
                "reads the environment: add the variable to cairn_base::env and use its `get`";
            faults.push(Fault::new("environment", place(), what));
        }
    }
    faults
}

fn has_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(part) && !line[at + word.len()..].starts_with(part))
}

/// The source with the content of comments, strings and character literals
/// blanked; line breaks stay.
fn code_only(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let length = skipped(
            &chars[at..],
            at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_'),
        );
        if length == 0 {
            code.push(c);
            at += 1;
        } else {
            code.extend(
                chars[at..(at + length).min(chars.len())]
                    .iter()
                    .map(|c| if *c == '\n' { '\n' } else { ' ' }),
            );
            at += length;
        }
    }
    code
}

/// Length of the comment or literal that starts here; 0 if none does.
fn skipped(rest: &[char], inside_word: bool) -> usize {
    match rest {
        ['/', '/', ..] => rest.iter().position(|c| *c == '\n').unwrap_or(rest.len()),
        ['/', '*', ..] => block_comment(rest),
        ['"', ..] => quoted(rest, '"'),
        ['r', '#' | '"', ..] if !inside_word => {
            raw_string(&rest[1..]).map_or(0, |length| length + 1)
        }
        ['b' | 'c', 'r', '#' | '"', ..] if !inside_word => {
            raw_string(&rest[2..]).map_or(0, |length| length + 2)
        }
        ['\'', '\\', ..] => quoted(rest, '\''),
        // Otherwise a lifetime.
        ['\'', _, '\'', ..] => 3,
        _ => 0,
    }
}

fn block_comment(rest: &[char]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match rest[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn quoted(rest: &[char], end: char) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            '\\' => at += 2,
            c if c == end => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// Length of `#"..."#` with any number of hashes; `None` for a raw identifier.
fn raw_string(rest: &[char]) -> Option<usize> {
    let hashes = rest.iter().take_while(|c| **c == '#').count();
    if rest.get(hashes) != Some(&'"') {
        return None;
    }
    let closes = |at: &usize| {
        rest[*at] == '"'
            && rest[at + 1..]
                .iter()
                .take(hashes)
                .filter(|c| **c == '#')
                .count()
                == hashes
    };
    Some(
        (hashes + 1..rest.len())
            .find(closes)
            .map_or(rest.len(), |at| at + 1 + hashes),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str, text: &str) -> Vec<&'static str> {
        let source = Source {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        check(&[source])
            .into_iter()
            .map(|fault| fault.rule)
            .collect()
    }

    #[test]
    fn a_plain_file_passes() {
        assert_eq!(
            rules("crates/a/src/lib.rs", "//! What it is.\n\nfn f() {}\n"),
            [""; 0]
        );
        assert_eq!(
            rules("crates/a/src/main.rs", "#![no_main]\n//! What it is.\n"),
            [""; 0]
        );
        assert_eq!(rules("docs/note.md", "unsafe"), [""; 0]);
    }

    #[test]
    fn each_rule_can_fail() {
        let with = |line: &str| format!("//! Header.\n{line}\n");
        assert_eq!(rules("a/src/b.rs", "fn f() {}\n"), ["module-header"]);
        assert_eq!(rules("a/src/b.rs", ""), ["module-header"]);
        assert_eq!(
            rules("a/src/b.rs", &with(&"//\n".repeat(1000))),
            ["file-size"]
        );
        assert_eq!(rules("a/src/b/mod.rs", &with("")), ["no-mod-rs"]);
        assert_eq!(
            rules("a/src/b.rs", &with(concat!("to", "do!()"))),
            ["unfinished"]
        );
        assert_eq!(
            rules("a/src/b.rs", &with(concat!("#[ig", "nore]"))),
            ["unfinished"]
        );
        assert_eq!(
            rules("a/src/b.rs", &with(concat!("std::env::", "var(\"X\")"))),
            ["environment"]
        );
        let unsafely = with("unsafe { f() }");
        assert_eq!(rules("a/src/b.rs", &unsafely), ["unsafe-places"]);
        assert_eq!(rules("crates/tensor/src/cpu/gemm.rs", &unsafely), [""; 0]);
        let calls = with("use crate::reference;");
        assert_eq!(
            rules("crates/tensor/src/cpu/gemm.rs", &calls),
            ["fast-form"]
        );
        assert_eq!(rules("crates/tensor/src/cpu/tests.rs", &calls), [""; 0]);
    }

    #[test]
    fn comments_and_strings_are_no_code() {
        let text = r##"//! Header.
// unsafe
/* unsafe /* unsafe */ unsafe */
const A: &str = "unsafe \" unsafe";
const B: &str = r#"unsafe " unsafe"#;
const C: char = '"'; const D: char = '\''; fn f<'a>(x: &'a str) {}
fn unsafe_free(not_unsafe: u8) {}
"##;
        assert_eq!(rules("a/src/b.rs", text), [""; 0]);
        let code = code_only("a(\"x\ny\") // z\nunsafe");
        assert_eq!(code, "a(  \n  )     \nunsafe");
    }
}
