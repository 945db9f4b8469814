//! Training on simulated GPUs: the losses of the CPU, its checkpoints, its
//! messages, and no operator that falls back.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cairn_kernels::Arch;
use cairn_launch::request::{Command, Device, Hip};
use serde_json::Value;

use crate::engine::{Ended, How, Workspace, assert_same_checkpoint, losses, process};

#[path = "../../../../tests/support/kernels.rs"]
mod kernels;

const ARCHS: [&str; 2] = ["gfx942", "gfx950"];

fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// One simulated GPU, without a way out to the CPU.
pub(crate) fn device() -> Device {
    Device::Hip(Hip {
        ordinal: 0,
        kernels: scratch("kernels"),
        libraries: vec![scratch("sim")],
        cpu_fallback: false,
    })
}

/// Builds the kernels and puts the library where it is looked for; false after a
/// skip without a compiler.
pub(crate) fn ready() -> bool {
    let library = std::env::current_exe().unwrap();
    let library = library.with_file_name("libcairn_cdna_hip.so");
    std::fs::create_dir_all(scratch("sim")).unwrap();
    // Another test may just do the same: a name of its own, then in one step.
    let own = scratch("sim").join(std::process::id().to_string());
    std::os::unix::fs::symlink(library, &own).unwrap();
    std::fs::rename(own, scratch("sim/libamdhip64.so")).unwrap();
    kernels::build(&scratch("kernels")).is_some()
}

fn on(arch: &'static str) -> How {
    How {
        gpu: Some(arch),
        ..How::default()
    }
}

/// Sentences of a small grammar, which a model learns within a few steps.
fn write_text(path: &Path) {
    let words = [
        ["the cat", "a dog", "my friend", "this engine"],
        ["sees", "builds", "likes", "measures"],
        ["a house", "the tree", "two kernels", "the answer"],
    ];
    let mut text = String::new();
    for line in 0..6000_usize {
        let pick = |column: usize| words[column][(line * 7919 + 13) / (column * 5 + 3) % 4];
        text.push_str(&format!("{} {} {}.\n", pick(0), pick(1), pick(2)));
    }
    std::fs::write(path, text).unwrap();
}

/// Two layers of 128 on that text, or another preset.
fn workspace(model: &str, overrides: &[&str]) -> Workspace {
    let mut workspace = Workspace::with_model(
        model,
        &[
            "data.source=text",
            "data.tokenizer.kind=bytes",
            "vocab_size=320",
            "precision=bf16",
            "seq_length=32",
            "lr=1.0e-3",
            "lr_warmup_iters=0",
            "lr_decay_iters=30",
        ],
    );
    let text = workspace.dir.path().join("text.txt");
    write_text(&text);
    workspace.change(&[&format!("data.paths=['{}']", text.display())]);
    workspace.change(overrides);
    workspace
}

const WIDE: [&str; 2] = ["hidden_size=128", "ffn_hidden_size=256"];

/// The CPU's losses for the same experiment.
fn losses_of(model: &str, overrides: &[&str], how: How) -> Vec<f32> {
    let workspace = workspace(model, overrides);
    workspace.complete(how);
    losses(&workspace.run_dir())
}

#[track_caller]
fn assert_follows(what: &str, found: &[f32], wanted: &[f32]) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    for (step, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        assert!(
            (found - wanted).abs() <= 1e-2,
            "{what}: loss {found} instead of {wanted} at step {}",
            step + 1
        );
    }
}

#[test]
fn a_tiny_llama_trains_as_on_the_cpu() {
    if !ready() {
        return;
    }
    let overrides = [&WIDE[..], &["train_iters=30"]].concat();
    let wanted = losses_of("llama_tiny.yaml", &overrides, How::default());
    let (first, last) = (wanted[0], wanted[29]);
    assert!(first - last >= 1.0, "{first} to {last}");
    for arch in ARCHS {
        let found = losses_of("llama_tiny.yaml", &overrides, on(arch));
        assert!(found[0] - found[29] >= 1.0, "{arch}: {found:?}");
        assert_follows(arch, &found, &wanted);
    }
}

