//! From the checked experiment to what `nn` and the data pipeline take.

use std::path::{Path, PathBuf};

use cairn_base::Diagnostic;
use cairn_config::native::{
    Activation, Architecture, DataSource, ModelParams, NativeExperiment,
    Precision as ConfigPrecision, Recompute as ConfigRecompute, RopeScalingType, Tokenizer,
    TrainingParams, trainable,
};
use cairn_graph::ops::{GluKind, RopeScaling};
use cairn_graph::passes::Recompute;
use cairn_nn::training::{OptimizerConfig, StepConfig};
use cairn_nn::{Family, ModelConfig, Precision};

use crate::data;

/// The model as `nn` builds it.
///
/// # Errors
/// When the native engine has no such model.
pub fn model(
    params: &ModelParams,
    training: &TrainingParams,
) -> Result<ModelConfig, Box<Diagnostic>> {
    trainable(params).map_err(Box::new)?;
    let refuse = |what: String| {
        Box::new(Diagnostic::error(
            "train::model",
            format!("the native engine cannot train {what}"),
        ))
    };
    let family = match params.architecture {
        Architecture::Llama => Family::Llama,
        Architecture::Qwen2 => Family::Qwen2,
        Architecture::Qwen3 => Family::Qwen3,
        other => return Err(refuse(format!("the architecture `{}`", other.name()))),
    };
    if params.add_qkv_bias != (family == Family::Qwen2)
        || params.qk_layernorm != (family == Family::Qwen3)
    {
        return Err(refuse(format!(
            "`{}` with these biases or norms on q and k",
            params.architecture.name()
        )));
    }
    if training.attention_dropout > 0.0 {
        return Err(refuse(
            "with `attention_dropout`: its attention never holds the probabilities".to_owned(),
        ));
    }
    let activation = match params.activation {
        Activation::Swiglu => GluKind::Swiglu,
        Activation::Geglu => GluKind::Geglu,
        Activation::SwigluOai => return Err(refuse("the activation `swiglu_oai`".to_owned())),
    };
    let rope_scaling = match &params.rope_scaling {
        None => None,
        Some(scaling) if scaling.kind == RopeScalingType::Llama3 => Some(RopeScaling {
            factor: scaling.factor,
            low_freq_factor: scaling.low_freq_factor,
            high_freq_factor: scaling.high_freq_factor,
            original_max_position_embeddings: scaling.original_max_position_embeddings,
        }),
        Some(_) => return Err(refuse("YaRN positions".to_owned())),
    };
    Ok(ModelConfig {
        family,
        num_layers: params.num_layers,
        hidden_size: params.hidden_size,
        ffn_hidden_size: params.ffn_hidden_size,
        num_heads: params.num_attention_heads,
        num_kv_heads: params.num_query_groups,
        head_dim: params.kv_channels,
        vocab_size: params.vocab_size,
        norm_eps: params.norm_epsilon,
        rope_base: params.rotary_base,
        rope_scaling,
        tied_embeddings: !params.untie_embeddings_and_output_weights,
        activation,
        init_std: params.init_method_std,
        hidden_dropout: training.hidden_dropout,
    })
}

/// dtypes of a run.
#[must_use]
pub fn precision(precision: ConfigPrecision) -> Precision {
    match precision {
        ConfigPrecision::Bf16 => Precision::Bf16,
        ConfigPrecision::F16 => Precision::F16,
        ConfigPrecision::F32 => Precision::F32,
        ConfigPrecision::F64 => Precision::F64,
    }
}

/// Shape and dtypes of a micro batch.
#[must_use]
pub fn step(training: &TrainingParams, vocab_size: usize) -> StepConfig {
    let tokens = training.micro_batch_size * training.seq_length;
    StepConfig {
        micro_batch: training.micro_batch_size,
        seq_len: training.seq_length,
        precision: precision(training.precision),
        recompute: match training.recompute_granularity {
            ConfigRecompute::None => Recompute::None,
            ConfigRecompute::Selective => Recompute::Selective,
            ConfigRecompute::Full => Recompute::Full,
        },
        z_loss: training.z_loss_coeff,
        loss_chunk: training
            .cross_entropy_chunk_tokens
            .unwrap_or_else(|| loss_chunk(tokens, vocab_size)),
    }
}

/// Logits of a chunk take about 8 MiB in f32: large enough for efficient
/// products, small beside the activations of a layer.
fn loss_chunk(tokens: usize, vocab_size: usize) -> usize {
    let fits = (8 << 20) / (4 * vocab_size.max(1));
    fits.next_multiple_of(64).max(64).min(tokens.max(1))
}

/// `AdamW`'s constants.
#[must_use]
pub fn optimizer(training: &TrainingParams) -> OptimizerConfig {
    OptimizerConfig {
        beta1: training.adam_beta1,
        beta2: training.adam_beta2,
        eps: training.adam_eps,
        weight_decay: training.weight_decay,
        clip_grad: training.clip_grad,
    }
}

/// What decides the data of a run.
#[must_use]
pub fn data(experiment: &NativeExperiment, project: Option<&Path>) -> data::Settings {
    let params = &experiment.data;
    data::Settings {
        source: match params.source {
            DataSource::Text => data::SourceKind::Text,
            DataSource::Jsonl => data::SourceKind::Jsonl,
            DataSource::Megatron => data::SourceKind::Megatron,
            DataSource::Mock => data::SourceKind::Mock,
        },
        paths: params.paths.clone(),
        text_key: params.text_key.clone(),
        tokenizer: params.tokenizer.as_ref().map(|tokenizer| match tokenizer {
            Tokenizer::Bpe { vocab_size } => data::TokenizerSettings::Bpe {
                vocab_size: *vocab_size,
            },
            Tokenizer::File { path } => data::TokenizerSettings::File { path: path.into() },
            Tokenizer::Bytes => data::TokenizerSettings::Bytes,
        }),
        vocab_size: experiment.model.vocab_size,
        validation_fraction: params.validation_fraction,
        seq_length: experiment.training.seq_length,
        seed: experiment.training.seed,
        cache_dir: match &params.cache_dir {
            Some(dir) => PathBuf::from(dir),
            None => Path::new(&experiment.meta.workspace)
                .join("cache")
                .join("tokens"),
        },
        workspace_root: project.map(Path::to_path_buf),
    }
}
