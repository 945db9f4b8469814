//! Where tensors are made and run: backends, threads, compiled programs.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cairn_base::env;
use cairn_formats::DType;
use cairn_graph::ops::BinaryKind;
use cairn_graph::{Op, Shape, TensorType, ops};

use super::engine::Engine;
use super::node::{Call, State};
use super::{Tensor, build};
use crate::backend::Dispatcher;
use crate::cpu::{Cpu, isa::Isa};
use crate::element::Element;
use crate::error::TensorError;
use crate::host::HostTensor;
use crate::reference::Reference;
use crate::threads::Pool;

/// Backends, threads and compiled programs of a set of tensors. Cloning gives
/// another handle to the same context.
#[derive(Clone)]
pub struct Context {
    inner: Arc<Inner>,
}

struct Inner {
    next_id: AtomicU64,
    engine: Mutex<Engine>,
}

/// What a context has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Programs compiled.
    pub compiled: u64,
    /// Programs run.
    pub runs: u64,
    /// Nodes recorded for the latest run, its leaves included.
    pub nodes: usize,
    /// Programs with a kernel that is not the first backend's.
    pub fallbacks: u64,
}

impl Context {
    /// The fast CPU backend, with the reference backend for what it lacks (f64
    /// and integers). `CAIRN_THREADS` and `CAIRN_CPU` apply.
    ///
    /// # Errors
    /// When one of these variables makes no sense, or threads cannot be started.
    pub fn cpu() -> Result<Self, TensorError> {
        let setup = |message: String| TensorError::Setup { message };
        let threads = Pool::threads_from(env::get(&env::CAIRN_THREADS).as_deref())
            .map_err(|error| setup(error.to_string()))?;
        let isa = Isa::from_setting(env::get(&env::CAIRN_CPU).as_deref())
            .map_err(|error| setup(error.to_string()))?;
        let pool = Pool::new(threads).map_err(|error| setup(error.to_string()))?;
        let cpu = Arc::new(Cpu::new(isa, threads));
        let dispatcher = Dispatcher::new(vec![cpu, Arc::new(Reference)]);
        Ok(Self::new(dispatcher, pool))
    }

    /// These backends and threads.
    #[must_use]
    pub fn new(dispatcher: Dispatcher, pool: Pool) -> Self {
        let inner = Inner {
            next_id: AtomicU64::new(0),
            engine: Mutex::new(Engine::new(dispatcher, pool)),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// A constant with these elements in row-major order.
    ///
    /// # Errors
    /// When their number does not fit the shape, or memory runs out.
    pub fn tensor<T: Element>(
        &self,
        shape: impl Into<Shape>,
        data: &[T],
    ) -> Result<Tensor, TensorError> {
        Ok(self.constant(HostTensor::new(shape, data)?))
    }

    /// A parameter with these elements in row-major order: gradients can be
    /// taken with respect to it, and [`Tensor::set`] changes it.
    ///
    /// # Errors
    /// When their number does not fit the shape, or memory runs out.
    pub fn parameter<T: Element>(
        &self,
        shape: impl Into<Shape>,
        data: &[T],
    ) -> Result<Tensor, TensorError> {
        let value = HostTensor::new(shape, data)?;
        let (ty, tracked) = (value.ty().clone(), value.dtype().is_float());
        let state = State::Value(Arc::new(value));
        Ok(Tensor::new(self, ty, state, tracked, true))
    }

    /// A constant scalar.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn scalar<T: Element>(&self, value: T) -> Result<Tensor, TensorError> {
        self.tensor([], &[value])
    }

    /// A constant with one value everywhere, rounded to `dtype`.
    ///
    /// # Errors
    /// When the dtype has no element type, or memory runs out.
    pub fn full(
        &self,
        dtype: DType,
        shape: impl Into<Shape>,
        value: f64,
    ) -> Result<Tensor, TensorError> {
        let ty = TensorType::new(dtype, shape);
        let values = vec![value; ty.shape.num_elements()];
        Ok(self.constant(HostTensor::from_f64(ty, &values)?))
    }

    /// A constant that takes over a host tensor.
    #[must_use]
    pub fn constant(&self, value: HostTensor) -> Tensor {
        let ty = value.ty().clone();
        Tensor::new(self, ty, State::Value(Arc::new(value)), false, false)
    }

    /// Records an operator, shipped or not, and gives its outputs.
    ///
    /// # Errors
    /// When the operator refuses the inputs, is a leaf or updates a state, or an
    /// input belongs to another context.
    pub fn apply(
        &self,
        op: impl Op + 'static,
        inputs: &[&Tensor],
    ) -> Result<Vec<Tensor>, TensorError> {
        let inputs = inputs.iter().map(|input| (*input).clone()).collect();
        self.record(Arc::new(op), inputs)
    }

    /// Computes all of these that are not known yet in one program, which shares
    /// what they have in common.
    ///
    /// # Errors
    /// When an operator has no kernel, a kernel refuses a value, memory runs out,
    /// or a tensor belongs to another context. Then none of them is evaluated.
    pub fn evaluate(&self, tensors: &[&Tensor]) -> Result<(), TensorError> {
        self.values(tensors).map(|_| ())
    }

    /// What was done so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.engine().counters()
    }

