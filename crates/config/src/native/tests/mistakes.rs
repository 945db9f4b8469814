//! Each kind of mistake with the text a user gets for it.

use super::{check_with, rendered};

/// Name of the case, the codes it gets in order, and the overrides.
#[rustfmt::skip]
const MISTAKES: &[(&str, &[&str], &str)] = &[
    ("unknown_key", &["config::unknown-key"], "lr_warmup_fration: 0.1"),
    ("unknown_key_nested", &["config::unknown-key"], "data: {validation_fracton: 0.1}"),
    ("unknown_key_wrong_level", &["config::unknown-key"], "validation_fraction: 0.1"),
    ("unknown_key_inside_wrong_level", &["config::unknown-key"], "data: {seq_length: 64}"),
    ("unknown_key_with_dots", &["config::unknown-key"], "data.source: mock"),
    ("unknown_key_far", &["config::unknown-key"], "flux_capacitor: on"),
    ("wrong_type_integer", &["config::wrong-type"], "num_layers: many"),
    ("wrong_type_fraction_for_integer", &["config::wrong-type"], "train_iters: 100.0"),
    ("wrong_type_text", &["config::wrong-type"], "sample: {prompt: 12}\ndata: {source: text, paths: [a], tokenizer: {kind: bytes}}"),
    ("wrong_type_list", &["config::wrong-type"], "data: {source: text, paths: corpus.txt, tokenizer: {kind: bytes}}"),
    ("wrong_type_mapping", &["config::wrong-type"], "data: corpus.txt"),
    ("wrong_type_flag", &["config::wrong-type"], "qk_layernorm: 1"),
    ("null_for_a_number", &["config::wrong-type"], "lr: null"),
    ("train_iters_zero", &["config::out-of-range"], "train_iters: 0"),
    ("out_of_range_half_open", &["config::out-of-range"], "adam_beta2: 1.0"),
    ("out_of_range_infinite", &["config::out-of-range"], "lr: .inf"),
    ("out_of_range_huge", &["config::out-of-range"], "num_layers: 99999999999999999999999"),
    ("out_of_range_nullable", &["config::out-of-range"], "window_size: 0"),
    ("out_of_range_derived", &["config::out-of-range"], "global_batch_size: 0"),
    ("number_as_text_out_of_range", &["config::out-of-range"], "lr: -1e-4"),
    ("unknown_choice", &["config::unknown-choice"], "lr_decay_style: cosin"),
    ("unknown_choice_of_one", &["config::unknown-choice"], "optimizer: sgd"),
    ("foreign_choice", &["config::unknown-choice"], "precision: bfloat16"),
    ("missing_in_mapping", &["config::missing-key"], "sample: {tokens: 10}\ndata: {source: text, paths: [a], tokenizer: {kind: bytes}}"),
    ("foreign_name", &["config::unknown-key"], "learning_rate: 1.0e-4"),
    ("foreign_value", &["config::unsupported"], "tensor_model_parallel_size: 2"),
    ("foreign_name_twice", &["config::contradiction"], "fp16: true\nprecision: bf16"),
    ("layer_pattern", &["config::wrong-type"], "moe_layer_freq: [0, 2]"),
    ("heads_not_divisible_by_groups", &["config::contradiction"], "num_query_groups: 3"),
    ("hidden_not_divisible_by_heads", &["config::contradiction"], "hidden_size: 66"),
    ("odd_head", &["config::contradiction"], "kv_channels: 15"),
    ("batch_not_a_multiple", &["config::contradiction"], "global_batch_size: 3"),
    ("batch_smaller_than_micro", &["config::contradiction"], "micro_batch_size: 8"),
    ("sequence_longer_than_positions", &["config::contradiction"], "seq_length: 256"),
    ("min_lr_above_lr", &["config::contradiction"], "min_lr: 0.1"),
    ("warmup_longer_than_training", &["config::contradiction"], "lr_warmup_iters: 100"),
    ("warmup_longer_than_decay", &["config::contradiction"], "lr_warmup_iters: 50\nlr_decay_iters: 40"),
    ("warmup_from_above", &["config::contradiction"], "lr_warmup_init: 0.1"),
    ("warmup_twice", &["config::contradiction"], "lr_warmup_iters: 5\nlr_warmup_fraction: 0.1"),
    ("wsd_without_length", &["config::contradiction"], "lr_decay_style: WSD"),
    ("wsd_too_long", &["config::contradiction"], "lr_decay_style: WSD\nlr_warmup_iters: 10\nlr_wsd_decay_iters: 95"),
    ("eval_reads_nothing", &["config::contradiction"], "eval_interval: 10\neval_iters: 0"),
    ("eval_without_held_out", &["config::contradiction"], "data: {source: text, paths: [a], tokenizer: {kind: bytes}, validation_fraction: 0}"),
    ("tokenizer_of_another_size", &["config::contradiction"], "data: {source: text, paths: [a], tokenizer: {kind: bpe, vocab_size: 4096}}"),
    ("tokenizer_file_of_another_size", &["config::contradiction"], "data: {source: text, paths: [a], tokenizer: {kind: file, path: t.json, vocab_size: 4096}}"),
    ("tokenizer_too_small", &["config::contradiction"], "vocab_size: 200\ndata: {source: text, paths: [a], tokenizer: {kind: bpe}}"),
    ("byte_tokenizer_too_large", &["config::contradiction"], "vocab_size: 256\ndata: {source: text, paths: [a], tokenizer: {kind: bytes}}"),
    ("byte_tokenizer_with_size", &["config::contradiction"], "data: {source: text, paths: [a], tokenizer: {kind: bytes, vocab_size: 300}}"),
    ("tokenizer_file_without_path", &["config::contradiction"], "data: {source: text, paths: [a], tokenizer: {kind: file}}"),
    ("tokenizer_path_unused", &["config::contradiction"], "data: {source: text, paths: [a], tokenizer: {kind: bpe, path: t.json}}"),
    ("no_paths", &["config::contradiction"], "data: {source: text, tokenizer: {kind: bytes}}"),
    ("no_tokenizer", &["config::contradiction"], "data: {source: jsonl, paths: [a]}"),
    ("sample_without_tokenizer", &["config::contradiction"], "sample: {prompt: x}"),
    ("loss_scales_crossed", &["config::contradiction"], "precision: f16\ninitial_loss_scale: 1\nmin_loss_scale: 2"),
    ("family_without_its_mark", &["config::contradiction"], "architecture: qwen2"),
    ("family_with_anothers_mark", &["config::contradiction"], "qk_layernorm: true"),
    ("experts_in_a_dense_family", &["config::contradiction"], "num_experts: 4"),
    ("family_without_experts", &["config::contradiction"], "architecture: mixtral"),
    ("window_in_a_family_without", &["config::contradiction"], "window_size: 32"),
    ("sinks_in_a_family_without", &["config::contradiction"], "softmax_type: learnable"),
    ("mtp_in_a_family_without", &["config::contradiction"], "mtp_num_layers: 1"),
    ("expert_size_without_experts", &["config::contradiction"], "moe_ffn_hidden_size: 64"),
    ("window_skip_without_window", &["config::contradiction"], "window_attn_skip_freq: 2"),
    ("attention_dropout", &["config::unsupported"], "attention_dropout: 0.1"),
    ("too_many_experts_visited", &["config::contradiction"], "architecture: mixtral\nnum_experts: 2\nmoe_router_topk: 3"),
    ("layer_pattern_of_another_length", &["config::contradiction"], "architecture: mixtral\nnum_experts: 2\nmoe_layer_freq: \"[0]*1+[1]*3\""),
    ("unequal_expert_groups", &["config::contradiction"], "architecture: mixtral\nnum_experts: 4\nmoe_router_num_groups: 3"),
    ("too_many_expert_groups_visited", &["config::contradiction"], "architecture: mixtral\nnum_experts: 4\nmoe_router_num_groups: 2\nmoe_router_group_topk: 3"),
    ("latent_sizes_without_latent", &["config::contradiction"], "kv_lora_rank: 16"),
    ("latent_without_sizes", &["config::contradiction"; 4], "architecture: deepseek_v2\nnum_experts: 4\nmulti_latent_attention: true"),
    ("rope_factors_crossed", &["config::contradiction"], "rope_scaling: {type: llama3, factor: 8, low_freq_factor: 4, high_freq_factor: 1, original_max_position_embeddings: 64}"),
    ("several_at_once", &["config::wrong-type", "config::unknown-key", "config::out-of-range", "config::contradiction"],
        "hidden_size: wide\nclip_gradd: 1.0\nweight_decay: -1\nmin_lr: 1.0"),
];

