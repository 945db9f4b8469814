//! Wrong input gets one clear diagnostic: code, message, place and next step.

use cairn_base::{Diagnostic, Severity};

use crate::fixture::World;

const PLATFORM: &str = "name: local\nnum_nodes_env_key: null\nnode_rank_env_key: null\nmaster_addr_env_key: null\nmaster_port_env_key: null\ngpus_per_node_env_key: null\nmaster_sink_level: INFO\nworkspace: ./output\n";
const EXPERIMENT: &str = "work_group: g\nuser_name: u\nexp_name: e\nworkspace: ./output\nmodules:\n  pre_trainer:\n    framework: toy\n    config: pre_trainer.yaml\n    model: m1\n    overrides:\n      seed: 1\n";

/// A world in which [`EXPERIMENT`] resolves.
fn world() -> World {
    let mut world = World::default()
        .file("exp.yaml", EXPERIMENT)
        .file(
            "configs/modules/toy/pre_trainer.yaml",
            "seed: 0\noptim: {lr: 1.0, wd: 0.1}\nlayers: 1\n",
        )
        .file("configs/models/toy/m1.yaml", "hidden: 8\nlayers: 2\n")
        .file("configs/platforms/platform_azure.yaml", PLATFORM);
    world.roots.push("configs".into());
    world
}

/// The experiment with `from` replaced by `to`.
fn changed(from: &str, to: &str) -> World {
    assert!(EXPERIMENT.contains(from), "{from}");
    world().file("exp.yaml", EXPERIMENT.replacen(from, to, 1))
}

/// Code, line in the first place (0 without one), message and first hint of
/// everything at or above a severity.
fn found(
    world: &World,
    overrides: &[&str],
    least: Severity,
) -> Vec<(&'static str, usize, String, String)> {
    let (resolved, diagnostics) = world.resolve(overrides);
    assert_eq!(
        resolved.is_none(),
        diagnostics.iter().any(Diagnostic::is_error),
        "a result and errors exclude each other"
    );
    diagnostics
        .iter()
        .filter(|d| d.severity >= least)
        .map(|d| {
            assert!(!d.hints.is_empty(), "{} has no next step", d.code);
            assert!(!d.render(false).is_empty());
            let line = d
                .labels
                .first()
                .map_or(0, |l| l.source.line_column(l.range.start).0);
            (d.code, line, d.message.clone(), d.hints[0].clone())
        })
        .collect()
}

/// Asserts that there is exactly one error, with this code, line, and parts of
/// message and hint.
#[track_caller]
fn error(world: &World, overrides: &[&str], code: &str, line: usize, message: &str, hint: &str) {
    let errors = found(world, overrides, Severity::Error);
    assert_eq!(errors.len(), 1, "{errors:?}");
    check(&errors[0], code, line, message, hint);
}

/// The same for one warning or note and no error.
#[track_caller]
fn warning(world: &World, overrides: &[&str], code: &str, line: usize, message: &str, hint: &str) {
    let all = found(world, overrides, Severity::Note);
    // `layers` of the model preset loses to the module preset in this world.
    let all: Vec<_> = all
        .into_iter()
        .filter(|d| !d.2.contains("`layers` of the model preset"))
        .collect();
    assert_eq!(all.len(), 1, "{all:?}");
    check(&all[0], code, line, message, hint);
    assert!(world.resolve(overrides).0.is_some());
}

#[track_caller]
fn check(
    found: &(&str, usize, String, String),
    code: &str,
    line: usize,
    message: &str,
    hint: &str,
) {
    assert_eq!((found.0, found.1), (code, line), "{found:?}");
    assert!(found.2.contains(message), "{} lacks {message}", found.2);
    assert!(found.3.contains(hint), "{} lacks {hint}", found.3);
}