    /// As [`Context::evaluate`], and gives the values in order.
    pub(super) fn values(&self, tensors: &[&Tensor]) -> Result<Vec<Arc<HostTensor>>, TensorError> {
        for tensor in tensors {
            self.same_as(tensor, "evaluate")?;
        }
        let mut engine = self.engine();
        let mut wanted: Vec<&Tensor> = Vec::new();
        for tensor in tensors {
            let known = wanted.iter().any(|other| other.id() == tensor.id());
            if !known && !tensor.is_evaluated() {
                wanted.push(tensor);
            }
        }
        if !wanted.is_empty() {
            let recording = build::all(&wanted)?;
            let values = engine.run(recording)?;
            for (tensor, value) in wanted.iter().zip(values) {
                tensor.node.keep(Arc::new(value));
            }
        }
        let value = |tensor: &&Tensor| {
            let value = tensor.node.value();
            value.ok_or_else(|| TensorError::NoOutput {
                name: tensor.ty().to_string(),
            })
        };
        tensors.iter().map(value).collect()
    }

    pub(super) fn record(
        &self,
        op: Arc<dyn Op>,
        inputs: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, TensorError> {
        for input in &inputs {
            self.same_as(input, op.name())?;
        }
        let refused = |source| TensorError::Call {
            op: op.name().to_owned(),
            inputs: list(&inputs),
            source,
        };
        let types: Vec<&TensorType> = inputs.iter().map(Tensor::ty).collect();
        let outputs = op.infer(&types).map_err(refused)?;
        let updates = op
            .aliases()
            .iter()
            .any(|a| a.kind == cairn_graph::AliasKind::Must);
        if updates || ops::is_leaf(op.as_ref()) {
            let reason = "names or updates storage; tensors are values";
            return Err(refused(cairn_graph::OpError::Invalid(reason.to_owned())));
        }
        let tracked = inputs.iter().any(Tensor::is_tracked) && !is_comparison(op.as_ref());
        let id = self.next_id();
        let call = Arc::new(Call { id, op, inputs });
        let output = |(index, ty): (usize, TensorType)| {
            let tracked = tracked && ty.dtype.is_float();
            let state = State::Recorded(call.clone(), index);
            Tensor::new(self, ty, state, tracked, false)
        };
        Ok(outputs.into_iter().enumerate().map(output).collect())
    }

    /// Refuses a tensor of another context.
    pub(super) fn same_as(&self, tensor: &Tensor, op: &str) -> Result<(), TensorError> {
        if Arc::ptr_eq(&self.inner, &tensor.context().inner) {
            return Ok(());
        }
        Err(TensorError::OtherContext {
            op: op.to_owned(),
            ty: tensor.ty().clone(),
        })
    }

    pub(super) fn next_id(&self) -> u64 {
        self.inner.next_id.fetch_add(1, Ordering::Relaxed)
    }

    fn engine(&self) -> MutexGuard<'_, Engine> {
        let engine = self.inner.engine.lock();
        engine.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Types of tensors in one line.
fn list(tensors: &[Tensor]) -> String {
    let types: Vec<String> = tensors.iter().map(|t| t.ty().to_string()).collect();
    types.join(", ")
}

/// Operators without gradient by nature: their results are constants.
fn is_comparison(op: &dyn Op) -> bool {
    let binary: Option<&ops::Binary> = op.as_any().downcast_ref();
    binary.is_some_and(|binary| {
        matches!(
            binary.kind,
            BinaryKind::Greater | BinaryKind::GreaterEqual | BinaryKind::Equal
        )
    })
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("counters", &self.counters())
            .finish_non_exhaustive()
    }
}
