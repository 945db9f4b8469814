//! What a right experiment becomes.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::Value as Json;

use super::{BASE, check_with, merge, meta, read, rendered, right};
use crate::native::table::{FieldKind, Section, fields};
use crate::native::{
    Activation, LrDecayStyle, Precision, Recompute, RopeScalingType, Tokenizer, check, parameters,
    trainable,
};

#[test]
fn defaults_and_derived_values_are_filled_in() {
    let experiment = right("");
    assert_eq!(experiment.model.kv_channels, 16);
    assert_eq!(experiment.model.norm_epsilon, 1e-5);
    assert_eq!(experiment.model.moe_layer_freq, Vec::<bool>::new());
    assert_eq!(experiment.training.lr_decay_iters, 100);
    assert_eq!(experiment.training.lr_wsd_decay_iters, 0);
    assert_eq!(experiment.training.precision, Precision::Bf16);
    assert_eq!(experiment.training.num_micro_batches(1), 2);
    assert_eq!(experiment.training.tokens_per_step(), 256);
    assert_eq!(experiment.data.tokenizer, None);
    assert_eq!(experiment.meta, meta(1));
    assert_eq!(
        right("global_batch_size: null").training.global_batch_size,
        2
    );
    assert_eq!(right("num_query_groups: null").model.num_query_groups, 4);
}

#[test]
fn what_is_written_arrives() {
    let experiment = right(
        "rope_scaling: {type: llama3, factor: 8, original_max_position_embeddings: 64}\n\
         lr_decay_style: WSD\nlr_wsd_decay_iters: 20\nlr_warmup_fraction: 0.08\n\
         recompute_granularity: null\nclip_grad: 0\nactivation: geglu\n\
         data: {source: text, paths: [a, b], tokenizer: {kind: bpe}}\n\
         sample: {prompt: hello, temperature: 0}\n",
    );
    let scaling = experiment.model.rope_scaling.expect("rope_scaling");
    assert_eq!(
        (scaling.kind, scaling.factor, scaling.high_freq_factor),
        (RopeScalingType::Llama3, 8.0, 4.0)
    );
    assert_eq!(experiment.model.activation, Activation::Geglu);
    assert_eq!(experiment.training.lr_decay_style, LrDecayStyle::Wsd);
    assert_eq!(experiment.training.lr_wsd_decay_iters, 20);
    assert_eq!(experiment.training.lr_warmup_iters, 8);
    assert_eq!(experiment.training.recompute_granularity, Recompute::None);
    assert_eq!(experiment.data.paths, ["a", "b"]);
    assert_eq!(
        experiment.data.tokenizer,
        Some(Tokenizer::Bpe { vocab_size: 512 })
    );
    let sample = experiment.training.sample.expect("sample");
    assert_eq!(
        (sample.tokens, sample.temperature, sample.top_k),
        (200, 0.0, None)
    );
}

#[test]
fn a_warm_up_share_is_of_the_decay() {
    assert_eq!(
        right("train_iters: 400\nlr_warmup_fraction: 0.08")
            .training
            .lr_warmup_iters,
        32
    );
    let longer = right("train_iters: 400\nlr_decay_iters: 1000\nlr_warmup_fraction: 0.1");
    assert_eq!(longer.training.lr_warmup_iters, 100);
}

#[test]
fn a_foreign_flag_beats_the_preset_but_not_the_same_file() {
    let (experiment, _) = check_with("fp16: true", 1);
    assert_eq!(
        experiment.map(|e| e.training.precision),
        Some(Precision::F16)
    );
    let (experiment, notes) = check_with("fp16: false\nbf16: true", 1);
    assert_eq!(
        experiment.map(|e| e.training.precision),
        Some(Precision::Bf16)
    );
    assert_eq!(notes.len(), 1);
    let mut params = read("preset.yaml", &BASE.replace("data:\n  source: mock\n", ""));
    merge(&mut params, read("exp.yaml", "mock_data: true"));
    let mut diagnostics = Vec::new();
    assert!(
        check(&params, meta(1), &mut diagnostics).is_some(),
        "{}",
        rendered(&diagnostics)
    );
}

#[test]
fn a_typed_experiment_survives_json() {
    let experiment = right("lr: 2.0e-3\nadam_beta2: 0.95\nsample: null");
    let text = serde_json::to_string(&experiment).expect("an experiment is JSON");
    assert_eq!(
        serde_json::from_str::<crate::native::NativeExperiment>(&text).expect("and back"),
        experiment
    );
}

#[test]
fn rows_and_types_have_the_same_names() {
    // The typed structures are what the trainer sees; a row without a field
    // would be a parameter that does nothing.
    let experiment = right(
        "rope_scaling: {type: llama3, factor: 8, original_max_position_embeddings: 64}\n\
         data: {source: text, paths: [a], tokenizer: {kind: bpe}}\nsample: {prompt: x}\n",
    );
    let json = serde_json::to_value(&experiment).expect("an experiment is JSON");
    let elsewhere = ["lr_warmup_fraction", "data.tokenizer.path"];
    for (section, rows) in Section::ALL {
        let object = json.get(section.name()).expect("a section");
        let mut typed = BTreeSet::new();
        let prefix = if section == Section::Data {
            "data."
        } else {
            ""
        };
        names(object, prefix, &mut typed);
        let known: BTreeSet<String> = rows
            .iter()
            .filter(|row| row.kind != FieldKind::Object && !elsewhere.contains(&row.name))
            .map(|row| row.name.to_owned())
            .collect();
        assert_eq!(typed, known, "{}", section.name());
    }
}

