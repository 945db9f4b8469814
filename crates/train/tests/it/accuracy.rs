//! Trainings that have to learn, and sums that have to come out.

use std::fmt::Write as _;

use crate::engine::{How, Workspace, losses};

/// Text in which each line follows from its first letters, so that a small
/// model learns it: counting in words, over and over.
fn corpus() -> String {
    const WORDS: [&str; 10] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
    ];
    let mut text = String::new();
    for line in 0..3000 {
        let from = line * 7 % 10;
        for word in (0..6).map(|step| WORDS[(from + step) % 10]) {
            let _ = write!(text, "{word} ");
        }
        text.push('\n');
    }
    text
}

/// Losses of a training on the corpus, first and last held-out loss.
fn learn(overrides: &[&str]) -> (Vec<f32>, Vec<f64>) {
    let mut workspace = Workspace::tiny(&[
        "data.source=text",
        "data.tokenizer.kind=bytes",
        "vocab_size=257",
        "seq_length=32",
        "micro_batch_size=8",
        "global_batch_size=8",
        "train_iters=120",
        "lr=5.0e-3",
        "min_lr=5.0e-4",
        "lr_warmup_iters=10",
        "eval_interval=60",
        "eval_iters=4",
        "save_interval=0",
    ]);
    let file = workspace.dir.path().join("corpus.txt");
    std::fs::write(&file, corpus()).unwrap();
    workspace.change(&[&format!("data.paths=['{}']", file.display())]);
    workspace.change(overrides);
    workspace.complete(How::default());
    let held_out = workspace
        .metrics()
        .iter()
        .filter_map(|line| line.get("val_loss")?.as_f64())
        .collect::<Vec<f64>>();
    (losses(&workspace.run_dir()), held_out)
}

#[test]
fn each_precision_learns() {
    let mut ends = Vec::new();
    for precision in ["f32", "f64", "bf16", "f16"] {
        let (losses, held_out) = learn(&[&format!("precision={precision}")]);
        // Bytes at random cost ln 257 = 5.55 nats; the corpus, once learnt,
        // leaves the choice of a line's first word.
        assert!(
            (losses[0] - 257_f32.ln()).abs() < 0.2,
            "{precision} begins at {}",
            losses[0]
        );
        let end = losses.iter().rev().take(10).sum::<f32>() / 10.0;
        assert!(end < 1.0, "{precision} ends at {end}");
        assert_eq!(held_out.len(), 2);
        assert!(
            held_out[1] < 1.0 && held_out[1] < held_out[0],
            "{precision}: {held_out:?}"
        );
        println!(
            "{precision}: loss {:.4} -> {end:.4}, held out {:.4}",
            losses[0], held_out[1]
        );
        ends.push(f64::from(end));
    }
    // Coarser types take another path to about the same place.
    for end in &ends[1..] {
        assert!((end - ends[0]).abs() < 0.1, "{ends:?}");
    }
}

/// Largest relative difference of two runs' losses.
fn distance(a: &[f32], b: &[f32]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .map(|(a, b)| (f64::from(*a) - f64::from(*b)).abs() / f64::from(*b))
        .fold(0.0, f64::max)
}

#[test]
fn micro_batches_add_up_to_one_big_batch() {
    let run = |precision: &str, micro: usize| {
        let workspace = Workspace::tiny(&[
            &format!("precision={precision}"),
            &format!("micro_batch_size={micro}"),
            "global_batch_size=8",
            "train_iters=12",
            "lr_warmup_iters=2",
        ]);
        workspace.complete(How::default());
        (losses(&workspace.run_dir()), workspace.newest())
    };
    for (precision, tolerance) in [("f32", 1e-6), ("f64", 0.0)] {
        let (big, whole) = run(precision, 8);
        for micro in [1, 2, 4] {
            let (small, parts) = run(precision, micro);
            let worst = distance(&small, &big);
            println!(
                "{precision}, 8 = {} x {micro}: losses differ by {worst:e}",
                8 / micro
            );
            // Losses are written in f32: sums of f64 that differ in their last
            // bits round to the same, or to neighbours.
            assert!(
                worst <= tolerance + f64::from(f32::EPSILON),
                "{precision}, micro batch {micro}: {worst:e}"
            );
            if precision == "f64" {
                let furthest = weights_apart(&whole, &parts);
                println!("  weights differ by {furthest:e}");
                assert!(furthest < 1e-11, "weights differ by {furthest:e}");
            }
        }
    }
}

/// Largest difference of an f64 weight between two checkpoints.
fn weights_apart(
    a: &cairn_train::checkpoint::Checkpoint,
    b: &cairn_train::checkpoint::Checkpoint,
) -> f64 {
    let numbers = |bytes: &[u8]| {
        bytes
            .chunks_exact(8)
            .map(|one| f64::from_le_bytes(one.try_into().unwrap()))
            .collect::<Vec<_>>()
    };
    let mut furthest: f64 = 0.0;
    for (a, b) in a
        .records
        .iter()
        .zip(&b.records)
        .filter(|(a, _)| !a.name.contains('@'))
    {
        for (a, b) in numbers(&a.bytes).iter().zip(numbers(&b.bytes)) {
            furthest = furthest.max((a - b).abs());
        }
    }
    furthest
}

#[test]
fn micro_batches_come_close_in_half_precision() {
    let run = |precision: &str, micro: usize| {
        let workspace = Workspace::tiny(&[
            &format!("precision={precision}"),
            &format!("micro_batch_size={micro}"),
            "global_batch_size=8",
            "train_iters=12",
        ]);
        workspace.complete(How::default());
        losses(&workspace.run_dir())
    };
    for precision in ["bf16", "f16"] {
        let worst = distance(&run(precision, 2), &run(precision, 8));
        println!("{precision}: losses differ by {worst:e}");
        // Activations of a sequence do not depend on its batch; gradients are
        // rounded to the compute type once a micro batch.
        assert!(worst < 1e-3, "{precision}: {worst:e}");
    }
}
