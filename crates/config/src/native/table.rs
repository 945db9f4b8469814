//! The parameters of `framework: native`: one row each with type, range,
//! default, unit and meaning. The strict check, the JSON schema and the module
//! preset all come from these rows.

/// A parameter of the native framework.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Key in `overrides`, dotted where it is nested.
    pub name: &'static str,
    /// What it may be.
    pub kind: FieldKind,
    /// What it is when nobody says.
    pub default: Fallback,
    /// Unit of a number, empty where there is none.
    pub unit: &'static str,
    /// Its meaning in one sentence.
    pub doc: &'static str,
}

/// What a parameter may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldKind {
    /// `true` or `false`.
    Bool,
    /// A whole number within these bounds, both included.
    Int {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// A finite number.
    Float(Interval),
    /// Any text.
    Text,
    /// A list of texts.
    Texts,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Which layers have experts: an interval, a list of 0 and 1, or the form `[0]*3+[1]*58`.
    LayerPattern,
    /// A mapping whose entries have rows of their own.
    Object,
}

/// An interval of real numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower bound.
    pub min: f64,
    /// Upper bound; infinite for none.
    pub max: f64,
    /// The lower bound itself is allowed.
    pub min_allowed: bool,
    /// The upper bound itself is allowed.
    pub max_allowed: bool,
}

impl Interval {
    /// True if the number lies within.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        let above = value > self.min || (self.min_allowed && value >= self.min);
        let below = value < self.max || (self.max_allowed && value <= self.max);
        value.is_finite() && above && below
    }
}

/// What a parameter is when nobody says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fallback {
    /// Somebody has to say.
    Required,
    /// `null`: there is none.
    Null,
    /// Computed from others, as told here; `null` asks for the same.
    Derived(&'static str),
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text or a choice.
    Text(&'static str),
    /// An empty list.
    Empty,
    /// The mapping exists; its entries have their own defaults.
    Entries,
}

impl Field {
    /// True if `null` is a value of this parameter.
    #[must_use]
    pub fn nullable(&self) -> bool {
        matches!(self.default, Fallback::Null | Fallback::Derived(_))
    }

    /// The name without the mapping it stands in.
    #[must_use]
    pub fn key(&self) -> &'static str {
        self.name.rsplit('.').next().unwrap_or(self.name)
    }

    /// The name of the mapping it stands in, empty at the top.
    #[must_use]
    pub fn parent(&self) -> &'static str {
        self.name.rsplit_once('.').map_or("", |(parent, _)| parent)
    }

    /// Its meaning as part of a sentence.
    #[must_use]
    pub fn meaning(&self) -> String {
        let doc = self.doc.trim_end_matches('.');
        let mut letters = doc.chars();
        match (letters.next(), letters.next()) {
            // `Width of` but not `MTP layers`.
            (Some(first), Some(second)) if !second.is_uppercase() => {
                first.to_lowercase().chain(doc.chars().skip(1)).collect()
            }
            _ => doc.to_owned(),
        }
    }

    /// The default as JSON; `None` for required ones and mappings.
    #[must_use]
    pub fn default_json(&self) -> Option<serde_json::Value> {
        match self.default {
            Fallback::Required | Fallback::Entries => None,
            Fallback::Null | Fallback::Derived(_) => Some(serde_json::Value::Null),
            Fallback::Bool(value) => Some(value.into()),
            Fallback::Int(value) => Some(value.into()),
            Fallback::Float(value) => Some(value.into()),
            Fallback::Text(value) => Some(value.into()),
            Fallback::Empty => Some(serde_json::Value::Array(Vec::new())),
        }
    }
}

/// The part of a native experiment a parameter belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// `NativeExperiment::model`.
    Model,
    /// `NativeExperiment::data`.
    Data,
    /// `NativeExperiment::training`.
    Training,
}

