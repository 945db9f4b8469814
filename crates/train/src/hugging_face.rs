//! Models in the Hugging Face layout: `config.json`, `model*.safetensors`,
//! `tokenizer.json`.

mod config;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cairn_base::{Diagnostic, files};
use cairn_formats::DType;
use cairn_nn::models::{self, hugging_face_name};
use cairn_nn::{ModelConfig, Precision};
use cairn_tensor::{HostTensor, Store, TensorType};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::checkpoint::Checkpoint;
use crate::error::TrainError;

pub use config::{from_config, to_config};

fn wrong(message: String, hint: &str) -> TrainError {
    Box::new(Diagnostic::error("hugging-face", message).hint(hint)).into()
}

/// Reads `config.json` of a model folder.
///
/// # Errors
/// When it is missing, or of a family that is not known.
pub fn read_config(dir: &Path) -> Result<ModelConfig, TrainError> {
    let path = dir.join("config.json");
    let text = files::read_text(&path)?;
    let json = serde_json::from_str(&text).map_err(|error| {
        wrong(
            format!("{} is not JSON: {error}", path.display()),
            "download the file again",
        )
    })?;
    from_config(&json).map_err(|reason| {
        let message = format!("{}: {reason}", path.display());
        wrong(
            message,
            "Cairn reads Llama, Qwen2 and Qwen3 models; others cannot be imported",
        )
    })
}

/// Master weights of the model in `dir`.
///
/// # Errors
/// When its shape is not `model`'s, a file is damaged, or a tensor is missing.
pub fn import(dir: &Path, model: &ModelConfig, precision: Precision) -> Result<Store, TrainError> {
    let found = read_config(dir)?;
    let differences = differences(&found, model);
    if !differences.is_empty() {
        let message = format!(
            "the model in {} is not the experiment's: {}",
            dir.display(),
            differences.join("; ")
        );
        return Err(wrong(
            message,
            "choose the `model:` preset of this model, or change the experiment's sizes",
        ));
    }
    let mut store = Store::new();
    let mut wanted: BTreeMap<String, _> = models::parameters(model)
        .into_iter()
        .map(|spec| (hugging_face_name(&spec.name), spec))
        .collect();
    for path in weight_files(dir)? {
        let bytes = files::read(&path)?;
        let damaged = |reason: String| {
            wrong(
                format!("{}: {reason}", path.display()),
                "download the file again",
            )
        };
        let tensors =
            SafeTensors::deserialize(&bytes).map_err(|error| damaged(error.to_string()))?;
        for (name, view) in tensors.iter() {
            let Some(spec) = wanted.get(name) else {
                continue;
            };
            if view.shape() != spec.shape.dims() {
                let message = format!(
                    "`{name}` has shape {:?}, the model wants {}",
                    view.shape(),
                    spec.shape
                );
                return Err(damaged(message));
            }
            let values = widen(&view)
                .ok_or_else(|| damaged(format!("`{name}` has the dtype {:?}", view.dtype())))?;
            store.insert(
                &spec.name,
                HostTensor::from_f64(spec.master_type(precision), &values)?,
            );
            wanted.remove(name);
        }
    }
    if let Some(name) = wanted.keys().next() {
        let message = format!(
            "{} lacks {} tensors, `{name}` among them",
            dir.display(),
            wanted.len()
        );
        return Err(wrong(
            message,
            "download the missing `model-*.safetensors` files",
        ));
    }
    Ok(store)
}

/// `model.safetensors`, or the shards, in name order.
fn weight_files(dir: &Path) -> Result<Vec<PathBuf>, TrainError> {
    let single = dir.join("model.safetensors");
    if single.exists() {
        return Ok(vec![single]);
    }
    let pattern = dir.join("model-*-of-*.safetensors");
    let found: Vec<PathBuf> = glob::glob(&pattern.to_string_lossy())
        .map(|paths| paths.flatten().collect())
        .unwrap_or_default();
    if found.is_empty() {
        let message = format!(
            "{} has no `model.safetensors` and no `model-*-of-*.safetensors`",
            dir.display()
        );
        return Err(wrong(message, "name the folder that holds the weights"));
    }
    Ok(found)
}

