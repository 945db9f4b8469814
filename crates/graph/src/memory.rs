//! Memory planning: a place for every value, by liveness, in one arena.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::graph::{Graph, Node, ValueId};
use crate::op::{Alias, AliasKind};
use crate::ops::{Assign, Reshape, is_leaf};

/// What the planner is told about the backend.
#[derive(Clone, Debug)]
pub struct MemoryOptions {
    /// Every place starts at a multiple of this many bytes.
    pub alignment: usize,
    /// Working space of each node in bytes; empty for none.
    pub scratch_bytes: Vec<usize>,
    /// For each node, whether its first output shares the storage of its first
    /// input (a view); empty: reshapes only.
    pub views: Vec<bool>,
    /// For each node, the (output, input) pairs its kernel can compute in place,
    /// out of those the operator allows; empty: all of them.
    pub in_place: Vec<Vec<(usize, usize)>>,
}

impl MemoryOptions {
    fn allows(&self, node: usize, alias: &Alias) -> bool {
        self.in_place
            .get(node)
            .is_none_or(|pairs| pairs.contains(&(alias.output, alias.input)))
    }
}

impl Default for MemoryOptions {
    fn default() -> Self {
        Self {
            alignment: 64,
            scratch_bytes: Vec::new(),
            views: Vec::new(),
            in_place: Vec::new(),
        }
    }
}

/// Where a value lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Storage {
    /// In the storage of a leaf (input, parameter, state), owned by the caller.
    Leaf(ValueId),
    /// In the arena.
    Arena {
        /// First byte.
        offset: usize,
        /// Length in bytes.
        bytes: usize,
    },
}

/// Places of all values, and where the peak is.
#[derive(Clone, Debug, Serialize)]
pub struct MemoryPlan {
    /// One per value.
    pub storage: Vec<Storage>,
    /// Offset of each node's working space, where it has one.
    pub scratch: Vec<Option<usize>>,
    /// For each node and output, the input whose storage it took over.
    pub in_place: BTreeMap<(usize, usize), usize>,
    /// Size of the arena in bytes.
    pub arena_bytes: usize,
    /// Most bytes alive at once: no plan can be smaller.
    pub peak_bytes: usize,
    /// The node during which that is so.
    pub peak_node: usize,
    /// Bytes alive at the peak by scope, largest first.
    pub peak_by_scope: Vec<(String, usize)>,
}

/// One piece of arena storage.
struct Buffer {
    bytes: usize,
    first: usize,
    last: usize,
    scope: String,
    offset: usize,
}

/// Plans the storage of every value.
///
/// In-place decisions: views share; updates of states share with the state; a
/// value that is only assigned is made in the state's storage when nobody reads
/// the old contents from then on; an output that may reuse an input does when
/// it is the last reader. Buffers are then placed largest first at the lowest
/// free offset.
#[must_use]
pub fn plan(graph: &Graph, options: &MemoryOptions) -> MemoryPlan {
    let is_view = |index: usize, node: &Node| match options.views.get(index) {
        Some(view) => *view,
        None => node.op.as_any().is::<Reshape>(),
    };
    let last_use = last_uses(graph);
    let mut roots = Roots {
        graph,
        root: (0..graph.values().len() as u32).map(ValueId).collect(),
        last: last_use,
    };
    let mut in_place = BTreeMap::new();
    let direct = direct_assignments(graph, options);
    for (index, node) in graph.nodes().iter().enumerate() {
        for (output, value) in node.outputs.iter().enumerate() {
            if let Some(state) = direct.get(value) {
                roots.join(*value, *state);
                continue;
            }
            if output == 0 && is_view(index, node) {
                roots.join(*value, node.inputs[0]);
                continue;
            }
            for alias in node.op.aliases() {
                let Some(input) = node.inputs.get(alias.input) else {
                    continue;
                };
                if alias.output != output {
                    continue;
                }
                let take = match alias.kind {
                    AliasKind::Must => true,
                    AliasKind::View => false,
                    AliasKind::May => {
                        options.allows(index, &alias) && roots.may_take(index, node, *input, *value)
                    }
                };
                if take {
                    roots.join(*value, *input);
                    in_place.insert((index, output), alias.input);
                    break;
                }
            }
        }
    }
    place(graph, options, &mut roots, in_place)
}

