//! The presets and experiments that ship, checked as a user would use them.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::{merge, meta, read, rendered};
use crate::native::table::{Fallback, Field, Section, TRAINING, fields};
use crate::native::values::yaml_text;
use crate::native::{ModelParams, check, parameters, schema, trainable};
use crate::value::Value;

fn configs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs")
}

fn load(path: &str) -> Value {
    let text = std::fs::read_to_string(configs().join(path)).expect(path);
    read(path, &text)
}

/// A model preset, completed with the module preset and generated data.
fn model(name: &str) -> ModelParams {
    let mut params = load(&format!("models/native/{name}.yaml"));
    merge(&mut params, load("modules/native/pre_trainer.yaml"));
    merge(
        &mut params,
        read(
            "overrides",
            "seq_length: 32\nglobal_batch_size: 1\ndata: {source: mock}",
        ),
    );
    let mut diagnostics = Vec::new();
    let experiment = check(&params, meta(1), &mut diagnostics);
    assert!(diagnostics.is_empty(), "{name}: {}", rendered(&diagnostics));
    experiment.expect("no diagnostic").model
}

/// Parameters of the published weights. Tied matrices count once; biases,
/// sinks and the routers' balancing biases count; MTP layers do not.
#[rustfmt::skip]
const PUBLISHED: &[(&str, u64)] = &[
    ("llama_tiny", 151_872),
    ("qwen2_tiny", 119_360),
    ("qwen3_tiny", 143_808),
    ("llama_10M", 10_059_840),
    ("llama_28M", 27_795_968),
    ("llama2_7B", 6_738_415_616),
    ("llama2_13B", 13_015_864_320),
    ("llama2_70B", 68_976_648_192),
    ("llama3_8B", 8_030_261_248),
    ("llama3_70B", 70_553_706_496),
    ("llama3.1_8B", 8_030_261_248),
    ("llama3.1_70B", 70_553_706_496),
    ("llama3.1_405B", 405_853_388_800),
    ("llama3.2_1B", 1_235_814_400),
    ("llama3.2_3B", 3_212_749_824),
    ("llama3.3_70B", 70_553_706_496),
    ("qwen2.5_0.5B", 494_032_768),
    ("qwen2.5_1.5B", 1_543_714_304),
    ("qwen2.5_3B", 3_085_938_688),
    ("qwen2.5_7B", 7_615_616_512),
    ("qwen2.5_14B", 14_770_033_664),
    ("qwen2.5_32B", 32_763_876_352),
    ("qwen2.5_72B", 72_706_203_648),
    ("qwen3_0.6B", 596_049_920),
    ("qwen3_1.7B", 1_720_574_976),
    ("qwen3_4B", 4_022_468_096),
    ("qwen3_8B", 8_190_735_360),
    ("qwen3_14B", 14_768_307_200),
    ("qwen3_32B", 32_762_123_264),
    ("qwen3_30B_A3B", 30_532_122_624),
    ("qwen3_235B_A22B", 235_093_634_560),
    ("mixtral_8x7B_v0.1", 46_702_792_704),
    ("mixtral_8x22B_v0.1", 140_620_634_112),
    ("deepseek_v2_lite", 15_706_484_224),
    ("deepseek_v3", 671_026_419_200),
    ("gpt_oss_20B", 20_914_757_184),
    ("gpt_oss_120B", 116_829_156_672),
];

#[test]
fn every_model_preset_has_its_published_parameter_count() {
    for (name, count) in PUBLISHED {
        assert_eq!(parameters(&model(name)).total, *count, "{name}");
        let path = configs().join(format!("models/native/{name}.yaml"));
        let text = std::fs::read_to_string(path).expect("a preset");
        assert!(
            text.contains(&format!("Parameters: {}", grouped(*count))),
            "{name} states its count"
        );
    }
    let mut files: Vec<String> = std::fs::read_dir(configs().join("models/native"))
        .expect("model presets")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .replace(".yaml", "")
        })
        .collect();
    let mut names: Vec<String> = PUBLISHED
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    files.sort();
    names.sort();
    assert_eq!(files, names);
}

/// `golden/count_parameters.py` builds each architecture in another program.
#[test]
fn another_program_counts_the_same() {
    let golden: Json =
        serde_json::from_str(include_str!("../golden/counts.json")).expect("golden JSON");
    let golden = golden.as_object().expect("an object");
    assert!(golden.len() >= 32, "{} models", golden.len());
    for (name, count) in golden {
        assert_eq!(
            Some(parameters(&model(name)).total),
            count.as_u64(),
            "{name}"
        );
    }
}

