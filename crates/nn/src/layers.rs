//! The layers models are written with.
//!
//! Shapes: b batch, t tokens, d hidden, h heads, k head size, f feed-forward.

use cairn_graph::ops::{Attention, Dropout, Embedding, Glu, GluKind, RmsNorm, Rope};
use cairn_graph::{Graph, GraphError, ValueId};

use crate::config::ModelConfig;
use crate::decode::KvCache;
use crate::weights::Weights;

type Built = Result<ValueId, GraphError>;

/// What every layer of one forward pass shares.
#[derive(Debug)]
pub struct Forward<'a> {
    /// The model.
    pub config: &'a ModelConfig,
    /// Its parameters.
    pub weights: &'a Weights,
    /// Rotary table `[t, k]`.
    pub rope: ValueId,
    /// Seed and step as i64 `[2]`, where dropout is on.
    pub rng: Option<ValueId>,
    /// Keys and values of earlier tokens, when generating.
    pub cache: Option<KvCache>,
}

/// `tokens: i32 [b, t] -> [b, t, d]` in the compute dtype.
///
/// # Errors
/// When the parameter is missing.
pub fn embedding(g: &mut Graph, weights: &Weights, tokens: ValueId) -> Built {
    g.scoped("embed_tokens", |g| {
        g.add1(Embedding {}, &[weights.get("embed_tokens.weight")?, tokens])
    })
}

/// RMSNorm over the innermost dim with the parameter `<name>.weight`.
///
/// # Errors
/// When shapes do not fit.
pub fn rms_norm(g: &mut Graph, f: &Forward<'_>, name: &str, x: ValueId) -> Built {
    let weight = f.weights.get(&format!("{name}.weight"))?;
    let outputs = in_scope(g, name, |g| {
        g.add(
            RmsNorm {
                eps: f.config.norm_eps,
            },
            &[x, weight],
        )
    })?;
    Ok(outputs[0])
}

/// `x W^T (+ bias)` with the parameters `<name>.weight` `[out, in]` and, where
/// the table has it, `<name>.bias` `[out]`.
///
/// # Errors
/// When shapes do not fit.
pub fn linear(g: &mut Graph, weights: &Weights, name: &str, x: ValueId) -> Built {
    in_scope(g, name, |g| {
        let y = g.matmul(x, weights.get(&format!("{name}.weight"))?, true)?;
        let bias = format!("{name}.bias");
        if !weights.contains(&bias) {
            return Ok(y);
        }
        let bias = g.cast(weights.get(&bias)?, weights.compute())?;
        g.add_(y, bias)
    })
}

/// Causal self-attention with grouped queries and rotary positions:
/// `x: [b, t, d] -> [b, t, d]`.
///
/// # Errors
/// When shapes do not fit.
pub fn self_attention(g: &mut Graph, f: &Forward<'_>, layer: usize, x_btd: ValueId) -> Built {
    let c = f.config;
    let name = format!("layers.{layer}.self_attn");
    let (b, t) = (g.ty(x_btd).shape[0], g.ty(x_btd).shape[1]);
    let heads = |g: &mut Graph, role: &str, count: usize| {
        let y = linear(g, f.weights, &format!("{name}.{role}"), x_btd)?;
        g.reshape(y, [b, t, count, c.head_dim])
    };
    let mut q_bthk = heads(g, "q_proj", c.num_heads)?;
    let mut k_bthk = heads(g, "k_proj", c.num_kv_heads)?;
    let v_bthk = heads(g, "v_proj", c.num_kv_heads)?;
    if c.qk_norm() {
        q_bthk = rms_norm(g, f, &format!("{name}.q_norm"), q_bthk)?;
        k_bthk = rms_norm(g, f, &format!("{name}.k_norm"), k_bthk)?;
    }
    let attended = in_scope(g, &name, |g| {
        let q = g.add1(Rope { inverse: false }, &[q_bthk, f.rope])?;
        let k = g.add1(Rope { inverse: false }, &[k_bthk, f.rope])?;
        let op = Attention {
            scale: 1.0 / (c.head_dim as f64).sqrt(),
            causal: true,
        };
        let outputs = match &f.cache {
            None => g.add(op, &[q, k, v_bthk])?,
            Some(cache) => {
                let (keys, values) = cache.extend(g, layer, k, v_bthk)?;
                g.add(op, &[q, keys, values, cache.position])?
            }
        };
        g.reshape(outputs[0], [b, t, c.query_size()])
    })?;
    linear(g, f.weights, &format!("{name}.o_proj"), attended)
}

/// Gated feed-forward network: `x: [b, t, d] -> [b, t, d]`.
///
/// # Errors
/// When shapes do not fit.
pub fn feed_forward(g: &mut Graph, f: &Forward<'_>, layer: usize, x_btd: ValueId) -> Built {
    let name = format!("layers.{layer}.mlp");
    let gate_btf = linear(g, f.weights, &format!("{name}.gate_proj"), x_btd)?;
    let up_btf = linear(g, f.weights, &format!("{name}.up_proj"), x_btd)?;
    let kind: GluKind = f.config.activation;
    let inner_btf = in_scope(g, &name, |g| g.add1(Glu { kind }, &[gate_btf, up_btf]))?;
    linear(g, f.weights, &format!("{name}.down_proj"), inner_btf)
}

/// `residual + dropout(x)`.
///
/// # Errors
/// When shapes do not fit.
pub fn add_residual(
    g: &mut Graph,
    f: &Forward<'_>,
    name: &str,
    residual: ValueId,
    x: ValueId,
) -> Built {
    in_scope(g, name, |g| {
        let x = match f.rng {
            Some(rng) if f.config.hidden_dropout > 0.0 => {
                let key = cairn_formats::scope_hash(name);
                g.add1(
                    Dropout {
                        p: f.config.hidden_dropout,
                        key,
                    },
                    &[x, rng],
                )?
            }
            _ => x,
        };
        g.add_(residual, x)
    })
}

/// A pre-norm transformer block: attention and feed-forward, each with its norm
/// before and its residual around. `x: [b, t, d] -> [b, t, d]`.
///
/// # Errors
/// When shapes do not fit.
pub fn block(g: &mut Graph, f: &Forward<'_>, layer: usize, x_btd: ValueId) -> Built {
    let normed = rms_norm(g, f, &format!("layers.{layer}.input_layernorm"), x_btd)?;
    let attended = self_attention(g, f, layer, normed)?;
    let x_btd = add_residual(g, f, &format!("layers.{layer}.self_attn"), x_btd, attended)?;
    let normed = rms_norm(
        g,
        f,
        &format!("layers.{layer}.post_attention_layernorm"),
        x_btd,
    )?;
    let transformed = feed_forward(g, f, layer, normed)?;
    add_residual(g, f, &format!("layers.{layer}.mlp"), x_btd, transformed)
}

/// Builds in the scope of this whole path, whatever the current one is.
fn in_scope<T>(
    g: &mut Graph,
    path: &str,
    body: impl FnOnce(&mut Graph) -> Result<T, GraphError>,
) -> Result<T, GraphError> {
    let scope = g.intern_scope(path);
    g.located(scope, cairn_graph::Stage::Forward, body)
}
