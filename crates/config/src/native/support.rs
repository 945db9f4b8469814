//! What the native engine cannot train yet, although it can be described,
//! counted and estimated.

use cairn_base::Diagnostic;

use super::experiment::{Activation, ModelParams, RopeScalingType, SoftmaxType};

/// Refuses a model that the native engine cannot train.
///
/// # Errors
/// One diagnostic that names the model's part that is not there.
pub fn trainable(model: &ModelParams) -> Result<(), Diagnostic> {
    let yarn = model
        .rope_scaling
        .as_ref()
        .is_some_and(|scaling| scaling.kind == RopeScalingType::Yarn);
    let parts = [
        (model.num_experts.is_some(), "experts"),
        (model.multi_latent_attention, "latent attention"),
        (
            model.softmax_type == SoftmaxType::Learnable,
            "attention sinks",
        ),
        (model.window_size.is_some(), "sliding windows"),
        (yarn, "YaRN scaling"),
        (model.add_bias_linear, "biases on every linear layer"),
        (model.mtp_num_layers > 0, "multi-token prediction"),
        (model.activation == Activation::SwigluOai, "clamped SwiGLU"),
    ];
    let lacking: Vec<&str> = parts
        .into_iter()
        .filter(|(used, _)| *used)
        .map(|(_, name)| name)
        .collect();
    if lacking.is_empty() && model.architecture.is_trainable() {
        return Ok(());
    }
    let name = model.architecture.name();
    let message = if lacking.is_empty() {
        format!("the native engine does not train `{name}` models")
    } else {
        format!(
            "the native engine does not train `{name}` models: it has no {}",
            lacking.join(", no ")
        )
    };
    Err(Diagnostic::error("config::untrainable", message)
        .hint("it trains `llama`, `qwen2` and `qwen3`; choose such a model preset")
        .hint("`cargo xtask plan estimate --exp EXPERIMENT` counts this one"))
}