#[test]
fn other_families_train_as_on_the_cpu() {
    if !ready() {
        return;
    }
    for (model, arch, overrides) in [
        ("qwen3_tiny.yaml", "gfx942", &["train_iters=4"][..]),
        ("qwen2_tiny.yaml", "gfx950", &["train_iters=4"]),
        (
            "llama_tiny.yaml",
            "gfx942",
            &["train_iters=4", "untie_embeddings_and_output_weights=false"],
        ),
        (
            "llama_tiny.yaml",
            "gfx950",
            &["train_iters=4", "precision=f32", "hidden_dropout=0.1"],
        ),
    ] {
        let wanted = losses_of(model, overrides, How::default());
        let found = losses_of(model, overrides, on(arch));
        assert_follows(&format!("{model} {overrides:?}"), &found, &wanted);
    }
}

/// The names of the kernels in a run's trace.
fn traced(workspace: &Workspace) -> BTreeSet<String> {
    let text = std::fs::read_to_string(workspace.run_dir().join("trace.json")).unwrap();
    let trace: Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap().iter();
    let spans = events
        .filter(|event| event["ph"] == "X")
        .inspect(|event| assert_eq!(event["args"]["clock"], "cycle model"));
    let names = spans.filter_map(|event| event["name"].as_str());
    names
        .flat_map(|name| name.split('+'))
        .map(str::to_owned)
        .collect()
}

/// Every operator of a step ran on a kernel of the manifest.
#[test]
fn a_profile_names_the_gpus_kernels() {
    if !ready() {
        return;
    }
    let workspace = workspace("llama_tiny.yaml", &["train_iters=2"]);
    let ended = workspace.complete(How {
        profile: 1,
        ..on("gfx942")
    });
    assert!(
        ended.stderr.contains("times by: cycle model"),
        "{}",
        ended.stderr
    );
    let manifest = cairn_kernels::Manifest::load(&scratch("kernels"), Arch::Gfx942).unwrap();
    let names = traced(&workspace);
    for name in &names {
        assert!(
            manifest.kernels.contains_key(name),
            "{name} is no kernel: {names:?}"
        );
    }
    for wanted in [
        "adamw_f32",
        "attention_backward_keys_bf16",
        "attention_backward_queries_bf16",
        "attention_delta_bf16",
        "attention_forward_bf16",
        "cross_entropy_gradient_bf16",
        "cross_entropy_sum",
        "embedding_16",
        "embedding_backward_bf16_f32",
        "gemm_bf16_64x64_nn",
        "gemm_bf16_64x64_nt",
        "gemm_bf16_64x64_tn",
        "rmsnorm_forward_bf16_wide",
        "rope_bf16",
        "rope_table",
        "sum_parts",
        "swiglu_bf16",
        "swiglu_backward_bf16",
    ] {
        assert!(names.contains(wanted), "{wanted} is missing: {names:?}");
    }
}

/// Steps that are replayed from captured graphs have the bits of those whose operators are
/// started and waited for one by one, with one micro batch and with two.
#[test]
fn replayed_steps_have_the_bits_of_single_operators() {
    if !ready() {
        return;
    }
    for (arch, overrides, captured, launched, single) in [
        // Gradients and update.
        (
            "gfx942",
            &["train_iters=4", "global_batch_size=2"][..],
            2,
            6,
            2,
        ),
        // Gradients of the first micro batch and of the other, and update. The other's arena is
        // larger, so that in the second step the first finds all at other addresses.
        ("gfx950", &["train_iters=4", "hidden_dropout=0.1"], 3, 8, 4),
    ] {
        let run = |how: How| {
            let workspace = workspace("llama_tiny.yaml", overrides);
            let ended = workspace.complete(how);
            (losses(&workspace.run_dir()), workspace, ended.stderr)
        };
        let (found, replayed, said) = run(on(arch));
        let wanted = format!(
            "graphs: {captured} captured, {launched} launched, {single} runs operator by operator"
        );
        assert!(said.contains(&wanted), "{wanted}: {said}");
        let (wanted, eager, said) = run(How {
            detect_anomaly: true,
            ..on(arch)
        });
        assert!(
            said.contains("graphs: 0 captured, 0 launched") && said.contains("anomalies"),
            "{said}"
        );
        assert_eq!(found, wanted, "{arch}");
        assert_same_checkpoint(&replayed.newest(), &eager.newest(), arch);
    }
}

