//! What `config show` and `config diff` print.

use cairn_config::show;

use crate::fixture::World;

fn world() -> World {
    let mut world = World::default()
        .file("base.yaml", "user_name: base\nmodules: {pre_trainer: {overrides: {seed: 5}}}\n")
        .file("exp.yaml", "extends: base.yaml\nwork_group: g\nuser_name: u\nexp_name: e\nworkspace: ${W:./output}\nmodules:\n  pre_trainer:\n    framework: toy\n    config: p\n    model: m\n    overrides:\n      seed: 6\n      text: \"yes\"\n      lr: 1.0e-5\n")
        .file("configs/modules/toy/p.yaml", "seed: 0\nlist: [1, a]\nnested: [{a: 1}]\n")
        .file("configs/models/toy/m.yaml", "hidden: 8\n")
        .file("configs/platforms/platform_azure.yaml", "name: azure\nnum_nodes_env_key: N\nnode_rank_env_key: R\nmaster_addr_env_key: A\nmaster_port_env_key: P\ngpus_per_node_env_key: G\nmaster_sink_level: INFO\nworkspace: ./output\n");
    world.roots.push("configs".into());
    world
}

#[test]
fn show_prints_the_merged_experiment() {
    let resolved = world().resolve(&["optim.lr=2.0e-3"]).0.unwrap();
    insta::assert_snapshot!(show::yaml(&resolved));
}

#[test]
fn show_with_origins_names_the_place_of_each_value_and_what_it_replaced() {
    let resolved = world().resolve(&["seed=7"]).0.unwrap();
    insta::assert_snapshot!(show::yaml_with_origins(&resolved));
    let json = show::origins_json(&resolved);
    let seed = json
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["path"] == "modules.pre_trainer.params.seed")
        .unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(seed).unwrap());
}

#[test]
fn diff_names_what_changed_what_went_and_what_came() {
    let a = world().resolve(&["only_a=1"]).0.unwrap();
    let b = world()
        .resolve(&["seed=7", "list=[1]", "only_b.x=None"])
        .0
        .unwrap();
    insta::assert_snapshot!(show::diff_text(&show::diff(&a, &b)));
    assert_eq!(show::diff(&a, &a), []);
    let one = world().resolve(&["lr=1"]).0.unwrap();
    let float = world().resolve(&["lr=1.0"]).0.unwrap();
    let rows = show::diff_json(&show::diff(&one, &float));
    assert_eq!(rows[0]["a"]["value"].to_string(), "1");
    assert_eq!(rows[0]["b"]["value"].to_string(), "1.0");
    assert_eq!(rows.as_array().unwrap().len(), 1);
}
