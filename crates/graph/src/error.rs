//! What can go wrong while a graph is built or read.

use thiserror::Error;

/// An operator was given inputs it cannot take.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OpError {
    /// Wrong number of inputs.
    #[error("takes {expected} inputs, got {got}")]
    Arity {
        /// How many it takes.
        expected: String,
        /// How many it got.
        got: usize,
    },
    /// Shapes or dtypes that do not go together; the text says which and why.
    #[error("{0}")]
    Invalid(String),
}

/// Shorthand for [`OpError::Invalid`].
pub(crate) fn invalid<T>(message: impl Into<String>) -> Result<T, OpError> {
    Err(OpError::Invalid(message.into()))
}

/// A graph could not be built, differentiated or read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GraphError {
    /// An operator refused its inputs.
    #[error("operator `{op}` in `{scope}` {source} (inputs: {inputs})")]
    Op {
        /// Operator name.
        op: String,
        /// Scope path of the node.
        scope: String,
        /// Types of the inputs.
        inputs: String,
        /// Why it refused.
        source: OpError,
    },
    /// No gradient is defined for an operator on the way.
    #[error("operator `{op}` in `{scope}` has no gradient")]
    NoGradient {
        /// Operator name.
        op: String,
        /// Scope path of the node.
        scope: String,
    },
    /// The value differentiated is not a float scalar.
    #[error("only a scalar can be differentiated, `{scope}` has type {ty}")]
    NotScalar {
        /// Scope path of the value.
        scope: String,
        /// Its type.
        ty: String,
    },
    /// Two leaves share a name.
    #[error("two {kind}s are named `{name}`")]
    DuplicateName {
        /// Kind of leaf.
        kind: String,
        /// The name.
        name: String,
    },
    /// A stored graph cannot be read.
    #[error("cannot read the graph: {0}")]
    Read(String),
    /// An invariant between nodes does not hold.
    #[error("node {node} (`{op}` in `{scope}`): {message}")]
    Invariant {
        /// Index of the node.
        node: usize,
        /// Operator name.
        op: String,
        /// Scope path of the node.
        scope: String,
        /// What does not hold.
        message: String,
    },
}
