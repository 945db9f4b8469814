//! What a tensor handle points to: a value, or the call that will make it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cairn_graph::{Op, TensorType};

use super::{Context, Tensor};
use crate::host::HostTensor;

/// One tensor.
pub(super) struct Node {
    pub(super) context: Context,
    /// Unique in its context, ascending in the order of recording.
    pub(super) id: u64,
    pub(super) ty: TensorType,
    /// A parameter, or computed from one.
    pub(super) tracked: bool,
    /// Given as a parameter.
    pub(super) parameter: bool,
    state: Mutex<State>,
}

/// What is known of a tensor.
#[derive(Clone)]
pub(super) enum State {
    /// Output of this index of a call.
    Recorded(Arc<Call>, usize),
    /// Its elements.
    Value(Arc<HostTensor>),
}

/// An operator applied to tensors, not run yet.
pub(super) struct Call {
    /// Unique in its context.
    pub(super) id: u64,
    pub(super) op: Arc<dyn Op>,
    pub(super) inputs: Vec<Tensor>,
}

impl Node {
    pub(super) fn new(
        context: Context,
        ty: TensorType,
        state: State,
        tracked: bool,
        parameter: bool,
    ) -> Self {
        Self {
            id: context.next_id(),
            context,
            ty,
            tracked,
            parameter,
            state: Mutex::new(state),
        }
    }

    pub(super) fn state(&self) -> State {
        self.lock().clone()
    }

    pub(super) fn value(&self) -> Option<Arc<HostTensor>> {
        match &*self.lock() {
            State::Value(value) => Some(value.clone()),
            State::Recorded(..) => None,
        }
    }

    /// Replaces the call by its value.
    pub(super) fn keep(&self, value: Arc<HostTensor>) {
        // The call, and what only it held, goes after the lock is released.
        let call = std::mem::replace(&mut *self.lock(), State::Value(value));
        drop(call);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A chain of calls can be longer than the stack is deep: they are taken apart
/// one after the other.
impl Drop for Call {
    fn drop(&mut self) {
        let mut pending = std::mem::take(&mut self.inputs);
        while let Some(tensor) = pending.pop() {
            let Some(node) = Arc::into_inner(tensor.node) else {
                continue;
            };
            let state = node.state.into_inner();
            if let State::Recorded(call, _) = state.unwrap_or_else(PoisonError::into_inner)
                && let Some(mut call) = Arc::into_inner(call)
            {
                pending.append(&mut call.inputs);
            }
        }
    }
}
