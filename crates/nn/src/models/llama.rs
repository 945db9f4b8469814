//! Llama 2, 3, 3.1, 3.2 and 3.3 (Touvron et al., 2023; Dubey et al., 2024).
//!
//! Pre-norm blocks of causal attention with grouped queries and rotary
//! positions, and a SwiGLU feed-forward network; RMSNorm before the output.
//! Parameter names are Hugging Face's without the leading `model.`.

use cairn_graph::{Graph, GraphError, ValueId};

use crate::config::ModelConfig;
use crate::layers::{Forward, block, embedding, rms_norm};
use crate::weights::{Init, ParameterSpec};

/// `tokens: i32 [b, t] -> hidden: [b, t, d]`.
///
/// # Errors
/// When shapes do not fit.
pub fn forward(g: &mut Graph, f: &Forward<'_>, tokens: ValueId) -> Result<ValueId, GraphError> {
    let mut x_btd = embedding(g, f.weights, tokens)?;
    for layer in 0..f.config.num_layers {
        x_btd = block(g, f, layer, x_btd)?;
    }
    rms_norm(g, f, "norm", x_btd)
}

/// The parameter table.
#[must_use]
pub fn parameters(c: &ModelConfig) -> Vec<ParameterSpec> {
    let normal = Init::Normal(c.init_std);
    // Megatron: weights that write to the residual stream start smaller.
    let residual = Init::Normal(c.init_std / (2.0 * c.num_layers as f64).sqrt());
    let (d, f) = (c.hidden_size, c.ffn_hidden_size);
    let mut table = vec![ParameterSpec::new(
        "embed_tokens.weight",
        [c.vocab_size, d],
        normal,
    )];
    for layer in 0..c.num_layers {
        let mut row = |name: &str, shape: &[usize], init| {
            table.push(ParameterSpec::new(
                format!("layers.{layer}.{name}"),
                shape,
                init,
            ));
        };
        row("input_layernorm.weight", &[d], Init::Ones);
        row("self_attn.q_proj.weight", &[c.query_size(), d], normal);
        row("self_attn.k_proj.weight", &[c.kv_size(), d], normal);
        row("self_attn.v_proj.weight", &[c.kv_size(), d], normal);
        if c.qkv_bias() {
            row("self_attn.q_proj.bias", &[c.query_size()], Init::Zeros);
            row("self_attn.k_proj.bias", &[c.kv_size()], Init::Zeros);
            row("self_attn.v_proj.bias", &[c.kv_size()], Init::Zeros);
        }
        if c.qk_norm() {
            row("self_attn.q_norm.weight", &[c.head_dim], Init::Ones);
            row("self_attn.k_norm.weight", &[c.head_dim], Init::Ones);
        }
        row("self_attn.o_proj.weight", &[d, c.query_size()], residual);
        row("post_attention_layernorm.weight", &[d], Init::Ones);
        row("mlp.gate_proj.weight", &[f, d], normal);
        row("mlp.up_proj.weight", &[f, d], normal);
        row("mlp.down_proj.weight", &[d, f], residual);
    }
    table.push(ParameterSpec::new("norm.weight", [d], Init::Ones));
    if !c.tied_embeddings {
        table.push(ParameterSpec::new(
            "lm_head.weight",
            [c.vocab_size, d],
            normal,
        ));
    }
    table
}
