//! From a graph to steps: which values are views, which kernel runs each node,
//! where everything lives.

use std::sync::atomic::{AtomicU64, Ordering};

use cairn_graph::memory::{self, MemoryOptions, MemoryPlan, Storage};
use cairn_graph::ops::{Assign, Broadcast, Reshape, Slice, Transpose, is_leaf};
use cairn_graph::{AliasKind, Graph, Node, ValueId};

use super::{Place, Program, ProgramOptions, Replay, Step};
use crate::backend::{Dispatched, Dispatcher, Operand, Signature};
use crate::error::TensorError;

/// Names programs, so that a store knows whose values its arena holds. Reaches no result.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// Strides and offset of a value inside the storage of another.
#[derive(Clone, Debug)]
struct StridedView {
    strides: Vec<usize>,
    /// In elements.
    offset: usize,
}

/// What is decided about each node before memory is planned.
struct Choices {
    kernels: Vec<Option<Dispatched>>,
    signatures: Vec<Signature>,
    views: Vec<bool>,
    strided: Vec<Option<StridedView>>,
}

impl Choices {
    /// What each kernel can compute in place. An input that is not contiguous
    /// has another order than the output that would take its storage.
    fn in_place(&self) -> Vec<Vec<(usize, usize)>> {
        let pairs = |(kernel, signature): (&Option<Dispatched>, &Signature)| {
            let mut pairs = kernel
                .as_ref()
                .map_or_else(Vec::new, |k| k.kernel.in_place());
            pairs.retain(|(_, input)| {
                let input = signature.inputs.get(*input);
                input.is_some_and(|input| input.strides.is_none())
            });
            pairs
        };
        self.kernels
            .iter()
            .zip(&self.signatures)
            .map(pairs)
            .collect()
    }
}

pub(super) fn compile(
    graph: Graph,
    dispatcher: &Dispatcher,
    options: ProgramOptions,
) -> Result<Program, TensorError> {
    graph.verify()?;
    // Nodes whose result must be contiguous because a reader has no strided
    // kernel; found by trying, and there are few.
    let mut materialise = vec![false; graph.nodes().len()];
    for (_, value) in graph.outputs() {
        mark_views(&graph, *value, &mut materialise);
    }
    mark_outlived(&graph, &mut materialise);
    let mut choices = loop {
        match choose(&graph, dispatcher, &mut materialise)? {
            Some(choices) => break choices,
            None => continue,
        }
    };
    let plan = memory::plan(
        &graph,
        &MemoryOptions {
            scratch_bytes: choices
                .kernels
                .iter()
                .map(|k| k.as_ref().map_or(0, |k| k.kernel.scratch_bytes()))
                .collect(),
            views: choices.views.clone(),
            in_place: choices.in_place(),
            ..MemoryOptions::default()
        },
    );
    let places = places(&graph, &plan, &choices);
    let mut steps = Vec::new();
    for (index, node) in graph.nodes().iter().enumerate() {
        let Some(dispatched) = choices.kernels[index].take() else {
            continue;
        };
        let at = |value: &ValueId| places[value.0 as usize].clone();
        let outputs: Vec<Place> = node.outputs.iter().map(at).collect();
        let written: Vec<Storage> = outputs.iter().map(|place| place.storage).collect();
        if node.op.as_any().is::<Assign>()
            && places[node.inputs[1].0 as usize].storage == written[0]
        {
            // The value was made in the state's storage already.
            continue;
        }
        let inputs = node
            .inputs
            .iter()
            .map(|value| Some(at(value)).filter(|place| !written.contains(&place.storage)));
        steps.push(Step {
            node: index,
            inputs: inputs.collect(),
            outputs,
            kernel: dispatched.kernel,
            backend: dispatched.backend,
            fallback: dispatched.fallback,
            on_host: dispatched.on_host,
            signature: choices.signatures[index].clone(),
            scratch: plan.scratch.get(index).copied().flatten(),
        });
    }
    Ok(Program {
        replay: Replay::default(),
        graph,
        steps,
        plan,
        places,
        options,
        memory: dispatcher.memory(),
        id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
        bindings: Vec::new(),
        bound: None,
    })
}

/// One pass over the nodes; `None` when a view turned out to need memory of its own.
fn choose(
    graph: &Graph,
    dispatcher: &Dispatcher,
    materialise: &mut [bool],
) -> Result<Option<Choices>, TensorError> {
    let mut strided: Vec<Option<StridedView>> = vec![None; graph.values().len()];
    let mut choices = Choices {
        kernels: Vec::new(),
        signatures: Vec::new(),
        views: Vec::new(),
        strided: Vec::new(),
    };
    for (index, node) in graph.nodes().iter().enumerate() {
        let input = |value: &ValueId| Operand {
            ty: graph.ty(*value).clone(),
            strides: strided[value.0 as usize]
                .as_ref()
                .map(|view| view.strides.clone()),
        };
        let signature = Signature {
            inputs: node.inputs.iter().map(input).collect(),
            outputs: node
                .outputs
                .iter()
                .map(|value| graph.ty(*value).clone())
                .collect(),
        };
        let view = if materialise[index] {
            None
        } else {
            view_of(graph, node, &strided)
        };
        let mut kernel = None;
        if let Some(view) = &view {
            strided[node.outputs[0].0 as usize].clone_from(view);
        } else if !is_leaf(node.op.as_ref()) {
            kernel = dispatcher.find(node.op.as_ref(), &signature);
            // A copy is cheaper than another backend's kernel.
            let copies = kernel.as_ref().is_none_or(|kernel| {
                let contiguous = || dispatcher.find(node.op.as_ref(), &signature.contiguous());
                kernel.fallback && contiguous().is_some_and(|other| !other.fallback)
            });
            if copies && !signature.is_contiguous() {
                for value in &node.inputs {
                    if strided[value.0 as usize].is_some() {
                        mark_views(graph, *value, materialise);
                    }
                }
                return Ok(None);
            }
            if kernel.is_none() {
                return Err(TensorError::NoKernel {
                    op: node.op.name().to_owned(),
                    scope: graph.scope_path(node.scope).to_owned(),
                    signature: signature.describe(),
                    backends: dispatcher.names(),
                });
            }
        }
        choices.views.push(view.is_some());
        choices.kernels.push(kernel);
        choices.signatures.push(signature);
    }
    choices.strided = strided;
    Ok(Some(choices))
}

