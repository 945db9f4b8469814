//! The arena of nodes and values.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::GraphError;
use crate::op::{Cost, Op};
use crate::ops::leaf::{Input, Parameter, State};
use crate::types::TensorType;

/// Index of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId(pub u32);

/// Index of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ValueId(pub u32);

/// Index of a scope path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ScopeId(pub u32);

/// Which part of a step a node belongs to.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// From inputs to the loss.
    #[default]
    Forward,
    /// A forward node run again for the backward's sake.
    Recompute,
    /// From the loss to the gradients.
    Backward,
    /// From the gradients to the new parameters.
    Update,
}

/// One operator applied to values.
#[derive(Clone, Debug)]
pub struct Node {
    /// What is applied.
    pub op: Arc<dyn Op>,
    /// To what.
    pub inputs: Vec<ValueId>,
    /// Giving what.
    pub outputs: Vec<ValueId>,
    /// Where in the model.
    pub scope: ScopeId,
    /// Which part of the step.
    pub stage: Stage,
}

/// One tensor of the graph.
#[derive(Clone, Debug)]
pub struct Value {
    /// Element type and shape.
    pub ty: TensorType,
    /// The node that makes it.
    pub node: NodeId,
    /// Which of that node's outputs it is.
    pub output: usize,
    /// Where in the model.
    pub scope: ScopeId,
    /// Placement over a mesh; replicated until a plan says otherwise.
    pub layout: Option<cairn_layout::Layout>,
}

/// Nodes in topological order, which is also the order of execution.
///
/// A state may be read any number of times before the node that updates it in
/// place, and never (under its old value) after it; [`Graph::verify`] checks it.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    values: Vec<Value>,
    scopes: Vec<String>,
    scope_ids: BTreeMap<String, ScopeId>,
    stack: Vec<ScopeId>,
    stage: Stage,
    outputs: Vec<(String, ValueId)>,
    leaves: BTreeMap<(&'static str, String), ValueId>,
}