#[test]
fn the_plain_experiment_resolves() {
    let (resolved, _) = world().resolve(&[]);
    let resolved = resolved.unwrap();
    assert_eq!(resolved.root_path(), "./output/g/u/e");
    assert_eq!(
        resolved.module().unwrap().params.to_json(),
        serde_json::json!({"seed": 1, "optim": {"lr": 1.0, "wd": 0.1}, "layers": 1, "hidden": 8, "model": "m1"})
    );
}

#[test]
fn missing_file() {
    let mut world = world();
    let text = world
        .files
        .remove(std::path::Path::new("exp.yaml"))
        .unwrap();
    error(
        &world,
        &[],
        "config::missing-file",
        0,
        "there is no file exp.yaml",
        "check the path",
    );
    error(
        &world.file("exp.yml", text),
        &[],
        "config::missing-file",
        0,
        "exp.yaml",
        "did you mean exp.yml?",
    );
}

#[test]
fn missing_base() {
    let world = changed("work_group", "extends: [base.yaml]\nwork_group");
    error(
        &world,
        &[],
        "config::missing-file",
        1,
        "base.yaml",
        "check the path",
    );
}

#[test]
fn unknown_preset_names_the_nearest() {
    error(
        &changed("m1", "m2"),
        &[],
        "config::unknown-preset",
        9,
        "there is no model preset `m2` for framework `toy`",
        "did you mean `m1.yaml`?",
    );
    error(
        &changed("pre_trainer.yaml", "x"),
        &[],
        "config::unknown-preset",
        8,
        "there is no module preset `x`",
        "known here: pre_trainer.yaml",
    );
    let (_, diagnostics) = changed("m1", "zzz").resolve(&[]);
    assert_eq!(
        diagnostics[0].hints,
        [
            "known here: m1.yaml",
            "looked for configs/models/toy/zzz.yaml"
        ]
    );
    let both = found(
        &changed("framework: toy", "framework: tay"),
        &[],
        Severity::Error,
    );
    assert_eq!(
        both.iter().map(|d| d.0).collect::<Vec<_>>(),
        ["config::unknown-preset"; 2]
    );
    let mut none = world();
    none.roots.clear();
    assert!(
        found(&none, &[], Severity::Error)
            .iter()
            .all(|d| d.3.contains("--configs DIR"))
    );
}

#[test]
fn a_preset_name_that_leads_outside_is_refused() {
    for name in ["../../../../etc/passwd", "/etc/passwd", "../../../m1"] {
        error(
            &changed("m1", name),
            &[],
            "config::path-escape",
            9,
            "lies outside the preset folders",
            "below the preset root",
        );
    }
    error(
        &changed("modules:", "platform: {config: ../../x}\nmodules:"),
        &[],
        "config::path-escape",
        5,
        "the platform",
        "below the preset root",
    );
    let inside = world().file("configs/models/other/m1.yaml", "hidden: 16\n");
    let inside = inside.file("exp.yaml", EXPERIMENT.replace("m1", "../other/m1.yaml"));
    assert_eq!(
        inside
            .resolve(&[])
            .0
            .unwrap()
            .module()
            .unwrap()
            .params
            .get("hidden")
            .unwrap()
            .as_i64(),
        Some(16)
    );
}

