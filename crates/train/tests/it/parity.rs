//! Models against `transformers`: same weights, same logits, same gradients.

mod export;

use std::path::PathBuf;

use cairn_formats::DType;
use cairn_graph::passes::Recompute;
use cairn_nn::models::hugging_face_name;
use cairn_nn::training::{StepConfig, loss_and_gradients};
use cairn_nn::weights::gradient_name;
use cairn_nn::{ModelConfig, Precision, decode, models};
use cairn_tensor::{HostTensor, Pool, Program, ProgramOptions, Store, TensorType};
use cairn_train::hugging_face;
use safetensors::SafeTensors;

use crate::common::{dispatchers, root};

const MODELS: [&str; 7] = [
    "llama2",
    "llama31",
    "llama32",
    "qwen2_tied",
    "qwen2_untied",
    "qwen3",
    "qwen3_tied",
];

fn folder(name: &str) -> PathBuf {
    root().join("tests/golden/hf").join(name)
}

/// Shape and values of a tensor of a golden file.
fn golden(name: &str, file: &str, tensor: &str) -> Option<(Vec<usize>, Vec<f64>)> {
    let bytes = std::fs::read(folder(name).join(file)).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let view = file.tensor(tensor).ok()?;
    let dtype = match view.dtype() {
        safetensors::Dtype::F32 => DType::F32,
        safetensors::Dtype::F64 => DType::F64,
        safetensors::Dtype::I64 => DType::I64,
        other => panic!("{other:?} in {file:?}"),
    };
    let tensor = HostTensor::from_bytes(TensorType::new(dtype, view.shape()), view.data()).unwrap();
    Some((view.shape().to_vec(), tensor.to_f64().unwrap()))
}

fn load(name: &str) -> (ModelConfig, Store, Vec<usize>, Vec<i32>) {
    let config = hugging_face::read_config(&folder(name)).unwrap();
    let store = hugging_face::import(&folder(name), &config, Precision::F32).unwrap();
    let (shape, ids) = golden(name, "expected.safetensors", "input_ids").unwrap();
    (
        config,
        store,
        shape,
        ids.into_iter().map(|id| id as i32).collect(),
    )
}

fn largest_difference(got: &[f64], want: &[f64]) -> f64 {
    assert_eq!(got.len(), want.len());
    got.iter()
        .zip(want)
        .map(|(got, want)| (got - want).abs())
        .fold(0.0, f64::max)
}

#[test]
fn logits_equal_transformers() {
    let pool = Pool::new(2).unwrap();
    for name in MODELS {
        for (backend, dispatcher) in dispatchers() {
            let (config, mut store, shape, ids) = load(name);
            let graph = decode::all_logits(&config, Precision::F32, shape[0], shape[1]).unwrap();
            let mut program =
                Program::compile(graph, &dispatcher, ProgramOptions::default()).unwrap();
            store.insert("tokens", HostTensor::new(shape, &ids).unwrap());
            program.run(&mut store, &pool).unwrap();
            let got = program.output(&store, "logits").unwrap().to_f64().unwrap();
            let (_, want) = golden(name, "expected.safetensors", "logits").unwrap();
            let worst = largest_difference(&got, &want);
            assert!(
                worst < 1e-4,
                "{name} on {backend}: logits differ by {worst}"
            );
        }
    }
}

#[test]
fn gradients_equal_transformers() {
    let pool = Pool::new(2).unwrap();
    for name in MODELS {
        for (backend, dispatcher) in dispatchers() {
            let (config, mut store, shape, ids) = load(name);
            let (batch, len) = (shape[0], shape[1]);
            let step = StepConfig {
                micro_batch: batch,
                seq_len: len,
                precision: Precision::F32,
                recompute: Recompute::None,
                z_loss: 0.0,
                loss_chunk: 8,
            };
            let graph = loss_and_gradients(&config, &step, false).unwrap();
            let mut program =
                Program::compile(graph, &dispatcher, ProgramOptions::default()).unwrap();
            // The last token of each row has no target.
            let targets: Vec<i32> = (0..batch * len)
                .map(|at| if at % len == len - 1 { -1 } else { ids[at + 1] })
                .collect();
            store.insert("tokens", HostTensor::new(shape.clone(), &ids).unwrap());
            store.insert("targets", HostTensor::new(shape, &targets).unwrap());
            store.insert("loss_scale", HostTensor::scalar(1.0_f32).unwrap());
            for kind in ["state"] {
                for (state, value) in program.graph().leaves(kind) {
                    store.ensure(state, program.graph().ty(value)).unwrap();
                }
            }
            program.run(&mut store, &pool).unwrap();
            let scalar = |name: &str| store.get(name).unwrap().unwrap().to_f64().unwrap()[0];
            let count = scalar("token_count");
            assert_eq!(count as usize, batch * (len - 1));
            let (_, want) = golden(name, "expected_grads.safetensors", "loss").unwrap();
            let loss = scalar("loss_sum") / count;
            assert!(
                (loss - want[0]).abs() < 1e-5,
                "{name} on {backend}: loss {loss}, want {}",
                want[0]
            );
            let mut compared = 0;
            for spec in models::parameters(&config) {
                let Some((_, want)) = golden(
                    name,
                    "expected_grads.safetensors",
                    &hugging_face_name(&spec.name),
                ) else {
                    continue;
                };
                let got = store
                    .get(&gradient_name(&spec.name))
                    .unwrap()
                    .unwrap()
                    .to_f64()
                    .unwrap();
                let got: Vec<f64> = got.into_iter().map(|grad| grad / count).collect();
                let scale = want.iter().map(|grad| grad.abs()).fold(0.0, f64::max);
                let worst = largest_difference(&got, &want);
                assert!(
                    worst < 1e-4 * scale,
                    "{name} on {backend}: {} differs by {worst} of {scale}",
                    spec.name
                );
                compared += 1;
            }
            assert!(
                compared >= 8,
                "{name}: only {compared} gradients were compared"
            );
        }
    }
}
