//! The executor: views, updates of states, in-place results, empty tensors,
//! spans.

use cairn_graph::memory::Storage;
use cairn_graph::ops::{Assign, MatMul, ReduceKind, Reshape, Slice, Transpose, UnaryKind};
use cairn_graph::{Graph, ValueId};
use cairn_tensor::{DType, HostTensor, Store, TensorType};

use crate::support::{assert_close, compile, f64s, input, numbers, pool, run, tensor};

fn slice(g: &mut Graph, x: ValueId, start: &[usize], end: &[usize]) -> ValueId {
    let op = Slice {
        start: start.to_vec(),
        end: end.to_vec(),
    };
    g.add1(op, &[x]).unwrap()
}

#[test]
fn strided_views_feed_products_without_a_copy() {
    let (mut g, mut store) = (Graph::new(), Store::new());
    let a = input(&mut g, &mut store, "a", f64s([4, 6]));
    let b = input(&mut g, &mut store, "bb", f64s([7, 6]));
    // Rows 1..3 of a^T-of-a-box times columns of b.
    let box_of_a = slice(&mut g, a, &[1, 2], &[4, 5]);
    let left = g.transpose(box_of_a, &[1, 0]).unwrap();
    let right = slice(&mut g, b, &[0, 3], &[7, 6]);
    let product = g.matmul(left, right, true).unwrap();
    g.set_output("product", product);
    let program = compile(&g);
    let kernels: Vec<String> = program.kernels().into_iter().map(|k| k.op).collect();
    assert_eq!(kernels, ["matmul"]);
    let found = run(&g, &mut store)[0].to_f64().unwrap();
    let (a, b) = (values(&store, "a"), values(&store, "bb"));
    let mut expected = Vec::new();
    for i in 0..3 {
        for j in 0..7 {
            let term = |k: usize| a[(1 + k) * 6 + 2 + i] * b[j * 6 + 3 + k];
            expected.push((0..3).map(term).sum());
        }
    }
    assert_close("product", &found, &expected, 1e-14);
}

fn values(store: &Store, name: &str) -> Vec<f64> {
    store.get(name).unwrap().unwrap().to_f64().unwrap()
}

#[test]
fn views_of_views_and_broadcasts_feed_elementwise_operators() {
    let (mut g, mut store) = (Graph::new(), Store::new());
    let a = input(&mut g, &mut store, "a", f64s([2, 3, 4]));
    let row = input(&mut g, &mut store, "row", f64s([1, 3]));
    let t = g.transpose(a, &[2, 0, 1]).unwrap();
    let s = slice(&mut g, t, &[1, 0, 0], &[3, 2, 3]);
    let stretched = g.broadcast(row, [2, 2, 3]).unwrap();
    let sum = g.add_(s, stretched).unwrap();
    g.set_output("sum", sum);
    let found = run(&g, &mut store)[0].to_f64().unwrap();
    let (a, row) = (values(&store, "a"), values(&store, "row"));
    let mut expected = Vec::new();
    for k in 1..3 {
        for i in 0..2 {
            for (j, row) in row.iter().enumerate() {
                expected.push(a[(i * 3 + j) * 4 + k] + row);
            }
        }
    }
    assert_eq!(found, expected);
}

#[test]
fn results_that_are_views_are_read_as_seen() {
    let (mut g, mut store) = (Graph::new(), Store::new());
    let a = input(&mut g, &mut store, "a", f64s([2, 3]));
    let negative = g.neg(a).unwrap();
    let t = g.transpose(negative, &[1, 0]).unwrap();
    let s = slice(&mut g, t, &[1, 0], &[3, 1]);
    let b = g.broadcast(s, [2, 2, 1]).unwrap();
    let r = g.reshape(t, [6]).unwrap();
    for (name, value) in [("t", t), ("s", s), ("b", b), ("r", r)] {
        g.set_output(name, value);
    }
    let found = run(&g, &mut store);
    let a: Vec<f64> = values(&store, "a").iter().map(|x| -x).collect();
    let t = [a[0], a[3], a[1], a[4], a[2], a[5]];
    assert_eq!(found[0].to_f64().unwrap(), t);
    assert_eq!(found[1].to_f64().unwrap(), [a[1], a[2]]);
    assert_eq!(found[2].to_f64().unwrap(), [a[1], a[2], a[1], a[2]]);
    assert_eq!(found[3].to_f64().unwrap(), t);
}

