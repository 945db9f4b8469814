//! Crate edges: a dependency may only point to a lower level.

use cargo_metadata::{DependencyKind, Metadata};

use super::Fault;

/// The level of each crate; see docs/architecture.md.
const LEVELS: &[(&str, u8)] = &[
    ("cairn-base", 0),
    ("cairn-codeobj", 0),
    ("cairn-formats", 0),
    ("cairn-hip-sys", 0),
    ("cairn-layout", 0),
    ("cairn-config", 1),
    ("cairn-deps", 1),
    ("cairn-graph", 1),
    ("cairn-kernels", 1),
    ("cairn-rccl-sys", 1),
    ("cairn-launch", 2),
    ("cairn-nn", 2),
    ("cairn-tensor", 2),
    ("cairn-cdna", 3),
    ("cairn-hip", 3),
    ("cairn-train", 5),
    ("cairn-serve", 5),
    ("xtask", 6),
    // Programs load it; nothing links it.
    ("cairn-cdna-hip", 7),
];

/// All that `xtask` may link: nothing of the engine.
const XTASK_LINKS: &[&str] = &[
    "cairn-base",
    "cairn-codeobj",
    "cairn-config",
    "cairn-deps",
    "cairn-hip-sys",
    "cairn-kernels",
    "cairn-launch",
    "cairn-rccl-sys",
];

pub(super) fn check(metadata: &Metadata) -> Vec<Fault> {
    let mut faults = Vec::new();
    let members = metadata.workspace_packages();
    for package in &members {
        let edges: Vec<&str> = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind != DependencyKind::Development)
            .map(|dependency| dependency.name.as_str())
            .filter(|name| members.iter().any(|member| member.name.as_str() == *name))
            .collect();
        faults.extend(edges_of(package.name.as_str(), &edges));
    }
    faults
}

fn edges_of(from: &str, to: &[&str]) -> Vec<Fault> {
    let level = |name: &str| {
        LEVELS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, level)| *level)
    };
    let fault = |what: String| Fault::new("crate-edges", from, what);
    let Some(own) = level(from) else {
        return vec![fault(
            "has no level: add it to the table in xtask/src/tidy/edges.rs".to_owned(),
        )];
    };
    let mut faults = Vec::new();
    for name in to {
        match level(name) {
            Some(other) if other < own => {}
            Some(other) => faults.push(fault(format!(
                "is of level {own} and depends on {name} of level {other}: edges point to lower levels"
            ))),
            None => faults.push(fault(format!("depends on {name}, which has no level"))),
        }
        if from == "xtask" && !XTASK_LINKS.contains(name) {
            faults.push(fault(format!(
                "links {name}: engine code is reached through a request"
            )));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_edges_to_lower_levels_pass() {
        assert_eq!(
            edges_of("cairn-graph", &["cairn-formats", "cairn-layout"]),
            []
        );
        assert_eq!(edges_of("cairn-graph", &["cairn-tensor"]).len(), 1);
        assert_eq!(edges_of("cairn-base", &["cairn-formats"]).len(), 1);
        assert_eq!(edges_of("cairn-new", &[]).len(), 1);
        assert_eq!(edges_of("cairn-train", &["cairn-new"]).len(), 1);
        assert_eq!(
            edges_of("xtask", &["cairn-launch", "cairn-tensor"]).len(),
            1
        );
    }
}