/// Overrides that are accepted, with notes or warnings.
#[rustfmt::skip]
const REMARKS: &[(&str, &[&str], &str)] = &[
    ("number_as_text", &["config::number-as-text"], "lr: 1e-4"),
    ("integer_as_text", &["config::number-as-text"], "train_iters: 1e3"),
    ("null_as_text", &["config::null-as-text"], "prometheus_port: \"null\""),
    ("megatron_swiglu", &["config::foreign-name"], "swiglu: true"),
    ("megatron_epsilon", &["config::foreign-name"], "layernorm_epsilon: 1.0e-6"),
    ("number_as_text_without_sign", &["config::number-as-text"], "rotary_base: 5e5"),
    ("megatron_fp16", &["config::foreign-name"], "fp16: true"),
    ("wsd_length_unused", &["config::without-effect"], "lr_wsd_decay_iters: 10"),
    ("loss_scale_unused", &["config::without-effect"], "loss_scale: 1024"),
    ("keep_every_between_saves", &["config::without-effect"], "save_interval: 30\nkeep_every: 50"),
    ("paths_of_mock", &["config::without-effect"], "data: {paths: [a]}"),
];

#[test]
fn every_mistake_gets_its_text() {
    for (name, codes, overrides) in MISTAKES {
        let (experiment, diagnostics) = check_with(overrides, 1);
        let found: Vec<&str> = diagnostics
            .iter()
            .map(|diagnostic| diagnostic.code)
            .collect();
        assert_eq!(found, *codes, "{name}: {}", rendered(&diagnostics));
        assert!(experiment.is_none(), "{name}");
        assert!(
            diagnostics.iter().all(|d| !d.hints.is_empty()),
            "{name} has no next step"
        );
        assert!(
            diagnostics.iter().all(|d| !d.labels.is_empty()),
            "{name} has no place"
        );
        insta::assert_snapshot!(*name, rendered(&diagnostics));
    }
}

