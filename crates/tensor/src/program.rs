//! A graph compiled for a dispatcher: compile once, run many times.

#[expect(
    unsafe_code,
    reason = "operands of a step are disjoint pieces of one arena"
)]
mod arena;
mod compile;
mod device;
mod profile;
mod replay;

use std::sync::Arc;
use std::time::Instant;

use cairn_graph::memory::{MemoryPlan, Storage};
use cairn_graph::{Graph, TensorType};

use crate::backend::{Dispatcher, Kernel, Signature};
use crate::device::DeviceMemory;
use crate::error::TensorError;
use crate::host::HostTensor;
use crate::store::Store;
use crate::threads::Pool;

use device::Values;
pub use profile::Span;
use replay::Replay;
pub use replay::Replays;

/// How a program is compiled and run.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProgramOptions {
    /// Check every float result of every node and name the first non-finite one.
    pub detect_anomaly: bool,
}

/// Where an operand is at run time.
#[derive(Clone, Debug)]
struct Place {
    storage: Storage,
    strides: Option<Vec<usize>>,
    /// Offset of the first element in bytes, for slices.
    offset: usize,
}

/// One kernel call.
#[derive(Debug)]
struct Step {
    node: usize,
    kernel: Box<dyn Kernel>,
    backend: String,
    fallback: bool,
    on_host: bool,
    signature: Signature,
    /// `None` where the input is computed in place.
    inputs: Vec<Option<Place>>,
    outputs: Vec<Place>,
    scratch: Option<usize>,
}

/// A compiled graph. Values in between live in the arena of the store it runs on.
#[derive(Debug)]
pub struct Program {
    /// What was captured of it. It goes before the kernels that it launches.
    replay: Replay,
    graph: Graph,
    steps: Vec<Step>,
    plan: MemoryPlan,
    places: Vec<Place>,
    options: ProgramOptions,
    /// Where values live; `None` for the host's memory.
    memory: Option<Arc<dyn DeviceMemory>>,
    /// Tells apart whose values the store's arena holds.
    id: u64,
    /// Position in the store of each leaf value, valid for one store generation.
    bindings: Vec<Option<usize>>,
    bound: Option<u64>,
}

/// Which kernel runs a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelChoice {
    /// Operator name.
    pub op: String,
    /// Scope path.
    pub scope: String,
    /// Kernel name.
    pub kernel: String,
    /// Backend name.
    pub backend: String,
    /// Not the first backend's.
    pub fallback: bool,
}

impl Program {
    /// Chooses kernels and plans memory. Nothing is allocated before the first run.
    ///
    /// # Errors
    /// When the graph is malformed or an operator has no kernel.
    pub fn compile(
        graph: Graph,
        dispatcher: &Dispatcher,
        options: ProgramOptions,
    ) -> Result<Self, TensorError> {
        compile::compile(graph, dispatcher, options)
    }

    /// The graph it was compiled from.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The memory plan.
    #[must_use]
    pub fn plan(&self) -> &MemoryPlan {
        &self.plan
    }

    /// Which kernel runs each node that needs one.
    #[must_use]
    pub fn kernels(&self) -> Vec<KernelChoice> {
        let choice = |step: &Step| {
            let node = &self.graph.nodes()[step.node];
            KernelChoice {
                op: node.op.name().to_owned(),
                scope: self.graph.scope_path(node.scope).to_owned(),
                kernel: step.kernel.name().to_owned(),
                backend: step.backend.clone(),
                fallback: step.fallback,
            }
        };
        self.steps.iter().map(choice).collect()
    }

    /// Runs all nodes on the leaves in `store`, updating states in place.
    ///
    /// # Errors
    /// When a leaf is missing or of another type, or a kernel fails.
    pub fn run(&mut self, store: &mut Store, pool: &Pool) -> Result<(), TensorError> {
        self.run_inner(store, pool, None)
    }

    /// As [`Program::run`], appending a span per node to `spans`.
    ///
    /// # Errors
    /// As [`Program::run`].
    pub fn run_profiled(
        &mut self,
        store: &mut Store,
        pool: &Pool,
        spans: &mut Vec<Span>,
    ) -> Result<(), TensorError> {
        self.run_inner(store, pool, Some(spans))
    }

    /// Replaces the options.
    pub fn set_options(&mut self, options: ProgramOptions) {
        self.options = options;
    }

    fn run_inner(
        &mut self,
        store: &mut Store,
        pool: &Pool,
        mut spans: Option<&mut Vec<Span>>,
    ) -> Result<(), TensorError> {
        if self.bound != Some(store.generation()) {
            self.bind(store)?;
        }
        let leaves = self.bindings.iter().flatten().copied();
        match &self.memory {
            None => {
                store.claim_host(leaves)?;
                store.claim_arena(self.plan.arena_bytes, self.id)?;
            }
            Some(memory) => {
                store.claim_device(memory, self.plan.arena_bytes, self.id, leaves)?;
            }
        }
        if let Some(memory) = self.memory.clone() {
            return self.run_on_device(&memory, store, pool, spans);
        }
        for step in &self.steps {
            let started = Instant::now();
            let result = arena::run_step(step, self.id, store, &self.bindings, pool);
            result.map_err(|error| self.kernel_error(step, error.0))?;
            if let Some(spans) = spans.as_deref_mut() {
                spans.push(profile::span(&self.graph, step, started, Instant::now()));
            }
            if self.options.detect_anomaly {
                self.check_finite(step, store)?;
            }
        }
        Ok(())
    }

