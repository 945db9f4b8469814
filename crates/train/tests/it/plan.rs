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
    let parts = ["parameters", "copies", "gradients", "moments", "arena"];
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
    for precision in ["bf16", "f32"] {
        let workspace = Workspace::new(
            "bench_28M",
            &["train_iters=3", &format!("precision={precision}")],
        );
        let plan = estimate(&workspace);
        assert_eq!(number(&plan["parameters"]), 27_795_968);
        workspace.complete(How::default());
        let text = std::fs::read_to_string(workspace.run_dir().join("metrics.jsonl")).unwrap();
        let last: Value = serde_json::from_str(text.lines().next_back().unwrap()).unwrap();
        assert_eq!(last["step"], 3);
        let (predicted, measured) = (number(&plan["memory"]["total"]), number(&last["mem_bytes"]));
        let ratio = predicted as f64 / measured as f64;
        println!("{precision}: predicted {predicted}, VmHWM {measured}, ratio {ratio:.4}");
        assert!(
            (0.9..=1.1).contains(&ratio),
            "{precision}: predicted {predicted}, measured {measured}"
        );
    }
}