#[test]
fn broken_yaml_shows_the_place() {
    for (from, to, line) in [
        ("work_group: g", "work_group: [g", 2),
        ("work_group: g", "work_group: \"g", 1),
        ("    config", "\tconfig", 7),
        ("exp_name: e", "exp_name: a: b", 3),
    ] {
        let errors = found(&changed(from, to), &[], Severity::Error);
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].0, "config::yaml-syntax");
        assert!(
            errors[0].1 >= line.min(errors[0].1) && errors[0].1 >= 1,
            "{errors:?}"
        );
        assert!(errors[0].2.starts_with("broken YAML: "), "{errors:?}");
    }
    error(
        &changed("    config", "\tconfig"),
        &[],
        "config::yaml-syntax",
        7,
        "broken YAML",
        "tabs",
    );
    error(
        &changed("exp_name: e", "exp_name: e\u{7}"),
        &[],
        "config::yaml-syntax",
        3,
        "U+0007",
        "remove it",
    );
    error(
        &world().file("exp.yaml", [b'a', b':', b' ', 0xff]),
        &[],
        "config::not-utf8",
        1,
        "exp.yaml is not UTF-8",
        "UTF-8",
    );
    error(
        &changed("modules:", "---\nmodules:"),
        &[],
        "config::several-documents",
        5,
        "more than one YAML document",
        "---",
    );
    error(
        &world().file("exp.yaml", "# nothing\n"),
        &[],
        "config::empty-file",
        1,
        "exp.yaml is empty",
        "at least one key",
    );
    error(
        &world().file("exp.yaml", "- a\n"),
        &[],
        "config::not-a-mapping",
        1,
        "holds a list",
        "key: value",
    );
    error(
        &changed("seed: 1", "seed: 2026-02-30"),
        &[],
        "config::bad-scalar",
        11,
        "the month has no such day",
        "quotes",
    );
    error(
        &changed("seed: 1", "seed: !!python/name:os.system x"),
        &[],
        "config::bad-scalar",
        11,
        "not supported",
        "quotes",
    );
    error(
        &changed("seed: 1", "{a: 1}: 1"),
        &[],
        "config::complex-key",
        11,
        "cannot be a key",
        "quotes",
    );
    error(
        &changed("seed: 1", "<<: 1"),
        &[],
        "config::bad-merge",
        11,
        "`<<` merges a mapping",
        "anchor",
    );
    error(
        &changed("seed: 1", "a: &a [*a]"),
        &[],
        "config::yaml-syntax",
        11,
        "alias of itself",
        "write the value out",
    );
}

#[test]
fn extends_in_a_circle_names_the_circle() {
    let world = changed("work_group", "extends: a.yaml\nwork_group")
        .file("a.yaml", "extends: sub/b.yaml\n")
        .file("sub/b.yaml", "extends:\n- ../a.yaml\n");
    error(
        &world,
        &[],
        "config::extends-cycle",
        2,
        "a.yaml -> sub/b.yaml -> a.yaml",
        "remove one",
    );
    let itself = changed("work_group", "extends: ./exp.yaml\nwork_group");
    error(
        &itself,
        &[],
        "config::extends-cycle",
        1,
        "exp.yaml -> exp.yaml",
        "remove one",
    );
    error(
        &changed("work_group", "extends:\nwork_group"),
        &[],
        "config::bad-extends",
        1,
        "not null",
        "remove the key",
    );
    error(
        &changed("work_group", "extends: [1]\nwork_group"),
        &[],
        "config::bad-extends",
        1,
        "not an integer",
        "base.yaml",
    );
}

#[test]
fn missing_variables_are_all_named_where_they_are_used() {
    let world = changed("seed: 1", "a: ${A}\n      b: [\"${B} ${C}\"]");
    let errors = found(&world, &[], Severity::Error);
    let shown: Vec<_> = errors.iter().map(|d| (d.0, d.1, d.2.as_str())).collect();
    assert_eq!(
        shown,
        [
            (
                "config::missing-variable",
                11,
                "the environment variable `A` is not set"
            ),
            (
                "config::missing-variable",
                12,
                "the environment variable `B` is not set"
            ),
            (
                "config::missing-variable",
                12,
                "the environment variable `C` is not set"
            ),
        ]
    );
    assert_eq!(errors[0].3, "set it, or give a default: `${A:default}`");
    let set = world
        .variable("A", "1")
        .variable("B", "x")
        .variable("C", "");
    assert_eq!(
        set.resolve(&[])
            .0
            .unwrap()
            .module()
            .unwrap()
            .params
            .get("b.0")
            .unwrap()
            .as_str(),
        Some("x ")
    );
    // A base's variable is needed even where its value is overridden.
    let base = changed("work_group", "extends: base.yaml\nwork_group")
        .file("base.yaml", "user_name: ${A}\n");
    error(
        &base,
        &[],
        "config::missing-variable",
        1,
        "`A` is not set",
        "default",
    );
}

