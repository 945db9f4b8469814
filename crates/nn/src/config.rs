//! What a model is, in the terms of the papers.

use cairn_graph::ops::{GluKind, RopeScaling};
use serde::{Deserialize, Serialize};

/// Which file of [`crate::models`] builds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Llama 2, 3, 3.1, 3.2, 3.3.
    Llama,
    /// Qwen2 and Qwen2.5: biases on queries, keys and values.
    Qwen2,
    /// Qwen3 dense: normalised queries and keys.
    Qwen3,
}

/// Sizes and choices of one model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelConfig {
    /// Which family.
    pub family: Family,
    /// Number of layers.
    pub num_layers: usize,
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// Width inside the feed-forward network.
    pub ffn_hidden_size: usize,
    /// Query heads.
    pub num_heads: usize,
    /// Key and value heads; divides `num_heads`.
    pub num_kv_heads: usize,
    /// Size of a head.
    pub head_dim: usize,
    /// Rows of the embedding table.
    pub vocab_size: usize,
    /// Added to the mean square in norms.
    pub norm_eps: f64,
    /// Base of the rotary frequencies.
    pub rope_base: f64,
    /// Llama 3's scaling of the rotary frequencies.
    pub rope_scaling: Option<RopeScaling>,
    /// The output projection is the embedding table.
    pub tied_embeddings: bool,
    /// Activation of the feed-forward network.
    pub activation: GluKind,
    /// Standard deviation of initial weights; those that write to the residual
    /// stream are divided by `sqrt(2 num_layers)`.
    pub init_std: f64,
    /// Probability of dropping an element written to the residual stream.
    pub hidden_dropout: f64,
}

impl ModelConfig {
    /// Width of all query heads together.
    #[must_use]
    pub fn query_size(&self) -> usize {
        self.num_heads * self.head_dim
    }

    /// Width of all key heads together.
    #[must_use]
    pub fn kv_size(&self) -> usize {
        self.num_kv_heads * self.head_dim
    }

    /// Queries, keys and values have biases.
    #[must_use]
    pub fn qkv_bias(&self) -> bool {
        self.family == Family::Qwen2
    }

    /// Each head's query and key are normalised.
    #[must_use]
    pub fn qk_norm(&self) -> bool {
        self.family == Family::Qwen3
    }
}
