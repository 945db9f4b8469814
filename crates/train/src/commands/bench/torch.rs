//! The peer `PyTorch`: what Cairn can be compared with it in, and how the
//! scripts in `ci/peers` are asked.

use std::path::Path;

use cairn_base::{Diagnostic, Exec};
use cairn_config::native::{
    Activation, ModelParams, NativeExperiment, Precision, Recompute, SoftmaxType, TrainingParams,
};
use serde::de::DeserializeOwned;

use super::super::Context;
use crate::error::TrainError;

/// Environment in which glibc keeps freed memory: the faster form of the peer.
const TUNED_MALLOC: [(&str, &str); 3] = [
    ("MALLOC_TOP_PAD_", "268435456"),
    ("MALLOC_MMAP_THRESHOLD_", "4294967296"),
    ("MALLOC_TRIM_THRESHOLD_", "8589934592"),
];

/// How to make the peer's Python.
const INSTALL: &str = "ci/peers/README.md says how to install the peer";

/// No comparison, and why.
pub(super) fn refuse(message: impl Into<String>, hint: &str) -> TrainError {
    Box::new(Diagnostic::error("bench::peer", message).hint(hint)).into()
}

/// Refuses an experiment of which the peer would train something else.
pub(super) fn comparable(experiment: &NativeExperiment) -> Result<(), TrainError> {
    let lacks = [
        model_lacks(&experiment.model),
        training_lacks(&experiment.training),
    ]
    .concat();
    if lacks.is_empty() {
        return Ok(());
    }
    Err(refuse(
        format!(
            "the peer cannot do what the experiment asks: {}",
            lacks.join(", ")
        ),
        "the peer is a plain Llama trained on one batch a step; leave out `--peer`, or change the experiment",
    ))
}

/// What the peer's model cannot be.
fn model_lacks(model: &ModelParams) -> Vec<&'static str> {
    let wide = model.query_size() != model.hidden_size;
    [
        (!model.architecture.is_trainable(), "its architecture"),
        (model.add_qkv_bias, "biases on q, k and v"),
        (model.add_bias_linear, "biases on every linear layer"),
        (model.qk_layernorm, "norms on q and k"),
        (
            !model.untie_embeddings_and_output_weights,
            "tied embeddings",
        ),
        (wide, "heads not as wide together as the model"),
        (model.rope_scaling.is_some(), "scaled rotary frequencies"),
        (
            model.activation != Activation::Swiglu,
            "another activation than swiglu",
        ),
        (
            model.softmax_type != SoftmaxType::Vanilla,
            "attention sinks",
        ),
        (model.window_size.is_some(), "sliding windows"),
    ]
    .into_iter()
    .filter_map(|(asked, what)| asked.then_some(what))
    .collect()
}

/// What the peer's training cannot do.
fn training_lacks(training: &TrainingParams) -> Vec<&'static str> {
    let dropout = training.attention_dropout > 0.0 || training.hidden_dropout > 0.0;
    [
        (training.num_micro_batches(1) != 1, "gradient accumulation"),
        (dropout, "dropout"),
        (training.z_loss_coeff > 0.0, "z-loss"),
        (training.clip_grad == 0.0, "training without clipping"),
        (
            training.recompute_granularity != Recompute::None,
            "recomputation",
        ),
        (
            !matches!(training.precision, Precision::F32 | Precision::Bf16),
            "another precision than f32 and bf16",
        ),
    ]
    .into_iter()
    .filter_map(|(asked, what)| asked.then_some(what))
    .collect()
}

/// Refuses to compare models of different sizes.
pub(super) fn same_parameters(own: u64, peer: u64) -> Result<(), TrainError> {
    if own == peer {
        return Ok(());
    }
    Err(refuse(
        format!("the models differ: {own} parameters in cairn, {peer} in the peer"),
        "compare an experiment that the peer can build; this is a fault of ci/peers otherwise",
    ))
}

/// A script of `ci/peers`, with the engine's number of threads.
pub(super) fn script(context: &Context, python: &Path, name: &str) -> Result<Exec, TrainError> {
    let Some(project) = &context.project else {
        return Err(refuse(
            "the peer's script lies in a checkout",
            "run this inside a checkout of Cairn",
        ));
    };
    Ok(Exec::new(python)
        .arg(project.join("ci/peers").join(name))
        .arg("--threads")
        .arg(context.threads.to_string()))
}

