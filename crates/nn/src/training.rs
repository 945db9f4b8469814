//! The programs of a training step.
//!
//! All share their leaves by name: `<p>` master weights, `<p>@copy` the copy in
//! the compute dtype, `<p>@grad` the gradient summed over micro batches,
//! `<p>@exp_avg` and `<p>@exp_avg_sq` the moments, `loss_sum` and
//! `token_count` sums over the global batch.

use cairn_graph::ops::cross_entropy::CrossEntropyConfig;
use cairn_graph::ops::{AdamW, Assign, BinaryKind, CrossEntropy, SumSquares, UnaryKind};
use cairn_graph::passes::{self, Recompute};
use cairn_graph::{DType, Graph, GraphError, Stage, TensorType, ValueId, gradients};
use serde::{Deserialize, Serialize};

use crate::config::ModelConfig;
use crate::models;
use crate::precision::Precision;
use crate::weights::{Weights, copy_name, gradient_name, moment_names};

/// What shapes the gradient program.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepConfig {
    /// Sequences in a micro batch.
    pub micro_batch: usize,
    /// Tokens in a sequence.
    pub seq_len: usize,
    /// dtypes.
    pub precision: Precision,
    /// What is recomputed.
    pub recompute: Recompute,
    /// Coefficient of the z-loss; 0 is off.
    pub z_loss: f64,
    /// Tokens whose logits exist at once.
    pub loss_chunk: usize,
}

/// AdamW's constants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OptimizerConfig {
    /// Decay of the first moment.
    pub beta1: f64,
    /// Decay of the second moment.
    pub beta2: f64,
    /// Added to the root of the second moment.
    pub eps: f64,
    /// Decoupled decay of matrices; vectors do not decay.
    pub weight_decay: f64,
    /// Largest gradient norm; 0 is off.
    pub clip_grad: f64,
}

fn batch_inputs(g: &mut Graph, step: &StepConfig) -> Result<(ValueId, ValueId), GraphError> {
    let ty = TensorType::new(DType::I32, [step.micro_batch, step.seq_len]);
    Ok((
        g.add_input("tokens", ty.clone())?,
        g.add_input("targets", ty)?,
    ))
}

/// Sum of the token losses and number of tokens of one micro batch.
fn loss(
    g: &mut Graph,
    config: &ModelConfig,
    weights: &Weights,
    step: &StepConfig,
    rng: Option<ValueId>,
) -> Result<(ValueId, ValueId), GraphError> {
    let (tokens, targets) = batch_inputs(g, step)?;
    let hidden = models::forward(g, config, weights, tokens, rng, None)?;
    let head = models::head(config, weights)?;
    let op = CrossEntropy {
        config: CrossEntropyConfig {
            z_loss: step.z_loss,
            chunk: step.loss_chunk,
        },
    };
    let outputs = g.scoped("loss", |g| g.add(op, &[hidden, head, targets]))?;
    Ok((outputs[0], outputs[1]))
}

/// Loss and gradients of one micro batch.
///
/// Inputs `tokens`, `targets` i32 `[b, t]`, `loss_scale` (scalar), and `rng` i64
/// `[2]` with dropout. With `accumulate` false the gradients, `loss_sum` and
/// `token_count` are set, else added to. Gradients are of the loss sum times
/// `loss_scale`; the mean is taken once, by [`update`].
///
/// # Errors
/// When shapes do not fit.
pub fn loss_and_gradients(
    config: &ModelConfig,
    step: &StepConfig,
    accumulate: bool,
) -> Result<Graph, GraphError> {
    let mut g = Graph::new();
    let precision = step.precision;
    let specs = models::parameters(config);
    let weights = Weights::declare(&mut g, &specs, precision)?;
    let scalar = TensorType::new(precision.master(), []);
    let scale = g.add_input("loss_scale", scalar.clone())?;
    let rng = match config.hidden_dropout > 0.0 {
        true => Some(g.add_input("rng", TensorType::new(DType::I64, [2]))?),
        false => None,
    };
    let (loss_sum, count) = loss(&mut g, config, &weights, step, rng)?;
    let leaves: Vec<ValueId> = weights.all().iter().map(|(_, value)| *value).collect();
    let grads = gradients(
        &mut g,
        loss_sum,
        Some(scale),
        &leaves,
        Some(precision.master()),
    )?;
    for (index, spec) in specs.iter().enumerate() {
        let Some(grad) = grads.get(index) else {
            continue;
        };
        let scope = g.value(leaves[index]).scope;
        let ty = spec.master_type(precision);
        g.located(scope, Stage::Backward, |g| {
            keep(g, &gradient_name(&spec.name), ty, grad, accumulate)
        })?;
    }
    keep(&mut g, "loss_sum", scalar.clone(), loss_sum, accumulate)?;
    keep(&mut g, "token_count", scalar, count, accumulate)?;
    passes::standard(&g, step.recompute)
}

