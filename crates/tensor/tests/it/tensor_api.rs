//! The lazy tensor: values and gradients against hand-computed ones and finite
//! differences, laziness, loops, errors.

#[path = "../../examples/train_mlp/spirals.rs"]
mod spirals;

use std::sync::Arc;

use cairn_graph::ops::ReduceKind;
use cairn_tensor::cpu::{Cpu, isa::Isa};
use cairn_tensor::{Context, DType, Dispatcher, Reference, Tensor, TensorError};

use crate::support::{assert_close, numbers, pool, reference};

type Made = Result<Tensor, TensorError>;

/// In f64 on the reference backend.
fn exact() -> Context {
    Context::new(reference(), pool(1))
}

/// The fast kernels with a visible fallback.
fn fast() -> Context {
    let cpu = Arc::new(Cpu::new(Isa::detect(), 2));
    Context::new(Dispatcher::new(vec![cpu, Arc::new(Reference)]), pool(2))
}

fn message<T: std::fmt::Debug>(result: Result<T, TensorError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn elementwise_values() {
    for cx in [exact(), fast()] {
        let x = cx.tensor([2, 2], &[-1.0_f32, 0.0, 4.0, 9.0]).unwrap();
        let row = cx.tensor([2], &[10.0_f32, 20.0]).unwrap();
        let table: [(Made, [f32; 4]); 14] = [
            (x.neg(), [1.0, 0.0, -4.0, -9.0]),
            (x.abs(), [1.0, 0.0, 4.0, 9.0]),
            (x.relu(), [0.0, 0.0, 4.0, 9.0]),
            (x.square(), [1.0, 0.0, 16.0, 81.0]),
            (x.abs().and_then(|x| x.sqrt()), [1.0, 0.0, 2.0, 3.0]),
            (x.add(&row), [9.0, 20.0, 14.0, 29.0]),
            (x.sub(&row), [-11.0, -20.0, -6.0, -11.0]),
            (x.mul(&row), [-10.0, 0.0, 40.0, 180.0]),
            (
                row.div(&cx.full(DType::F32, [2, 2], 5.0).unwrap()),
                [2.0, 4.0, 2.0, 4.0],
            ),
            (
                x.maximum(&cx.scalar(3.0_f32).unwrap()),
                [3.0, 3.0, 4.0, 9.0],
            ),
            (
                x.minimum(&cx.scalar(3.0_f32).unwrap()),
                [-1.0, 0.0, 3.0, 3.0],
            ),
            (
                x.greater(&cx.scalar(0.0_f32).unwrap()),
                [0.0, 0.0, 1.0, 1.0],
            ),
            (x.scale(0.5), [-0.5, 0.0, 2.0, 4.5]),
            (x.offset(1.0), [0.0, 1.0, 5.0, 10.0]),
        ];
        for (index, (found, expected)) in table.into_iter().enumerate() {
            assert_eq!(
                found.unwrap().to_vec::<f32>().unwrap(),
                expected,
                "row {index}"
            );
        }
        let zero = cx.full(DType::F32, [2, 2], 0.0).unwrap();
        let picked = x
            .equal(&zero)
            .unwrap()
            .select(&row.broadcast([2, 2]).unwrap(), &x)
            .unwrap();
        assert_eq!(picked.to_vec::<f32>().unwrap(), [-1.0, 20.0, 4.0, 9.0]);
        let at_least = x.greater_equal(&zero).unwrap();
        assert_eq!(at_least.to_vec::<f32>().unwrap(), [0.0, 1.0, 1.0, 1.0]);
    }
}

#[test]
fn products_reductions_and_movement() {
    for cx in [exact(), fast()] {
        let x = cx
            .tensor([2, 3], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])
            .unwrap();
        let w = cx
            .tensor([3, 2], &[1.0_f32, 0.0, 0.0, 1.0, 1.0, -1.0])
            .unwrap();
        let table: [(Made, &[f32]); 13] = [
            (x.matmul(&w), &[4.0, -1.0, 10.0, -1.0]),
            (x.sum(&[1]), &[6.0, 15.0]),
            (x.sum(&[0]), &[5.0, 7.0, 9.0]),
            (x.sum(&[1, 0]), &[21.0]),
            (x.mean_all(), &[3.5]),
            (x.max(&[1]), &[3.0, 6.0]),
            (x.reduce(ReduceKind::Mean, &[0], true), &[2.5, 3.5, 4.5]),
            (x.reshape([3, 2]), &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
            (x.transpose(&[1, 0]), &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]),
            (x.slice(&[1..2, 0..2]), &[4.0, 5.0]),
            (
                x.sum(&[1])
                    .and_then(|x| x.reshape([2, 1]))
                    .and_then(|x| x.broadcast([2, 2])),
                &[6.0, 6.0, 15.0, 15.0],
            ),
            (
                Tensor::concat(&[&x, &x.slice(&[0..2, 0..1]).unwrap()], 1),
                &[1.0, 2.0, 3.0, 1.0, 4.0, 5.0, 6.0, 4.0],
            ),
            (
                x.transpose(&[1, 0]).and_then(|t| x.matmul(&t)),
                &[14.0, 32.0, 32.0, 77.0],
            ),
        ];
        for (index, (found, expected)) in table.into_iter().enumerate() {
            assert_eq!(
                found.unwrap().to_vec::<f32>().unwrap(),
                expected,
                "row {index}"
            );
        }
        assert_eq!(
            **x.reduce(ReduceKind::Mean, &[0], true).unwrap().shape(),
            [1, 3]
        );
        let softmax: Vec<f64> = x
            .softmax()
            .unwrap()
            .to_vec::<f32>()
            .unwrap()
            .iter()
            .map(|x| f64::from(*x))
            .collect();
        let row = [0.090_030_573, 0.244_728_471, 0.665_240_956];
        assert_close("softmax", &softmax, &[row, row].concat(), 1e-6);
        let log: Vec<f64> = x
            .log_softmax()
            .unwrap()
            .to_vec::<f32>()
            .unwrap()
            .iter()
            .map(|x| f64::from(*x))
            .collect();
        assert_close(
            "log softmax",
            &log,
            &[row, row]
                .concat()
                .iter()
                .map(|x| x.ln())
                .collect::<Vec<f64>>(),
            1e-6,
        );
        let ints = x.scale(0.7).unwrap().cast(DType::I32).unwrap();
        assert_eq!(ints.to_vec::<i32>().unwrap(), [0, 1, 2, 2, 3, 4]);
    }
}

