//! How many parameters a model has, in closed form from its architecture:
//! no graph and no weights are needed to know.

use serde::Serialize;

use super::experiment::ModelParams;

/// A model's parameters by what they are for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ParameterCount {
    /// All of them, MTP layers apart. Attention sinks, biases and the router's
    /// balancing biases count.
    pub total: u64,
    /// Those a token passes through: `total` without the experts it does not visit.
    pub active: u64,
    /// The token embedding.
    pub embedding: u64,
    /// The output projection; 0 where it is tied to the embedding.
    pub output: u64,
    /// The norm behind the last layer.
    pub final_norm: u64,
    /// Each layer.
    pub layers: Vec<LayerCount>,
    /// The MTP layers, without their copies of embedding and output projection;
    /// not part of `total`.
    pub mtp: u64,
    /// The part of `total` in matrices, which are multiplied and have copies in
    /// the compute dtype; the rest are norms, biases and sinks.
    pub matrices: u64,
}

/// Parameters of one layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LayerCount {
    /// Projections, biases, head norms and sinks of the attention.
    pub attention: u64,
    /// The FFN, or all experts with their router.
    pub ffn: u64,
    /// The part of `ffn` that a token passes through.
    pub ffn_active: u64,
    /// The norms before attention and FFN.
    pub norms: u64,
}

impl LayerCount {
    /// The whole layer.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.attention + self.ffn + self.norms
    }

    /// The part a token passes through.
    #[must_use]
    pub fn active(&self) -> u64 {
        self.attention + self.ffn_active + self.norms
    }
}

/// Counts a model's parameters.
#[must_use]
pub fn parameters(model: &ModelParams) -> ParameterCount {
    let hidden = model.hidden_size as u64;
    let embedding = model.vocab_size as u64 * hidden;
    let output = if model.untie_embeddings_and_output_weights {
        embedding
    } else {
        0
    };
    let attention = if model.multi_latent_attention {
        latent_attention(model)
    } else {
        attention(model)
    };
    let norms = 2 * hidden;
    let dense = gated_ffn(model, model.ffn_hidden_size);
    let (sparse, sparse_active) = experts(model);
    let layer = |has_experts: bool| {
        let (ffn, ffn_active) = if has_experts {
            (sparse, sparse_active)
        } else {
            (dense, dense)
        };
        LayerCount {
            attention,
            ffn,
            ffn_active,
            norms,
        }
    };
    let has_experts = |index: usize| model.moe_layer_freq.get(index).copied().unwrap_or(false);
    let layers: Vec<LayerCount> = (0..model.num_layers)
        .map(|index| layer(has_experts(index)))
        .collect();
    let last = model.num_layers.checked_sub(1).is_some_and(has_experts);
    // An MTP layer joins the normed hidden state and the normed embedding of
    // the next token (2h to h), runs one layer like the last and norms again.
    let mtp =
        model.mtp_num_layers as u64 * (2 * hidden * hidden + 3 * hidden + layer(last).total());
    let outside = embedding + output + hidden;
    let total = outside + layers.iter().map(LayerCount::total).sum::<u64>();
    let with_experts = (0..model.num_layers)
        .filter(|index| has_experts(*index))
        .count() as u64;
    let vectors = hidden
        + model.num_layers as u64 * (norms + attention_vectors(model))
        + (model.num_layers as u64 - with_experts) * ffn_biases(model, model.ffn_hidden_size)
        + with_experts * expert_vectors(model);
    ParameterCount {
        total,
        matrices: total - vectors,
        active: outside + layers.iter().map(LayerCount::active).sum::<u64>(),
        embedding,
        output,
        final_norm: hidden,
        layers,
        mtp,
    }
}

/// Grouped-query attention: q, k, v and output projections.
fn attention(model: &ModelParams) -> u64 {
    let hidden = model.hidden_size as u64;
    let (query, kv) = (model.query_size() as u64, model.kv_size() as u64);
    hidden * (2 * query + 2 * kv) + attention_vectors(model)
}

/// Biases, head norms and sinks of grouped-query attention, or the norms of the
/// latents.
fn attention_vectors(model: &ModelParams) -> u64 {
    if model.multi_latent_attention {
        return (model.q_lora_rank.unwrap_or(0) + model.kv_lora_rank.unwrap_or(0)) as u64;
    }
    let (query, kv) = (model.query_size() as u64, model.kv_size() as u64);
    let mut count = 0;
    if model.add_qkv_bias || model.add_bias_linear {
        count += query + 2 * kv;
    }
    if model.add_bias_linear {
        count += model.hidden_size as u64;
    }
    if model.qk_layernorm {
        count += 2 * model.kv_channels as u64;
    }
    if model.softmax_type == super::SoftmaxType::Learnable {
        count += model.num_attention_heads as u64;
    }
    count
}

/// Latent attention (DeepSeek-V2, arXiv 2405.04434): low-rank q, one shared
/// key-value latent with a norm, one rotary key for all heads.
fn latent_attention(model: &ModelParams) -> u64 {
    let size = |value: Option<usize>| value.unwrap_or(0) as u64;
    let (hidden, heads) = (model.hidden_size as u64, model.num_attention_heads as u64);
    let (plain, rotary, value) = (
        size(model.qk_head_dim),
        size(model.qk_pos_emb_head_dim),
        size(model.v_head_dim),
    );
    let latent = size(model.kv_lora_rank);
    let query_heads = heads * (plain + rotary);
    let query = match model.q_lora_rank {
        Some(rank) => (hidden + 1 + query_heads) * rank as u64,
        None => hidden * query_heads,
    };
    let key_value = hidden * (latent + rotary) + latent + latent * heads * (plain + value);
    query + key_value + heads * value * hidden
}

/// Gate, up and down projections.
fn gated_ffn(model: &ModelParams, inner: usize) -> u64 {
    3 * (model.hidden_size * inner) as u64 + ffn_biases(model, inner)
}

/// Their biases.
fn ffn_biases(model: &ModelParams, inner: usize) -> u64 {
    if model.add_bias_linear {
        (2 * inner + model.hidden_size) as u64
    } else {
        0
    }
}

/// Biases of router and experts, and the router's balancing biases.
fn expert_vectors(model: &ModelParams) -> u64 {
    let number = model.num_experts.unwrap_or(0) as u64;
    let inner = model.moe_ffn_hidden_size.unwrap_or(model.ffn_hidden_size);
    let shared = model
        .moe_shared_expert_intermediate_size
        .map_or(0, |size| ffn_biases(model, size));
    router_biases(model) + number * ffn_biases(model, inner) + shared
}

fn router_biases(model: &ModelParams) -> u64 {
    let kinds = [model.add_bias_linear, model.moe_router_enable_expert_bias];
    let number = model.num_experts.unwrap_or(0) as u64;
    kinds.into_iter().filter(|used| *used).count() as u64 * number
}

/// Router, routed and shared experts: all of them, and those a token visits.
fn experts(model: &ModelParams) -> (u64, u64) {
    let number = model.num_experts.unwrap_or(0) as u64;
    let hidden = model.hidden_size as u64;
    let router = hidden * number + router_biases(model);
    let expert = gated_ffn(
        model,
        model.moe_ffn_hidden_size.unwrap_or(model.ffn_hidden_size),
    );
    let shared = model
        .moe_shared_expert_intermediate_size
        .map_or(0, |size| gated_ffn(model, size));
    let visited = (model.moe_router_topk as u64).min(number);
    (
        router + number * expert + shared,
        router + visited * expert + shared,
    )
}
