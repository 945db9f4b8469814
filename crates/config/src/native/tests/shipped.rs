//! The experiments that ship, through the whole pipeline from file to types.

use std::path::{Path, PathBuf};

use cairn_base::Diagnostic;

use super::rendered;
use crate::native::{
    DataSource, LrDecayStyle, NativeExperiment, Precision, SampleParams, Tokenizer, parameters,
};
use crate::{Env, Options, SystemFiles, resolve};

struct NoVariables;

impl Env for NoVariables {
    fn get(&self, _name: &str) -> Option<String> {
        None
    }
}

fn run(experiment: &str, overrides: &[&str]) -> (Option<NativeExperiment>, Vec<Diagnostic>) {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs");
    let path = root.join("experiments").join(experiment);
    let overrides: Vec<String> = overrides.iter().map(|token| (*token).to_owned()).collect();
    let options = Options {
        files: &SystemFiles,
        env: &NoVariables,
        roots: &[root],
        overrides: &overrides,
        module: "pre_trainer",
    };
    let (resolved, diagnostics) = resolve(&path, &options);
    let native = resolved.and_then(|resolved| resolved.module()?.native.clone());
    (native.map(|native| (*native).clone()), diagnostics)
}

fn right(experiment: &str, overrides: &[&str]) -> NativeExperiment {
    let (native, diagnostics) = run(experiment, overrides);
    assert!(
        diagnostics.is_empty(),
        "{experiment}: {}",
        rendered(&diagnostics)
    );
    native.expect("no diagnostic")
}

#[test]
fn the_quickstart_is_what_it_says() {
    let experiment = right("quickstart.yaml", &[]);
    assert_eq!(experiment.meta.run_dir, "./output/local/me/quickstart");
    let model = &experiment.model;
    assert_eq!(
        (
            model.hidden_size,
            model.num_layers,
            model.num_attention_heads
        ),
        (320, 6, 5)
    );
    assert_eq!(
        (
            model.ffn_hidden_size,
            model.num_query_groups,
            model.kv_channels
        ),
        (864, 5, 64)
    );
    assert_eq!(parameters(model).total, 10_059_840);
    let data = &experiment.data;
    assert_eq!(
        (data.source, data.validation_fraction),
        (DataSource::Text, 0.05)
    );
    assert_eq!(data.paths, ["cargo-registry"]);
    assert_eq!(data.tokenizer, Some(Tokenizer::Bpe { vocab_size: 4096 }));
    let training = &experiment.training;
    assert_eq!(
        (training.seed, training.seq_length, training.train_iters),
        (1234, 256, 400)
    );
    assert_eq!(
        (training.micro_batch_size, training.global_batch_size),
        (8, 8)
    );
    assert_eq!((training.eval_interval, training.eval_iters), (100, 10));
    assert_eq!((training.lr, training.min_lr), (2e-3, 2e-4));
    assert_eq!(training.lr_decay_style, LrDecayStyle::Cosine);
    assert_eq!(
        (training.lr_warmup_iters, training.lr_decay_iters),
        (32, 400)
    );
    assert_eq!((training.adam_beta1, training.adam_beta2), (0.9, 0.95));
    assert_eq!((training.weight_decay, training.clip_grad), (0.1, 1.0));
    assert_eq!(training.precision, Precision::Bf16);
    assert_eq!(
        (
            training.save_interval,
            training.keep_last,
            training.log_interval
        ),
        (200, 2, 10)
    );
    let sample = SampleParams {
        prompt: "pub fn ".to_owned(),
        tokens: 200,
        temperature: 0.8,
        top_k: None,
    };
    assert_eq!(training.sample, Some(sample));
}

#[test]
fn every_experiment_that_ships_is_right() {
    let bench = right("bench_28M.yaml", &["precision=f32"]);
    assert_eq!(parameters(&bench.model).total, 27_795_968);
    assert_eq!(bench.training.tokens_per_step(), 2048);
    assert_eq!(bench.training.precision, Precision::F32);
    let tiny = right("tiny_resume.yaml", &[]);
    assert_eq!(tiny.training.num_micro_batches(1), 2);
    assert_eq!(tiny.training.lr_warmup_iters, 5);
}

#[test]
fn a_mistake_on_the_command_line_is_shown_there() {
    let (native, diagnostics) = run(
        "quickstart.yaml",
        &[
            "lr=1e-3",
            "train_iters=0",
            "--data.tokenizer.vocab_size",
            "8192",
            "sede=1",
        ],
    );
    assert!(native.is_none());
    let found: Vec<(&str, &str)> = diagnostics
        .iter()
        .map(|d| {
            (
                d.code,
                d.labels
                    .first()
                    .map_or("", |label| label.source.name.as_str()),
            )
        })
        .collect();
    let line = "<command line>";
    assert_eq!(
        found,
        [
            ("config::out-of-range", line),
            ("config::number-as-text", line),
            ("config::unknown-key", line),
            ("config::contradiction", line),
        ],
        "{}",
        rendered(&diagnostics)
    );
}

#[test]
fn what_is_typed_last_wins_over_foreign_names_and_presets() {
    let precision = |experiment: &str, overrides: &[&str]| {
        let (native, diagnostics) = run(experiment, overrides);
        let codes: Vec<&str> = diagnostics
            .iter()
            .map(|diagnostic| diagnostic.code)
            .collect();
        (native.map(|native| native.training.precision), codes)
    };
    // tiny_resume.yaml says `precision: f32`.
    assert_eq!(
        precision("tiny_resume.yaml", &["fp16=true"]),
        (Some(Precision::F16), vec!["config::foreign-name"])
    );
    assert_eq!(
        precision("tiny_resume.yaml", &["fp16=true", "precision=f64"]),
        (None, vec!["config::contradiction"])
    );
    assert_eq!(
        precision("tiny_resume.yaml", &["precision=f64"]),
        (Some(Precision::F64), vec![])
    );
}

/// What is typed on a command line gets a hint that can be typed there.
#[test]
fn overrides_that_are_wrong_are_told_what_to_write() {
    #[rustfmt::skip]
    let table: &[(&str, &str, &str)] = &[
        ("data.paths=[Cargo.toml]", "must be a list of texts", "`\"data.paths=['Cargo.toml']\"`"),
        ("sample=null", "must be a mapping", "`sample=None`"),
        ("lr=true", "`lr` must be a number", "write a number, as in `lr: "),
        ("hidden_size=[]", "must be an integer", "write a number, as in `hidden_size: 64`"),
        ("seed=18446744073709551616", "must be from 0 to 9223372036854775807", "seed"),
        ("exp_name=../../x", "leads out of the workspace", "set `workspace`"),
        ("user_name=/tmp", "leads out of the workspace", "set `workspace`"),
        ("exp_name=", "`exp_name` is empty", "such as `run-1`"),
    ];
    for (token, message, hint) in table {
        let (experiment, diagnostics) = run("quickstart.yaml", &[token]);
        assert!(experiment.is_none(), "{token}");
        let errors: Vec<_> = diagnostics.iter().filter(|one| one.is_error()).collect();
        let text = rendered(&diagnostics);
        assert_eq!(errors.len(), 1, "{token}: {text}");
        assert!(errors[0].message.contains(message), "{token}: {text}");
        let said = errors[0].hints.iter().any(|one| one.contains(hint));
        assert!(said, "{token}: {text}");
    }
    // What the hints say is right.
    let quoted = right(
        "quickstart.yaml",
        &["data.paths=['Cargo.toml']", "sample=None"],
    );
    assert_eq!(quoted.data.paths, ["Cargo.toml"]);
    assert!(quoted.training.sample.is_none());
}