#[test]
fn empty_tensors() {
    let cx = fast();
    let none = cx.tensor::<f32>([0, 3], &[]).unwrap();
    assert_eq!(none.relu().unwrap().to_vec::<f32>().unwrap(), [0.0; 0]);
    assert_eq!(none.sum(&[0]).unwrap().to_vec::<f32>().unwrap(), [0.0; 3]);
}

#[test]
fn gradients_by_hand() {
    let cx = exact();
    let x = cx.tensor([1, 2], &[3.0, -1.0]).unwrap();
    let w = cx.parameter([2, 2], &[1.0, 2.0, 3.0, 4.0]).unwrap();
    let b = cx.parameter([2], &[0.5, 0.5]).unwrap();
    // h = relu([0.5, 2.5]); loss = sum(h^2)
    let h = x.matmul(&w).unwrap().add(&b).unwrap().relu().unwrap();
    let loss = h.square().unwrap().sum_all().unwrap();
    let grads = loss.grad(&[&w, &b, &h, &loss]).unwrap();
    assert_eq!(loss.to_scalar::<f64>().unwrap(), 6.5);
    assert_eq!(grads[0].to_vec::<f64>().unwrap(), [3.0, 15.0, -1.0, -5.0]);
    assert_eq!(grads[1].to_vec::<f64>().unwrap(), [1.0, 5.0]);
    assert_eq!(grads[2].to_vec::<f64>().unwrap(), [1.0, 5.0]);
    assert_eq!(grads[3].to_scalar::<f64>().unwrap(), 1.0);
}