#[test]
fn required_keys() {
    for (key, line) in [
        ("work_group", "work_group: g\n"),
        ("user_name", "user_name: u\n"),
        ("exp_name", "exp_name: e\n"),
        ("workspace", "workspace: ./output\n"),
    ] {
        error(
            &changed(line, ""),
            &[],
            "config::missing-key",
            1,
            &format!("lacks `{key}`"),
            key,
        );
    }
    let nothing = found(&world().file("exp.yaml", "a: 1\n"), &[], Severity::Error);
    assert_eq!(
        nothing.len(),
        5,
        "all missing keys show at once: {nothing:?}"
    );
    for (line, missing) in [
        ("    framework: toy\n", "lacks framework"),
        ("    config: pre_trainer.yaml\n", "lacks config"),
        ("    model: m1\n", "lacks model"),
    ] {
        error(
            &changed(line, ""),
            &[],
            "config::missing-key",
            7,
            missing,
            "framework: native",
        );
    }
    error(
        &changed("pre_trainer:", "evaluator:"),
        &[],
        "config::unknown-module",
        7,
        "`evaluator`",
        "pre_trainer",
    );
    error(
        &changed(EXPERIMENT.split_once("modules:").unwrap().1, " {}"),
        &[],
        "config::missing-key",
        5,
        "`modules` is empty",
        "pre_trainer",
    );
    error(
        &changed(EXPERIMENT.split_once("modules:").unwrap().1, " 1"),
        &[],
        "config::not-a-mapping",
        5,
        "`modules` is a mapping, not an integer",
        "key: value",
    );
}

#[test]
fn names_are_text() {
    error(
        &changed("exp_name: e", "exp_name: 123"),
        &[],
        "config::wrong-type",
        3,
        "`exp_name` must be text, and this is read as an integer",
        "quotes",
    );
    error(
        &changed("exp_name: e", "exp_name: ${N:123}"),
        &[],
        "config::wrong-type",
        3,
        "an integer",
        "run-1",
    );
    error(
        &changed("exp_name: e", "exp_name:"),
        &[],
        "config::wrong-type",
        3,
        "null",
        "quotes",
    );
    error(
        &changed("exp_name: e", "exp_name: \"\""),
        &[],
        "config::wrong-type",
        3,
        "empty",
        "such as",
    );
    assert_eq!(
        world().resolve(&["exp_name=123"]).0.unwrap().root_path(),
        "./output/g/u/123"
    );
    warning(
        &changed("exp_name: e", "exp_name: ../e"),
        &[],
        "config::run-dir-escape",
        3,
        "leads out",
        "workspace",
    );
}

#[test]
fn platforms() {
    let with = |text: &str| changed("modules:", &format!("platform: {text}\nmodules:"));
    error(
        &with("null"),
        &[],
        "config::bad-platform",
        5,
        "not null",
        "platform_azure.yaml",
    );
    error(
        &with("x"),
        &[],
        "config::bad-platform",
        5,
        "not text",
        "platform_azure.yaml",
    );
    error(
        &with("{overrides: {}}"),
        &[],
        "config::missing-key",
        5,
        "lacks `config`",
        "platform_azure.yaml",
    );
    error(
        &with("{config: platform_azur.yaml}"),
        &[],
        "config::unknown-preset",
        5,
        "there is no platform `platform_azur.yaml`",
        "did you mean `platform_azure.yaml`?",
    );
    error(
        &with("{config: short.yaml}").file("configs/platforms/short.yaml", "name: x\n"),
        &[],
        "config::missing-key",
        1,
        "the platform lacks num_nodes_env_key",
        "platform.overrides",
    );
    warning(
        &with("{config: platform_azure.yaml, name: x}"),
        &[],
        "config::ignored-key",
        5,
        "`platform.name` has no effect",
        "platform.overrides",
    );
    let set = world()
        .resolve(&["platform.overrides.name=mine"])
        .0
        .unwrap();
    assert_eq!(set.platform.get("name").unwrap().as_str(), Some("mine"));
}

