//! Losses and gradients that are no numbers any more.

use crate::engine::{How, RESUME, Workspace};

/// A step so large that the next forward pass overflows.
const DIVERGING: [&str; 4] = [
    "lr=1.0e+30",
    "min_lr=0",
    "lr_warmup_iters=0",
    "lr_decay_style=constant",
];

#[test]
fn a_loss_that_is_nan_stops_with_step_and_checkpoint() {
    let mut workspace = Workspace::tiny(&[
        "train_iters=6",
        "save_interval=3",
        "lr_decay_style=constant",
    ]);
    workspace.complete(How::default());
    workspace.change(&["train_iters=20", "save_interval=100"]);
    workspace.change(&DIVERGING);
    let ended = workspace.train(RESUME);
    ended.expect_error(1, "train::non-finite", "at step 8", "step-00000006");
    ended.expect_error(1, "train::non-finite", "", "--detect-anomaly");
    // The last good one is good, and no other was written.
    assert_eq!(workspace.newest().step, 6);
    assert_eq!(crate::engine::losses(&workspace.run_dir()).len(), 7);
    workspace.change(&["lr=1.0e-3"]);
    workspace.complete(RESUME);
    assert_eq!(crate::engine::losses(&workspace.run_dir()).len(), 20);
}

#[test]
fn nan_before_any_checkpoint_says_so() {
    for precision in ["f32", "bf16"] {
        let mut workspace =
            Workspace::tiny(&["save_interval=100", &format!("precision={precision}")]);
        workspace.change(&DIVERGING);
        let ended = workspace.train(How::default());
        ended.expect_error(
            1,
            "train::non-finite",
            "at step 2",
            "no checkpoint was written",
        );
        assert!(
            cairn_train::checkpoint::step_dirs(&workspace.checkpoints())
                .unwrap()
                .is_empty()
        );
    }
}

#[test]
fn the_first_operator_with_a_non_finite_value_is_named() {
    let mut workspace = Workspace::tiny(&[
        "train_iters=6",
        "save_interval=3",
        "lr_decay_style=constant",
    ]);
    workspace.complete(How::default());
    workspace.change(&["train_iters=20", "save_interval=100"]);
    workspace.change(&DIVERGING);
    let ended = workspace.train(How {
        detect_anomaly: true,
        ..RESUME
    });
    let operator = "`rmsnorm_grad` in `norm`";
    ended.expect_error(1, "train::anomaly", operator, "were finite");
    ended.expect_error(1, "train::anomaly", "at step 8", "step-00000006");
    let mut workspace = Workspace::tiny(&["save_interval=100"]);
    workspace.change(&DIVERGING);
    let ended = workspace.train(How {
        detect_anomaly: true,
        ..How::default()
    });
    ended.expect_error(1, "train::anomaly", "at step 2", "no checkpoint was");
}

#[test]
fn a_constant_loss_scale_that_overflows_stops_and_a_dynamic_one_goes_on() {
    let overflow = ["precision=f16", "train_iters=8", "save_interval=0"];
    let mut workspace = Workspace::tiny(&overflow);
    workspace.change(&["loss_scale=1.0e12"]);
    let ended = workspace.train(How::default());
    ended.expect_error(
        1,
        "train::non-finite",
        "gradient norm",
        "no checkpoint was written",
    );
    let mut workspace = Workspace::tiny(&overflow);
    workspace.change(&["initial_loss_scale=4.0e6", "hysteresis=1"]);
    workspace.complete(How::default());
    let scale = workspace.newest().state["scaler"]["scale"]
        .as_f64()
        .unwrap();
    assert!(scale < 4.0e6, "{scale}");
}