#[test]
fn second_gradients_and_independent_ones() {
    let cx = exact();
    let x = cx.parameter([3], &[1.0, 2.0, -3.0]).unwrap();
    let other = cx.parameter([2], &[1.0, 1.0]).unwrap();
    let cube = x.square().unwrap().mul(&x).unwrap().sum_all().unwrap();
    let first = cube.grad(&[&x, &other]).unwrap();
    assert_eq!(first[0].to_vec::<f64>().unwrap(), [3.0, 12.0, 27.0]);
    assert_eq!(first[1].to_vec::<f64>().unwrap(), [0.0, 0.0]);
    let second = first[0].sum_all().unwrap().grad(&[&x]);
    assert!(message(second).contains("was evaluated"));
    let first = cube.grad(&[&x]).unwrap().remove(0);
    let second = first.sum_all().unwrap().grad(&[&x]).unwrap();
    assert_eq!(second[0].to_vec::<f64>().unwrap(), [6.0, 12.0, -18.0]);
}

/// A scalar of two parameters through every differentiable method.
fn everything(x: &Tensor, w: &Tensor) -> Made {
    let h = x.matmul(w)?;
    let positive = h.square()?.offset(1.0)?;
    let parts = [
        h.tanh()?,
        h.sigmoid()?,
        h.silu()?,
        h.gelu()?,
        h.sin()?,
        h.cos()?,
        h.neg()?.scale(0.3)?.exp()?,
        h.abs()?.relu()?,
        positive.log()?,
        positive.sqrt()?,
        positive.rsqrt()?,
        positive.reciprocal()?,
        h.softmax()?,
        h.log_softmax()?,
        h.div(&positive)?.sub(&h)?,
        h.maximum(&h.scale(0.5)?.offset(0.1)?)?,
        h.minimum(&h.square()?)?,
        h.greater(&h.square()?)?.select(&h, &positive)?,
        h.mean(&[1])?.reshape([3, 1])?.broadcast([3, 4])?,
        h.max(&[0])?.add(&h)?,
        h.transpose(&[1, 0])?.matmul(&h)?.slice(&[1..4, 0..4])?,
    ];
    let rows: Vec<&Tensor> = parts.iter().collect();
    let all = Tensor::concat(&rows, 0)?;
    let weights = x
        .context()
        .tensor([3 * parts.len(), 4], &numbers(12 * parts.len(), 5))?;
    all.mul(&weights)?.sum_all()
}

#[test]
fn gradients_agree_with_differences() {
    let cx = exact();
    let (xs, ws) = (numbers(6, 1), numbers(8, 2));
    let at = |xs: &[f64], ws: &[f64]| {
        let x = cx.parameter([3, 2], xs).unwrap();
        let w = cx.parameter([2, 4], ws).unwrap();
        (everything(&x, &w).unwrap(), x, w)
    };
    let (loss, x, w) = at(&xs, &ws);
    let grads = loss.grad(&[&x, &w]).unwrap();
    let found = [
        grads[0].to_vec::<f64>().unwrap(),
        grads[1].to_vec::<f64>().unwrap(),
    ]
    .concat();
    let step = 1e-5;
    let mut expected = Vec::new();
    for element in 0..xs.len() + ws.len() {
        let moved = |by: f64| {
            let (mut xs, mut ws) = (xs.clone(), ws.clone());
            match element.checked_sub(xs.len()) {
                None => xs[element] += by,
                Some(element) => ws[element] += by,
            }
            at(&xs, &ws).0.to_scalar::<f64>().unwrap()
        };
        expected.push((moved(step) - moved(-step)) / (2.0 * step));
    }
    assert_close("gradients", &found, &expected, 1e-7);
    // 28 losses of one form are one program; each gradient is one more.
    assert_eq!(cx.counters().compiled, 3);
}

