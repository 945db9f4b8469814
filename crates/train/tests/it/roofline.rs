//! `bench roofline`: what it says of one layer.

use cairn_launch::request::{Bench, BenchSubject, Command, Device};
use serde_json::Value;

use crate::engine::{Ended, Workspace, process};
use crate::gpu;

/// The rows of a tiny model's layer, with this many workgroups of each launch run.
fn rows(sample: &str) -> Vec<Value> {
    let Device::Hip(device) = gpu::device() else {
        unreachable!("a GPU is asked for");
    };
    let workspace = Workspace::with_model("llama_tiny.yaml", &["precision=bf16", "seq_length=64"]);
    let bench = Bench {
        subject: BenchSubject::Roofline {
            experiment: Box::new(workspace.experiment()),
            device,
        },
        repeats: 1,
        peer: None,
    };
    let mut process = process(&Command::Bench(Box::new(bench)), 2);
    process.env("CAIRN_SIM", "gfx942:1");
    process.env("CAIRN_SIM_SAMPLE", sample);
    let ended: Ended = process.output().unwrap().into();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    serde_json::from_str(&ended.stdout).unwrap()
}

#[test]
fn a_layer_has_its_products_and_every_kernel_a_time() {
    if !gpu::ready() {
        return;
    }
    let rows = rows("2");
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    // Seven matrices: one product forward, and two backward.
    for backward in [false, true] {
        let products = rows.iter().filter(|row| {
            row["backward"] == backward && text(row, "kernel").starts_with("gemm_bf16")
        });
        assert_eq!(products.count(), if backward { 14 } else { 7 });
    }
    for row in &rows {
        assert!(row["micros"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["bytes"].as_u64().unwrap() > 0, "{row}");
        assert_ne!(row["op"], "assign", "gradients are made in place: {row}");
    }
    // 2 m n k, with 2 x 64 tokens.
    let query = rows
        .iter()
        .find(|row| row["scope"] == "self_attn.q_proj" && row["backward"] == false);
    assert_eq!(query.unwrap()["flops"], 2 * 128 * 64 * 64);
}
