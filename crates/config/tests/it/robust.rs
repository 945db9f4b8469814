//! Nothing panics, hangs or grows without bound, whatever the bytes.

use std::time::Instant;

use cairn_config::yaml;
use proptest::prelude::*;

use crate::fixture::World;

const CORPUS: &[&str] = &[
    "work_group: ${T:amd}\nuser_name: u\nexp_name: &n e\nworkspace: ./o\nplatform: {config: p.yaml, overrides: {a: null}}\nenv: {A: 1, B: $HOME}\nmodules:\n  pre_trainer:\n    framework: toy\n    config: c\n    model: m\n    overrides:\n      a: [1, 2.5, yes, ~, 0x1f, 12:30, 2026-01-02]\n      b: {<<: &x {c: 1}, d: *n}\n      e: |\n        text\n      f: >-\n        folded\n        text\n      \"g\": 'it''s'\n",
    "a: &a [1, 2]\nb: [*a, *a]\nc: !!str 1\n? d\n: e\n",
    "extends: exp.yaml\n",
    "modules: {pre_trainer: {framework: native, config: c, model: m, overrides: {lr: 1e-4}}}\n",
    "{a: {b: {c: [[[]]]}}}",
    "%YAML 1.1\n--- !!map\na: 1\n...\n",
    "é: \"\\u00e9\\x41\\n\"\nü: ${é:ö}\n",
];

fn world(experiment: Vec<u8>) -> World {
    let mut world = World::default()
        .file("c/modules/toy/c.yaml", "a: {b: 1}\nc: 2\n")
        .file("c/models/toy/m.yaml", "extends: n.yaml\nd: 3\n")
        .file("c/models/toy/n.yaml", "e: 3\n")
        .file("c/platforms/p.yaml", "name: x\nnum_nodes_env_key: null\nnode_rank_env_key: null\nmaster_addr_env_key: null\nmaster_port_env_key: null\ngpus_per_node_env_key: null\nmaster_sink_level: INFO\nworkspace: w\n")
        .file("exp.yaml", experiment)
        .variable("HOME", "/home");
    world.roots.push("c".into());
    world
}

/// Resolves and shows; whatever is printed about it is rendered too.
fn exercise(experiment: Vec<u8>, overrides: &[&str]) {
    let (resolved, diagnostics) = world(experiment).resolve(overrides);
    assert!(resolved.is_some() || !diagnostics.is_empty());
    for diagnostic in &diagnostics {
        assert!(!diagnostic.render(false).is_empty());
        assert!(diagnostic.to_json().is_object());
    }
    if let Some(resolved) = resolved {
        let shown = cairn_config::show::yaml(&resolved);
        assert!(!cairn_config::show::yaml_with_origins(&resolved).is_empty());
        assert!(
            yaml::read("shown", shown.into_bytes(), &mut Vec::new())
                .1
                .is_some()
        );
    }
}

fn code_of(text: impl Into<Vec<u8>>) -> Option<&'static str> {
    let mut diagnostics = Vec::new();
    let (_, value) = yaml::read("test", text.into(), &mut diagnostics);
    assert_eq!(
        value.is_none(),
        diagnostics.iter().any(cairn_base::Diagnostic::is_error)
    );
    diagnostics.iter().find(|d| d.is_error()).map(|d| d.code)
}

#[test]
fn the_corpus_is_read() {
    for text in CORPUS {
        exercise(text.as_bytes().to_vec(), &["a=1", "--b.c", "[1, (2,)]"]);
    }
}

#[test]
fn alias_bombs_are_refused() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    assert_eq!(code_of(bomb), Some("config::too-large"));
    let mut merges = String::from("a0: &a0 {x: 1, y: 2}\n");
    for level in 1..40 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        merges.push_str(&format!(
            "a{level}: &a{level} {{<<: [{aliases}], k{level}: 1}}\n"
        ));
    }
    assert_eq!(code_of(merges), Some("config::too-large"));
    let mut text = format!("a: &a \"{}\"\nb:\n", "x".repeat(1 << 20));
    text.push_str(&"- *a\n".repeat(1000));
    assert_eq!(code_of(text), Some("config::too-large"));
}