#[test]
fn nothing_runs_before_it_is_asked_for_and_nothing_twice() {
    let cx = fast();
    let w = cx.parameter([2, 2], &[1.0_f32, 2.0, 3.0, 4.0]).unwrap();
    let loss = w.matmul(&w).unwrap().sum_all().unwrap();
    let grad = loss.grad(&[&w]).unwrap().remove(0);
    assert_eq!((cx.counters().runs, cx.counters().compiled), (0, 0));
    assert!(!loss.is_evaluated());
    assert_eq!(loss.to_scalar::<f32>().unwrap(), 54.0);
    assert_eq!(cx.counters().runs, 1);
    assert!(loss.is_evaluated());
    assert!(!grad.is_evaluated());
    assert_eq!(loss.to_vec::<f32>().unwrap(), [54.0]);
    assert_eq!(loss.clone().to_scalar::<f32>().unwrap(), 54.0);
    cx.evaluate(&[&loss, &loss, &w]).unwrap();
    assert_eq!(cx.counters().runs, 1);
    // The value is an input of what comes after: one product is left to do.
    let more = loss.scale(2.0).unwrap();
    assert_eq!(more.to_scalar::<f32>().unwrap(), 108.0);
    assert_eq!((cx.counters().runs, cx.counters().nodes), (2, 3));
    assert_eq!(cx.counters().fallbacks, 0);
}

#[test]
fn several_results_come_from_one_program() {
    let cx = fast();
    let x = cx.tensor([2], &[1.0_f32, 2.0]).unwrap();
    let (a, b) = (x.exp().unwrap(), x.exp().unwrap().neg().unwrap());
    cx.evaluate(&[&b, &a, &b]).unwrap();
    assert_eq!(cx.counters().runs, 1);
    let (a, b) = (a.to_vec::<f32>().unwrap(), b.to_vec::<f32>().unwrap());
    assert_eq!((a[0], a[1]), (-b[0], -b[1]));
    assert_eq!(cx.counters().runs, 1);
}

#[test]
fn a_loop_compiles_once_and_does_not_grow() {
    let cx = exact();
    // x -> x - lr (x - 3), once as a parameter and once as an ordinary tensor.
    let mut p = cx.parameter([], &[0.0]).unwrap();
    let mut x = p.clone();
    let mut nodes = Vec::new();
    for step in 1..=50 {
        let rate = 0.5 / f64::from(step);
        for value in [&mut p, &mut x] {
            let loss = value
                .offset(-3.0)
                .unwrap()
                .square()
                .unwrap()
                .scale(0.5)
                .unwrap();
            let grad = loss.grad(&[value]).unwrap().remove(0);
            let next = value.sub(&grad.scale(rate).unwrap()).unwrap();
            cx.evaluate(&[&loss, &next]).unwrap();
            nodes.push(cx.counters().nodes);
            if value.set(&next).is_err() {
                *value = next;
            }
        }
    }
    let expected = (1..=50).fold(0.0, |x: f64, step| x - 0.5 / f64::from(step) * (x - 3.0));
    assert_close("p", &p.to_vec::<f64>().unwrap(), &[expected], 1e-14);
    assert_close("x", &x.to_vec::<f64>().unwrap(), &[expected], 1e-14);
    assert_eq!(cx.counters().compiled, 1);
    assert_eq!(cx.counters().runs, 100);
    assert!(nodes.iter().all(|count| *count == nodes[0]), "{nodes:?}");
}

