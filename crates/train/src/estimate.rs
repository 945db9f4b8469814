//! Working space of a graph's kernels without running it.

use cairn_graph::{Graph, TensorType};
use cairn_tensor::cpu::Cpu;
use cairn_tensor::cpu::isa::Isa;
use cairn_tensor::{Backend, Operand, Signature};

/// Bytes of working space of each node on the CPU backend, 0 where it needs none.
#[must_use]
pub fn scratch_bytes(graph: &Graph, isa: Isa, threads: usize) -> Vec<usize> {
    let cpu = Cpu::new(isa, threads);
    let types = |ids: &[cairn_graph::ValueId]| {
        ids.iter()
            .map(|id| graph.ty(*id).clone())
            .collect::<Vec<TensorType>>()
    };
    let node_bytes = |node: &cairn_graph::Node| {
        let inputs = types(&node.inputs)
            .into_iter()
            .map(Operand::contiguous)
            .collect();
        let signature = Signature {
            inputs,
            outputs: types(&node.outputs),
        };
        cpu.kernel(node.op.as_ref(), &signature)
            .map_or(0, |kernel| kernel.scratch_bytes())
    };
    graph.nodes().iter().map(node_bytes).collect()
}