impl Section {
    /// All of them with their rows, in order.
    pub const ALL: [(Self, &'static [Field]); 3] = [
        (Self::Model, MODEL),
        (Self::Data, DATA),
        (Self::Training, TRAINING),
    ];

    /// The field's name in `NativeExperiment`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Data => "data",
            Self::Training => "training",
        }
    }
}

/// Every row, in order of the sections.
pub fn fields() -> impl Iterator<Item = &'static Field> {
    Section::ALL.into_iter().flat_map(|(_, rows)| rows)
}

/// The row with this dotted name.
#[must_use]
pub fn field(name: &str) -> Option<&'static Field> {
    fields().find(|field| field.name == name)
}

const POSITIVE: FieldKind = interval(0.0, false, f64::INFINITY, false);
const NOT_NEGATIVE: FieldKind = interval(0.0, true, f64::INFINITY, false);
/// From 0 up to but not including 1.
const BELOW_ONE: FieldKind = interval(0.0, true, 1.0, false);
const COUNT: FieldKind = int(1, i64::MAX);
/// A number of steps or the like where 0 switches something off.
const COUNT_OR_OFF: FieldKind = int(0, i64::MAX);

const fn interval(min: f64, min_allowed: bool, max: f64, max_allowed: bool) -> FieldKind {
    FieldKind::Float(Interval {
        min,
        max,
        min_allowed,
        max_allowed,
    })
}

const fn int(min: i64, max: i64) -> FieldKind {
    FieldKind::Int { min, max }
}

const fn row(
    name: &'static str,
    kind: FieldKind,
    default: Fallback,
    unit: &'static str,
    doc: &'static str,
) -> Field {
    Field {
        name,
        kind,
        default,
        unit,
        doc,
    }
}

use Fallback::{Derived, Empty, Entries, Null, Required};
use FieldKind::{Bool, Choice, LayerPattern, Object, Text, Texts};

// The upper bounds of sizes keep every parameter count below 2^63.
const LAYERS: FieldKind = int(1, 1 << 12);
const WIDTH: FieldKind = int(1, 1 << 17);
const INNER_WIDTH: FieldKind = int(1, 1 << 20);
const HEADS: FieldKind = int(1, 1 << 12);
const HEAD_SIZE: FieldKind = int(1, 1 << 13);
const EXPERTS: FieldKind = int(1, 1 << 12);
const TOKENS: FieldKind = int(1, 1 << 32);
const VOCAB: FieldKind = int(1, 1 << 24);

const ARCHITECTURES: &[&str] = &[
    "llama",
    "qwen2",
    "qwen3",
    "mixtral",
    "qwen3_moe",
    "deepseek_v2",
    "deepseek_v3",
    "gpt_oss",
];