/// Index of the last node that reads each value; results live to the end.
fn last_uses(graph: &Graph) -> Vec<usize> {
    let mut last: Vec<usize> = graph
        .values()
        .iter()
        .map(|value| value.node.0 as usize)
        .collect();
    for (index, node) in graph.nodes().iter().enumerate() {
        for input in &node.inputs {
            last[input.0 as usize] = index;
        }
    }
    for (_, value) in graph.outputs() {
        last[value.0 as usize] = graph.nodes().len();
    }
    last
}

/// Values that can be made in the storage of the state they are assigned to.
fn direct_assignments(graph: &Graph, options: &MemoryOptions) -> BTreeMap<ValueId, ValueId> {
    let uses = graph.use_counts();
    let mut readers: BTreeMap<ValueId, Vec<usize>> = BTreeMap::new();
    for (index, node) in graph.nodes().iter().enumerate() {
        for input in &node.inputs {
            readers.entry(*input).or_default().push(index);
        }
    }
    let mut direct = BTreeMap::new();
    for (index, node) in graph.nodes().iter().enumerate() {
        if !node.op.as_any().is::<Assign>() {
            continue;
        }
        let (state, value) = (node.inputs[0], node.inputs[1]);
        let producer_index = graph.value(value).node.0 as usize;
        let producer = &graph.nodes()[producer_index];
        let shareable = !is_leaf(producer.op.as_ref())
            && !producer.op.as_any().is::<Reshape>()
            && options.views.get(producer_index) != Some(&true)
            && uses[value.0 as usize] == 1
            && is_leaf(graph.producer(state).op.as_ref())
            && !producer
                .op
                .aliases()
                .iter()
                .any(|a| a.kind == AliasKind::Must);
        let output = graph.value(value).output;
        let quiet = readers.get(&state).into_iter().flatten().all(|reader| {
            let view = graph.nodes()[*reader].op.as_any().is::<Reshape>()
                || options.views.get(*reader) == Some(&true);
            let own = *reader == producer_index
                && accumulates(producer, producer_index, output, state, options);
            *reader == index || (*reader < producer_index && !view) || own
        });
        if shareable && quiet {
            direct.insert(value, state);
        }
    }
    direct
}

/// The producer reads `state` only through an input its output may take over.
fn accumulates(
    producer: &Node,
    index: usize,
    output: usize,
    state: ValueId,
    options: &MemoryOptions,
) -> bool {
    producer
        .inputs
        .iter()
        .enumerate()
        .filter(|(_, input)| **input == state)
        .all(|(position, _)| {
            let aliases = producer.op.aliases();
            aliases.iter().any(|a| {
                a.output == output
                    && a.input == position
                    && a.kind == AliasKind::May
                    && options.allows(index, a)
            })
        })
        && producer
            .inputs
            .iter()
            .filter(|input| **input == state)
            .count()
            == 1
}

struct Roots<'g> {
    graph: &'g Graph,
    root: Vec<ValueId>,
    last: Vec<usize>,
}

impl Roots<'_> {
    fn of(&self, value: ValueId) -> ValueId {
        let mut value = value;
        while self.root[value.0 as usize] != value {
            value = self.root[value.0 as usize];
        }
        value
    }

    fn join(&mut self, value: ValueId, into: ValueId) {
        let root = self.of(into);
        self.root[value.0 as usize] = root;
        let last = self.last[value.0 as usize];
        let slot = &mut self.last[root.0 as usize];
        *slot = (*slot).max(last);
    }

    fn is_leaf(&self, root: ValueId) -> bool {
        is_leaf(self.graph.producer(root).op.as_ref())
    }

    /// The node is the last reader of the input's storage, reads it once, and
    /// the output has its size.
    fn may_take(&self, index: usize, node: &Node, input: ValueId, output: ValueId) -> bool {
        let root = self.of(input);
        let reads = node
            .inputs
            .iter()
            .filter(|other| self.of(**other) == root)
            .count();
        let taken = node
            .outputs
            .iter()
            .any(|other| *other != output && self.root[other.0 as usize] == root);
        !self.is_leaf(root)
            && self.last[root.0 as usize] == index
            && reads == 1
            && !taken
            && self.graph.ty(root).bytes() == self.graph.ty(output).bytes()
            && self.graph.ty(input).bytes() == self.graph.ty(output).bytes()
    }
}

