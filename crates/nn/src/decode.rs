//! Generation: the same forward builder with a cache of keys and values.

use cairn_graph::ops::{CacheWrite, MatMul, Slice};
use cairn_graph::{DType, Graph, GraphError, TensorType, ValueId};

use crate::config::ModelConfig;
use crate::models;
use crate::precision::Precision;
use crate::weights::Weights;

/// Keys and values of earlier tokens, as states of the graph.
#[derive(Clone, Copy, Debug)]
pub struct KvCache {
    /// Longest sequence.
    pub max_len: usize,
    /// Number of tokens already in it: i32 scalar.
    pub position: ValueId,
}

/// Name of a layer's cache of `keys` or `values`.
#[must_use]
pub fn cache_name(layer: usize, what: &str) -> String {
    format!("layers.{layer}.self_attn.cache_{what}")
}

impl KvCache {
    /// Writes new keys and values at the position and gives the whole caches.
    pub(crate) fn extend(
        &self,
        g: &mut Graph,
        layer: usize,
        k: ValueId,
        v: ValueId,
    ) -> Result<(ValueId, ValueId), GraphError> {
        let mut write = |what: &str, new: ValueId| {
            let mut dims = g.ty(new).shape.to_vec();
            dims[1] = self.max_len;
            let ty = TensorType::new(g.ty(new).dtype, dims);
            let cache = g.add_state(&cache_name(layer, what), ty)?;
            g.add1(CacheWrite {}, &[cache, new, self.position])
        };
        Ok((write("keys", k)?, write("values", v)?))
    }

    /// Positions of the new tokens.
    pub(crate) fn shift(&self, g: &mut Graph, positions: ValueId) -> Result<ValueId, GraphError> {
        // Integer addition has no operator of its own: f64 holds positions exactly.
        let wide = g.cast(positions, DType::F64)?;
        let start = g.cast(self.position, DType::F64)?;
        let sum = g.add_(wide, start)?;
        g.cast(sum, DType::I32)
    }
}

/// A program that reads `tokens: i32 [1, len]` after `position: i32 []` earlier
/// ones and gives the `logits: f32 [vocab]` that follow the last of them.
///
/// Caches are states named by [`cache_name`].
///
/// # Errors
/// When shapes do not fit.
pub fn decode(
    config: &ModelConfig,
    precision: Precision,
    len: usize,
    max_len: usize,
) -> Result<Graph, GraphError> {
    let mut g = Graph::new();
    let tokens = g.add_input("tokens", TensorType::new(DType::I32, [1, len]))?;
    let position = g.add_input("position", TensorType::new(DType::I32, []))?;
    let weights = Weights::declare(&mut g, &models::parameters(config), precision)?;
    let hidden = models::forward(
        &mut g,
        config,
        &weights,
        tokens,
        None,
        Some(KvCache { max_len, position }),
    )?;
    let d = config.hidden_size;
    let last = g.add1(
        Slice {
            start: vec![0, len - 1, 0],
            end: vec![1, len, d],
        },
        &[hidden],
    )?;
    let last = g.reshape(last, [1, d])?;
    let head = models::head(config, &weights)?;
    let product = MatMul {
        trans_a: false,
        trans_b: true,
        out_dtype: precision.master(),
    };
    let logits = g.scoped("lm_head", |g| g.add1(product, &[last, head]))?;
    let logits = g.cast(logits, DType::F32)?;
    let logits = g.reshape(logits, [config.vocab_size])?;
    g.set_output("logits", logits);
    Ok(g)
}

/// A program from `tokens: i32 [b, t]` to all `logits: [b, t, vocab]` in the
/// master dtype: for comparisons with other implementations.
///
/// # Errors
/// When shapes do not fit.
pub fn all_logits(
    config: &ModelConfig,
    precision: Precision,
    batch: usize,
    len: usize,
) -> Result<Graph, GraphError> {
    let mut g = Graph::new();
    let tokens = g.add_input("tokens", TensorType::new(DType::I32, [batch, len]))?;
    let weights = Weights::declare(&mut g, &models::parameters(config), precision)?;
    let hidden = models::forward(&mut g, config, &weights, tokens, None, None)?;
    let head = models::head(config, &weights)?;
    let product = MatMul {
        trans_a: false,
        trans_b: true,
        out_dtype: precision.master(),
    };
    let logits = g.scoped("lm_head", |g| g.add1(product, &[hidden, head]))?;
    g.set_output("logits", logits);
    Ok(g)
}