/// Marks the node that makes a strided `value` as needing memory of its own.
fn mark_views(graph: &Graph, value: ValueId, materialise: &mut [bool]) {
    let node = graph.producer(value);
    let any = node.op.as_any();
    if any.is::<Transpose>() || any.is::<Slice>() || any.is::<Broadcast>() {
        materialise[graph.value(value).node.0 as usize] = true;
    }
}

/// Marks views of a state that are read when the state is or was updated in
/// place: they must hold what it held before.
fn mark_outlived(graph: &Graph, materialise: &mut [bool]) {
    let is_view = |node: &Node| {
        let any = node.op.as_any();
        any.is::<Reshape>() || any.is::<Transpose>() || any.is::<Slice>() || any.is::<Broadcast>()
    };
    // The value whose storage each value may be a view of.
    let mut base: Vec<ValueId> = Vec::with_capacity(graph.values().len());
    for (index, value) in graph.values().iter().enumerate() {
        let node = graph.node(value.node);
        base.push(match node.inputs.first() {
            Some(input) if is_view(node) => base[input.0 as usize],
            _ => ValueId(index as u32),
        });
    }
    let mut updated = vec![false; graph.values().len()];
    let mut mark = |value: ValueId, updated: &[bool]| {
        let mut value = value;
        while updated[base[value.0 as usize].0 as usize] && is_view(graph.producer(value)) {
            materialise[graph.value(value).node.0 as usize] = true;
            value = graph.producer(value).inputs[0];
        }
    };
    for node in graph.nodes() {
        let aliases = node.op.aliases().into_iter();
        let states: Vec<usize> = aliases
            .filter(|alias| alias.kind == AliasKind::Must && alias.input < node.inputs.len())
            .map(|alias| alias.input)
            .collect();
        let base_of = |input: usize| base[node.inputs[input].0 as usize].0 as usize;
        for (input, value) in node.inputs.iter().enumerate() {
            // The node itself overwrites what its other inputs may be views of.
            let own = !states.contains(&input);
            let own = own && states.iter().any(|state| base_of(*state) == base_of(input));
            let before = updated[base_of(input)];
            updated[base_of(input)] |= own;
            mark(*value, &updated);
            updated[base_of(input)] = before;
        }
        for state in states {
            updated[base_of(state)] = true;
        }
    }
    for (_, value) in graph.outputs() {
        mark(*value, &updated);
    }
}

/// Outer `None`: the node needs a kernel. Inner `None`: a contiguous view.
fn view_of(
    graph: &Graph,
    node: &Node,
    strided: &[Option<StridedView>],
) -> Option<Option<StridedView>> {
    let any = node.op.as_any();
    let input = *node.inputs.first()?;
    let from = strided[input.0 as usize].as_ref();
    let shape = &graph.ty(input).shape;
    let strides = || from.map_or_else(|| shape.strides(), |view| view.strides.clone());
    let offset = from.map_or(0, |view| view.offset);
    if any.is::<Reshape>() {
        // Of a strided input a reshape needs a copy, which its kernel makes.
        return from.is_none().then_some(None);
    }
    if graph.ty(input).dtype.bits() < 8 {
        return None;
    }
    if let Some(op) = any.downcast_ref::<Transpose>() {
        let strides = strides();
        let strides = op.perm.iter().map(|dim| strides[*dim]).collect();
        return Some(Some(StridedView { strides, offset }));
    }
    if let Some(op) = any.downcast_ref::<Slice>() {
        let strides = strides();
        let empty = graph.ty(node.outputs[0]).shape.num_elements() == 0;
        let start: usize = op
            .start
            .iter()
            .zip(&strides)
            .map(|(start, stride)| start * stride)
            .sum();
        return Some(Some(StridedView {
            strides,
            offset: if empty { offset } else { offset + start },
        }));
    }
    if any.is::<Broadcast>() {
        let out = &graph.ty(node.outputs[0]).shape;
        let (strides, added) = (strides(), out.ndim() - shape.ndim());
        let strides = (0..out.ndim())
            .map(|dim| {
                if dim < added || (shape[dim - added] == 1 && out[dim] != 1) {
                    0
                } else {
                    strides[dim - added]
                }
            })
            .collect();
        return Some(Some(StridedView { strides, offset }));
    }
    None
}

fn places(graph: &Graph, plan: &MemoryPlan, choices: &Choices) -> Vec<Place> {
    let place = |(index, value): (usize, &cairn_graph::Value)| {
        let view = choices.strided[index].as_ref();
        Place {
            storage: plan.storage[index],
            strides: view.map(|view| view.strides.clone()),
            offset: view.map_or(0, |view| value.ty.dtype.bytes(view.offset)),
        }
    };
    graph.values().iter().enumerate().map(place).collect()
}
