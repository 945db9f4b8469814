//! Gradients as graphs. Their values are checked where graphs can run.

use cairn_formats::DType;
use cairn_graph::ops::{Iota, ReduceKind, SumSquares};
use cairn_graph::{Graph, GraphError, Stage, TensorType, gradients};

use crate::models::{count, mlp, ty};

#[test]
fn gradients_have_the_type_of_their_value_or_the_one_asked_for() {
    let mut g = Graph::new();
    let narrow = |shape: &[usize]| TensorType::new(DType::BF16, shape);
    let x = g.add_input("x", narrow(&[4, 8])).unwrap();
    let w = g.add_parameter("w", narrow(&[3, 8])).unwrap();
    let b = g.add_parameter("b", narrow(&[3])).unwrap();
    let y = g.matmul(x, w, true).unwrap();
    let y = g.add_(y, b).unwrap();
    let loss = g.add1(SumSquares {}, &[y]).unwrap();
    let grads = gradients(&mut g, loss, None, &[w, b], Some(DType::F32)).unwrap();
    assert_eq!(*g.ty(grads.get(0).unwrap()), ty(&[3, 8]));
    assert_eq!(*g.ty(grads.get(1).unwrap()), ty(&[3]));
    let grads = gradients(&mut g, loss, None, &[x], None).unwrap();
    assert_eq!(*g.ty(grads.get(0).unwrap()), narrow(&[4, 8]));
    assert!(grads.get(1).is_none());
}

#[test]
fn a_value_the_scalar_does_not_depend_on_has_no_gradient() {
    let mut g = Graph::new();
    let x = g.add_input("x", ty(&[2])).unwrap();
    let other = g.add_input("other", ty(&[2])).unwrap();
    let loss = g.reduce(ReduceKind::Sum, x, &[0]).unwrap();
    let grads = gradients(&mut g, loss, None, &[other, x], None).unwrap();
    assert!(grads.get(0).is_none());
    assert!(grads.get(1).is_some());
}

#[test]
fn only_float_scalars_are_differentiated() {
    let mut g = Graph::new();
    let x = g.add_input("x", ty(&[2])).unwrap();
    let whole = g.add1(Iota { len: 1 }, &[]).unwrap();
    let whole = g.reshape(whole, []).unwrap();
    for value in [x, whole] {
        let error = gradients(&mut g, value, None, &[x], None).unwrap_err();
        assert!(matches!(error, GraphError::NotScalar { .. }));
    }
}

#[test]
fn an_operator_without_gradient_is_named() {
    let mut g = Graph::new();
    let x = g.add_input("x", ty(&[2, 3])).unwrap();
    let once = g.reduce(ReduceKind::Sum, x, &[0, 1]).unwrap();
    // The gradient of a norm's gradient is not defined.
    let w = g.add_input("w", ty(&[3])).unwrap();
    let norm = g
        .add(cairn_graph::ops::RmsNorm { eps: 1e-5 }, &[x, w])
        .unwrap()[0];
    let sum = g.reduce(ReduceKind::Sum, norm, &[0, 1]).unwrap();
    let grads = gradients(&mut g, sum, None, &[x], None).unwrap();
    let again = g
        .reduce(ReduceKind::Sum, grads.get(0).unwrap(), &[0, 1])
        .unwrap();
    let error = gradients(&mut g, again, None, &[x], None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "operator `rmsnorm_grad` in `` has no gradient"
    );
    gradients(&mut g, once, None, &[x], None).unwrap();
}

#[test]
fn the_first_contribution_is_used_as_it_is() {
    let mut g = Graph::new();
    let x = g.add_input("x", ty(&[2])).unwrap();
    let y = g.neg(x).unwrap();
    let loss = g.reduce(ReduceKind::Sum, y, &[0]).unwrap();
    gradients(&mut g, loss, None, &[x], None).unwrap();
    // No zero-filled start and no addition: only the scalar's own 1.
    assert_eq!((count(&g, "fill"), count(&g, "binary")), (1, 0));
}

#[test]
fn nodes_of_the_backward_carry_the_scope_of_their_forward() {
    let graph = mlp();
    let of = |op: &str| {
        let node = graph
            .nodes()
            .iter()
            .find(|node| node.op.name() == op)
            .unwrap();
        (graph.scope_path(node.scope).to_owned(), node.stage)
    };
    assert_eq!(of("rmsnorm"), ("layers.0".to_owned(), Stage::Forward));
    assert_eq!(of("rmsnorm_grad"), ("layers.0".to_owned(), Stage::Backward));
    assert_eq!(
        of("cross_entropy_grad"),
        ("loss".to_owned(), Stage::Backward)
    );
    assert_eq!(of("adamw"), (String::new(), Stage::Update));
}