#[test]
fn depth_is_bounded_in_every_style() {
    assert_eq!(code_of("[".repeat(1_000_000)), Some("config::too-deep"));
    assert_eq!(code_of("{a: ".repeat(1_000_000)), Some("config::too-deep"));
    assert_eq!(code_of("- ".repeat(1_000_000)), Some("config::too-deep"));
    let nested: String = (0..2000)
        .map(|depth| format!("{}a:\n", " ".repeat(depth)))
        .collect();
    assert_eq!(code_of(nested), Some("config::too-deep"));
    // Aliases add their own depth to that of the place they stand in.
    let mut tower = format!("a0: &a0 {}1{}\n", "[".repeat(100), "]".repeat(100));
    tower.push_str(&format!("a1: {}*a0{}\n", "[".repeat(100), "]".repeat(100)));
    assert_eq!(code_of(tower), Some("config::too-deep"));
    let fine = format!(
        "a: {}1{}\n",
        "[".repeat(yaml::MAX_DEPTH - 1),
        "]".repeat(yaml::MAX_DEPTH - 1)
    );
    assert_eq!(code_of(fine), None);
}

#[test]
fn size_is_bounded() {
    assert_eq!(
        code_of(format!("a: {}", "x".repeat(100 << 20))),
        Some("config::too-large")
    );
    assert_eq!(
        code_of(format!("a: {}", "x".repeat(yaml::MAX_BYTES - 10))),
        None
    );
    assert_eq!(
        code_of(format!("[{}]", "a,".repeat(2_000_000))),
        Some("config::too-large")
    );
    assert_eq!(
        code_of(format!("a: {}", "9".repeat(1 << 20))),
        Some("config::bad-scalar")
    );
}

#[test]
fn many_faults_do_not_multiply_messages() {
    let text = "a: 1\n".repeat(10_000);
    let mut diagnostics = Vec::new();
    assert!(
        yaml::read("test", text.into_bytes(), &mut diagnostics)
            .1
            .is_some()
    );
    assert!(diagnostics.len() <= 50, "{}", diagnostics.len());
}

#[test]
fn extends_that_double_at_each_level_are_bounded() {
    let mut world = world(b"extends: [x0.yaml, x0.yaml]\n".to_vec());
    for level in 0..60 {
        let next = level + 1;
        world = world.file(
            &format!("x{level}.yaml"),
            format!("extends: [x{next}.yaml, ./x{next}.yaml]\n"),
        );
    }
    world = world.file("x60.yaml", "a: 1\n");
    let started = Instant::now();
    let (resolved, diagnostics) = world.resolve(&[]);
    assert!(resolved.is_none() && !diagnostics.is_empty());
    eprintln!("resolved in {:?}", started.elapsed());
}

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        exercise(bytes, &[]);
    }

    #[test]
    fn any_text_in_yaml_letters(text in "[-a-d0-9:{}\\[\\],&*!|>'\"%@` \n\t#?<~$.]{0,120}", token in ".{0,40}") {
        exercise(text.into_bytes(), &[&token]);
    }

    #[test]
    fn mutated_experiments(which in 0..CORPUS.len(), edits in proptest::collection::vec((any::<u16>(), any::<u8>(), 0..4u8), 0..8)) {
        let mut bytes = CORPUS[which].as_bytes().to_vec();
        for (at, byte, kind) in edits {
            let at = usize::from(at) % (bytes.len() + 1);
            match kind {
                0 => bytes.insert(at, byte % 128),
                1 if at < bytes.len() => { bytes.remove(at); }
                2 if at < bytes.len() => bytes[at] = byte % 128,
                _ => bytes.truncate(at.max(20)),
            }
        }
        exercise(bytes, &["a.b=1"]);
    }
}
