//! The lazy tensor: records operators, runs them when a value is asked for.
//!
//! ```
//! use cairn_tensor::{Context, TensorError};
//!
//! fn main() -> Result<(), TensorError> {
//!     let cx = Context::cpu()?;
//!     let x = cx.tensor([1, 2], &[3.0_f32, -1.0])?;
//!     let mut w = cx.parameter([2, 2], &[1.0_f32, 2.0, 3.0, 4.0])?;
//!     let loss = x.matmul(&w)?.relu()?.sum_all()?; // nothing has run yet
//!     let grads = loss.grad(&[&w])?; // and still nothing
//!     cx.evaluate(&[&loss, &grads[0]])?; // one program computes both
//!     assert_eq!(loss.to_scalar::<f32>()?, 2.0);
//!     assert_eq!(grads[0].to_vec::<f32>()?, [0.0, 3.0, 0.0, -1.0]);
//!     let lower = w.sub(&grads[0].scale(0.1)?)?;
//!     w.set(&lower)
//! }
//! ```
//!
//! **Recording.** Each method checks types, so that a mistake is an error where
//! it was made, and gives a tensor that knows its type but not its value.
//!
//! **Evaluation.** [`Tensor::to_vec`] and its like compile what was recorded into
//! a [`crate::Program`] and run it; the value is kept, so asking twice runs once.
//! [`Context::evaluate`] computes several tensors in one program, which shares
//! what they have in common. Programs are kept by the stored form of their
//! graph: a loop that records the same operators compiles once. Values in
//! between are not kept.
//!
//! **Gradients.** [`Tensor::grad`] records the gradient by the rules of the
//! graph; it is a tensor like any other. A value forgets how it was computed, so
//! that a loop does not grow what is recorded: take gradients before asking for
//! values. Where a gradient would have to pass through a value, that is an error
//! and never a silent zero.

mod build;
mod context;
mod engine;
mod gradient;
mod node;
mod ops;

use std::fmt;
use std::sync::Arc;

use cairn_formats::DType;
use cairn_graph::{Shape, TensorType};

use crate::element::Element;
use crate::error::TensorError;
use crate::host::HostTensor;
use node::{Node, State};

pub use context::{Context, Counters};

/// A tensor whose value is known or recorded. Cloning gives another handle to
/// the same tensor.
#[derive(Clone)]
pub struct Tensor {
    node: Arc<Node>,
}

impl Tensor {
    /// Element type and shape.
    #[must_use]
    pub fn ty(&self) -> &TensorType {
        &self.node.ty
    }

    /// Sizes of the dims.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.node.ty.shape
    }

    /// Element type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.node.ty.dtype
    }

    /// The context it belongs to.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.node.context
    }

    /// Whether its value is known, so that asking for it runs nothing.
    #[must_use]
    pub fn is_evaluated(&self) -> bool {
        self.node.value().is_some()
    }

    /// Whether it is a parameter or computed from one: what gradients can be
    /// taken of and with respect to.
    #[must_use]
    pub fn is_tracked(&self) -> bool {
        self.node.tracked
    }

    /// The value, computed now if it is not known yet.
    ///
    /// # Errors
    /// When an operator has no kernel, a kernel refuses a value, or memory runs out.
    pub fn value(&self) -> Result<Arc<HostTensor>, TensorError> {
        if let Some(value) = self.node.value() {
            return Ok(value);
        }
        let mut values = self.node.context.values(&[self])?;
        values.pop().ok_or_else(|| TensorError::NoOutput {
            name: self.ty().to_string(),
        })
    }

    /// The elements in row-major order, computed now if they are not known yet.
    ///
    /// # Errors
    /// When `T` is not the element type; otherwise as [`Tensor::value`].
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, TensorError> {
        self.check::<T>()?;
        Ok(self.value()?.as_slice::<T>()?.to_vec())
    }

    /// The only element, computed now if it is not known yet.
    ///
    /// # Errors
    /// When there is not exactly one element, or `T` is not its type; otherwise
    /// as [`Tensor::value`].
    pub fn to_scalar<T: Element>(&self) -> Result<T, TensorError> {
        self.check::<T>()?;
        if self.shape().num_elements() != 1 {
            return Err(TensorError::NotScalar {
                ty: self.ty().clone(),
            });
        }
        let value = self.value()?;
        let element = value.as_slice::<T>()?.first().copied();
        element.ok_or_else(|| TensorError::NotScalar {
            ty: self.ty().clone(),
        })
    }

    /// The same value as a constant: gradients do not pass through it.
    ///
    /// It runs nothing; what is recorded is shared with `self`.
    #[must_use]
    pub fn detach(&self) -> Self {
        let state = self.node.state();
        Self::new(self.context(), self.ty().clone(), state, false, false)
    }

    /// Evaluates `value` and makes it this parameter's value from now on.
    ///
    /// What was recorded before still means the old value, and so do clones.
    ///
    /// # Errors
    /// When `self` is no parameter, or `value` has another type; otherwise as
    /// [`Tensor::value`].
    pub fn set(&mut self, value: &Self) -> Result<(), TensorError> {
        if !self.node.parameter {
            return Err(TensorError::NotParameter {
                ty: self.ty().clone(),
            });
        }
        if self.ty() != value.ty() {
            return Err(TensorError::Assign {
                expected: self.ty().clone(),
                found: value.ty().clone(),
            });
        }
        self.context().same_as(value, "set")?;
        let state = State::Value(value.value()?);
        *self = Self::new(self.context(), self.ty().clone(), state, true, true);
        Ok(())
    }

    fn new(
        context: &Context,
        ty: TensorType,
        state: State,
        tracked: bool,
        parameter: bool,
    ) -> Self {
        let node = Node::new(context.clone(), ty, state, tracked, parameter);
        Self {
            node: Arc::new(node),
        }
    }

    fn id(&self) -> u64 {
        self.node.id
    }

    fn check<T: Element>(&self) -> Result<(), TensorError> {
        if self.dtype() == T::DTYPE {
            return Ok(());
        }
        Err(TensorError::WrongDType {
            expected: T::DTYPE,
            ty: self.ty().clone(),
        })
    }
}

/// Its type and whether it has a value; never the elements.
impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.is_evaluated() {
            "evaluated"
        } else {
            "recorded"
        };
        write!(f, "Tensor({}, {state})", self.ty())
    }
}
