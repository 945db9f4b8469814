//! Spans of a profiled run, and the search for non-finite values.

use std::time::Instant;

use cairn_formats::DType;
use cairn_graph::{Cost, Graph, TensorType};

use super::Step;
use crate::element::Element;

/// One kernel call of a profiled run.
#[derive(Clone, Debug)]
pub struct Span {
    /// Operator name.
    pub op: String,
    /// Scope path.
    pub scope: String,
    /// Kernel name.
    pub kernel: String,
    /// When it began.
    pub start: Instant,
    /// How long it took, in microseconds.
    pub micros: f64,
    /// What told its time: `host`, or what a device measures by.
    pub clock: &'static str,
    /// Work by the operator's own account.
    pub cost: Cost,
}

/// A span by the host's clock.
pub(super) fn span(graph: &Graph, step: &Step, start: Instant, end: Instant) -> Span {
    let node = &graph.nodes()[step.node];
    Span {
        op: node.op.name().to_owned(),
        scope: graph.scope_path(node.scope).to_owned(),
        kernel: step.kernel.name().to_owned(),
        start,
        micros: end.duration_since(start).as_secs_f64() * 1e6,
        clock: "host",
        cost: graph.cost(node),
    }
}

/// Index and text of the first element that is not finite.
pub(super) fn first_non_finite(ty: &TensorType, bytes: &[u8]) -> Option<(usize, String)> {
    if !ty.dtype.is_float()
        || !matches!(ty.dtype, DType::F64 | DType::F32 | DType::F16 | DType::BF16)
    {
        return None;
    }
    with_element!(ty.dtype, T => {
        let data: &[T] = bytemuck::cast_slice(bytes);
        let found = data.iter().position(|x| !x.to_f64().is_finite())?;
        Some((found, data[found].to_f64().to_string()))
    }, None)
}
