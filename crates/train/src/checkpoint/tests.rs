//! Checkpoints under test: round trips, damage of every kind, full and
//! read-only media, and processes killed while they write.

mod damage;
mod media;
mod round_trip;
mod run;

use std::path::Path;

use cairn_formats::DType;
use serde_json::json;

use super::*;

/// Bytes that differ by seed, position and step.
fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 24) as u8
        })
        .collect()
}

fn record(name: &str, dtype: DType, shape: &[usize], seed: u64) -> TensorRecord {
    let length = dtype.bytes(shape.iter().product());
    TensorRecord {
        name: name.into(),
        dtype,
        shape: shape.to_vec(),
        bytes: bytes(seed, length),
    }
}

/// A small state whose every byte depends on the step.
fn snapshot(step: u64) -> Snapshot {
    Snapshot {
        step,
        records: vec![
            record("embedding.weight", DType::BF16, &[16, 8], step),
            record("embedding.weight.master", DType::F32, &[16, 8], step + 1000),
            record("adam.count", DType::I64, &[], step + 2000),
            record("empty", DType::F32, &[0, 4], step),
        ],
        state: json!({"cursor": {"epoch": 0, "index": step * 8}, "scale": 1.0 / 3.0}),
        experiment: json!({"exp_name": "test", "overrides": {"lr": 2.0e-3}}),
    }
}

fn options() -> Options {
    Options {
        shard_bytes: 300,
        ..Options::default()
    }
}

fn saved(dir: &Path, steps: &[u64]) {
    for step in steps {
        save_now(dir, &snapshot(*step), &options()).unwrap();
    }
}

fn steps(dir: &Path) -> Vec<u64> {
    step_dirs(dir).unwrap().into_keys().collect()
}

/// What is in a folder, but for the lock of its writer.
fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != ".lock")
        .collect();
    names.sort();
    names
}

fn assert_holds(checkpoint: &Checkpoint, step: u64) {
    let wanted = snapshot(step);
    assert_eq!(checkpoint.step, step);
    assert_eq!(checkpoint.records, wanted.records);
    assert_eq!(checkpoint.state, wanted.state);
    assert_eq!(checkpoint.experiment, wanted.experiment);
}