#[test]
fn a_gpu_is_chosen_by_its_number() {
    if !ready() {
        return;
    }
    let train = |ordinal: i32| {
        let workspace = workspace("llama_tiny.yaml", &["train_iters=1", "global_batch_size=2"]);
        let mut command = workspace.train_command(on("gfx942"));
        if let Command::Train(train) = &mut command
            && let Device::Hip(hip) = &mut train.device
        {
            hip.ordinal = ordinal;
        }
        let mut process = process(&command, 0);
        let ended: Ended = process
            .env("CAIRN_SIM", "gfx942:2")
            .output()
            .unwrap()
            .into();
        ended
    };
    let ended = train(1);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let message = "HIP has no device 2: it has 2, numbered from 0";
    train(2).expect_error(2, "train::device", message, "--device hip:N");
}

/// A run goes on from a checkpoint on the same device with the same bits, whatever the
/// order in which the device works, and on another device.
#[test]
fn checkpoints_move_between_devices() {
    if !ready() {
        return;
    }
    let whole = workspace("llama_tiny.yaml", &["train_iters=4", "save_interval=2"]);
    whole.complete(on("gfx942"));
    let wanted = losses(&whole.run_dir());
    for (first, then) in [
        (Some("gfx942"), Some("gfx942")),
        (None, Some("gfx942")),
        (Some("gfx942"), None),
    ] {
        let mut workspace = workspace("llama_tiny.yaml", &["train_iters=2", "save_interval=2"]);
        let start = How {
            gpu: first,
            sim_seed: 1,
            ..How::default()
        };
        workspace.complete(start);
        workspace.change(&["train_iters=4"]);
        let ended = workspace.complete(How {
            gpu: then,
            resume: true,
            sim_seed: 2,
            ..start
        });
        let found = losses(&workspace.run_dir());
        if first == then {
            assert_eq!(found, wanted, "{first:?}");
            assert_same_checkpoint(&workspace.newest(), &whole.newest(), "resumed");
        } else {
            assert_follows(&format!("{first:?} {then:?}"), &found, &wanted);
            assert!(
                ended.stderr.contains("train::other-isa"),
                "{}",
                ended.stderr
            );
        }
    }
}

#[test]
fn what_a_gpu_cannot_do_is_told() {
    if !ready() {
        return;
    }
    // Wrong numbers are found there too.
    let broken = workspace(
        "llama_tiny.yaml",
        &["train_iters=9", "lr=1.0e30", "clip_grad=0.0"],
    );
    let ended = broken.train(How {
        detect_anomaly: true,
        ..on("gfx942")
    });
    ended.expect_error(
        1,
        "train::anomaly",
        "the first non-finite value",
        "were finite",
    );

    let full = workspace("llama_tiny.yaml", &["train_iters=1"]).train(How {
        sim_memory: Some("3M"),
        ..on("gfx942")
    });
    full.expect_error(1, "train::memory", "not enough memory", "micro_batch_size");

    // In f16 no kernel computes.
    let half = workspace("llama_tiny.yaml", &["train_iters=1", "precision=f16"]);
    half.train(on("gfx942"))
        .expect_error(1, "train::engine", "no kernel for", "--cpu-fallback");

    let ended = workspace("llama_tiny.yaml", &["train_iters=1"]).train(on("gfx90a"));
    ended.expect_error(2, "train::device", "", "doctor");
}

/// What a run does beside its steps, on the GPU: evaluation, and text at the end.
#[test]
fn a_gpu_evaluates_and_writes_text_as_the_cpu() {
    if !ready() {
        return;
    }
    let overrides = [
        "train_iters=3",
        "eval_interval=3",
        "eval_iters=1",
        "precision=f32",
        "sample.prompt=the",
        "sample.tokens=6",
        "sample.temperature=0.0",
    ];
    let run = |how: How| {
        let workspace = workspace("llama_tiny.yaml", &overrides);
        let ended = workspace.complete(how);
        let evaluation = workspace
            .metrics()
            .into_iter()
            .find_map(|line| line["val_loss"].as_f64());
        let text = ended
            .stderr
            .lines()
            .find(|line| line.contains("the") && line.contains("sample"));
        (
            evaluation.expect("an evaluation"),
            text.map(str::to_owned),
            ended.stderr,
        )
    };
    let (loss, text, said) = run(How::default());
    let (found, on_gpu, _) = run(on("gfx950"));
    assert!((loss - found).abs() < 1e-3, "{found} instead of {loss}");
    assert!(text.is_some(), "{said}");
    assert_eq!(on_gpu, text);
}
