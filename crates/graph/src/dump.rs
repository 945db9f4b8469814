//! A graph as readable text, and as versioned JSON that reads back.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::error::GraphError;
use crate::graph::{Graph, Stage, ValueId};
use crate::op::OpRegistry;
use crate::ops::is_leaf;

/// Version of the stored form.
pub const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredGraph {
    version: u32,
    nodes: Vec<StoredNode>,
    outputs: Vec<(String, ValueId)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredNode {
    op: String,
    attributes: serde_json::Value,
    inputs: Vec<ValueId>,
    scope: String,
    stage: Stage,
}

/// One line a node: values, operator, attributes, types, cost, scope.
#[must_use]
pub fn to_text(graph: &Graph) -> String {
    let mut text = String::new();
    let list = |ids: &[ValueId]| {
        ids.iter()
            .map(|id| format!("%{}", id.0))
            .collect::<Vec<_>>()
            .join(", ")
    };
    for node in graph.nodes() {
        let types = node
            .outputs
            .iter()
            .map(|id| graph.ty(*id).to_string())
            .collect::<Vec<_>>()
            .join(", ");
        let attributes = match node.op.attributes() {
            serde_json::Value::Object(map) if map.is_empty() => String::new(),
            _ if is_leaf(node.op.as_ref()) => {
                let name = node.op.attributes()["name"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned();
                format!(" \"{name}\"")
            }
            other => format!(" {other}"),
        };
        let cost = graph.cost(node);
        let _ = write!(
            text,
            "{} = {}({}){attributes}: {types}",
            list(&node.outputs),
            node.op.name(),
            list(&node.inputs)
        );
        let scope = graph.scope_path(node.scope);
        let stage = match node.stage {
            Stage::Forward => "",
            Stage::Recompute => " recompute",
            Stage::Backward => " backward",
            Stage::Update => " update",
        };
        let _ = writeln!(
            text,
            "  # {scope}{stage} flops={} bytes={}",
            cost.flops, cost.bytes
        );
    }
    for (name, value) in graph.outputs() {
        let _ = writeln!(text, "output {name} = %{}", value.0);
    }
    text
}

/// The stored form.
#[must_use]
pub fn to_json(graph: &Graph) -> serde_json::Value {
    let nodes = graph
        .nodes()
        .iter()
        .map(|node| StoredNode {
            op: node.op.name().to_owned(),
            attributes: node.op.attributes(),
            inputs: node.inputs.clone(),
            scope: graph.scope_path(node.scope).to_owned(),
            stage: node.stage,
        })
        .collect();
    let stored = StoredGraph {
        version: VERSION,
        nodes,
        outputs: graph.outputs().to_vec(),
    };
    serde_json::to_value(stored).unwrap_or(serde_json::Value::Null)
}

/// Reads the stored form; types are inferred again, so a file cannot lie about them.
///
/// # Errors
/// When the version, an operator, an input index or a type does not fit.
pub fn from_json(json: serde_json::Value, registry: &OpRegistry) -> Result<Graph, GraphError> {
    let version = json.get("version").and_then(serde_json::Value::as_u64);
    if version != Some(u64::from(VERSION)) {
        return Err(GraphError::Read(format!(
            "needs version {VERSION}, found {version:?}"
        )));
    }
    let stored: StoredGraph =
        serde_json::from_value(json).map_err(|error| GraphError::Read(error.to_string()))?;
    let mut graph = Graph::new();
    for node in stored.nodes {
        let known = graph.values().len();
        if let Some(input) = node.inputs.iter().find(|input| input.0 as usize >= known) {
            return Err(GraphError::Read(format!(
                "`{}` reads value {} before it is made",
                node.op, input.0
            )));
        }
        let op = registry.load(&node.op, node.attributes)?;
        let scope = graph.intern_scope(&node.scope);
        graph.located(scope, node.stage, |graph| {
            graph.add_shared(op, &node.inputs)
        })?;
    }
    for (name, value) in stored.outputs {
        if value.0 as usize >= graph.values().len() {
            return Err(GraphError::Read(format!(
                "output `{name}` names value {}, which does not exist",
                value.0
            )));
        }
        graph.set_output(name, value);
    }
    graph.verify()?;
    Ok(graph)
}
