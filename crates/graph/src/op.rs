//! What an operator is: attributes behind one small trait.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use cairn_formats::DType;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{GraphError, OpError};
use crate::graph::{Graph, ValueId};
use crate::types::TensorType;

/// Work done by one node, for rooflines and estimates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Floating-point operations; a multiply-add counts two.
    pub flops: u64,
    /// Least bytes read and written when every operand is touched once.
    pub bytes: u64,
}

impl Cost {
    /// `flops` beside the bytes of all operands.
    #[must_use]
    pub fn new(flops: u64, inputs: &[&TensorType], outputs: &[&TensorType]) -> Self {
        let bytes = inputs
            .iter()
            .chain(outputs)
            .map(|ty| ty.bytes() as u64)
            .sum();
        Self { flops, bytes }
    }
}

/// How an output may relate to an input's storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AliasKind {
    /// The output is the input's storage, updated in place (states).
    Must,
    /// The output may take over the input's storage when nobody reads it later.
    May,
    /// The output is the same bytes under another type; nothing is computed.
    View,
}

/// One pair of output and input that share storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alias {
    /// Index among the outputs.
    pub output: usize,
    /// Index among the inputs.
    pub input: usize,
    /// How they share.
    pub kind: AliasKind,
}

impl Alias {
    /// Output `output` is input `input`, updated in place.
    #[must_use]
    pub fn must(output: usize, input: usize) -> Self {
        Self {
            output,
            input,
            kind: AliasKind::Must,
        }
    }

    /// Output `output` may reuse the storage of input `input`.
    #[must_use]
    pub fn may(output: usize, input: usize) -> Self {
        Self {
            output,
            input,
            kind: AliasKind::May,
        }
    }

    /// Output `output` is input `input` under another type.
    #[must_use]
    pub fn view(output: usize, input: usize) -> Self {
        Self {
            output,
            input,
            kind: AliasKind::View,
        }
    }
}

/// How a node's dims may be split over a mesh axis, in the manner of einsum:
/// each dim of each operand carries an index letter. Splitting an index splits
/// every dim that carries it; an index absent from an output and listed in
/// `summed` leaves that output partial (to be summed).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardRule {
    /// One letter per dim, one string per input. `.` marks a dim that must stay whole.
    pub inputs: Vec<String>,
    /// One letter per dim, one string per output.
    pub outputs: Vec<String>,
    /// Letters whose splitting makes outputs partial sums.
    pub summed: String,
}

impl ShardRule {
    /// The rule in one line: `"mk,nk->mn"`, and the letters that are summed.
    #[must_use]
    pub fn einsum(rule: &str, summed: &str) -> Self {
        let (inputs, outputs) = rule.split_once("->").unwrap_or((rule, ""));
        let split = |part: &str| part.split(',').map(str::to_owned).collect();
        Self {
            inputs: split(inputs),
            outputs: split(outputs),
            summed: summed.to_owned(),
        }
    }

    /// Every dim must stay whole.
    #[must_use]
    pub fn replicated(inputs: &[&TensorType], outputs: &[&TensorType]) -> Self {
        let dots =
            |types: &[&TensorType]| types.iter().map(|ty| ".".repeat(ty.shape.ndim())).collect();
        Self {
            inputs: dots(inputs),
            outputs: dots(outputs),
            summed: String::new(),
        }
    }
}

/// What a gradient rule sees and builds with.
#[derive(Debug)]
pub struct GradCx<'g> {
    /// The graph to add nodes to.
    pub graph: &'g mut Graph,
    /// Inputs of the forward node.
    pub inputs: Vec<ValueId>,
    /// Outputs of the forward node.
    pub outputs: Vec<ValueId>,
    /// Gradient of each output, where there is one.
    pub grads: Vec<Option<ValueId>>,
    /// Wanted dtype of the gradient of each input.
    pub grad_dtypes: Vec<DType>,
    /// Which inputs need a gradient.
    pub needs: Vec<bool>,
}

impl GradCx<'_> {
    /// Type of input `index`.
    #[must_use]
    pub fn input_type(&self, index: usize) -> TensorType {
        self.graph.ty(self.inputs[index]).clone()
    }
}

/// Gradient of each input, `None` where there is none to give.
pub type InputGrads = Vec<Option<ValueId>>;

/// Parts of [`Op`] that every serialisable struct has for free.
pub trait DynOp: Debug + Send + Sync {
    /// For downcasts in backends.
    fn as_any(&self) -> &dyn Any;
    /// The attributes as JSON; the stored form of the operator.
    fn attributes(&self) -> serde_json::Value;
}

impl<T: Debug + Send + Sync + Serialize + 'static> DynOp for T {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn attributes(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or(serde_json::Value::Null)
    }
}

/// An operator. Implementations are plain structs of attributes; they derive
/// `Debug`, `Serialize` and `Deserialize` and are listed in a registry.
pub trait Op: DynOp {
    /// Stable name, as shown and stored: `matmul`.
    fn name(&self) -> &'static str;

    /// Types of the outputs.
    ///
    /// # Errors
    /// When the inputs do not fit the operator.
    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError>;

    /// Adds the nodes that compute the gradients of the inputs.
    ///
    /// # Errors
    /// When there is no gradient, or its nodes cannot be built.
    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let scope = cx
            .graph
            .scope_path(cx.graph.value(cx.outputs[0]).scope)
            .to_owned();
        Err(GraphError::NoGradient {
            op: self.name().to_owned(),
            scope,
        })
    }

    /// Work of one execution. The default counts bytes and no arithmetic.
    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        Cost::new(0, inputs, outputs)
    }

    /// How the operands may be split. The default says not at all.
    fn shard(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> ShardRule {
        ShardRule::replicated(inputs, outputs)
    }

    /// Which outputs share storage with which inputs.
    fn aliases(&self) -> Vec<Alias> {
        Vec::new()
    }
}

type Load = fn(serde_json::Value) -> Result<Arc<dyn Op>, serde_json::Error>;

/// Operators by name: what a stored graph may contain.
#[derive(Clone, Debug, Default)]
pub struct OpRegistry {
    table: BTreeMap<&'static str, Load>,
}

impl OpRegistry {
    /// Adds an operator type under the name its instances report.
    pub fn insert<T: Op + DeserializeOwned + 'static>(&mut self, name: &'static str) {
        self.table.insert(name, |attributes| {
            serde_json::from_value::<T>(attributes).map(|op| Arc::new(op) as Arc<dyn Op>)
        });
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.table.keys().copied()
    }

    /// Rebuilds an operator from its stored form.
    ///
    /// # Errors
    /// When the name is unknown or the attributes do not fit.
    pub fn load(
        &self,
        name: &str,
        attributes: serde_json::Value,
    ) -> Result<Arc<dyn Op>, GraphError> {
        let load = self
            .table
            .get(name)
            .ok_or_else(|| GraphError::Read(format!("unknown operator `{name}`")))?;
        load(attributes)
            .map_err(|error| GraphError::Read(format!("attributes of `{name}`: {error}")))
    }
}
