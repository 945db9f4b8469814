//! The typed native experiment. Plain data: what is written here has been
//! checked, so a consumer needs no second check. Field names are Megatron's
//! where Megatron has one, and equal the keys of the experiment file.

use serde::{Deserialize, Serialize};

/// Everything a native run is made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NativeExperiment {
    /// Whose run it is and where it is kept.
    pub meta: ExperimentMeta,
    /// The model's architecture.
    pub model: ModelParams,
    /// What it reads.
    pub data: DataParams,
    /// How it is trained.
    pub training: TrainingParams,
}

/// Whose run it is and where it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExperimentMeta {
    /// Team.
    pub work_group: String,
    /// Person.
    pub user_name: String,
    /// Experiment.
    pub exp_name: String,
    /// Root of all outputs.
    pub workspace: String,
    /// `<workspace>/<work_group>/<user_name>/<exp_name>`.
    pub run_dir: String,
    /// Number of ranks the run is meant for; 1 for one process.
    pub world_size: usize,
}

/// Model family: which file of `nn::models` builds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Architecture {
    /// Llama 2, 3, 3.x.
    Llama,
    /// Qwen2 and Qwen2.5: Llama with biases on q, k and v.
    Qwen2,
    /// Qwen3 dense: Llama with RMSNorm on each head's q and k.
    Qwen3,
    /// Mixtral: Llama whose FFN is a mixture of experts.
    Mixtral,
    /// Qwen3 whose FFN is a mixture of experts.
    Qwen3Moe,
    /// DeepSeek-V2: latent attention, shared experts.
    DeepseekV2,
    /// DeepSeek-V3: V2 with sigmoid routing, router biases and MTP layers.
    DeepseekV3,
    /// gpt-oss: biases, attention sinks, sliding windows, experts.
    GptOss,
}

impl Architecture {
    /// True if the native engine can train it; the others can be counted and
    /// estimated only.
    #[must_use]
    pub fn is_trainable(self) -> bool {
        matches!(self, Self::Llama | Self::Qwen2 | Self::Qwen3)
    }

    /// The name in an experiment file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Llama => "llama",
            Self::Qwen2 => "qwen2",
            Self::Qwen3 => "qwen3",
            Self::Mixtral => "mixtral",
            Self::Qwen3Moe => "qwen3_moe",
            Self::DeepseekV2 => "deepseek_v2",
            Self::DeepseekV3 => "deepseek_v3",
            Self::GptOss => "gpt_oss",
        }
    }
}

/// The model's architecture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelParams {
    /// Model family.
    pub architecture: Architecture,
    /// Transformer layers, without MTP layers.
    pub num_layers: usize,
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// Width of a dense FFN's inner layer.
    pub ffn_hidden_size: usize,
    /// Query heads.
    pub num_attention_heads: usize,
    /// Key and value heads; equals `num_attention_heads` for plain multi-head attention.
    pub num_query_groups: usize,
    /// Size of one head; `num_attention_heads * kv_channels` may differ from `hidden_size`.
    pub kv_channels: usize,
    /// Rows of the embedding table.
    pub vocab_size: usize,
    /// Longest sequence the positions are meant for, in tokens.
    pub max_position_embeddings: usize,
    /// Kind of normalization.
    pub normalization: Normalization,
    /// Added to the mean square in a norm.
    pub norm_epsilon: f64,
    /// Base of the rotary frequencies (theta).
    pub rotary_base: f64,
    /// Stretching of the rotary frequencies; none for plain RoPE.
    pub rope_scaling: Option<RopeScaling>,
    /// Gated activation of the FFN.
    pub activation: Activation,
    /// True if the output projection is a matrix of its own.
    pub untie_embeddings_and_output_weights: bool,
    /// Biases on the q, k and v projections.
    pub add_qkv_bias: bool,
    /// Biases on every linear layer, the router included.
    pub add_bias_linear: bool,
    /// `RMSNorm` over each head of q and k.
    pub qk_layernorm: bool,
    /// Form of the attention softmax.
    pub softmax_type: SoftmaxType,
    /// Sliding window in tokens, for the layers that have one.
    pub window_size: Option<usize>,
    /// Every how many layers attention is full although there is a window: 2 means every other layer.
    pub window_attn_skip_freq: Option<usize>,
    /// Standard deviation of the initial weights. Megatron scales those that
    /// write to the residual stream by `1 / sqrt(2 * num_layers)`.
    pub init_method_std: f64,
    /// Latent attention (MLA); the five sizes below then count.
    pub multi_latent_attention: bool,
    /// Rank of the query's low-rank projection; none for a full one.
    pub q_lora_rank: Option<usize>,
    /// Rank of the key-value latent.
    pub kv_lora_rank: Option<usize>,
    /// Size of a head's part of q and k without positions.
    pub qk_head_dim: Option<usize>,
    /// Size of a head's part of q and k with rotary positions.
    pub qk_pos_emb_head_dim: Option<usize>,
    /// Size of a head's value.
    pub v_head_dim: Option<usize>,
    /// Routed experts in a layer; none for a dense model.
    pub num_experts: Option<usize>,
    /// Experts a token visits.
    pub moe_router_topk: usize,
    /// Width of a routed expert's inner layer; none means `ffn_hidden_size`.
    pub moe_ffn_hidden_size: Option<usize>,
    /// Summed width of the shared experts; none if there are none.
    pub moe_shared_expert_intermediate_size: Option<usize>,
    /// One entry a layer, true where the FFN is a mixture of experts; empty for a dense model.
    pub moe_layer_freq: Vec<bool>,
    /// What turns router logits into scores.
    pub moe_router_score_function: RouterScore,
    /// A bias per expert that balances the load (DeepSeek-V3).
    pub moe_router_enable_expert_bias: bool,
    /// Groups of experts for group-limited routing.
    pub moe_router_num_groups: Option<usize>,
    /// Groups a token may visit.
    pub moe_router_group_topk: Option<usize>,
    /// Factor on the routed experts' summed output.
    pub moe_router_topk_scaling_factor: Option<f64>,
    /// Multi-token-prediction layers behind the model.
    pub mtp_num_layers: usize,
}

