//! Passes as graphs. That they keep results is checked where graphs can run.

use cairn_graph::ops::{Assign, Fill, FusedMatMul, MatMul, UnaryKind};
use cairn_graph::passes::{
    Recompute, eliminate_common_subexpressions, eliminate_dead_code, fuse, fuse_products,
    recompute, standard,
};
use cairn_graph::{Graph, GraphError};

use crate::models::{count, mlp, names, ty};

#[test]
fn equal_nodes_are_merged_and_different_ones_are_not() {
    let mut g = Graph::new();
    let x = g.add_input("x", ty(&[2])).unwrap();
    let a = g.unary(UnaryKind::Exp, x).unwrap();
    let b = g.unary(UnaryKind::Exp, x).unwrap();
    let c = g.unary(UnaryKind::Log, x).unwrap();
    let sum = g.add_(a, b).unwrap();
    let sum = g.add_(sum, c).unwrap();
    g.set_output("sum", sum);
    let made = eliminate_common_subexpressions(&g).unwrap();
    assert_eq!(count(&made, "unary"), 2);
    let first = made
        .nodes()
        .iter()
        .find(|node| node.op.name() == "binary")
        .unwrap();
    assert_eq!(first.inputs[0], first.inputs[1]);
}

/// JSON has no name for these values; operators are compared by their JSON.
#[test]
fn constants_that_are_not_finite_are_told_apart() {
    let values = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1.5];
    let mut g = Graph::new();
    for round in 0..2 {
        for (index, value) in values.into_iter().enumerate() {
            let fill = Fill {
                value,
                ty: ty(&[2]),
            };
            let made = g.add1(fill, &[]).unwrap();
            g.set_output(format!("{round}-{index}"), made);
        }
    }
    let made = eliminate_common_subexpressions(&g).unwrap();
    assert_eq!(count(&made, "fill"), values.len());
    for value in values {
        let fill = Fill {
            value,
            ty: ty(&[2]),
        };
        let text = serde_json::to_string(&fill).unwrap();
        let read: Fill = serde_json::from_str(&text).unwrap();
        assert_eq!(read.ty, fill.ty, "{text}");
        assert!(
            read.value.to_bits() == value.to_bits() || read.value.is_nan() && value.is_nan(),
            "{text}"
        );
    }
}

#[test]
fn updates_are_neither_merged_nor_dead() {
    let mut g = Graph::new();
    let x = g.add_input("x", ty(&[2])).unwrap();
    let state = g.add_state("state", ty(&[2])).unwrap();
    let once = g.add1(Assign {}, &[state, x]).unwrap();
    g.add1(Assign {}, &[once, x]).unwrap();
    g.neg(x).unwrap();
    for pass in [eliminate_common_subexpressions, eliminate_dead_code] {
        assert_eq!(count(&pass(&g).unwrap(), "assign"), 2);
    }
    let made = eliminate_dead_code(&g).unwrap();
    assert_eq!(names(&made), ["input", "state", "assign", "assign"]);
}

#[test]
fn dead_code_goes_and_leaves_stay() {
    let mut g = Graph::new();
    let x = g.add_input("x", ty(&[2])).unwrap();
    g.add_input("unused", ty(&[2])).unwrap();
    let dead = g.neg(x).unwrap();
    g.neg(dead).unwrap();
    let live = g.unary(UnaryKind::Exp, x).unwrap();
    g.set_output("live", live);
    let made = eliminate_dead_code(&g).unwrap();
    assert_eq!(names(&made), ["input", "input", "unary"]);
    assert_eq!(made.input("unused"), g.input("unused"));
}

fn product() -> MatMul {
    MatMul {
        trans_a: false,
        trans_b: false,
        out_dtype: cairn_formats::DType::F32,
    }
}

/// `other + a b` becomes a product that accumulates, unless the product is
/// read elsewhere too.
#[test]
fn sums_of_products_become_products_that_accumulate() {
    for shared in [false, true] {
        let mut g = Graph::new();
        let a = g.add_input("a", ty(&[2, 2])).unwrap();
        let c = g.add_input("c", ty(&[2, 2])).unwrap();
        let ab = g.add1(product(), &[a, a]).unwrap();
        let sum = g.add_(c, ab).unwrap();
        g.set_output("sum", sum);
        if shared {
            g.set_output("product", ab);
        }
        let made = fuse(&g).unwrap();
        made.verify().unwrap();
        let expected: &[&str] = if shared {
            &["input", "input", "matmul", "binary"]
        } else {
            &["input", "input", "matmul"]
        };
        assert_eq!(names(&made), expected);
        let matmul = made
            .nodes()
            .iter()
            .find(|node| node.op.name() == "matmul")
            .unwrap();
        assert_eq!(matmul.inputs.len(), if shared { 2 } else { 3 });
    }
}

/// The state of a gradient is declared after the backward; the product stays
/// where it is, or its operands would live until there.
#[test]
fn a_product_that_is_added_to_a_state_stays_where_it_is() {
    let mut g = Graph::new();
    let a = g.add_input("a", ty(&[2, 2])).unwrap();
    let ab = g.add1(product(), &[a, a]).unwrap();
    let other = g.unary(UnaryKind::Exp, a).unwrap();
    g.set_output("other", other);
    let state = g.add_state("state", ty(&[2, 2])).unwrap();
    let sum = g.add_(state, ab).unwrap();
    g.add1(Assign {}, &[state, sum]).unwrap();
    let made = fuse(&g).unwrap();
    made.verify().unwrap();
    assert_eq!(
        names(&made),
        ["input", "state", "matmul", "unary", "assign"]
    );
}

