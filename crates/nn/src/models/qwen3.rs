//! Qwen3 dense (Yang et al., 2025): Llama's blocks with RMSNorm over each
//! head's query and key before the rotation, and a head size of its own.

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
