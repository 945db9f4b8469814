//! The pass: `x * 1` is `x`.

use cairn_graph::ops::{Binary, BinaryKind, Fill};
use cairn_graph::passes::{Pass, replay};
use cairn_graph::{Graph, GraphError, Node, ValueId};

/// Removes multiplications by a constant 1 that do not change the shape.
#[derive(Clone, Copy, Debug, Default)]
pub struct FoldOnes;

impl Pass for FoldOnes {
    fn name(&self) -> &'static str {
        "fold_ones"
    }

    fn run(&self, graph: &Graph) -> Result<Graph, GraphError> {
        replay(graph, |_, map, _, node| {
            let Some(same) = unchanged(graph, node) else {
                return Ok(false);
            };
            let value = map.get(same);
            map.set(node.outputs[0], value);
            Ok(true)
        })
    }
}

/// The operand that `node` passes on, if it multiplies it by one.
fn unchanged(graph: &Graph, node: &Node) -> Option<ValueId> {
    let binary: &Binary = node.op.as_any().downcast_ref()?;
    let (BinaryKind::Mul, [a, b]) = (binary.kind, node.inputs.as_slice()) else {
        return None;
    };
    let is_one = |value: &ValueId| {
        let fill: Option<&Fill> = graph.producer(*value).op.as_any().downcast_ref();
        fill.is_some_and(|fill| fill.value == 1.0)
    };
    let output = node.outputs.first()?;
    [(a, b), (b, a)]
        .into_iter()
        .find(|(x, one)| is_one(one) && graph.ty(**x) == graph.ty(*output))
        .map(|(x, _)| *x)
}
