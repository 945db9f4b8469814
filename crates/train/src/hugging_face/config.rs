//! `config.json` to a model and back, by the names of `transformers`.

use cairn_formats::DType;
use cairn_graph::ops::{GluKind, RopeScaling};
use cairn_nn::{Family, ModelConfig};
use serde_json::{Value, json};

/// The model a `config.json` describes.
///
/// Rotary settings are read in both forms: `rope_theta` beside `rope_scaling`,
/// and the newer `rope_parameters` that holds all of them.
///
/// # Errors
/// What is missing or not known.
pub fn from_config(json: &Value) -> Result<ModelConfig, String> {
    let size = |key: &str| {
        let value = json
            .get(key)
            .and_then(Value::as_u64)
            .and_then(|value| usize::try_from(value).ok());
        value.ok_or_else(|| format!("`{key}` is missing or no size"))
    };
    let number = |key: &str| json.get(key).and_then(Value::as_f64);
    let flag = |key: &str| json.get(key).and_then(Value::as_bool).unwrap_or(false);
    let family = match json.get("model_type").and_then(Value::as_str) {
        Some("llama") => Family::Llama,
        Some("qwen2") => Family::Qwen2,
        Some("qwen3") => Family::Qwen3,
        other => {
            return Err(format!(
                "`model_type` {} is not known",
                other.unwrap_or("(missing)")
            ));
        }
    };
    if family != Family::Qwen2 && flag("attention_bias")
        || flag("mlp_bias")
        || flag("use_sliding_window")
    {
        return Err("biases or a sliding window are not supported for this family".to_owned());
    }
    let num_heads = size("num_attention_heads")?;
    let hidden_size = size("hidden_size")?;
    let activation = match json.get("hidden_act").and_then(Value::as_str) {
        Some("silu") | None => GluKind::Swiglu,
        Some("gelu_pytorch_tanh") => GluKind::Geglu,
        Some(other) => return Err(format!("`hidden_act` {other} is not known")),
    };
    let rope = json.get("rope_parameters").filter(|rope| rope.is_object());
    let base = rope
        .and_then(|rope| rope.get("rope_theta"))
        .and_then(Value::as_f64)
        .or_else(|| number("rope_theta"));
    Ok(ModelConfig {
        family,
        num_layers: size("num_hidden_layers")?,
        hidden_size,
        ffn_hidden_size: size("intermediate_size")?,
        num_heads,
        num_kv_heads: size("num_key_value_heads").unwrap_or(num_heads),
        head_dim: size("head_dim").unwrap_or(hidden_size / num_heads.max(1)),
        vocab_size: size("vocab_size")?,
        norm_eps: number("rms_norm_eps").unwrap_or(1e-6),
        rope_base: base.unwrap_or(10_000.0),
        rope_scaling: rope_scaling(rope.or_else(|| json.get("rope_scaling")))?,
        tied_embeddings: flag("tie_word_embeddings"),
        activation,
        init_std: number("initializer_range").unwrap_or(0.02),
        hidden_dropout: 0.0,
    })
}

fn rope_scaling(json: Option<&Value>) -> Result<Option<RopeScaling>, String> {
    let Some(json) = json.filter(|json| json.is_object()) else {
        return Ok(None);
    };
    let kind = json
        .get("rope_type")
        .or_else(|| json.get("type"))
        .and_then(Value::as_str);
    let number = |key: &str| {
        json.get(key)
            .and_then(Value::as_f64)
            .ok_or_else(|| format!("the rotary scaling lacks `{key}`"))
    };
    match kind {
        None | Some("default") => Ok(None),
        Some("llama3") => Ok(Some(RopeScaling {
            factor: number("factor")?,
            low_freq_factor: number("low_freq_factor")?,
            high_freq_factor: number("high_freq_factor")?,
            original_max_position_embeddings: number("original_max_position_embeddings")? as usize,
        })),
        Some(other) => Err(format!("the rotary scaling `{other}` is not known")),
    }
}

/// The `config.json` of a model whose weights are written in `dtype`.
#[must_use]
pub fn to_config(model: &ModelConfig, dtype: DType) -> Value {
    let (architecture, model_type) = match model.family {
        Family::Llama => ("LlamaForCausalLM", "llama"),
        Family::Qwen2 => ("Qwen2ForCausalLM", "qwen2"),
        Family::Qwen3 => ("Qwen3ForCausalLM", "qwen3"),
    };
    let mut rope = json!({ "rope_type": "default", "rope_theta": model.rope_base });
    if let Some(scaling) = model.rope_scaling {
        rope = json!({
            "rope_type": "llama3", "rope_theta": model.rope_base, "factor": scaling.factor,
            "low_freq_factor": scaling.low_freq_factor, "high_freq_factor": scaling.high_freq_factor,
            "original_max_position_embeddings": scaling.original_max_position_embeddings,
        });
    }
    let scaling = if model.rope_scaling.is_some() {
        rope.clone()
    } else {
        Value::Null
    };
    json!({
        "architectures": [architecture], "model_type": model_type,
        "hidden_size": model.hidden_size, "intermediate_size": model.ffn_hidden_size,
        "num_hidden_layers": model.num_layers, "num_attention_heads": model.num_heads,
        "num_key_value_heads": model.num_kv_heads, "head_dim": model.head_dim,
        "vocab_size": model.vocab_size, "rms_norm_eps": model.norm_eps,
        "rope_theta": model.rope_base, "rope_scaling": scaling, "rope_parameters": rope,
        "tie_word_embeddings": model.tied_embeddings,
        "hidden_act": if model.activation == GluKind::Swiglu { "silu" } else { "gelu_pytorch_tanh" },
        "initializer_range": model.init_std, "attention_bias": false, "mlp_bias": false,
        "torch_dtype": if dtype == DType::BF16 { "bfloat16" } else { "float32" },
        "use_cache": true,
    })
}