fn names(json: &Json, prefix: &str, into: &mut BTreeSet<String>) {
    let Json::Object(object) = json else { return };
    for (key, value) in object {
        if value.is_object() {
            names(value, &format!("{prefix}{key}."), into);
        } else {
            into.insert(format!("{prefix}{key}"));
        }
    }
}

#[test]
fn every_row_is_found_once_and_its_default_is_in_range() {
    let mut seen = BTreeSet::new();
    for row in fields() {
        assert!(seen.insert(row.name), "{} twice", row.name);
        assert!(row.doc.ends_with('.'), "{}: {}", row.name, row.doc);
        assert!(
            row.parent().is_empty() || seen.contains(row.parent()),
            "{} has no mapping",
            row.name
        );
        match (row.kind, row.default_json()) {
            (FieldKind::Int { min, max }, Some(Json::Number(number))) => {
                assert!(
                    number
                        .as_i64()
                        .is_some_and(|value| (min..=max).contains(&value)),
                    "{}",
                    row.name
                );
            }
            (FieldKind::Float(range), Some(Json::Number(number))) => {
                assert!(
                    number.as_f64().is_some_and(|value| range.contains(value)),
                    "{}",
                    row.name
                );
            }
            (FieldKind::Choice(words), Some(Json::String(word))) => {
                assert!(words.contains(&word.as_str()), "{}", row.name);
            }
            _ => {}
        }
    }
}

#[test]
fn what_the_engine_lacks_is_refused_by_name() {
    assert!(trainable(&right("").model).is_ok());
    let mixtral = right("architecture: mixtral\nnum_experts: 4").model;
    let error = trainable(&mixtral).expect_err("experts are not trained");
    insta::assert_snapshot!("untrainable", error.render(false));
    let yarn =
        right("rope_scaling: {type: yarn, factor: 4, original_max_position_embeddings: 32}").model;
    let error = trainable(&yarn).expect_err("YaRN is not trained");
    assert!(error.message.contains("YaRN"), "{}", error.message);
}

/// The largest sizes that the rows allow stay countable.
#[test]
fn the_largest_model_can_be_counted() {
    let largest = right(
        "architecture: gpt_oss\nadd_bias_linear: true\nnum_layers: 4096\nhidden_size: 131072\n\
         ffn_hidden_size: 1048576\nnum_attention_heads: 4096\nnum_query_groups: 4096\nkv_channels: 8192\n\
         vocab_size: 16777216\nnum_experts: 4096\nmoe_router_topk: 4096\n\
         moe_shared_expert_intermediate_size: 1048576\nsoftmax_type: learnable\n",
    );
    let count = parameters(&largest.model);
    let experts = 3 * 131_072 * 1_048_576 * 4096 * 4096_u64;
    assert!(
        count.total > experts && count.total < 1 << 63,
        "{}",
        count.total
    );
}

proptest! {
    /// Whatever values are, the parameters accept them or say what is wrong.
    #[test]
    fn any_values_are_accepted_or_refused(
        changes in prop::collection::vec((0..fields().count(), any_value()), 1..5),
        ranks in 1_usize..9,
    ) {
        let mut params = read("preset.yaml", BASE);
        for (index, text) in changes {
            let row = fields().nth(index).expect("an index below the count");
            let nested = row.name.rsplit('.').fold(text, |inner, key| format!("{{{key}: {inner}}}"));
            merge(&mut params, read("exp.yaml", &nested));
        }
        let mut diagnostics = Vec::new();
        let experiment = check(&params, meta(ranks), &mut diagnostics);
        prop_assert_eq!(experiment.is_some(), !diagnostics.iter().any(cairn_base::Diagnostic::is_error));
        prop_assert!(diagnostics.iter().all(|d| d.code != "config::internal"), "{}", rendered(&diagnostics));
        if let Some(experiment) = experiment {
            let training = &experiment.training;
            let micro_batches = training.num_micro_batches(ranks);
            prop_assert!(micro_batches * training.micro_batch_size * ranks == training.global_batch_size);
            prop_assert!(training.lr_warmup_iters < training.lr_decay_iters);
            let count = parameters(&experiment.model);
            prop_assert!(count.active <= count.total);
        }
    }
}

fn any_value() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|value| value.to_string()),
        (-3i64..5000).prop_map(|value| value.to_string()),
        any::<f64>()
            .prop_filter("YAML writes these otherwise", |v| v.is_finite())
            .prop_map(|v| format!("{v:?}")),
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("\"1e-4\"".to_owned()),
        Just("[]".to_owned()),
        Just("[0, 1]".to_owned()),
        Just("[a, b]".to_owned()),
        Just("{}".to_owned()),
        Just("{a: 1}".to_owned()),
        Just("2020-01-01".to_owned()),
        Just(".nan".to_owned()),
        Just("123456789012345678901234567890".to_owned()),
        "[a-z_]{1,12}".prop_map(|word| format!("\"{word}\"")),
    ]
}