/// Rows of `NativeExperiment::model`; they stand in model presets.
#[rustfmt::skip]
pub const MODEL: &[Field] = &[
    row("architecture", Choice(ARCHITECTURES), Required, "", "Model family."),
    row("num_layers", LAYERS, Required, "layers", "Transformer layers, without MTP layers."),
    row("hidden_size", WIDTH, Required, "", "Width of the residual stream."),
    row("ffn_hidden_size", INNER_WIDTH, Required, "", "Width of a dense FFN's inner layer."),
    row("num_attention_heads", HEADS, Required, "heads", "Query heads."),
    row("num_query_groups", HEADS, Derived("num_attention_heads"), "heads", "Key and value heads."),
    row("kv_channels", HEAD_SIZE, Derived("hidden_size / num_attention_heads"), "", "Size of one head."),
    row("vocab_size", VOCAB, Required, "tokens", "Rows of the embedding table."),
    row("max_position_embeddings", TOKENS, Required, "tokens", "Longest sequence the positions are meant for."),
    row("normalization", Choice(&["RMSNorm"]), Fallback::Text("RMSNorm"), "", "Kind of normalization."),
    row("norm_epsilon", POSITIVE, Fallback::Float(1e-5), "", "Added to the mean square in a norm."),
    row("rotary_base", interval(1.0, false, f64::INFINITY, false), Fallback::Float(10000.0), "", "Base of the rotary frequencies (theta)."),
    row("rope_scaling", Object, Null, "", "Stretching of the rotary frequencies; null for plain RoPE."),
    row("rope_scaling.type", Choice(&["llama3", "yarn"]), Required, "", "Method of rotary scaling."),
    row("rope_scaling.factor", interval(1.0, true, f64::INFINITY, false), Required, "", "How many times longer the positions get."),
    row("rope_scaling.low_freq_factor", POSITIVE, Fallback::Float(1.0), "", "llama3: wave lengths above original / low_freq_factor are stretched fully."),
    row("rope_scaling.high_freq_factor", POSITIVE, Fallback::Float(4.0), "", "llama3: wave lengths below original / high_freq_factor stay."),
    row("rope_scaling.original_max_position_embeddings", TOKENS, Required, "tokens", "Positions the model was first trained with."),
    row("rope_scaling.beta_fast", POSITIVE, Fallback::Float(32.0), "rotations", "yarn: rotations above which a frequency stays."),
    row("rope_scaling.beta_slow", POSITIVE, Fallback::Float(1.0), "rotations", "yarn: rotations below which a frequency is stretched fully."),
    row("activation", Choice(&["swiglu", "geglu", "swiglu_oai"]), Fallback::Text("swiglu"), "", "Gated activation of the FFN."),
    row("untie_embeddings_and_output_weights", Bool, Fallback::Bool(true), "", "The output projection is a matrix of its own."),
    row("add_qkv_bias", Bool, Fallback::Bool(false), "", "Biases on the q, k and v projections."),
    row("add_bias_linear", Bool, Fallback::Bool(false), "", "Biases on every linear layer, the router included."),
    row("qk_layernorm", Bool, Fallback::Bool(false), "", "RMSNorm over each head of q and k."),
    row("softmax_type", Choice(&["vanilla", "learnable"]), Fallback::Text("vanilla"), "", "learnable: one learned logit a head joins the softmax (attention sink)."),
    row("window_size", TOKENS, Null, "tokens", "Sliding attention window; null for full attention."),
    row("window_attn_skip_freq", LAYERS, Null, "layers", "With a window: every how many layers attention is full."),
    row("init_method_std", POSITIVE, Fallback::Float(0.02), "", "Standard deviation of the initial weights."),
    row("multi_latent_attention", Bool, Fallback::Bool(false), "", "Latent attention (MLA) in place of grouped-query attention."),
    row("q_lora_rank", WIDTH, Null, "", "MLA: rank of the query's low-rank projection; null for a full one."),
    row("kv_lora_rank", WIDTH, Null, "", "MLA: rank of the key-value latent."),
    row("qk_head_dim", HEAD_SIZE, Null, "", "MLA: size of a head's part of q and k without positions."),
    row("qk_pos_emb_head_dim", HEAD_SIZE, Null, "", "MLA: size of a head's part of q and k with rotary positions."),
    row("v_head_dim", HEAD_SIZE, Null, "", "MLA: size of a head's value."),
    row("num_experts", EXPERTS, Null, "experts", "Routed experts in a layer; null for a dense model."),
    row("moe_router_topk", EXPERTS, Fallback::Int(2), "experts", "Experts a token visits."),
    row("moe_ffn_hidden_size", INNER_WIDTH, Derived("ffn_hidden_size"), "", "Width of a routed expert's inner layer."),
    row("moe_shared_expert_intermediate_size", INNER_WIDTH, Null, "", "Summed width of the shared experts; null for none."),
    row("moe_layer_freq", LayerPattern, Fallback::Int(1), "", "Layers with experts: every n-th, a list of 0 and 1, or a form such as \"[0]*3+[1]*58\"."),
    row("moe_router_score_function", Choice(&["softmax", "sigmoid"]), Fallback::Text("softmax"), "", "What turns router logits into scores."),
    row("moe_router_enable_expert_bias", Bool, Fallback::Bool(false), "", "A bias per expert that balances the load."),
    row("moe_router_num_groups", EXPERTS, Null, "groups", "Groups of experts for group-limited routing."),
    row("moe_router_group_topk", EXPERTS, Null, "groups", "Groups a token may visit."),
    row("moe_router_topk_scaling_factor", POSITIVE, Null, "", "Factor on the routed experts' summed output."),
    row("mtp_num_layers", int(0, 1 << 12), Fallback::Int(0), "layers", "Multi-token-prediction layers behind the model."),
];