#[test]
fn parts_add_up_and_active_parameters_are_those_visited() {
    for (name, _) in PUBLISHED {
        let model = model(name);
        let count = parameters(&model);
        let layers: u64 = count.layers.iter().map(|layer| layer.total()).sum();
        assert_eq!(
            count.total,
            count.embedding + count.output + count.final_norm + layers,
            "{name}"
        );
        assert_eq!(count.layers.len(), model.num_layers, "{name}");
        assert_eq!(
            count.active == count.total,
            model.num_experts.is_none(),
            "{name}"
        );
    }
    // From the model cards: 12.9 B, 3.3 B, 22 B and 37 B.
    let billions = |name: &str| parameters(&model(name)).active as f64 / 1e9;
    assert!((billions("mixtral_8x7B_v0.1") - 12.9).abs() < 0.05);
    assert!((billions("qwen3_30B_A3B") - 3.3).abs() < 0.06);
    assert!((billions("qwen3_235B_A22B") - 22.0).abs() < 0.3);
    assert!((billions("deepseek_v3") - 37.5).abs() < 0.1);
    assert_eq!(parameters(&model("deepseek_v3")).mtp, 11_610_068_224);
}

#[test]
fn only_dense_families_are_trained() {
    for (name, _) in PUBLISHED {
        let model = model(name);
        let dense = ["llama", "qwen2", "qwen3"].contains(&model.architecture.name());
        assert_eq!(trainable(&model).is_ok(), dense, "{name}");
    }
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The module preset as the table's rows have it.
fn module_preset() -> String {
    let mut text = String::from(
        "# Every parameter of native training with its default. Model presets hold the architecture;\n\
         # `data.source` and usually `data.paths` and `data.tokenizer` belong into the experiment's overrides.\n",
    );
    let data: Vec<&Field> = fields().filter(|row| row.parent() == "data").collect();
    for (_, rows) in Section::ALL.iter().skip(1) {
        for row in *rows {
            match row.parent() {
                "" if row.name == "data" => {
                    text.push_str("data:\n");
                    for row in &data {
                        line(&mut text, "  ", row);
                    }
                    text.push('\n');
                }
                "" => line(&mut text, "", row),
                _ => {}
            }
        }
    }
    text
}

fn line(text: &mut String, indent: &str, row: &Field) {
    let Some(default) = row.default_json() else {
        // Required: shown, so that the file is complete, but not set.
        text.push_str(&format!(
            "{indent}# {} has to be given: {}\n",
            row.key(),
            row.doc
        ));
        return;
    };
    let value = yaml_text(&default);
    let mut comment = row.doc.trim_end_matches('.').to_owned();
    if !row.unit.is_empty() {
        comment.push_str(&format!(" [{}]", row.unit));
    }
    if let Fallback::Derived(rule) = row.default {
        comment.push_str(&format!("; null: {rule}"));
    }
    let setting = format!("{indent}{}: {value}", row.key());
    text.push_str(&format!("{setting:<36} # {comment}\n"));
}

#[test]
fn the_module_preset_is_the_table() {
    let path = configs().join("modules/native/pre_trainer.yaml");
    if std::env::var_os("CAIRN_UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, module_preset()).expect("the preset can be written");
    }
    let text = std::fs::read_to_string(&path).expect("the module preset");
    assert_eq!(
        text,
        module_preset(),
        "CAIRN_UPDATE_GOLDEN=1 writes it anew"
    );
    let value = read("pre_trainer.yaml", &text);
    for row in TRAINING.iter().filter(|row| row.parent().is_empty()) {
        let found = value.get(row.name).map(Value::to_json);
        assert_eq!(found, row.default_json(), "{}", row.name);
    }
}

#[test]
fn the_schema_is_as_printed() {
    insta::assert_snapshot!(
        "schema",
        serde_json::to_string_pretty(&schema()).expect("a schema is JSON")
    );
}

#[test]
fn the_schema_has_every_row() {
    let schema = schema();
    for row in fields() {
        let pointer = row
            .name
            .split('.')
            .fold("/$defs/params".to_owned(), |path, key| {
                let inner = schema.pointer(&path).expect("a mapping");
                let path = if inner.get("properties").is_some() {
                    path
                } else {
                    format!("{path}/anyOf/0")
                };
                format!("{path}/properties/{key}")
            });
        let property = schema.pointer(&pointer).unwrap_or(&Json::Null);
        assert_ne!(
            property.get("description"),
            None,
            "{} at {pointer}",
            row.name
        );
    }
    assert_eq!(
        schema.pointer("/$defs/params/additionalProperties"),
        Some(&json!(false))
    );
}
