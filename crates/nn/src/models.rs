//! The model families, one readable file each, and the choice among them.

pub mod llama;
pub mod qwen2;
pub mod qwen3;

use cairn_graph::ops::{Iota, RopeTable};
use cairn_graph::{Graph, GraphError, ValueId};

use crate::config::{Family, ModelConfig};
use crate::decode::KvCache;
use crate::layers::Forward;
use crate::weights::{ParameterSpec, Weights};

/// The parameter table of a model, in the order of the forward pass.
#[must_use]
pub fn parameters(config: &ModelConfig) -> Vec<ParameterSpec> {
    match config.family {
        Family::Llama => llama::parameters(config),
        Family::Qwen2 => qwen2::parameters(config),
        Family::Qwen3 => qwen3::parameters(config),
    }
}

/// Number of learned elements.
#[must_use]
pub fn num_parameters(config: &ModelConfig) -> usize {
    parameters(config)
        .iter()
        .map(|spec| spec.shape.num_elements())
        .sum()
}

/// `tokens: i32 [b, t] -> hidden: [b, t, d]`, normalised, ready for the output
/// projection. With a cache the tokens follow those already in it.
///
/// # Errors
/// When shapes do not fit.
pub fn forward(
    graph: &mut Graph,
    config: &ModelConfig,
    weights: &Weights,
    tokens: ValueId,
    rng: Option<ValueId>,
    cache: Option<KvCache>,
) -> Result<ValueId, GraphError> {
    let len = graph.ty(tokens).shape[1];
    let rope = graph.scoped("rope", |graph| {
        let mut positions = graph.add1(Iota { len }, &[])?;
        if let Some(cache) = &cache {
            positions = cache.shift(graph, positions)?;
        }
        let table = RopeTable {
            head_dim: config.head_dim,
            base: config.rope_base,
            scaling: config.rope_scaling,
        };
        graph.add1(table, &[positions])
    })?;
    let f = Forward {
        config,
        weights,
        rope,
        rng,
        cache,
    };
    match config.family {
        Family::Llama => llama::forward(graph, &f, tokens),
        Family::Qwen2 => qwen2::forward(graph, &f, tokens),
        Family::Qwen3 => qwen3::forward(graph, &f, tokens),
    }
}

/// The output projection `[v, d]`: its own matrix, or the embedding table.
///
/// # Errors
/// When the parameter is missing.
pub fn head(config: &ModelConfig, weights: &Weights) -> Result<ValueId, GraphError> {
    weights.get(if config.tied_embeddings {
        "embed_tokens.weight"
    } else {
        "lm_head.weight"
    })
}

/// Name of a parameter in Hugging Face's files.
#[must_use]
pub fn hugging_face_name(name: &str) -> String {
    if name.starts_with("lm_head.") {
        name.to_owned()
    } else {
        format!("model.{name}")
    }
}
