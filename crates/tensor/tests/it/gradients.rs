//! Gradient rules against finite differences.

use std::collections::BTreeSet;
use std::sync::Arc;

use cairn_tensor::{Backend, Reference, suite};

use crate::support::pool;

#[test]
fn rules_agree_with_differences() {
    let backend: Arc<dyn Backend> = Arc::new(Reference);
    let checks = suite::gradients(&backend, &pool(1), &suite::rows(), &|_| true).unwrap();
    let failed: Vec<String> = checks
        .iter()
        .filter_map(|check| {
            let failure = check.failure.as_ref()?;
            Some(format!(
                "{} [{}] input {}: {failure}",
                check.op, check.sample, check.input
            ))
        })
        .collect();
    assert_eq!(failed.len(), 0, "{}", failed.join("\n"));
    let ops: BTreeSet<&str> = checks.iter().map(|check| check.op).collect();
    for op in [
        "attention",
        "binary",
        "broadcast",
        "concat",
        "cross_entropy",
        "dropout",
        "embedding",
        "glu",
        "layernorm",
        "matmul",
        "pad",
        "reduce",
        "reshape",
        "rmsnorm",
        "rope",
        "select",
        "slice",
        "softmax",
        "sum_squares",
        "transpose",
        "unary",
    ] {
        assert!(ops.contains(op), "{op} was not checked");
    }
    println!("{} gradients of {} operators", checks.len(), ops.len());
}
