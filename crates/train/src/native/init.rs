//! Initial weights: a function of seed and parameter name alone.

use cairn_formats::{Philox, scope_hash};
use cairn_nn::models;
use cairn_nn::weights::{Init, copy_name, moment_names};
use cairn_nn::{ModelConfig, ParameterSpec, Precision};
use cairn_tensor::{HostTensor, Store, TensorError, TensorType};

/// Fills `store` with initial master weights, zero moments and compute copies.
///
/// # Errors
/// When memory runs out.
pub fn initialise(
    store: &mut Store,
    config: &ModelConfig,
    precision: Precision,
    seed: u64,
) -> Result<(), TensorError> {
    for spec in models::parameters(config) {
        let ty = spec.master_type(precision);
        let values = initial_values(&spec, seed);
        let wide: Vec<f64> = values.into_iter().map(f64::from).collect();
        store.insert(&spec.name, HostTensor::from_f64(ty, &wide)?);
        add_state(store, &spec, precision)?;
    }
    Ok(())
}

/// Moments and compute copy of one parameter, from its master weights.
///
/// # Errors
/// When memory runs out.
pub fn add_state(
    store: &mut Store,
    spec: &ParameterSpec,
    precision: Precision,
) -> Result<(), TensorError> {
    let ty = spec.master_type(precision);
    for name in moment_names(&spec.name) {
        store.ensure(&name, &ty)?;
    }
    if spec.has_copy(precision) {
        refresh_copy(store, spec, precision)?;
    }
    Ok(())
}

/// Makes the compute copy equal to the rounded master weights.
///
/// # Errors
/// When memory runs out.
pub fn refresh_copy(
    store: &mut Store,
    spec: &ParameterSpec,
    precision: Precision,
) -> Result<(), TensorError> {
    let Some(master) = store.get(&spec.name)? else {
        return Ok(());
    };
    let ty = TensorType::new(precision.compute(), spec.shape.clone());
    let copy = HostTensor::from_f64(ty, &master.to_f64()?)?;
    store.insert(copy_name(&spec.name), copy);
    Ok(())
}

fn initial_values(spec: &ParameterSpec, seed: u64) -> Vec<f32> {
    let count = spec.shape.num_elements();
    match spec.init {
        Init::Ones => vec![1.0; count],
        Init::Zeros => vec![0.0; count],
        Init::Normal(std) => {
            let mut values = vec![0.0; count];
            Philox::new(seed)
                .stream(0, scope_hash(&spec.name))
                .fill_normal(0, &mut values, 0.0, std as f32);
            values
        }
    }
}