/// A transposed square has the size of its input, and another order.
#[test]
fn a_transposed_input_is_not_overwritten_in_its_own_order() {
    let (mut g, mut store) = (Graph::new(), Store::new());
    let a = input(&mut g, &mut store, "a", f64s([3, 3]));
    let twice = g.scale(a, 2.0).unwrap();
    let t = g.transpose(twice, &[1, 0]).unwrap();
    let y = g.neg(t).unwrap();
    g.set_output("y", y);
    let found = run(&g, &mut store)[0].to_f64().unwrap();
    let a = values(&store, "a");
    let expected: Vec<f64> = (0..9).map(|i| -2.0 * a[i % 3 * 3 + i / 3]).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_value_is_made_in_the_state_it_is_assigned_to() {
    let (mut g, mut store) = (Graph::new(), Store::new());
    store.insert("state", tensor(f64s([4]), 3));
    let state = g.add_state("state", f64s([4])).unwrap();
    let x = input(&mut g, &mut store, "x", f64s([4]));
    let y = g.neg(x).unwrap();
    let new = g.add1(Assign {}, &[state, y]).unwrap();
    g.set_output("new", new);
    let mut program = compile(&g);
    // No copy: the assignment itself needs no kernel.
    let kernels: Vec<String> = program.kernels().into_iter().map(|k| k.op).collect();
    assert_eq!(kernels, ["unary"]);
    assert_eq!(program.plan().storage[y.0 as usize], Storage::Leaf(state));
    program.run(&mut store, &pool(1)).unwrap();
    let expected: Vec<f64> = values(&store, "x").iter().map(|x| -x).collect();
    assert_eq!(values(&store, "state"), expected);
    assert_eq!(
        program.output(&store, "new").unwrap().to_f64().unwrap(),
        expected
    );
}

#[test]
fn the_old_value_of_a_state_survives_as_long_as_it_is_read() {
    let (mut g, mut store) = (Graph::new(), Store::new());
    store.insert("state", tensor(f64s([4]), 3));
    let before = values(&store, "state");
    let state = g.add_state("state", f64s([4])).unwrap();
    let x = input(&mut g, &mut store, "x", f64s([4]));
    let y = g.neg(x).unwrap();
    // Read between the making of the new value and its assignment.
    let sum = g.add_(state, y).unwrap();
    g.add1(Assign {}, &[state, y]).unwrap();
    g.set_output("sum", sum);
    let found = run(&g, &mut store)[0].to_f64().unwrap();
    let x = values(&store, "x");
    let expected: Vec<f64> = before.iter().zip(&x).map(|(s, x)| s - x).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_view_of_a_state_keeps_what_it_saw() {
    type Make = fn(&mut Graph, ValueId) -> ValueId;
    let views: [Make; 4] = [
        |g, x| g.transpose(x, &[1, 0]).unwrap(),
        |g, x| g.reshape(x, [4]).unwrap(),
        |g, x| slice(g, x, &[0, 0], &[2, 2]),
        |g, x| {
            let r = g.reshape(x, [4]).unwrap();
            g.reshape(r, [1, 4]).unwrap()
        },
    ];
    for (which, view) in views.iter().enumerate() {
        for as_result in [false, true] {
            let (mut g, mut store) = (Graph::new(), Store::new());
            store.insert(
                "state",
                HostTensor::new([2, 2], &[1.0, 2.0, 2.0, 4.0]).unwrap(),
            );
            let state = g.add_state("state", f64s([2, 2])).unwrap();
            let seen = view(&mut g, state);
            let x = input(&mut g, &mut store, "x", f64s([2, 2]));
            let y = g.neg(x).unwrap();
            g.add1(Assign {}, &[state, y]).unwrap();
            let result = if as_result {
                seen
            } else {
                g.scale(seen, 1.0).unwrap()
            };
            g.set_output("result", result);
            let found = run(&g, &mut store)[0].to_f64().unwrap();
            assert_eq!(
                found,
                [1.0, 2.0, 2.0, 4.0],
                "view {which}, as result: {as_result}"
            );
        }
    }
}

#[test]
fn a_state_may_be_assigned_a_view_of_itself() {
    let (mut g, mut store) = (Graph::new(), Store::new());
    let start = HostTensor::new([2, 2], &[1.0, 2.0, 3.0, 4.0]).unwrap();
    store.insert("state", start);
    let state = g.add_state("state", f64s([2, 2])).unwrap();
    let turned = g.transpose(state, &[1, 0]).unwrap();
    g.add1(Assign {}, &[state, turned]).unwrap();
    run(&g, &mut store);
    assert_eq!(values(&store, "state"), [1.0, 3.0, 2.0, 4.0]);
}

#[test]
fn a_state_may_be_assigned_a_view_of_something_else() {
    let (mut g, mut store) = (Graph::new(), Store::new());
    store.insert("state", tensor(f64s([2, 2]), 3));
    let state = g.add_state("state", f64s([2, 2])).unwrap();
    let x = input(&mut g, &mut store, "x", f64s([2, 2]));
    let turned = g.transpose(x, &[1, 0]).unwrap();
    g.add1(Assign {}, &[state, turned]).unwrap();
    run(&g, &mut store);
    let x = values(&store, "x");
    assert_eq!(values(&store, "state"), [x[0], x[2], x[1], x[3]]);
}

/// `state += a b`, in the state's storage.
fn accumulate(rows: usize) -> Graph {
    let mut g = Graph::new();
    let sum = g.add_state("sum", f64s([3, 2])).unwrap();
    let a = g.add_input("a", f64s([rows, 3])).unwrap();
    let b = g.add_input("b", f64s([rows, 2])).unwrap();
    let op = MatMul {
        trans_a: true,
        trans_b: false,
        out_dtype: DType::F64,
    };
    let new = g.add1(op, &[a, b, sum]).unwrap();
    g.add1(Assign {}, &[sum, new]).unwrap();
    g
}

#[test]
fn sums_over_two_runs_equal_one_run_over_all_rows() {
    let (a, b) = (numbers(8 * 3, 1), numbers(8 * 2, 2));
    let total = |parts: usize| {
        let rows = 8 / parts;
        let graph = accumulate(rows);
        let mut program = compile(&graph);
        let kernels: Vec<String> = program.kernels().into_iter().map(|k| k.op).collect();
        assert_eq!(kernels, ["matmul"]);
        assert_eq!(program.plan().arena_bytes, 0);
        let mut store = Store::new();
        store.ensure("sum", &f64s([3, 2])).unwrap();
        for part in 0..parts {
            let a = &a[part * rows * 3..(part + 1) * rows * 3];
            let b = &b[part * rows * 2..(part + 1) * rows * 2];
            store.insert("a", HostTensor::new([rows, 3], a).unwrap());
            store.insert("b", HostTensor::new([rows, 2], b).unwrap());
            program.run(&mut store, &pool(1)).unwrap();
        }
        values(&store, "sum")
    };
    let whole = total(1);
    assert_close("two parts", &total(2), &whole, 1e-14);
    assert_close("eight parts", &total(8), &whole, 1e-14);
    assert!(whole.iter().all(|x| *x != 0.0));
}

#[test]
fn chains_of_elementwise_operators_use_one_buffer() {
    let (mut g, mut store) = (Graph::new(), Store::new());
    let x = input(&mut g, &mut store, "x", f64s([64]));
    let mut y = x;
    for _ in 0..5 {
        y = g.unary(UnaryKind::Tanh, y).unwrap();
        y = g.neg(y).unwrap();
    }
    g.set_output("y", y);
    let program = compile(&g);
    assert_eq!(program.plan().arena_bytes, 64 * 8);
    assert_eq!(program.plan().in_place.len(), 9);
    let found = run(&g, &mut store)[0].to_f64().unwrap();
    let chain = |x: f64| (0..5).fold(x, |x, _| -x.tanh());
    let expected: Vec<f64> = values(&store, "x").into_iter().map(chain).collect();
    assert_eq!(found, expected);
}

#[test]
fn inputs_and_parameters_are_never_overwritten() {
    let (mut g, mut store) = (Graph::new(), Store::new());
    let x = input(&mut g, &mut store, "x", f64s([5]));
    let flat = g.reshape(x, [5, 1]).unwrap();
    let y = g.neg(flat).unwrap();
    g.set_output("y", y);
    let before = values(&store, "x");
    run(&g, &mut store);
    assert_eq!(values(&store, "x"), before);
}

#[test]
fn tensors_without_elements() {
    let (mut g, mut store) = (Graph::new(), Store::new());
    let x = input(&mut g, &mut store, "x", f64s([0, 3]));
    let y = input(&mut g, &mut store, "yy", f64s([2, 3]));
    let negative = g.neg(x).unwrap();
    let none = slice(&mut g, y, &[2, 3], &[2, 3]);
    let product = g.matmul(negative, y, true).unwrap();
    let sum = g.reduce(ReduceKind::Sum, negative, &[0]).unwrap();
    for (name, value) in [("product", product), ("sum", sum), ("none", none)] {
        g.set_output(name, value);
    }
    let found = run(&g, &mut store);
    assert_eq!(*found[0].ty(), f64s([0, 2]));
    assert_eq!(found[1].to_f64().unwrap(), [0.0; 3]);
    assert_eq!(*found[2].ty(), f64s([0, 0]));
}

#[test]
fn every_kernel_call_leaves_a_span() {
    let (mut g, mut store) = (Graph::new(), Store::new());
    let a = input(&mut g, &mut store, "a", f64s([4, 5]));
    let b = input(&mut g, &mut store, "bb", f64s([5, 3]));
    let t = g.add1(Transpose { perm: vec![1, 0] }, &[b]).unwrap();
    let product = g.scoped("layer", |g| g.matmul(a, t, true)).unwrap();
    let y = g.neg(product).unwrap();
    g.set_output("y", y);
    let mut spans = Vec::new();
    compile(&g)
        .run_profiled(&mut store, &pool(1), &mut spans)
        .unwrap();
    let seen: Vec<(&str, &str)> = spans
        .iter()
        .map(|s| (s.op.as_str(), s.scope.as_str()))
        .collect();
    assert_eq!(seen, [("matmul", "layer"), ("unary", "")]);
    assert_eq!(spans[0].cost.flops, 2 * 4 * 5 * 3);
    assert_eq!(spans[0].kernel, "matmul.reference");
    assert!(spans[0].start <= spans[1].start && spans[0].micros >= 0.0);
}

#[test]
fn programs_share_the_arena_of_a_store() {
    let (mut g, mut store) = (Graph::new(), Store::new());
    let x = input(&mut g, &mut store, "x", f64s([100]));
    let y = g.neg(x).unwrap();
    g.set_output("y", y);
    let (mut first, mut second) = (compile(&g), compile(&g));
    first.run(&mut store, &pool(1)).unwrap();
    let bytes = store.arena_bytes();
    second.run(&mut store, &pool(1)).unwrap();
    assert_eq!(store.arena_bytes(), bytes);
    assert_eq!(bytes, first.plan().arena_bytes);
}

/// A reshape of a transposed tensor cannot be a view.
#[test]
fn a_reshape_of_a_strided_view_copies() {
    let (mut g, mut store) = (Graph::new(), Store::new());
    let a = input(&mut g, &mut store, "a", f64s([2, 3]));
    let t = g.transpose(a, &[1, 0]).unwrap();
    let flat = g.add1(Reshape { shape: [6].into() }, &[t]).unwrap();
    let y = g.scale(flat, 1.0).unwrap();
    g.set_output("y", y);
    let found = run(&g, &mut store)[0].to_f64().unwrap();
    let a = values(&store, "a");
    assert_eq!(found, [a[0], a[3], a[1], a[4], a[2], a[5]]);
}

#[test]
fn integers_and_narrow_floats_live_beside_f64() {
    let (mut g, mut store) = (Graph::new(), Store::new());
    store.insert(
        "x",
        HostTensor::from_f64(TensorType::new(DType::BF16, [3]), &[1.0, 2.5, -3.0]).unwrap(),
    );
    let x = g.add_input("x", TensorType::new(DType::BF16, [3])).unwrap();
    let wide = g.cast(x, DType::F64).unwrap();
    let whole = g.cast(wide, DType::I32).unwrap();
    g.set_output("whole", whole);
    let found = run(&g, &mut store);
    assert_eq!(found[0].as_slice::<i32>().unwrap(), [1, 2, -3]);
}
