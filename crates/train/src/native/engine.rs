//! The compiled programs of a run and the tensors they share.

use cairn_graph::{Graph, passes};
use cairn_nn::training::{self, OptimizerConfig, StepConfig};
use cairn_nn::{ModelConfig, models};
use cairn_tensor::program::{KernelChoice, Replays, Span};
use cairn_tensor::{Dispatcher, HostTensor, Pool, Program, ProgramOptions, Store, TensorError};

use crate::data::Batch;

/// Forward, backward and update of one model on one device.
#[derive(Debug)]
pub struct Engine {
    /// The model.
    pub model: ModelConfig,
    /// Shape and dtypes of a micro batch.
    pub step: StepConfig,
    /// Parameters, states and inputs.
    pub store: Store,
    /// Threads.
    pub pool: Pool,
    dispatcher: Dispatcher,
    options: ProgramOptions,
    /// Sets the gradients.
    first: Program,
    /// Adds to the gradients; compiled when there is more than one micro batch.
    more: Option<Program>,
    update: Program,
    evaluate: Option<Program>,
    spans: Option<Vec<Span>>,
}

/// What a global batch gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepResult {
    /// Sum of the token losses.
    pub loss_sum: f64,
    /// Number of tokens with a target.
    pub token_count: f64,
    /// Norm of the mean gradient before clipping.
    pub grad_norm: f64,
    /// Whether the gradients were finite and the update was done.
    pub applied: bool,
}

impl StepResult {
    /// Mean loss per token in nats.
    #[must_use]
    pub fn loss(&self) -> f32 {
        (self.loss_sum / self.token_count) as f32
    }
}

/// Scalars of one optimizer step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepInputs {
    /// Learning rate.
    pub lr: f64,
    /// Optimizer step, counted from 1.
    pub step: u64,
    /// Factor on the loss.
    pub loss_scale: f64,
    /// Key of random numbers.
    pub seed: u64,
}

/// Compiles a graph in the form that the device is best with.
///
/// # Errors
/// When an operator has no kernel.
pub fn compile(
    graph: Graph,
    dispatcher: &Dispatcher,
    options: ProgramOptions,
) -> Result<Program, TensorError> {
    let graph = match dispatcher.fuses_products() {
        true => passes::fuse_products(&graph)?,
        false => graph,
    };
    Program::compile(graph, dispatcher, options)
}

impl Engine {
    /// Builds and compiles the programs for `micro_batches` per step.
    ///
    /// # Errors
    /// When an operator has no kernel, or memory runs out.
    pub fn new(
        model: ModelConfig,
        step: StepConfig,
        optimizer: &OptimizerConfig,
        micro_batches: usize,
        dispatcher: Dispatcher,
        pool: Pool,
        options: ProgramOptions,
    ) -> Result<Self, TensorError> {
        let compile = |graph| compile(graph, &dispatcher, options);
        let first = compile(training::loss_and_gradients(&model, &step, false)?)?;
        let more = match micro_batches > 1 {
            true => Some(compile(training::loss_and_gradients(&model, &step, true)?)?),
            false => None,
        };
        let update = compile(training::update(&model, step.precision, optimizer)?)?;
        Ok(Self {
            model,
            step,
            store: Store::new(),
            pool,
            first,
            more,
            update,
            evaluate: None,
            options,
            spans: None,
            dispatcher,
        })
    }

