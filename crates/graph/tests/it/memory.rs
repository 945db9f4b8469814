//! Memory plans of random graphs: nothing that is alive is overwritten.

use cairn_graph::memory::{MemoryOptions, MemoryPlan, Storage, plan};
use cairn_graph::ops::{
    Assign, Concat, Glu, GluGrad, GluKind, Reduce, ReduceKind, Reshape, UnaryKind,
};
use cairn_graph::{Graph, ValueId};
use proptest::prelude::*;

use crate::models::{mlp, ty};

/// One more node: what it is, and which earlier values it reads.
type Choice = (u8, usize, usize);

/// A graph of vectors of several sizes.
fn build(choices: &[Choice], results: &[usize]) -> Graph {
    let mut g = Graph::new();
    let mut values = vec![
        g.add_input("x", ty(&[16])).unwrap(),
        g.add_input("y", ty(&[100])).unwrap(),
    ];
    for (kind, first, second) in choices {
        let (a, b) = (values[first % values.len()], values[second % values.len()]);
        let same = g.ty(a) == g.ty(b);
        let small = g.ty(a).shape.num_elements() < 2000;
        match kind % 7 {
            0 | 1 => values.push(g.unary(UnaryKind::Exp, a).unwrap()),
            2 if same => values.push(g.add_(a, b).unwrap()),
            3 if same => values.push(
                g.add1(
                    Glu {
                        kind: GluKind::Swiglu,
                    },
                    &[a, b],
                )
                .unwrap(),
            ),
            4 if same => values.extend(
                g.add(
                    GluGrad {
                        kind: GluKind::Geglu,
                    },
                    &[a, b, b],
                )
                .unwrap(),
            ),
            5 if small && g.ty(b).shape.num_elements() < 2000 => {
                values.push(g.add1(Concat { dim: 0 }, &[a, b]).unwrap());
            }
            6 => {
                let n = g.ty(a).shape.num_elements();
                let view = g.reshape(a, [n, 1]).unwrap();
                let op = Reduce {
                    kind: ReduceKind::Sum,
                    dims: vec![1],
                    keep: false,
                };
                let sum = g.add1(op, &[view]).unwrap();
                let back = g.add1(Reshape { shape: [n].into() }, &[view]).unwrap();
                values.extend([sum, back]);
            }
            _ => {}
        }
    }
    for (index, result) in results.iter().enumerate() {
        g.set_output(format!("r{index}"), values[result % values.len()]);
    }
    g
}

/// The value whose storage each value is a view of.
fn bases(graph: &Graph) -> Vec<usize> {
    let mut bases: Vec<usize> = Vec::new();
    for (index, value) in graph.values().iter().enumerate() {
        let node = graph.node(value.node);
        bases.push(match node.inputs.first() {
            Some(input) if node.op.name() == "reshape" => bases[input.0 as usize],
            _ => index,
        });
    }
    bases
}

/// The last node that reads each value or a view of it, counted apart from the
/// planner.
fn last_reads(graph: &Graph, bases: &[usize]) -> Vec<usize> {
    let mut last: Vec<usize> = graph.values().iter().map(|v| v.node.0 as usize).collect();
    let mut read = |value: ValueId, node: usize| {
        let base = bases[value.0 as usize];
        last[base] = last[base].max(node);
    };
    for (index, node) in graph.nodes().iter().enumerate() {
        node.inputs.iter().for_each(|input| read(*input, index));
    }
    graph
        .outputs()
        .iter()
        .for_each(|(_, value)| read(*value, graph.nodes().len()));
    last
}

fn overlap(a: (usize, usize), b: (usize, usize)) -> bool {
    a.0 < b.0 + b.1 && b.0 < a.0 + a.1
}

fn place(plan: &MemoryPlan, value: usize) -> Option<(usize, usize)> {
    match plan.storage[value] {
        Storage::Arena { offset, bytes } => Some((offset, bytes)),
        Storage::Leaf(_) => None,
    }
}