impl ModelParams {
    /// Width of all query heads together.
    #[must_use]
    pub fn query_size(&self) -> usize {
        self.num_attention_heads * self.kv_channels
    }

    /// Width of all key heads together, and of all value heads.
    #[must_use]
    pub fn kv_size(&self) -> usize {
        self.num_query_groups * self.kv_channels
    }
}

/// Kind of normalization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Normalization {
    /// Root mean square, a scale and no shift.
    #[serde(rename = "RMSNorm")]
    RmsNorm,
}

/// Gated activation of the FFN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// `silu(gate) * up`.
    Swiglu,
    /// `gelu(gate) * up`.
    Geglu,
    /// gpt-oss: both halves clamped, `(up + 1) * gate * sigmoid(1.702 * gate)`.
    SwigluOai,
}

/// Form of the attention softmax.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SoftmaxType {
    /// The usual one.
    Vanilla,
    /// One learned logit a head joins the denominator (attention sink).
    Learnable,
}

/// What turns router logits into scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RouterScore {
    /// Over all experts, or over the chosen ones.
    Softmax,
    /// Of each expert by itself.
    Sigmoid,
}

/// Stretching of the rotary frequencies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RopeScaling {
    /// Method.
    #[serde(rename = "type")]
    pub kind: RopeScalingType,
    /// How many times longer the positions get.
    pub factor: f64,
    /// Llama 3: wave lengths above `original / low_freq_factor` are stretched fully.
    pub low_freq_factor: f64,
    /// Llama 3: wave lengths below `original / high_freq_factor` stay.
    pub high_freq_factor: f64,
    /// Positions the model was first trained with, in tokens.
    pub original_max_position_embeddings: usize,
    /// YaRN: rotations above which a frequency stays.
    pub beta_fast: f64,
    /// YaRN: rotations below which a frequency is stretched fully.
    pub beta_slow: f64,
}

/// Method of rotary scaling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RopeScalingType {
    /// Llama 3.1's, by wave length.
    Llama3,
    /// YaRN (arXiv 2309.00071); counted only, not trained.
    Yarn,
}

/// What a run reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataParams {
    /// Kind of source.
    pub source: DataSource,
    /// Globs, files, prefixes of `.bin`/`.idx` pairs, or named sources such as `cargo-registry`.
    pub paths: Vec<String>,
    /// Key of the text in a JSON line.
    pub text_key: String,
    /// How text becomes tokens; none only where the source holds tokens (`mock`, `megatron`).
    pub tokenizer: Option<Tokenizer>,
    /// Share of the documents held out for evaluation, in `[0, 1)`.
    pub validation_fraction: f64,
    /// Where tokenised shards are kept; none means the default cache directory.
    pub cache_dir: Option<String>,
}

/// Kind of data source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataSource {
    /// Text files, one document each.
    Text,
    /// One JSON object a line.
    Jsonl,
    /// Megatron's `.bin`/`.idx` pairs.
    Megatron,
    /// Generated tokens, for tests and measurements.
    Mock,
}

/// How text becomes tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Tokenizer {
    /// Byte-level BPE trained on the training side of the corpus.
    Bpe {
        /// Entries of the vocabulary, special tokens included; equals the model's.
        vocab_size: usize,
    },
    /// A `tokenizer.json`.
    File {
        /// Where it is.
        path: String,
    },
    /// One token a byte.
    Bytes,
}

