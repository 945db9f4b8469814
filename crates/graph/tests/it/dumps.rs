//! Golden dumps, and the stored form.

use cairn_graph::dump::{from_json, to_json, to_text};
use cairn_graph::ops::registry;
use cairn_graph::passes::{
    Recompute, eliminate_common_subexpressions, eliminate_dead_code, fuse, recompute, standard,
};

use crate::models::mlp;

#[test]
fn a_small_model_and_what_each_pass_makes_of_it() {
    let graph = mlp();
    insta::assert_snapshot!("mlp", to_text(&graph));
    let passes = [
        ("cse", eliminate_common_subexpressions(&graph)),
        ("dce", eliminate_dead_code(&graph)),
        ("fuse", fuse(&graph)),
        (
            "recompute_selective",
            recompute(&graph, Recompute::Selective),
        ),
        ("recompute_full", recompute(&graph, Recompute::Full)),
        ("standard", standard(&graph, Recompute::None)),
    ];
    for (name, made) in passes {
        let made = made.unwrap();
        made.verify().unwrap();
        insta::assert_snapshot!(name, to_text(&made));
    }
}

#[test]
fn the_stored_form_reads_back() {
    for graph in [mlp(), standard(&mlp(), Recompute::Full).unwrap()] {
        let stored = to_json(&graph);
        let text = serde_json::to_string(&stored).unwrap();
        let back = from_json(serde_json::from_str(&text).unwrap(), &registry()).unwrap();
        assert_eq!(to_text(&back), to_text(&graph));
        assert_eq!(to_json(&back), stored);
    }
}

#[test]
fn a_file_that_lies_is_refused() {
    type Change = fn(&mut serde_json::Value);
    let changes: [(Change, &str); 7] = [
        (|json| json["version"] = 2.into(), "needs version 1"),
        (
            |json| json["nodes"][0]["op"] = "nothing".into(),
            "unknown operator `nothing`",
        ),
        (
            |json| json["nodes"][0]["more"] = 1.into(),
            "unknown field `more`",
        ),
        (
            |json| json["outputs"][0][1] = 9999.into(),
            "output `loss` names value 9999",
        ),
        (
            |json| json["nodes"][5]["inputs"] = serde_json::json!([0, 77]),
            "before it is made",
        ),
        // Types are inferred again: a norm of the wrong width does not pass.
        (
            |json| json["nodes"][2]["attributes"]["shape"] = serde_json::json!([9]),
            "weight of shape [8]",
        ),
        (
            |json| json["nodes"][5]["attributes"] = serde_json::json!({}),
            "attributes of `rmsnorm`",
        ),
    ];
    for (change, message) in changes {
        let mut json = to_json(&mlp());
        change(&mut json);
        let error = from_json(json, &registry()).unwrap_err().to_string();
        assert!(error.contains(message), "{error} lacks {message}");
    }
}

#[test]
fn the_registry_knows_every_operator_by_the_name_it_reports() {
    // What is in a graph is found in the table under its own name.
    let registry = registry();
    for node in mlp().nodes() {
        let loaded = registry.load(node.op.name(), node.op.attributes()).unwrap();
        assert_eq!(loaded.name(), node.op.name());
        assert_eq!(loaded.attributes(), node.op.attributes());
    }
}
