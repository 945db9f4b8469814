//! `plan estimate`: what a run needs, said before it runs.

use cairn_launch::request::{Command, PlanEstimate};
use serde_json::Value;

use crate::engine::{How, Workspace, run};

fn estimate(workspace: &Workspace) -> Value {
    let ended = run(
        &Command::PlanEstimate(Box::new(PlanEstimate {
            experiment: workspace.experiment(),
        })),
        0,
    );
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    serde_json::from_str(&ended.stdout).unwrap()
}

fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("{value} is no count"))
}

fn sum(rows: &Value) -> u64 {
    rows.as_array()
        .unwrap()
        .iter()
        .map(|row| number(&row[1]))
        .sum()
}

#[test]
fn llama_8b_is_planned_without_being_allocated() {
    let mut workspace =
        Workspace::with_model("llama3.1_8B.yaml", &["seq_length=8192", "precision=bf16"]);
    workspace.change(&["micro_batch_size=1", "global_batch_size=1"]);
    let plan = estimate(&workspace);
    println!("planned in {} ms, as the engine says", plan["planning_ms"]);
    let parameters = number(&plan["parameters"]);
    assert_eq!(parameters, 8_030_261_248);
    let memory = &plan["memory"];
    assert_eq!(number(&memory["parameters"]), 4 * parameters);
    assert_eq!(number(&memory["moments"]), 8 * parameters);
    let parts = [
        "parameters",
        "copies",
        "gradients",
        "moments",
        "arena",
        "checkpoint_copy",
    ];
    assert_eq!(
        number(&memory["total"]),
        parts.iter().map(|part| number(&memory[part])).sum::<u64>()
    );
    // Holes between buffers are no one's: the arena may be a little larger
    // than what is alive in it.
    let (by_scope, arena) = (sum(&plan["peak_by_scope"]), number(&memory["arena"]));
    println!("alive at the peak {by_scope}, arena {arena}");
    assert!(
        by_scope <= arena && arena - by_scope < arena / 50,
        "{by_scope} of {arena}"
    );
    // Forward 2, backward 4 for each weight of a product and token; attention
    // and the recomputed logits on top of that.
    let tokens = number(&plan["tokens_per_step"]);
    assert_eq!(tokens, 8192);
    let products = parameters - 128_256 * 4096;
    let flops = number(&plan["flops_per_step"]) as f64 / (6 * products * tokens) as f64;
    println!("{flops:.3} times 6 N T");
    assert!((1.0..1.4).contains(&flops), "{flops}");
    assert!(!workspace.run_dir().exists(), "an estimate writes nothing");
}

#[test]
fn recomputation_trades_memory_for_work() {
    let plan = |granularity: &str| {
        let recompute = format!("recompute_granularity={granularity}");
        estimate(&Workspace::new("bench_28M", &[&recompute]))
    };
    let (none, selective, full) = (plan("none"), plan("selective"), plan("full"));
    let arena = |plan: &Value| number(&plan["memory"]["arena"]);
    let flops = |plan: &Value| number(&plan["flops_per_step"]);
    assert!(arena(&full) < arena(&selective) && arena(&selective) < arena(&none));
    assert!(flops(&full) > flops(&selective) && flops(&selective) >= flops(&none));
    assert_eq!(number(&none["recompute_flops_per_step"]), 0);
    for plan in [&selective, &full] {
        let again = number(&plan["recompute_flops_per_step"]);
        assert_eq!(flops(plan) - again, flops(&none));
    }
}

#[test]
fn the_estimate_for_28m_is_what_the_system_counts() {
    // Without a checkpoint before the end, and with one in the middle, beside
    // which training goes on from another copy of its state.
    let cases = [("bf16", 0), ("f32", 0), ("bf16", 2), ("f32", 2)];
    for (precision, save_interval) in cases {
        let workspace = Workspace::new(
            "bench_28M",
            &[
                "train_iters=3",
                &format!("precision={precision}"),
                &format!("save_interval={save_interval}"),
            ],
        );
        let plan = estimate(&workspace);
        assert_eq!(number(&plan["parameters"]), 27_795_968);
        let copied = number(&plan["memory"]["checkpoint_copy"]);
        let states = if save_interval > 0 {
            12 * 27_795_968
        } else {
            0
        };
        assert_eq!(copied, states, "{precision}");
        workspace.complete(How::default());
        let text = std::fs::read_to_string(workspace.run_dir().join("metrics.jsonl")).unwrap();
        let last: Value = serde_json::from_str(text.lines().next_back().unwrap()).unwrap();
        assert_eq!(last["step"], 3);
        let (predicted, measured) = (number(&plan["memory"]["total"]), number(&last["mem_bytes"]));
        let ratio = predicted as f64 / measured as f64;
        println!(
            "{precision}, a save every {save_interval}: predicted {predicted}, VmHWM {measured}, ratio {ratio:.4}"
        );
        assert!(
            (0.9..=1.1).contains(&ratio),
            "{precision}, a save every {save_interval}: predicted {predicted}, measured {measured}"
        );
    }
}

/// Every model preset that ships, by name.
fn presets() -> Vec<String> {
    let folder = crate::common::root().join("configs/models/native");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn every_model_preset_has_an_estimate() {
    let (mut planned, mut counted) = (0, 0);
    for preset in presets() {
        let workspace = Workspace::with_model(&preset, &["seq_length=128", "precision=bf16"]);
        let experiment = workspace.experiment().native;
        let plan = estimate(&workspace);
        let count = cairn_config::native::parameters(&experiment.model);
        assert_eq!(number(&plan["parameters"]), count.total, "{preset}");
        let tokens = number(&plan["tokens_per_step"]);
        assert_eq!(tokens, experiment.training.tokens_per_step() as u64);
        let memory = &plan["memory"];
        assert_eq!(number(&memory["parameters"]), 4 * count.total, "{preset}");
        assert_eq!(number(&memory["copies"]), 2 * count.matrices, "{preset}");
        assert_eq!(number(&memory["gradients"]), 4 * count.total, "{preset}");
        assert_eq!(number(&memory["moments"]), 8 * count.total, "{preset}");
        if plan["planned"] == true {
            planned += 1;
            // The closed form, where a graph can tell whether it is right.
            // Elementwise work and the second look at the logits come on top.
            let closed = cairn_train::commands::plan::flops_per_token(
                &experiment.model,
                &experiment.training,
            );
            let ratio = number(&plan["flops_per_step"]) as f64 / (closed * tokens) as f64;
            if count.total > 400_000_000 {
                assert!((1.0..1.12).contains(&ratio), "{preset}: {ratio}");
            }
        } else {
            counted += 1;
            let flops = number(&plan["flops_per_token"]);
            assert_eq!(number(&plan["flops_per_step"]), flops * tokens, "{preset}");
            assert!(flops > 6 * (count.active - 2 * count.embedding), "{preset}");
            let parts = ["parameters", "copies", "gradients", "moments"];
            let states: u64 = parts.iter().map(|part| number(&memory[part])).sum();
            assert_eq!(number(&memory["states"]), states, "{preset}");
            assert!(memory.get("total").is_none(), "a total would be a guess");
            let why = plan["not_planned"].as_str().unwrap();
            assert!(why.contains("activations"), "{preset}: {why}");
        }
        assert!(!workspace.run_dir().exists(), "an estimate writes nothing");
    }
    assert_eq!(planned + counted, presets().len());
    assert!(counted >= 8, "{counted} presets without a graph");
}