/// Rows of `NativeExperiment::data`.
#[rustfmt::skip]
pub const DATA: &[Field] = &[
    row("data", Object, Entries, "", "What the model reads."),
    row("data.source", Choice(&["text", "jsonl", "megatron", "mock"]), Required, "", "Kind of source: text files, JSON lines, Megatron .bin/.idx pairs, generated tokens."),
    row("data.paths", Texts, Empty, "", "Globs, files, prefixes of .bin/.idx pairs, or the named source cargo-registry."),
    row("data.text_key", Text, Fallback::Text("text"), "", "jsonl: key of the text in a line."),
    row("data.tokenizer", Object, Null, "", "How text becomes tokens; needed for text and jsonl."),
    row("data.tokenizer.kind", Choice(&["bpe", "file", "bytes"]), Required, "", "bpe: trained on the corpus; file: a tokenizer.json; bytes: one token a byte."),
    row("data.tokenizer.vocab_size", VOCAB, Derived("vocab_size"), "tokens", "bpe: entries of the vocabulary, special tokens included."),
    row("data.tokenizer.path", Text, Null, "", "file: path of the tokenizer.json."),
    row("data.validation_fraction", BELOW_ONE, Fallback::Float(0.05), "", "Share of the documents held out for evaluation."),
    row("data.cache_dir", Text, Null, "", "Where tokenised shards are kept; null for the default cache."),
];