#[test]
fn every_remark_leaves_the_experiment_usable() {
    for (name, codes, overrides) in REMARKS {
        let (experiment, diagnostics) = check_with(overrides, 1);
        let found: Vec<&str> = diagnostics
            .iter()
            .map(|diagnostic| diagnostic.code)
            .collect();
        assert_eq!(found, *codes, "{name}: {}", rendered(&diagnostics));
        assert!(experiment.is_some(), "{name}");
        insta::assert_snapshot!(*name, rendered(&diagnostics));
    }
}

#[test]
fn the_global_batch_counts_ranks() {
    let (experiment, diagnostics) = check_with("", 4);
    assert!(experiment.is_none());
    insta::assert_snapshot!("batch_not_a_multiple_of_ranks", rendered(&diagnostics));
    assert!(check_with("global_batch_size: 16", 4).0.is_some());
}

#[test]
fn nothing_at_all_misses_every_required_parameter() {
    let params = super::read("exp.yaml", "train_iters: 10");
    let mut diagnostics = Vec::new();
    assert!(super::check(&params, super::meta(1), &mut diagnostics).is_none());
    insta::assert_snapshot!("everything_missing", rendered(&diagnostics));
}

#[test]
fn parameters_that_are_no_mapping_are_one_error_and_the_missing_ones() {
    let params = super::read("exp.yaml", "[1, 2]");
    let mut diagnostics = Vec::new();
    assert!(super::check(&params, super::meta(1), &mut diagnostics).is_none());
    assert_eq!(
        diagnostics.first().map(|d| d.code),
        Some("config::wrong-type")
    );
}