impl Graph {
    /// An empty graph.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// All nodes in order.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All values in order.
    #[must_use]
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// One node.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// One value.
    #[must_use]
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.0 as usize]
    }

    /// Type of a value.
    #[must_use]
    pub fn ty(&self, id: ValueId) -> &TensorType {
        &self.value(id).ty
    }

    /// The node that makes a value.
    #[must_use]
    pub fn producer(&self, id: ValueId) -> &Node {
        self.node(self.value(id).node)
    }

    /// Named results: what a caller can read after a run and what keeps nodes alive.
    #[must_use]
    pub fn outputs(&self) -> &[(String, ValueId)] {
        &self.outputs
    }

    /// Makes `value` readable after a run under `name`.
    pub fn set_output(&mut self, name: impl Into<String>, value: ValueId) {
        self.outputs.push((name.into(), value));
    }

    /// The result named `name`.
    #[must_use]
    pub fn output(&self, name: &str) -> Option<ValueId> {
        self.outputs
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| *value)
    }

    /// Text of a scope, such as `layers.3.attention`; empty at the top.
    #[must_use]
    pub fn scope_path(&self, id: ScopeId) -> &str {
        self.scopes.get(id.0 as usize).map_or("", String::as_str)
    }

    /// Runs `body` inside a scope below the current one.
    ///
    /// # Errors
    /// Those of `body`.
    pub fn scoped<T, E>(
        &mut self,
        name: &str,
        body: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let id = self.child_scope(name);
        self.stack.push(id);
        let result = body(self);
        self.stack.pop();
        result
    }

    fn child_scope(&mut self, name: &str) -> ScopeId {
        let parent = self.scope_path(self.current_scope());
        let path = if parent.is_empty() {
            name.to_owned()
        } else {
            format!("{parent}.{name}")
        };
        self.intern_scope(&path)
    }

    /// The id of a whole path, made if new.
    pub fn intern_scope(&mut self, path: &str) -> ScopeId {
        if self.scopes.is_empty() {
            self.scopes.push(String::new());
            self.scope_ids.insert(String::new(), ScopeId(0));
        }
        if let Some(id) = self.scope_ids.get(path) {
            return *id;
        }
        let id = ScopeId(u32::try_from(self.scopes.len()).unwrap_or(u32::MAX));
        self.scopes.push(path.to_owned());
        self.scope_ids.insert(path.to_owned(), id);
        id
    }

    /// The scope new nodes are put in.
    #[must_use]
    pub fn current_scope(&self) -> ScopeId {
        self.stack.last().copied().unwrap_or(ScopeId(0))
    }

    /// Sets scope and stage of new nodes for the time of `body`.
    ///
    /// # Errors
    /// Those of `body`.
    pub fn located<T, E>(
        &mut self,
        scope: ScopeId,
        stage: Stage,
        body: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let before = std::mem::replace(&mut self.stage, stage);
        self.stack.push(scope);
        let result = body(self);
        self.stack.pop();
        self.stage = before;
        result
    }

    /// Adds a node and gives its outputs.
    ///
    /// # Errors
    /// When the operator refuses the inputs.
    pub fn add(
        &mut self,
        op: impl Op + 'static,
        inputs: &[ValueId],
    ) -> Result<Vec<ValueId>, GraphError> {
        self.add_shared(Arc::new(op), inputs)
    }

    /// Adds a node with one output and gives it.
    ///
    /// # Errors
    /// When the operator refuses the inputs.
    pub fn add1(
        &mut self,
        op: impl Op + 'static,
        inputs: &[ValueId],
    ) -> Result<ValueId, GraphError> {
        Ok(self.add(op, inputs)?[0])
    }

    /// Adds a node with an operator that is shared with other nodes.
    ///
    /// # Errors
    /// When the operator refuses the inputs.
    pub fn add_shared(
        &mut self,
        op: Arc<dyn Op>,
        inputs: &[ValueId],
    ) -> Result<Vec<ValueId>, GraphError> {
        if self.scopes.is_empty() {
            self.intern_scope("");
        }
        let scope = self.current_scope();
        let types: Vec<&TensorType> = inputs.iter().map(|id| self.ty(*id)).collect();
        let inferred = op.infer(&types).map_err(|source| GraphError::Op {
            op: op.name().to_owned(),
            scope: self.scope_path(scope).to_owned(),
            inputs: types
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", "),
            source,
        })?;
        if let Some((kind, name)) = leaf_name(op.as_ref()) {
            let value = ValueId(self.values.len() as u32);
            if self.leaves.insert((kind, name.clone()), value).is_some() {
                return Err(GraphError::DuplicateName {
                    kind: kind.to_owned(),
                    name,
                });
            }
        }
        let node = NodeId(self.nodes.len() as u32);
        let outputs = inferred
            .into_iter()
            .enumerate()
            .map(|(output, ty)| {
                self.values.push(Value {
                    ty,
                    node,
                    output,
                    scope,
                    layout: None,
                });
                ValueId(self.values.len() as u32 - 1)
            })
            .collect::<Vec<_>>();
        self.nodes.push(Node {
            op,
            inputs: inputs.to_vec(),
            outputs: outputs.clone(),
            scope,
            stage: self.stage,
        });
        Ok(outputs)
    }

    /// The parameter of this name.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<ValueId> {
        self.leaves.get(&("parameter", name.to_owned())).copied()
    }

    /// The state of this name.
    #[must_use]
    pub fn state(&self, name: &str) -> Option<ValueId> {
        self.leaves.get(&("state", name.to_owned())).copied()
    }

    /// The input of this name.
    #[must_use]
    pub fn input(&self, name: &str) -> Option<ValueId> {
        self.leaves.get(&("input", name.to_owned())).copied()
    }

    /// Inputs, parameters or states (by `kind`) with their names, in name order.
    pub fn leaves(&self, kind: &'static str) -> impl Iterator<Item = (&str, ValueId)> + '_ {
        self.leaves
            .iter()
            .filter(move |((own, _), _)| *own == kind)
            .map(|((_, name), id)| (name.as_str(), *id))
    }

    /// Parameters in the order they were added.
    #[must_use]
    pub fn parameters(&self) -> Vec<(String, ValueId)> {
        let mut all: Vec<_> = self
            .leaves("parameter")
            .map(|(name, id)| (name.to_owned(), id))
            .collect();
        all.sort_by_key(|(_, id)| *id);
        all
    }

    /// Cost of one node.
    #[must_use]
    pub fn cost(&self, node: &Node) -> Cost {
        let types = |ids: &[ValueId]| ids.iter().map(|id| self.ty(*id)).collect::<Vec<_>>();
        node.op.cost(&types(&node.inputs), &types(&node.outputs))
    }

    /// How often each value is read, results counting once.
    #[must_use]
    pub fn use_counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.values.len()];
        for node in &self.nodes {
            for input in &node.inputs {
                counts[input.0 as usize] += 1;
            }
        }
        for (_, value) in &self.outputs {
            counts[value.0 as usize] += 1;
        }
        counts
    }

    /// Checks that nodes only read earlier values and that nothing reads
    /// storage after it was updated in place.
    ///
    /// # Errors
    /// The first node that breaks either rule.
    pub fn verify(&self) -> Result<(), GraphError> {
        let mut stale = vec![false; self.values.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            let fail = |message: String| GraphError::Invariant {
                node: index,
                op: node.op.name().to_owned(),
                scope: self.scope_path(node.scope).to_owned(),
                message,
            };
            for input in &node.inputs {
                if self.value(*input).node.0 as usize >= index {
                    return Err(fail(format!("reads value {} before it is made", input.0)));
                }
                if stale[input.0 as usize] {
                    return Err(fail(format!(
                        "reads value {} after it was updated in place",
                        input.0
                    )));
                }
            }
            for alias in node.op.aliases() {
                if alias.kind == crate::AliasKind::Must && alias.input < node.inputs.len() {
                    stale[node.inputs[alias.input].0 as usize] = true;
                }
            }
        }
        for (name, value) in &self.outputs {
            if stale[value.0 as usize] {
                let node = self.producer(*value);
                return Err(GraphError::Invariant {
                    node: self.value(*value).node.0 as usize,
                    op: node.op.name().to_owned(),
                    scope: self.scope_path(node.scope).to_owned(),
                    message: format!("result `{name}` is updated in place before it can be read"),
                });
            }
        }
        Ok(())
    }
}

/// Kind and name of a leaf operator.
fn leaf_name(op: &dyn Op) -> Option<(&'static str, String)> {
    let any = op.as_any();
    if let Some(leaf) = any.downcast_ref::<Parameter>() {
        Some(("parameter", leaf.name.clone()))
    } else if let Some(leaf) = any.downcast_ref::<State>() {
        Some(("state", leaf.name.clone()))
    } else {
        any.downcast_ref::<Input>()
            .map(|leaf| ("input", leaf.name.clone()))
    }
}