/// Rows of `NativeExperiment::training`; they stand in the module preset.
#[rustfmt::skip]
pub const TRAINING: &[Field] = &[
    row("seed", int(0, i64::MAX), Fallback::Int(1234), "", "Key of every random number of the run."),
    row("seq_length", TOKENS, Fallback::Int(1024), "tokens", "Length of a training sequence."),
    row("micro_batch_size", int(1, 1 << 24), Fallback::Int(1), "sequences", "Sequences a rank processes at once."),
    row("global_batch_size", int(1, 1 << 24), Derived("micro_batch_size * ranks"), "sequences", "Sequences an optimizer step sees."),
    row("train_iters", COUNT, Fallback::Int(1000), "steps", "Optimizer steps."),
    row("eval_interval", COUNT_OR_OFF, Fallback::Int(100), "steps", "Steps between evaluations; 0 for never."),
    row("eval_iters", COUNT_OR_OFF, Fallback::Int(10), "global batches", "Length of an evaluation."),
    row("optimizer", Choice(&["adamw"]), Fallback::Text("adamw"), "", "Optimizer."),
    row("lr", POSITIVE, Fallback::Float(3e-4), "", "Highest learning rate."),
    row("min_lr", NOT_NEGATIVE, Fallback::Float(0.0), "", "Lowest learning rate after decay."),
    row("lr_decay_style", Choice(&["constant", "linear", "cosine", "WSD"]), Fallback::Text("cosine"), "", "Shape of the decay after warm-up."),
    row("lr_decay_iters", COUNT, Derived("train_iters"), "steps", "Steps until min_lr is reached, warm-up included."),
    row("lr_warmup_fraction", BELOW_ONE, Null, "of lr_decay_iters", "Length of the linear warm-up, as a share."),
    row("lr_warmup_iters", COUNT_OR_OFF, Fallback::Int(0), "steps", "Length of the linear warm-up."),
    row("lr_warmup_init", NOT_NEGATIVE, Fallback::Float(0.0), "", "Learning rate the warm-up starts from."),
    row("lr_wsd_decay_iters", COUNT, Null, "steps", "WSD: length of the closing decay, part of lr_decay_iters."),
    row("lr_wsd_decay_style", Choice(&["exponential", "linear", "cosine", "minus_sqrt"]), Fallback::Text("exponential"), "", "WSD: shape of the closing decay."),
    row("weight_decay", NOT_NEGATIVE, Fallback::Float(0.1), "", "Decoupled decay of matrices; norms and biases have none."),
    row("adam_beta1", BELOW_ONE, Fallback::Float(0.9), "", "Decay of the first moment."),
    row("adam_beta2", BELOW_ONE, Fallback::Float(0.95), "", "Decay of the second moment."),
    row("adam_eps", POSITIVE, Fallback::Float(1e-8), "", "Added to the root of the second moment."),
    row("clip_grad", NOT_NEGATIVE, Fallback::Float(1.0), "", "Largest global gradient norm; 0 for no clipping."),
    row("precision", Choice(&["bf16", "f16", "f32", "f64"]), Fallback::Text("bf16"), "", "Compute type; bf16 and f16 keep f32 master weights."),
    row("loss_scale", POSITIVE, Null, "", "f16: a constant loss scale; null for a dynamic one."),
    row("initial_loss_scale", POSITIVE, Fallback::Float(65536.0), "", "f16: first dynamic loss scale."),
    row("min_loss_scale", POSITIVE, Fallback::Float(1.0), "", "f16: lowest dynamic loss scale."),
    row("loss_scale_window", COUNT, Fallback::Int(1000), "steps", "f16: good steps before the scale doubles."),
    row("hysteresis", COUNT, Fallback::Int(2), "steps", "f16: overflows tolerated before the scale halves."),
    row("z_loss_coeff", NOT_NEGATIVE, Fallback::Float(0.0), "", "Weight of the squared log-partition in the loss; 0 for none."),
    row("attention_dropout", BELOW_ONE, Fallback::Float(0.0), "", "Probability of dropping an attention weight."),
    row("hidden_dropout", BELOW_ONE, Fallback::Float(0.0), "", "Probability of dropping an element written to the residual stream."),
    row("recompute_granularity", Choice(&["none", "selective", "full"]), Fallback::Text("none"), "", "What the backward pass recomputes."),
    row("cross_entropy_chunk_tokens", TOKENS, Null, "tokens", "Tokens whose logits exist at once in the loss; null lets the engine choose."),
    row("save_interval", COUNT_OR_OFF, Fallback::Int(1000), "steps", "Steps between checkpoints; 0 for the last step's only."),
    row("keep_last", int(1, 1 << 20), Fallback::Int(2), "checkpoints", "Newest checkpoints to keep."),
    row("keep_every", COUNT_OR_OFF, Fallback::Int(0), "steps", "Also keep checkpoints at multiples of this; 0 for none."),
    row("async_save", Bool, Fallback::Bool(true), "", "Write checkpoints beside the training."),
    row("log_interval", COUNT, Fallback::Int(10), "steps", "Steps between lines on the terminal; metrics are written every step."),
    row("sample", Object, Null, "", "Text generated at the end; null for none."),
    row("sample.prompt", Text, Required, "", "What the sample continues."),
    row("sample.tokens", int(1, 1 << 20), Fallback::Int(200), "tokens", "Tokens to generate."),
    row("sample.temperature", NOT_NEGATIVE, Fallback::Float(1.0), "", "0 takes the likeliest token each time."),
    row("sample.top_k", VOCAB, Null, "tokens", "Draw among this many likeliest tokens; null for all."),
    row("profile", COUNT_OR_OFF, Fallback::Int(0), "steps", "Steps to trace per operator; 0 for none."),
    row("detect_anomaly", Bool, Fallback::Bool(false), "", "Stop at the first non-finite value and name its operator."),
    row("tensorboard", Bool, Fallback::Bool(true), "", "Write TensorBoard event files."),
    row("prometheus_port", int(1, 65535), Null, "", "Port of the Prometheus endpoint; null for off."),
];