/// The peer's training of the same model by the same rules.
pub(super) fn trainer(
    context: &Context,
    python: &Path,
    experiment: &NativeExperiment,
    steps: usize,
) -> Result<Exec, TrainError> {
    let (model, training) = (&experiment.model, &experiment.training);
    let sizes = [
        ("--dim", model.hidden_size),
        ("--layers", model.num_layers),
        ("--heads", model.num_attention_heads),
        ("--kv-heads", model.num_query_groups),
        ("--ffn", model.ffn_hidden_size),
        ("--vocab", model.vocab_size),
        ("--seq", training.seq_length),
        ("--batch", training.global_batch_size),
        ("--steps", steps),
    ];
    let numbers = [
        ("--rope-theta", model.rotary_base),
        ("--norm-eps", model.norm_epsilon),
        ("--init-std", model.init_method_std),
        ("--lr", training.lr),
        ("--min-lr", training.min_lr),
        ("--weight-decay", training.weight_decay),
        ("--beta1", training.adam_beta1),
        ("--beta2", training.adam_beta2),
        ("--eps", training.adam_eps),
        ("--clip", training.clip_grad),
    ];
    let dtype = match training.precision {
        Precision::F32 => "f32",
        _ => "bf16-autocast",
    };
    let mut exec = script(context, python, "torch_train.py")?.args(["--json", "--dtype", dtype]);
    for (flag, size) in sizes {
        exec = exec.arg(flag).arg(size.to_string());
    }
    for (flag, number) in numbers {
        exec = exec.arg(flag).arg(number.to_string());
    }
    Ok(exec)
}

/// In the environment in which the peer is fastest.
pub(super) fn tuned(mut exec: Exec) -> Exec {
    for (name, value) in TUNED_MALLOC {
        exec = exec.env(name, value);
    }
    exec
}

/// Runs a script and reads the object it prints.
pub(super) fn answer<T: DeserializeOwned>(exec: &Exec) -> Result<T, TrainError> {
    let output = exec
        .output()
        .map_err(|error| refuse(error.to_string(), INSTALL))?;
    serde_json::from_slice(&output.stdout).map_err(|error| {
        refuse(
            format!("the peer's answer cannot be read: {error}"),
            INSTALL,
        )
    })
}

#[cfg(test)]
pub(super) mod tests {
    use cairn_config::{Options, SystemEnv, SystemFiles};

    use super::*;

    /// The shipped experiment, which the peer can train.
    pub(in super::super) fn quickstart() -> NativeExperiment {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let roots = [root.join("configs")];
        let options = Options {
            files: &SystemFiles,
            env: &SystemEnv,
            roots: &roots,
            overrides: &[],
            module: "pre_trainer",
        };
        let file = root.join("configs/experiments/quickstart.yaml");
        let resolved = cairn_config::resolve(&file, &options).0.unwrap();
        let native = resolved.module().unwrap().native.as_ref().unwrap();
        native.as_ref().clone()
    }

    #[test]
    fn what_the_peer_would_train_otherwise_is_refused_by_name() {
        type Change = fn(&mut NativeExperiment);
        assert!(comparable(&quickstart()).is_ok());
        let table: &[(Change, &str)] = &[
            (|e| e.model.add_qkv_bias = true, "biases on q, k and v"),
            (|e| e.model.qk_layernorm = true, "norms on q and k"),
            (
                |e| e.model.untie_embeddings_and_output_weights = false,
                "tied embeddings",
            ),
            (|e| e.model.kv_channels *= 2, "heads not as wide"),
            (
                |e| e.training.global_batch_size *= 2,
                "gradient accumulation",
            ),
            (|e| e.training.hidden_dropout = 0.1, "dropout"),
            (|e| e.training.precision = Precision::F16, "precision"),
        ];
        for (change, expected) in table {
            let mut experiment = quickstart();
            change(&mut experiment);
            let error = comparable(&experiment).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains(expected), "{error}");
        }
    }

    #[test]
    fn models_of_different_sizes_are_not_compared() {
        assert!(same_parameters(10, 10).is_ok());
        let error = same_parameters(10, 11).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("10 parameters in cairn, 11"));
    }
}