/// Sets a state to `value`, or adds it.
fn keep(
    g: &mut Graph,
    name: &str,
    ty: TensorType,
    value: ValueId,
    accumulate: bool,
) -> Result<(), GraphError> {
    let state = g.add_state(name, ty)?;
    let value = if accumulate {
        g.binary(BinaryKind::Add, state, value)?
    } else {
        value
    };
    g.add(Assign {}, &[state, value]).map(|_| ())
}

/// The optimizer step: one pass over each parameter.
///
/// Inputs `schedule` `[3]` (learning rate, `1 - beta1^t`, `1 - beta2^t`) and
/// `loss_scale`. Outputs `grad_norm` of the mean loss, before clipping, and
/// `applied`, 0 where a gradient was not finite and nothing was changed.
///
/// # Errors
/// When shapes do not fit.
pub fn update(
    config: &ModelConfig,
    precision: Precision,
    optimizer: &OptimizerConfig,
) -> Result<Graph, GraphError> {
    let mut g = Graph::new();
    let specs = models::parameters(config);
    let scalar = TensorType::new(precision.master(), []);
    let schedule = g.add_input("schedule", TensorType::new(precision.master(), [3]))?;
    let loss_scale = g.add_input("loss_scale", scalar.clone())?;
    let count = g.add_state("token_count", scalar)?;
    let root = g.intern_scope("optimizer");
    g.located(root, Stage::Update, |g| {
        let mut grads = Vec::new();
        for spec in &specs {
            grads.push(g.add_state(&gradient_name(&spec.name), spec.master_type(precision))?);
        }
        let squares = g.add1(SumSquares {}, &grads)?;
        let norm_of_sum = g.unary(UnaryKind::Sqrt, squares)?;
        // An empty batch has count 0 and no gradient: its mean is 0, not NaN.
        let one = g.scalar_like(count, 1.0)?;
        let count = g.binary(BinaryKind::Max, count, one)?;
        let denominator = g.mul(count, loss_scale)?;
        let unscale = g.div(one, denominator)?;
        let norm = g.mul(norm_of_sum, unscale)?;
        let zero = g.sub(norm, norm)?;
        let applied = {
            let nothing = g.scalar_like(zero, 0.0)?;
            g.binary(BinaryKind::Equal, zero, nothing)?
        };
        let scale = clipped(g, norm, unscale, one, optimizer.clip_grad)?;
        for (spec, grad) in specs.iter().zip(grads) {
            adamw(
                g,
                spec,
                precision,
                optimizer,
                [grad, schedule, scale, applied],
            )?;
        }
        g.set_output("grad_norm", norm);
        g.set_output("applied", applied);
        Ok::<(), GraphError>(())
    })?;
    Ok(g)
}

/// `unscale * min(1, clip / (norm + 1e-6))`.
fn clipped(
    g: &mut Graph,
    norm: ValueId,
    unscale: ValueId,
    one: ValueId,
    clip: f64,
) -> Result<ValueId, GraphError> {
    if clip <= 0.0 {
        return Ok(unscale);
    }
    let padded = g.offset(norm, 1e-6)?;
    let limit = g.scalar_like(norm, clip)?;
    let ratio = g.div(limit, padded)?;
    let factor = g.binary(BinaryKind::Min, ratio, one)?;
    g.mul(unscale, factor)
}