#[test]
fn silent_traps_are_warned_of() {
    for (to, code, message, hint) in [
        (
            "seed: 1e-4",
            "config::number-as-text",
            "`seed` is read as the text \"1e-4\"",
            "write 1.0e-4",
        ),
        (
            "seed: 157.0e12",
            "config::number-as-text",
            "157.0e12",
            "write 157.0e+12",
        ),
        (
            "seed: -.5",
            "config::number-as-text",
            "-.5",
            "decimal digits",
        ),
        (
            "seed: 012",
            "config::odd-number",
            "written 012 and read as 10",
            "decimal",
        ),
        (
            "seed: 12:30:45",
            "config::odd-number",
            "read as 45045",
            "quotes",
        ),
        (
            "seed: yes",
            "config::odd-boolean",
            "written yes and read as true",
            "write true",
        ),
        (
            "seed: \"null\"",
            "config::null-text",
            "is read as null",
            "without quotes",
        ),
        (
            "fresh: {deep: \"null\"}",
            "config::null-text",
            "`fresh.deep` stays the text",
            "without quotes",
        ),
        (
            "seed: ${A:-5}",
            "config::bash-default",
            "the default of `A` is `-5`",
            "${NAME:default}",
        ),
        (
            "seed: ${A:\"\"}",
            "config::quoted-default",
            "two quote characters",
            "${NAME:}",
        ),
        (
            "seed: ${A:${B}}",
            "config::nested-default",
            "ends at the first",
            "without `${`",
        ),
        (
            "optim: {extends: x}",
            "config::inner-extends",
            "`optim.extends` loads nothing",
            "top of the file",
        ),
        (
            "_private: 1",
            "config::ignored-key",
            "the name is reserved",
            "rename",
        ),
        (
            "on: 1",
            "config::odd-key",
            "read as a boolean; its name becomes `true`",
            "quotes",
        ),
    ] {
        warning(&changed("seed: 1", to), &[], code, 11, message, hint);
    }
    warning(
        &changed("seed: 1", "seed: 1\n      seed: 2"),
        &[],
        "config::duplicate-key",
        12,
        "`seed` is given twice",
        "remove one",
    );
    warning(
        &changed("    overrides", "    params: {a: 1}\n    overrides"),
        &[],
        "config::ignored-key",
        10,
        "`modules.pre_trainer.params` has no effect",
        "overrides",
    );
    warning(
        &changed("    overrides", "    seed: 3\n    overrides"),
        &[],
        "config::ignored-key",
        10,
        "the module preset sets it too",
        "overrides",
    );
    warning(
        &changed("modules:", "modulus: 1\nmodules:"),
        &[],
        "config::unknown-key",
        5,
        "`modulus` is no key",
        "did you mean `modules`?",
    );
    let bases = world().file("configs/models/toy/m1.yaml", "bases: [x.yaml]\n");
    warning(
        &bases,
        &[],
        "config::bases-key",
        1,
        "`bases` loads nothing",
        "extends",
    );
    let all = found(&world(), &[], Severity::Warning);
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(
        all[0]
            .2
            .contains("`layers` of the model preset has no effect"),
        "{all:?}"
    );
}

#[test]
fn overrides_are_warned_of() {
    warning(
        &world(),
        &["lr=1e-4"],
        "config::number-as-text",
        1,
        "`lr` is read as the text",
        "write 1.0e-4",
    );
    warning(
        &world(),
        &["lr=null"],
        "config::null-text",
        1,
        "not as null",
        "write None",
    );
    warning(
        &world(),
        &["sead=2"],
        "config::unknown-override",
        1,
        "`sead` is a new parameter",
        "did you mean `seed`?",
    );
    warning(
        &world(),
        &["optim.wdd=2"],
        "config::unknown-override",
        1,
        "`optim.wdd`",
        "did you mean `optim.wd`?",
    );
    warning(
        &world(),
        &["modules.pre_trainer.seed=2"],
        "config::unknown-override",
        1,
        "a parameter `modules`",
        "leave the prefix out",
    );
    warning(
        &world(),
        &["model=m2"],
        "config::model-override",
        1,
        "not the model preset",
        "modules.pre_trainer.model",
    );
    warning(
        &world(),
        &["seed"],
        "config::ignored-argument",
        1,
        "",
        "key=value",
    );
}

