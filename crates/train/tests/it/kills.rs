//! Killed without warning, again and again, many times inside a checkpoint's
//! write: the end is that of the run that was left alone.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use cairn_formats::Philox;
use cairn_train::checkpoint::{partials, step_dirs};

use crate::engine::{How, RESUME, Workspace, assert_same_checkpoint, losses, process, wait_for};

const KILLS: u64 = 20;
/// Every other kill is aimed at a write, so this many at least fall inside one.
const INSIDE_AT_LEAST: usize = 5;

fn newest_step(checkpoints: &Path) -> u64 {
    step_dirs(checkpoints)
        .unwrap()
        .into_keys()
        .next_back()
        .unwrap_or(0)
}

/// The number of files of each write that process `pid` has not finished. What
/// an earlier process left, or an older step being deleted, is none.
fn unfinished(checkpoints: &Path, pid: u32) -> Vec<usize> {
    let newest = newest_step(checkpoints);
    let is_write = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let step = name
            .trim_start_matches(".step-")
            .split('.')
            .next()
            .unwrap()
            .parse::<u64>();
        name.ends_with(&format!("partial-{pid}")) && step.unwrap() > newest
    };
    let count = |path: PathBuf| std::fs::read_dir(path).map_or(0, Iterator::count);
    let found = partials(checkpoints).unwrap_or_default();
    found.into_iter().filter(is_write).map(count).collect()
}

fn lines_of(run_dir: &Path) -> u64 {
    std::fs::read(run_dir.join("metrics.jsonl")).map_or(0, |text| {
        text.iter().filter(|byte| **byte == b'\n').count() as u64
    })
}

#[test]
fn twenty_kills_do_not_change_one_bit() {
    kills_change_nothing("f32");
}

#[test]
fn twenty_kills_do_not_change_one_bit_of_master_weights() {
    kills_change_nothing("bf16");
}

fn kills_change_nothing(precision: &str) {
    let seed = match std::env::var("CAIRN_TEST_SEED") {
        Ok(text) => text.parse().unwrap(),
        Err(_) => RandomState::new().hash_one(std::process::id()),
    };
    println!("seed {seed} (CAIRN_TEST_SEED={seed} repeats it)");
    let draws = Philox::new(seed).stream(0, 0);
    // No end of its own: where it ends is decided after the kills.
    let precision = format!("precision={precision}");
    let overrides = [
        precision.as_str(),
        "train_iters=1000000",
        "lr_decay_iters=200",
        "save_interval=3",
        "hidden_dropout=0.1",
        "eval_interval=20",
        "tensorboard=false",
    ];
    let mut workspace = Workspace::new("tiny_resume", &overrides);
    let (run_dir, checkpoints) = (workspace.run_dir(), workspace.checkpoints());
    let (mut inside, mut resumed) = (0, 0);
    for kill in 0..KILLS {
        let how = if kill == 0 { How::default() } else { RESUME };
        let mut process = process(&workspace.train_command(how), 2);
        process.stdout(Stdio::null()).stderr(Stdio::null());
        let request = PathBuf::from(process.get_args().last().unwrap());
        let draw = f64::from(draws.uniform(kill));
        let (first, lines) = (newest_step(&checkpoints), lines_of(&run_dir));
        let mut child = process.spawn().unwrap();
        let pid = child.id();
        // Every moment counts from when the request was taken.
        wait_for(&mut child, || !request.exists());
        if kill % 2 == 1 {
            // In one of the next writes, with its first file there or more.
            let goal = first + (draw * 9.0) as u64;
            let files = if draw < 0.5 { 1 } else { 2 };
            wait_for(&mut child, || {
                newest_step(&checkpoints) >= goal
                    && unfinished(&checkpoints, pid)
                        .iter()
                        .any(|count| *count >= files)
            });
        } else {
            // Up to ten steps later than ever, wherever that is.
            let goal = lines + (draw * 10.0) as u64;
            wait_for(&mut child, || lines_of(&run_dir) >= goal);
        }
        child.kill().unwrap();
        let status = child.wait().unwrap();
        assert_eq!(
            status.signal(),
            Some(9),
            "the run was over before kill {kill}: {status}"
        );
        inside += unfinished(&checkpoints, pid).len();
        resumed += usize::from(newest_step(&checkpoints) > 0);
    }
    println!(
        "{KILLS} kills, {inside} of them inside a checkpoint's write, {resumed} with a checkpoint to go on from"
    );
    assert!(
        inside >= INSIDE_AT_LEAST,
        "only {inside} kills fell inside a write"
    );
    let end = format!("train_iters={}", newest_step(&checkpoints) + 20);
    workspace.change(&[&end]);
    workspace.complete(RESUME);
    let mut want = Workspace::new("tiny_resume", &overrides);
    want.change(&[&end]);
    want.complete(How::default());
    assert_eq!(partials(&checkpoints).unwrap(), Vec::<PathBuf>::new());
    assert_eq!(losses(&run_dir), losses(&want.run_dir()));
    assert_eq!(workspace.metrics(), want.metrics());
    assert_same_checkpoint(&workspace.newest(), &want.newest(), "after the kills");
}