fn widen(view: &TensorView<'_>) -> Option<Vec<f64>> {
    let dtype = match view.dtype() {
        Dtype::F64 => DType::F64,
        Dtype::F32 => DType::F32,
        Dtype::F16 => DType::F16,
        Dtype::BF16 => DType::BF16,
        _ => return None,
    };
    HostTensor::from_bytes(TensorType::new(dtype, view.shape()), view.data())
        .ok()?
        .to_f64()
        .ok()
}

/// What differs between two models, training choices aside.
pub(crate) fn differences(found: &ModelConfig, wanted: &ModelConfig) -> Vec<String> {
    let json = |config: &ModelConfig| match serde_json::to_value(config) {
        Ok(serde_json::Value::Object(map)) => map,
        _ => serde_json::Map::new(),
    };
    let (found, wanted) = (json(found), json(wanted));
    let training = ["init_std", "hidden_dropout"];
    let keys = wanted
        .keys()
        .filter(|key| !training.contains(&key.as_str()) && found.get(*key) != wanted.get(*key));
    keys.map(|key| format!("{key} is {}, not {}", found[key], wanted[key]))
        .collect()
}

/// Writes the model of a checkpoint to `to`, an absent or empty folder.
///
/// # Errors
/// When the folder is not empty or cannot be written.
pub fn export(
    model: &ModelConfig,
    checkpoint: &Checkpoint,
    dtype: DType,
    tokenizer: Option<&Path>,
    to: &Path,
) -> Result<Vec<PathBuf>, TrainError> {
    if std::fs::read_dir(to).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(wrong(
            format!("{} is not empty", to.display()),
            "name a new folder: nothing is overwritten",
        ));
    }
    let mut converted: Vec<(String, TensorType, Vec<u8>)> = Vec::new();
    for spec in models::parameters(model) {
        let missing = || TrainError::Internal(format!("the checkpoint has no `{}`", spec.name));
        let record = checkpoint.record(&spec.name).ok_or_else(missing)?;
        let master = HostTensor::from_bytes(
            TensorType::new(record.dtype, record.shape.as_slice()),
            &record.bytes,
        )?;
        let ty = TensorType::new(dtype, spec.shape.clone());
        let tensor = HostTensor::from_f64(ty.clone(), &master.to_f64()?)?;
        converted.push((hugging_face_name(&spec.name), ty, tensor.bytes().to_vec()));
    }
    let kind = if dtype == DType::BF16 {
        Dtype::BF16
    } else {
        Dtype::F32
    };
    let mut views = Vec::new();
    for (name, ty, bytes) in &converted {
        let view = TensorView::new(kind, ty.shape.to_vec(), bytes);
        views.push((
            name.as_str(),
            view.map_err(|error| TrainError::Internal(error.to_string()))?,
        ));
    }
    let metadata = Some(
        [("format".to_owned(), "pt".to_owned())]
            .into_iter()
            .collect(),
    );
    let weights = safetensors::serialize(views, metadata)
        .map_err(|error| TrainError::Internal(error.to_string()))?;
    files::create_dir_all(to)?;
    let mut written = vec![to.join("config.json"), to.join("model.safetensors")];
    let config = serde_json::to_string_pretty(&to_config(model, dtype)).unwrap_or_default();
    files::write_atomic(&written[1], &weights)?;
    if let Some(tokenizer) = tokenizer {
        written.push(to.join("tokenizer.json"));
        files::write_atomic(&written[2], &files::read(tokenizer)?)?;
    }
    // The description comes last: a folder that has it is complete.
    files::write_atomic(&written[0], config.as_bytes())?;
    Ok(written)
}