/// Panics where two values that are alive together share bytes.
fn check(graph: &Graph, options: &MemoryOptions, plan: &MemoryPlan) {
    let bases = bases(graph);
    let last = last_reads(graph, &bases);
    let own: Vec<usize> = (0..graph.values().len())
        .filter(|v| bases[*v] == *v)
        .collect();
    for value in 0..graph.values().len() {
        let (view, base) = (plan.storage[value], plan.storage[bases[value]]);
        assert_eq!(view, base, "a view lies where its base lies");
        if let Some((_, bytes)) = place(plan, value) {
            assert!(bytes >= graph.values()[value].ty.bytes());
        }
    }
    for (position, early) in own.iter().enumerate() {
        let Some(first) = place(plan, *early) else {
            continue;
        };
        assert!(first.0 + first.1 <= plan.arena_bytes);
        assert!(first.0.is_multiple_of(options.alignment));
        for late in &own[position + 1..] {
            let Some(second) = place(plan, *late) else {
                continue;
            };
            let made = graph.values()[*late].node.0 as usize;
            if !overlap(first, second) || last[*early] < made {
                continue;
            }
            // The one exception: the node that makes the later value is the
            // last to read the earlier one and takes its storage over.
            let output = graph.values()[*late].output;
            let taken = plan
                .in_place
                .get(&(made, output))
                .map(|input| bases[graph.nodes()[made].inputs[*input].0 as usize]);
            assert!(
                last[*early] == made && taken == Some(*early),
                "values {early} and {late} share bytes while both are alive"
            );
        }
        for (node, scratch) in plan.scratch.iter().enumerate() {
            let Some(offset) = scratch else { continue };
            let alive = graph.values()[*early].node.0 as usize <= node && node <= last[*early];
            assert!(!alive || !overlap(first, (*offset, options.scratch_bytes[node])));
        }
    }
    assert!(plan.arena_bytes >= plan.peak_bytes);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values_that_are_alive_never_share_bytes(
        choices in prop::collection::vec((any::<u8>(), 0_usize..64, 0_usize..64), 1..40),
        results in prop::collection::vec(0_usize..64, 1..4),
        scratch in prop::collection::vec(0_usize..900, 128),
        in_place in any::<bool>(),
    ) {
        let graph = build(&choices, &results);
        let nodes = graph.nodes().len();
        let options = MemoryOptions {
            scratch_bytes: scratch.into_iter().cycle().take(nodes).map(|s| s.saturating_sub(400)).collect(),
            in_place: if in_place { Vec::new() } else { vec![Vec::new(); nodes] },
            ..MemoryOptions::default()
        };
        let made = plan(&graph, &options);
        check(&graph, &options, &made);
        prop_assert!(in_place || made.in_place.is_empty());
    }
}

#[test]
fn a_plan_of_a_training_step() {
    let graph = mlp();
    let made = plan(&graph, &MemoryOptions::default());
    // Every sum of gradients is made in the state it is assigned to.
    for index in 0..3 {
        let state = graph.state(&format!("sum{index}")).unwrap();
        let sums = graph
            .nodes()
            .iter()
            .filter(|node| node.op.name() == "assign");
        let sum = sums
            .map(|node| (node.inputs[0], node.inputs[1]))
            .find(|(s, _)| *s == state);
        assert_eq!(
            made.storage[sum.unwrap().1.0 as usize],
            Storage::Leaf(state)
        );
    }
    let by_scope: usize = made.peak_by_scope.iter().map(|(_, bytes)| bytes).sum();
    assert_eq!(by_scope, made.peak_bytes);
    assert!(made.peak_node < graph.nodes().len());
}

/// A gradient goes where it is kept, also where its state is declared after it.
#[test]
fn a_value_is_made_in_a_state_that_is_declared_later() {
    let ty = ty(&[8, 8]);
    let mut graph = Graph::new();
    let x = graph.add_input("x", ty.clone()).unwrap();
    let product = graph.matmul(x, x, false).unwrap();
    let state = graph.add_state("grad", ty).unwrap();
    graph.add(Assign {}, &[state, product]).unwrap();
    let made = plan(&graph, &MemoryOptions::default());
    assert_eq!(made.storage[product.0 as usize], Storage::Leaf(state));
    assert_eq!(made.arena_bytes, 0);
}

#[test]
fn a_plan_of_nothing() {
    let made = plan(&Graph::new(), &MemoryOptions::default());
    assert_eq!((made.arena_bytes, made.peak_bytes), (0, 0));
}