    fn values<'a>(&'a self, memory: &'a Arc<dyn DeviceMemory>, store: &'a Store) -> Values<'a> {
        Values {
            memory,
            store,
            bindings: &self.bindings,
            owner: self.id,
        }
    }

    /// What `look` finds in the bytes of a contiguous value; `None` when another
    /// program has run since.
    fn with_bytes<T>(
        &self,
        place: &Place,
        ty: &TensorType,
        store: &Store,
        look: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, TensorError> {
        Ok(match &self.memory {
            None => arena::bytes_of(place, ty, self.id, store, &self.bindings).map(look),
            Some(memory) => {
                let tensor = self.values(memory, store).read(place, ty)?;
                tensor.map(|tensor| look(tensor.bytes()))
            }
        })
    }

    /// A copy of the result `name` of the last run.
    ///
    /// # Errors
    /// When there is no such result, or another program has run on the store since.
    pub fn output(&self, store: &Store, name: &str) -> Result<HostTensor, TensorError> {
        let value = self
            .graph
            .output(name)
            .ok_or_else(|| TensorError::NoOutput {
                name: name.to_owned(),
            })?;
        let ty = self.graph.ty(value);
        let place = &self.places[value.0 as usize];
        self.with_bytes(place, ty, store, |bytes| {
            HostTensor::from_bytes(ty.clone(), bytes)
        })?
        .transpose()?
        .ok_or_else(|| TensorError::NoOutput {
            name: name.to_owned(),
        })
    }

    /// A copy of a scalar result as f64.
    ///
    /// # Errors
    /// When there is no such result, or it is no scalar.
    pub fn output_scalar(&self, store: &Store, name: &str) -> Result<f64, TensorError> {
        let values = self.output(store, name)?.to_f64()?;
        values
            .first()
            .copied()
            .ok_or_else(|| TensorError::NoOutput {
                name: name.to_owned(),
            })
    }

    /// Values of the last run by name, with one wait for all of them: results of the
    /// program, and tensors of the store.
    ///
    /// # Errors
    /// When there is no such value, or another program has run on the store since.
    pub fn read(&self, store: &Store, names: &[&str]) -> Result<Vec<HostTensor>, TensorError> {
        let Some(memory) = &self.memory else {
            return names
                .iter()
                .map(|name| self.read_one(store, name))
                .collect();
        };
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            let output = self.graph.output(name).and_then(|value| {
                let place = &self.places[value.0 as usize];
                let (address, len) = self.values(memory, store).locate(place)?;
                let ty = self.graph.ty(value);
                (place.strides.is_none() && ty.bytes() <= len).then(|| (ty.clone(), address))
            });
            let leaf = || {
                let position = store.position(name)?;
                let address = store.newer_on_device(position)?;
                Some((store.ty_at(position).clone(), address))
            };
            let place = output.or_else(leaf);
            let tensor = match &place {
                Some((ty, _)) => HostTensor::zeros(ty.clone())?,
                None => self.read_one(store, name)?,
            };
            found.push((place.map(|(_, address)| address), tensor));
        }
        let mut pieces: Vec<_> = found
            .iter_mut()
            .filter_map(|(address, tensor)| Some(((*address)?, tensor.bytes_mut())))
            .collect();
        memory.copy_out_all(&mut pieces)?;
        Ok(found.into_iter().map(|(_, tensor)| tensor).collect())
    }

    /// A result, or else a tensor of the store.
    fn read_one(&self, store: &Store, name: &str) -> Result<HostTensor, TensorError> {
        if self.graph.output(name).is_some() {
            return self.output(store, name);
        }
        store
            .get(name)?
            .cloned()
            .ok_or_else(|| TensorError::NoOutput {
                name: name.to_owned(),
            })
    }

    fn bind(&mut self, store: &Store) -> Result<(), TensorError> {
        let mut bindings = vec![None; self.graph.values().len()];
        for kind in ["input", "parameter", "state"] {
            for (name, value) in self.graph.leaves(kind) {
                let expected = self.graph.ty(value);
                let position = store.position(name);
                let found = position.map(|position| store.ty_at(position));
                if found != Some(expected) {
                    return Err(TensorError::Binding {
                        kind: kind.to_owned(),
                        name: name.to_owned(),
                        expected: expected.clone(),
                        found: found.map_or_else(|| "nothing".to_owned(), ToString::to_string),
                    });
                }
                bindings[value.0 as usize] = position;
            }
        }
        self.bindings = bindings;
        self.bound = Some(store.generation());
        Ok(())
    }

    /// Operator, scope, shapes and kernel of a step.
    fn describe(&self, step: &Step) -> String {
        let node = &self.graph.nodes()[step.node];
        format!(
            "`{}` in `{}` ({}) on kernel {} of {}",
            node.op.name(),
            self.graph.scope_path(node.scope),
            step.signature.describe(),
            step.kernel.name(),
            step.backend
        )
    }

    fn kernel_error(&self, step: &Step, message: String) -> TensorError {
        let node = &self.graph.nodes()[step.node];
        TensorError::Kernel {
            op: node.op.name().to_owned(),
            scope: self.graph.scope_path(node.scope).to_owned(),
            signature: step.signature.describe(),
            kernel: format!("{} of {}", step.kernel.name(), step.backend),
            message,
        }
    }

    fn check_finite(&self, step: &Step, store: &Store) -> Result<(), TensorError> {
        let node = &self.graph.nodes()[step.node];
        for (output, (place, ty)) in step.outputs.iter().zip(&step.signature.outputs).enumerate() {
            let look = |bytes: &[u8]| profile::first_non_finite(ty, bytes);
            if let Some((element, value)) = self.with_bytes(place, ty, store, look)?.flatten() {
                return Err(TensorError::Anomaly {
                    op: node.op.name().to_owned(),
                    scope: self.graph.scope_path(node.scope).to_owned(),
                    signature: step.signature.describe(),
                    value,
                    element,
                    output,
                });
            }
        }
        Ok(())
    }
}