/// Moving a product behind the update of its operand would read the new value.
#[test]
fn a_product_does_not_move_behind_the_update_of_what_it_reads() {
    let mut g = Graph::new();
    let state = g.add_state("state", ty(&[2, 2])).unwrap();
    let c = g.add_input("c", ty(&[2, 2])).unwrap();
    let product = g.add1(product(), &[state, c]).unwrap();
    let new = g.add1(Assign {}, &[state, c]).unwrap();
    let sum = g.add_(new, product).unwrap();
    g.set_output("sum", sum);
    g.verify().unwrap();
    let made = fuse(&g).unwrap();
    made.verify().unwrap();
    assert_eq!(count(&made, "binary"), 1);
}

/// A product, and of what follows it as much as nothing else reads.
#[test]
fn products_take_in_what_follows_them() {
    let gelu = Some(UnaryKind::Gelu);
    // What is an output too: nothing, the product, the sum with the bias, the activation.
    let cases = [
        (
            None,
            &["input", "input", "input", "fused_matmul"][..],
            (true, gelu, true),
        ),
        (
            Some(0),
            &[
                "input", "input", "input", "matmul", "binary", "unary", "binary",
            ],
            (false, None, false),
        ),
        (
            Some(1),
            &["input", "input", "input", "fused_matmul", "unary", "binary"],
            (true, None, false),
        ),
        (
            Some(2),
            &["input", "input", "input", "fused_matmul", "binary"],
            (true, gelu, false),
        ),
    ];
    for (read, expected, found) in cases {
        let mut g = Graph::new();
        let a = g.add_input("a", ty(&[2, 2])).unwrap();
        let bias = g.add_input("bias", ty(&[2])).unwrap();
        let c = g.add_input("c", ty(&[2, 2])).unwrap();
        let ab = g.add1(product(), &[a, a]).unwrap();
        let sum = g.add_(bias, ab).unwrap();
        let y = g.unary(UnaryKind::Gelu, sum).unwrap();
        let out = g.add_(c, y).unwrap();
        g.set_output("out", out);
        if let Some(read) = read {
            g.set_output("read", [ab, sum, y][read]);
        }
        let made = fuse_products(&g).unwrap();
        made.verify().unwrap();
        assert_eq!(names(&made), expected, "{read:?}");
        let nodes = made.nodes().iter();
        let fused = nodes.filter_map(|node| node.op.as_any().downcast_ref::<FusedMatMul>());
        let fused: Vec<_> = fused
            .map(|op| (op.bias, op.activation, op.residual))
            .collect();
        let wanted = if found == (false, None, false) {
            vec![]
        } else {
            vec![found]
        };
        assert_eq!(fused, wanted, "{read:?}");
        // What it made has nothing more to take in.
        let again = fuse_products(&made).unwrap();
        assert_eq!(names(&again), names(&made));
    }
}

/// Of two products that are added one takes the other in.
#[test]
fn a_sum_of_products_is_fused_once_and_updates_stay_behind() {
    let mut g = Graph::new();
    let a = g.add_input("a", ty(&[2, 2])).unwrap();
    let [left, right] = [0, 1].map(|_| g.add1(product(), &[a, a]).unwrap());
    let sum = g.add_(left, right).unwrap();
    g.set_output("sum", sum);
    let made = fuse_products(&g).unwrap();
    made.verify().unwrap();
    assert_eq!(names(&made), ["input", "matmul", "fused_matmul"]);

    let mut g = Graph::new();
    let state = g.add_state("state", ty(&[2, 2])).unwrap();
    let c = g.add_input("c", ty(&[2, 2])).unwrap();
    let ab = g.add1(product(), &[state, c]).unwrap();
    let new = g.add1(Assign {}, &[state, c]).unwrap();
    let sum = g.add_(new, ab).unwrap();
    g.set_output("sum", sum);
    let made = fuse_products(&g).unwrap();
    made.verify().unwrap();
    assert_eq!(names(&made), names(&g));
}

#[test]
fn the_loss_and_its_gradient_become_one_pass() {
    let made = standard(&mlp(), Recompute::None).unwrap();
    assert_eq!(count(&made, "cross_entropy_with_grad"), 1);
    assert_eq!(count(&made, "cross_entropy"), 0);
    assert_eq!(count(&made, "cross_entropy_grad"), 0);
    made.verify().unwrap();
}

#[test]
fn without_layers_nothing_is_recomputed() {
    let mut g = Graph::new();
    let x = g.add_input("x", ty(&[2])).unwrap();
    let y = g.unary(UnaryKind::Exp, x).unwrap();
    let loss = g.add1(cairn_graph::ops::SumSquares {}, &[y]).unwrap();
    cairn_graph::gradients(&mut g, loss, None, &[x], None).unwrap();
    let made = recompute(&g, Recompute::Full).unwrap();
    assert_eq!(names(&made), names(&g));
}

#[test]
fn passes_give_the_same_graph_for_the_same_graph() {
    let text = |graph: Result<Graph, GraphError>| cairn_graph::dump::to_text(&graph.unwrap());
    for policy in [Recompute::None, Recompute::Selective, Recompute::Full] {
        assert_eq!(
            text(standard(&mlp(), policy)),
            text(standard(&mlp(), policy))
        );
    }
    let once = standard(&mlp(), Recompute::None);
    let twice = standard(once.as_ref().unwrap(), Recompute::None);
    assert_eq!(text(twice), text(once));
}