fn place(
    graph: &Graph,
    options: &MemoryOptions,
    roots: &mut Roots<'_>,
    in_place: BTreeMap<(usize, usize), usize>,
) -> MemoryPlan {
    let align = |bytes: usize| bytes.div_ceil(options.alignment.max(1)) * options.alignment.max(1);
    let mut buffers: Vec<Buffer> = Vec::new();
    let mut buffer_of: BTreeMap<ValueId, usize> = BTreeMap::new();
    for (index, value) in graph.values().iter().enumerate() {
        let id = ValueId(index as u32);
        if roots.of(id) != id || roots.is_leaf(id) {
            continue;
        }
        buffer_of.insert(id, buffers.len());
        buffers.push(Buffer {
            bytes: align(value.ty.bytes().max(1)),
            first: value.node.0 as usize,
            last: roots.last[index],
            scope: graph.scope_path(value.scope).to_owned(),
            offset: 0,
        });
    }
    let mut scratch_buffer = vec![None; graph.nodes().len()];
    for (index, bytes) in options
        .scratch_bytes
        .iter()
        .enumerate()
        .filter(|(_, bytes)| **bytes > 0)
    {
        scratch_buffer[index] = Some(buffers.len());
        let scope = graph.scope_path(graph.nodes()[index].scope).to_owned();
        buffers.push(Buffer {
            bytes: align(*bytes),
            first: index,
            last: index,
            scope,
            offset: 0,
        });
    }
    let arena_bytes = assign_offsets(&mut buffers);
    let (peak_bytes, peak_node) = peak(&buffers, graph.nodes().len());
    let mut by_scope: BTreeMap<String, usize> = BTreeMap::new();
    for buffer in buffers
        .iter()
        .filter(|buffer| buffer.first <= peak_node && peak_node <= buffer.last)
    {
        *by_scope.entry(buffer.scope.clone()).or_default() += buffer.bytes;
    }
    let mut peak_by_scope: Vec<_> = by_scope.into_iter().collect();
    peak_by_scope.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let storage = (0..graph.values().len() as u32)
        .map(|index| {
            let root = roots.of(ValueId(index));
            match buffer_of.get(&root) {
                Some(buffer) => Storage::Arena {
                    offset: buffers[*buffer].offset,
                    bytes: buffers[*buffer].bytes,
                },
                None => Storage::Leaf(root),
            }
        })
        .collect();
    let scratch = scratch_buffer
        .into_iter()
        .map(|buffer| buffer.map(|buffer: usize| buffers[buffer].offset))
        .collect();
    MemoryPlan {
        storage,
        scratch,
        in_place,
        arena_bytes,
        peak_bytes,
        peak_node,
        peak_by_scope,
    }
}

/// Places buffers, largest first, at the lowest offset free during their life.
fn assign_offsets(buffers: &mut [Buffer]) -> usize {
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    order.sort_by(|a, b| {
        buffers[*b]
            .bytes
            .cmp(&buffers[*a].bytes)
            .then_with(|| a.cmp(b))
    });
    // Already placed, by offset.
    let mut placed: Vec<usize> = Vec::new();
    let mut arena = 0;
    for index in order {
        let (first, last, bytes) = (
            buffers[index].first,
            buffers[index].last,
            buffers[index].bytes,
        );
        let mut offset = 0;
        for other in &placed {
            let other = &buffers[*other];
            if other.last < first || last < other.first {
                continue;
            }
            if other.offset >= offset + bytes {
                break;
            }
            offset = offset.max(other.offset + other.bytes);
        }
        buffers[index].offset = offset;
        arena = arena.max(offset + bytes);
        let at = placed.partition_point(|other| buffers[*other].offset <= offset);
        placed.insert(at, index);
    }
    arena
}

/// Most bytes alive at once, and the first node during which that is so.
fn peak(buffers: &[Buffer], num_nodes: usize) -> (usize, usize) {
    let mut delta = vec![0_i128; num_nodes + 2];
    for buffer in buffers {
        delta[buffer.first] += buffer.bytes as i128;
        delta[buffer.last + 1] -= buffer.bytes as i128;
    }
    let (mut alive, mut best) = (0_i128, (0_i128, 0));
    for (node, change) in delta.iter().enumerate() {
        alive += change;
        if alive > best.0 {
            best = (alive, node);
        }
    }
    (usize::try_from(best.0).unwrap_or(0), best.1)
}