/// How a model is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingParams {
    /// Key of every random number of the run.
    pub seed: u64,
    /// Tokens in a training sequence.
    pub seq_length: usize,
    /// Sequences a rank processes at once.
    pub micro_batch_size: usize,
    /// Sequences an optimizer step sees; a multiple of `micro_batch_size * world_size`.
    pub global_batch_size: usize,
    /// Optimizer steps.
    pub train_iters: u64,
    /// Steps between evaluations; 0 means never.
    pub eval_interval: u64,
    /// Global batches an evaluation reads.
    pub eval_iters: u64,
    /// Optimizer.
    pub optimizer: OptimizerKind,
    /// Highest learning rate.
    pub lr: f64,
    /// Lowest learning rate after decay.
    pub min_lr: f64,
    /// Shape of the decay.
    pub lr_decay_style: LrDecayStyle,
    /// Steps the decay takes, warm-up included; `train_iters` unless set.
    pub lr_decay_iters: u64,
    /// Steps of linear warm-up, whichever way it was given.
    pub lr_warmup_iters: u64,
    /// Learning rate the warm-up starts from.
    pub lr_warmup_init: f64,
    /// WSD: steps of the closing decay, part of `lr_decay_iters`; 0 for other styles.
    pub lr_wsd_decay_iters: u64,
    /// WSD: shape of the closing decay.
    pub lr_wsd_decay_style: WsdDecayStyle,
    /// Decoupled weight decay of matrices; norms and biases have none.
    pub weight_decay: f64,
    /// Decay of the first moment.
    pub adam_beta1: f64,
    /// Decay of the second moment.
    pub adam_beta2: f64,
    /// Added to the root of the second moment.
    pub adam_eps: f64,
    /// Largest global gradient norm; 0 means no clipping.
    pub clip_grad: f64,
    /// Compute type; f32 master weights in all but f64.
    pub precision: Precision,
    /// f16: a constant loss scale instead of a dynamic one.
    pub loss_scale: Option<f64>,
    /// f16: first dynamic loss scale.
    pub initial_loss_scale: f64,
    /// f16: lowest dynamic loss scale.
    pub min_loss_scale: f64,
    /// f16: good steps before the scale doubles.
    pub loss_scale_window: u64,
    /// f16: overflows tolerated before the scale halves.
    pub hysteresis: u64,
    /// Weight of the squared log-partition in the loss; 0 means none.
    pub z_loss_coeff: f64,
    /// Probability of dropping an attention weight.
    pub attention_dropout: f64,
    /// Probability of dropping an element written to the residual stream.
    pub hidden_dropout: f64,
    /// What the backward pass recomputes.
    pub recompute_granularity: Recompute,
    /// Tokens whose logits exist at once in the loss; none lets the engine choose.
    pub cross_entropy_chunk_tokens: Option<usize>,
    /// Steps between checkpoints; 0 means only the last step's.
    pub save_interval: u64,
    /// Newest checkpoints to keep.
    pub keep_last: usize,
    /// Also keep checkpoints whose step is a multiple of this; 0 means none.
    pub keep_every: u64,
    /// Write checkpoints beside the training.
    pub async_save: bool,
    /// Steps between lines on the terminal; metrics are written every step.
    pub log_interval: u64,
    /// Text generated at the end; none for no sample.
    pub sample: Option<SampleParams>,
    /// Steps to trace per operator after the second step; 0 means none.
    pub profile: u64,
    /// Stop at the first non-finite value and name its operator.
    pub detect_anomaly: bool,
    /// Write TensorBoard event files.
    pub tensorboard: bool,
    /// Port of the Prometheus endpoint; none means off.
    pub prometheus_port: Option<u16>,
}

impl TrainingParams {
    /// Micro batches a rank accumulates in one optimizer step.
    #[must_use]
    pub fn num_micro_batches(&self, world_size: usize) -> usize {
        self.global_batch_size / (self.micro_batch_size * world_size).max(1)
    }

    /// Tokens an optimizer step sees.
    #[must_use]
    pub fn tokens_per_step(&self) -> usize {
        self.global_batch_size * self.seq_length
    }
}

/// Optimizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OptimizerKind {
    /// Adam with decoupled weight decay (arXiv 1711.05101).
    Adamw,
}

/// Shape of the learning-rate decay after warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LrDecayStyle {
    /// No decay.
    #[serde(rename = "constant")]
    Constant,
    /// A straight line from `lr` to `min_lr`.
    #[serde(rename = "linear")]
    Linear,
    /// Half a cosine from `lr` to `min_lr`.
    #[serde(rename = "cosine")]
    Cosine,
    /// Warm-up, stable, decay.
    #[serde(rename = "WSD")]
    Wsd,
}

/// Shape of the closing decay of WSD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WsdDecayStyle {
    /// `2 * 0.5^x - 1`.
    Exponential,
    /// `1 - x`.
    Linear,
    /// `(cos(pi x) + 1) / 2`.
    Cosine,
    /// `1 - sqrt(x)`.
    MinusSqrt,
}

/// Compute type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// bf16 compute, f32 accumulation and master weights.
    Bf16,
    /// f16 compute with loss scaling, f32 accumulation and master weights.
    F16,
    /// f32 throughout.
    F32,
    /// f64 throughout, for checks.
    F64,
}

/// What the backward pass recomputes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recompute {
    /// Nothing.
    None,
    /// What is cheap to compute and large to keep.
    Selective,
    /// Each layer from its input.
    Full,
}

/// Text generated at the end of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleParams {
    /// What it continues.
    pub prompt: String,
    /// Tokens to generate.
    pub tokens: usize,
    /// 0 takes the likeliest token each time.
    pub temperature: f64,
    /// Draw among this many likeliest tokens; none means among all.
    pub top_k: Option<usize>,
}