#[test]
fn env_block() {
    let with = |text: &str| changed("modules:", &format!("env: {text}\nmodules:"));
    error(
        &with("[a]"),
        &[],
        "config::not-a-mapping",
        5,
        "`env` is a mapping",
        "key: value",
    );
    error(
        &with("{A: [1]}"),
        &[],
        "config::wrong-type",
        5,
        "`env.A` is a list",
        "quotes",
    );
    error(
        &with("{\"A=B\": 1}"),
        &[],
        "config::bad-variable",
        5,
        "no name of an environment variable",
        "letters",
    );
    warning(
        &with("{A: yes}"),
        &[],
        "config::odd-variable",
        5,
        "exported as the text `True`",
        "quotes",
    );
    let set = with("{A: 1, B: 1.5, C: \"$HOME/x\"}")
        .variable("HOME", "/h")
        .resolve(&["env.A=2"])
        .0
        .unwrap();
    assert_eq!(
        set.env.to_json(),
        serde_json::json!({"A": "2", "B": "1.5", "C": "/h/x"})
    );
}

#[test]
fn a_root_may_extend_a_preset_of_another_root() {
    let mut world = world()
        .file("mine/models/toy/m9.yaml", "extends: m1.yaml\nhidden: 9\n")
        .file("exp.yaml", EXPERIMENT.replace("m1", "m9"));
    world.roots.insert(0, "mine".into());
    let params = world
        .resolve(&[])
        .0
        .unwrap()
        .module()
        .unwrap()
        .params
        .to_json();
    assert_eq!(params["hidden"], 9);
}

#[test]
fn of_two_modules_the_one_asked_for_gets_the_overrides() {
    let two = EXPERIMENT.to_owned()
        + "  post_trainer:\n    framework: toy\n    config: pre_trainer.yaml\n    model: m1\n";
    let resolved = world()
        .file("exp.yaml", two.clone())
        .resolve(&["seed=9"])
        .0
        .unwrap();
    assert_eq!(resolved.module().unwrap().name, "pre_trainer");
    assert_eq!(
        resolved
            .module_named("post_trainer")
            .unwrap()
            .params
            .get("seed")
            .unwrap()
            .as_i64(),
        Some(0)
    );
    assert_eq!(
        resolved
            .module()
            .unwrap()
            .params
            .get("seed")
            .unwrap()
            .as_i64(),
        Some(9)
    );
    let neither = two.replace("  pre_trainer:", "  a_trainer:");
    error(
        &world().file("exp.yaml", neither),
        &[],
        "config::unknown-module",
        1,
        "has no module `pre_trainer`",
        "it has a_trainer, post_trainer",
    );
}

#[test]
fn names_that_are_mistyped_are_guessed() {
    error(
        &changed("pre_trainer:", "pre_traner:"),
        &[],
        "config::unknown-module",
        7,
        "pre_traner",
        "did you mean `pre_trainer`?",
    );
    let mistyped = found(
        &changed("framework: toy", "framework: natve"),
        &[],
        Severity::Warning,
    );
    let guess = mistyped
        .iter()
        .find(|one| one.0 == "config::unknown-framework");
    let (_, line, _, hint) = guess.expect("a warning beside the missing presets");
    assert_eq!((*line, hint.as_str()), (7, "did you mean `native`?"));
    assert!(mistyped.len() > 1, "there is no such preset folder");
    let other = found(&world(), &[], Severity::Warning);
    assert!(other.iter().all(|one| one.0 != "config::unknown-framework"));
}
