//! Qwen2 and Qwen2.5 dense (Yang et al., 2024): Llama's blocks with biases on
//! the projections to queries, keys and values.
//!
//! The differences are two rows of the parameter table, which Llama's file
//! holds under [`ModelConfig::qkv_bias`]; the layers use a bias where the table
//! has one.

use cairn_graph::{Graph, GraphError, ValueId};

use crate::config::ModelConfig;
use crate::layers::Forward;
use crate::models::llama;
use crate::weights::ParameterSpec;

/// `tokens: i32 [b, t] -> hidden: [b, t, d]`.
///
/// # Errors
/// When shapes do not fit.
pub fn forward(g: &mut Graph, f: &Forward<'_>, tokens: ValueId) -> Result<ValueId, GraphError> {
    llama::forward(g, f, tokens)
}

/// The parameter table.
#[must_use]
pub fn parameters(config: &ModelConfig) -> Vec<ParameterSpec> {
    llama::parameters(config)
}