#[test]
fn setting_a_parameter_leaves_what_was_recorded() {
    let cx = exact();
    let mut w = cx.parameter([1], &[2.0]).unwrap();
    let (clone, before) = (w.clone(), w.scale(10.0).unwrap());
    w.set(&w.scale(3.0).unwrap()).unwrap();
    assert_eq!(w.scale(10.0).unwrap().to_vec::<f64>().unwrap(), [60.0]);
    assert_eq!(before.to_vec::<f64>().unwrap(), [20.0]);
    assert_eq!(clone.to_vec::<f64>().unwrap(), [2.0]);
    let loss = w.square().unwrap().sum_all().unwrap();
    assert_eq!(
        loss.grad(&[&w]).unwrap()[0].to_vec::<f64>().unwrap(),
        [12.0]
    );
}

#[test]
fn a_long_chain_is_dropped_and_evaluated_without_recursion() {
    let cx = exact();
    let one = cx.scalar(1.0).unwrap();
    let chain = |length: usize| {
        let mut sum = one.clone();
        for _ in 0..length {
            sum = sum.add(&one).unwrap();
        }
        sum
    };
    drop(chain(300_000));
    assert_eq!(chain(1_000).to_scalar::<f64>().unwrap(), 1_001.0);
}

#[test]
fn more_programs_than_are_kept() {
    let cx = exact();
    for round in 0..2 {
        for size in 1..200 {
            let x = cx.full(DType::F64, [size], f64::from(round)).unwrap();
            let sum = x.offset(1.0).unwrap().sum_all().unwrap();
            let expected = size as f64 * f64::from(round + 1);
            assert_eq!(sum.to_scalar::<f64>().unwrap(), expected);
        }
    }
    assert_eq!(cx.counters().compiled, 398);
}

#[test]
fn tensors_cross_threads() {
    let cx = fast();
    let x = cx.tensor([64], &[0.5_f32; 64]).unwrap();
    let total = x.exp().unwrap().sum_all().unwrap();
    let found: Vec<f32> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| total.to_scalar::<f32>().unwrap()))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_close("sum", &[f64::from(found[0])], &[64.0 * 0.5_f64.exp()], 1e-6);
    assert!(found.iter().all(|value| *value == found[0]));
    assert_eq!(cx.counters().runs, 1);
}

#[test]
fn shape_errors_come_at_the_call() {
    let cx = exact();
    let a = cx.tensor([2, 3], &[0.0; 6]).unwrap();
    let b = cx.tensor([2, 3], &[0.0_f64; 6]).unwrap();
    let i = cx.tensor([2, 3], &[0_i32; 6]).unwrap();
    let table: [(String, &[&str]); 11] = [
        (
            message(a.matmul(&b)),
            &[
                "`matmul`",
                "f64[2,3], f64[2,3]",
                "3 elements on the left and 2 on the right",
            ],
        ),
        (
            message(a.add(&i)),
            &["`binary`", "f64[2,3], i32[2,3]", "same dtype"],
        ),
        (
            message(a.add(&cx.tensor([2], &[0.0; 2]).unwrap())),
            &["`binary`", "f64[2]", "broadcast"],
        ),
        (message(i.relu()), &["`unary`", "i32[2,3]"]),
        (message(a.sum(&[2])), &["`reduce`", "below 2", "[2]"]),
        (message(a.sum(&[1, 1])), &["`reduce`", "[1, 1]"]),
        (message(a.reshape([4])), &["`reshape`", "f64[2,3]", "[4]"]),
        (message(a.transpose(&[0, 0])), &["`transpose`", "[0, 0]"]),
        (
            message(a.slice(&[0..2, 1..4])),
            &["`slice`", "[2, 4]", "f64[2,3]"],
        ),
        (
            message(Tensor::concat(&[&a, &i], 0)),
            &["`concat`", "i32[2,3]"],
        ),
        (message(Tensor::concat(&[], 0)), &["`concat`", "at least 1"]),
    ];
    for (found, parts) in &table {
        for part in *parts {
            assert!(found.contains(part), "`{found}` does not name {part}");
        }
    }
    assert_eq!(cx.counters().compiled, 0);
}

