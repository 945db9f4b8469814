//! The strict check as a user meets it: each kind of mistake with the text it
//! gets, the shipped presets with their parameter counts, the JSON schema.

use cairn_base::Diagnostic;

use super::{ExperimentMeta, NativeExperiment, check};
use crate::value::{Kind, Value};
use crate::yaml;

mod mistakes;
mod presets;
mod shipped;
mod typed;

/// The smallest experiment that is right, as a preset would hold it.
const BASE: &str = "\
architecture: llama
num_layers: 2
hidden_size: 64
ffn_hidden_size: 160
num_attention_heads: 4
num_query_groups: 2
vocab_size: 512
max_position_embeddings: 128
seq_length: 64
micro_batch_size: 2
global_batch_size: 4
train_iters: 100
lr: 1.0e-3
data:
  source: mock
";

fn read(name: &str, text: &str) -> Value {
    let mut diagnostics = Vec::new();
    let (_, value) = yaml::read(name, text.as_bytes().to_vec(), &mut diagnostics);
    assert!(diagnostics.is_empty(), "{name}: {diagnostics:?}");
    value.expect("the text is a document")
}

/// Deep merge, the right side winning: what overrides do to presets.
fn merge(below: &mut Value, above: Value) {
    match (&mut below.kind, above.kind) {
        (Kind::Map(low), Kind::Map(high)) => {
            for (key, value) in high {
                match low.get_mut(&key) {
                    Some(old) => merge(old, value),
                    None => {
                        low.insert(key, value);
                    }
                }
            }
        }
        (slot, kind) => {
            *slot = kind;
            below.origin = above.origin;
            below.key = above.key;
        }
    }
}

fn meta(world_size: usize) -> ExperimentMeta {
    ExperimentMeta {
        work_group: "team".to_owned(),
        user_name: "me".to_owned(),
        exp_name: "run".to_owned(),
        workspace: "./output".to_owned(),
        run_dir: "./output/team/me/run".to_owned(),
        world_size,
    }
}

/// Checks [`BASE`] with these overrides.
fn check_with(overrides: &str, world_size: usize) -> (Option<NativeExperiment>, Vec<Diagnostic>) {
    let mut params = read("preset.yaml", BASE);
    if !overrides.is_empty() {
        merge(&mut params, read("exp.yaml", overrides));
    }
    let mut diagnostics = Vec::new();
    let experiment = check(&params, meta(world_size), &mut diagnostics);
    assert_eq!(
        experiment.is_none(),
        diagnostics.iter().any(Diagnostic::is_error),
        "{diagnostics:?}"
    );
    (experiment, diagnostics)
}

fn right(overrides: &str) -> NativeExperiment {
    let (experiment, diagnostics) = check_with(overrides, 1);
    assert!(diagnostics.is_empty(), "{overrides}: {diagnostics:?}");
    experiment.expect("no diagnostic")
}

fn rendered(diagnostics: &[Diagnostic]) -> String {
    let texts: Vec<String> = diagnostics
        .iter()
        .map(|diagnostic| diagnostic.render(false))
        .collect();
    texts.join("\n\n")
}