fn adamw(
    g: &mut Graph,
    spec: &crate::weights::ParameterSpec,
    precision: Precision,
    optimizer: &OptimizerConfig,
    [grad, schedule, scale, applied]: [ValueId; 4],
) -> Result<(), GraphError> {
    let scope = g.intern_scope(&format!("optimizer.{}", spec.name));
    g.located(scope, Stage::Update, |g| {
        let ty = spec.master_type(precision);
        let param = g.add_parameter(&spec.name, ty.clone())?;
        let [first, second] = moment_names(&spec.name);
        let m = g.add_state(&first, ty.clone())?;
        let v = g.add_state(&second, ty)?;
        let mut inputs = vec![param, grad, m, v, schedule, scale, applied];
        let copy = spec.has_copy(precision);
        if copy {
            let ty = TensorType::new(precision.compute(), spec.shape.clone());
            inputs.push(g.add_state(&copy_name(&spec.name), ty)?);
        }
        let op = AdamW {
            beta1: optimizer.beta1,
            beta2: optimizer.beta2,
            eps: optimizer.eps,
            weight_decay: if spec.is_matrix() {
                optimizer.weight_decay
            } else {
                0.0
            },
            copy,
        };
        g.add(op, &inputs).map(|_| ())
    })
}

/// Loss of one micro batch without gradients: outputs `loss_sum`, `count`.
///
/// # Errors
/// When shapes do not fit.
pub fn evaluate(config: &ModelConfig, step: &StepConfig) -> Result<Graph, GraphError> {
    let mut g = Graph::new();
    let config = ModelConfig {
        hidden_dropout: 0.0,
        ..config.clone()
    };
    let weights = Weights::declare(&mut g, &models::parameters(&config), step.precision)?;
    // The validation loss is the cross entropy alone.
    let step = StepConfig {
        z_loss: 0.0,
        ..*step
    };
    let (loss_sum, count) = loss(&mut g, &config, &weights, &step, None)?;
    g.set_output("loss_sum", loss_sum);
    g.set_output("count", count);
    passes::standard(&g, Recompute::None)
}

#[cfg(test)]
mod tests {
    use cairn_graph::memory::{MemoryOptions, Storage, plan};
    use cairn_graph::ops::GluKind;

    use super::*;
    use crate::config::Family;

    fn model() -> ModelConfig {
        ModelConfig {
            family: Family::Llama,
            num_layers: 2,
            hidden_size: 32,
            ffn_hidden_size: 48,
            num_heads: 2,
            num_kv_heads: 1,
            head_dim: 16,
            vocab_size: 64,
            norm_eps: 1e-5,
            rope_base: 1e4,
            rope_scaling: None,
            tied_embeddings: false,
            activation: GluKind::Swiglu,
            hidden_dropout: 0.0,
            init_std: 0.02,
        }
    }

    /// Copying them would read and write every gradient once more.
    #[test]
    fn gradients_of_matrices_are_made_where_they_are_kept() {
        for accumulate in [false, true] {
            let step = StepConfig {
                micro_batch: 1,
                seq_len: 8,
                precision: Precision::Bf16,
                recompute: Recompute::None,
                z_loss: 0.0,
                loss_chunk: 8,
            };
            let graph = loss_and_gradients(&model(), &step, accumulate).unwrap();
            let plan = plan(&graph, &MemoryOptions::default());
            let mut found = 0;
            for node in graph.nodes() {
                if !node.op.as_any().is::<Assign>() {
                    continue;
                }
                let (state, value) = (node.inputs[0], node.inputs[1]);
                if graph.ty(state).shape.ndim() == 2 {
                    found += 1;
                    assert_eq!(plan.storage[value.0 as usize], Storage::Leaf(state));
                }
            }
            // Seven matrices a layer, the embedding and the head.
            assert_eq!(found, 16);
        }
    }
}
