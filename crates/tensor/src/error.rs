//! What can go wrong with tensors and programs.

use cairn_formats::DType;
use cairn_graph::{GraphError, OpError, TensorType};
use thiserror::Error;

/// A kernel cannot go on; the executor adds operator, scope and types.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct KernelError(pub String);

/// A tensor or a program cannot do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TensorError {
    /// The machine has not that much memory.
    #[error("not enough memory for {bytes} bytes")]
    OutOfMemory {
        /// How much was asked for.
        bytes: usize,
    },
    /// Data of another length than the type needs.
    #[error("{ty} needs {} bytes, got {bytes}", ty.bytes())]
    Length {
        /// The type.
        ty: TensorType,
        /// Bytes given.
        bytes: usize,
    },
    /// Elements read as another type than they have.
    #[error("a tensor {ty} has no elements of {expected}")]
    WrongDType {
        /// dtype asked for.
        expected: DType,
        /// What the tensor is.
        ty: TensorType,
    },
    /// A dtype without element type here.
    #[error("{dtype} elements cannot be read one by one")]
    Unsupported {
        /// The dtype.
        dtype: DType,
    },
    /// A leaf of the program is not in the store, or has another type there.
    #[error("{kind} `{name}` should be {expected}, the store has {found}")]
    Binding {
        /// Kind of leaf.
        kind: String,
        /// Name of the leaf.
        name: String,
        /// Type the program needs.
        expected: TensorType,
        /// What the store has: a type, or nothing.
        found: String,
    },
    /// No result of this name.
    #[error("the program has no result named `{name}`")]
    NoOutput {
        /// The name asked for.
        name: String,
    },
    /// No backend has a kernel.
    #[error("no kernel for `{op}` in `{scope}` ({signature}) on backend {backends}")]
    NoKernel {
        /// Operator name.
        op: String,
        /// Scope path.
        scope: String,
        /// Operand types.
        signature: String,
        /// Backends asked.
        backends: String,
    },
    /// A kernel failed.
    #[error("`{op}` in `{scope}` ({signature}) on kernel {kernel}: {message}")]
    Kernel {
        /// Operator name.
        op: String,
        /// Scope path.
        scope: String,
        /// Operand types.
        signature: String,
        /// Kernel name.
        kernel: String,
        /// Why.
        message: String,
    },
    /// A device reports an error.
    #[error("{message}")]
    Device {
        /// What it says.
        message: String,
    },
    /// `detect_anomaly` found a value that is not finite.
    #[error(
        "`{op}` in `{scope}` ({signature}) made the first non-finite value: {value} at element {element} of output {output}"
    )]
    Anomaly {
        /// Operator name.
        op: String,
        /// Scope path.
        scope: String,
        /// Operand types.
        signature: String,
        /// The value.
        value: String,
        /// Its row-major index.
        element: usize,
        /// Which output.
        output: usize,
    },
    /// A lazy operator was given tensors it cannot take.
    #[error("`{op}` {source} (inputs: {inputs})")]
    Call {
        /// Operator name.
        op: String,
        /// Types of the inputs.
        inputs: String,
        /// Why it refused.
        source: OpError,
    },
    /// A gradient was asked for that cannot be given.
    #[error("no gradient of {of}: {reason}")]
    Gradient {
        /// Type of what should be differentiated.
        of: TensorType,
        /// Why not, and what to do instead.
        reason: String,
    },
    /// A tensor met tensors of another context.
    #[error("`{op}` was given a tensor {ty} of another context")]
    OtherContext {
        /// Operator or function name.
        op: String,
        /// Type of the tensor.
        ty: TensorType,
    },
    /// One element was asked for where there is not exactly one.
    #[error("{ty} is not one element")]
    NotScalar {
        /// What the tensor is.
        ty: TensorType,
    },
    /// Only a parameter can be set.
    #[error("a tensor {ty} that is no parameter cannot be set; make it with `parameter`")]
    NotParameter {
        /// What the tensor is.
        ty: TensorType,
    },
    /// A parameter was set to a value of another type.
    #[error("a parameter {expected} cannot be set to {found}")]
    Assign {
        /// Type of the parameter.
        expected: TensorType,
        /// Type of the value.
        found: TensorType,
    },
    /// A context could not be made.
    #[error("{message}")]
    Setup {
        /// What is wrong with the environment.
        message: String,
    },
    /// The graph itself is wrong.
    #[error(transparent)]
    Graph(#[from] GraphError),
}