    /// Adds the states that hold nothing between steps: gradients and sums.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn prepare(&mut self) -> Result<(), TensorError> {
        for program in [&self.first, &self.update] {
            for kind in ["state", "input"] {
                let missing: Vec<_> = program
                    .graph()
                    .leaves(kind)
                    .map(|(name, value)| (name.to_owned(), program.graph().ty(value).clone()))
                    .collect();
                for (name, ty) in missing {
                    self.store.ensure(&name, &ty)?;
                }
            }
        }
        Ok(())
    }

    /// Records a span per operator from now on, or stops and gives them.
    pub fn profile(&mut self, on: bool) -> Vec<Span> {
        std::mem::replace(&mut self.spans, on.then(Vec::new)).unwrap_or_default()
    }

    /// One optimizer step over `batches`, micro batch by micro batch.
    ///
    /// # Errors
    /// When a kernel fails, or a non-finite value was looked for and found.
    pub fn train_step(
        &mut self,
        batches: &[Batch],
        inputs: &StepInputs,
        optimizer: &OptimizerConfig,
    ) -> Result<StepResult, TensorError> {
        self.set_scalar("loss_scale", inputs.loss_scale)?;
        let bias = |beta: f64| 1.0 - beta.powf(inputs.step as f64);
        self.set(
            "schedule",
            &[inputs.lr, bias(optimizer.beta1), bias(optimizer.beta2)],
        )?;
        for (index, batch) in batches.iter().enumerate() {
            self.set_batch(batch)?;
            if self.model.hidden_dropout > 0.0 {
                // Micro batches of one step draw different masks.
                let draw = inputs.step * batches.len() as u64 + index as u64;
                self.set_integers("rng", &[inputs.seed.cast_signed(), draw.cast_signed()])?;
            }
            let program = match (&mut self.more, index) {
                (Some(more), 1..) => more,
                _ => &mut self.first,
            };
            run(program, &mut self.store, &self.pool, self.spans.as_mut())?;
        }
        run(
            &mut self.update,
            &mut self.store,
            &self.pool,
            self.spans.as_mut(),
        )?;
        // Read together, so that a device is waited for once a step.
        let names = ["loss_sum", "token_count", "grad_norm", "applied"];
        let values = self.update.read(&self.store, &names)?;
        let value = |index: usize| first_of(&values, index, names[index]);
        Ok(StepResult {
            loss_sum: value(0)?,
            token_count: value(1)?,
            grad_norm: value(2)?,
            applied: value(3)? != 0.0,
        })
    }

    /// Sum of token losses and number of tokens of one batch, without gradients.
    ///
    /// # Errors
    /// When a kernel fails.
    pub fn evaluate(&mut self, batch: &Batch) -> Result<(f64, f64), TensorError> {
        if self.evaluate.is_none() {
            let graph = training::evaluate(&self.model, &self.step)?;
            self.evaluate = Some(self.compile(graph)?);
        }
        self.set_batch(batch)?;
        let Some(program) = &mut self.evaluate else {
            return Ok((0.0, 0.0));
        };
        program.run(&mut self.store, &self.pool)?;
        let values = program.read(&self.store, &["loss_sum", "count"])?;
        Ok((
            first_of(&values, 0, "loss_sum")?,
            first_of(&values, 1, "count")?,
        ))
    }

    /// Compiles another graph for this device.
    ///
    /// # Errors
    /// When an operator has no kernel.
    pub fn compile(&self, graph: Graph) -> Result<Program, TensorError> {
        compile(graph, &self.dispatcher, self.options)
    }

    /// Which kernel runs each operator of a step.
    #[must_use]
    pub fn kernels(&self) -> Vec<KernelChoice> {
        let programs = [Some(&self.first), self.more.as_ref(), Some(&self.update)];
        let programs = programs.into_iter().flatten();
        programs.flat_map(Program::kernels).collect()
    }

    /// How the programs of a step were started on a device, and why they always start
    /// operator by operator if they do.
    #[must_use]
    pub fn replays(&self) -> (Replays, Option<String>) {
        let mut all = Replays::default();
        let mut reason = None;
        let programs = [Some(&self.first), self.more.as_ref(), Some(&self.update)];
        for program in programs.into_iter().flatten() {
            let runs = program.replays();
            all.eager += runs.eager;
            all.captured += runs.captured;
            all.replayed += runs.replayed;
            reason = reason.or_else(|| program.eager_because());
        }
        (all, reason)
    }

    /// Bytes of tensors and arena held now.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.store.bytes() + self.store.arena_bytes()
    }

    /// Number of learned elements.
    #[must_use]
    pub fn num_parameters(&self) -> usize {
        models::num_parameters(&self.model)
    }

    fn set_batch(&mut self, batch: &Batch) -> Result<(), TensorError> {
        self.set_elements("tokens", &batch.tokens)?;
        self.set_elements("targets", &batch.targets)
    }

    fn set_elements<T: cairn_tensor::Element>(
        &mut self,
        name: &str,
        values: &[T],
    ) -> Result<(), TensorError> {
        let missing = || TensorError::NoOutput {
            name: name.to_owned(),
        };
        let slot = self.store.get_mut(name)?.ok_or_else(missing)?;
        let ty = slot.ty().clone();
        let slice = slot.as_mut_slice::<T>()?;
        if slice.len() != values.len() {
            return Err(TensorError::Length {
                bytes: ty.dtype.bytes(values.len()),
                ty,
            });
        }
        slice.copy_from_slice(values);
        Ok(())
    }

    fn set_integers(&mut self, name: &str, values: &[i64]) -> Result<(), TensorError> {
        self.set_elements(name, values)
    }

    /// Sets an input of the master dtype.
    fn set(&mut self, name: &str, values: &[f64]) -> Result<(), TensorError> {
        if self.step.precision.master() == cairn_tensor::DType::F64 {
            return self.set_elements(name, values);
        }
        let narrow: Vec<f32> = values.iter().map(|value| *value as f32).collect();
        self.set_elements(name, &narrow)
    }

    fn set_scalar(&mut self, name: &str, value: f64) -> Result<(), TensorError> {
        self.set(name, &[value])
    }
}

/// The first element of a tensor that was read.
fn first_of(tensors: &[HostTensor], index: usize, name: &str) -> Result<f64, TensorError> {
    let values = tensors.get(index).map(HostTensor::to_f64).transpose()?;
    values
        .and_then(|values| values.first().copied())
        .ok_or_else(|| TensorError::NoOutput {
            name: name.to_owned(),
        })
}

fn run(
    program: &mut Program,
    store: &mut Store,
    pool: &Pool,
    spans: Option<&mut Vec<Span>>,
) -> Result<(), TensorError> {
    match spans {
        Some(spans) => program.run_profiled(store, pool, spans),
        None => program.run(store, pool),
    }
}
