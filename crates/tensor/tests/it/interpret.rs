//! A graph run node by node, every value in storage of its own: what a planned
//! run is compared with.

use std::collections::BTreeMap;

use cairn_graph::ops::{Input, Parameter, State};
use cairn_graph::{AliasKind, Graph};
use cairn_tensor::reference::evaluate;
use cairn_tensor::{HostTensor, Store};

/// The results in the order they were named, and all leaves after the run.
pub(crate) fn interpret(
    graph: &Graph,
    store: &Store,
) -> (Vec<HostTensor>, BTreeMap<String, HostTensor>) {
    let mut leaves: BTreeMap<String, HostTensor> = store
        .names()
        .map(|name| (name.to_owned(), store.get(name).unwrap().unwrap().clone()))
        .collect();
    let mut values: Vec<HostTensor> = Vec::new();
    // The leaf whose storage an update chain began with.
    let mut names: Vec<Option<String>> = Vec::new();
    for node in graph.nodes() {
        let any = node.op.as_any();
        let leaf = any
            .downcast_ref::<Input>()
            .map(|leaf| &leaf.name)
            .or_else(|| any.downcast_ref::<Parameter>().map(|leaf| &leaf.name))
            .or_else(|| any.downcast_ref::<State>().map(|leaf| &leaf.name));
        if let Some(name) = leaf {
            values.push(leaves[name].clone());
            names.push(Some(name.clone()));
            continue;
        }
        let inputs: Vec<HostTensor> = node
            .inputs
            .iter()
            .map(|v| values[v.0 as usize].clone())
            .collect();
        let made = evaluate(node.op.as_ref(), &inputs).unwrap();
        for (output, (id, made)) in node.outputs.iter().zip(made).enumerate() {
            let value = HostTensor::from_f64(graph.ty(*id).clone(), &made).unwrap();
            let must = node
                .op
                .aliases()
                .into_iter()
                .find(|alias| alias.kind == AliasKind::Must && alias.output == output);
            let name = must.and_then(|alias| names[node.inputs[alias.input].0 as usize].clone());
            if let Some(name) = &name {
                leaves.insert(name.clone(), value.clone());
            }
            values.push(value);
            names.push(name);
        }
    }
    let outputs = graph.outputs().iter();
    let outputs = outputs.map(|(_, value)| values[value.0 as usize].clone());
    (outputs.collect(), leaves)
}
