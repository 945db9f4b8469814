//! Rules of every text file: nothing that is true on one machine only.

use super::{Fault, Source};

/// Beginnings of paths that exist on somebody's machine.
const PATHS: [&str; 5] = [
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/Us", "ers/"),
    concat!("/wo", "rk/"),
    concat!("/opt/pe", "er"),
];

/// Hosts of package registries and mirrors: cargo's own configuration knows them.
const HOSTS: [&str; 5] = [
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("py", "pi.org"),
    concat!("files.python", "hosted.org"),
    concat!("registry.npm", "js.org"),
];

pub(super) fn check(sources: &[Source]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for source in sources {
        for (number, line) in source.text.lines().enumerate() {
            let place = || format!("{}:{}", source.path, number + 1);
            for path in PATHS.iter().filter(|path| starts_a_path(line, path)) {
                faults.push(Fault::new(
                    "absolute-paths",
                    place(),
                    format!("names `{path}`, which is on one machine only"),
                ));
            }
            for host in HOSTS.iter().filter(|host| line.contains(*host)) {
                faults.push(Fault::new(
                    "registry-hosts",
                    place(),
                    format!("names the registry host `{host}`"),
                ));
            }
            if line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ") {
                faults.push(Fault::new(
                    "conflict-markers",
                    place(),
                    "is a conflict marker",
                ));
            }
        }
    }
    faults
}

/// True when `path` stands in the line as the beginning of an absolute path,
/// not as a part of a longer one such as `src/work/plan.rs`.
fn starts_a_path(line: &str, path: &str) -> bool {
    line.match_indices(path)
        .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-/*}".contains(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Vec<&'static str> {
        let source = Source {
            path: "docs/note.md".to_owned(),
            text: text.to_owned(),
        };
        check(&[source])
            .into_iter()
            .map(|fault| fault.rule)
            .collect()
    }

    #[test]
    fn each_rule_can_fail_and_only_when_it_should() {
        assert_eq!(
            rules(concat!("see /ho", "me/someone/x")),
            ["absolute-paths"]
        );
        assert_eq!(rules(concat!("see \"/wo", "rk/main\"")), ["absolute-paths"]);
        assert_eq!(rules(concat!("see crates/ro", "ot/src")), [""; 0]);
        assert_eq!(
            rules(concat!("from https://py", "pi.org/simple")),
            ["registry-hosts"]
        );
        assert_eq!(
            rules("<<<<<<< ours\n=======\n>>>>>>> theirs\n"),
            ["conflict-markers"; 2]
        );
        assert_eq!(rules("plain /usr/bin/env text"), [""; 0]);
    }
}
