//! The same bits, whatever the number of threads and however often.

use crate::engine::{How, Workspace, assert_same_checkpoint, losses};

/// What has to hold for one kind of training.
fn same_bits(repeats: usize, overrides: &[&str]) -> Vec<f32> {
    let common = [
        "train_iters=6",
        "lr_warmup_iters=2",
        "save_interval=0",
        "eval_interval=3",
        "tensorboard=false",
    ];
    let overrides = [&common, overrides].concat();
    let mut first: Option<Workspace> = None;
    for threads in [1, 2, 4] {
        for repeat in 0..repeats {
            let workspace = Workspace::new("tiny_resume", &overrides);
            workspace.complete(How {
                threads,
                ..How::default()
            });
            let Some(first) = &first else {
                first = Some(workspace);
                continue;
            };
            let what = format!("{overrides:?} with {threads} threads, repeat {repeat}");
            assert_eq!(workspace.metrics(), first.metrics(), "{what}");
            assert_same_checkpoint(&workspace.newest(), &first.newest(), &what);
        }
    }
    let losses = losses(&first.unwrap().run_dir());
    assert_eq!(losses.len(), 6);
    assert!(
        losses.windows(2).all(|pair| pair[0] != pair[1]),
        "nothing was trained: {losses:?}"
    );
    losses
}

#[test]
fn training_bits_in_each_precision() {
    for precision in ["f32", "f64", "bf16"] {
        same_bits(2, &[&format!("precision={precision}")]);
    }
}

#[test]
fn training_bits_with_a_dynamic_loss_scale() {
    // The first scale overflows, so skipped steps are part of it.
    same_bits(
        2,
        &["precision=f16", "initial_loss_scale=1e12", "hysteresis=1"],
    );
}

#[test]
fn training_bits_with_accumulation_and_dropout_ten_times() {
    same_bits(
        10,
        &[
            "precision=bf16",
            "global_batch_size=8",
            "hidden_dropout=0.1",
        ],
    );
}

#[test]
fn training_bits_do_not_depend_on_recomputation() {
    for precision in ["f32", "bf16"] {
        let losses = |granularity: &str| {
            let recompute = format!("recompute_granularity={granularity}");
            same_bits(
                2,
                &[
                    &format!("precision={precision}"),
                    "hidden_dropout=0.1",
                    &recompute,
                ],
            )
        };
        let none = losses("none");
        assert_eq!(losses("selective"), none, "selective in {precision}");
        assert_eq!(losses("full"), none, "full in {precision}");
    }
}

#[test]
fn dropout_masks_follow_the_seed() {
    let with = |overrides: &[&str]| same_bits(1, overrides);
    let plain = with(&["hidden_dropout=0.1"]);
    assert_ne!(with(&["hidden_dropout=0.1", "seed=8"]), plain);
    assert_ne!(with(&["hidden_dropout=0.0"]), plain);
}