#[test]
fn wrong_uses_are_errors() {
    let (cx, other) = (exact(), exact());
    let a = cx.tensor([2], &[1.0, 2.0]).unwrap();
    let b = other.tensor([2], &[1.0, 2.0]).unwrap();
    let mut w = cx.parameter([2], &[1.0, 2.0]).unwrap();
    assert!(message(a.add(&b)).contains("another context"));
    assert!(message(cx.evaluate(&[&b])).contains("another context"));
    assert!(message(w.set(&b)).contains("another context"));
    assert!(message(cx.tensor([3], &[1.0])).contains("needs 24 bytes, got 8"));
    assert!(message(a.to_vec::<f32>()).contains("no elements of f32"));
    assert!(message(a.to_scalar::<f64>()).contains("f64[2] is not one element"));
    assert!(message(a.clone().set(&w)).contains("no parameter"));
    assert!(message(w.set(&cx.scalar(1.0).unwrap())).contains("f64[2] cannot be set to f64[]"));
    let state = cairn_graph::ops::Assign {};
    assert!(message(cx.apply(state, &[&a, &a])).contains("`assign`"));
}

#[test]
fn gradients_that_cannot_be_given_are_errors() {
    let cx = exact();
    let a = cx.tensor([2], &[1.0, 2.0]).unwrap();
    let w = cx.parameter([2], &[1.0, 2.0]).unwrap();
    let h = w.mul(&a).unwrap();
    let loss = h.square().unwrap().sum_all().unwrap();
    assert!(message(loss.grad(&[&a])).contains("neither a parameter nor computed"));
    assert!(message(h.grad(&[&w])).contains("only a float scalar"));
    let untracked = a.sum_all().unwrap();
    assert_eq!(
        untracked.grad(&[&w]).unwrap()[0].to_vec::<f64>().unwrap(),
        [0.0, 0.0]
    );
    // A value on the way is an error, not a gradient of 0 ...
    h.to_vec::<f64>().unwrap();
    let late = message(loss.grad(&[&w]));
    assert!(
        late.contains("a tensor f64[2] on the way was evaluated"),
        "{late}"
    );
    // ... unless it is what is asked about, or meant as a constant.
    assert_eq!(
        loss.grad(&[&h]).unwrap()[0].to_vec::<f64>().unwrap(),
        [2.0, 8.0]
    );
    let meant = h.detach().mul(&w).unwrap().sum_all().unwrap();
    assert_eq!(
        meant.grad(&[&w]).unwrap()[0].to_vec::<f64>().unwrap(),
        [1.0, 4.0]
    );
}

#[test]
fn a_failed_run_leaves_tensors_recorded() {
    let cx = exact();
    let table = cx.parameter([2, 1], &[1.0, 2.0]).unwrap();
    let index = cx.tensor([1], &[7_i32]).unwrap();
    let rows = cx.apply(cairn_graph::ops::Embedding {}, &[&table, &index]);
    let row = rows.unwrap().remove(0);
    let error = message(row.to_vec::<f64>());
    assert!(
        error.contains("`embedding`") && error.contains('7'),
        "{error}"
    );
    assert!(!row.is_evaluated());
    assert_eq!(cx.counters().runs, 0);
}

#[test]
fn the_example_learns() {
    let cx = fast();
    let mut trainer = spirals::Trainer::new(&cx, 1234).unwrap();
    let first = trainer.step().unwrap();
    let mut last = first;
    for _ in 0..150 {
        last = trainer.step().unwrap();
    }
    assert!(last < 0.5 * first, "loss {first} became {last}");
    let accuracy = trainer.accuracy().unwrap();
    assert!(accuracy > 0.75, "accuracy {accuracy}");
    assert_eq!(trainer.context().counters().compiled, 2);
    assert_eq!(trainer.context().counters().fallbacks, 0);
}
