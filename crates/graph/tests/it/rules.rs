//! What a graph refuses.

use cairn_formats::DType;
use cairn_graph::ops::{Assign, Reduce, ReduceKind, Slice, Transpose};
use cairn_graph::{Graph, GraphError, TensorType};

use crate::models::ty;

#[test]
fn operators_refuse_with_scope_types_and_reason() {
    let mut g = Graph::new();
    let a = g.add_input("a", ty(&[2, 3])).unwrap();
    let b = g.add_input("b", ty(&[4, 5])).unwrap();
    let error = g.scoped("layers.3", |g| g.matmul(a, b, false)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "operator `matmul` in `layers.3` sums over 3 elements on the left and 4 on the right \
         (inputs: f32[2,3], f32[4,5])"
    );
    let half = g
        .add_input("half", TensorType::new(DType::F16, [2, 3]))
        .unwrap();
    let wrong = [
        g.add_(a, half),
        g.add_(a, b),
        g.reshape(a, [7]),
        g.broadcast(a, [3, 2]),
        g.add1(Transpose { perm: vec![0, 0] }, &[a]),
        g.add1(Transpose { perm: vec![0] }, &[a]),
        g.add1(
            Slice {
                start: vec![0, 2],
                end: vec![2, 1],
            },
            &[a],
        ),
        g.add1(
            Slice {
                start: vec![0, 0],
                end: vec![3, 3],
            },
            &[a],
        ),
        g.add1(
            Reduce {
                kind: ReduceKind::Sum,
                dims: vec![1, 1],
                keep: false,
            },
            &[a],
        ),
        g.add1(
            Reduce {
                kind: ReduceKind::Sum,
                dims: vec![2],
                keep: false,
            },
            &[a],
        ),
        g.add1(Assign {}, &[a, b]),
        g.add1(Assign {}, &[a]),
    ];
    for (index, result) in wrong.into_iter().enumerate() {
        assert!(matches!(result, Err(GraphError::Op { .. })), "case {index}");
    }
}

#[test]
fn two_leaves_of_a_kind_have_two_names() {
    let mut g = Graph::new();
    g.add_input("x", ty(&[1])).unwrap();
    g.add_state("x", ty(&[1])).unwrap();
    let error = g.add_input("x", ty(&[1])).unwrap_err();
    assert_eq!(error.to_string(), "two inputs are named `x`");
}

#[test]
fn nothing_reads_a_state_after_its_update() {
    let build = |late: bool| {
        let mut g = Graph::new();
        let x = g.add_input("x", ty(&[2])).unwrap();
        let state = g.add_state("state", ty(&[2])).unwrap();
        if !late {
            g.neg(state).unwrap();
        }
        g.add1(Assign {}, &[state, x]).unwrap();
        if late {
            g.neg(state).unwrap();
        }
        g
    };
    build(false).verify().unwrap();
    let error = build(true).verify().unwrap_err().to_string();
    assert!(error.contains("after it was updated in place"), "{error}");
}

#[test]
fn a_state_that_was_updated_is_no_result_under_its_old_value() {
    let mut g = Graph::new();
    let x = g.add_input("x", ty(&[2])).unwrap();
    let state = g.add_state("state", ty(&[2])).unwrap();
    let new = g.add1(Assign {}, &[state, x]).unwrap();
    g.set_output("new", new);
    g.verify().unwrap();
    g.set_output("old", state);
    let error = g.verify().unwrap_err().to_string();
    assert!(error.contains("result `old`"), "{error}");
}
